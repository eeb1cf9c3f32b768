/* SPDX-License-Identifier: Apache-2.0 */
/* freeboard-low, demand-over-limit, limit-below-process-size: borders, inputs, texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "support/judge.h"
#include "support/snap.h"

static const struct snap_shape plain = { .heap = 400, .code = 30, .stacks = 10, .pool = 200, .cache = 50, .sock = 1 };

struct scene {
	struct snapshot *s;
	struct ledger *l;
	struct finding f;
};

static struct scene scene_new(void)
{
	struct scene scene = { .s = snap_new(&plain) };
	scene.s->flags.max_heap_bytes = qty_measured(500 * MIB);
	scene.l = snap_ledger(scene.s);
	return scene;
}

static void scene_done(struct scene *scene)
{
	free(scene->l);
	snap_free(scene->s);
}

static void set_room(struct ledger *l, uint64_t limit, int64_t freeboard)
{
	l->limit = limit_set(limit);
	l->floor_bytes = qty_of(limit - (uint64_t)freeboard, QTY_DERIVED);
	l->freeboard_bytes = (struct signed_qty){ freeboard, true };
	l->freeboard_level = FREEBOARD_CONTAINER;
}

static void freeboard_borders(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		uint64_t limit;
		int64_t freeboard;
		enum severity severity; /* NONE: silent */
	} table[] = {
		{ "10 %", 1000 * MIB, 100 * MIB, SEVERITY_NONE },
		{ "just below 10 %", 1000 * MIB, 100 * MIB - 1, SEVERITY_WARNING },
		{ "3 %", 1000 * MIB, 30 * MIB, SEVERITY_WARNING },
		{ "just below 3 %", 1000 * MIB, 30 * MIB - 1, SEVERITY_CRITICAL },
		{ "nothing left", 1000 * MIB, 0, SEVERITY_CRITICAL },
		{ "past the limit", 1000 * MIB, -5 * MIB, SEVERITY_CRITICAL },
		{ "10 GiB: 10 % is the most that is asked for", 10 * GIB, (int64_t)GIB, SEVERITY_NONE },
		{ "10 GiB", 10 * GIB, (int64_t)GIB - 1, SEVERITY_WARNING },
		{ "100 GiB: 1 GiB", 100 * GIB, (int64_t)GIB, SEVERITY_NONE },
		{ "100 GiB: just below 1 GiB is a warning first", 100 * GIB, (int64_t)GIB - 1, SEVERITY_WARNING },
		{ "100 GiB: 0.3 of that", 100 * GIB, (int64_t)(GIB / 1000 * 300), SEVERITY_WARNING },
		{ "100 GiB: just below 0.3 of that", 100 * GIB, (int64_t)(GIB / 1000 * 300) - 1, SEVERITY_CRITICAL },
	};
	struct scene sc = scene_new();
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		set_room(sc.l, table[i].limit, table[i].freeboard);
		enum rule_answer answer = judge("freeboard-low", sc.s, sc.l, &sc.f);
		if ((answer == RULE_FIRED) != (table[i].severity != SEVERITY_NONE) ||
		    sc.f.severity != table[i].severity)
			print_error("%s\n", table[i].what);
		assert_int_equal(answer, table[i].severity == SEVERITY_NONE ? RULE_SILENT : RULE_FIRED);
		assert_int_equal(sc.f.severity, table[i].severity);
		if (answer == RULE_SILENT)
			continue;
		judge_whole(&sc.f);
		judge_figure(&sc.f, "limit_bytes", table[i].limit);
		judge_figure(&sc.f, "floor_bytes", sc.l->floor_bytes.bytes);
		assert_null(strstr(sc.f.observation, " -")); /* no "-5 MiB more" */
		if (table[i].freeboard >= 0)
			judge_figure(&sc.f, "freeboard_bytes", (uint64_t)table[i].freeboard);
	}
	scene_done(&sc);
}

/* Page cache at the limit with a low floor is a healthy pod. */
static void page_cache_alarms_nobody(void **state)
{
	(void)state;
	struct snap_shape shape = plain;
	shape.cache = 359;
	struct snapshot *s = snap_new(&shape);
	struct finding f;
	s->cgroup.max = limit_set(s->cgroup.current_bytes.bytes); /* charged to the last byte */
	struct ledger *l = snap_ledger(s);
	assert_int_equal(judge("freeboard-low", s, l, &f), RULE_SILENT);
	free(l);
	snap_free(s);
}

