/* SPDX-License-Identifier: Apache-2.0 */
/* metaspace-growth, thread-growth, rocksdb-metadata-thrash, limit-changed, and reclaim-thrash by its rate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/scene.h"

enum { HOUR = 3600, DAY = 86400 };

static struct trend growing(double first, double last, uint64_t span_s)
{
	double slope = (last - first) / (double)span_s;
	return (struct trend){ TREND_GROWING,  slope,         slope, slope, (uint64_t)first,
			       (uint64_t)last, span_s * 1000, slope, slope };
}

/* A TaskManager of 2 GiB, 256 MiB of it for metaspace, watched for ten hours. */
static struct scene scene_of(void)
{
	static const struct snap_shape shape = { .heap = 600, .pool = 200, .stacks = 20, .mapped = 60, .cache = 20 };
	struct scene sc = { .s = snap_new(&shape) };
	snap_flink(sc.s, 700 * MIB, 500 * MIB, 100 * MIB, 200 * MIB, 192 * MIB, 2048 * (uint64_t)MIB);
	sc.s->engine.backend = BACKEND_ROCKSDB;
	sc.s->cgroup.max = limit_set(2 * GIB);
	sc.s->cgroup.high.kind = LIMIT_NONE;
	sc.l = snap_ledger(sc.s);
	sc.h.span_ms = 10ull * HOUR * 1000;
	sc.h.scans = 600;
	sc.h.metaspace.kind = sc.h.threads.kind = sc.h.classes.kind = TREND_FLAT;
	return sc;
}

static void metaspace_levels(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		double first, last; /* MiB */
		uint64_t span_s;
		enum trend_kind kind, classes;
		enum rule_answer answer;
	} table[] = {
		{ "60 MiB in ten hours", 100, 160, 10 * HOUR, TREND_GROWING, TREND_GROWING, RULE_FIRED },
		{ "classes unread", 100, 160, 10 * HOUR, TREND_GROWING, TREND_TOO_FEW, RULE_FIRED },
		{ "17 MiB in an hour", 200, 217, HOUR, TREND_GROWING, TREND_GROWING, RULE_FIRED },
		{ "16", 200, 216, HOUR, TREND_GROWING, TREND_GROWING, RULE_SILENT },
		{ "too short", 100, 160, HOUR - 60, TREND_GROWING, TREND_GROWING, RULE_INCONCLUSIVE },
		{ "as many classes as ever", 100, 160, 10 * HOUR, TREND_GROWING, TREND_FLAT, RULE_SILENT },
		{ "fewer", 100, 160, 10 * HOUR, TREND_GROWING, TREND_SHRINKING, RULE_SILENT },
		{ "a pace that falls", 100, 160, 10 * HOUR, TREND_DECELERATING, TREND_GROWING, RULE_SILENT },
		{ "none", 100, 160, 10 * HOUR, TREND_FLAT, TREND_GROWING, RULE_SILENT },
		{ "unread", 0, 0, 10 * HOUR, TREND_TOO_FEW, TREND_TOO_FEW, RULE_INCONCLUSIVE },
		{ "more than six times what was watched", 100, 119.5, 20 * HOUR, TREND_GROWING, TREND_GROWING,
		  RULE_INCONCLUSIVE },
		{ "a week is left", 80.5, 119.5, 42 * HOUR, TREND_GROWING, TREND_GROWING, RULE_FIRED },
		{ "more than a week", 83.5, 116.5, 42 * HOUR, TREND_GROWING, TREND_GROWING, RULE_SILENT },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of();
		sc.h.metaspace = growing(table[i].first * MIB, table[i].last * MIB, table[i].span_s);
		sc.h.metaspace.kind = table[i].kind;
		sc.h.classes.kind = table[i].classes;
		sc.h.span_ms = table[i].span_s * 1000;
		scene_expect("metaspace-growth", &sc, table[i].answer, table[i].what);
	}
}

