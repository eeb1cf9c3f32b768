/* SPDX-License-Identifier: Apache-2.0 */
/* write-buffer-thrash: Flink's own border, by version; states, stalls, shared caches, what is advised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/judge.h"
#include "support/snap.h"

static const char rule[] = "write-buffer-thrash";
static const struct snap_shape plain = { .heap = 400, .pool = 1000 };

/* What 4096m give to managed memory. */
#define MANAGED_4096M ((uint64_t)1438814063)

static struct snapshot *tm(const char *version, uint64_t managed, uint64_t slots)
{
	struct snapshot *s = snap_new(&plain);
	snap_flink(s, 500 * MIB, managed, 0, 0, 192 * MIB, 4 * GIB);
	strcpy(s->engine.version, version);
	s->engine.flink.n_slots = count_of(slots);
	s->engine.backend = BACKEND_ROCKSDB;
	s->engine.rocksdb_managed = TRISTATE_TRUE;
	s->engine.rocksdb.sharing = ROCKSDB_PER_SLOT;
	s->engine.rocksdb.cache_usage_bytes = qty_measured(MIB);
	s->engine.rocksdb.memtables_bytes = qty_measured(MIB);
	s->engine.rocksdb.n_stores = s->engine.rocksdb.n_caches = count_of(slots);
	return s;
}

static struct snapshot *streams(uint64_t instances, uint64_t capacity)
{
	struct snapshot *s = snap_new(&plain);
	s->engine.kind = ENGINE_KAFKA_STREAMS;
	strcpy(s->engine.version, "4.4.0");
	s->engine.streams.n_instances = count_of(instances);
	s->engine.rocksdb.sharing = ROCKSDB_PER_PROCESS;
	s->engine.rocksdb.cache_capacity_bytes = qty_measured(capacity);
	s->engine.rocksdb.cache_usage_bytes = qty_measured(MIB);
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

/* F09: 32 slots of a TaskManager of 4096m are fine, 64 are not; the border is at 9,586,981 bytes of manager. */
static void flink_1_arena(void **state)
{
	(void)state;
	static const struct {
		uint64_t managed, slots, manager;
		bool fires;
	} table[] = {
		{ MANAGED_4096M, 32, 14987646, false },
		{ MANAGED_4096M, 64, 7493823, true },
		{ 28760943, 1, 9586981, false },
		{ 28760942, 1, 9586980, true },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		enum rule_answer answer = ask(tm("1.20.5", table[i].managed, table[i].slots), &f);
		if (answer != (table[i].fires ? RULE_FIRED : RULE_SILENT))
			fail_msg("row %zu", i);
		if (!table[i].fires)
			continue;
		judge_whole(&f);
		assert_int_equal(f.severity, SEVERITY_WARNING);
		judge_figure(&f, "write_buffer_manager_bytes", table[i].manager);
		judge_figure(&f, "arena_block_bytes", 8 * MIB);
	}
	struct finding f;
	assert_int_equal(ask(tm("1.20.5", MANAGED_4096M, 64), &f), RULE_FIRED);
	assert_non_null(strstr(f.change, "state.backend.rocksdb.writebuffer.size: 50mb"));
	assert_int_equal(f.turns[0].knob, KNOB_WRITE_BUFFERS);
}

/* What is advised is quiet: the same pod with that write buffer. */
static void advised_size_is_quiet(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm("1.20.5", MANAGED_4096M, 64);
	s->engine.write_buffer_bytes = qty_measured(50 * MIB);
	assert_int_equal(ask(s, &f), RULE_SILENT);
}

/* From frocksdb 8.10 on a block is 1 MiB at most: Flink's warning is then early, and that is said. */
static void flink_2_arena(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask(tm("2.2.0", MANAGED_4096M, 64), &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	judge_figure(&f, "arena_block_bytes", MIB);
	assert_non_null(strstr(f.observation, "RocksDB 8 takes 1 MiB at most"));
	assert_non_null(strstr(f.change, "writebuffer.size: 50mb"));
	assert_int_equal(ask(tm("2.2.0", MANAGED_4096M, 32), &f), RULE_SILENT);
	assert_int_equal(ask(tm("2.2.0", 3 * MIB, 1), &f), RULE_FIRED); /* 1 MiB of manager */
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	assert_non_null(strstr(f.change, "set taskmanager.memory.managed.size: 4m (4m for each of 1 slots)"));
	struct snapshot *s = tm("", MANAGED_4096M, 64); /* by an eighth, which may be too much */
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	judge_missing(&f, "Flink's version");
	s = tm("", MANAGED_4096M, 64);
	s->engine.backend = BACKEND_FORST; /* 8 in any version */
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	judge_figure(&f, "arena_block_bytes", MIB);
	assert_non_null(strstr(f.change, "state.backend.forst.writebuffer.size"));
}

/* 512 MiB give a manager of 178,956,970 bytes: 21 blocks of 8 MiB fit, 22 do not. */
static void states(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm("1.20.5", 512 * MIB, 1);
	s->engine.rocksdb.n_stores = count_of(21);
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = tm("1.20.5", 512 * MIB, 1);
	s->engine.rocksdb.n_stores = count_of(22);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	assert_non_null(strstr(f.title, "22 states share write buffers of 170.7 MiB in blocks of 8.0 MiB"));
	assert_non_null(strstr(f.change, "writebuffer.size: 62mb"));
	s = tm("1.20.5", 512 * MIB, 1);
	s->engine.rocksdb.n_stores = count_of(22);
	s->engine.write_buffer_bytes = qty_measured(62 * MIB); /* the advice */
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = tm("2.3.0", 512 * MIB, 1); /* 1 MiB each */
	s->engine.rocksdb.n_stores = count_of(170);
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = tm("2.3.0", 512 * MIB, 1);
	s->engine.rocksdb.n_stores = count_of(171);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.change, "managed.size: 513m (513m for each of 1 slots), and raise"));
	assert_non_null(strstr(f.change, "by 1m"));
	s = tm("1.20.5", 1024 * MIB, 2); /* per slot: half of them, rounded up */
	s->engine.rocksdb.n_stores = count_of(42);
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = tm("1.20.5", 1024 * MIB, 2);
	s->engine.rocksdb.n_stores = count_of(43);
	s->engine.rocksdb.n_write_stopped = count_of(1);
	s->engine.rocksdb.n_flush_pending = count_of(1);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_WARNING); /* it hurts */
}