static void freeboard_of_the_pod(void **state)
{
	(void)state;
	struct scene sc = scene_new();
	sc.s->cgroup.max = limit_set(4 * GIB);
	sc.s->pod_limit = limit_set(700 * MIB);
	snap_flink(sc.s, 300 * MIB, 0, 0, 0, 0, GIB);
	free(sc.l);
	sc.l = snap_ledger(sc.s);
	assert_int_equal(sc.l->freeboard_level, FREEBOARD_POD);
	assert_int_equal(judge("freeboard-low", sc.s, sc.l, &sc.f), RULE_FIRED); /* 59 MiB of 700 */
	judge_whole(&sc.f);
	judge_figure(&sc.f, "limit_bytes", 700 * MIB);
	judge_figure(&sc.f, "freeboard_bytes", 59 * MIB);
	assert_non_null(strstr(sc.f.observation, "upper bound"));
	assert_non_null(strstr(sc.f.change, "the pod's memory limit from 700.0 MiB"));
	assert_string_equal(sc.f.effective_settings[0].key, "pod limit");

	/* A pod limit alone is a limit. */
	sc.s->cgroup.max.kind = LIMIT_NONE;
	free(sc.l);
	sc.l = snap_ledger(sc.s);
	assert_int_equal(judge("freeboard-low", sc.s, sc.l, &sc.f), RULE_FIRED);
	judge_figure(&sc.f, "limit_bytes", 700 * MIB);
	scene_done(&sc);
}

/* Another container of the pod fills it: nobody of this one is blamed, and what is asked for has room for both. */
static void freeboard_beside_others(void **state)
{
	(void)state;
	static const struct {
		uint64_t pod_mib, others_mib;
		bool blamed;
	} table[] = { { 1000, 350, false }, { 700, 40, true } };
	struct scene sc = scene_new();
	sc.s->cgroup.max = limit_set(4 * GIB);
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		sc.s->pod_limit = limit_set(table[i].pod_mib * MIB);
		sc.s->pod_others_bytes = qty_of(table[i].others_mib * MIB, QTY_INFERRED);
		free(sc.l);
		sc.l = snap_ledger(sc.s);
		assert_int_equal(judge("freeboard-low", sc.s, sc.l, &sc.f), RULE_FIRED);
		judge_whole(&sc.f);
		judge_figure(&sc.f, "pod_others_bytes", table[i].others_mib * MIB);
		assert_int_equal(sc.f.owner >= 0, table[i].blamed);
		assert_null(strstr(sc.f.observation, "upper bound"));
	}
	assert_non_null(strstr(sc.f.observation, "Its other containers hold 40.0 MiB"));
	assert_non_null(strstr(sc.f.change, "(832Mi)")); /* 641 + 40 and 1.25 x 70, in steps of 64 */
	scene_done(&sc);
}

/* A heap of 400 MiB stands where it is and native memory grows: the one who grows is named, not who has still to come. */
static void who_grows_past_the_limit_demands(void **state)
{
	(void)state;
	static const struct {
		enum forecast_kind kind;
		int owner, named;
	} table[] = {
		{ FORECAST_REACHES, OWNER_NATIVE_OTHER, OWNER_NATIVE_OTHER },
		{ FORECAST_REACHES, -1, OWNER_JAVA_HEAP },
		{ FORECAST_NOT_GROWING, OWNER_NATIVE_OTHER, OWNER_JAVA_HEAP },
	};
	struct scene sc = scene_new();
	set_room(sc.l, 660 * MIB, 20 * (int64_t)MIB);
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct history_view history = { .forecast = { .kind = table[i].kind, .owner = table[i].owner } };
		assert_int_equal(judge_over_time("demand-over-limit", sc.s, sc.l, &history, &sc.f), RULE_FIRED);
		assert_int_equal(sc.f.owner, table[i].named);
		judge_whole(&sc.f);
	}
	scene_done(&sc);
}

static void freeboard_inputs(void **state)
{
	(void)state;
	struct scene sc = scene_new();
	assert_int_equal(judge("freeboard-low", sc.s, sc.l, &sc.f), RULE_INCONCLUSIVE); /* memory.max is "max" */
	judge_missing(&sc.f, "memory limit");
	assert_int_equal(sc.f.n_missing, 1);
	sc.l->limit = limit_set(GIB);
	sc.l->floor_bytes = (struct qty){ 0 };
	assert_int_equal(judge("freeboard-low", sc.s, sc.l, &sc.f), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "floor: neither memory.stat nor smaps");
	sc.l->floor_bytes = qty_measured(1);
	sc.l->freeboard_bytes.known = false; /* i64 could not hold it: not zero */
	assert_int_equal(judge("freeboard-low", sc.s, sc.l, &sc.f), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "freeboard");
	scene_done(&sc);
}

