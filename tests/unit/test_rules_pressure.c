/* SPDX-License-Identifier: Apache-2.0 */
/* memory-high-throttling, pressure-stall: borders, inputs, what the pressure comes with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "rules/text.h"
#include "support/judge.h"
#include "support/snap.h"

static const char high_rule[] = "memory-high-throttling", stall_rule[] = "pressure-stall";
static const struct snap_shape plain = { .heap = 600, .pool = 200, .cache = 200 };

struct scene {
	struct snapshot *s;
	struct ledger *l;
	struct finding f;
};

/* A container of 2 GiB with memory.high at 1000 MiB, where charge and floor are set; it was pushed back once. */
static struct scene scene_of(uint64_t charge, uint64_t floor)
{
	struct scene sc = { .s = snap_new(&plain) };
	struct cgroup_memory *cg = &sc.s->cgroup;
	cg->max = limit_set(2 * GIB);
	cg->high = limit_set(1000 * MIB);
	cg->events.high = count_of(1);
	cg->events.max = cg->events.oom = cg->events.oom_kill = count_of(0);
	cg->stat.pgscan = cg->stat.workingset_refault_file = count_of(7);
	cg->stat.file_dirty_bytes = cg->stat.file_writeback_bytes = qty_measured(0);
	cg->swap_current_bytes = qty_measured(0);
	cg->current_bytes = cg->current_after_bytes = qty_measured(charge);
	sc.s->flags.max_heap_bytes = qty_measured(700 * MIB);
	sc.l = snap_ledger(sc.s);
	sc.l->floor_bytes = qty_measured(floor);
	sc.l->freeboard_bytes = (struct signed_qty){ (int64_t)(2 * GIB - floor), true };
	return sc;
}

static void set_pressure(struct scene *sc, uint32_t some_bp, uint32_t full_bp)
{
	sc->s->cgroup.pressure.some = (struct cgroup_pressure_line){ some_bp, some_bp, some_bp / 2, 1, true };
	sc->s->cgroup.pressure.full = (struct cgroup_pressure_line){ full_bp, full_bp, full_bp / 2, 1, true };
}

static enum rule_answer ask(const char *rule, struct scene *sc)
{
	return judge(rule, sc->s, sc->l, &sc->f);
}

static void done(struct scene *sc)
{
	free(sc->l);
	snap_free(sc->s);
}

static void high_borders(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		uint64_t charge, floor;
		enum severity severity;
	} table[] = {
		{ "2 % of room", 980 * MIB, 950 * MIB, SEVERITY_NONE },
		{ "less room", 980 * MIB + 1, 950 * MIB, SEVERITY_WARNING },
		{ "past it", 1100 * MIB, 950 * MIB, SEVERITY_WARNING },
		{ "floor just past 90 %", 1000 * MIB, 900 * MIB + 1, SEVERITY_WARNING },
		{ "floor at 90 %: page cache is left to take", 1000 * MIB, 900 * MIB, SEVERITY_INFO },
		{ "mostly page cache", 1000 * MIB, 100 * MIB, SEVERITY_INFO },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of(table[i].charge, table[i].floor);
		enum rule_answer answer = ask(high_rule, &sc);
		if ((answer == RULE_FIRED) != (table[i].severity != SEVERITY_NONE) ||
		    sc.f.severity != table[i].severity)
			print_error("%s\n", table[i].what);
		assert_int_equal(answer, table[i].severity ? RULE_FIRED : RULE_SILENT);
		assert_int_equal(sc.f.severity, table[i].severity);
		if (table[i].severity == SEVERITY_WARNING) {
			judge_whole(&sc.f);
			judge_figure(&sc.f, "memory_high_bytes", 1000 * MIB);
			judge_figure(&sc.f, "floor_bytes", table[i].floor);
			judge_figure(&sc.f, "charge_bytes", table[i].charge);
			judge_holds(sc.f.change,
				    "set resources.requests.memory of the container to 2048Mi, equal to its limit");
			assert_int_equal(sc.f.turns[0].knob, KNOB_MEMORY_HIGH);
			assert_int_equal(sc.f.turns[0].turn, TURN_UP);
		} else if (table[i].severity == SEVERITY_INFO) {
			assert_string_equal(sc.f.change, "");
			judge_holds(sc.f.title, "page cache fills the container up to memory.high of 1000");
		}
		done(&sc);
	}
}

