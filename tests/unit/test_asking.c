/* SPDX-License-Identifier: Apache-2.0 */
/* When the JVM is asked again: often while it is young, and when it has grown past its last answer. */
#include "agent/asking.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MIB (UINT64_C(1) << 20)

static const uint64_t five_minutes_ms = 300000;

static void a_jvm_is_asked_again_when_it_is_twice_as_old(void **state)
{
	(void)state;
	const struct {
		uint64_t age_ms, next_ms;
	} rows[] = { { 0, 30000 },       { 5000, 30000 },    { 35000, 35000 },   { 140000, 140000 },
		     { 299999, 299999 }, { 300000, 300000 }, { 600000, 300000 }, { UINT64_MAX, 300000 } };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(asking_interval_ms(five_minutes_ms, rows[i].age_ms), rows[i].next_ms);
}

static void who_wants_it_asked_once_a_day_is_asked_that_often_in_the_end(void **state)
{
	(void)state;
	assert_int_equal(asking_interval_ms(86400000, 3600000), 3600000);
	assert_int_equal(asking_interval_ms(86400000, 86400000 * UINT64_C(3)), 86400000);
}

static void what_has_grown_past_the_answer_outdates_it(void **state)
{
	(void)state;
	const struct {
		uint64_t then_mib, now_mib, since_ms;
		bool outgrown;
	} rows[] = {
		{ 300, 309, 60000, true },    /* one job's classes */
		{ 300, 309, 59999, false },   /* not sooner than a minute after the last time */
		{ 300, 303, 300000, false },  /* noise */
		{ 100, 103, 300000, false },  /* the same in a small one */
		{ 300, 200, 300000, false },  /* less than there was */
		{ 8192, 8260, 60000, false }, /* a large heap that fills: 0.8 % */
		{ 8192, 8280, 60000, true },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(asking_outgrown(qty_measured(rows[i].then_mib * MIB),
						 qty_measured(rows[i].now_mib * MIB), rows[i].since_ms),
				 rows[i].outgrown);
}

static void the_unknown_outdates_nothing(void **state)
{
	(void)state;
	assert_false(asking_outgrown((struct qty){ 0 }, qty_measured(900 * MIB), 600000));
	assert_false(asking_outgrown(qty_measured(100 * MIB), (struct qty){ 0 }, 600000));
}

static void a_scan_waits_for_a_fetch_that_is_due_by_the_next_tick(void **state)
{
	(void)state;
	const struct {
		struct asking_scan scan;
		enum asking_step step;
	} rows[] = {
		{ { ASKING_IDLE, true, false, 0, 5000, 0 }, ASKING_FETCH },
		{ { ASKING_IDLE, true, false, 5000, 5000, 0 }, ASKING_FETCH },
		{ { ASKING_IDLE, true, false, 5001, 5000, 0 }, ASKING_SCAN }, /* fresh enough: no further request */
		{ { ASKING_IDLE, false, false, 0, 5000, 0 }, ASKING_SCAN },   /* tells nothing */
		{ { ASKING_IDLE, true, true, 0, 5000, 0 }, ASKING_SCAN }, /* the JVM is being asked, which takes long */
		{ { ASKING_AWAITED, true, true, 15000, 5000, 0 }, ASKING_WAIT },
		{ { ASKING_AWAITED, true, true, 15000, 5000, ASKING_WAIT_MS - 1 }, ASKING_WAIT },
		{ { ASKING_AWAITED, true, true, 15000, 5000, ASKING_WAIT_MS }, ASKING_SCAN }, /* it hangs */
		{ { ASKING_ANSWERED, true, false, 15000, 5000, 20 }, ASKING_SCAN },
		{ { ASKING_ANSWERED, true, false, 0, 5000, 20 }, ASKING_SCAN }, /* never twice for one scan */
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		assert_int_equal(asking_step(&rows[i].scan), rows[i].step);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_jvm_is_asked_again_when_it_is_twice_as_old),
		cmocka_unit_test(who_wants_it_asked_once_a_day_is_asked_that_often_in_the_end),
		cmocka_unit_test(what_has_grown_past_the_answer_outdates_it),
		cmocka_unit_test(the_unknown_outdates_nothing),
		cmocka_unit_test(a_scan_waits_for_a_fetch_that_is_due_by_the_next_tick),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
