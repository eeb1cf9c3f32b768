/* SPDX-License-Identifier: Apache-2.0 */
/* time-limit: 300 */
/* Sizes: exact or refused, never wrapped; what is shown is near what it was. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "support/prng.h"

enum { ROUNDS = 200000 };

static const struct {
	const char *name;
	unsigned shift;
	bool jvm, flink;
} units[] = {
	{ "", 0, true, true },      { "b", 0, false, true },   { "k", 10, true, true },     { "KB", 10, false, true },
	{ "Ki", 10, false, false }, { "m", 20, true, true },   { "MiB", 20, false, false }, { "mb", 20, false, true },
	{ "G", 30, true, true },    { "gb", 30, false, true }, { "Gi", 30, false, false },  { "T", 40, true, true },
	{ "tb", 40, false, true },
};

static void a_size_is_exact_or_refused(void **state)
{
	(void)state;
	struct prng prng = prng_start("a_size_is_exact_or_refused");
	for (int i = 0; i < ROUNDS; i++) {
		size_t unit = prng_below(&prng, sizeof units / sizeof units[0]);
		uint64_t n = prng_size(&prng, true), bytes = 0, product;
		char text[64];
		(void)snprintf(text, sizeof text, "%llu%s", (unsigned long long)n, units[unit].name);
		bool fits = !__builtin_mul_overflow(n, (uint64_t)1 << units[unit].shift, &product);
		assert_int_equal(units_parse(str_of(text), &bytes, NULL) == 0, fits);
		assert_true(!fits || bytes == product);
		assert_int_equal(units_parse_jvm(str_of(text), &bytes), fits && units[unit].jvm);
		assert_int_equal(units_parse_flink(str_of(text), &bytes), fits && units[unit].flink);
		assert_true(!fits || bytes == product);
	}
}

/* Any bytes at all: taken only if they are digits and a unit, and then the digits decide. */
static void noise_is_refused_or_begins_with_its_number(void **state)
{
	(void)state;
	static const char alphabet[] = "0123456789kKmMgGtTbBiI .-+e\0\n";
	struct prng prng = prng_start("noise_is_refused_or_begins_with_its_number");
	for (int i = 0; i < ROUNDS; i++) {
		char text[8];
		size_t len = prng_below(&prng, sizeof text);
		for (size_t at = 0; at < len; at++)
			text[at] = prng_one_in(&prng, 20) ? (char)prng_u64(&prng)
							  : alphabet[prng_below(&prng, sizeof alphabet)];
		struct str str = { text, len }, rest = str;
		uint64_t bytes, digits;
		if (units_parse(str, &bytes, NULL) == 0) {
			assert_true(str_u64(&rest, &digits));
			assert_true(bytes == digits || bytes == digits << 10 || bytes == digits << 20 ||
				    bytes == digits << 30 || bytes == digits << 40);
			assert_true(rest.len <= 3);
		}
	}
}

static void what_is_shown_is_near(void **state)
{
	(void)state;
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	struct prng prng = prng_start("what_is_shown_is_near");
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t bytes = prng_size(&prng, true);
		char text[UNITS_TEXT_CAP], *end;
		double value = strtod(units_format(text, bytes), &end), scale = 1;
		int unit = 0;
		assert_int_equal(*end, ' ');
		while (strcmp(end + 1, names[unit]) != 0) {
			scale *= 1024;
			assert_true(++unit < 7);
		}
		double off = value * scale - (double)bytes;
		double digit = unit == 0 ? 0 : value >= 999.9 ? 0.501 : unit >= 3 && value < 100 ? 0.00501 : 0.0501;
		assert_true((off < 0 ? -off : off) <= digit * scale);
		assert_true(strlen(text) <= 10); /* the table's columns are made for it */
		assert_true(value < 1024);
		char negative[UNITS_TEXT_CAP];
		if (bytes && bytes <= INT64_MAX) {
			(void)units_format_signed(negative, -(int64_t)bytes);
			assert_int_equal(negative[0], '-');
			assert_string_equal(negative + 1, text);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_size_is_exact_or_refused),
		cmocka_unit_test(noise_is_refused_or_begins_with_its_number),
		cmocka_unit_test(what_is_shown_is_near),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
