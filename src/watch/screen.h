/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is to be seen: rows of styled cells, painted by term.h or printed as lines. PURE. Whatever is put is cut at the
 * edge of its area and escaped (glyph.h); nothing outside the area is touched.
 */
#ifndef WATCH_SCREEN_H
#define WATCH_SCREEN_H

#include "base/buf.h"
#include "watch/glyph.h"

enum {
	SCREEN_COLUMNS_MAX = 512, /* wider terminals are filled that far */
	SCREEN_ROWS_MAX = 200,
};

enum style {
	STYLE_PLAIN = 0,
	STYLE_BOLD,
	STYLE_DIM,
	STYLE_GOOD,
	STYLE_NOTICE,
	STYLE_WARNING,
	STYLE_CRITICAL,
	STYLE_BAR,      /* the line of keys, the title */
	STYLE_SELECTED, /* the row that Enter opens */
	STYLE_COUNT
};

struct cell {
	char text[4]; /* of one character; all NUL: the second half of the one before */
	unsigned char len, style;
};

struct screen {
	unsigned columns, rows;
	bool utf8;
	struct cell cells[SCREEN_ROWS_MAX][SCREEN_COLUMNS_MAX];
};

/* A rectangle of it. */
struct area {
	struct screen *screen;
	unsigned x, y, columns, rows;
};

/* Blanks all of it; more than the maxima is cut to them. The whole is returned as an area. */
struct area screen_start(struct screen *screen, unsigned columns, unsigned rows, bool utf8);

/* The part of `area` from (x, y) on, at most so large; cut to it. */
struct area area_part(struct area area, unsigned x, unsigned y, unsigned columns, unsigned rows);

/* Text in row `y` from column `x` on; returns the column after it. */
unsigned area_put(struct area area, unsigned x, unsigned y, enum style style, struct str text);
unsigned area_printf(struct area area, unsigned x, unsigned y, enum style style, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* The same, ending before the right edge of `columns` from `x`: figures in a column. */
void area_right(struct area area, unsigned x, unsigned y, unsigned columns, enum style style, const char *text);
/* All cells of a row get the style, and stay what they are. */
void area_style_row(struct area area, unsigned y, enum style style);

/* Words in lines from row `y` on, which may be above the area. Returns how many lines there are in all, shown or not. */
unsigned area_wrap(struct area area, int y, enum style style, struct str text);

/* `share` (0 to 1) of `columns` as a bar; past 1 its end is marked. */
void area_bar(struct area area, unsigned x, unsigned y, unsigned columns, enum style style, double share);

/* As lines of text without styles; blanks at their ends go. */
bool screen_text(const struct screen *screen, struct buf *out);

#endif