/* Page cache that is evicted and read back makes threads wait: then it does harm. */
static void evicted_cache_that_stalls(void **state)
{
	(void)state;
	struct scene sc = scene_of(1000 * MIB, 100 * MIB);
	set_pressure(&sc, 1000, 0);
	assert_int_equal(ask(high_rule, &sc), RULE_FIRED);
	assert_int_equal(sc.f.severity, SEVERITY_INFO);
	set_pressure(&sc, 1001, 0);
	assert_int_equal(ask(high_rule, &sc), RULE_FIRED);
	judge_whole(&sc.f);
	assert_int_equal(sc.f.severity, SEVERITY_WARNING);
	judge_holds(sc.f.title, "threads wait 10.01 % of the time");
	done(&sc);
}

/* Where nothing can be reclaimed somebody holds it: who grows, else the largest. Page cache that is evicted is nobody's. */
static void high_names_who_fills_it(void **state)
{
	(void)state;
	struct scene sc = scene_of(1000 * MIB, 950 * MIB);
	assert_int_equal(ask(high_rule, &sc), RULE_FIRED);
	int largest = sc.f.owner;
	assert_int_equal(largest, largest_owner(sc.l));
	judge_holds(sc.f.observation, "The largest owner: ");
	int grower = largest == OWNER_JAVA_HEAP ? OWNER_NATIVE_OTHER : OWNER_JAVA_HEAP;
	sc.l->listed[grower] = true;
	sc.l->lines[grower].bytes = qty_measured(80 * MIB);
	struct trend grows = { .kind = TREND_GROWING, .slope = 65536, .span_ms = 600000 };
	struct history_view history = { .floor = grows };
	history.owners[grower] = grows;
	assert_int_equal(judge_over_time(high_rule, sc.s, sc.l, &history, &sc.f), RULE_FIRED);
	assert_int_equal(sc.f.owner, grower);
	judge_holds(sc.f.observation, "most of it ");
	judge_whole(&sc.f);
	done(&sc);
	sc = scene_of(1000 * MIB, 100 * MIB);
	set_pressure(&sc, 1001, 0);
	assert_int_equal(ask(high_rule, &sc), RULE_FIRED);
	assert_int_equal(sc.f.owner, -1);
	done(&sc);
}

static void high_that_does_not_count(void **state)
{
	(void)state;
	struct scene sc = scene_of(1000 * MIB, 950 * MIB);
	sc.s->cgroup.events.high = count_of(0); /* near, and never pushed back */
	assert_int_equal(ask(high_rule, &sc), RULE_SILENT);
	sc.s->cgroup.events.high = count_of(1);
	sc.s->cgroup.max = limit_set(1000 * MIB); /* the limit comes first */
	assert_int_equal(ask(high_rule, &sc), RULE_SILENT);
	sc.s->cgroup.max = limit_set(1000 * MIB + 1);
	assert_int_equal(ask(high_rule, &sc), RULE_FIRED);
	sc.s->cgroup.high = (struct limit){ .kind = LIMIT_NONE };
	assert_int_equal(ask(high_rule, &sc), RULE_SILENT);
	done(&sc);
}

