/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/thresholds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "rules/rules.h"

enum { MIB = 1 << 20 };

/* docs/rules/<rule>.md holds each threshold's row as the table has it. */
static void pages_agree_with_the_table(void **state)
{
	(void)state;
	bool all = true;
	for (unsigned i = 0; i < THRESHOLD_COUNT; i++) {
		const struct threshold_info *t = &threshold_table[i];
		char path[128], row[640], line[1024], raise[THRESHOLD_TEXT_CAP], clear[THRESHOLD_TEXT_CAP];
		bool found = false;
		(void)snprintf(path, sizeof path, "docs/rules/%s.md", t->rule);
		(void)snprintf(row, sizeof row, "| %s | %s %s%s%s | %s | %s |", t->name,
			       t->side == RAISED_ABOVE ? "above" : "below", thresholds_format(raise, t->kind, t->raise),
			       t->of ? " " : "", t->of ? t->of : "", thresholds_format(clear, t->kind, t->clear),
			       t->reason);
		FILE *page = fopen(path, "r");
		while (page && fgets(line, sizeof line, page))
			found |= strstr(line, row) != NULL;
		if (page)
			(void)fclose(page);
		if (!found)
			print_error("%s has no row: %s\n", path, row);
		all &= found;
	}
	assert_true(all);
}

/* Every row is there, belongs to a rule, has a reason, and clears on the quiet side of where it is raised. */
static void rows_are_sound(void **state)
{
	(void)state;
	for (unsigned i = 0; i < THRESHOLD_COUNT; i++) {
		const struct threshold_info *t = &threshold_table[i];
		assert_non_null(t->rule);
		assert_non_null(rules_find(str_of(t->rule)));
		assert_true(strlen(t->reason) > 10);
		assert_true((t->kind == THRESHOLD_SHARE) == (t->of != NULL));
		assert_true(t->side == RAISED_ABOVE ? t->clear <= t->raise : t->clear >= t->raise);
		for (unsigned j = 0; j < i; j++)
			assert_true(strcmp(t->rule, threshold_table[j].rule) != 0 ||
				    strcmp(t->name, threshold_table[j].name) != 0);
	}
}

static void holding_levels_are_those_of_clear(void **state)
{
	(void)state;
	struct thresholds t;
	thresholds_init(&t);
	struct thresholds holding = thresholds_holding(&t);
	for (unsigned i = 0; i < THRESHOLD_COUNT; i++) {
		assert_int_equal(t.raise[i], threshold_table[i].raise);
		assert_int_equal(holding.raise[i], threshold_table[i].clear);
		assert_int_equal(holding.clear[i], threshold_table[i].clear);
	}
}

static void formats(void **state)
{
	(void)state;
	static const struct {
		enum threshold_kind kind;
		uint64_t level;
		const char *text;
	} cases[] = {
		{ THRESHOLD_SHARE, 0, "0 %" },          { THRESHOLD_SHARE, 1000, "10 %" },
		{ THRESHOLD_SHARE, 8750, "87.5 %" },    { THRESHOLD_SHARE, 1, "0.01 %" },
		{ THRESHOLD_SHARE, 15005, "150.05 %" }, { THRESHOLD_BYTES, 64 * MIB, "64.0 MiB" },
		{ THRESHOLD_COUNTED, 3, "3" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char text[THRESHOLD_TEXT_CAP];
		assert_string_equal(thresholds_format(text, cases[i].kind, cases[i].level), cases[i].text);
	}
}

/* Near the end of u64 too: to a unit, as one would divide by hand; past it, the end. */
static void shares(void **state)
{
	(void)state;
	assert_int_equal(thresholds_share(0, 1000), 0);
	assert_int_equal(thresholds_share(9999, 10000), 9999);
	assert_int_equal(thresholds_share(19999, 5000), 9999);
	assert_int_equal(thresholds_share((uint64_t)1000 * MIB, 300), 30 * MIB);
	assert_true(thresholds_share(UINT64_MAX, 10000) == UINT64_MAX);
	assert_true(thresholds_share(UINT64_MAX, 15000) == UINT64_MAX);
	assert_true(thresholds_share(1, UINT64_MAX) == UINT64_MAX / 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_agree_with_the_table),
		cmocka_unit_test(rows_are_sound),
		cmocka_unit_test(holding_levels_are_those_of_clear),
		cmocka_unit_test(formats),
		cmocka_unit_test(shares),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
