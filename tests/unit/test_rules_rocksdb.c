/* SPDX-License-Identifier: Apache-2.0 */
/* rocksdb-over-budget: borders, inputs, texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "support/judge.h"
#include "support/snap.h"

static const char rule[] = "rocksdb-over-budget";
static const struct snap_shape plain = { .heap = 400, .pool = 3000 };

/* A TaskManager whose RocksDB was given `managed` and claims the three parts. */
static struct snapshot *tm(uint64_t managed, uint64_t cache, uint64_t memtables, uint64_t readers)
{
	struct snapshot *s = snap_new(&plain);
	snap_flink(s, 500 * MIB, managed, 0, 0, 0, 4 * GIB);
	s->engine.backend = BACKEND_ROCKSDB;
	s->engine.rocksdb.cache_usage_bytes = qty_measured(cache);
	s->engine.rocksdb.memtables_bytes = qty_measured(memtables);
	s->engine.rocksdb.table_readers_bytes = qty_measured(readers);
	s->engine.rocksdb.n_caches_certain = true;
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

static void borders(void **state)
{
	(void)state;
	static const struct {
		uint64_t managed, resident;
		bool fires;
	} table[] = {
		{ 500 * MIB, 500 * MIB, false },
		{ 500 * MIB, 564 * MIB, false }, /* 10 % are 50 MiB: one write buffer of 64 is allowed */
		{ 500 * MIB, 564 * MIB + 1, true },
		{ 1000 * MIB, 1100 * MIB, false }, /* 10 % */
		{ 1000 * MIB, 1100 * MIB + 1, true },
		{ 1000 * MIB + 9999, 1100 * MIB + 10998, false }, /* the share is taken of every byte */
		{ 1000 * MIB + 9999, 1100 * MIB + 10999, true },
		{ 2000 * MIB, 100 * MIB, false },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		uint64_t third = table[i].resident / 3;
		enum rule_answer answer = ask(tm(table[i].managed, table[i].resident - 2 * third, third, third), &f);
		if (answer != (table[i].fires ? RULE_FIRED : RULE_SILENT))
			print_error("%llu of %llu\n", (unsigned long long)table[i].resident,
				    (unsigned long long)table[i].managed);
		assert_int_equal(answer, table[i].fires ? RULE_FIRED : RULE_SILENT);
		if (!table[i].fires)
			continue;
		judge_whole(&f);
		assert_int_equal(f.severity, SEVERITY_WARNING);
		judge_figure(&f, "rocksdb_resident_bytes", table[i].resident);
		judge_figure(&f, "budget_bytes", table[i].managed);
	}
}

/* What it claims but does not hold is no excess: 40 empty column families. */
static void claims_do_not_fire(void **state)
{
	(void)state;
	struct snapshot *s = tm(100 * MIB, 320 * MIB, 0, 0);
	struct finding f;
	s->vmas.items[s->vmas.n - 1].anonymous_bytes = 5 * MIB;
	assert_int_equal(ask(s, &f), RULE_SILENT);
}

static void inputs(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = snap_new(&plain);
	assert_int_equal(ask(s, &f), RULE_SILENT); /* no RocksDB here */

	s = tm(500 * MIB, 0, 0, 0);
	memset(&s->engine.rocksdb, 0, sizeof s->engine.rocksdb);
	snap_gap(s, "http/metrics.0", 4, "connection refused by http://127.0.0.1:9249/");
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "block-cache-usage, size-all-mem-tables, estimate-table-readers-mem");
	judge_missing(&f, "connection refused by http://127.0.0.1:9249/");

	s = tm(500 * MIB, 100 * MIB, 0, 0);
	s->engine.rocksdb_managed = TRISTATE_FALSE;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "RocksDB's budget: managed memory");

	s = tm(500 * MIB, 100 * MIB, 0, 0);
	s->engine.kind = ENGINE_KAFKA_STREAMS;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "number of stores");
}

/* A part that is unread could be the excess: silence would say that there is none. */
static void an_unread_part_is_named(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm(500 * MIB, 100 * MIB, 0, 0);
	s->engine.rocksdb.table_readers_bytes = (struct qty){ 0 };
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "estimate-table-readers-mem");
	assert_int_equal(f.n_missing, 1);

	s = tm(500 * MIB, 100 * MIB, 0, 0);
	s->engine.rocksdb.memtables_bytes = (struct qty){ 0 };
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "size-all-mem-tables");

	s = tm(500 * MIB, 100 * MIB, 0, 0);
	s->engine.rocksdb.memtables_bytes = (struct qty){ 0 };
	s->engine.rocksdb.memtables_in_cache = true; /* then they are inside the cache's usage */
	assert_int_equal(ask(s, &f), RULE_SILENT);

	s = tm(500 * MIB, 700 * MIB, 0, 0); /* over it even so */
	s->engine.rocksdb.table_readers_bytes = (struct qty){ 0 };
	assert_int_equal(ask(s, &f), RULE_FIRED);
}

