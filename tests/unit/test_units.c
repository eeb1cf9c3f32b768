/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/units.h"
#include "support/tight.h"

#define KI ((uint64_t)1 << 10)
#define MI ((uint64_t)1 << 20)
#define GI ((uint64_t)1 << 30)
#define TI ((uint64_t)1 << 40)

/* One text, and what each of the three readers makes of it: a size, or a refusal. */
struct row {
	struct str text;
	bool own, jvm, flink;
	uint64_t bytes;
};

static const struct row rows[] = {
	{ STR("0"), true, true, true, 0 },
	{ STR("1073741824"), true, true, true, GI },
	{ STR("1728m"), true, true, true, 1728 * MI },
	{ STR("1728M"), true, true, true, 1728 * MI },
	{ STR("4g"), true, true, true, 4 * GI },
	{ STR("4G"), true, true, true, 4 * GI },
	{ STR("2t"), true, true, true, 2 * TI },
	{ STR("7k"), true, true, true, 7 * KI },
	{ STR("512b"), true, false, true, 512 },
	{ STR("64Mi"), true, false, false, 64 * MI },
	{ STR("64MiB"), true, false, false, 64 * MI },
	{ STR("64mib"), true, false, false, 64 * MI },
	{ STR("3Ti"), true, false, false, 3 * TI },
	{ STR("9Ki"), true, false, false, 9 * KI },
	{ STR("64mb"), true, false, true, 64 * MI },
	{ STR("5kb"), true, false, true, 5 * KI },
	{ STR("64 mb"), false, false, true, 64 * MI },
	{ STR(" 64 mebibytes "), false, false, true, 64 * MI },
	{ STR("3 kibibytes"), false, false, true, 3 * KI },
	{ STR("3gibibytes"), false, false, true, 3 * GI },
	{ STR("1 tebibytes"), false, false, true, TI },
	{ STR("17 bytes"), false, false, true, 17 },
	{ STR("1.5g"), false, false, false, 0 },
	{ STR("-1"), false, false, false, 0 },
	{ STR("+1g"), false, false, false, 0 },
	{ STR(""), false, false, false, 0 },
	{ STR("g"), false, false, false, 0 },
	{ STR("1gg"), false, false, false, 0 },
	{ STR("1e9"), false, false, false, 0 },
	{ STR("0x10"), false, false, false, 0 },
	{ STR("1,000"), false, false, false, 0 },
	{ STR("1m\0"), false, false, false, 0 },
	{ STR("18446744073709551615"), true, true, true, UINT64_MAX },
	{ STR("18446744073709551616"), false, false, false, 0 },
	{ STR("16777215t"), true, true, true, 16777215 * TI },
	{ STR("16777216t"), false, false, false, 0 }, /* 2^64: refused, not 0 */
	{ STR("18014398509481984k"), false, false, false, 0 },
};

static void parsing(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct str text = tight_of(rows[i].text);
		uint64_t bytes = 77;
		struct err err = { 0 };
		int rc = units_parse(text, &bytes, &err);
		if ((rc == 0) != rows[i].own)
			print_error("'%.*s'\n", (int)text.len, text.ptr);
		assert_int_equal(rc == 0, rows[i].own);
		assert_int_equal(bytes, rows[i].own ? rows[i].bytes : 77);
		assert_int_equal(err.kind, rows[i].own ? ERR_NONE : ERR_USAGE);
		bytes = 77;
		assert_int_equal(units_parse_jvm(text, &bytes), rows[i].jvm);
		assert_int_equal(bytes, rows[i].jvm ? rows[i].bytes : 77);
		bytes = 77;
		assert_int_equal(units_parse_flink(text, &bytes), rows[i].flink);
		assert_int_equal(bytes, rows[i].flink ? rows[i].bytes : 77);
		tight_free(text);
	}
}

static void the_refusal_says_what_to_write(void **state)
{
	(void)state;
	uint64_t bytes;
	struct err err = { 0 };
	assert_true(units_parse(STR("1.5g"), &bytes, &err) < 0);
	assert_string_equal(err.message,
			    "'1.5g' is no size: write digits and a unit, such as 1728m, 4Gi or 1073741824");
	assert_true(units_parse(STR("nonsense that is longer than any size could ever be, by far"), &bytes, &err) < 0);
	assert_true(units_parse(STR("1x"), &bytes, NULL) < 0);
}

static void formatting(void **state)
{
	(void)state;
	static const struct {
		uint64_t bytes;
		const char *text;
	} table[] = {
		{ 0, "0 B" },
		{ 512, "512 B" },
		{ 1023, "1023 B" },
		{ KI, "1.0 KiB" },
		{ 1229, "1.2 KiB" },
		{ MI - 1, "1.0 MiB" }, /* not "1024.0 KiB" */
		{ 34 * MI, "34.0 MiB" },
		{ GI - 1, "1.00 GiB" },
		{ 999 * MI, "999.0 MiB" },
		{ 1023 * MI, "1023 MiB" }, /* four digits at most */
		{ 1023 * MI + 600 * KI, "1.00 GiB" },
		{ 123 * GI, "123.0 GiB" },
		{ 1000 * GI, "1000 GiB" },
		{ 1728 * MI, "1.69 GiB" },
		{ 4 * GI, "4.00 GiB" },
		{ TI, "1.00 TiB" },
		{ (uint64_t)1 << 60, "1.00 EiB" },
		{ UINT64_MAX, "16.00 EiB" },
	};
	char dest[UNITS_TEXT_CAP];
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		assert_string_equal(units_format(dest, table[i].bytes), table[i].text);
		assert_ptr_equal(units_format(dest, table[i].bytes), dest);
	}
	assert_string_equal(units_format_signed(dest, -1), "-1 B");
	assert_string_equal(units_format_signed(dest, -(int64_t)(34 * MI)), "-34.0 MiB");
	assert_string_equal(units_format_signed(dest, 0), "0 B");
	assert_string_equal(units_format_signed(dest, INT64_MAX), "8.00 EiB");
	assert_string_equal(units_format_signed(dest, INT64_MIN), "-8.00 EiB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parsing),
		cmocka_unit_test(the_refusal_says_what_to_write),
		cmocka_unit_test(formatting),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
