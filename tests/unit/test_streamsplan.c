/* SPDX-License-Identifier: Apache-2.0 */
/* Counts and bounds by hand, and public trouble reports (their numbers in the names). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "plan/streamsplan.h"
#include "rules/rules.h"
#include "support/tight.h"

#define MIB (1ull << 20)
#define GIB (1ull << 30)

static struct streamsplan plan_of(struct streamsplan_ask ask, const char *setter)
{
	struct streamsplan plan;
	if (!ask.pods)
		ask.pods = 1;
	if (setter)
		assert_int_equal(streams_setter_parse(str_of(setter), &ask.setter, NULL), 0);
	assert_int_equal(streamsplan_run(&ask, &plan, NULL), 0);
	return plan;
}

static enum severity severity_of(const struct streamsplan *plan, const char *rule)
{
	const struct finding *finding = rules_finding(plan->verdict, rule);
	return finding ? finding->severity : SEVERITY_NONE;
}

static void k14_and_k21_sixty_instances(void **state)
{
	(void)state;
	struct streamsplan plan = plan_of((struct streamsplan_ask){ .stores = 2, .partitions = 30 }, NULL);
	assert_int_equal(plan.instance_bytes, (50 + 3 * 16) * MIB);
	assert_int_equal(plan.steady.instances, 60);
	assert_int_equal(plan.steady.native_bytes.bytes, 60 * 98 * MIB); /* 5.74 GiB */
	assert_int_equal(plan.lost.pods, 0);
	streamsplan_done(&plan);
}

static void c42_a_standby_for_each(void **state)
{
	(void)state;
	struct streamsplan plan = plan_of(
		(struct streamsplan_ask){ .windowed = 7, .segments = 3, .partitions = 8, .pods = 2, .standbys = 1 },
		NULL);
	assert_int_equal(plan.instances_all, 336);
	assert_int_equal(plan.all_bytes.bytes, 34527510528ull); /* 32.2 GiB */
	assert_int_equal(plan.steady.instances, 168);
	/* With one pod there is no place for the second copy. */
	assert_int_equal(plan.lost.copies, 1);
	assert_int_equal(plan.lost.instances, 168);
	streamsplan_done(&plan);
}

static void c43_a_quarter_for_the_heap(void **state)
{
	(void)state;
	struct streamsplan plan =
		plan_of((struct streamsplan_ask){ .stores = 1, .partitions = 10, .limit = limit_set(2 * GIB) }, NULL);
	assert_int_equal(plan.heap_bytes, 512 * MIB);
	assert_int_equal(plan.steady.native_bytes.bytes, 980 * MIB);
	assert_true(plan.verdict->worst < SEVERITY_WARNING);
	streamsplan_done(&plan);
}

static void k22_manager_as_large_as_the_cache(void **state)
{
	(void)state;
	struct streamsplan plan =
		plan_of((struct streamsplan_ask){ .stores = 1, .partitions = 10, .limit = limit_set(2 * GIB) },
			"cache=500m,manager=500m");
	assert_int_equal(plan.steady.native_bytes.bytes, 500 * MIB);
	assert_int_equal(severity_of(&plan, "cache-starved"), SEVERITY_WARNING);
	assert_non_null(strstr(rules_finding(plan.verdict, "cache-starved")->observation, "page cache"));
	/* K29: a target, in these words. */
	assert_non_null(strstr(rules_finding(plan.verdict, "shared-cache-target")->title, "a target, no limit"));
	streamsplan_done(&plan);
}

static void k25_a_manager_that_is_too_small(void **state)
{
	(void)state;
	struct streamsplan plan = plan_of((struct streamsplan_ask){ .stores = 2, .partitions = 4 },
					  "cache=256m,manager=64m,write-buffer=64m");
	assert_int_equal(severity_of(&plan, "write-stall-risk"), SEVERITY_WARNING);
	streamsplan_done(&plan);
	plan = plan_of((struct streamsplan_ask){ .stores = 2, .partitions = 4 },
		       "cache=1g,manager=512m,write-buffer=64m");
	assert_int_equal(severity_of(&plan, "write-stall-risk"), SEVERITY_NONE);
	streamsplan_done(&plan);
}

static void k26_one_cache_for_all_saves(void **state)
{
	(void)state;
	for (uint64_t n = 4; n < 40; n += 5) {
		struct streamsplan plan = plan_of((struct streamsplan_ask){ .stores = n, .partitions = 1 },
						  "cache=128m,write-buffer=16m");
		/* n caches of 50 MiB against one of 128: more than (n - 3) x 50 MiB. */
		assert_int_equal(plan.saved_bytes, n * 50 * MIB - 128 * MIB);
		assert_true(plan.saved_bytes >= (n - 3) * 50 * MIB);
		streamsplan_done(&plan);
	}
}

