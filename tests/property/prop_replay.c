/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small replay (docs/replay.md): some pod-days of healthy pods and some leaks through the shipped core. `make replay`
 * runs more than a thousand days of them.
 *
 * time-limit: 240
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "replay/runs.h"

static struct pod_kind kinds[KINDS];

static uint64_t seed_of(const char *test)
{
	struct prng prng = prng_start(test);
	return prng.state;
}

/* Half a day of each kind, in both profiles. What a thousand days may have ten of, these may have once. */
static void healthy_pods_are_left_in_peace(void **state)
{
	(void)state;
	struct healthy sum = { 0 };
	uint64_t seed = seed_of("healthy_pods_are_left_in_peace");
	for (unsigned i = 0; i < 2 * KINDS; i++)
		run_healthy(kinds, seed, i, 0.5, NULL, &sum);
	assert_int_equal(sum.near, 0);
	if (sum.warnings > 1)
		for (size_t r = 0; r < rule_count; r++)
			if (sum.by_rule[r])
				print_error("%s: %u\n", rule_table[r].name, sum.by_rule[r]);
	assert_true(sum.warnings <= 1);
}

static void leaks_are_named_in_time(void **state)
{
	(void)state;
	static const double least_min[] = { 60, 20, 2.5 };
	uint64_t seed = seed_of("leaks_are_named_in_time");
	for (size_t speed = 1; speed < LEAK_SPEEDS; speed++)
		for (size_t owner = 0; owner < LEAK_OWNERS; owner++) {
			struct leak_run run;
			run_leak(kinds, seed, leak_owners[owner], leak_speeds[speed], true, NULL, &run);
			if (run.named_min < least_min[speed])
				fail_msg("%s at %g %% a minute, %s: named %.1f of %.1f minutes before the end",
					 owner_table[leak_owners[owner]].name, leak_speeds[speed], run.kind,
					 run.named_min, run.lasted_min);
		}
}

int main(void)
{
	if (!kinds_load(kinds))
		return 1;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(healthy_pods_are_left_in_peace),
		cmocka_unit_test(leaks_are_named_in_time),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	kinds_done(kinds);
	return failed;
}
