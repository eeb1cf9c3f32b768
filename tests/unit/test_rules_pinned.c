/* SPDX-License-Identifier: Apache-2.0 */
/* rocksdb-pinned: borders, arenas that explain it, what pins, what is said. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/judge.h"
#include "support/snap.h"

static const char rule[] = "rocksdb-pinned";
static const struct snap_shape plain = { .heap = 400, .pool = 3000 };

static struct snapshot *with(enum engine kind, uint64_t usage, uint64_t capacity, uint64_t pinned)
{
	struct snapshot *s = snap_new(&plain);
	if (kind == ENGINE_FLINK_TASKMANAGER)
		snap_flink(s, 500 * MIB, 512 * MIB, 0, 0, 192 * MIB, 4 * GIB);
	s->engine.kind = kind;
	s->engine.backend = kind == ENGINE_FLINK_TASKMANAGER ? BACKEND_ROCKSDB : BACKEND_UNKNOWN;
	struct rocksdb_claim *claim = &s->engine.rocksdb;
	claim->sharing = ROCKSDB_PER_PROCESS;
	claim->cache_usage_bytes = qty_measured(usage);
	claim->cache_capacity_bytes = qty_measured(capacity);
	claim->cache_pinned_bytes = qty_measured(pinned);
	claim->table_readers_bytes = qty_measured(0);
	claim->n_caches_certain = true;
	return s;
}

static struct snapshot *streams(uint64_t usage, uint64_t capacity, uint64_t pinned)
{
	return with(ENGINE_KAFKA_STREAMS, usage, capacity, pinned);
}

static enum rule_answer ask(struct snapshot *s, struct finding *f)
{
	struct ledger *l = snap_ledger(s);
	enum rule_answer answer = judge(rule, s, l, f);
	free(l);
	snap_free(s);
	return answer;
}

/* F11: close to usage, and usage past the capacity. Both are asked for, each at its level. */
static void borders(void **state)
{
	(void)state;
	static const struct {
		uint64_t usage, capacity, pinned;
		bool fires;
	} table[] = {
		{ 1000 * MIB, 1000 * MIB, 1000 * MIB, false },
		{ 1100 * MIB, 1000 * MIB, 1100 * MIB, false },
		{ 1100 * MIB + 1, 1000 * MIB, 1100 * MIB, true },
		{ 2000 * MIB, 1000 * MIB, 1600 * MIB, false },
		{ 2000 * MIB, 1000 * MIB, 1600 * MIB + 1, true },
		{ 900 * MIB, 1000 * MIB, 900 * MIB, false },
		{ 2000 * MIB, 1000 * MIB, 0, false },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		enum rule_answer answer = ask(streams(table[i].usage, table[i].capacity, table[i].pinned), &f);
		if (answer != (table[i].fires ? RULE_FIRED : RULE_SILENT))
			fail_msg("row %zu", i);
		if (!table[i].fires)
			continue;
		judge_whole(&f);
		assert_int_equal(f.severity, SEVERITY_WARNING);
		judge_figure(&f, "block_cache_usage_bytes", table[i].usage);
		judge_figure(&f, "block_cache_pinned_bytes", table[i].pinned);
		judge_figure(&f, "block_cache_capacity_bytes", table[i].capacity);
	}
}

/* 40 empty column families: 320 MiB claimed in a cache of 106 MiB, one arena block each, and 5 MiB of it resident. */
static void arenas_are_normal(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = with(ENGINE_FLINK_TASKMANAGER, 426 * MIB, 106 * MIB, 426 * MIB);
	s->engine.rocksdb.memtables_in_cache = true;
	s->engine.rocksdb.memtables_bytes = qty_measured(320 * MIB);
	s->engine.rocksdb.n_stores = count_of(40); /* 40 x 8 MiB */
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = with(ENGINE_FLINK_TASKMANAGER, 426 * MIB + 1, 106 * MIB, 426 * MIB);
	s->engine.rocksdb.memtables_in_cache = true;
	s->engine.rocksdb.memtables_bytes = qty_measured(320 * MIB);
	s->engine.rocksdb.n_stores = count_of(40);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	judge_figure(&f, "pinned_by_memtables_bytes", 320 * MIB);
	/* Flink 2's blocks are 1 MiB: they explain 40 MiB and no more. */
	s = with(ENGINE_FLINK_TASKMANAGER, 426 * MIB, 106 * MIB, 426 * MIB);
	strcpy(s->engine.version, "2.3.0");
	s->engine.rocksdb.memtables_in_cache = true;
	s->engine.rocksdb.memtables_bytes = qty_measured(40 * MIB);
	s->engine.rocksdb.n_stores = count_of(40);
	assert_int_equal(ask(s, &f), RULE_FIRED);
}

/* Claimed and not resident: worth a word, not a page. */
static void reservations_are_a_notice(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = streams(2000 * MIB, 1000 * MIB, 2000 * MIB);
	s->vmas.items[s->vmas.n - 1].anonymous_bytes = 1100 * MIB;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	s = streams(2000 * MIB, 1000 * MIB, 2000 * MIB);
	s->vmas.items[s->vmas.n - 1].anonymous_bytes = 1100 * MIB + 1;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	assert_int_equal(f.excess_bytes, 100 * MIB + 1);
}