static void high_inputs(void **state)
{
	(void)state;
	struct scene sc = scene_of(1000 * MIB, 950 * MIB);
	sc.l->floor_bytes = (struct qty){ 0 };
	assert_int_equal(ask(high_rule, &sc), RULE_FIRED);
	assert_int_equal(sc.f.severity, SEVERITY_INFO);
	judge_missing(&sc.f, "how much of the charge cannot be reclaimed");

	sc.l->throttle_room_bytes.known = false;
	assert_int_equal(ask(high_rule, &sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "memory.current");
	sc.s->cgroup.events.high.known = false;
	assert_int_equal(ask(high_rule, &sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "memory.events");
	sc.s->cgroup.high.kind = LIMIT_UNREAD;
	assert_int_equal(ask(high_rule, &sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "memory.high");
	sc.s->cgroup.is_root = true; /* neither the root nor v1 has a memory.high */
	assert_int_equal(ask(high_rule, &sc), RULE_SILENT);
	snap_no_cgroup(sc.s);
	assert_int_equal(ask(high_rule, &sc), RULE_SILENT);
	sc.s->cgroup.kind = CGROUP_NONE;
	assert_int_equal(ask(high_rule, &sc), RULE_INCONCLUSIVE);
	done(&sc);
}

static void without_a_limit_one_is_named(void **state)
{
	(void)state;
	struct scene sc = scene_of(1000 * MIB, 950 * MIB);
	sc.s->cgroup.max = sc.l->limit = (struct limit){ .kind = LIMIT_NONE };
	sc.l->expected.bytes = qty_of(1000 * MIB, QTY_DERIVED);
	assert_int_equal(ask(high_rule, &sc), RULE_FIRED);
	judge_whole(&sc.f);
	judge_holds(sc.f.change, "resources.limits.memory of the container both to 1088Mi");
	sc.l->expected.bytes = (struct qty){ 0 };
	assert_int_equal(ask(high_rule, &sc), RULE_FIRED);
	judge_whole(&sc.f);
	done(&sc);
}

static void stall_borders(void **state)
{
	(void)state;
	static const struct {
		uint32_t some, full;
		enum severity severity;
	} table[] = {
		{ 0, 0, SEVERITY_NONE },
		{ 109, 107, SEVERITY_NONE }, /* a container squeezed at its limit */
		{ 1000, 0, SEVERITY_NONE },
		{ 1001, 0, SEVERITY_WARNING },
		{ 5000, 1000, SEVERITY_WARNING },
		{ 5000, 1001, SEVERITY_CRITICAL },
		{ 10000, 10000, SEVERITY_CRITICAL },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of(900 * MIB, 800 * MIB);
		set_pressure(&sc, table[i].some, table[i].full);
		assert_int_equal(ask(stall_rule, &sc), table[i].severity ? RULE_FIRED : RULE_SILENT);
		assert_int_equal(sc.f.severity, table[i].severity);
		if (table[i].severity)
			judge_whole(&sc.f);
		done(&sc);
	}
}

static void stall_figures(void **state)
{
	(void)state;
	struct scene sc = scene_of(900 * MIB, 800 * MIB);
	set_pressure(&sc, 1234, 0);
	sc.s->cgroup.pressure.full.known = false;
	assert_int_equal(ask(stall_rule, &sc), RULE_FIRED);
	assert_string_equal(sc.f.title, "threads wait for memory 12.34 % of the time");
	judge_holds(sc.f.observation, "all at once unread of it");
	judge_holds(sc.f.observation, "over 300 s 6.17 %: it is getting worse");
	sc.s->cgroup.pressure.some.avg10_bp = 100;
	assert_int_equal(ask(stall_rule, &sc), RULE_FIRED);
	judge_holds(sc.f.observation, "not getting worse");
	done(&sc);
}

/* One change, by the gravest thing that it comes with. */
static void stall_names_its_company(void **state)
{
	(void)state;
	struct scene sc = scene_of(1000 * MIB, 800 * MIB);
	struct cgroup_memory *cg = &sc.s->cgroup;
	set_pressure(&sc, 2000, 0);
	cg->swap_current_bytes = qty_measured(16 * MIB + 1);
	cg->stat.file_dirty_bytes = qty_measured(300 * MIB);
	assert_int_equal(ask(stall_rule, &sc), RULE_FIRED);
	judge_whole(&sc.f);
	assert_int_equal(sc.f.turns[0].knob, KNOB_MEMORY_HIGH);
	judge_holds(sc.f.change, "is then the limit or not set; where no kubelet writes it, write max to memory.high");
	judge_holds(sc.f.competing_causes[0], "1000 MiB against 1000 MiB, and high of memory.events is 1");
	judge_holds(sc.f.competing_causes[3], "workingset_refault_file 7, dirty or in writeback 300.0 MiB");
	assert_int_equal(sc.f.n_causes, 5);

	cg->high.kind = LIMIT_NONE;
	sc.l->freeboard_bytes.bytes = 50 * MIB;
	sc.l->floor_bytes = qty_measured(2 * GIB - 50 * MIB);
	assert_int_equal(ask(stall_rule, &sc), RULE_FIRED);
	judge_whole(&sc.f);
	judge_holds(sc.f.change, "raise the container's memory limit from 2.00 GiB to 2.25 GiB (2304Mi)");
	judge_holds(sc.f.competing_causes[0], "freeboard is 50.0 MiB");

	sc.l->freeboard_bytes.bytes = 1000 * MIB;
	sc.l->floor_bytes = qty_measured(2 * GIB - 1000 * MIB);
	assert_int_equal(ask(stall_rule, &sc), RULE_FIRED);
	judge_holds(sc.f.change, "give the container no swap");

	cg->swap_current_bytes = qty_measured(16 * MIB);
	cg->current_bytes = qty_measured(2 * GIB);
	cg->events.max = count_of(9);
	assert_int_equal(ask(stall_rule, &sc), RULE_FIRED);
	judge_whole(&sc.f);
	judge_holds(sc.f.change, "raise the container's memory limit from 2.00 GiB to 2.25 GiB (2304Mi)");

	cg->events.max = count_of(0); /* nothing of its own: the node */
	sc.s->host_memory_bytes = qty_measured(64 * GIB);
	sc.s->host_available_bytes = qty_measured(GIB);
	assert_int_equal(ask(stall_rule, &sc), RULE_FIRED);
	judge_whole(&sc.f);
	judge_holds(sc.f.change, "the node then keeps that much for it");
	judge_holds(sc.f.competing_causes[sc.f.n_causes - 1], "it has 1.00 GiB of 64.00 GiB available");
	done(&sc);
}

/* PSI is off on many kernels: then only a container that was never reclaimed from is judged. */
static void stall_without_psi(void **state)
{
	(void)state;
	struct scene sc = scene_of(900 * MIB, 800 * MIB);
	assert_int_equal(ask(stall_rule, &sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "CONFIG_PSI, and psi=1");
	sc.s->cgroup.stat.pgscan = count_of(0);
	assert_int_equal(ask(stall_rule, &sc), RULE_SILENT);
	sc.s->cgroup.stat.pgscan.known = false;
	assert_int_equal(ask(stall_rule, &sc), RULE_INCONCLUSIVE);
	snap_no_cgroup(sc.s);
	assert_int_equal(ask(stall_rule, &sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "memory.pressure: the memory controller is on cgroup v1");
	done(&sc);
}

static void extremes(void **state)
{
	(void)state;
	static const uint64_t sizes[] = { 0, 1, 1000 * MIB, INT64_MAX, UINT64_MAX };
	static const int64_t rooms[] = { INT64_MIN, -1, 0, INT64_MAX };
	enum { N = sizeof sizes / sizeof sizes[0] };
	for (size_t high = 0; high < N; high++)
		for (size_t limit = 0; limit < N; limit++)
			for (size_t floor = 0; floor < N; floor++)
				for (size_t room = 0; room < 4; room++) {
					struct scene sc = scene_of(UINT64_MAX, UINT64_MAX);
					struct cgroup_memory *cg = &sc.s->cgroup;
					cg->high = limit_set(sizes[high]);
					cg->max = sc.l->limit = limit_set(sizes[limit]);
					cg->events.high = cg->events.max = cg->stat.workingset_refault_file =
						count_of(UINT64_MAX);
					cg->swap_current_bytes = cg->stat.file_dirty_bytes = qty_measured(UINT64_MAX);
					sc.l->floor_bytes = qty_measured(sizes[floor]);
					sc.l->throttle_room_bytes = (struct signed_qty){ rooms[room], true };
					sc.l->freeboard_bytes = (struct signed_qty){ rooms[3 - room], true };
					sc.s->host_memory_bytes = sc.s->host_available_bytes = qty_measured(UINT64_MAX);
					snap_flink(sc.s, 1, 1, 1, 1, 1, UINT64_MAX);
					set_pressure(&sc, 10000, 10000);
					if (ask(high_rule, &sc) == RULE_FIRED)
						judge_whole(&sc.f);
					assert_int_equal(ask(stall_rule, &sc), RULE_FIRED);
					judge_whole(&sc.f);
					done(&sc);
				}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(high_borders),
		cmocka_unit_test(evicted_cache_that_stalls),
		cmocka_unit_test(high_names_who_fills_it),
		cmocka_unit_test(high_that_does_not_count),
		cmocka_unit_test(high_inputs),
		cmocka_unit_test(without_a_limit_one_is_named),
		cmocka_unit_test(stall_borders),
		cmocka_unit_test(stall_figures),
		cmocka_unit_test(stall_names_its_company),
		cmocka_unit_test(stall_without_psi),
		cmocka_unit_test(extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
