/* SPDX-License-Identifier: Apache-2.0 */
/* Columns and escapes: no name moves what stands beside it. */
#include "watch/glyph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

static const struct {
	const char *name;
	struct str text;
	const char *utf8, *ascii;
	unsigned utf8_columns;
} rows[] = {
	{ "plain", STR("java-heap"), "java-heap", "java-heap", 9 },
	{ "Latin", STR("caf\xc3\xa9"), "caf\xc3\xa9", "caf\\u00e9", 4 },
	{ "wide", STR("\xe6\x8a\xa5\xe5\x91\x8a"), "\xe6\x8a\xa5\xe5\x91\x8a", "\\u62a5\\u544a", 4 },
	{ "escape", STR("a\033[2Jb"), "a\\x1b[2Jb", "a\\x1b[2Jb", 9 },
	{ "newline, NUL", STR("a\nb\0c"), "a\\x0ab\\x00c", "a\\x0ab\\x00c", 11 },
	{ "C1", STR("\xc2\x9b"), "\\u009b", "\\u009b", 6 },
	{ "right to left mark", STR("\xe2\x80\xae"), "\\u202e", "\\u202e", 6 },
	{ "Hebrew", STR("\xd7\x90"), "\\u05d0", "\\u05d0", 6 },
	{ "combining", STR("e\xcc\x81"), "e\\u0301", "e\\u0301", 7 },
	{ "soft hyphen", STR("\xc2\xad"), "\\u00ad", "\\u00ad", 6 },
	{ "emoji", STR("\xf0\x9f\x98\x80"), "\\U01f600", "\\U01f600", 8 },
	{ "zero width", STR("\xe2\x80\x8b"), "\\u200b", "\\u200b", 6 },
	{ "no UTF-8", STR("\xff\xc3"), "\\xff\\xc3", "\\xff\\xc3", 8 },
	{ "overlong", STR("\xc0\xaf"), "\\xc0\\xaf", "\\xc0\\xaf", 8 },
	{ "DEL", STR("\x7f"), "\\x7f", "\\x7f", 4 },
};

static void each(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (int utf8 = 0; utf8 < 2; utf8++) {
			char shown[128] = "";
			unsigned columns = 0;
			for (struct str rest = rows[i].text; rest.len;) {
				struct glyph glyph = glyph_take(&rest, utf8);
				assert_true(glyph.len > 0 && glyph.columns > 0);
				strncat(shown, glyph.text, glyph.len);
				columns += glyph.columns;
			}
			if (strcmp(shown, utf8 ? rows[i].utf8 : rows[i].ascii) != 0)
				fail_msg("%s: %s", rows[i].name, shown);
			assert_int_equal(columns, glyph_columns(rows[i].text, utf8));
			assert_int_equal(columns, utf8 ? rows[i].utf8_columns : strlen(rows[i].ascii));
		}
}

/* Whatever the bytes: the text gets shorter, and what is shown is no control byte. */
static void any_bytes(void **state)
{
	(void)state;
	uint32_t seed = 12345;
	for (int round = 0; round < 20000; round++) {
		char bytes[8];
		for (size_t i = 0; i < sizeof bytes; i++) {
			seed = seed * 1664525 + 1013904223;
			bytes[i] = (char)(seed >> 24);
		}
		for (struct str rest = { bytes, sizeof bytes }; rest.len;) {
			size_t before = rest.len;
			struct glyph glyph = glyph_take(&rest, round & 1);
			assert_true(rest.len < before && glyph.len < GLYPH_CAP);
			assert_true((unsigned char)glyph.text[0] >= 0x20 && glyph.text[0] != 0x7f);
			assert_true(glyph.len == 1 || glyph.columns == 1 || glyph.columns == 2 ||
				    glyph.text[0] == '\\');
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(each), cmocka_unit_test(any_bytes) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
