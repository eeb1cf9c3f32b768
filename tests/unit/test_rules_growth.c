/* SPDX-License-Identifier: Apache-2.0 */
/* limit-forecast, native-growth, step-growth: what fires, what is just within the level, what is inconclusive, and the texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/scene.h"

enum { HOUR = 3600, DAY = 86400 };

/* A plain JVM under 2 GiB that has been watched for ten hours. */
static struct trend slope_of(enum trend_kind kind, double mib_an_hour, uint64_t span_s)
{
	double slope = mib_an_hour * MIB / HOUR;
	return (struct trend){ kind, slope, slope, slope, 0, 0, span_s * 1000, slope, slope };
}

static struct scene scene_of(void)
{
	struct scene sc = { .s = snap_new(&snap_plain) };
	sc.s->cgroup.max = limit_set(2 * GIB);
	sc.l = snap_ledger(sc.s);
	sc.h.span_ms = 10ull * HOUR * 1000;
	sc.h.scans = 600;
	sc.h.forecast = (struct forecast){ .kind = FORECAST_NOT_GROWING,
					   .earliest_s = FORECAST_NEVER,
					   .likely_s = FORECAST_NEVER,
					   .latest_s = FORECAST_NEVER,
					   .owner = -1 };
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		sc.h.owners[owner] = slope_of(TREND_FLAT, 0, 10 * HOUR);
	return sc;
}

/* Without a history no rule that needs one says a word. */
static void a_report_is_not_asked(void **state)
{
	(void)state;
	struct scene sc = scene_of();
	for (size_t i = 0; i < rule_count; i++)
		if (rule_table[i].needs_history) {
			assert_int_equal(judge(rule_table[i].name, sc.s, sc.l, &sc.f), RULE_SILENT);
			assert_int_equal(sc.f.n_missing, 0);
		}
	struct thresholds thresholds;
	struct verdict *verdict = calloc(1, sizeof *verdict);
	thresholds_init(&thresholds);
	struct rule_input input = { .snapshot = sc.s, .ledger = sc.l, .thresholds = &thresholds };
	rules_run(&input, verdict);
	for (size_t i = 0; i < verdict->n_inconclusive; i++)
		assert_false(rules_find(str_of(verdict->inconclusive[i].rule))->needs_history);
	free(verdict);
	scene_done(&sc);
}

static void forecast_levels(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		enum forecast_kind kind;
		uint64_t likely_s, span_s;
		enum rule_answer answer;
		enum severity severity;
	} table[] = {
		{ "a week", FORECAST_REACHES, 168ull * HOUR, 26 * HOUR, RULE_SILENT, 0 },
		{ "a second less", FORECAST_REACHES, 168ull * HOUR - 1, 26 * HOUR, RULE_FIRED, SEVERITY_NOTICE },
		{ "a day", FORECAST_REACHES, DAY, 10 * HOUR, RULE_FIRED, SEVERITY_NOTICE },
		{ "a second less", FORECAST_REACHES, DAY - 1, 10 * HOUR, RULE_FIRED, SEVERITY_WARNING },
		{ "an hour", FORECAST_REACHES, HOUR, 10 * HOUR, RULE_FIRED, SEVERITY_WARNING },
		{ "a second less", FORECAST_REACHES, HOUR - 1, 10 * HOUR, RULE_FIRED, SEVERITY_CRITICAL },
		{ "now", FORECAST_REACHES, 0, 10 * HOUR, RULE_FIRED, SEVERITY_CRITICAL },
		{ "three times what was watched", FORECAST_REACHES, 6 * HOUR, 2 * HOUR, RULE_FIRED, SEVERITY_WARNING },
		{ "a second more", FORECAST_REACHES, 6 * HOUR + 1, 2 * HOUR, RULE_INCONCLUSIVE, 0 },
		{ "minutes look further", FORECAST_REACHES, HOUR, HOUR / 4, RULE_FIRED, SEVERITY_WARNING },
		{ "a pace that falls", FORECAST_DECELERATING, HOUR, 10 * HOUR, RULE_SILENT, 0 },
		{ "no growth", FORECAST_NOT_GROWING, FORECAST_NEVER, 10 * HOUR, RULE_SILENT, 0 },
		{ "too few samples", FORECAST_INCONCLUSIVE, FORECAST_NEVER, 60, RULE_INCONCLUSIVE, 0 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of();
		sc.h.span_ms = table[i].span_s * 1000;
		sc.h.owners[OWNER_NATIVE_OTHER].span_ms = table[i].span_s * 1000;
		sc.h.forecast = (struct forecast){ .kind = table[i].kind,
						   .earliest_s = table[i].likely_s / 2,
						   .likely_s = table[i].likely_s,
						   .latest_s = FORECAST_NEVER,
						   .owner = OWNER_NATIVE_OTHER,
						   .owner_bytes = 300 * MIB,
						   .trend = sc.h.owners[OWNER_NATIVE_OTHER] };
		enum rule_answer got = scene_ask("limit-forecast", &sc);
		if (got != table[i].answer || sc.f.severity != table[i].severity)
			fail_msg("%zu, %s: %d %d", i, table[i].what, (int)got, (int)sc.f.severity);
		scene_expect("limit-forecast", &sc, table[i].answer, table[i].what);
	}
}