static void freeboard_names_an_owner(void **state)
{
	(void)state;
	struct scene sc = scene_new();
	sc.s->told_limit = limit_set(650 * MIB);
	free(sc.l);
	sc.l = snap_ledger(sc.s);
	assert_int_equal(judge("freeboard-low", sc.s, sc.l, &sc.f), RULE_FIRED);
	assert_int_equal(sc.f.owner, OWNER_JAVA_HEAP); /* the largest: no budget is overrun */
	assert_string_equal(sc.f.effective_settings[0].key, "container limit");
	assert_string_equal(sc.f.effective_settings[0].where, "--limit");
	free(sc.l);

	/* Where direct memory is unread it stands in native-other: the overhead is not blamed for it. */
	snap_flink(sc.s, 500 * MIB, 50 * MIB, 0, 50 * MIB, 100 * MIB, 900 * MIB);
	sc.l = snap_ledger(sc.s);
	assert_int_equal(judge("freeboard-low", sc.s, sc.l, &sc.f), RULE_FIRED);
	assert_int_equal(sc.f.owner, OWNER_JAVA_HEAP);
	assert_null(strstr(sc.f.observation, "Over its budget"));
	free(sc.l);

	/* Native memory over the overhead's budget comes before a heap that is within its own. */
	sc.s->engine.gauges.direct_used_bytes = qty_measured(0);
	sc.l = snap_ledger(sc.s);
	assert_int_equal(judge("freeboard-low", sc.s, sc.l, &sc.f), RULE_FIRED);
	judge_whole(&sc.f);
	assert_int_equal(sc.f.owner, OWNER_NATIVE_OTHER);
	judge_holds(sc.f.competing_causes[sc.f.n_causes - 1], "a higher limit only buys time");
	judge_figure(&sc.f, "overrun_budget_bytes", 100 * MIB);
	judge_figure(&sc.f, "overrun_actual_bytes", 240 * MIB);
	free(sc.l);

	snap_no_cgroup(sc.s);
	sc.l = snap_ledger(sc.s);
	assert_int_equal(judge("freeboard-low", sc.s, sc.l, &sc.f), RULE_FIRED);
	judge_whole(&sc.f);
	assert_non_null(strstr(sc.f.observation, "Without the container's cgroup this is an upper bound"));
	scene_done(&sc);
}

static struct trend growing(enum trend_kind kind, uint64_t mib_in_ten_minutes)
{
	return (struct trend){ .kind = kind, .slope = (double)(mib_in_ten_minutes * MIB) / 600, .span_ms = 600000 };
}

