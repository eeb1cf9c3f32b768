/* SPDX-License-Identifier: Apache-2.0 */
/* rocksdb-unbounded: whose bound is none, what fits, what is said of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/judge.h"
#include "support/snap.h"

static const char rule[] = "rocksdb-unbounded";
static const struct snap_shape plain = { .heap = 400, .pool = 1000 };

enum { INSTANCE_MIB = 98 };

/* A container whose limit leaves `room` to RocksDB, all that it holds (60 MiB) included. */
static void leave(struct snapshot *s, uint64_t room)
{
	s->engine.rocksdb.cache_usage_bytes = qty_measured(30 * MIB);
	s->engine.rocksdb.memtables_bytes = qty_measured(20 * MIB);
	s->engine.rocksdb.table_readers_bytes = qty_measured(10 * MIB);
	s->engine.rocksdb.n_caches_certain = true;
	/* The whole heap is counted: what of it is still to come is no room. */
	uint64_t to_come = qty_known(s->flags.max_heap_bytes) ? s->flags.max_heap_bytes.bytes - 400 * (uint64_t)MIB : 0;
	s->cgroup.max = limit_set(room + to_come + 1400 * (uint64_t)MIB - 60 * MIB);
}

static struct snapshot *streams(uint64_t instances, uint64_t room)
{
	struct snapshot *s = snap_new(&plain);
	s->engine.kind = ENGINE_KAFKA_STREAMS;
	s->engine.streams.n_instances = count_of(instances);
	s->engine.streams.native_bound_bytes = qty_of(instances * INSTANCE_MIB * MIB, QTY_INFERRED);
	s->engine.rocksdb.sharing = ROCKSDB_PER_STORE;
	leave(s, room);
	return s;
}

static struct snapshot *tm(uint64_t states, uint64_t room)
{
	struct snapshot *s = snap_new(&plain);
	snap_flink(s, 500 * MIB, 512 * MIB, 0, 0, 192 * MIB, 4 * GIB);
	s->engine.backend = BACKEND_ROCKSDB;
	s->engine.rocksdb_managed = TRISTATE_FALSE;
	s->engine.rocksdb.sharing = ROCKSDB_PER_STORE;
	s->engine.rocksdb.n_stores = count_of(states);
	leave(s, room);
	return s;
}

static enum rule_answer ask(struct snapshot *s, struct finding *f)
{
	struct ledger *l = snap_ledger(s);
	enum rule_answer answer = judge(rule, s, l, f);
	free(l);
	snap_free(s);
	return answer;
}

