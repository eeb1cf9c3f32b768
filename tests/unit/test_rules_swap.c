/* SPDX-License-Identifier: Apache-2.0 */
/* swap-in-use: borders, whose pages they are, zswap, and what is advised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/judge.h"
#include "support/snap.h"

static const char rule[] = "swap-in-use";
static const struct snap_shape plain = { .heap = 400, .pool = 200 };

struct scene {
	struct snapshot *s;
	struct ledger *l;
	struct finding f;
};

/* A container of 2000 MiB, 600 of it in use, with `swapped` swapped out. */
static struct scene scene_of(uint64_t swapped)
{
	struct scene sc = { .s = snap_new(&plain) };
	sc.s->cgroup.max = limit_set(2000 * MIB);
	sc.s->cgroup.swap_current_bytes = qty_measured(swapped);
	sc.s->flags.max_heap_bytes = qty_measured(500 * MIB);
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

static void borders(void **state)
{
	(void)state;
	static const struct {
		uint64_t swapped;
		enum severity severity;
	} table[] = {
		{ 0, SEVERITY_NONE },
		{ 16 * MIB, SEVERITY_NONE },
		{ 16 * MIB + 1, SEVERITY_NOTICE },
		{ 100 * MIB, SEVERITY_NOTICE }, /* 5 % of the limit */
		{ 100 * MIB + 1, SEVERITY_WARNING },
		{ 4 * GIB, SEVERITY_WARNING },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of(table[i].swapped);
		assert_int_equal(ask(&sc), table[i].severity ? RULE_FIRED : RULE_SILENT);
		assert_int_equal(sc.f.severity, table[i].severity);
		if (table[i].severity) {
			judge_whole(&sc.f);
			judge_figure(&sc.f, "swapped_bytes", table[i].swapped);
		}
		done(&sc);
	}
}

/* What zswap holds is on no disk: it is told apart, and does not make a warning. */
static void zswap_is_counted_apart(void **state)
{
	(void)state;
	struct scene sc = scene_of(300 * MIB);
	sc.s->cgroup.stat.zswapped_bytes = qty_measured(200 * MIB);
	sc.s->cgroup.zswap_current_bytes = qty_measured(70 * MIB);
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_whole(&sc.f);
	assert_int_equal(sc.f.severity, SEVERITY_NOTICE);
	judge_holds(sc.f.observation, "zswap keeps 200.0 MiB of it compressed in memory, 100.0 MiB is on a disk");
	judge_figure(&sc.f, "zswapped_bytes", 200 * MIB);
	judge_figure(&sc.f, "zswap_pool_bytes", 70 * MIB);
	judge_figure(&sc.f, "swapped_on_disk_bytes", 100 * MIB);
	sc.s->cgroup.stat.zswapped_bytes = qty_measured(200 * MIB - 1);
	assert_int_equal(ask(&sc), RULE_FIRED);
	assert_int_equal(sc.f.severity, SEVERITY_WARNING);
	sc.s->cgroup.stat.zswapped_bytes = qty_measured(UINT64_MAX);
	sc.s->cgroup.stat.zswap_bytes = qty_measured(5 * MIB);
	sc.s->cgroup.zswap_current_bytes = (struct qty){ 0 };
	assert_int_equal(ask(&sc), RULE_FIRED);
	assert_int_equal(sc.f.severity, SEVERITY_NOTICE);
	judge_figure(&sc.f, "swapped_on_disk_bytes", 0);
	judge_figure(&sc.f, "zswap_pool_bytes", 5 * MIB);
	done(&sc);
}

static void names_whose_pages(void **state)
{
	(void)state;
	struct scene sc = scene_of(90 * MIB);
	sc.s->status.vm_swap_bytes = qty_measured(80 * MIB);
	sc.s->vmas.items[0].swap_bytes = 70 * MIB; /* the heap */
	sc.s->vmas.items[sc.s->vmas.n - 1].swap_bytes = 10 * MIB;
	assert_int_equal(sc.s->vmas.items[0].start, sc.s->heap.ranges[0].start);
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_whole(&sc.f);
	assert_string_equal(sc.f.title, "90.0 MiB of the container is swapped out, 70.0 MiB of it Java heap");
	assert_int_equal(sc.f.owner, OWNER_JAVA_HEAP);
	judge_figure(&sc.f, "java_heap_swapped_bytes", 70 * MIB);
	judge_figure(&sc.f, "jvm_swapped_bytes", 80 * MIB);
	judge_holds(sc.f.observation, "of other processes and files in memory: 10.0 MiB.");
	assert_int_equal(sc.f.n_missing, 0);

	sc.s->heap.ranges[0].end -= 350 * MIB; /* the mapping holds more than heap: 51 MiB of it at most */
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_whole(&sc.f);
	judge_holds(sc.f.title, "at most 51.0 MiB of it Java heap");

	sc.s->vmas.items[0].swap_bytes = 0;
	assert_int_equal(ask(&sc), RULE_FIRED);
	assert_string_equal(sc.f.title, "90.0 MiB of the container is swapped out");
	judge_holds(sc.f.observation, "Of the Java heap: 0 B.");
	assert_int_equal(sc.f.owner, -1);

	sc.s->heap.n_ranges = 0;
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_missing(&sc.f, "how much of it is Java heap");
	done(&sc);
}

/* To end swap where there is no room for what comes back would kill. */
static void the_change_has_room(void **state)
{
	(void)state;
	static const struct {
		uint64_t swapped;
		const char *change;
		enum knob knob;
	} table[] = {
		/* 1400 MiB of freeboard less the warning's 200 */
		{ 1200 * MIB, "its limit, 2000Mi (LimitedSwap then allots none)", KNOB_SWAP },
		{ 1200 * MIB + 1, "raise the container's memory limit from 1.95 GiB to 2.06 GiB (2112Mi)", KNOB_LIMIT },
		{ UINT64_MAX, "raise the container's memory limit", KNOB_LIMIT },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of(table[i].swapped);
		assert_int_equal(sc.l->freeboard_bytes.bytes, 1400 * MIB);
		assert_int_equal(ask(&sc), RULE_FIRED);
		judge_holds(sc.f.change, table[i].change);
		assert_int_equal(sc.f.turns[0].knob, table[i].knob);
		assert_int_equal(sc.f.turns[0].turn, table[i].knob == KNOB_SWAP ? TURN_DOWN : TURN_UP);
		sc.l->freeboard_bytes.bytes = -1;
		assert_int_equal(ask(&sc), RULE_FIRED);
		assert_int_equal(sc.f.turns[0].knob, KNOB_LIMIT);
		done(&sc);
	}
}

static void inputs(void **state)
{
	(void)state;
	struct scene sc = scene_of(200 * MIB);
	sc.l->limit = (struct limit){ .kind = LIMIT_NONE };
	sc.l->freeboard_bytes.known = false;
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_whole(&sc.f);
	assert_int_equal(sc.f.severity, SEVERITY_NOTICE); /* a share of nothing */
	judge_missing(&sc.f, "memory limit");
	judge_holds(sc.f.change, "equal to its limit (LimitedSwap");

	/* No cgroup: the JVM's own. */
	snap_no_cgroup(sc.s);
	sc.s->told_limit = limit_set(2000 * MIB);
	free(sc.l);
	sc.l = snap_ledger(sc.s);
	assert_int_equal(ask(&sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "memory.swap.current: the memory controller is on cgroup v1");
	sc.s->status.vm_swap_bytes = qty_measured(16 * MIB);
	assert_int_equal(ask(&sc), RULE_SILENT);
	sc.s->status.vm_swap_bytes = qty_measured(100 * MIB + 1);
	assert_int_equal(ask(&sc), RULE_FIRED);
	judge_whole(&sc.f);
	assert_int_equal(sc.f.severity, SEVERITY_WARNING);
	judge_holds(sc.f.title, "100.0 MiB of the JVM is swapped out");
	judge_missing(&sc.f, "what other processes have swapped");

	/* The cgroup counts all of it, whatever the JVM says. */
	sc.s->cgroup.swap_current_bytes = qty_measured(0);
	assert_int_equal(ask(&sc), RULE_SILENT);
	done(&sc);
}

static void longest_texts(void **state)
{
	(void)state;
	struct scene sc = scene_of(UINT64_MAX);
	sc.s->status.vm_swap_bytes = qty_measured(UINT64_MAX);
	sc.s->cgroup.stat.zswapped_bytes = sc.s->cgroup.zswap_current_bytes = qty_measured(UINT64_MAX);
	sc.s->host_memory_bytes = sc.s->host_available_bytes = qty_measured(UINT64_MAX);
	sc.s->cgroup.swap_max = limit_set(UINT64_MAX);
	for (size_t i = 0; i < sc.s->vmas.n; i++)
		sc.s->vmas.items[i].swap_bytes = UINT64_MAX;
	sc.s->heap.ranges[0].end = UINT64_MAX;
	sc.s->heap.ranges[1] = sc.s->heap.ranges[0];
	sc.s->heap.n_ranges = 2;
	snap_flink(sc.s, 1, 1, 1, 1, 1, UINT64_MAX);
	sc.l->limit = limit_set(UINT64_MAX);
	sc.l->floor_bytes = qty_measured(UINT64_MAX);
	sc.l->freeboard_bytes = (struct signed_qty){ INT64_MIN, true };
	assert_int_equal(ask(&sc), RULE_FIRED);
	assert_true(sc.f.n_evidence > 0); /* what i64 cannot hold is left out */
	judge_whole(&sc.f);
	done(&sc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(borders),
		cmocka_unit_test(zswap_is_counted_apart),
		cmocka_unit_test(names_whose_pages),
		cmocka_unit_test(the_change_has_room),
		cmocka_unit_test(inputs),
		cmocka_unit_test(longest_texts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