/* What stood there all the time did not fill the container. */
static void freeboard_names_who_grew(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		enum trend_kind floor, owner;
		uint64_t floor_mib, owner_mib;
		enum owner grows;
		int named;
	} table[] = {
		{ "most of it", TREND_GROWING, TREND_GROWING, 100, 51, OWNER_SOCKETS, OWNER_SOCKETS },
		{ "half is not most", TREND_GROWING, TREND_GROWING, 100, 50, OWNER_SOCKETS, OWNER_JAVA_HEAP },
		{ "more slowly now", TREND_DECELERATING, TREND_DECELERATING, 100, 90, OWNER_SOCKETS, OWNER_SOCKETS },
		{ "nothing grows", TREND_FLAT, TREND_GROWING, 100, 90, OWNER_SOCKETS, OWNER_JAVA_HEAP },
		{ "it stands", TREND_GROWING, TREND_FLAT, 100, 90, OWNER_SOCKETS, OWNER_JAVA_HEAP },
		{ "too few", TREND_TOO_FEW, TREND_TOO_FEW, 100, 90, OWNER_SOCKETS, OWNER_JAVA_HEAP },
		{ "page cache", TREND_GROWING, TREND_GROWING, 100, 90, OWNER_PAGE_CACHE, OWNER_JAVA_HEAP },
		{ "not there any more", TREND_GROWING, TREND_GROWING, 100, 90, OWNER_HUGETLB, OWNER_JAVA_HEAP },
	};
	struct scene sc = scene_new();
	set_room(sc.l, 1000 * MIB, 50 * MIB);
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct history_view history = { .floor = growing(table[i].floor, table[i].floor_mib) };
		history.owners[table[i].grows] = growing(table[i].owner, table[i].owner_mib);
		assert_int_equal(judge_over_time("freeboard-low", sc.s, sc.l, &history, &sc.f), RULE_FIRED);
		if (sc.f.owner != table[i].named)
			print_error("%s\n", table[i].what);
		assert_int_equal(sc.f.owner, table[i].named);
		if (i == 0)
			judge_holds(
				sc.f.observation,
				"The floor grew by 100.0 MiB in 10 min, most of it sockets, by 51.0 MiB to 1.0 MiB.");
	}
	/* Read until lately: what a program that is nearly full no longer answers stands in native-other, and is not it. */
	struct history_view late = { .floor = growing(TREND_GROWING, 100) };
	late.owners[OWNER_ROCKSDB_MEMTABLES] = growing(TREND_GROWING, 90);
	late.owners[OWNER_ROCKSDB_MEMTABLES].last_bytes = 360 * MIB;
	sc.l->listed[OWNER_ROCKSDB_MEMTABLES] = true;
	assert_true(ledger_is_unread(sc.l, OWNER_ROCKSDB_MEMTABLES));
	assert_int_equal(judge_over_time("freeboard-low", sc.s, sc.l, &late, &sc.f), RULE_FIRED);
	assert_int_equal(sc.f.owner, OWNER_ROCKSDB_MEMTABLES);
	judge_holds(sc.f.observation, "most of it rocksdb-memtables, by 90.0 MiB to 360.0 MiB.");
	/* A budget that is overrun is the nearer cause: the heap may well grow up to its -Xmx. */
	struct history_view history = { .floor = growing(TREND_GROWING, 100) };
	history.owners[OWNER_JAVA_HEAP] = growing(TREND_GROWING, 90);
	sc.l->budgets[0] = (struct ledger_budget){ .name = "jvm-overhead",
						   .budget_bytes = 100 * MIB,
						   .actual_bytes = qty_measured(240 * MIB),
						   .owners = 1ull << OWNER_NATIVE_OTHER };
	sc.l->n_budgets = 1;
	assert_int_equal(judge_over_time("freeboard-low", sc.s, sc.l, &history, &sc.f), RULE_FIRED);
	assert_int_equal(sc.f.owner, OWNER_NATIVE_OTHER);
	scene_done(&sc);
}

static void native_other_is_named_with_what_may_stand_in_it(void **state)
{
	(void)state;
	struct scene sc = scene_new();
	free(sc.l);
	sc.s->told_limit = limit_set(650 * MIB);
	snap_flink(sc.s, 500 * MIB, 512 * MIB, 0, 50 * MIB, 100 * MIB, 900 * MIB);
	sc.s->engine.backend = BACKEND_ROCKSDB;
	sc.l = snap_ledger(sc.s);
	sc.l->lines[OWNER_JAVA_HEAP].bytes = qty_measured(10 * MIB);
	assert_int_equal(judge("freeboard-low", sc.s, sc.l, &sc.f), RULE_FIRED);
	judge_whole(&sc.f);
	assert_int_equal(sc.f.owner, OWNER_NATIVE_OTHER);
	judge_holds(
		sc.f.observation,
		"It may be what stands in it unread: direct-buffers, rocksdb-block-cache, rocksdb-memtables, rocksdb-table-readers.");

	sc.s->engine.rocksdb.memtables_in_cache = true; /* then they are no line of native-other's */
	sc.l->lines[OWNER_ROCKSDB_BLOCK_CACHE].bytes = qty_measured(MIB);
	assert_int_equal(judge("freeboard-low", sc.s, sc.l, &sc.f), RULE_FIRED);
	judge_holds(sc.f.observation, "unread: direct-buffers, rocksdb-table-readers.");
	scene_done(&sc);
}

/* Flink does not start with a factor below 1, and a limit below what it shares out is no remedy. */
static void the_limit_factor_is_never_below_one(void **state)
{
	(void)state;
	struct scene sc = scene_new();
	snap_flink(sc.s, 500 * MIB, 0, 0, 0, 0, 4096ull * MIB);
	set_room(sc.l, 1024 * MIB, 1);
	assert_int_equal(judge("freeboard-low", sc.s, sc.l, &sc.f), RULE_FIRED);
	assert_null(strstr(sc.f.change, "limit-factor"));
	judge_holds(sc.f.change, "to 4.00 GiB (4096Mi), what taskmanager.memory.process.size shares out");
	snap_flink(sc.s, 500 * MIB, 0, 0, 0, 0, 4090ull * MIB);
	assert_int_equal(judge("freeboard-low", sc.s, sc.l, &sc.f), RULE_FIRED);
	judge_holds(sc.f.change, "limit-factor to 1.01");
	scene_done(&sc);
}