static void names_the_part_and_the_remedy(void **state)
{
	(void)state;
	struct finding f;
	assert_int_equal(ask(tm(500 * MIB, 100 * MIB, 600 * MIB, 50 * MIB), &f), RULE_FIRED);
	assert_int_equal(f.owner, OWNER_ROCKSDB_MEMTABLES);
	assert_non_null(strstr(
		f.change,
		"jvm-overhead.min and .max both to 256m (256m more than now), and raise taskmanager.memory.process.size"));

	struct snapshot *s = tm(500 * MIB, 100 * MIB, 60 * MIB, 500 * MIB);
	s->engine.kind = ENGINE_KAFKA_STREAMS;
	s->engine.streams.native_bound_bytes = qty_of(500 * MIB, QTY_DERIVED);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.owner, OWNER_ROCKSDB_TABLE_READERS);
	assert_non_null(strstr(f.change, "setCacheIndexAndFilterBlocks"));

	s = tm(500 * MIB, 600 * MIB, 60 * MIB, 5 * MIB);
	s->engine.kind = ENGINE_KAFKA_STREAMS;
	s->engine.streams.native_bound_bytes = qty_of(500 * MIB, QTY_DERIVED);
	s->engine.rocksdb.cache_pinned_bytes = qty_measured(400 * MIB);
	s->engine.rocksdb.n_caches_certain = false;
	s->engine.rocksdb.sharing = ROCKSDB_PER_PROCESS;
	s->engine.rocksdb.cache_capacity_bytes = qty_measured(384 * MIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.owner, OWNER_ROCKSDB_BLOCK_CACHE);
	assert_non_null(strstr(f.change, "lower the shared cache by 192 MiB"));
	judge_missing(&f, "number of block caches");
}

/* What cannot be done is not advised: no shared cache, or one too small to give that much. */
static void streams_remedy_fits_the_cache(void **state)
{
	(void)state;
	static const struct {
		enum rocksdb_sharing sharing;
		unsigned capacity_mib;
		const char *says;
	} table[] = {
		{ ROCKSDB_PER_STORE, 600, "one LRUCache" },
		{ ROCKSDB_PER_PROCESS, 383, "raise the container's memory limit by 192 MiB" },
		{ ROCKSDB_PER_PROCESS, 384, "lower the shared cache by 192 MiB" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		struct snapshot *s = tm(500 * MIB, 600 * MIB, 60 * MIB, 5 * MIB);
		s->engine.kind = ENGINE_KAFKA_STREAMS;
		s->engine.streams.native_bound_bytes = qty_of(500 * MIB, QTY_DERIVED);
		s->engine.rocksdb.sharing = table[i].sharing;
		s->engine.rocksdb.cache_capacity_bytes = qty_measured((uint64_t)table[i].capacity_mib * MIB);
		assert_int_equal(ask(s, &f), RULE_FIRED);
		assert_non_null(strstr(f.change, table[i].says));
	}
}

static void long_names_and_reasons_are_whole(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = tm(500 * MIB, 700 * MIB, 700 * MIB, 700 * MIB);
	memset(s->engine.rocksdb.largest_store, 'x', sizeof s->engine.rocksdb.largest_store - 1);
	static const char *const keys[] = { "taskmanager.memory.managed.size", "state.backend.rocksdb.memory.managed",
					    "state.backend.rocksdb.memory.fixed-per-slot",
					    "state.backend.rocksdb.memory.write-buffer-ratio" };
	for (int i = 0; i < 4; i++)
		snap_setting(s, keys[i], "1", "config.yaml:12");
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.n_settings, 4);
	assert_non_null(strstr(f.observation, "xxxxx."));

	s = tm(500 * MIB, 0, 0, 0);
	memset(&s->engine.rocksdb, 0, sizeof s->engine.rocksdb);
	char reason[sizeof s->gaps[0].reason];
	memset(reason, 'y', sizeof reason);
	reason[sizeof reason - 1] = '\0';
	snap_gap(s, "http/metrics", 4, reason);
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	assert_non_null(strstr(f.missing[0], reason));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_remedy_fits_the_cache),
		cmocka_unit_test(borders),
		cmocka_unit_test(claims_do_not_fire),
		cmocka_unit_test(inputs),
		cmocka_unit_test(an_unread_part_is_named),
		cmocka_unit_test(names_the_part_and_the_remedy),
		cmocka_unit_test(long_names_and_reasons_are_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
