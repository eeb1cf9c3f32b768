/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/number.h"
#include "support/tight.h"

/* What Flink's classes made of these (tests/workloads/plan); 1: refused. */
static void sizes(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool plain;
		uint64_t bytes; /* UINT64_MAX: refused */
		const char *why;
	} table[] = {
		{ "1728m", true, 1811939328, NULL },
		{ "1728 MEBIBYTES", true, 1811939328, NULL },
		{ " 64m ", false, 67108864, NULL },
		{ "0", true, 0, NULL },
		{ "9223372036854775807", true, INT64_MAX, NULL },
		{ "8388607t", true, 9223370937343148032ull, NULL },
		{ "0x40000000", true, 1073741824, NULL }, /* YAML's number */
		{ "0o17", true, 15, NULL },
		{ "+1073741824", true, 1073741824, NULL },
		{ "010", true, 10, NULL },
		{ "010", false, 10, NULL },
		{ "0x10", false, UINT64_MAX, "no unit" },
		{ "+5", false, UINT64_MAX, "does not begin with a digit" },
		{ "+5m", true, UINT64_MAX, "does not begin with a digit" },
		{ "1.5g", true, UINT64_MAX, "fraction" },
		{ "9999999999g", true, UINT64_MAX, "64 bits" },
		{ "9223372036854775808", true, UINT64_MAX, "64 bits" },
		{ "8388608t", true, UINT64_MAX, "64 bits" },
		{ "0xffffffffffffffffff", true, UINT64_MAX, "64 bits" },
		{ "-1m", true, UINT64_MAX, "negative" },
		{ "4Gi", true, UINT64_MAX, "Kubernetes" },
		{ "10 gigs", true, UINT64_MAX, "no unit" },
		{ "5 0m", true, UINT64_MAX, "no unit" },
		{ "1e9", true, UINT64_MAX, "no unit" },
		{ "m", true, UINT64_MAX, "does not begin with a digit" },
		{ "", false, UINT64_MAX, "empty" },
		{ "  ", false, UINT64_MAX, "empty" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct str text = tight_of(str_of(table[i].text));
		uint64_t bytes = UINT64_MAX;
		const char *why = NULL;
		bool good = number_size((struct number_text){ text, table[i].plain }, &bytes, &why);
		if (good != (table[i].bytes != UINT64_MAX) || bytes != table[i].bytes)
			fail_msg("'%s' (%s): %llu", table[i].text, table[i].plain ? "plain" : "quoted",
				 (unsigned long long)bytes);
		if (!good && !strstr(why, table[i].why))
			fail_msg("'%s' %s", table[i].text, why);
		tight_free(text);
	}
}

static void fractions(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool plain, good;
		double value;
	} table[] = {
		{ "0.4", true, true, 0.4000000059604645 },
		{ "0.1", false, true, 0.10000000149011612 },
		{ ".5", true, true, 0.5 },
		{ "0x1p-3", false, true, 0.125 },
		{ "0.4f", false, true, 0.4000000059604645 },
		{ "0.15d", true, true, 0.15000000596046448 },
		{ " 0.25 ", false, true, 0.25 },
		{ "1e-3", true, true, 0.0010000000474974513 },
		{ "1", true, true, 1 },
		{ "0x1", true, true, 1 },
		{ "0x1", false, false, 0 },
		{ "1e-46", true, false, 0 },
		{ "1e-46", false, true, 0 },
		{ "3.5e38", true, false, 0 },
		{ "40%", true, false, 0 },
		{ "0,4", true, false, 0 },
		{ ".", true, false, 0 },
		{ "", false, false, 0 },
		{ "abc", true, false, 0 },
		{ "1e", false, false, 0 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct str text = tight_of(str_of(table[i].text));
		double value = 0;
		const char *why = NULL;
		bool good = number_float((struct number_text){ text, table[i].plain }, &value, &why);
		if (good != table[i].good || (good && value != table[i].value))
			fail_msg("'%s': %d %.17g", table[i].text, good, value);
		tight_free(text);
	}
}

static void counts(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		bool plain, good;
		int32_t value;
	} table[] = {
		{ "4", true, true, 4 },
		{ "+3", false, true, 3 },
		{ "-1", true, true, -1 },
		{ "007", false, true, 7 },
		{ "0x10", true, true, 16 },
		{ "0x10", false, false, 0 },
		{ " 3", false, false, 0 },
		{ "1.0", true, false, 0 },
		{ "2147483647", true, true, INT32_MAX },
		{ "2147483648", true, false, 0 },
		{ "-2147483648", true, true, INT32_MIN },
		{ "", false, false, 0 },
		{ "99999999999999999999", true, false, 0 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct str text = tight_of(str_of(table[i].text));
		int32_t value = 0;
		const char *why = NULL;
		bool good = number_int((struct number_text){ text, table[i].plain }, &value, &why);
		if (good != table[i].good || (good && value != table[i].value))
			fail_msg("'%s': %d %d", table[i].text, good, value);
		tight_free(text);
	}
}

/* bytes x factor as BigDecimal has it: the digits that Java prints, not the double's own value. */
static void products(void **state)
{
	(void)state;
	static const struct {
		uint64_t bytes;
		double factor;
		uint64_t product;
		bool fits;
	} table[] = {
		{ 4294967296, (double)0.1f, 429496736, true },
		{ 3597035104, (double)0.4f, 1438814063, true },
		{ 1342177280, 0.25, 335544320, true },
		{ 1000, 0, 0, true },
		{ 0, 0.5, 0, true },
		{ 100, 1e-30, 0, true },
		{ 1, 1e18, 1000000000000000000ull, true },
		{ 10, 1e18, 0, false },
		{ INT64_MAX, 1.5, 0, false },
		{ INT64_MAX, 0.5, 4611686018427387903ull, true },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		uint64_t product = 0;
		assert_int_equal(number_multiply(table[i].bytes, table[i].factor, &product), table[i].fits);
		assert_int_equal(product, table[i].product);
	}
}

static void nulls(void **state)
{
	(void)state;
	assert_true(number_is_null((struct number_text){ STR("~"), true }));
	assert_true(number_is_null((struct number_text){ STR("null"), true }));
	assert_false(number_is_null((struct number_text){ STR("null"), false }));
	assert_false(number_is_null((struct number_text){ STR("nULL"), true }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sizes),    cmocka_unit_test(fractions), cmocka_unit_test(counts),
		cmocka_unit_test(products), cmocka_unit_test(nulls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