static void forecast_texts(void **state)
{
	(void)state;
	struct scene sc = scene_of();
	sc.h.forecast = (struct forecast){ .kind = FORECAST_REACHES,
					   .earliest_s = 4 * HOUR,
					   .likely_s = 5 * HOUR + 20 * 60,
					   .latest_s = 7 * HOUR,
					   .owner = OWNER_NATIVE_OTHER,
					   .owner_bytes = 700 * MIB,
					   .trend = sc.h.owners[OWNER_NATIVE_OTHER] };
	sc.h.spike_bytes = 120 * MIB;
	assert_int_equal(scene_ask("limit-forecast", &sc), RULE_FIRED);
	judge_whole(&sc.f);
	assert_string_equal(sc.f.title,
			    "the limit of 2.00 GiB is reached in about 5 h if native-other goes on growing");
	judge_holds(sc.f.observation, "in 5 h 20 min; by the spread");
	judge_holds(sc.f.observation, "between 4 h 0 min and 7 h 0 min");
	judge_holds(sc.f.observation, "700.0 MiB more until then");
	judge_holds(sc.f.observation, "Peaks of 120.0 MiB");
	judge_holds(sc.f.change, "from 2.00 GiB to 2.50 GiB"); /* a day more is more than a quarter of the limit */
	assert_int_equal(sc.f.owner, OWNER_NATIVE_OTHER);
	assert_int_equal(sc.f.turns[0].knob, KNOB_LIMIT);
	/* Nobody is named where no scan could be made. */
	sc.h.forecast.owner = -1;
	sc.h.forecast.trend = slope_of(TREND_GROWING, 60, 10 * HOUR);
	assert_int_equal(scene_ask("limit-forecast", &sc), RULE_FIRED);
	judge_holds(sc.f.title, "if what it holds goes on growing");
	scene_done(&sc);
	sc = scene_of();
	sc.l->limit = (struct limit){ 0, LIMIT_NONE };
	sc.l->freeboard_bytes.known = false;
	assert_int_equal(scene_ask("limit-forecast", &sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "memory limit");
	scene_done(&sc);
	sc = scene_of();
	sc.h.settling_s = 240;
	sc.h.forecast.kind = FORECAST_INCONCLUSIVE;
	assert_int_equal(scene_ask("limit-forecast", &sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "judged again in 4 min");
	scene_done(&sc);
}

/* The room of the plain JVM: 2048 MiB less its floor. */
static double room_mib(const struct scene *sc)
{
	return (double)sc->l->freeboard_bytes.bytes / MIB;
}

/* What has a bound that fits ends there: it is told where the bound does not fit, or was passed. */
static void forecast_within_a_plan(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		enum owner owner;
		bool may_warm;
		int64_t bound_mib; /* more than is held; of native memory only where it may warm up */
		enum rule_answer answer;
	} table[] = {
		{ "native memory without a plan", OWNER_NATIVE_OTHER, false, 0, RULE_FIRED },
		{ "a cache that nobody reads, and that fits", OWNER_NATIVE_OTHER, true, 500, RULE_SILENT },
		{ "one that does not", OWNER_NATIVE_OTHER, true, 2500, RULE_FIRED },
		{ "a block cache that fits", OWNER_ROCKSDB_BLOCK_CACHE, false, 500, RULE_SILENT },
		{ "one that does not", OWNER_ROCKSDB_BLOCK_CACHE, false, 2500, RULE_FIRED },
		{ "one that is past its budget by fragments", OWNER_ROCKSDB_BLOCK_CACHE, false, -50, RULE_SILENT },
		{ "by what iterators pin", OWNER_ROCKSDB_BLOCK_CACHE, false, -100, RULE_FIRED },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of();
		struct ledger_line *line = &sc.l->lines[table[i].owner];
		assert_true(room_mib(&sc) > 1150 && room_mib(&sc) < 1350);
		sc.l->listed[table[i].owner] = true;
		line->bytes = qty_measured(1000 * MIB);
		uint64_t bound = (uint64_t)((1000 + table[i].bound_mib) * (int64_t)MIB);
		if (table[i].owner == OWNER_ROCKSDB_BLOCK_CACHE)
			line->bound = limit_set(bound);
		else if (table[i].may_warm)
			sc.h.native_soft_bound_bytes = qty_of(bound, QTY_INFERRED);
		sc.h.native_may_warm = table[i].may_warm;
		sc.h.forecast = (struct forecast){ .kind = FORECAST_REACHES,
						   .earliest_s = 1000,
						   .likely_s = 1200,
						   .latest_s = 1500,
						   .owner = (int)table[i].owner,
						   .owner_bytes = 1200 * MIB,
						   .trend = slope_of(TREND_GROWING, 3600, 600) };
		scene_expect("limit-forecast", &sc, table[i].answer, table[i].what);
	}
}

static void native_levels(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		enum trend_kind kind;
		double mib_an_hour;
		uint64_t span_s;
		uint32_t settling_s;
		enum rule_answer answer;
	} table[] = {
		{ "a leak of 60 MiB an hour", TREND_GROWING, 60, 10 * HOUR, 0, RULE_FIRED },
		{ "of 45", TREND_GROWING, 45, 10 * HOUR, 0, RULE_FIRED },
		{ "of 30, too far for ten hours", TREND_GROWING, 30, 10 * HOUR, 0, RULE_INCONCLUSIVE },
		{ "over a day, of 4: some two weeks", TREND_GROWING, 4, 25 * HOUR, 0, RULE_FIRED },
		{ "of 3: more than that", TREND_GROWING, 3, 25 * HOUR, 0, RULE_SILENT },
		{ "a pace that falls", TREND_DECELERATING, 60, 10 * HOUR, 0, RULE_SILENT },
		{ "none", TREND_FLAT, 60, 10 * HOUR, 0, RULE_SILENT },
		{ "it shrinks", TREND_SHRINKING, -60, 10 * HOUR, 0, RULE_SILENT },
		{ "32 MiB in all", TREND_GROWING, 16, 2 * HOUR, 0, RULE_SILENT },
		{ "some more, but what is left was watched too short", TREND_GROWING, 17, 2 * HOUR, 0,
		  RULE_INCONCLUSIVE },
		{ "a minute too short", TREND_GROWING, 1000, 2 * HOUR - 60, 0, RULE_INCONCLUSIVE },
		{ "long enough", TREND_GROWING, 1000, 2 * HOUR, 0, RULE_FIRED },
		{ "right after a rebalance", TREND_GROWING, 60, 10 * HOUR, 10, RULE_INCONCLUSIVE },
		{ "too few points", TREND_TOO_FEW, 0, 10 * HOUR, 0, RULE_INCONCLUSIVE },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of();
		assert_true(room_mib(&sc) > 1150 && room_mib(&sc) < 1350); /* 4 MiB an hour: 12 to 14 days */
		sc.h.owners[OWNER_NATIVE_OTHER] = slope_of(table[i].kind, table[i].mib_an_hour, table[i].span_s);
		sc.h.span_ms = table[i].span_s * 1000;
		sc.h.settling_s = table[i].settling_s;
		scene_expect("native-growth", &sc, table[i].answer, table[i].what);
	}
}