/* The change gives what it says: the factor times the process size is no less than the new limit. */
static void the_limit_factor_gives_enough(void **state)
{
	(void)state;
	struct scene sc = scene_new();
	for (uint64_t process = 900; process < 40000; process += 777) {
		snap_flink(sc.s, 500 * MIB, 0, 0, 0, 0, process * MIB);
		set_room(sc.l, process * MIB, 1);
		assert_int_equal(judge("freeboard-low", sc.s, sc.l, &sc.f), RULE_FIRED);
		const char *factor = strstr(sc.f.change, "limit-factor to "), *mib = strchr(sc.f.change, '(');
		assert_non_null(factor);
		assert_non_null(mib);
		double f = strtod(factor + strlen("limit-factor to "), NULL);
		double wanted = strtod(mib + 1, NULL);
		assert_true(f * (double)process >= wanted - 0.001);
		assert_true((f - 0.01) * (double)process < wanted);
		assert_true(wanted * MIB > (double)sc.l->floor_bytes.bytes);
	}
	scene_done(&sc);
}

static void demand_borders(void **state)
{
	(void)state;
	struct scene sc = scene_new();
	free(sc.l);
	sc.s->cgroup.max = limit_set(GIB);
	sc.l = snap_ledger(sc.s);
	uint64_t expected = sc.l->expected.bytes.bytes;
	sc.l->limit = limit_set(expected);
	assert_int_equal(judge("demand-over-limit", sc.s, sc.l, &sc.f), RULE_SILENT);
	sc.l->limit = limit_set(expected - 1);
	assert_int_equal(judge("demand-over-limit", sc.s, sc.l, &sc.f), RULE_FIRED);
	sc.l->limit = limit_set(expected - 30 * MIB);
	assert_int_equal(judge("demand-over-limit", sc.s, sc.l, &sc.f), RULE_FIRED);
	judge_whole(&sc.f);
	judge_figure(&sc.f, "expected_demand_bytes", expected);
	judge_figure(&sc.f, "limit_bytes", expected - 30 * MIB);
	assert_non_null(strstr(sc.f.observation, "30.0 MiB more than the limit"));
	for (size_t i = 0; i < sc.l->expected.n_parts; i++) { /* a sum that can be checked by hand */
		char size[UNITS_TEXT_CAP];
		assert_non_null(strstr(sc.f.observation, sc.l->expected.parts[i].what));
		assert_non_null(strstr(sc.f.observation, units_format(size, sc.l->expected.parts[i].bytes)));
	}
	assert_non_null(strstr(sc.f.observation, "Most still to come: -Xmx, 100.0 MiB"));
	assert_int_equal(sc.f.owner, OWNER_JAVA_HEAP);
	assert_non_null(strstr(sc.f.change, "leaving -Xmx as it is"));
	scene_done(&sc);
}

static void demand_inputs(void **state)
{
	(void)state;
	struct scene sc = scene_new();
	assert_int_equal(judge("demand-over-limit", sc.s, sc.l, &sc.f), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "memory limit");
	sc.l->limit = limit_set(GIB);
	sc.l->expected.bytes = (struct qty){ 0 };
	sc.l->expected.missing = "-Xmx";
	assert_int_equal(judge("demand-over-limit", sc.s, sc.l, &sc.f), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "expected demand: -Xmx unread");
	sc.l->expected = (struct demand){ 0 };
	assert_int_equal(judge("demand-over-limit", sc.s, sc.l, &sc.f), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "smaps of a JVM");
	scene_done(&sc);
}

