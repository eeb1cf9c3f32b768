/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The whole picture, for any size of terminal from 20 x 5 on: PURE. What matters most is what is left on a small one: when
 * the limit is reached, how much room there is, who holds most.
 */
#ifndef WATCH_LAYOUT_H
#define WATCH_LAYOUT_H

#include "watch/keys.h"
#include "watch/screen.h"
#include "watch/story.h"

struct layout_input {
	const struct reading *reading; /* NULL: none has come */
	const struct story *story;
	const struct view *view;
	uint64_t age_ms;     /* of the reading */
	const char *trouble; /* of the reader; "" */
};

/* Fills `screen`, all of it. Returns how many lines of the pane there are, of which a page is shown. */
unsigned layout_draw(const struct layout_input *input, unsigned columns, unsigned rows, bool utf8,
		     struct screen *screen);

/* Of what layout_draw() lays out for so many rows: lines of the pane. */
unsigned layout_page(unsigned columns, unsigned rows);

#endif