static void native_soft_bound(void **state)
{
	(void)state;
	struct scene sc = scene_of();
	uint64_t native = sc.l->lines[OWNER_NATIVE_OTHER].bytes.bytes;
	sc.h.owners[OWNER_NATIVE_OTHER] = slope_of(TREND_GROWING, 60, 10 * HOUR);
	/* A warm-up within what was set aside, and a sixteenth past it. */
	sc.h.native_soft_bound_bytes = qty_of(native, QTY_INFERRED);
	assert_int_equal(scene_ask("native-growth", &sc), RULE_SILENT);
	sc.h.native_soft_bound_bytes = qty_of(native / 17 * 16 + 16, QTY_INFERRED);
	assert_int_equal(scene_ask("native-growth", &sc), RULE_SILENT);
	sc.h.native_soft_bound_bytes = qty_of(native / 17 * 16 - 16, QTY_INFERRED);
	assert_int_equal(scene_ask("native-growth", &sc), RULE_FIRED);
	judge_whole(&sc.f);
	judge_holds(sc.f.observation, "It is past the");
	assert_int_equal(sc.f.severity, SEVERITY_WARNING);
	/* Unread RocksDB without any bound may warm up: a guess is no warning. */
	sc.h.native_soft_bound_bytes = (struct qty){ 0 };
	sc.l->listed[OWNER_ROCKSDB_BLOCK_CACHE] = true;
	sc.l->lines[OWNER_ROCKSDB_BLOCK_CACHE].bytes = (struct qty){ 0 };
	assert_int_equal(scene_ask("native-growth", &sc), RULE_FIRED);
	assert_int_equal(sc.f.severity, SEVERITY_NOTICE);
	judge_holds(sc.f.competing_causes[2], "which no metric names here");
	scene_done(&sc);
}