static void process_size_borders(void **state)
{
	(void)state;
	static const struct {
		uint64_t limit, process;
		bool fires, decimal;
	} table[] = {
		{ 4096ull * MIB, 4096ull * MIB, false, false },
		{ 4095ull * MIB, 4096ull * MIB, false, false }, /* the slack of 1 MiB */
		{ 4095ull * MIB - 1, 4096ull * MIB, true, false },
		{ 4000000000, 4096ull * MIB, true, true }, /* 4G against 4g */
		{ 8192ull * MIB, 4096ull * MIB, false, false },
		{ UINT64_MAX, 4096ull * MIB, false, false }, /* limit plus slack must not wrap */
		{ 2000ull * MIB, 4096ull * MIB, true, false },
	};
	struct scene sc = scene_new();
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		snap_flink(sc.s, 1000 * MIB, 0, 0, 0, 0, table[i].process);
		sc.l->limit = limit_set(table[i].limit);
		enum rule_answer answer = judge("limit-below-process-size", sc.s, sc.l, &sc.f);
		if (answer != (table[i].fires ? RULE_FIRED : RULE_SILENT))
			print_error("limit %llu\n", (unsigned long long)table[i].limit);
		assert_int_equal(answer, table[i].fires ? RULE_FIRED : RULE_SILENT);
		if (!table[i].fires)
			continue;
		judge_whole(&sc.f);
		judge_figure(&sc.f, "limit_bytes", table[i].limit);
		judge_figure(&sc.f, "process_size_bytes", table[i].process);
		assert_int_equal(strstr(sc.f.observation, "round decimal number") != NULL, table[i].decimal);
		/* What it tells to set fits the limit. */
		const char *size = strstr(sc.f.change, "process.size to ");
		assert_non_null(size);
		assert_true(strtoull(size + strlen("process.size to "), NULL, 10) * MIB <= table[i].limit);
	}
	sc.s->engine.kind = ENGINE_FLINK_JOBMANAGER;
	assert_int_equal(judge("limit-below-process-size", sc.s, sc.l, &sc.f), RULE_FIRED);
	assert_non_null(strstr(sc.f.change, "jobmanager.memory.process.size"));
	/* Where the room is short already, all three findings on the limit say to raise it. */
	sc.l->expected.bytes = qty_of(2001ull * MIB, QTY_INFERRED);
	assert_int_equal(judge("limit-below-process-size", sc.s, sc.l, &sc.f), RULE_FIRED);
	assert_non_null(strstr(sc.f.change, "raise the container's memory limit to 4.00 GiB (4096Mi)"));
	sc.l->expected.bytes = qty_of(2000ull * MIB, QTY_INFERRED);
	assert_int_equal(judge("limit-below-process-size", sc.s, sc.l, &sc.f), RULE_FIRED);
	assert_non_null(strstr(sc.f.change, "process.size to "));
	/* Short of room is what freeboard-low calls so: its cap counts, 1 GiB of 40 is enough. */
	snap_flink(sc.s, 1000 * MIB, 0, 0, 0, 0, 41 * GIB);
	sc.l->limit = limit_set(40 * GIB);
	sc.l->freeboard_bytes = (struct signed_qty){ (int64_t)GIB, true };
	assert_int_equal(judge("limit-below-process-size", sc.s, sc.l, &sc.f), RULE_FIRED);
	assert_non_null(strstr(sc.f.change, "process.size to "));
	sc.l->freeboard_bytes.bytes--;
	assert_int_equal(judge("limit-below-process-size", sc.s, sc.l, &sc.f), RULE_FIRED);
	assert_non_null(strstr(sc.f.change, "raise the container's memory limit"));
	scene_done(&sc);
}

static void process_size_inputs(void **state)
{
	(void)state;
	struct scene sc = scene_new();
	sc.s->engine.kind = ENGINE_KAFKA_STREAMS; /* plans no process size */
	assert_int_equal(judge("limit-below-process-size", sc.s, sc.l, &sc.f), RULE_SILENT);
	sc.s->engine.kind = ENGINE_FLINK_TASKMANAGER;
	assert_int_equal(judge("limit-below-process-size", sc.s, sc.l, &sc.f), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "memory limit");
	judge_missing(&sc.f, "Flink's budget");
	scene_done(&sc);
}

