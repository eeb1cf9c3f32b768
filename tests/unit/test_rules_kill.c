/* SPDX-License-Identifier: Apache-2.0 */
/* oom-kill: at whose limit, how grave, and what is not claimed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/judge.h"
#include "support/snap.h"

static const char rule[] = "oom-kill";
static const struct snap_shape plain = { .heap = 400, .pool = 200, .others = 20 };

struct scene {
	struct snapshot *s;
	struct ledger *l;
	struct finding f;
};

/* A container of `limit` whose memory.events and memory.events.local count so many. */
static struct scene scene_of(uint64_t limit, uint64_t oom, uint64_t oom_kill)
{
	struct scene sc = { .s = snap_new(&plain) };
	struct cgroup_events *events = &sc.s->cgroup.events;
	sc.s->cgroup.max = limit_set(limit);
	sc.s->flags.max_heap_bytes = qty_measured(500 * MIB);
	events->low = events->high = count_of(0);
	events->max = count_of(521);
	events->oom = count_of(oom);
	events->oom_kill = count_of(oom_kill);
	events->oom_group_kill = count_of(0);
	sc.s->cgroup.events_local = *events;
	sc.l = snap_ledger(sc.s);
	return sc;
}

static enum rule_answer ask(struct scene *sc)
{
	return judge(rule, sc->s, sc->l, &sc->f);
}

static void done(struct scene *sc)
{
	free(sc->l);
	snap_free(sc->s);
}

/* The four deaths of a container, as a kernel counted them. */
static void origins(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		uint64_t oom, oom_kill;
		const char *title; /* NULL: silent */
	} table[] = {
		{ "own limit", 1, 2, "at the container's own limit, now 2.00 GiB" },
		{ "pod limit", 0, 2, "from outside it: the pod's limit or the node" },
		{ "one process killed from outside", 0, 1, "from outside it: the pod's limit or the node" },
		{ "SIGKILL, or an exit", 0, 0, NULL },
		{ "the limit hit, nobody killed", 3, 0, NULL },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of(2 * GIB, table[i].oom, table[i].oom_kill);
		enum rule_answer answer = ask(&sc);
		if (answer != (table[i].title ? RULE_FIRED : RULE_SILENT))
			print_error("%s\n", table[i].what);
		assert_int_equal(answer, table[i].title ? RULE_FIRED : RULE_SILENT);
		if (table[i].title) {
			judge_whole(&sc.f);
			judge_holds(sc.f.title, table[i].title);
			assert_int_equal(sc.f.severity, SEVERITY_WARNING);
			judge_holds(sc.f.observation, "no number of victims");
			judge_holds(sc.f.observation, "Other processes hold 20.0 MiB now.");
			judge_missing(&sc.f, "the node's kernel log");
			judge_holds(sc.f.competing_causes[sc.f.n_causes - 1],
				    "143 is SIGTERM, 239 Flink's own fatal exit");
		}
		done(&sc);
	}
}

/* An agent that saw whose bytes went names that owner; one that did not names nobody. */
static void names_whose_bytes_went(void **state)
{
	(void)state;
	struct scene sc = scene_of(2 * GIB, 1, 1);
	struct thresholds thresholds;
	thresholds_init(&thresholds);
	struct killed killed = { .known = true, .owner = OWNER_OTHER_PROCESSES, .fell_bytes = 300 * MIB };
	struct rule_input input = { .snapshot = sc.s, .ledger = sc.l, .thresholds = &thresholds, .killed = &killed };
	const struct rule *oom_kill = rules_find(STR("oom-kill"));
	sc.f = (struct finding){ .rule = rule, .owner = -1 };
	assert_int_equal(oom_kill->eval(&input, &sc.f), RULE_FIRED);
	assert_int_equal(sc.f.owner, OWNER_OTHER_PROCESSES);
	judge_holds(sc.f.observation, "other-processes had fallen by 300.0 MiB at the scan after it.");
	killed.known = false;
	sc.f = (struct finding){ .rule = rule, .owner = -1 };
	assert_int_equal(oom_kill->eval(&input, &sc.f), RULE_FIRED);
	assert_int_equal(sc.f.owner, -1);
	done(&sc);
}