/* K21, K27, K26, C42 and C43: instances x 98 MiB against what is left of the limit. */
static void streams_bounds(void **state)
{
	(void)state;
	static const struct {
		uint64_t instances, room;
		enum severity severity;
		const char *bound;
	} table[] = {
		{ 60, 8 * GIB, SEVERITY_NOTICE, "5.74 GiB" },
		{ 60, 60 * (uint64_t)INSTANCE_MIB * MIB, SEVERITY_NOTICE, "5.74 GiB" }, /* just so */
		{ 60, 60 * (uint64_t)INSTANCE_MIB * MIB - 1, SEVERITY_WARNING, "5.74 GiB" },
		{ 160, 4 * GIB, SEVERITY_WARNING, "15.31 GiB" },
		{ 336, 20 * GIB, SEVERITY_WARNING, "32.16 GiB" },
		{ 10, 980 * MIB, SEVERITY_NOTICE, "980.0 MiB" },
		{ 2, GIB, SEVERITY_NOTICE, "196.0 MiB" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		assert_int_equal(ask(streams(table[i].instances, table[i].room), &f), RULE_FIRED);
		judge_whole(&f);
		assert_int_equal(f.severity, table[i].severity);
		if (!strstr(f.title, table[i].bound))
			fail_msg("no %s in %s", table[i].bound, f.title);
		judge_figure(&f, "room_bytes", table[i].room);
		judge_figure(&f, "held_bytes", 60 * MIB);
		judge_figure(&f, "bound_bytes", table[i].instances * INSTANCE_MIB * MIB);
		assert_non_null(strstr(f.change, "one static LRUCache of"));
		assert_non_null(strstr(f.change, "target, not a limit"));
		assert_int_equal(f.turns[0].knob, KNOB_ROCKSDB_CACHE);
	}
}

/* A cache never holds more than there is: a hundred nearly empty stores do not page anybody. */
static void data_bounds_the_caches(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = streams(100, 6 * GIB); /* 9.57 GiB by settings */
	s->engine.rocksdb.sst_bytes = qty_measured(100 * MIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	judge_figure(&f, "bound_with_data_bytes", (4800 + 110) * (uint64_t)MIB);
	s = streams(100, 6 * GIB);
	s->engine.rocksdb.sst_bytes = qty_measured(GIB + GIB / 2); /* with memtables past the room */
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	s = streams(100, 6 * GIB);
	s->engine.rocksdb.sst_bytes = qty_measured(100 * GIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_WARNING);
}

/* A heap that is not there yet will come, and leaves that much less. */
static void the_heap_is_counted_whole(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = streams(60, 60 * (uint64_t)INSTANCE_MIB * MIB);
	s->flags.max_heap_bytes = qty_measured(400 * (uint64_t)MIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	s = streams(60, 60 * (uint64_t)INSTANCE_MIB * MIB);
	s->flags.max_heap_bytes = qty_measured(400 * (uint64_t)MIB + 1);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_WARNING);
}

/* The size that is advised fits: three quarters of the room, in whole steps, never silly. */
static void advised_size(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask(streams(60, 2 * GIB), &f), RULE_FIRED);
	assert_non_null(strstr(f.change, "LRUCache of 1536 MiB and one WriteBufferManager of 768 MiB"));
	assert_int_equal(ask(streams(60, 10 * MIB), &f), RULE_FIRED);
	assert_non_null(strstr(f.change, "LRUCache of 64 MiB and one WriteBufferManager of 32 MiB"));
	assert_int_equal(ask(streams(2, 100 * GIB), &f), RULE_FIRED);
	assert_non_null(strstr(f.change, "LRUCache of 192 MiB")); /* no more than the stores could take */
}

/* F12: 6 states in 4 slots, Flink's own rule of thumb. */
static void flink_unmanaged(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask(tm(24, 3360000000), &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	judge_figure(&f, "bound_bytes", 3360000000);
	assert_non_null(strstr(f.change, "set state.backend.rocksdb.memory.managed: true"));
	assert_int_equal(f.n_turns, 1);
	assert_int_equal(ask(tm(24, 3359999999), &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	assert_int_equal(f.excess_bytes, 1);

	struct snapshot *s = tm(24, GIB); /* a managed budget that cannot be shared */
	s->engine.flink.managed_bytes = qty_measured(32 * MIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.change, "taskmanager.memory.managed.size: 64m"));
	assert_non_null(strstr(f.change, "by the same 32m"));

	s = tm(24, GIB); /* the cluster manages, the job does not */
	s->engine.rocksdb_managed = TRISTATE_TRUE;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.change, "setUseManagedMemory(false)"));

	s = tm(24, GIB);
	s->engine.backend = BACKEND_FORST;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_non_null(strstr(f.change, "state.backend.forst.memory.managed"));
}

static void flink_settings_count(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm(2, 100 * GIB);
	snap_setting(s, "state.backend.rocksdb.predefined-options", "SPINNING_DISK_OPTIMIZED_HIGH_MEM",
		     "config.yaml:1");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_figure(&f, "bound_bytes", 2 * (uint64_t)512 * MIB);
	s = tm(2, 100 * GIB);
	s->engine.write_buffer_bytes = qty_measured(128 * MIB);
	snap_setting(s, "state.backend.rocksdb.writebuffer.count", "3", "config.yaml:1");
	snap_setting(s, "state.backend.rocksdb.block.cache-size", "16mb", "config.yaml:2");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	judge_figure(&f, "bound_bytes", 2 * (uint64_t)400 * MIB);
	assert_int_equal(f.n_settings, 2);
}

static void silent_where_bounded(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask(snap_new(&plain), &f), RULE_SILENT); /* no RocksDB */

	struct snapshot *s = tm(24, GIB);
	s->engine.rocksdb_managed = TRISTATE_TRUE;
	s->engine.rocksdb.sharing = ROCKSDB_PER_SLOT;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = tm(24, GIB);
	s->engine.rocksdb.sharing = ROCKSDB_PER_PROCESS;
	s->engine.rocksdb_fixed_per_tm_bytes = qty_measured(GIB);
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = tm(24, GIB);
	s->engine.rocksdb.sharing = ROCKSDB_PER_SLOT;
	s->engine.rocksdb_managed = TRISTATE_UNREAD; /* true by default */
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = streams(60, GIB);
	s->engine.rocksdb.sharing = ROCKSDB_PER_PROCESS;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	assert_int_equal(ask(streams(1, GIB), &f), RULE_SILENT); /* its own cache bounds it */
	s = streams(60, GIB);
	s->engine.kind = ENGINE_JVM;
	assert_int_equal(ask(s, &f), RULE_SILENT);
}

static void inputs(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm(24, GIB);
	s->engine.rocksdb.n_stores.known = false;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "number of states");
	s = streams(60, GIB);
	s->engine.streams.n_instances.known = false;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "number of RocksDB instances");
	s = streams(60, GIB);
	s->engine.rocksdb.sharing = ROCKSDB_SHARING_UNKNOWN;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "share one block cache");
	s = streams(60, GIB);
	s->engine.rocksdb.ambiguous = true;
	s->engine.rocksdb.cache_usage_bytes = s->engine.rocksdb.memtables_bytes = (struct qty){ 0 };
	s->engine.backend = BACKEND_ROCKSDB;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);

	s = streams(60, GIB); /* no limit: unbounded all the same, and no more is said */
	s->cgroup.max.kind = LIMIT_NONE;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	judge_missing(&f, "the room that is left");
	assert_non_null(strstr(f.title, "nothing bounds them"));
}