/* Figures near the ends of their types: no cut sentence, no negative size. */
static void extreme_figures(void **state)
{
	(void)state;
	static const uint64_t sizes[] = { 1, 1023, MIB - 1, 1000 * GIB + 123456789, INT64_MAX - 1, UINT64_MAX };
	struct scene sc = scene_new();
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		uint64_t size = sizes[i];
		snap_flink(sc.s, size, size, size, size, 0, size);
		sc.s->engine.flink.process_bytes = qty_measured(size);
		sc.l->limit = limit_set(size / 3 + 1);
		sc.l->limit_told = true;
		sc.l->floor_bytes = qty_measured(size);
		sc.l->freeboard_bytes = (struct signed_qty){ -(int64_t)(size / 2), true };
		sc.l->freeboard_level = i % 2 ? FREEBOARD_PROCESSES : FREEBOARD_CONTAINER;
		sc.l->expected = (struct demand){ .bytes = qty_measured(size), .n_parts = 5 };
		static const char *const what[] = { "-Xmx", "direct in use", "metaspace in use", "rocksdb",
						    "1.1 x everything else" };
		for (int part = 0; part < 5; part++)
			sc.l->expected.parts[part] = (struct demand_part){ .what = what[part], .bytes = size };
		sc.l->n_budgets = i / 2 % 2; /* without: who grew is named */
		sc.l->budgets[0] = (struct ledger_budget){ "jvm-overhead", 1, qty_measured(size),
							   (uint64_t)1 << OWNER_ROCKSDB_TABLE_READERS, NULL };
		sc.l->listed[OWNER_ROCKSDB_TABLE_READERS] = true;
		sc.l->lines[OWNER_ROCKSDB_TABLE_READERS].bytes = qty_measured(size);
		static const char *const rules[] = { "freeboard-low", "demand-over-limit", "limit-below-process-size" };
		for (int rule = 0; rule < 3; rule++) {
			/* With a history more is said. */
			static const struct history_view history = {
				.peak_other_bytes = { UINT64_MAX / 8, true },
				.floor = { .kind = TREND_GROWING, .slope = 1e300, .span_ms = UINT64_MAX },
				.owners[OWNER_ROCKSDB_TABLE_READERS] = { .kind = TREND_GROWING,
									 .slope = 1e300,
									 .span_ms = UINT64_MAX },
			};
			sc.l->expected.parts[4].owners = (uint64_t)1 << OWNER_NATIVE_OTHER;
			if (judge_over_time(rules[rule], sc.s, sc.l, i % 2 ? &history : NULL, &sc.f) != RULE_FIRED)
				continue;
			if (size > 1024)
				judge_whole(&sc.f);
			for (size_t n = 0; n < sc.f.n_evidence; n++)
				if (strcmp(sc.f.evidence[n].name, "freeboard_bytes") != 0)
					assert_true(sc.f.evidence[n].value >= 0);
		}
	}
	scene_done(&sc);
}

/* The words around the figures: which side of the limit, how far, and to what it should be raised. */
static void what_the_sentences_say(void **state)
{
	(void)state;
	struct scene sc = scene_new();
	set_room(sc.l, 1000 * MIB, 50 * MIB);
	(void)judge("freeboard-low", sc.s, sc.l, &sc.f);
	judge_holds(sc.f.title, "50.0 MiB left below the limit of 1000 MiB");
	judge_holds(sc.f.observation, "it can grow 50.0 MiB more before it is killed.");
	judge_holds(sc.f.observation, "The largest owner: java-heap 400.0 MiB.");
	judge_holds(sc.f.change,
		    "from 1000 MiB to 1.06 GiB (1088Mi), leaving -Xmx as it is"); /* 950 + 125, in steps of 64 */
	set_room(sc.l, 1000 * MIB, 0);
	(void)judge("freeboard-low", sc.s, sc.l, &sc.f);
	judge_holds(sc.f.title, "0 B left below");
	set_room(sc.l, 1000 * MIB, -5 * MIB);
	(void)judge("freeboard-low", sc.s, sc.l, &sc.f);
	judge_holds(sc.f.title, "5.0 MiB past the limit of 1000 MiB");
	judge_holds(sc.f.observation, "cannot reclaim 1005 MiB, 5.0 MiB more than the container's memory limit");
	snap_flink(sc.s, 1000 * MIB, 0, 0, 0, 0, 4096ull * MIB);
	sc.l->limit = limit_set(2000ull * MIB);
	(void)judge("limit-below-process-size", sc.s, sc.l, &sc.f);
	judge_holds(sc.f.observation, "2.05 GiB of the plan are not there.");
	scene_done(&sc);
}