/* `max` alone: the limit was hit and reclaim found what to take. */
static void reclaim_at_the_limit_is_no_kill(void **state)
{
	(void)state;
	struct scene sc = scene_of(2 * GIB, 0, 0);
	sc.s->cgroup.events.max = count_of(UINT64_MAX);
	assert_int_equal(ask(&sc), RULE_SILENT);
	done(&sc);
}

static void low_room_makes_the_own_limit_critical(void **state)
{
	(void)state;
	static const struct {
		unsigned limit_mib;
		uint64_t oom;
		enum severity severity;
	} table[] = {
		{ 689, 1, SEVERITY_WARNING }, /* floor 620: a tenth is left */
		{ 688, 1, SEVERITY_CRITICAL },
		{ 688, 0, SEVERITY_WARNING }, /* not its own limit's doing */
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of((uint64_t)table[i].limit_mib * MIB, table[i].oom, 1);
		assert_int_equal(sc.l->floor_bytes.bytes, 620 * MIB);
		assert_int_equal(ask(&sc), RULE_FIRED);
		judge_whole(&sc.f);
		assert_int_equal(sc.f.severity, table[i].severity);
		judge_figure(&sc.f, "floor_bytes", 620 * MIB);
		done(&sc);
	}
}

static void changes(void **state)
{
	(void)state;
	struct scene sc = scene_of(2 * GIB, 1, 2);
	assert_int_equal(ask(&sc), RULE_FIRED);
	/* What it held at the kill is the limit; a tenth and a quarter of that more, in steps of 64 MiB. */
	judge_holds(sc.f.change, "raise the container's memory limit from 2.00 GiB to 2.25 GiB (2304Mi)");
	assert_int_equal(sc.f.turns[0].knob, KNOB_LIMIT);
	assert_int_equal(sc.f.turns[0].turn, TURN_UP);

	snap_flink(sc.s, 500 * MIB, 100 * MIB, 0, 100 * MIB, 192 * MIB, 2 * GIB);
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_whole(&sc.f);
	judge_holds(sc.f.change, "kubernetes.taskmanager.memory.limit-factor to 1.13");

	sc.s->cgroup.events.oom = count_of(0);
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_holds(sc.f.change, "set resources.requests.memory of the container to 2048Mi, equal to its limit");
	assert_int_equal(sc.f.turns[0].knob, KNOB_MEMORY_HIGH);

	sc.l->limit = limit_set(4000000000);
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_holds(sc.f.change, "to 4000000000, equal to its limit"); /* 4G is no whole number of MiB */

	sc.l->limit = (struct limit){ .kind = LIMIT_NONE };
	sc.l->expected.bytes = qty_of(1000 * MIB, QTY_DERIVED);
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_whole(&sc.f);
	judge_holds(sc.f.change, "resources.limits.memory of the container both to 1088Mi");
	sc.l->expected.bytes = (struct qty){ 0 };
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_whole(&sc.f);
	sc.s->cgroup.events.oom = count_of(1); /* its own limit, lifted since */
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_whole(&sc.f);
	assert_int_equal(sc.f.severity, SEVERITY_WARNING);
	assert_null(strstr(sc.f.title, "now"));
	done(&sc);
}

/* The pod is named only where its limit is known and this container alone nearly fills it. */
static void the_pod_is_named_by_its_limit(void **state)
{
	(void)state;
	static const struct {
		uint64_t pod, oom;
		bool named;
	} table[] = {
		{ 684333810, 0, true },  /* 95 % of it are the floor of 620 MiB less a byte */
		{ 684333811, 0, false }, /* and here all of it */
		{ 640 * MIB, 1, false }, /* oom rose here: it was the container's own */
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of(2 * GIB, table[i].oom, 2);
		sc.s->pod_limit = limit_set(table[i].pod);
		assert_int_equal(ask(&sc), RULE_FIRED);
		judge_whole(&sc.f);
		assert_int_equal(strstr(sc.f.title, "most likely at the pod's limit") != NULL, table[i].named);
		assert_int_equal(strstr(sc.f.change, "raise the pod's memory limit") != NULL, table[i].named);
		if (!table[i].oom)
			judge_holds(sc.f.competing_causes[0], "this container holds 620.0 MiB of");
		done(&sc);
	}
	struct scene sc = scene_of(2 * GIB, 0, 2);
	sc.s->host_memory_bytes = qty_measured(64 * GIB);
	sc.s->host_available_bytes = qty_measured(GIB);
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_holds(sc.f.competing_causes[0], "--pod-limit SIZE");
	judge_holds(sc.f.competing_causes[1], "1.00 GiB of 64.00 GiB available now");
	done(&sc);
}

