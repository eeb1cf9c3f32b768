/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/keys.h"

enum { SCROLL_MAX = 10000 };

const char *const pane_names[PANE_COUNT] = { "owners", "findings", "events" };
const char *const sort_names[SORT_COUNT] = { "bytes", "growth", "name" };

static void to_pane(struct view *view, enum pane pane)
{
	view->pane = pane;
	view->scroll = 0;
	view->whole = false;
}

static void move(struct view *view, int by, size_t n_findings)
{
	bool chooses = view->pane == PANE_FINDINGS && !view->whole && !view->help;
	long at = (long)(chooses ? view->selected : view->scroll) + by;
	long most = chooses ? (n_findings ? (long)n_findings - 1 : 0) : SCROLL_MAX;
	at = at < 0 ? 0 : at > most ? most : at;
	*(chooses ? &view->selected : &view->scroll) = (unsigned)at;
}

static void open_finding(struct view *view, size_t which, size_t n_findings)
{
	if (which >= n_findings)
		return;
	view->pane = PANE_FINDINGS;
	view->selected = (unsigned)which;
	view->whole = true;
	view->scroll = 0;
	view->help = false;
}

static void leave(struct view *view)
{
	if (view->help)
		view->help = false;
	else
		view->whole = false;
	view->scroll = 0;
}

static void press_movement(struct view *view, int key, size_t n_findings, unsigned page)
{
	int lines = page > 1 ? (int)page - 1 : 1;
	switch (key) {
	case PRESS_UP:
	case 'k':
		move(view, -1, n_findings);
		break;
	case PRESS_DOWN:
	case 'j':
		move(view, 1, n_findings);
		break;
	case PRESS_PAGE_UP:
		move(view, -lines, n_findings);
		break;
	case PRESS_PAGE_DOWN:
	case ' ':
		move(view, lines, n_findings);
		break;
	case PRESS_FIRST:
		move(view, -SCROLL_MAX, n_findings);
		break;
	case PRESS_LAST:
		move(view, SCROLL_MAX, n_findings);
		break;
	default:
		break;
	}
}

enum keys_wish keys_press(struct view *view, int key, size_t n_findings, unsigned page)
{
	if (key >= '1' && key <= '9') {
		open_finding(view, (size_t)(key - '1'), n_findings);
		return KEYS_NOTHING;
	}
	switch (key) {
	case 'q':
	case 'Q':
		return KEYS_QUIT;
	case 'r':
		return KEYS_LOOK;
	case '?':
	case 'h':
		view->help = !view->help;
		view->scroll = 0;
		break;
	case 'p':
		view->paused = !view->paused;
		break;
	case 's':
		view->sort = (view->sort + 1) % SORT_COUNT;
		break;
	case PRESS_TAB:
		to_pane(view, (view->pane + 1) % PANE_COUNT);
		break;
	case PRESS_BACK_TAB:
		to_pane(view, (view->pane + PANE_COUNT - 1) % PANE_COUNT);
		break;
	case PRESS_ENTER:
		open_finding(view, view->selected, n_findings);
		break;
	case PRESS_ESCAPE:
		leave(view);
		break;
	default:
		press_movement(view, key, n_findings, page);
		break;
	}
	return KEYS_NOTHING;
}