static void native_texts(void **state)
{
	(void)state;
	struct scene sc = scene_of();
	sc.h.owners[OWNER_NATIVE_OTHER] = slope_of(TREND_GROWING, 60, 10 * HOUR);
	sc.h.events[EVENT_RESTART] = 2;
	assert_int_equal(scene_ask("native-growth", &sc), RULE_FIRED);
	assert_string_equal(sc.f.title, "native memory grows steadily, by 60.0 MiB an hour");
	judge_figure(&sc.f, "grown_bytes", 600 * MIB);
	judge_holds(sc.f.observation, "2 restarts, 0 rebalances");
	judge_holds(sc.f.change, "NativeMemoryTracking");
	assert_int_equal(sc.f.turns[0].knob, KNOB_SIGHT);
	/* No limit: it is told, and not how long it lasts. */
	sc.l->limit = (struct limit){ 0, LIMIT_NONE };
	sc.l->freeboard_bytes.known = false;
	assert_int_equal(scene_ask("native-growth", &sc), RULE_FIRED);
	assert_int_equal(sc.f.severity, SEVERITY_NOTICE);
	judge_whole(&sc.f);
	/* No scan, no composition. */
	sc.l->lines[OWNER_NATIVE_OTHER].bytes = (struct qty){ 0 };
	assert_int_equal(scene_ask("native-growth", &sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "smaps");
	scene_done(&sc);
}

static void step_levels(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		enum history_event kind;
		struct steps steps;
		uint32_t share_bp;
		enum rule_answer answer, native;
		enum severity severity;
	} table[] = {
		{ "three of 100 MiB",
		  EVENT_RESTART,
		  { 3, 100 * MIB, true, 12 },
		  9000,
		  RULE_FIRED,
		  RULE_SILENT,
		  SEVERITY_WARNING },
		{ "19 left",
		  EVENT_REBALANCE,
		  { 5, 60 * MIB, true, 19 },
		  9000,
		  RULE_FIRED,
		  RULE_SILENT,
		  SEVERITY_WARNING },
		{ "20 left",
		  EVENT_REBALANCE,
		  { 5, 60 * MIB, true, 20 },
		  9000,
		  RULE_FIRED,
		  RULE_SILENT,
		  SEVERITY_NOTICE },
		{ "a byte past 16 MiB, and past half of the growth",
		  EVENT_RESTART,
		  { 3, 16 * MIB + 1, true, 60 },
		  5001,
		  RULE_FIRED,
		  RULE_SILENT,
		  SEVERITY_NOTICE },
		{ "16 MiB", EVENT_RESTART, { 3, 16 * MIB, true, 60 }, 9000, RULE_SILENT, RULE_FIRED, 0 },
		{ "half of the growth", EVENT_RESTART, { 3, 100 * MIB, true, 12 }, 5000, RULE_SILENT, RULE_FIRED, 0 },
		{ "not alike", EVENT_RESTART, { 4, 100 * MIB, false, 12 }, 9000, RULE_SILENT, RULE_FIRED, 0 },
		{ "two of them",
		  EVENT_RESTART,
		  { 2, 100 * MIB, false, 12 },
		  9000,
		  RULE_INCONCLUSIVE,
		  RULE_INCONCLUSIVE,
		  0 },
		{ "two that went nowhere", EVENT_RESTART, { 2, 0, false, 0 }, 0, RULE_SILENT, RULE_FIRED, 0 },
		{ "checkpoints are none",
		  EVENT_CHECKPOINT,
		  { 3, 100 * MIB, true, 12 },
		  9000,
		  RULE_SILENT,
		  RULE_FIRED,
		  0 },
		{ "none", EVENT_RESTART, { 0, 0, false, 0 }, 0, RULE_SILENT, RULE_FIRED, 0 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of();
		sc.h.steps[table[i].kind] = table[i].steps;
		sc.h.steps_share_bp[table[i].kind] = table[i].share_bp;
		/* What lies between steps is a slope, which native-growth tells; what they explain it leaves to them. */
		sc.h.owners[OWNER_NATIVE_OTHER] = slope_of(TREND_GROWING, 60, 10 * HOUR);
		enum rule_answer got = scene_ask("native-growth", &sc);
		if (got != table[i].native)
			fail_msg("%s: native-growth %d", table[i].what, (int)got);
		got = scene_ask("step-growth", &sc);
		if (sc.f.severity != table[i].severity)
			fail_msg("%s: %d", table[i].what, (int)sc.f.severity);
		scene_expect("step-growth", &sc, table[i].answer, table[i].what);
	}
}

static void step_texts(void **state)
{
	(void)state;
	struct scene sc = scene_of();
	sc.h.steps[EVENT_RESTART] = (struct steps){ 4, 100 * MIB, true, 12 };
	sc.h.steps_share_bp[EVENT_RESTART] = 9500;
	assert_int_equal(scene_ask("step-growth", &sc), RULE_FIRED);
	assert_string_equal(sc.f.title, "each restart leaves 100.0 MiB behind: 12 more until the limit");
	judge_holds(sc.f.observation, "each of the last 4 restarts");
	assert_int_equal(sc.f.excess_bytes, 400 * MIB);
	sc.l->freeboard_bytes.known = false;
	assert_int_equal(scene_ask("step-growth", &sc), RULE_FIRED);
	assert_string_equal(sc.f.title, "each restart leaves 100.0 MiB of native memory behind");
	judge_whole(&sc.f);
	sc.h.steps[EVENT_RESTART] = (struct steps){ 1, 100 * MIB, false, 12 };
	assert_int_equal(scene_ask("step-growth", &sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "more restarts: 1 of the three");
	scene_done(&sc);
}

/* Expected demand counts everything else with the highest that was seen of it. */
static void demand_by_its_peak(void **state)
{
	(void)state;
	struct scene sc = scene_of();
	sc.s->flags.max_heap_bytes = qty_measured(1000 * MIB);
	free(sc.l);
	sc.l = snap_ledger(sc.s);
	uint64_t expected = sc.l->expected.bytes.bytes, other = 0;
	for (size_t i = 0; i < sc.l->expected.n_parts; i++)
		if (sc.l->expected.parts[i].owners >> OWNER_NATIVE_OTHER & 1)
			other = sc.l->expected.parts[i].bytes;
	uint64_t missing = 2 * GIB - expected + other; /* what everything else may be, 1.1 x of it */
	sc.h.peak_other_bytes = count_of(missing / 11 * 10);
	assert_int_equal(scene_ask("demand-over-limit", &sc), RULE_SILENT);
	sc.h.peak_other_bytes = count_of(missing / 11 * 10 + MIB);
	assert_int_equal(scene_ask("demand-over-limit", &sc), RULE_FIRED);
	judge_whole(&sc.f);
	judge_holds(sc.f.observation, "Everything else has been");
	sc.h.peak_other_bytes = count_of(1); /* it is more now */
	assert_int_equal(scene_ask("demand-over-limit", &sc), RULE_SILENT);
	scene_done(&sc);
}

/* The largest figures that fit, and the longest texts: nothing is cut, nothing wraps. */
static void extremes(void **state)
{
	(void)state;
	struct scene sc = scene_of();
	sc.s->engine.kind = ENGINE_FLINK_TASKMANAGER;
	sc.s->engine.backend = BACKEND_ROCKSDB;
	sc.l->limit = limit_set(UINT64_MAX);
	sc.l->freeboard_bytes = (struct signed_qty){ INT64_MAX, true };
	sc.l->lines[OWNER_NATIVE_OTHER].bytes = qty_measured(UINT64_MAX);
	sc.l->listed[OWNER_ROCKSDB_BLOCK_CACHE] = true;
	sc.l->lines[OWNER_ROCKSDB_BLOCK_CACHE].bytes = (struct qty){ 0 };
	sc.h.native_soft_bound_bytes = qty_of(UINT64_MAX / 2, QTY_INFERRED);
	sc.h.span_ms = UINT64_MAX;
	sc.h.scans = UINT64_MAX;
	sc.h.spike_bytes = UINT64_MAX;
	sc.h.owners[OWNER_NATIVE_OTHER] =
		(struct trend){ TREND_GROWING, 1e30, 1e30, 1e30, UINT64_MAX, UINT64_MAX, UINT64_MAX, 1e30, 1e30 };
	sc.h.events[EVENT_RESTART] = sc.h.events[EVENT_REBALANCE] = UINT32_MAX;
	sc.h.forecast = (struct forecast){ .kind = FORECAST_REACHES,
					   .earliest_s = 86399,
					   .likely_s = 86399,
					   .latest_s = 30 * DAY,
					   .owner = OWNER_ROCKSDB_TABLE_READERS,
					   .owner_bytes = UINT64_MAX,
					   .trend = sc.h.owners[OWNER_ROCKSDB_TABLE_READERS] };
	for (int i = 0; i < 6; i++) {
		char name[128] = "/opt/lib";
		memset(name + 8, 'x', 100);
		(void)memcpy(name + 108, ".so", 4);
		name[20] = (char)('a' + i);
		name[8] = '/';
		(void)snap_vma(sc.s, VMA_FILE, VMA_READ | VMA_EXEC, name, MIB, 0);
	}
	assert_int_equal(scene_ask("limit-forecast", &sc), RULE_FIRED);
	judge_whole(&sc.f);
	assert_int_equal(scene_ask("native-growth", &sc), RULE_FIRED);
	judge_whole(&sc.f);
	sc.h.steps[EVENT_REBALANCE] = (struct steps){ 32, UINT64_MAX, true, UINT64_MAX };
	sc.h.steps_share_bp[EVENT_REBALANCE] = 10000;
	assert_int_equal(scene_ask("step-growth", &sc), RULE_FIRED);
	judge_whole(&sc.f);
	scene_done(&sc);
}

/* All that Flink shares out is filled, and nothing grows: by plan. Each thing that is otherwise makes it a warning. */
static void a_full_plan_is_a_notice(void **state)
{
	(void)state;
	enum { AS_PLANNED, TIGHT, GROWS, TOO_EARLY, OVER, NO_FLINK, CASES };
	for (int i = 0; i < CASES; i++) {
		struct scene sc = { .s = snap_new(&snap_plain) };
		struct ledger *first = snap_ledger(sc.s);
		uint64_t limit = first->floor_bytes.bytes / (i == TIGHT ? 96 : 92) * 100;
		free(first);
		if (i != NO_FLINK)
			snap_flink(sc.s, (i == OVER ? 600 : 400) * (uint64_t)MIB, 100 * MIB, 50 * MIB, 60 * MIB,
				   192 * MIB, limit);
		sc.s->flags.max_heap_bytes = qty_measured((i == OVER ? 600 : 400) * (uint64_t)MIB);
		sc.s->cgroup.max = limit_set(limit);
		sc.l = snap_ledger(sc.s);
		sc.h.forecast = (struct forecast){ .kind = i == GROWS       ? FORECAST_REACHES
							   : i == TOO_EARLY ? FORECAST_INCONCLUSIVE
									    : FORECAST_NOT_GROWING,
						   .likely_s = i == GROWS ? 3600 : FORECAST_NEVER,
						   .owner = -1 };
		assert_int_equal(scene_ask("freeboard-low", &sc), RULE_FIRED);
		if (sc.f.severity != (i == AS_PLANNED ? SEVERITY_NOTICE : SEVERITY_WARNING))
			fail_msg("case %d: severity %d", i, (int)sc.f.severity);
		scene_done(&sc);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_report_is_not_asked),
		cmocka_unit_test(forecast_levels),
		cmocka_unit_test(forecast_texts),
		cmocka_unit_test(forecast_within_a_plan),
		cmocka_unit_test(native_levels),
		cmocka_unit_test(native_soft_bound),
		cmocka_unit_test(native_texts),
		cmocka_unit_test(step_levels),
		cmocka_unit_test(step_texts),
		cmocka_unit_test(demand_by_its_peak),
		cmocka_unit_test(a_full_plan_is_a_notice),
		cmocka_unit_test(extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
