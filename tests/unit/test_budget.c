/* SPDX-License-Identifier: Apache-2.0 */
/* When smaps may be walked: the share of time, one hold, the quota, pressure. */
#include "agent/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MS  ((uint64_t)1000000)
#define SEC (1000 * MS)
#define GIB ((uint64_t)1 << 30)

static struct budget budget;

/* 0.2 %, every 30 s, 50 ms a hold. */
static void start(uint64_t quota_ns)
{
	budget_start(&budget, 20, 30000, 50, quota_ns);
}

static enum budget_answer ask(uint64_t at_ns, uint64_t largest)
{
	const struct budget_ask ask = { .now = { at_ns }, .largest_bytes = largest };
	return budget_ask(&budget, &ask);
}

static enum budget_answer ask_sooner(uint64_t at_ns, uint64_t largest)
{
	const struct budget_ask ask = { .now = { at_ns }, .sooner = true, .largest_bytes = largest };
	return budget_ask(&budget, &ask);
}

static enum budget_answer ask_stalled(uint64_t at_ns, bool sooner)
{
	const struct budget_ask ask = { .now = { at_ns }, .sooner = sooner, .stalled = true, .largest_bytes = GIB };
	return budget_ask(&budget, &ask);
}

static void walk(uint64_t ended_ns, uint64_t inside_ns, uint64_t hold_cpu_ns, uint64_t largest)
{
	const struct budget_walk walk = { .ended = { ended_ns },
					  .inside_ns = inside_ns,
					  .hold_ns = hold_cpu_ns,
					  .hold_cpu_ns = hold_cpu_ns,
					  .largest_bytes = largest };
	budget_spent(&budget, &walk);
}

static void the_first_walk_is_free_and_the_next_waits(void **state)
{
	(void)state;
	start(0);
	assert_int_equal(ask(SEC, GIB), BUDGET_GO);
	walk(SEC, 7 * MS, 6 * MS, GIB);
	assert_int_equal(ask(30 * SEC, GIB), BUDGET_NOT_DUE);
	assert_int_equal(ask(31 * SEC, GIB), BUDGET_GO);
	assert_int_equal(budget.skipped_total[BUDGET_NOT_DUE], 0);
}

static void a_walk_is_paid_for_before_the_next(void **state)
{
	(void)state;
	start(0);
	/* 120 ms at 0.2 % are a minute. */
	assert_int_equal(ask(SEC, 4 * GIB), BUDGET_GO);
	walk(SEC, 120 * MS, 24 * MS, 4 * GIB);
	assert_int_equal(ask(31 * SEC, 4 * GIB), BUDGET_NOT_DUE);
	assert_int_equal(ask(60 * SEC, 4 * GIB), BUDGET_NOT_DUE);
	assert_int_equal(ask(61 * SEC, 4 * GIB), BUDGET_GO);
}

static void sooner_is_sooner_but_never_dearer(void **state)
{
	(void)state;
	start(0);
	assert_int_equal(ask(SEC, GIB), BUDGET_GO);
	walk(SEC, 6 * MS, 6 * MS, GIB); /* paid for after 3 s */
	assert_int_equal(ask_sooner(5 * SEC, GIB), BUDGET_NOT_DUE);
	assert_int_equal(ask_sooner(6 * SEC, GIB), BUDGET_GO);
	walk(6 * SEC, 20 * MS, 6 * MS, GIB); /* after 10 s */
	assert_int_equal(ask_sooner(12 * SEC, GIB), BUDGET_SHARE);
	assert_int_equal(budget.skipped_total[BUDGET_SHARE], 1);
	/* Asked at every tick, it is counted once a while. */
	assert_int_equal(ask_sooner(13 * SEC, GIB), BUDGET_NOT_DUE);
	assert_int_equal(ask_sooner(17 * SEC, GIB), BUDGET_GO);
}

/* Whatever is asked, over an hour the share holds. */
static void the_share_holds_over_an_hour(void **state)
{
	(void)state;
	start(0);
	uint64_t inside = 0, at = SEC;
	for (; at < 3600 * SEC; at += SEC) {
		if (ask_sooner(at, 2 * GIB) != BUDGET_GO)
			continue;
		walk(at, 13 * MS, 12 * MS, 2 * GIB);
		inside += 13 * MS;
	}
	assert_true(inside > 0);
	assert_true(inside * 10000 / (3600 * SEC) <= 20);
	assert_int_equal(budget.walk_ns_total, inside);
}

