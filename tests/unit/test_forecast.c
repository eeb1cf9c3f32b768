/* SPDX-License-Identifier: Apache-2.0 */
/* When the limit is reached: by hand-made slopes, and by steps. */
#include "ledger/forecast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { MIB = 1 << 20, TICK_S = 30 };
#define GIB ((uint64_t)1 << 30)

/* `mib` resident, growing by so many MiB an hour, give or take a tenth. */
static struct forecast_part part(int owner, uint64_t mib, double mib_an_hour)
{
	double slope = mib_an_hour * MIB / 3600;
	double a = slope * 0.9, b = slope * 1.1;
	return (struct forecast_part){ owner,
				       mib * MIB,
				       { 0, LIMIT_NONE },
				       { slope > 0   ? TREND_GROWING
					 : slope < 0 ? TREND_SHRINKING
						     : TREND_FLAT,
					 slope, a < b ? a : b, a < b ? b : a, 0, 0, 0, slope, slope } };
}

static void near(uint64_t got, uint64_t want)
{
	if (got + 2 < want || got > want + 2)
		fail_msg("%llu is not near %llu", (unsigned long long)got, (unsigned long long)want);
}

static void a_leak_reaches_the_limit(void **state)
{
	(void)state;
	const struct forecast_part parts[] = { part(1, 500, 0), part(2, 300, 100) };
	struct forecast f;
	forecast_run(parts, 2, 0, GIB, &f);
	assert_int_equal(f.kind, FORECAST_REACHES);
	near(f.likely_s, 224 * 36);
	/* Slopes a tenth off, and 4 MiB of noise. */
	near(f.earliest_s, 220 * 36 * 10 / 11);
	near(f.latest_s, 228 * 36 * 10 / 9);
	assert_int_equal(f.owner, 2);
	assert_true(f.owner_bytes > 223 * MIB && f.owner_bytes < 225 * MIB);
	/* The spike of a checkpoint is room that is not there. */
	forecast_run(parts, 2, 124 * MIB, GIB, &f);
	near(f.likely_s, 100 * 36);
	forecast_run(parts, 2, 224 * MIB, GIB, &f);
	assert_int_equal(f.likely_s, 0);
	assert_int_equal(f.earliest_s, 0);
}

/* A managed cache that warms up is no leak. */
static void a_bounded_owner_saturates(void **state)
{
	(void)state;
	struct forecast_part parts[] = { part(1, 500, 0), part(2, 300, 1000) };
	struct forecast f;
	parts[1].bound = limit_set(500 * MIB);
	forecast_run(parts, 2, 0, GIB, &f);
	assert_int_equal(f.kind, FORECAST_NOT_GROWING);
	assert_true(f.latest_s == FORECAST_NEVER);
	parts[1].bound = limit_set(524 * MIB); /* just at the limit */
	forecast_run(parts, 2, 0, GIB, &f);
	assert_int_equal(f.kind, FORECAST_REACHES);
	/* Past its bound it stays where it is. */
	parts[1].bound = limit_set(100 * MIB);
	forecast_run(parts, 2, 0, GIB, &f);
	assert_int_equal(f.kind, FORECAST_NOT_GROWING);
	/* One saturates, the other takes the rest: 1024 - 500 = 524 for the second at 100 an hour. */
	parts[1] = part(2, 300, 100);
	parts[0] = part(1, 400, 1000);
	parts[0].bound = limit_set(500 * MIB);
	forecast_run(parts, 2, 0, GIB, &f);
	near(f.likely_s, 224 * 36);
	assert_int_equal(f.owner, 2);
}

/* What varies more than Sen's range says: a tenth either way at the least; and a pace that falls may be over. */
static void no_range_is_too_narrow(void **state)
{
	(void)state;
	struct forecast_part one = part(1, 500, 100);
	struct forecast f;
	one.trend.slope_low = one.trend.slope_high = one.trend.slope;
	forecast_run(&one, 1, 0, GIB, &f);
	near(f.earliest_s, (uint64_t)(520 * 36 / 1.1));
	near(f.latest_s, (uint64_t)(528 * 36 / 0.9));
	one.trend.kind = TREND_DECELERATING;
	forecast_run(&one, 1, 0, GIB, &f);
	near(f.likely_s, 524 * 36);
	assert_true(f.latest_s == FORECAST_NEVER);
}

static void what_shrinks_makes_room(void **state)
{
	(void)state;
	const struct forecast_part parts[] = { part(1, 500, -50), part(2, 300, 100) };
	struct forecast f;
	forecast_run(parts, 2, 0, GIB, &f);
	/* 50 an hour in all, until nothing is left of the first after 10 hours. */
	near(f.likely_s, 224 * 72);
	const struct forecast_part gone[] = { part(1, 10, -50), part(2, 300, 100) };
	forecast_run(gone, 2, 0, GIB, &f);
	near(f.likely_s, 724 * 36); /* less than nothing it does not get */
}

