/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "jvm/region.h"

struct piece {
	uint64_t start, end;
	const char *category;
};

static void check(const struct piece *in, size_t n_in, const struct piece *out, size_t n_out)
{
	auto_(jvm_regions_done) struct jvm_regions regions = { 0 };
	struct err err = { 0 };
	for (size_t i = 0; i < n_in; i++)
		assert_int_equal(region_add(&regions, (struct addr_range){ in[i].start, in[i].end },
					    str_of(in[i].category), &err),
				 0);
	assert_int_equal(region_settle(&regions, &err), 0);
	assert_int_equal(regions.n, n_out);
	for (size_t i = 0; i < n_out; i++) {
		assert_int_equal(regions.items[i].range.start, out[i].start);
		assert_int_equal(regions.items[i].range.end, out[i].end);
		assert_string_equal(regions.items[i].category, out[i].category);
	}
}

#define CHECK(in, out) check(in, sizeof in / sizeof in[0], out, sizeof out / sizeof out[0])

static void orders_and_joins(void **state)
{
	(void)state;
	const struct piece in[] = { { 30, 40, "B" }, { 10, 20, "A" }, { 20, 30, "A" }, { 5, 5, "empty" } };
	const struct piece out[] = { { 10, 30, "A" }, { 30, 40, "B" } };
	CHECK(in, out);
}

static void inner_range_wins(void **state)
{
	(void)state;
	const struct piece in[] = { { 10, 100, "outer" }, { 20, 30, "in" }, { 25, 28, "inmost" }, { 90, 120, "late" } };
	const struct piece out[] = { { 10, 20, "outer" }, { 20, 25, "in" },    { 25, 28, "inmost" },
				     { 28, 30, "in" },    { 30, 90, "outer" }, { 90, 120, "late" } };
	CHECK(in, out);
}

static void equal_starts(void **state)
{
	(void)state;
	const struct piece in[] = { { 10, 20, "short" }, { 10, 50, "long" }, { 10, 50, "long" } };
	const struct piece out[] = { { 10, 20, "short" }, { 20, 50, "long" } };
	CHECK(in, out);
}

static void end_of_addresses(void **state)
{
	(void)state;
	const struct piece in[] = { { UINT64_MAX - 1, UINT64_MAX, "top" }, { 0, UINT64_MAX, "all" } };
	const struct piece out[] = { { 0, UINT64_MAX - 1, "all" }, { UINT64_MAX - 1, UINT64_MAX, "top" } };
	CHECK(in, out);
}

/* Whatever goes in: ascending, not overlapping, and the same addresses covered as before. */
static void random_ranges(void **state)
{
	(void)state;
	srand(42);
	for (int round = 0; round < 500; round++) {
		bool covered[64] = { false };
		auto_(jvm_regions_done) struct jvm_regions regions = { 0 };
		struct err err = { 0 };
		int n = rand() % 12;
		for (int i = 0; i < n; i++) {
			uint64_t start = (uint64_t)(rand() % 60), end = start + (uint64_t)(rand() % (64 - (int)start));
			assert_int_equal(region_add(&regions, (struct addr_range){ start, end },
						    str_of(rand() % 2 ? "A" : "B"), &err),
					 0);
			for (uint64_t at = start; at < end; at++)
				covered[at] = true;
		}
		assert_int_equal(region_settle(&regions, &err), 0);
		uint64_t last = 0;
		size_t n_left = 0, n_covered = 0;
		for (size_t i = 0; i < regions.n; i++) {
			assert_true(regions.items[i].range.start >= last);
			last = regions.items[i].range.end;
			assert_true(last > regions.items[i].range.start);
			for (uint64_t at = regions.items[i].range.start; at < last; at++, n_left++)
				assert_true(covered[at]);
		}
		for (size_t at = 0; at < 64; at++)
			n_covered += covered[at];
		assert_int_equal(n_left, n_covered);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(orders_and_joins), cmocka_unit_test(inner_range_wins), cmocka_unit_test(equal_starts),
		cmocka_unit_test(end_of_addresses), cmocka_unit_test(random_ranges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