static void fixed_sizes(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm("2.3.0", 512 * MIB, 4);
	s->engine.rocksdb_fixed_per_slot_bytes = qty_measured(3 * MIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.change, "set state.backend.rocksdb.memory.fixed-per-slot: 4m"));
	s = tm("2.3.0", 512 * MIB, 4);
	s->engine.rocksdb_managed = TRISTATE_FALSE;
	s->engine.rocksdb.sharing = ROCKSDB_PER_PROCESS;
	s->engine.rocksdb_fixed_per_tm_bytes = qty_measured(3 * MIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_non_null(strstr(f.change, "set state.backend.rocksdb.memory.fixed-per-tm: 4m"));
	s = tm("1.20.5", MANAGED_4096M, 64); /* nothing is shared: no manager at all */
	s->engine.rocksdb_managed = TRISTATE_FALSE;
	s->engine.rocksdb.sharing = ROCKSDB_PER_STORE;
	assert_int_equal(ask(s, &f), RULE_SILENT);
}

static void stalls(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm("1.20.5", 512 * MIB, 1);
	s->engine.rocksdb.n_flush_pending = count_of(1); /* normal */
	s->engine.rocksdb.n_write_stopped = s->engine.rocksdb.n_write_delayed = count_of(0);
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = tm("1.20.5", 512 * MIB, 1);
	s->engine.rocksdb.n_write_delayed = count_of(2);
	strcpy(s->engine.rocksdb.largest_store, "agg/counts #0");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	assert_string_equal(f.title, "RocksDB delays writes to 2 of its states");
	assert_non_null(strstr(f.observation, "Largest store: agg/counts #0."));
	s = tm("1.20.5", 512 * MIB, 1);
	s->engine.rocksdb.n_write_stopped = count_of(1); /* by compactions, as it seems */
	s->engine.rocksdb.n_flush_pending = count_of(0);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	s = tm("1.20.5", 512 * MIB, 1);
	s->engine.rocksdb.n_write_stopped = s->engine.rocksdb.n_flush_pending = count_of(1);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	assert_non_null(strstr(f.change, "state.backend.rocksdb.thread.num: 4"));
}

