/* SPDX-License-Identifier: Apache-2.0 */
/* What a watched process named cannot move a cursor or split a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/esc.h"
#include "support/tight.h"

static const struct {
	struct str text;
	const char *shown;
} rows[] = {
	{ STR(""), "" },
	{ STR("plain text"), "plain text" },
	{ STR("a\033[2Jb"), "a\\x1b[2Jb" },
	{ STR("two\nlines\r\t"), "two\\x0alines\\x0d\\x09" },
	{ STR("nul\0byte"), "nul\\x00byte" },
	{ STR("\x7f"), "\\x7f" },
	{ STR("a\xe2\x80\xae"
	      "b\xe2\x80\xa8"
	      "c\xe2\x81\xa6"
	      "d\xe2\x80\xa7"),
	  "a\\xe2\\x80\\xaeb\\xe2\\x80\\xa8c\\xe2\\x81\\xa6d\xe2\x80\xa7" }, /* order and lines are not theirs to change */
	{ STR("\xc2\x9b"
	      "31m"),
	  "\\xc2\\x9b31m" },             /* C1 in UTF-8: a CSI of one byte for some terminals */
	{ STR("\xc2\xa0"), "\xc2\xa0" }, /* U+00A0 is no control */
	{ STR("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"), "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
	{ STR("\x80"), "\\x80" },          /* a tail alone */
	{ STR("\xc3"), "\\xc3" },          /* a head alone */
	{ STR("\xe2\x82"), "\\xe2\\x82" }, /* cut */
	{ STR("\xc0\xaf"), "\\xc0\\xaf" }, /* overlong '/' */
	{ STR("\xe0\x80\xaf"), "\\xe0\\x80\\xaf" },
	{ STR("\xf0\x80\x80\xaf"), "\\xf0\\x80\\x80\\xaf" },
	{ STR("\xed\xa0\x80"), "\\xed\\xa0\\x80" },          /* a surrogate */
	{ STR("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80" }, /* past U+10FFFF */
	{ STR("\xf5\x80\x80\x80"), "\\xf5\\x80\\x80\\x80" },
	{ STR("\xff"), "\\xff" },
	{ STR("\\x1b"), "\\x1b" }, /* what was escaped once stays as it is */
};

static void escapes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct str text = tight_of(rows[i].text);
		auto_buf struct buf out = { .cap = 256 };
		char copy[64], again[64];
		assert_true(esc_add(&out, text));
		assert_string_equal(buf_str(&out).ptr, rows[i].shown);
		assert_string_equal(esc_copy(copy, sizeof copy, text), rows[i].shown);
		assert_string_equal(esc_copy(again, sizeof again, str_of(copy)), rows[i].shown);
		assert_int_equal(esc_is_plain(text), str_eq(text, str_of(rows[i].shown)));
		tight_free(text);
	}
}

static void a_copy_is_never_cut_inside_a_unit(void **state)
{
	(void)state;
	struct str text = STR("a\033\xe2\x82\xac"
			      "b");
	static const char *const wanted[] = {
		"", "", "a", "a", "a", "a", "a\\x1b", "a\\x1b", "a\\x1b", "a\\x1b\xe2\x82\xac", "a\\x1b\342\202\254b"
	};
	for (size_t cap = 1; cap < sizeof wanted / sizeof wanted[0]; cap++) {
		char *dest = (char *)(uintptr_t)tight_of((struct str){ "zzzzzzzzzzzzzzzz", cap }).ptr;
		assert_string_equal(esc_copy(dest, cap, text), wanted[cap]);
		tight_free((struct str){ dest, cap });
	}
	char untouched = 'z';
	(void)esc_copy(&untouched, 0, text);
	assert_int_equal(untouched, 'z');
}

static void text_is_cut_between_characters(void **state)
{
	(void)state;
	struct str text = tight_of(STR("a\xe2\x82\xac\xf0\x9f\x98\x80"));
	static const size_t wanted[] = { 0, 0, 1, 1, 1, 4, 4, 4, 4, 8, 8 };
	for (size_t cap = 0; cap < sizeof wanted / sizeof wanted[0]; cap++)
		assert_int_equal(esc_utf8_cut(text, cap).len, wanted[cap]);
	assert_ptr_equal(esc_utf8_cut(text, 16).ptr, text.ptr);
	tight_free(text);
	assert_int_equal(esc_utf8_cut(STR("ab\xff|"), 16).len, 2);
}

static void a_full_buffer_says_so(void **state)
{
	(void)state;
	auto_buf struct buf out = { .cap = 5 };
	assert_false(esc_add(&out, STR("ab\033")));
	assert_true(buf_failed(&out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(escapes),
		cmocka_unit_test(a_copy_is_never_cut_inside_a_unit),
		cmocka_unit_test(text_is_cut_between_characters),
		cmocka_unit_test(a_full_buffer_says_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
