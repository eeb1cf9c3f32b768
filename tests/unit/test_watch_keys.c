/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { N = 3, PAGE = 10 };

static struct view press(const int *keys, size_t n, enum keys_wish *ret_wish)
{
	struct view view = { 0 };
	*ret_wish = KEYS_NOTHING;
	for (size_t i = 0; i < n; i++)
		*ret_wish = keys_press(&view, keys[i], N, PAGE);
	return view;
}

#define PRESS(...) press((const int[]){ __VA_ARGS__ }, sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int), &wish)

static void each(void **state)
{
	(void)state;
	enum keys_wish wish;
	struct view v = PRESS('q');
	assert_int_equal(wish, KEYS_QUIT);
	v = PRESS('r');
	assert_int_equal(wish, KEYS_LOOK);
	v = PRESS(PRESS_TAB);
	assert_int_equal(v.pane, PANE_FINDINGS);
	v = PRESS(PRESS_TAB, PRESS_TAB, PRESS_TAB);
	assert_int_equal(v.pane, PANE_OWNERS);
	v = PRESS(PRESS_BACK_TAB);
	assert_int_equal(v.pane, PANE_EVENTS);
	v = PRESS('s', 's');
	assert_int_equal(v.sort, SORT_NAME);
	v = PRESS('s', 's', 's');
	assert_int_equal(v.sort, SORT_BYTES);
	v = PRESS('p');
	assert_true(v.paused);
	v = PRESS('p', 'p');
	assert_false(v.paused);
	v = PRESS('?');
	assert_true(v.help);
	v = PRESS('?', PRESS_ESCAPE);
	assert_false(v.help);
	v = PRESS('x', 0, 300, -1, 127);
	assert_int_equal(wish, KEYS_NOTHING);
}

static void findings_are_chosen_and_opened(void **state)
{
	(void)state;
	enum keys_wish wish;
	struct view v = PRESS(PRESS_TAB, PRESS_DOWN, 'j', PRESS_DOWN, PRESS_DOWN);
	assert_int_equal(v.selected, N - 1); /* no further than there are */
	v = PRESS(PRESS_TAB, PRESS_DOWN, PRESS_UP, PRESS_UP, 'k');
	assert_int_equal(v.selected, 0);
	v = PRESS(PRESS_TAB, PRESS_LAST, PRESS_ENTER);
	assert_true(v.whole && v.selected == N - 1);
	v = PRESS('2');
	assert_true(v.whole && v.selected == 1 && v.pane == PANE_FINDINGS);
	v = PRESS('9');
	assert_false(v.whole);
	v = PRESS('2', PRESS_DOWN, ' ');
	assert_int_equal(v.scroll, PAGE);
	assert_int_equal(v.selected, 1);
	v = PRESS('2', PRESS_DOWN, PRESS_ESCAPE);
	assert_true(!v.whole && v.scroll == 0 && v.selected == 1);
	struct view none = { 0 };
	assert_int_equal(keys_press(&none, PRESS_ENTER, 0, PAGE), KEYS_NOTHING);
	assert_false(none.whole);
	none.pane = PANE_FINDINGS;
	(void)keys_press(&none, PRESS_DOWN, 0, 0);
	assert_int_equal(none.selected, 0);
}

static void panes_scroll(void **state)
{
	(void)state;
	enum keys_wish wish;
	struct view v = PRESS(PRESS_DOWN, PRESS_PAGE_DOWN);
	assert_int_equal(v.scroll, PAGE);
	v = PRESS(PRESS_DOWN, PRESS_PAGE_DOWN, PRESS_PAGE_UP, PRESS_UP, PRESS_UP);
	assert_int_equal(v.scroll, 0);
	v = PRESS(PRESS_LAST, PRESS_LAST, PRESS_FIRST);
	assert_int_equal(v.scroll, 0);
	v = PRESS(PRESS_DOWN, PRESS_TAB);
	assert_int_equal(v.scroll, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each), cmocka_unit_test(findings_are_chosen_and_opened),
					    cmocka_unit_test(panes_scroll) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