static void one_hold_is_bounded(void **state)
{
	(void)state;
	start(0);
	/* Nothing measured: 6 ms a GiB. */
	assert_int_equal(ask(SEC, 8 * GIB), BUDGET_GO);
	assert_int_equal(budget_predict_ns(&budget, 8 * GIB) / MS, 47); /* 48, in whole ns a MiB */
	start(0);
	assert_int_equal(ask(SEC, 9 * GIB), BUDGET_HOLD);
	assert_int_equal(budget.skipped_total[BUDGET_HOLD], 1);
	assert_int_equal(budget.last_skip, BUDGET_HOLD);
	/* It is asked at each tick, and due once an interval. */
	assert_int_equal(ask(6 * SEC, 9 * GIB), BUDGET_NOT_DUE);
	assert_int_equal(ask(31 * SEC, 9 * GIB), BUDGET_HOLD);
	/* It shrank. */
	assert_int_equal(ask(61 * SEC, 7 * GIB), BUDGET_GO);
}

static void what_was_measured_predicts(void **state)
{
	(void)state;
	start(0);
	assert_int_equal(ask(SEC, 2 * GIB), BUDGET_GO);
	walk(SEC, 50 * MS, 42 * MS, 2 * GIB); /* 21 ms a GiB */
	assert_true(budget_predict_ns(&budget, 3 * GIB) > 62 * MS);
	assert_int_equal(ask(100 * SEC, 3 * GIB), BUDGET_HOLD);
	/* Huge pages: a thousandth of the entries. */
	start(0);
	assert_int_equal(ask(SEC, 8 * GIB), BUDGET_GO);
	walk(SEC, MS, MS / 2, 8 * GIB);
	assert_int_equal(ask(100 * SEC, 64 * GIB), BUDGET_GO);
	/* A small mapping's time is noise. */
	start(0);
	walk(SEC, 9 * MS, 9 * MS, 1 << 20);
	assert_true(budget_predict_ns(&budget, GIB) < 7 * MS);
}

/* 62 ms where 26 would be usual, for whatever reason: it is looked at again, and not before long. */
static void a_bad_measurement_is_not_for_ever(void **state)
{
	(void)state;
	start(0);
	walk(SEC, 66 * MS, 62 * MS, 4 * GIB);
	unsigned refused = 0;
	uint64_t at = 100 * SEC;
	while (ask(at, 4 * GIB) == BUDGET_HOLD && refused < 100) {
		refused++;
		at += 30 * SEC;
	}
	assert_in_range(refused, 3, 30);
	/* Where it cannot be met it stays refused. */
	start(0);
	walk(SEC, 66 * MS, 62 * MS, 4 * GIB);
	for (at = 100 * SEC; at < 100000 * SEC; at += 30 * SEC)
		assert_int_equal(ask(at, 9 * GIB), BUDGET_HOLD);
}

static void our_own_quota_bounds_it(void **state)
{
	(void)state;
	start(5 * MS);                                 /* 50m: 5 ms of each 100 */
	assert_int_equal(ask(SEC, GIB), BUDGET_QUOTA); /* half of the quota is 2.5 ms */
	/* Nothing measured: 21 ms a GiB, for a wrong guess costs whole periods. */
	assert_int_equal(ask(31 * SEC, GIB / 4), BUDGET_QUOTA);
	assert_int_equal(ask(61 * SEC, GIB / 10), BUDGET_GO);
	start(10 * MS);
	assert_int_equal(ask(SEC, GIB / 2), BUDGET_QUOTA); /* 10.5 */
	assert_int_equal(ask(31 * SEC, GIB / 5), BUDGET_GO);
	/* What was measured is believed, and allows more. */
	walk(31 * SEC, 2 * MS, GIB / 5 * 6 * MS / GIB, GIB / 5);
	assert_int_equal(ask(200 * SEC, GIB / 2), BUDGET_GO);
	start(200 * MS);
	assert_int_equal(ask(SEC, 2 * GIB), BUDGET_GO);
}