/* What is unread of RocksDB stands in native-other: it may be RocksDB's, and is taken for it up to the bound. */
static void unread_lines_are_no_excess(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = streams(10, 500 * MIB); /* 440 MiB free, 970 of pool unread */
	s->engine.rocksdb.cache_usage_bytes = (struct qty){ 0 };
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	judge_missing(&f, "what RocksDB holds");
	s = streams(60, 500 * MIB);
	s->engine.rocksdb.cache_usage_bytes = (struct qty){ 0 };
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_WARNING); /* 5.74 GiB do not fit in any case */
}

/* R15: 16 GiB of cache in 12 GiB. K30: 5 stores with 1 GiB each. */
static void capacity_past_the_limit(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = streams(5, GIB);
	s->engine.rocksdb.sharing = ROCKSDB_PER_PROCESS;
	s->cgroup.max = limit_set(12 * GIB);
	s->engine.rocksdb.cache_capacity_bytes = qty_measured(16 * GIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_CRITICAL);
	judge_figure(&f, "cache_capacity_bytes", 16 * GIB);
	judge_figure(&f, "limit_bytes", 12 * GIB);
	assert_non_null(strstr(f.change, "one static LRUCache of 8192 MiB"));

	s = streams(5, GIB);
	s->engine.rocksdb.sharing = ROCKSDB_PER_PROCESS;
	s->engine.rocksdb.cache_capacity_bytes = qty_measured(s->cgroup.max.bytes);
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = streams(5, GIB);
	s->engine.rocksdb.sharing = ROCKSDB_PER_PROCESS;
	s->engine.rocksdb.cache_capacity_bytes = qty_measured(s->cgroup.max.bytes + 1);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_CRITICAL);

	s = streams(5, GIB);
	s->engine.rocksdb.cache_capacity_bytes = qty_measured(5 * GIB);
	s->engine.rocksdb.n_caches = count_of(5);
	s->engine.streams.native_bound_bytes = qty_measured(5 * GIB + 240 * MIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_CRITICAL);
	assert_non_null(strstr(f.observation, "They are 5 caches."));

	s = streams(100, GIB); /* 100 default caches are many, and nobody's choice: they are judged by the room */
	s->engine.rocksdb.cache_capacity_bytes = qty_measured(5000 * (uint64_t)MIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	assert_non_null(strstr(f.title, "100 RocksDB stores"));
}

static void flink_capacity(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm(4, GIB);
	s->engine.rocksdb.sharing = ROCKSDB_PER_SLOT;
	s->engine.rocksdb.cache_capacity_bytes = qty_measured(16 * GIB);
	s->engine.rocksdb_fixed_per_slot_bytes = qty_measured(20 * GIB);
	s->engine.rocksdb.n_caches_certain = false;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.change, "memory.fixed-per-slot: 768m"));
	judge_missing(&f, "number of block caches");
	s = tm(4, GIB);
	s->engine.rocksdb.sharing = ROCKSDB_PER_PROCESS;
	s->engine.rocksdb.cache_capacity_bytes = qty_measured(16 * GIB);
	s->engine.rocksdb_fixed_per_tm_bytes = qty_measured(20 * GIB);
	s->engine.rocksdb.live_data_bytes = qty_measured(100 * MIB); /* it fits, today */
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	assert_non_null(strstr(f.change, "memory.fixed-per-tm: 768m"));
	s = tm(4, GIB);
	s->engine.rocksdb.sharing = ROCKSDB_PER_SLOT;
	s->engine.rocksdb_managed = TRISTATE_TRUE;
	s->engine.rocksdb.cache_capacity_bytes = qty_measured(16 * GIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.change, "options factory"));
}

static void extremes(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm(UINT64_MAX, GIB);
	s->engine.flink.n_slots = count_of(UINT64_MAX);
	s->engine.flink.managed_bytes = qty_measured(0);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	s = streams(2, GIB);
	s->engine.streams.n_instances = count_of(UINT64_MAX);
	s->engine.streams.native_bound_bytes = qty_measured(UINT64_MAX);
	s->engine.rocksdb.sst_bytes = qty_measured(UINT64_MAX);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	s = streams(2, GIB);
	s->cgroup.max = limit_set(1); /* freeboard below zero, and more than is held is lacking */
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	judge_figure(&f, "room_bytes", 0);
	assert_int_equal(ask(tm(0, GIB), &f), RULE_SILENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_bounds),
		cmocka_unit_test(data_bounds_the_caches),
		cmocka_unit_test(the_heap_is_counted_whole),
		cmocka_unit_test(advised_size),
		cmocka_unit_test(flink_unmanaged),
		cmocka_unit_test(flink_settings_count),
		cmocka_unit_test(silent_where_bounded),
		cmocka_unit_test(inputs),
		cmocka_unit_test(unread_lines_are_no_excess),
		cmocka_unit_test(capacity_past_the_limit),
		cmocka_unit_test(flink_capacity),
		cmocka_unit_test(extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