static void k27_five_times_the_memory(void **state)
{
	(void)state;
	struct streamsplan plan = plan_of((struct streamsplan_ask){ .stores = 8,
								    .partitions = 20,
								    .heap_bytes = 4 * GIB,
								    .limit = limit_set(8 * GIB) },
					  NULL);
	assert_int_equal(plan.steady.instances, 160);
	assert_int_equal(plan.steady.native_bytes.bytes / MIB, 15680); /* 15.3 GiB */
	assert_int_equal(severity_of(&plan, "demand-over-limit"), SEVERITY_WARNING);
	/* What is proposed fits. */
	assert_true(plan.proposed_cache_bytes > 0);
	assert_true(plan.heap_bytes + plan.jvm_bytes + plan.proposed_cache_bytes < 8 * GIB);
	assert_true(plan.proposed_manager_bytes * 2 == plan.proposed_cache_bytes);
	streamsplan_done(&plan);
}

static void r03_half_a_gigabyte_a_partition(void **state)
{
	(void)state;
	/* 512 MB for each of three partitions beside a heap of 512 MiB: in 2 GiB it does not fit. */
	struct streamsplan plan = plan_of((struct streamsplan_ask){ .stores = 1,
								    .partitions = 3,
								    .heap_bytes = 512 * MIB,
								    .limit = limit_set(2 * GIB) },
					  "store-cache=464m,write-buffer=16m,write-buffers=3");
	assert_int_equal(plan.steady.native_bytes.bytes, 3 * 512 * MIB);
	assert_int_equal(severity_of(&plan, "demand-over-limit"), SEVERITY_WARNING);
	streamsplan_done(&plan);
}

static void r15_a_quarter_of_the_host(void **state)
{
	(void)state;
	struct streamsplan plan =
		plan_of((struct streamsplan_ask){ .stores = 1, .partitions = 1, .limit = limit_set(12 * GIB) },
			"cache=16g");
	assert_int_equal(severity_of(&plan, "demand-over-limit"), SEVERITY_CRITICAL);
	assert_int_equal(plan.verdict->worst, SEVERITY_CRITICAL);
	streamsplan_done(&plan);
}

static void a_pod_is_lost(void **state)
{
	(void)state;
	static const struct {
		uint64_t partitions, pods, standbys, steady, lost, copies_lost;
	} table[] = {
		{ 12, 3, 0, 4, 6, 1 }, { 12, 3, 1, 8, 12, 2 }, { 12, 3, 2, 12, 12, 2 }, { 12, 3, 9, 12, 12, 2 },
		{ 10, 3, 0, 4, 5, 1 }, { 1, 3, 0, 1, 1, 1 },   { 7, 2, 0, 4, 7, 1 },    { 30, 10, 1, 6, 7, 2 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct streamsplan plan = plan_of((struct streamsplan_ask){ .stores = 1,
									    .partitions = table[i].partitions,
									    .pods = table[i].pods,
									    .standbys = table[i].standbys },
						  NULL);
		assert_int_equal(plan.steady.instances, table[i].steady);
		assert_int_equal(plan.lost.instances, table[i].lost);
		assert_int_equal(plan.lost.copies, table[i].copies_lost);
		streamsplan_done(&plan);
	}
}

static void topologies(void **state)
{
	(void)state;
	struct str text = tight_read("tests/fixtures/plan/topology.txt");
	static struct topology topology;
	assert_int_equal(topology_parse(text, "topology.txt", &topology, NULL), 0);
	assert_int_equal(topology.n, 3);
	assert_int_equal(topology.subs[0].n_stores, 2);
	assert_int_equal(topology.subs[0].n_windowed, 2);
	assert_int_equal(topology.subs[0].n_sources, 2);
	assert_int_equal(topology.subs[1].n_stores, 2);
	assert_int_equal(topology.subs[1].n_windowed, 0);
	assert_true(topology.subs[2].global);
	struct streamsplan plan =
		plan_of((struct streamsplan_ask){ .topology = &topology, .partitions = 6, .pods = 2 }, NULL);
	/* Two window stores of three segments, two key-value stores: 8 instances of 3 tasks each, and the global store. */
	assert_int_equal(plan.steady.instances, 3 * 6 + 3 * 2 + 1);
	assert_int_equal(plan.lost.instances, 6 * 8 + 1);
	assert_int_equal(plan.instances_all, 6 * 8 + 2);
	assert_int_equal(plan.tasks, 12);
	streamsplan_done(&plan);
	/* Four windowed stores are all that there are; five are one too many. */
	struct err err;
	struct streamsplan_ask ask = { .topology = &topology, .partitions = 6, .pods = 2, .windowed = 4 };
	assert_int_equal(streamsplan_run(&ask, &plan, NULL), 0);
	assert_int_equal(plan.steady.instances, 3 * 6 + 3 * 6 + 1);
	streamsplan_done(&plan);
	ask.windowed = 5;
	assert_true(streamsplan_run(&ask, &plan, &err) < 0);
	assert_non_null(strstr(err.message, "by 1"));
	tight_free(text);
}

static void bad_topologies(void **state)
{
	(void)state;
	static const struct {
		const char *text, *words;
	} table[] = {
		{ "", "no sub-topology" },
		{ "taskmanager: x\n", "no sub-topology" },
		{ "Sub-topology: \n", "t:1: a sub-topology without its number" },
		{ "Sub-topology: x\n", "without its number" },
		{ "Sub-topology: 0\n Processor: p (stores: [a, b\n", "t:2: a list of stores that does not end" },
		{ "Sub-topology: 0\n Source: s (topics: [t])\n --> p, q\n Processor: p (stores: [a])\n --> none\n <-- s\n",
		  "cut short: 2 arrows lead out of its nodes (-->) and 1 into them" },
		{ "Topologies:\n Sub-topology: 0\nTopologies:\n Sub-topology: 0\n", "t:3: a second description" },
	};
	static struct topology topology;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct err err = { 0 };
		assert_true(topology_parse(str_of(table[i].text), "t", &topology, &err) < 0);
		if (!strstr(err.message, table[i].words))
			fail_msg("%s", err.message);
	}
}

