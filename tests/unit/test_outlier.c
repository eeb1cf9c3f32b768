/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds far more than the others. */
#include "collector/outlier.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#define MIB ((uint64_t)1 << 20)

static const struct {
	const char *name;
	uint64_t mib[8];
	size_t n;
	uint64_t median_mib;
	size_t n_outliers;
	int64_t largest; /* whose it is: its place above */
} table[] = {
	{ "nobody", { 0 }, 0, 0, 0, -1 },
	{ "one alone is no outlier", { 900 }, 1, 900, 0, 0 },
	{ "of two nobody is odd", { 100, 900 }, 2, 500, 0, 1 },
	{ "one of three", { 400, 900, 410 }, 3, 410, 1, 1 },
	{ "a quarter above, to the byte", { 400, 500, 400 }, 3, 400, 0, 1 },
	{ "just past a quarter", { 400, 501, 400 }, 3, 400, 1, 1 },
	{ "on a small owner a quarter is noise", { 40, 104, 40 }, 3, 40, 0, 1 },
	{ "and 65 MiB is not", { 40, 105, 40 }, 3, 40, 1, 1 },
	{ "on a large one 64 MiB is noise", { 4000, 4065, 4000 }, 3, 4000, 0, 1 },
	{ "less than the others is none", { 400, 1, 410 }, 3, 400, 0, 2 },
	{ "two of five", { 400, 900, 410, 800, 420 }, 5, 420, 2, 1 },
	{ "where half of them do it, it is what they need", { 900, 900, 100, 100 }, 4, 500, 2, 1 },
	{ "more than half", { 900, 900, 900, 100, 100 }, 5, 900, 0, 2 },
	{ "beside nothing", { 0, 0, 65, 0 }, 4, 0, 1, 2 },
};

static void each(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct holding holdings[8];
		struct outliers found;
		for (size_t n = 0; n < table[i].n; n++)
			holdings[n] = (struct holding){ (int64_t)n, table[i].mib[n] * MIB };
		outliers_find(holdings, table[i].n, &found);
		bool good = found.median_bytes == table[i].median_mib * MIB &&
			    table[i].n - found.first == table[i].n_outliers &&
			    (table[i].n == 0 || holdings[table[i].n - 1].agent == table[i].largest);
		for (size_t n = 1; n < table[i].n; n++)
			good = good && holdings[n - 1].bytes <= holdings[n].bytes;
		if (!good)
			fail_msg("%s: median %llu MiB, %zu outliers", table[i].name,
				 (unsigned long long)(found.median_bytes / MIB), table[i].n - found.first);
	}
}

static void nothing_wraps(void **state)
{
	(void)state;
	struct holding holdings[] = { { 1, UINT64_MAX }, { 2, UINT64_MAX }, { 3, UINT64_MAX } };
	struct outliers found;
	outliers_find(holdings, 3, &found);
	assert_true(found.median_bytes == UINT64_MAX && found.first == 3);
}

static void times_of_the_median(void **state)
{
	(void)state;
	uint64_t bp = 7;
	assert_false(outliers_times_bp(5, 0, &bp));
	assert_int_equal(bp, 7);
	assert_true(outliers_times_bp(900 * MIB, 400 * MIB, &bp));
	assert_int_equal(bp, 22500);
	assert_true(outliers_times_bp(1, 3, &bp));
	assert_int_equal(bp, 3333);
	assert_true(outliers_times_bp(UINT64_MAX, UINT64_MAX - 1, &bp));
	assert_int_equal(bp, 10000);
	assert_true(outliers_times_bp(UINT64_MAX, 1, &bp));
	assert_true(bp == UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each),
		cmocka_unit_test(nothing_wraps),
		cmocka_unit_test(times_of_the_median),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
