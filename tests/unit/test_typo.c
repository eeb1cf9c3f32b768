/* SPDX-License-Identifier: Apache-2.0 */
#include "base/typo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void slips(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b;
		unsigned slips;
	} table[] = {
		{ "limit", "limit", 0 }, { "limt", "limit", 1 }, { "limiit", "limit", 1 },  { "linit", "limit", 1 },
		{ "lmiit", "limit", 2 }, { "lim", "limit", 2 },  { "li", "limit", 3 },      { "", "", 0 },
		{ "", "ab", 2 },         { "", "abc", 3 },       { "abcdef", "ghijkl", 3 }, { "kitten", "sitting", 3 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		assert_int_equal(typo_slips(str_of(table[i].a), str_of(table[i].b)), table[i].slips);
		assert_int_equal(typo_slips(str_of(table[i].b), str_of(table[i].a)), table[i].slips);
	}
	char longest[TYPO_NAME_CAP + 1];
	memset(longest, 'x', sizeof longest);
	assert_int_equal(typo_slips((struct str){ longest, TYPO_NAME_CAP }, (struct str){ longest, TYPO_NAME_CAP }), 0);
	assert_true(typo_slips((struct str){ longest, sizeof longest }, (struct str){ longest, sizeof longest }) >
		    TYPO_SLIPS_MAX);
}

static const char *meant(const char *said, char hint[TYPO_HINT_CAP])
{
	struct typo typo = { .said = str_of(said) };
	typo_offer(&typo, "pid");
	typo_offer(&typo, "limit");
	typo_offer(&typo, "limits");
	typo_offer(&typo, "pod-limit");
	return typo_hint(&typo, hint);
}

static void hints(void **state)
{
	(void)state;
	char hint[TYPO_HINT_CAP];
	assert_string_equal(meant("limt", hint), ": did you mean 'limit'?");
	assert_string_equal(meant("limitz", hint), ": did you mean 'limit'?"); /* the first of two as near */
	assert_string_equal(meant("limitss", hint), ": did you mean 'limits'?");
	assert_string_equal(meant("pod_limit", hint), ": did you mean 'pod-limit'?");
	assert_string_equal(meant("pie", hint), ": did you mean 'pid'?");
	assert_string_equal(meant("p", hint), "");
	assert_string_equal(meant("", hint), "");
	assert_string_equal(meant("something-else", hint), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slips),
		cmocka_unit_test(hints),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