static void metaspace_texts(void **state)
{
	(void)state;
	struct scene sc = scene_of();
	sc.h.metaspace = growing(100 * MIB, 160 * MIB, 10 * HOUR);
	sc.h.classes = growing(12000, 30000, 10 * HOUR);
	sc.h.events[EVENT_RESTART] = 20;
	assert_int_equal(scene_ask("metaspace-growth", &sc), RULE_FIRED);
	judge_whole(&sc.f);
	assert_string_equal(sc.f.title, "metaspace grows steadily, by 6.0 MiB an hour");
	judge_holds(sc.f.observation, "it reaches MaxMetaspaceSize in 16 h 0 min");
	judge_holds(sc.f.observation, "started 20 times meanwhile: about 3.0 MiB each time");
	judge_holds(sc.f.observation, "Loaded classes: 30000, 12000 at the start");
	assert_int_equal(sc.f.severity, SEVERITY_WARNING);
	judge_holds(sc.f.change, "/opt/flink/lib");
	/* No maximum and no limit: it is told, and nobody knows until when. */
	sc.s->flags.max_metaspace_bytes = (struct qty){ 0 };
	sc.s->engine.kind = ENGINE_JVM;
	sc.l->freeboard_bytes.known = false;
	assert_int_equal(scene_ask("metaspace-growth", &sc), RULE_FIRED);
	judge_whole(&sc.f);
	assert_int_equal(sc.f.severity, SEVERITY_NOTICE);
	judge_holds(sc.f.change, "VM.classloader_stats");
	/* The container's room is nearer than the maximum. */
	sc.s->flags.max_metaspace_bytes = qty_measured(64 * GIB);
	sc.l->freeboard_bytes = (struct signed_qty){ 12 * MIB, true };
	assert_int_equal(scene_ask("metaspace-growth", &sc), RULE_FIRED);
	judge_holds(sc.f.observation, "it reaches the limit in 2 h 0 min");
	scene_done(&sc);
}

static void thread_levels(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		uint64_t first, last, span_s;
		enum trend_kind kind;
		enum rule_answer answer;
		enum severity severity;
	} table[] = {
		{ "300 in ten hours", 60, 360, 10 * HOUR, TREND_GROWING, RULE_FIRED, SEVERITY_NOTICE },
		{ "64", 60, 124, 10 * HOUR, TREND_GROWING, RULE_SILENT, 0 },
		{ "65", 60, 125, 10 * HOUR, TREND_GROWING, RULE_FIRED, SEVERITY_NOTICE },
		{ "2,000 in all", 1900, 2000, 10 * HOUR, TREND_GROWING, RULE_FIRED, SEVERITY_NOTICE },
		{ "one more", 1900, 2001, 10 * HOUR, TREND_GROWING, RULE_FIRED, SEVERITY_WARNING },
		{ "a pool that is full", 60, 360, 10 * HOUR, TREND_DECELERATING, RULE_SILENT, 0 },
		{ "none", 360, 360, 10 * HOUR, TREND_FLAT, RULE_SILENT, 0 },
		{ "too short", 60, 360, HOUR - 1, TREND_GROWING, RULE_INCONCLUSIVE, 0 },
		{ "too few points", 60, 360, 10 * HOUR, TREND_TOO_FEW, RULE_INCONCLUSIVE, 0 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of();
		sc.h.threads = growing((double)table[i].first, (double)table[i].last, table[i].span_s);
		sc.h.threads.kind = table[i].kind;
		sc.h.span_ms = table[i].span_s * 1000;
		(void)scene_ask("thread-growth", &sc);
		if (sc.f.severity != table[i].severity)
			fail_msg("%s: %d", table[i].what, (int)sc.f.severity);
		scene_expect("thread-growth", &sc, table[i].answer, table[i].what);
	}
	struct scene sc = scene_of();
	sc.h.threads = growing(60, 360, 10 * HOUR);
	assert_int_equal(scene_ask("thread-growth", &sc), RULE_FIRED);
	assert_string_equal(sc.f.title, "the number of threads grows steadily, by about 30 an hour");
	judge_holds(sc.f.observation, "360 threads, 300 more than 10 h 0 min ago");
	judge_holds(sc.f.observation, "Their stacks hold 20.0 MiB");
	scene_done(&sc);
}