static void bad_setters(void **state)
{
	(void)state;
	static const char *const table[] = { "cash=1g",
					     "cache",
					     "cache=",
					     "cache=x",
					     "cache=0",
					     "=1g",
					     "cache=1g,store-cache=1g",
					     "manager=1g",
					     "cache=-1",
					     "write-buffers=x",
					     "cache=1g,cache=2g",
					     "cache=9999999999g" };
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct streams_setter setter;
		struct err err = { 0 };
		if (streams_setter_parse(str_of(table[i]), &setter, &err) == 0)
			fail_msg("%s was taken", table[i]);
		assert_int_equal(err.kind, ERR_USAGE);
	}
}

/* What the text of a real description loses at its end is missed, wherever it is cut between two nodes of a sub-topology. */
static void topologies_cut_short(void **state)
{
	(void)state;
	struct str text = tight_read("tests/fixtures/plan/topology.txt"), rest = text, line;
	static struct topology topology;
	unsigned n_cut = 0;
	while (str_line(&rest, &line)) {
		struct str next = rest, after;
		/* Before a node that something leads to. */
		bool node = str_line(&next, &after) && str_starts(str_trim(after), STR("Processor:"));
		if (!node)
			continue;
		struct err err = { 0 };
		struct str cut = { text.ptr, (size_t)(rest.ptr - text.ptr) };
		assert_true(topology_parse(cut, "t", &topology, &err) < 0);
		assert_non_null(strstr(err.message, "cut short"));
		n_cut++;
	}
	assert_true(n_cut >= 4);
	tight_free(text);
}

static void a_heap_that_nobody_said(void **state)
{
	(void)state;
	struct streamsplan plan = plan_of((struct streamsplan_ask){ .stores = 2, .partitions = 6, .pods = 1 }, NULL);
	assert_false(qty_known(plan.expected.bytes));
	assert_int_equal(plan.expected.n_parts, 2);
	streamsplan_done(&plan);
	plan = plan_of((struct streamsplan_ask){ .stores = 2, .partitions = 6, .pods = 1, .heap_bytes = GIB }, NULL);
	assert_int_equal(plan.expected.bytes.bytes, GIB + 112 * MIB + GIB / 16 + 12 * 98 * MIB);
	streamsplan_done(&plan);
}

static void huge_counts_do_not_wrap(void **state)
{
	(void)state;
	struct streamsplan plan = plan_of((struct streamsplan_ask){ .stores = UINT64_MAX / 2,
								    .partitions = UINT64_MAX / 2,
								    .pods = 2,
								    .standbys = UINT64_MAX,
								    .limit = limit_set(GIB) },
					  NULL);
	assert_int_equal(plan.steady.native_bytes.bytes, UINT64_MAX);
	assert_int_equal(plan.verdict->worst, SEVERITY_WARNING);
	streamsplan_done(&plan);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(k14_and_k21_sixty_instances),
		cmocka_unit_test(c42_a_standby_for_each),
		cmocka_unit_test(c43_a_quarter_for_the_heap),
		cmocka_unit_test(k22_manager_as_large_as_the_cache),
		cmocka_unit_test(k25_a_manager_that_is_too_small),
		cmocka_unit_test(k26_one_cache_for_all_saves),
		cmocka_unit_test(k27_five_times_the_memory),
		cmocka_unit_test(r03_half_a_gigabyte_a_partition),
		cmocka_unit_test(r15_a_quarter_of_the_host),
		cmocka_unit_test(a_pod_is_lost),
		cmocka_unit_test(topologies),
		cmocka_unit_test(bad_topologies),
		cmocka_unit_test(bad_setters),
		cmocka_unit_test(topologies_cut_short),
		cmocka_unit_test(a_heap_that_nobody_said),
		cmocka_unit_test(huge_counts_do_not_wrap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
