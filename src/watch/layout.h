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

/* Of the pane, or of what is open in its place: how many lines there are, and how many are shown at once. */
struct layout_extent {
	unsigned lines, page;
};

/* Fills `screen`, all of it. */
struct layout_extent layout_draw(const struct layout_input *input, unsigned columns, unsigned rows, bool utf8,
				 struct screen *screen);

#endif