/* Where the forecast names who grows, who has the remedy does not wait an hour, and is as urgent. */
static void what_is_foretold_is_urgent(void **state)
{
	(void)state;
	static const struct {
		enum owner owner;
		uint64_t likely_s;
		enum rule_answer answer;
		enum severity severity;
	} table[] = {
		{ OWNER_THREAD_STACKS, 600, RULE_FIRED, SEVERITY_WARNING },
		{ OWNER_THREAD_STACKS, 25 * HOUR, RULE_FIRED, SEVERITY_NOTICE },
		{ OWNER_NATIVE_OTHER, 600, RULE_INCONCLUSIVE, 0 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of();
		sc.h.threads = growing(60, 360, 300);
		sc.h.span_ms = 0;
		sc.h.settling_s = 600;
		sc.h.forecast.kind = FORECAST_REACHES;
		sc.h.forecast.owner = (int)table[i].owner;
		sc.h.forecast.likely_s = table[i].likely_s;
		assert_int_equal(scene_ask("thread-growth", &sc), table[i].answer);
		assert_int_equal(sc.f.severity, table[i].severity);
		scene_done(&sc);
	}
}

/* A full cache of 1000 MiB over `files` MiB of files. */
static struct scene cache_scene(uint64_t usage, uint64_t files)
{
	struct scene sc = scene_of();
	struct rocksdb_claim *claim = &sc.s->engine.rocksdb;
	claim->cache_capacity_bytes = qty_measured(1000 * MIB);
	claim->cache_usage_bytes = qty_measured(usage * MIB);
	claim->sst_bytes = qty_measured(files * MIB);
	claim->cache_hits = claim->cache_misses = count_of(1000);
	sc.h.cache_miss_bp = count_of(5000);
	return sc;
}

static void metadata_levels(void **state)
{
	(void)state;
	static const char rule[] = "rocksdb-metadata-thrash";
	static const struct {
		const char *what;
		uint64_t usage, files, miss_bp;
		enum rule_answer answer;
	} table[] = {
		{ "full, half misses, many files", 1000, 30000, 5000, RULE_FIRED },
		{ "just full", 901, 30000, 5000, RULE_FIRED },
		{ "not full", 900, 30000, 5000, RULE_SILENT },
		{ "a miss more than three of ten", 1000, 30000, 3001, RULE_FIRED },
		{ "three of ten", 1000, 30000, 3000, RULE_SILENT },
		{ "20 times the cache and a bit", 1000, 20001, 5000, RULE_FIRED },
		{ "20 times the cache", 1000, 20000, 5000, RULE_SILENT },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = cache_scene(table[i].usage, table[i].files);
		sc.h.cache_miss_bp = count_of(table[i].miss_bp);
		scene_expect(rule, &sc, table[i].answer, table[i].what);
	}
	struct scene sc = cache_scene(1000, 30000);
	sc.h.context.busy_bp = count_of(9900);
	assert_int_equal(scene_ask(rule, &sc), RULE_FIRED);
	judge_holds(sc.f.observation, "In the last minute 50 % of all look-ups missed it");
	judge_holds(sc.f.change, "state.backend.rocksdb.memory.partitioned-index-filters: true");
	sc.h.settling_s = 10; /* it fills */
	scene_expect(rule, &sc, RULE_INCONCLUSIVE, "after a restore");
	sc = cache_scene(1000, 30000);
	sc.s->engine.rocksdb.cache_hits.known = false;
	assert_int_equal(scene_ask(rule, &sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "FLINK-39923");
	sc.s->engine.rocksdb.cache_hits = count_of(1);
	sc.h.cache_miss_bp.known = false;
	assert_int_equal(scene_ask(rule, &sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "over a minute");
	sc.h.cache_miss_bp = count_of(9000);
	sc.s->engine.rocksdb.sst_bytes = (struct qty){ 0 };
	assert_int_equal(scene_ask(rule, &sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "size of the files");
	sc.s->engine.rocksdb.live_data_bytes = qty_measured(30 * GIB);
	scene_expect(rule, &sc, RULE_FIRED, "live data in place of files");
}

static void metadata_of_streams(void **state)
{
	(void)state;
	static const char rule[] = "rocksdb-metadata-thrash";
	struct scene sc = cache_scene(1000, 100);
	sc.s->engine.kind = ENGINE_KAFKA_STREAMS;
	sc.s->engine.rocksdb.sst_bytes = (struct qty){ 0 };
	sc.s->engine.rocksdb.metadata_hit_bp = count_of(8000);
	assert_int_equal(scene_ask(rule, &sc), RULE_SILENT);
	sc.s->engine.rocksdb.metadata_hit_bp = count_of(7999);
	assert_int_equal(scene_ask(rule, &sc), RULE_FIRED);
	judge_whole(&sc.f);
	judge_holds(sc.f.observation, "Of the look-ups of index or filter, 79.99 % find it there");
	judge_holds(sc.f.change, "setPartitionFilters(true)");
	sc.s->engine.rocksdb.metadata_hit_bp.known = false;
	assert_int_equal(scene_ask(rule, &sc), RULE_INCONCLUSIVE);
	judge_missing(&sc.f, "recording.level");
	scene_done(&sc);
}

static void limit_changes(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		struct limit before, now;
		uint64_t ago_s;
		enum rule_answer answer;
		enum severity severity;
		const char *title;
	} table[] = {
		{ "raised",
		  { GIB, LIMIT_SET },
		  { 2 * GIB, LIMIT_SET },
		  0,
		  RULE_FIRED,
		  SEVERITY_INFO,
		  "the limit was raised from 1.00 GiB to 2.00 GiB while the JVM ran" },
		{ "lowered",
		  { 4 * GIB, LIMIT_SET },
		  { 2 * GIB, LIMIT_SET },
		  3599,
		  RULE_FIRED,
		  SEVERITY_NOTICE,
		  "the limit was lowered from 4.00 GiB to 2.00 GiB while the JVM ran" },
		{ "an hour ago", { 4 * GIB, LIMIT_SET }, { 2 * GIB, LIMIT_SET }, 3600, RULE_SILENT, 0, NULL },
		{ "lifted",
		  { GIB, LIMIT_SET },
		  { 0, LIMIT_NONE },
		  60,
		  RULE_FIRED,
		  SEVERITY_INFO,
		  "the limit was raised from 1.00 GiB to none while the JVM ran" },
		{ "set",
		  { 0, LIMIT_NONE },
		  { 2 * GIB, LIMIT_SET },
		  60,
		  RULE_FIRED,
		  SEVERITY_NOTICE,
		  "the limit was lowered from none to 2.00 GiB while the JVM ran" },
		{ "to less than is held",
		  { 4 * GIB, LIMIT_SET },
		  { 850 * MIB, LIMIT_SET },
		  60,
		  RULE_FIRED,
		  SEVERITY_WARNING,
		  "the limit was lowered from 4.00 GiB to 850.0 MiB while the JVM ran" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of();
		free(sc.l);
		sc.s->cgroup.max = table[i].now;
		sc.l = snap_ledger(sc.s);
		sc.h.limit_before = table[i].before;
		sc.h.limit_changed_s_ago = count_of(table[i].ago_s);
		(void)scene_ask("limit-changed", &sc);
		if (sc.f.severity != table[i].severity)
			fail_msg("%s: %d", table[i].what, (int)sc.f.severity);
		if (table[i].title)
			assert_string_equal(sc.f.title, table[i].title);
		scene_expect("limit-changed", &sc, table[i].answer, table[i].what);
	}
	struct scene sc = scene_of();
	scene_expect("limit-changed", &sc, RULE_SILENT, "never");
}

/* Over time the rate of refaults tells, with no pressure to be read. */
static void thrash_by_rate(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		bool rate_known;
		uint64_t rate;
		bool psi_known;
		enum rule_answer answer;
	} table[] = {
		{ "a hundred a second", true, 100, false, RULE_SILENT },
		{ "one more", true, 101, false, RULE_FIRED },
		{ "many, and threads wait", true, 5000, true, RULE_FIRED },
		{ "none, and threads wait for something else", true, 0, true, RULE_SILENT },
		{ "not yet a rate: threads wait", false, 0, true, RULE_FIRED },
		{ "not yet a rate, and no pressure", false, 0, false, RULE_INCONCLUSIVE },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct scene sc = scene_of();
		sc.s->cgroup.stat.workingset_refault_file = count_of(9000);
		sc.s->cgroup.pressure.some = (struct cgroup_pressure_line){ 500, 0, 0, 1, table[i].psi_known };
		sc.l->freeboard_bytes = (struct signed_qty){ 50 * MIB, true };
		sc.l->floor_bytes = qty_measured(1998 * (uint64_t)MIB);
		sc.h.refaults_per_s = (struct count){ table[i].rate, table[i].rate_known };
		enum rule_answer got = scene_ask("reclaim-thrash", &sc);
		if (got == RULE_FIRED && table[i].rate_known)
			judge_holds(sc.f.observation, "a second over the last minute");
		scene_expect("reclaim-thrash", &sc, table[i].answer, table[i].what);
	}
}

static void extremes(void **state)
{
	(void)state;
	struct scene sc = cache_scene(1000, 30000);
	struct trend all = { TREND_GROWING, 1e30, 1e30, 1e30, UINT64_MAX, UINT64_MAX, UINT64_MAX, 1e30, 1e30 };
	sc.h.span_ms = UINT64_MAX;
	sc.h.metaspace = sc.h.threads = sc.h.classes = all;
	sc.h.events[EVENT_RESTART] = 1;
	sc.h.spike_bytes = UINT64_MAX;
	sc.s->engine.rocksdb.cache_usage_bytes = sc.s->engine.rocksdb.sst_bytes = qty_measured(UINT64_MAX);
	sc.h.cache_miss_bp = count_of(10000);
	sc.h.limit_before = limit_set(UINT64_MAX);
	sc.h.limit_changed_s_ago = count_of(1);
	sc.l->freeboard_bytes.bytes = INT64_MIN;
	static const char *const rules[] = { "metaspace-growth", "thread-growth", "rocksdb-metadata-thrash",
					     "limit-changed" };
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(scene_ask(rules[i], &sc), RULE_FIRED);
		judge_whole(&sc.f);
	}
	scene_done(&sc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metaspace_levels), cmocka_unit_test(metaspace_texts),
		cmocka_unit_test(thread_levels),    cmocka_unit_test(what_is_foretold_is_urgent),
		cmocka_unit_test(metadata_levels),  cmocka_unit_test(metadata_of_streams),
		cmocka_unit_test(limit_changes),    cmocka_unit_test(thrash_by_rate),
		cmocka_unit_test(extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
