/* SPDX-License-Identifier: Apache-2.0 */
/* memory.events of a while ago: a kill that was seen while its victim still stood is part of the death. */
#include "agent/lately.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ledger/death.h"

static struct lately lately;

static int set_up(void **state)
{
	(void)state;
	lately = (struct lately){ 0 };
	return 0;
}

static void tick(unsigned second, uint64_t oom, uint64_t oom_kill)
{
	struct cgroup_events events = { .oom = count_of(oom), .oom_kill = count_of(oom_kill) };
	lately_step(&lately, (struct mono){ (uint64_t)second * 1000000000 }, &events);
}

static enum death_cause cause(uint64_t oom, uint64_t oom_kill)
{
	struct death_evidence evidence = { .before = lately.then,
					   .after = { .oom = count_of(oom), .oom_kill = count_of(oom_kill) },
					   .after_read = true };
	struct death_verdict verdict;
	death_judge(&evidence, 0, &verdict);
	return verdict.cause;
}

static void a_kill_that_woke_a_tick_before_the_end_is_its_cause(void **state)
{
	(void)state;
	for (unsigned s = 0; s <= 60; s += 5)
		tick(s, 0, 0);
	tick(61, 1, 1); /* memory.events woke us; the victim is being taken apart */
	tick(62, 1, 1);
	assert_int_equal(cause(1, 1), DEATH_CONTAINER_LIMIT);
}

static void so_it_is_for_ten_seconds_however_ticks_fall(void **state)
{
	(void)state;
	for (unsigned phase = 0; phase < 20; phase++) {
		lately = (struct lately){ 0 };
		for (unsigned s = 0; s <= 100 + phase; s++)
			tick(s, 3, 2);
		for (unsigned s = 1; s <= 10; s++)
			tick(100 + phase + s, 4, 3);
		assert_int_equal(cause(4, 3), DEATH_CONTAINER_LIMIT);
	}
}

static void an_old_kill_of_another_process_is_not(void **state)
{
	(void)state;
	tick(0, 0, 0);
	for (unsigned s = 5; s <= 40; s += 5)
		tick(s, 1, 1);
	assert_int_equal(cause(1, 1), DEATH_SIGKILL);
}

static void what_was_counted_before_we_came_is_not(void **state)
{
	(void)state;
	tick(0, 7, 7);
	tick(5, 7, 7);
	assert_int_equal(cause(7, 7), DEATH_SIGKILL);
}

static void another_cgroup_begins_anew(void **state)
{
	(void)state;
	for (unsigned s = 0; s <= 60; s += 5)
		tick(s, 9, 9);
	tick(65, 0, 0);
	assert_int_equal(lately.then.oom_kill.n, 0);
	tick(66, 1, 1);
	assert_int_equal(cause(1, 1), DEATH_CONTAINER_LIMIT);
}

static void what_cannot_be_read_changes_nothing(void **state)
{
	(void)state;
	const struct cgroup_events unread = { 0 };
	lately_step(&lately, (struct mono){ 1000000000 }, &unread);
	assert_false(lately.known);
	tick(2, 5, 5);
	for (unsigned s = 3; s < 60; s++)
		lately_step(&lately, (struct mono){ (uint64_t)s * 1000000000 }, &unread);
	assert_true(lately.then.oom_kill.known);
	assert_int_equal(lately.then.oom_kill.n, 5);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_kill_that_woke_a_tick_before_the_end_is_its_cause),
		TEST(so_it_is_for_ten_seconds_however_ticks_fall),
		TEST(an_old_kill_of_another_process_is_not),
		TEST(what_was_counted_before_we_came_is_not),
		TEST(another_cgroup_begins_anew),
		TEST(what_cannot_be_read_changes_nothing),
	};
	return cmocka_run_group_tests_name("lately", tests, NULL, NULL);
}