/* The part with most still to come is named, unless a budget is overrun: then that is. */
static void demand_names_what_is_to_come(void **state)
{
	(void)state;
	struct scene sc = scene_new();
	struct ledger *l = sc.l;
	l->limit = limit_set(850 * MIB); /* 150 MiB too little */
	l->expected = (struct demand){ .bytes = qty_measured(1000 * MIB), .n_parts = 5 };
	static const char *const what[] = { "-Xmx", "direct in use", "metaspace in use", "rocksdb",
					    "1.1 x everything else" };
	static const uint64_t mib[] = { 410, 30, 20, 500, 40 };
	static const uint64_t owners[] = { 1 << OWNER_JAVA_HEAP | 1 << OWNER_ZGC_HEAP, 1 << OWNER_DIRECT_BUFFERS,
					   1 << OWNER_METASPACE,
					   1 << OWNER_ROCKSDB_BLOCK_CACHE | 1 << OWNER_ROCKSDB_MEMTABLES |
						   1 << OWNER_ROCKSDB_TABLE_READERS,
					   1 << OWNER_NATIVE_OTHER };
	for (int i = 0; i < 5; i++)
		l->expected.parts[i] =
			(struct demand_part){ .what = what[i], .bytes = mib[i] * MIB, .owners = owners[i] };
	for (int owner = OWNER_ROCKSDB_BLOCK_CACHE; owner <= OWNER_ROCKSDB_TABLE_READERS; owner++) {
		l->listed[owner] = true;
		l->lines[owner].bytes = qty_measured(100 * MIB);
	}
	assert_int_equal(judge("demand-over-limit", sc.s, l, &sc.f), RULE_FIRED);
	judge_holds(
		sc.f.observation,
		"-Xmx 410.0 MiB; direct in use 30.0 MiB; metaspace in use 20.0 MiB; rocksdb 500.0 MiB; 1.1 x everything else 40.0 MiB.");
	judge_holds(sc.f.observation, "Most still to come: rocksdb, 200.0 MiB.");
	assert_int_equal(sc.f.owner, OWNER_ROCKSDB_BLOCK_CACHE);
	assert_null(strstr(sc.f.observation, "would not fit"));
	l->limit = limit_set(800 * MIB); /* without it, it would just fit */
	(void)judge("demand-over-limit", sc.s, l, &sc.f);
	assert_int_equal(sc.f.owner, OWNER_ROCKSDB_BLOCK_CACHE);

	/* What is to come is not the matter where it would not fit without that: who is there is. */
	l->limit = limit_set(799 * MIB);
	(void)judge("demand-over-limit", sc.s, l, &sc.f);
	judge_holds(sc.f.observation, "It would not fit without that either. The largest owner: java-heap 400.0 MiB.");
	assert_int_equal(sc.f.owner, OWNER_JAVA_HEAP);

	l->lines[OWNER_ROCKSDB_BLOCK_CACHE].bytes = (struct qty){ 0 }; /* unread: what is to come is not known */
	(void)judge("demand-over-limit", sc.s, l, &sc.f);
	judge_holds(sc.f.observation, "Most still to come: -Xmx, 10.0 MiB.");
	l->listed[OWNER_ZGC_HEAP] = true;
	l->lines[OWNER_ZGC_HEAP].bytes = qty_measured(10 * MIB);
	(void)judge("demand-over-limit", sc.s, l, &sc.f);
	assert_null(strstr(sc.f.observation, "Most still to come"));

	/* Of two overrun budgets the one by more; of its owners the larger. */
	l->n_budgets = 3;
	l->budgets[0] = (struct ledger_budget){ "heap", 390 * MIB, qty_measured(400 * MIB),
						(uint64_t)1 << OWNER_JAVA_HEAP, NULL };
	l->budgets[1] =
		(struct ledger_budget){ "jvm-overhead", 100 * MIB, qty_measured(240 * MIB),
					(uint64_t)1 << OWNER_CODE_CACHE | (uint64_t)1 << OWNER_NATIVE_OTHER, NULL };
	l->budgets[2] = (struct ledger_budget){ "direct", 50 * MIB, qty_measured(50 * MIB),
						(uint64_t)1 << OWNER_DIRECT_BUFFERS, NULL };
	l->listed[OWNER_ZGC_HEAP] = false;
	(void)judge("demand-over-limit", sc.s, l, &sc.f);
	judge_holds(sc.f.observation,
		    "Over its budget: jvm-overhead, 240.0 MiB against 100.0 MiB, most of it native-other 200.0 MiB.");
	assert_null(strstr(sc.f.observation, "Most still to come"));
	assert_int_equal(sc.f.owner, OWNER_NATIVE_OTHER);
	scene_done(&sc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(freeboard_borders),
		cmocka_unit_test(page_cache_alarms_nobody),
		cmocka_unit_test(freeboard_of_the_pod),
		cmocka_unit_test(freeboard_beside_others),
		cmocka_unit_test(who_grows_past_the_limit_demands),
		cmocka_unit_test(freeboard_inputs),
		cmocka_unit_test(freeboard_names_an_owner),
		cmocka_unit_test(freeboard_names_who_grew),
		cmocka_unit_test(native_other_is_named_with_what_may_stand_in_it),
		cmocka_unit_test(the_limit_factor_gives_enough),
		cmocka_unit_test(the_limit_factor_is_never_below_one),
		cmocka_unit_test(demand_borders),
		cmocka_unit_test(demand_inputs),
		cmocka_unit_test(process_size_borders),
		cmocka_unit_test(process_size_inputs),
		cmocka_unit_test(extreme_figures),
		cmocka_unit_test(what_the_sentences_say),
		cmocka_unit_test(demand_names_what_is_to_come),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
