/* SPDX-License-Identifier: Apache-2.0 */
/* Slopes of figures that grow, spike, saturate and stand still. */
#include "ledger/trend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/prng.h"

enum { MIB = 1 << 20, TICK_S = 30 };

static struct trend_space space;

static struct mono tick(unsigned i)
{
	return (struct mono){ (uint64_t)i * TICK_S * 1000000000 };
}

static struct trend fit(const struct trend_series *series)
{
	struct trend trend;
	trend_fit(series, &space, &trend);
	return trend;
}

static void grows(struct trend_series *series, unsigned n, uint64_t from, int64_t a_tick)
{
	trend_clear(series);
	for (unsigned i = 0; i < n; i++)
		trend_push(series, tick(i), (uint64_t)((int64_t)from + (int64_t)i * a_tick));
}

static void few_points_say_nothing(void **state)
{
	(void)state;
	struct trend_series s;
	grows(&s, TREND_POINTS_MIN - 1, 100 * MIB, 10 * MIB);
	assert_int_equal(fit(&s).kind, TREND_TOO_FEW);
	grows(&s, TREND_POINTS_MIN, 100 * MIB, 10 * MIB);
	assert_int_equal(fit(&s).kind, TREND_GROWING);
	trend_clear(&s);
	assert_int_equal(fit(&s).kind, TREND_TOO_FEW);
}

static void a_straight_line_is_found_exactly(void **state)
{
	(void)state;
	struct trend_series s;
	grows(&s, 40, 100 * MIB, 3 * MIB);
	struct trend t = fit(&s);
	assert_int_equal(t.kind, TREND_GROWING);
	assert_true(t.slope == 3.0 * MIB / TICK_S && t.slope_low == t.slope && t.slope_high == t.slope);
	assert_int_equal(t.span_ms, 39 * TICK_S * 1000);
	assert_int_equal(t.first_bytes, (100 + 3 * 3) * (uint64_t)MIB);
	grows(&s, 40, 500 * MIB, -3 * MIB);
	assert_int_equal(fit(&s).kind, TREND_SHRINKING);
	grows(&s, 40, 500 * MIB, 0);
	assert_int_equal(fit(&s).kind, TREND_FLAT);
}

/* Half of all pairs cross a step amid the points: of 1 MiB a tick they would make 1.9. */
static void a_step_amid_growth_is_no_pace(void **state)
{
	(void)state;
	static const struct {
		unsigned n, step_at;
		uint64_t step_mib;
	} cases[] = { { 30, 15, 20 }, { 60, 30, 40 }, { 60, 45, 40 }, { 90, 40, 60 } };
	for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
		struct trend_series s;
		trend_clear(&s);
		for (unsigned i = 0; i < cases[c].n; i++)
			trend_push(&s, tick(i), (300 + i + (i >= cases[c].step_at ? cases[c].step_mib : 0)) * MIB);
		struct trend t = fit(&s);
		assert_int_equal(t.kind, TREND_GROWING);
		assert_true(t.slope > 0.95 * MIB / TICK_S && t.slope < 1.05 * MIB / TICK_S);
		assert_true(t.slope_low <= t.slope && t.slope_high >= t.slope);
	}
}

/* A part of what grows so stands still between two points: it is as fast as it is over all of them. */
static void growth_that_is_made_of_steps_keeps_its_pace(void **state)
{
	(void)state;
	struct trend_series s;
	trend_clear(&s);
	for (unsigned i = 0; i < 60; i++)
		trend_push(&s, tick(i), (300 + i / 20 * 20) * (uint64_t)MIB);
	struct trend t = fit(&s);
	assert_int_equal(t.kind, TREND_GROWING);
	assert_true(t.slope > 0.7 * MIB / TICK_S && t.slope < 1.3 * MIB / TICK_S);
}

/* A fifth of the points are spikes of a checkpoint: the slope does not see them. */
static void spikes_do_not_move_it(void **state)
{
	(void)state;
	struct trend_series s;
	trend_clear(&s);
	for (unsigned i = 0; i < 60; i++)
		trend_push(&s, tick(i), (500 + i) * (uint64_t)MIB + (i % 5 == 0 ? 300 * (uint64_t)MIB : 0));
	struct trend t = fit(&s);
	assert_int_equal(t.kind, TREND_GROWING);
	assert_true(t.slope > 0.9 * MIB / TICK_S && t.slope < 1.1 * MIB / TICK_S);
}

