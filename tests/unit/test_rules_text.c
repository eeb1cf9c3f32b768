/* SPDX-License-Identifier: Apache-2.0 */
/* Writing into a finding stays inside it; the owner that is named can still grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "rules/text.h"
#include "support/snap.h"

static void observations_are_joined_and_bounded(void **state)
{
	(void)state;
	struct finding f = { 0 };
	f.owner = 77; /* stands behind the observation */
	finding_observation(&f, "%s", "One.");
	finding_observation(&f, "Two.");
	assert_string_equal(f.observation, "One. Two.");
	for (int i = 0; i < 400; i++) {
		finding_observation(&f, "%d", i % 10);
		assert_true(strlen(f.observation) < sizeof f.observation);
		assert_int_equal(f.owner, 77);
	}
	assert_int_equal(strlen(f.observation), sizeof f.observation - 1);
}

static void lists_take_what_they_hold(void **state)
{
	(void)state;
	struct finding f = { 0 };
	struct snapshot s = { 0 };
	for (int i = 0; i < 20; i++) {
		finding_cause(&f, "%d", i);
		finding_validate(&f, "%d", i);
		finding_missing(&f, "%d", i);
		finding_figure(&f, "x", i);
		finding_setting_bytes(&f, "k", 1, "w");
	}
	assert_int_equal(f.n_causes, FINDING_LIST_MAX);
	assert_int_equal(f.n_validate, FINDING_LIST_MAX);
	assert_int_equal(f.n_missing, FINDING_LIST_MAX);
	assert_int_equal(f.n_evidence, FINDING_EVIDENCE_MAX);
	assert_int_equal(f.n_settings, FINDING_SETTINGS_MAX);
	snap_setting(&s, "key", "value", "where");
	finding_setting(&f, &s, "key"); /* full: nothing is written behind the list */
	assert_int_equal(f.n_settings, FINDING_SETTINGS_MAX);
	assert_string_equal(f.missing[FINDING_LIST_MAX - 1], "4");
}

static void settings_are_found_by_their_key(void **state)
{
	(void)state;
	struct finding f = { 0 };
	struct snapshot s = { 0 };
	snap_setting(&s, "a", "1", "here");
	snap_setting(&s, "b", "2", "there");
	finding_setting(&f, &s, "b");
	finding_setting(&f, &s, "c"); /* not read: not shown */
	assert_int_equal(f.n_settings, 1);
	assert_string_equal(f.effective_settings[0].value, "2");
	assert_string_equal(f.effective_settings[0].where, "there");
}

static void sizes_that_do_not_fit_are_left_out(void **state)
{
	(void)state;
	struct finding f = { 0 };
	finding_bytes(&f, "a", INT64_MAX);
	finding_bytes(&f, "b", (uint64_t)INT64_MAX + 1);
	assert_int_equal(f.n_evidence, 1);
	assert_int_equal(f.evidence[0].value, INT64_MAX);
}

static void put(struct ledger *l, enum owner owner, struct qty bytes)
{
	l->listed[owner] = true;
	l->lines[owner].bytes = bytes;
}

static void the_largest_owner_is_no_page_cache(void **state)
{
	(void)state;
	static struct ledger l;
	assert_int_equal(largest_owner(&l), -1);
	put(&l, OWNER_PAGE_CACHE, qty_measured(900));
	put(&l, OWNER_MAPPED_FILES, qty_measured(800));
	assert_int_equal(largest_owner(&l), -1); /* it goes when something else needs the room */
	put(&l, OWNER_SOCKETS, qty_of(700, QTY_UNREAD));
	l.lines[OWNER_TMPFS].bytes = qty_measured(600); /* not listed */
	put(&l, OWNER_GC, qty_measured(5));
	put(&l, OWNER_NATIVE_OTHER, qty_measured(5));
	assert_int_equal(largest_owner(&l), OWNER_GC); /* of equals the first */
	put(&l, OWNER_NATIVE_OTHER, qty_measured(6));
	assert_int_equal(largest_owner(&l), OWNER_NATIVE_OTHER);
	char text[64];
	assert_string_equal(owner_text(text, &l, OWNER_NATIVE_OTHER), "native-other 6 B");
	/* A heap that could not be read, with native memory that was: the rest can still be named. Neither: nobody can. */
	put(&l, OWNER_JAVA_HEAP, qty_of(0, QTY_UNREAD));
	assert_int_equal(largest_owner(&l), OWNER_NATIVE_OTHER);
	put(&l, OWNER_NATIVE_OTHER, qty_of(0, QTY_UNREAD));
	assert_int_equal(largest_owner(&l), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(observations_are_joined_and_bounded),
		cmocka_unit_test(lists_take_what_they_hold),
		cmocka_unit_test(settings_are_found_by_their_key),
		cmocka_unit_test(sizes_that_do_not_fit_are_left_out),
		cmocka_unit_test(the_largest_owner_is_no_page_cache),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
