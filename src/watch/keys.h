/* SPDX-License-Identifier: Apache-2.0 */
/* What a key does to what is shown: PURE. */
#ifndef WATCH_KEYS_H
#define WATCH_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum pane { PANE_OWNERS = 0, PANE_FINDINGS, PANE_EVENTS, PANE_COUNT };
extern const char *const pane_names[PANE_COUNT];

enum sort { SORT_BYTES = 0, SORT_GROWTH, SORT_NAME, SORT_COUNT };
extern const char *const sort_names[SORT_COUNT];

struct view {
	enum pane pane;
	enum sort sort;
	unsigned scroll;   /* lines of the pane, or of the whole finding, that are above what is shown */
	unsigned selected; /* finding */
	bool whole;        /* the selected finding is open */
	bool help, paused;
};

/* Keys that are no character; term.h makes them. */
enum press {
	PRESS_NOTHING = -1,
	PRESS_ENTER = '\n',
	PRESS_TAB = '\t',
	PRESS_ESCAPE = 27,
	PRESS_UP = 256,
	PRESS_DOWN,
	PRESS_PAGE_UP,
	PRESS_PAGE_DOWN,
	PRESS_FIRST,
	PRESS_LAST,
	PRESS_BACK_TAB
};

enum keys_wish { KEYS_NOTHING = 0, KEYS_QUIT, KEYS_LOOK };

/* `n_findings`: how many there are to choose from. `page`: how many lines the pane shows. */
enum keys_wish keys_press(struct view *view, int key, size_t n_findings, unsigned page);

#endif