/* Noise alone, as wide as it may be, is no growth; of 200 series not one in ten is called so. */
static void noise_is_flat(void **state)
{
	(void)state;
	struct prng prng = prng_start("noise_is_flat");
	int wrong = 0;
	for (int round = 0; round < 200; round++) {
		struct trend_series s;
		trend_clear(&s);
		for (unsigned i = 0; i < 60; i++)
			trend_push(&s, tick(i), 400 * (uint64_t)MIB + prng_below(&prng, 200 * MIB));
		wrong += fit(&s).kind != TREND_FLAT;
	}
	assert_true(wrong < 20);
}

static void small_growth_is_flat(void **state)
{
	(void)state;
	struct trend_series s;
	grows(&s, 41, 100 * MIB, MIB / 20); /* 2 MiB in all: below the noise */
	assert_int_equal(fit(&s).kind, TREND_FLAT);
	grows(&s, 41, (int64_t)1 << 40, MIB / 5); /* 8 MiB in all, of a terabyte */
	assert_int_equal(fit(&s).kind, TREND_FLAT);
	grows(&s, 41, 100 * MIB, MIB / 5);
	assert_int_equal(fit(&s).kind, TREND_GROWING);
}

/* A cache that fills: fast at first, hardly at the end. */
static void a_filling_cache_decelerates(void **state)
{
	(void)state;
	struct trend_series s;
	trend_clear(&s);
	double left = 1000;
	for (unsigned i = 0; i < 60; i++, left *= 0.93)
		trend_push(&s, tick(i), (uint64_t)((1000 - left) * MIB));
	assert_int_equal(fit(&s).kind, TREND_DECELERATING);
}

static void a_full_series_keeps_its_length(void **state)
{
	(void)state;
	struct trend_series s;
	grows(&s, 1000, 100 * MIB, MIB);
	assert_true(s.n > TREND_POINTS / 2 - 1 && s.n <= TREND_POINTS);
	assert_int_equal(s.points[0].at.ns, 0); /* the oldest is never forgotten */
	assert_true(s.points[s.n - 1].at.ns >= tick(1000 - 2 * s.stride).ns);
	for (size_t i = 1; i < s.n; i++)
		assert_true(s.points[i].at.ns > s.points[i - 1].at.ns);
	struct trend t = fit(&s);
	assert_int_equal(t.kind, TREND_GROWING);
	assert_true(t.slope == 1.0 * MIB / TICK_S);
}

static void time_does_not_run_backwards(void **state)
{
	(void)state;
	struct trend_series s;
	grows(&s, 20, 100 * MIB, MIB);
	size_t n = s.n;
	trend_push(&s, tick(19), 5);
	trend_push(&s, tick(3), 5);
	assert_int_equal(s.n, n);
	trend_push(&s, tick(20), 5);
	assert_int_equal(s.n, n + 1);
}

static void extremes(void **state)
{
	(void)state;
	struct trend_series s;
	trend_clear(&s);
	for (unsigned i = 0; i < 60; i++)
		trend_push(&s, (struct mono){ 1 + i }, i % 2 ? UINT64_MAX : 0); /* a nanosecond apart */
	struct trend t = fit(&s);
	assert_true(t.kind < TREND_KIND_COUNT && t.slope == t.slope && t.slope_low <= t.slope_high);
}

static void medians(void **state)
{
	(void)state;
	uint64_t odd[] = { 9, 1, 5 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };
	assert_int_equal(trend_median(odd, 3), 5);
	assert_int_equal(trend_median(even, 4), 2);
	assert_int_equal(trend_median(one, 1), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_points_say_nothing),
		cmocka_unit_test(a_straight_line_is_found_exactly),
		cmocka_unit_test(a_step_amid_growth_is_no_pace),
		cmocka_unit_test(growth_that_is_made_of_steps_keeps_its_pace),
		cmocka_unit_test(spikes_do_not_move_it),
		cmocka_unit_test(noise_is_flat),
		cmocka_unit_test(small_growth_is_flat),
		cmocka_unit_test(a_filling_cache_decelerates),
		cmocka_unit_test(a_full_series_keeps_its_length),
		cmocka_unit_test(time_does_not_run_backwards),
		cmocka_unit_test(extremes),
		cmocka_unit_test(medians),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
