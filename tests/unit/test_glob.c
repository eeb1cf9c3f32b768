/* SPDX-License-Identifier: Apache-2.0 */
#include "base/glob.h"

#include <fnmatch.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/prng.h"

static bool fits(const char *pattern, const char *text)
{
	struct glob glob;
	struct err err;
	if (glob_parse(str_of(pattern), &glob, &err) < 0)
		fail_msg("%s: %s", pattern, err.message);
	/* Of exactly its size, for the address sanitizer. */
	size_t len = strlen(text);
	char *copy = malloc(len + 1);
	assert_non_null(copy);
	char *exact = len ? realloc(copy, len) : copy;
	assert_non_null(exact);
	memcpy(exact, text, len);
	bool found = glob_match(&glob, pattern, (struct str){ exact, len });
	free(exact);
	return found;
}

static void patterns(void **state)
{
	(void)state;
	static const struct {
		const char *pattern, *text;
		bool fits;
	} table[] = {
		{ "", "", true },
		{ "", "a", false },
		{ "*", "", true },
		{ "***", "abc", true },
		{ "?", "", false },
		{ "??", "ab", true },
		{ "??", "abc", false },
		{ "fraud-*", "fraud-", true },
		{ "fraud-*", "fraud", false },
		{ "*-tm-*", "fraud-tm-1", true },
		{ "*-tm-*", "fraud-tm1", false },
		{ "*a*ba", "abba", true },
		{ "*ab", "aab", true },
		{ "*ab", "aba", false },
		{ "a*a", "a", false },
		{ "a*a", "aa", true },
		{ "a?b", "a/b", true },
		{ "*", ".hidden", true },
		{ "[a-c]x", "bx", true },
		{ "[a-c]x", "dx", false },
		{ "[!a-c]x", "dx", true },
		{ "[^a-c]x", "bx", false },
		{ "[]]", "]", true },
		{ "[!]]", "]", false },
		{ "[a-]", "-", true },
		{ "[c-a]", "b", false },
		{ "[\\]]", "]", true },
		{ "[\\a-c]", "b", true },
		{ "[[]", "[", true },
		{ "[[:digit:][:upper:]x]", "7", true },
		{ "[[:digit:][:upper:]x]", "Q", true },
		{ "[[:digit:][:upper:]x]", "x", true },
		{ "[[:digit:][:upper:]x]", "q", false },
		{ "\\*", "*", true },
		{ "\\*", "a", false },
		{ "a\\bc", "abc", true },
		{ "\\[a]", "[a]", true },
		{ "*[0-9]", "pod-12", true },
		{ "*\xff", "\xfe\xff", true },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (fits(table[i].pattern, table[i].text) != table[i].fits)
			fail_msg("%s and %s", table[i].pattern, table[i].text);
}

static void none(void **state)
{
	(void)state;
	static const char *const table[] = { "[",       "[a",          "[a-",
					     "[]",      "[!]",         "a\\",
					     "[\\",     "[[:space:]]", "[[:x",
					     "[[=a=]]", "[[.a.]]",     "[a][b][c][d][e]",
					     "[a-\\",   "[[:digit:]",  "*a*a*a*a*a*a*a*a*b" };
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct glob glob = { .n_parts = 77 };
		struct err err = { 0 };
		assert_true(glob_is(str_of(table[i])));
		if (glob_parse(str_of(table[i]), &glob, &err) == 0)
			fail_msg("%s", table[i]);
		assert_int_equal(err.kind, ERR_USAGE);
		assert_int_equal(glob.n_parts, 77);
	}
	char longest[GLOB_LEN_MAX + 2];
	struct glob glob;
	struct err err;
	memset(longest, '?', sizeof longest);
	assert_int_equal(glob_parse((struct str){ longest, GLOB_LEN_MAX }, &glob, &err), 0);
	assert_int_equal(glob.n_parts, 1);
	assert_true(glob_match(&glob, longest, (struct str){ longest, GLOB_LEN_MAX }));
	assert_false(glob_match(&glob, longest, (struct str){ longest, GLOB_LEN_MAX - 1 }));
	assert_true(glob_parse((struct str){ longest, GLOB_LEN_MAX + 1 }, &glob, &err) < 0);
	assert_false(glob_is(STR("fraud-detection.1")));
}

/* Whatever it takes means what it means to fnmatch(3). */
static void as_fnmatch(void **state)
{
	(void)state;
	static const char alphabet[] = "ab*?[]!-\\^a";
	struct prng prng = { 20261130 };
	size_t compared = 0;
	for (unsigned round = 0; round < 300000; round++) {
		char pattern[10] = "", text[8] = "";
		struct glob glob;
		struct err err;
		for (uint64_t i = prng_below(&prng, sizeof pattern); i > 0; i--)
			pattern[strlen(pattern)] = alphabet[prng_below(&prng, sizeof alphabet - 1)];
		for (uint64_t i = prng_below(&prng, sizeof text); i > 0; i--)
			text[strlen(text)] = alphabet[prng_below(&prng, round % 2 ? 2 : sizeof alphabet - 1)];
		if (glob_parse(str_of(pattern), &glob, &err) < 0)
			continue;
		compared++;
		if (glob_match(&glob, pattern, str_of(text)) != (fnmatch(pattern, text, 0) == 0))
			fail_msg("%s and %s", pattern, text);
	}
	assert_true(compared > 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns),
		cmocka_unit_test(none),
		cmocka_unit_test(as_fnmatch),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
