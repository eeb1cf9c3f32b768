/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many columns a character takes on a terminal: PURE, in no locale. What a watched process named is shown as itself
 * only where every terminal agrees about its width and its direction; anything else (control and format characters,
 * scripts written from right to left, marks that combine, emoji) is shown as an escape, so that no name moves what stands
 * beside it.
 */
#ifndef WATCH_GLYPH_H
#define WATCH_GLYPH_H

#include "base/str.h"

enum { GLYPH_CAP = 12 };

struct glyph {
	char text[GLYPH_CAP];  /* one character, or an escape in ASCII: \x1b, \u202e */
	unsigned len, columns; /* an escape: as many as it has bytes */
};

/* Takes the next character off `*rest`, which is not empty. Without `utf8` all but ASCII is escaped. */
struct glyph glyph_take(struct str *rest, bool utf8);

/* Columns of the whole text. */
size_t glyph_columns(struct str text, bool utf8);

#endif