/* A slow machine's rate is forgotten down to the first guess, which is past the quota as well: it is not tried again. */
static void a_slow_machine_stays_refused_under_a_quota(void **state)
{
	(void)state;
	start(10 * MS);
	walk(SEC, 20 * MS, 20 * MS, GIB / 2);
	for (uint64_t i = 1; i < 200; i++)
		assert_int_equal(ask(SEC + i * 100 * SEC, GIB / 2), BUDGET_QUOTA);
}

static void throttled_walks_double_the_interval(void **state)
{
	(void)state;
	start(0);
	const struct budget_walk throttled = { .ended = { SEC }, .inside_ns = MS, .throttled = true };
	budget_spent(&budget, &throttled);
	assert_int_equal(budget.throttled_total, 1);
	assert_int_equal(ask(32 * SEC, GIB), BUDGET_NOT_DUE);
	assert_int_equal(ask(62 * SEC, GIB), BUDGET_GO);
	for (int i = 0; i < 20; i++)
		budget_spent(&budget, &throttled);
	assert_int_equal(ask(242 * SEC, GIB), BUDGET_GO); /* eight times at most */
	walk(242 * SEC, MS, MS, GIB);
	assert_int_equal(ask((242 + 119) * SEC, GIB), BUDGET_NOT_DUE); /* and back by halves */
	assert_int_equal(ask((242 + 120) * SEC, GIB), BUDGET_GO);
}

static void pressure_backs_off_and_the_end_does_not(void **state)
{
	(void)state;
	start(0);
	walk(SEC, MS, MS, GIB);
	assert_int_equal(ask_stalled(31 * SEC, false), BUDGET_PRESSURE);
	assert_int_equal(ask_stalled(62 * SEC, false), BUDGET_NOT_DUE);
	assert_int_equal(ask_stalled(92 * SEC, false), BUDGET_PRESSURE);
	assert_int_equal(budget.skipped_total[BUDGET_PRESSURE], 2);
	/* One look every eight intervals, whatever the pressure. */
	assert_int_equal(ask_stalled(400 * SEC, false), BUDGET_PRESSURE);
	assert_int_equal(ask_stalled(641 * SEC, false), BUDGET_GO);
	start(0);
	walk(SEC, MS, MS, GIB);
	assert_int_equal(ask_stalled(31 * SEC, true), BUDGET_GO);
}

static void figures_without_bounds_do_not_wrap(void **state)
{
	(void)state;
	start(UINT64_MAX);
	assert_int_equal(ask(SEC, UINT64_MAX), BUDGET_HOLD);
	walk(UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX);
	assert_int_equal(ask(UINT64_MAX, UINT64_MAX), BUDGET_NOT_DUE);
	assert_int_equal(ask(0, 0), BUDGET_NOT_DUE); /* a clock that went back waits */
}

static void another_target_is_measured_anew(void **state)
{
	(void)state;
	start(0);
	walk(SEC, 100 * MS, 90 * MS, GIB);
	assert_int_equal(ask(100 * SEC, GIB), BUDGET_HOLD);
	budget_forget_target(&budget);
	assert_int_equal(ask(101 * SEC, GIB), BUDGET_GO);
	assert_int_equal(budget.walks_total, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_walk_is_free_and_the_next_waits),
		cmocka_unit_test(a_walk_is_paid_for_before_the_next),
		cmocka_unit_test(sooner_is_sooner_but_never_dearer),
		cmocka_unit_test(the_share_holds_over_an_hour),
		cmocka_unit_test(one_hold_is_bounded),
		cmocka_unit_test(what_was_measured_predicts),
		cmocka_unit_test(a_bad_measurement_is_not_for_ever),
		cmocka_unit_test(our_own_quota_bounds_it),
		cmocka_unit_test(a_slow_machine_stays_refused_under_a_quota),
		cmocka_unit_test(throttled_walks_double_the_interval),
		cmocka_unit_test(pressure_backs_off_and_the_end_does_not),
		cmocka_unit_test(figures_without_bounds_do_not_wrap),
		cmocka_unit_test(another_target_is_measured_anew),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
