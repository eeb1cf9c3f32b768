/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/str.h"
#include "support/tight.h"

static void comparisons(void **state)
{
	(void)state;
	static const struct str nothing = { NULL, 0 };
	assert_true(str_eq(nothing, STR("")));
	assert_true(str_eq(STR("ab"), STR("ab")));
	assert_false(str_eq(STR("ab"), STR("abc")));
	assert_false(str_eq(STR("ab"), STR("aB")));
	assert_true(str_eq(STR("a\0b"), STR("a\0b")));
	assert_false(str_eq(STR("a\0b"), STR("a\0c")));
	assert_true(str_starts(STR("abc"), STR("ab")));
	assert_true(str_starts(STR("abc"), STR("")));
	assert_false(str_starts(STR("a"), STR("ab")));
	assert_true(str_ends(STR("abc"), STR("bc")));
	assert_true(str_ends(STR("abc"), STR("")));
	assert_false(str_ends(STR("c"), STR("bc")));
	assert_true(str_has(STR("abc"), STR("b")));
	assert_true(str_has(STR("abc"), STR("")));
	assert_true(str_has(STR(""), STR("")));
	assert_false(str_has(STR("abc"), STR("ac")));
}

static void searching(void **state)
{
	(void)state;
	static const struct {
		struct str text, part;
		size_t at;
	} table[] = {
		{ STR("abcabd"), STR("abd"), 3 }, { STR("aaab"), STR("aab"), 1 }, { STR("abc"), STR("c"), 2 },
		{ STR("abc"), STR("abc"), 0 },    { STR("abc"), STR("abcd"), 3 }, { STR("abc"), STR(""), 0 },
		{ STR(""), STR("a"), 0 },         { STR("a\0bc"), STR("bc"), 2 }, { STR("ababab"), STR("bb"), 6 },
		{ STR("xab"), STR("ab"), 1 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct str text = tight_of(table[i].text);
		assert_int_equal(str_find(text, table[i].part), table[i].at);
		tight_free(text);
	}
	assert_int_equal(str_index(STR("a=b=c"), '='), 1);
	assert_int_equal(str_index(STR("abc"), '='), 3);
	assert_int_equal(str_index(STR(""), '='), 0);
}

static void skip_and_trim(void **state)
{
	(void)state;
	assert_int_equal(str_skip(STR("abc"), 3).len, 0);
	assert_int_equal(str_skip(STR("abc"), 4).len, 0); /* never past the end */
	assert_true(str_eq(str_skip(STR("abc"), 1), STR("bc")));
	assert_true(str_eq(str_trim(STR(" \t a b\r\n")), STR("a b")));
	assert_int_equal(str_trim(STR(" \t\r\n")).len, 0);
	struct str rest = STR(" \t x ");
	str_blanks(&rest);
	assert_true(str_eq(rest, STR("x ")));
	str_blanks(&rest);
	assert_true(str_eq(rest, STR("x ")));
	rest = STR("  ");
	str_blanks(&rest);
	assert_int_equal(rest.len, 0);
}

static void lines_and_parts(void **state)
{
	(void)state;
	struct str rest = STR("one\r\n\nlast"), line;
	assert_true(str_line(&rest, &line));
	assert_true(str_eq(line, STR("one\r")));
	assert_true(str_line(&rest, &line));
	assert_int_equal(line.len, 0);
	assert_true(str_line(&rest, &line));
	assert_true(str_eq(line, STR("last")));
	assert_false(str_line(&rest, &line));
	rest = STR("x\n"); /* no empty line after the last newline */
	assert_true(str_line(&rest, &line));
	assert_false(str_line(&rest, &line));
	rest = STR("a=b=c");
	assert_true(str_split(&rest, '=', &line));
	assert_true(str_eq(line, STR("a")) && str_eq(rest, STR("b=c")));
	rest = STR("key: value");
	assert_false(str_take(&rest, STR("keys")));
	assert_true(str_eq(rest, STR("key: value")));
	assert_true(str_take(&rest, STR("key: ")));
	assert_true(str_eq(rest, STR("value")));
}

static void numbers(void **state)
{
	(void)state;
	static const struct {
		struct str text;
		bool decimal, hex;
		uint64_t value, hex_value;
		size_t left, hex_left;
	} table[] = {
		{ STR("0"), true, true, 0, 0, 0, 0 },
		{ STR("42 kB"), true, true, 42, 0x42, 3, 3 },
		{ STR("18446744073709551615"), true, false, UINT64_MAX, 0, 0, 0 },
		{ STR("18446744073709551616"), false, false, 0, 0, 0, 0 },
		{ STR("18446744073709551620"), false, false, 0, 0, 0, 0 },
		{ STR("99999999999999999999"), false, false, 0, 0, 0, 0 },
		{ STR("ffffffffffffffff-"), false, true, 0, UINT64_MAX, 0, 1 },
		{ STR("10000000000000000"), true, false, 10000000000000000, 0, 0, 0 },
		{ STR("7F00"), true, true, 7, 0x7f00, 3, 0 },
		{ STR("aBg"), false, true, 0, 0xab, 0, 1 },
		{ STR(""), false, false, 0, 0, 0, 0 },
		{ STR("-1"), false, false, 0, 0, 0, 0 },
		{ STR("+1"), false, false, 0, 0, 0, 0 },
		{ STR(" 1"), false, false, 0, 0, 0, 0 },
		{ STR("x1"), false, false, 0, 0, 0, 0 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct str text = tight_of(table[i].text), rest = text;
		uint64_t value = 77;
		assert_int_equal(str_u64(&rest, &value), table[i].decimal);
		assert_int_equal(value, table[i].decimal ? table[i].value : 77); /* untouched on failure */
		assert_int_equal(rest.len, table[i].decimal ? table[i].left : text.len);
		rest = text;
		value = 77;
		assert_int_equal(str_hex(&rest, &value), table[i].hex);
		assert_int_equal(value, table[i].hex ? table[i].hex_value : 77);
		assert_int_equal(rest.len, table[i].hex ? table[i].hex_left : text.len);
		value = 77;
		bool whole = table[i].decimal && table[i].left == 0;
		assert_int_equal(str_is_u64(text, &value), whole);
		assert_int_equal(value, whole ? table[i].value : 77);
		tight_free(text);
	}
}

static void copies_are_cut_and_end(void **state)
{
	(void)state;
	char dest[4] = "zzz";
	str_copy(dest, 0, STR("abc"));
	assert_string_equal(dest, "zzz");
	str_copy(dest, sizeof dest, STR("abc"));
	assert_string_equal(dest, "abc");
	str_copy(dest, sizeof dest, STR("abcd"));
	assert_string_equal(dest, "abc");
	str_copy(dest, sizeof dest, STR("a\0c"));
	assert_string_equal(dest, "a");
	str_copy(dest, sizeof dest, (struct str){ NULL, 0 });
	assert_string_equal(dest, "");
	str_copy(dest, 1, STR("abc"));
	assert_string_equal(dest, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comparisons),   cmocka_unit_test(searching),
		cmocka_unit_test(skip_and_trim), cmocka_unit_test(lines_and_parts),
		cmocka_unit_test(numbers),       cmocka_unit_test(copies_are_cut_and_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