static void a_falling_pace_is_said(void **state)
{
	(void)state;
	struct forecast_part parts[] = { part(1, 500, 0), part(2, 300, 100) };
	struct forecast f;
	parts[1].trend.kind = TREND_DECELERATING;
	forecast_run(parts, 2, 0, GIB, &f);
	assert_int_equal(f.kind, FORECAST_DECELERATING);
	near(f.likely_s, 224 * 36);
}

static void too_few_points_are_said(void **state)
{
	(void)state;
	struct forecast_part parts[] = { part(1, 500, 0), part(2, 300, 100) };
	struct forecast f;
	parts[0].trend.kind = TREND_TOO_FEW;
	forecast_run(parts, 2, 0, GIB, &f);
	assert_int_equal(f.kind, FORECAST_INCONCLUSIVE);
	assert_true(f.likely_s == FORECAST_NEVER && f.owner == -1);
}

static void the_horizon_is_a_month(void **state)
{
	(void)state;
	const struct forecast_part slow[] = { part(1, 0, 1) };
	struct forecast f;
	forecast_run(slow, 1, 0, 719 * (uint64_t)MIB, &f);
	near(f.likely_s, 719 * 3600);
	forecast_run(slow, 1, 0, 721 * (uint64_t)MIB, &f);
	assert_int_equal(f.kind, FORECAST_NOT_GROWING);
	near(f.earliest_s, (uint64_t)(717 * 3600 / 1.1)); /* the steepest pace would still do it */
	forecast_run(slow, 0, 0, 1, &f);
	assert_int_equal(f.kind, FORECAST_NOT_GROWING);
}

/* Where it is reached now: with who grows, if anybody does. */
static void reached_already(void **state)
{
	(void)state;
	struct forecast_part parts[] = {
		{ .owner = 1, .now_bytes = UINT64_MAX, .trend = { .kind = TREND_GROWING, .slope = 1e30 } }
	};
	struct forecast f;
	forecast_run(parts, 1, UINT64_MAX, UINT64_MAX, &f);
	assert_int_equal(f.kind, FORECAST_REACHES);
	assert_int_equal(f.likely_s, 0);
	assert_int_equal(f.owner, 1);
	assert_true(f.owner_bytes == UINT64_MAX);
	parts[0].bound = limit_set(UINT64_MAX); /* there it is, and stays */
	forecast_run(parts, 1, UINT64_MAX, UINT64_MAX, &f);
	assert_int_equal(f.kind, FORECAST_NOT_GROWING);
	assert_true(f.likely_s == FORECAST_NEVER);
}

static struct steps judge(const int *mib, size_t n, uint64_t room_bytes)
{
	int64_t heights[STEP_EVENTS_MAX + 2];
	struct steps steps;
	for (size_t i = 0; i < n; i++)
		heights[i] = mib[i] * (int64_t)MIB;
	steps_judge(heights, n, room_bytes, &steps);
	return steps;
}

/* One cache of 80 MiB a restart. */
static void steps_of_like_height(void **state)
{
	(void)state;
	static const int mib[] = { 80, 81, 79, 82 };
	struct steps steps = judge(mib, 4, 500 * (uint64_t)MIB);
	assert_int_equal(steps.n, 4);
	assert_true(steps.alike);
	assert_true(steps.height_bytes >= 79 * MIB && steps.height_bytes <= 82 * (uint64_t)MIB);
	assert_int_equal(steps.left, 6);
	assert_false(judge(mib, 2, 500 * (uint64_t)MIB).alike); /* two are no pattern */
}

static void steps_that_are_no_pattern(void **state)
{
	(void)state;
	static const int uneven[] = { 80, 10, 310, 10 }, one_down[] = { 80, 80, -80, 80 }, flat[] = { 0, 0, 0, 0 };
	struct steps steps = judge(uneven, 4, GIB);
	assert_int_equal(steps.n, 4);
	assert_false(steps.alike);
	assert_false(judge(one_down, 4, GIB).alike);
	steps = judge(flat, 4, GIB);
	assert_int_equal(steps.n, 4);
	assert_int_equal(steps.height_bytes, 0);
	assert_false(steps.alike);
	assert_int_equal(judge(flat, 0, GIB).n, 0);
}

/* What was long ago does not count against what is now. */
static void the_last_steps_count(void **state)
{
	(void)state;
	int mib[STEP_EVENTS_MAX + 2] = { 0, 0 };
	for (size_t i = 2; i < STEP_EVENTS_MAX + 2; i++)
		mib[i] = 80;
	struct steps steps = judge(mib, STEP_EVENTS_MAX + 2, GIB);
	assert_int_equal(steps.n, STEP_EVENTS_MAX);
	assert_true(steps.alike);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_leak_reaches_the_limit), cmocka_unit_test(a_bounded_owner_saturates),
		cmocka_unit_test(no_range_is_too_narrow),   cmocka_unit_test(what_shrinks_makes_room),
		cmocka_unit_test(a_falling_pace_is_said),   cmocka_unit_test(too_few_points_are_said),
		cmocka_unit_test(the_horizon_is_a_month),   cmocka_unit_test(reached_already),
		cmocka_unit_test(steps_of_like_height),     cmocka_unit_test(steps_that_are_no_pattern),
		cmocka_unit_test(the_last_steps_count),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