/* memory.events counts those of cgroups inside, memory.events.local does not. */
static void a_cgroup_inside_is_told_apart(void **state)
{
	(void)state;
	struct scene sc = scene_of(650 * MIB, 1, 1);
	sc.s->cgroup.events_local.oom = count_of(0);
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_whole(&sc.f);
	judge_holds(sc.f.title, "at the limit of a cgroup inside it");
	assert_int_equal(sc.f.severity, SEVERITY_WARNING);
	memset(&sc.s->cgroup.events_local, 0, sizeof sc.s->cgroup.events_local); /* before Linux 5.2 there is none */
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_holds(sc.f.title, "at the container's own limit");
	assert_int_equal(sc.f.severity, SEVERITY_CRITICAL);
	done(&sc);
}

static void inputs(void **state)
{
	(void)state;
	struct scene sc = scene_of(2 * GIB, 1, 1);
	sc.s->cgroup.events.oom.known = false;
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_whole(&sc.f);
	judge_holds(sc.f.title, "at whose limit could not be read");
	judge_missing(&sc.f, "no oom in it");

	sc.s->cgroup.events.oom_kill.known = false;
	assert_int_equal(ask(&sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "older than 4.13");

	memset(&sc.s->cgroup.events, 0, sizeof sc.s->cgroup.events);
	assert_int_equal(ask(&sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "memory.events: the container's cgroup v2 was not read");
	snap_gap(sc.s, "cgroup", 4, "no cgroup of this process is visible");
	assert_int_equal(ask(&sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "memory.events: no cgroup of this process is visible");
	char reason[sizeof sc.s->gaps[0].reason];
	memset(reason, 'y', sizeof reason);
	reason[sizeof reason - 1] = '\0';
	snap_gap(sc.s, "cgroup/memory.events", 4, reason); /* its own gap says more than the cgroup's */
	assert_int_equal(ask(&sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, reason);
	sc.s->n_gaps = 0;
	sc.s->cgroup.is_root = true;
	assert_int_equal(ask(&sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "root cgroup");

	snap_no_cgroup(sc.s); /* --limit alone tells of no kill */
	sc.s->told_limit = limit_set(2 * GIB);
	assert_int_equal(ask(&sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "memory.events: the memory controller is on cgroup v1");
	done(&sc);
}

static void extremes(void **state)
{
	(void)state;
	static const uint64_t sizes[] = { 0, 1, 700 * MIB, INT64_MAX, UINT64_MAX - 1, UINT64_MAX };
	enum { N = sizeof sizes / sizeof sizes[0] };
	for (size_t limit = 0; limit < N; limit++)
		for (size_t floor = 0; floor < N; floor++)
			for (size_t pod = 0; pod < N; pod++)
				for (unsigned oom = 0; oom < 2; oom++) {
					struct scene sc = scene_of(sizes[limit], oom ? UINT64_MAX : 0, UINT64_MAX);
					sc.s->cgroup.events.max = sc.s->cgroup.events.oom_group_kill =
						count_of(UINT64_MAX);
					sc.s->host_memory_bytes = sc.s->host_available_bytes = qty_measured(UINT64_MAX);
					sc.s->pod_limit = limit_set(sizes[pod]);
					sc.l->floor_bytes = qty_measured(sizes[floor]);
					sc.l->lines[OWNER_OTHER_PROCESSES].bytes = qty_measured(UINT64_MAX);
					sc.l->freeboard_bytes = (struct signed_qty){ INT64_MIN, true };
					snap_flink(sc.s, 1, 1, 1, 1, 1, UINT64_MAX);
					assert_int_equal(ask(&sc), RULE_FIRED);
					judge_whole(&sc.f);
					done(&sc);
				}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(origins),
		cmocka_unit_test(names_whose_bytes_went),
		cmocka_unit_test(reclaim_at_the_limit_is_no_kill),
		cmocka_unit_test(low_room_makes_the_own_limit_critical),
		cmocka_unit_test(changes),
		cmocka_unit_test(the_pod_is_named_by_its_limit),
		cmocka_unit_test(a_cgroup_inside_is_told_apart),
		cmocka_unit_test(inputs),
		cmocka_unit_test(extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