/* The books take what is pinned for reservations of memtables: the blocks are in native-other, if anywhere. */
static void pinned_blocks_without_a_line(void **state)
{
	(void)state;
	for (unsigned pool = 1100; pool <= 1101; pool++) {
		struct finding f;
		struct snapshot *s = with(ENGINE_FLINK_TASKMANAGER, 2000 * MIB, 1000 * MIB, 1900 * MIB);
		s->engine.rocksdb.memtables_in_cache = true;
		s->engine.rocksdb.memtables_bytes = qty_measured(100 * MIB);
		s->engine.gauges.direct_used_bytes = qty_measured(0);
		s->vmas.items[s->vmas.n - 1].anonymous_bytes = (uint64_t)pool * MIB;
		assert_int_equal(ask(s, &f), RULE_FIRED);
		judge_whole(&f);
		judge_figure(&f, "resident_bytes", (uint64_t)pool * MIB);
		assert_int_equal(f.severity, pool == 1100 ? SEVERITY_NOTICE : SEVERITY_WARNING);
	}
}

static void remedies(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = streams(2000 * MIB, 1000 * MIB, 2000 * MIB);
	s->engine.rocksdb.n_open_iterators = count_of(7);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_non_null(strstr(f.observation, "Open iterators: 7."));
	assert_non_null(strstr(f.change, "close every KeyValueIterator"));
	assert_int_equal(f.turns[0].knob, KNOB_APPLICATION);
	assert_int_equal(f.n_missing, 0);

	s = streams(2000 * MIB, 1000 * MIB, 2000 * MIB);
	s->engine.rocksdb.n_open_iterators = count_of(0);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_non_null(strstr(f.change, "setPinL0FilterAndIndexBlocksInCache(false)"));

	assert_int_equal(ask(streams(2000 * MIB, 1000 * MIB, 2000 * MIB), &f), RULE_FIRED);
	judge_missing(&f, "num-open-iterators");

	s = with(ENGINE_FLINK_TASKMANAGER, 2000 * MIB, 1000 * MIB, 2000 * MIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.change, "state.backend.rocksdb.memory.partitioned-index-filters: true"));

	s = with(ENGINE_FLINK_TASKMANAGER, 2000 * MIB, 1000 * MIB, 2000 * MIB);
	snap_setting(s, "state.backend.rocksdb.memory.partitioned-index-filters", "true", "config.yaml:3");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.change, "managed.size: 1536m")); /* 512 and the excess, in steps of 64 */
	assert_non_null(strstr(f.change, "by the same 1024m"));
}

static void inputs(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask(snap_new(&plain), &f), RULE_SILENT); /* no RocksDB */
	struct snapshot *s = streams(2000 * MIB, 1000 * MIB, 0);
	s->engine.rocksdb.cache_pinned_bytes = (struct qty){ 0 };
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "block-cache-pinned-usage");
	assert_int_equal(f.n_missing, 1);
	s = streams(900 * MIB, 1000 * MIB, 0); /* below its capacity, whatever is pinned */
	s->engine.rocksdb.cache_pinned_bytes = (struct qty){ 0 };
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = streams(2000 * MIB, 0, 2000 * MIB);
	s->engine.rocksdb.cache_capacity_bytes = (struct qty){ 0 };
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "block-cache-capacity");
	s = streams(2000 * MIB, 0, 100 * MIB); /* little is pinned, whatever the capacity */
	s->engine.rocksdb.cache_capacity_bytes = (struct qty){ 0 };
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = with(ENGINE_FLINK_TASKMANAGER, 0, 0, 0);
	memset(&s->engine.rocksdb, 0, sizeof s->engine.rocksdb);
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	assert_int_equal(f.n_missing, 3);
	s = with(ENGINE_FLINK_TASKMANAGER, 2000 * MIB, 1000 * MIB, 2000 * MIB);
	s->engine.rocksdb.ambiguous = true;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "labels collide");
}

static void longest_and_largest(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = with(ENGINE_FLINK_TASKMANAGER, UINT64_MAX, 1, UINT64_MAX);
	memset(s->engine.rocksdb.largest_store, 'x', sizeof s->engine.rocksdb.largest_store - 1);
	s->engine.rocksdb.n_open_iterators = count_of(UINT64_MAX);
	s->engine.rocksdb.n_caches_certain = false;
	s->engine.rocksdb.memtables_in_cache = true;
	s->engine.rocksdb.memtables_bytes = qty_measured(UINT64_MAX / 2);
	s->engine.flink.managed_bytes = qty_measured(UINT64_MAX);
	snap_setting(s, "state.backend.rocksdb.memory.partitioned-index-filters", "true", "config.yaml:3");
	snap_setting(s, "state.backend.rocksdb.memory.high-prio-pool-ratio", "0.1", "config.yaml:3");
	snap_setting(s, "taskmanager.memory.managed.size", "1", "config.yaml:3");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.n_settings, 3);
	s = streams(UINT64_MAX, UINT64_MAX - 1, UINT64_MAX);
	s->engine.rocksdb.memtables_in_cache = true;
	s->engine.rocksdb.n_stores = count_of(UINT64_MAX);
	assert_int_equal(ask(s, &f), RULE_SILENT);
	assert_int_equal(ask(streams(1, 0, 1), &f), RULE_FIRED); /* a cache of nothing */
	judge_whole(&f);
	assert_int_equal(ask(streams(0, 0, 0), &f), RULE_SILENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(borders),
		cmocka_unit_test(arenas_are_normal),
		cmocka_unit_test(reservations_are_a_notice),
		cmocka_unit_test(pinned_blocks_without_a_line),
		cmocka_unit_test(remedies),
		cmocka_unit_test(inputs),
		cmocka_unit_test(longest_and_largest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