/* K25: write buffers smaller than the stores' first blocks. The buffers are never more than the cache. */
static void streams_share(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask(streams(64, 64 * MIB), &f), RULE_SILENT);
	assert_int_equal(ask(streams(65, 64 * MIB), &f), RULE_FIRED);
	judge_whole(&f);
	judge_figure(&f, "cache_capacity_bytes", 64 * MIB);
	assert_non_null(strstr(f.change, "LRUCache 576 MiB and the WriteBufferManager 288 MiB"));
	struct snapshot *s = streams(65, 64 * MIB);
	s->engine.rocksdb.sharing = ROCKSDB_PER_STORE;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = streams(2, 64 * MIB);
	s->engine.rocksdb.n_write_stopped = count_of(1);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.change, "setMaxBackgroundJobs(4)"));
}

static void inputs(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask(snap_new(&plain), &f), RULE_SILENT);
	struct snapshot *s = tm("1.20.5", 512 * MIB, 1);
	s->engine.kind = ENGINE_FLINK_JOBMANAGER;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = tm("1.20.5", 512 * MIB, 1);
	s->engine.flink.n_slots.known = false;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "number of slots");
	s = tm("1.20.5", 512 * MIB, 1);
	s->engine.rocksdb.n_stores.known = false;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "number of states");
	s = tm("1.20.5", MANAGED_4096M, 64); /* the arena alone passes: the states are not asked for */
	s->engine.rocksdb.n_stores.known = false;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	s = streams(2, 64 * MIB);
	s->engine.rocksdb.sharing = ROCKSDB_SHARING_UNKNOWN;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "shared cache");
}

static void longest_and_largest(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm("2.0.0", UINT64_MAX, 1);
	s->engine.rocksdb.n_stores = count_of(UINT64_MAX);
	s->engine.write_buffer_bytes = qty_measured(UINT64_MAX);
	s->engine.write_buffer_ratio_bp = UINT32_MAX;
	s->engine.rocksdb.n_write_stopped = s->engine.rocksdb.n_flush_pending = count_of(UINT64_MAX);
	s->engine.rocksdb.n_write_delayed = s->engine.rocksdb.n_immutable = count_of(UINT64_MAX);
	memset(s->engine.rocksdb.largest_store, 'x', sizeof s->engine.rocksdb.largest_store - 1);
	static const char *const keys[] = { "state.backend.rocksdb.writebuffer.size",
					    "state.backend.rocksdb.memory.write-buffer-ratio",
					    "taskmanager.numberOfTaskSlots", "taskmanager.memory.managed.size" };
	for (int i = 0; i < 4; i++)
		snap_setting(s, keys[i], "1", "config.yaml:12");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.n_settings, 4);
	assert_int_equal(ask(tm("1.20.5", 0, 1), &f), RULE_FIRED); /* nothing was given */
	judge_whole(&f);
	s = tm("1.20.5", 512 * MIB, UINT64_MAX);
	s->engine.write_buffer_ratio_bp = 1;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(ask(streams(UINT64_MAX, UINT64_MAX - 1), &f), RULE_FIRED);
	judge_whole(&f);
	s = tm("1.20.5", 512 * MIB, 1);
	s->engine.write_buffer_bytes = qty_measured(0);
	assert_int_equal(ask(s, &f), RULE_SILENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flink_1_arena),       cmocka_unit_test(advised_size_is_quiet),
		cmocka_unit_test(flink_2_arena),       cmocka_unit_test(states),
		cmocka_unit_test(fixed_sizes),         cmocka_unit_test(stalls),
		cmocka_unit_test(streams_share),       cmocka_unit_test(inputs),
		cmocka_unit_test(longest_and_largest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
