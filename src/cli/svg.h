/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drawing into SVG 1.1 text. Everything is a presentation attribute: trackers that show pictures strip sheets and
 * scripts. Nothing is loaded; fonts are the generic families. Text is escaped as for a terminal (base/esc.h), then for XML.
 */
#ifndef CLI_SVG_H
#define CLI_SVG_H

#include "base/buf.h"
#include "cli/owner_look.h"

#define SVG_INK   "#1a1f24"
#define SVG_MUTED "#566069"
#define SVG_LINE  "#d3d9de"
#define SVG_RED   "#b01e17"

enum svg_anchor { SVG_START = 0, SVG_MIDDLE, SVG_END };

struct svg_font {
	double size;
	bool bold;
	const char *fill;
	enum svg_anchor anchor;
};

/* A whole document around `body`; `title` and `description` are what a screen reader says of it. */
void svg_document(struct buf *out, double width, double height, const char *title, const char *description,
		  struct str body);

void svg_escaped(struct buf *out, struct str text);
void svg_text(struct buf *out, double x, double y, struct svg_font font, const char *text);

/* Words in lines of at most `width`, by an estimate of the font's letters. Returns the y below the last. At most `lines_max`. */
double svg_wrapped(struct buf *out, double x, double y, double width, unsigned lines_max, struct svg_font font,
		   const char *text);

/* How wide `text` may be, rather too much. */
double svg_width_of(struct svg_font font, struct str text);

void svg_line(struct buf *out, double x1, double y1, double x2, double y2, const char *stroke, double width,
	      bool dashed);
void svg_rect(struct buf *out, double x, double y, double width, double height, const char *fill, const char *stroke);

/* A rectangle as an owner looks, with `name` (and its figure) for whoever points at it. */
void svg_filled(struct buf *out, double x, double y, double width, double height, const struct owner_look *look,
		const char *name);

/* One that says: not read. */
void svg_unread(struct buf *out, double x, double y, double width, double height);

#endif
