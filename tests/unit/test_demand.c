/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets, bounds and the two demands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "rules/rules.h"
#include "support/snap.h"

/* Flink's own figures for three sizes of its default configuration, and what is plausibly resident under load, in MiB. */
struct tm {
	const char *name;
	uint64_t heap, managed, network, direct, overhead, process;
	struct snap_shape shape; /* pool: direct + metaspace + JVM + RocksDB + the rest of malloc */
	unsigned direct_used, metaspace, jvm, rocksdb;
};

static const struct tm tms[] = {
	{ "1728m",
	  536870902,
	  536870920,
	  134217730,
	  268435458,
	  201326592,
	  1728ull << 20,
	  { .heap = 511,
	    .code = 60,
	    .cds = 12,
	    .library = 10,
	    .stacks = 18,
	    .arenas = 30,
	    .pool = 150 + 110 + 60 + 512 + 20,
	    .cache = 200,
	    .kernel_stack = 3,
	    .pagetables = 5,
	    .slab_unreclaimable = 4,
	    .sock = 3 },
	  150,
	  110,
	  60,
	  512 },
	{ "4096m",
	  1664299798,
	  1438814063,
	  359703515,
	  493921243,
	  429496736,
	  4096ull << 20,
	  { .heap = 1587,
	    .code = 90,
	    .cds = 12,
	    .library = 10,
	    .stacks = 25,
	    .arenas = 60,
	    .pool = 420 + 180 + 130 + 1400 + 40,
	    .cache = 900,
	    .kernel_stack = 5,
	    .pagetables = 9,
	    .slab_unreclaimable = 8,
	    .sock = 10 },
	  420,
	  180,
	  130,
	  1400 },
	{ "16384m",
	  7784628106,
	  6335076856,
	  1583769214,
	  1717986942,
	  1073741824,
	  16384ull << 20,
	  { .heap = 7424,
	    .code = 120,
	    .cds = 12,
	    .library = 10,
	    .stacks = 60,
	    .arenas = 60,
	    .pool = 1560 + 150 + 350 + 5900 + 60,
	    .cache = 2000,
	    .kernel_stack = 8,
	    .pagetables = 35,
	    .slab_unreclaimable = 20,
	    .sock = 20 },
	  1560,
	  150,
	  350,
	  5900 },
};

static struct snapshot *tm_new(const struct tm *tm, bool sources)
{
	struct snapshot *s = snap_new(&tm->shape);
	snap_flink(s, tm->heap, tm->managed, tm->network, tm->direct, tm->overhead, tm->process);
	s->engine.backend = BACKEND_ROCKSDB;
	s->cgroup.max = limit_set(tm->process);
	s->status.n_threads = count_of(80);
	if (!sources)
		return s;
	snap_nmt(s, "GC", (uint64_t)tm->jvm / 2 * MIB, 0);
	snap_nmt(s, "Compiler", (uint64_t)tm->jvm / 2 * MIB, 0);
	snap_nmt(s, "Other", (uint64_t)tm->direct_used * MIB, 0);
	s->engine.gauges.metaspace_committed_bytes = qty_measured((uint64_t)tm->metaspace * MIB);
	s->engine.gauges.direct_used_bytes = qty_measured((uint64_t)tm->direct_used * MIB);
	s->engine.rocksdb = (struct rocksdb_claim){ .memtables_in_cache = true,
						    .cache_usage_bytes = qty_measured((uint64_t)tm->rocksdb * MIB),
						    .memtables_bytes = qty_measured((uint64_t)tm->rocksdb / 3 * MIB),
						    .table_readers_bytes = qty_measured(0) };
	return s;
}

static enum rule_answer judge(const struct snapshot *s, const struct ledger *l)
{
	struct verdict *v = calloc(1, sizeof *v);
	struct thresholds thresholds;
	thresholds_init(&thresholds);
	struct rule_input input = { .snapshot = s, .ledger = l, .thresholds = &thresholds };
	enum rule_answer answer = RULE_SILENT;
	rules_run(&input, v);
	for (size_t i = 0; i < v->n_findings; i++)
		if (strcmp(v->findings[i].rule, "demand-over-limit") == 0)
			answer = RULE_FIRED;
	for (size_t i = 0; i < v->n_inconclusive; i++)
		if (strcmp(v->inconclusive[i].rule, "demand-over-limit") == 0)
			answer = RULE_INCONCLUSIVE;
	free(v);
	return answer;
}

static void default_taskmanagers_are_silent(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof tms / sizeof tms[0]; i++) {
		uint64_t expected[2];
		for (int sources = 0; sources < 2; sources++) { /* without NMT and metrics, and with them */
			struct snapshot *s = tm_new(&tms[i], sources);
			struct ledger *l = snap_ledger(s);
			assert_true(qty_known(l->expected.bytes));
			expected[sources] = l->expected.bytes.bytes;
			print_message("%s, %s sources: expected %llu MiB, legal %llu MiB\n", tms[i].name,
				      sources ? "all" : "no", (unsigned long long)(expected[sources] / MIB),
				      (unsigned long long)(l->legal.bytes.bytes / MIB));
			assert_int_equal(judge(s, l), RULE_SILENT);
			free(l);
			snap_free(s);
		}
		/* What is not read must not be counted twice: the two differ by the tenth on what has no line of its own. */
		uint64_t more = expected[0] > expected[1] ? expected[0] - expected[1] : expected[1] - expected[0];
		assert_true(more <= expected[1] / 20);
	}
}

static void the_same_over_a_smaller_limit_fires(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof tms / sizeof tms[0]; i++) {
		struct snapshot *s = tm_new(&tms[i], true);
		struct ledger *l = snap_ledger(s);
		uint64_t expected = l->expected.bytes.bytes;
		free(l);
		s->cgroup.max = limit_set(expected); /* to the byte: it fits */
		l = snap_ledger(s);
		assert_int_equal(judge(s, l), RULE_SILENT);
		free(l);
		s->cgroup.max = limit_set(expected - 1);
		l = snap_ledger(s);
		assert_int_equal(judge(s, l), RULE_FIRED);
		free(l);
		snap_free(s);
	}
}

static void expected_is_the_sum_of_its_parts(void **state)
{
	(void)state;
	const struct tm *tm = &tms[0];
	struct snapshot *s = tm_new(tm, true);
	struct ledger *l = snap_ledger(s);
	const struct demand *d = &l->expected;
	assert_int_equal(d->n_parts, 5);
	assert_int_equal(d->parts[0].bytes, tm->heap);
	assert_int_equal(d->parts[1].bytes, 150 * MIB);
	assert_int_equal(d->parts[2].bytes, 110 * MIB);
	assert_int_equal(d->parts[3].bytes, tm->managed); /* more than the 512 MiB that are there */
	/* 1.1 x (code, cds, library, stacks, JVM, malloc that nobody claims, kernel, sockets): no page cache, no RocksDB. */
	uint64_t rest = (60 + 12 + 10 + 18 + 60 + 30 + 20 + 3 + 5 + 4 + 3) * (uint64_t)MIB;
	assert_int_equal(d->parts[4].bytes, rest + rest / 10);
	uint64_t sum = 0;
	for (size_t i = 0; i < d->n_parts; i++)
		sum += d->parts[i].bytes;
	assert_int_equal(d->bytes.bytes, sum);
	assert_null(d->missing);
	free(l);
	snap_free(s);
}

/* What the excess of the native pool over RocksDB's bound is, is no cache: it counts in full. */
static void native_memory_past_the_bound_counts(void **state)
{
	(void)state;
	struct snapshot *s = tm_new(&tms[0], false);
	struct ledger *l = snap_ledger(s);
	uint64_t before = l->expected.bytes.bytes;
	free(l);
	s->vmas.items[s->vmas.n - 1].anonymous_bytes += 100 * MIB;
	l = snap_ledger(s);
	assert_int_equal(l->expected.bytes.bytes, before + 110 * MIB);
	free(l);
	snap_free(s);
}

static void rocksdb_expectations(void **state)
{
	(void)state;
	struct snapshot *s = tm_new(&tms[0], true);
	s->engine.backend = BACKEND_HASHMAP; /* managed memory is then nobody's: only what is there counts */
	struct ledger *l = snap_ledger(s);
	assert_int_equal(l->expected.parts[3].bytes, 512 * MIB);
	free(l);

	s->engine.backend = BACKEND_ROCKSDB;
	s->engine.rocksdb_fixed_per_slot_bytes = qty_measured(300 * MIB);
	s->engine.flink.n_slots = count_of(3);
	l = snap_ledger(s);
	assert_int_equal(l->expected.parts[3].bytes, 900 * MIB);
	assert_int_equal(l->lines[OWNER_ROCKSDB_BLOCK_CACHE].bound.bytes, 900 * MIB);
	free(l);
	s->engine.flink.n_slots = count_of(UINT64_MAX); /* a product past u64 bounds nothing */
	l = snap_ledger(s);
	assert_int_equal(l->lines[OWNER_ROCKSDB_BLOCK_CACHE].bound.kind, LIMIT_UNREAD);
	free(l);

	s->engine.rocksdb_fixed_per_slot_bytes = (struct qty){ 0 };
	s->engine.rocksdb_managed = TRISTATE_FALSE;
	s->engine.rocksdb_fixed_per_tm_bytes = qty_measured(700 * MIB);
	l = snap_ledger(s);
	assert_int_equal(l->expected.parts[3].bytes, 700 * MIB);
	free(l);
	s->engine.rocksdb_fixed_per_tm_bytes = qty_measured(100 * MIB); /* less than is there already */
	l = snap_ledger(s);
	assert_int_equal(l->expected.parts[3].bytes, 512 * MIB);
	free(l);
	s->engine.rocksdb_fixed_per_tm_bytes = (struct qty){ 0 };
	l = snap_ledger(s);
	assert_int_equal(l->lines[OWNER_ROCKSDB_BLOCK_CACHE].bound.kind, LIMIT_UNREAD);
	free(l);
	snap_free(s);
}

/* Streams: a cache never holds more than there is data for it. */
static void streams_expectation_is_bounded_by_its_data(void **state)
{
	(void)state;
	struct snapshot *s = tm_new(&tms[0], true);
	memset(&s->engine.flink, 0, sizeof s->engine.flink);
	s->engine.kind = ENGINE_KAFKA_STREAMS;
	s->engine.streams.native_bound_bytes = qty_of(4000ull * MIB, QTY_DERIVED);
	/* No metrics: a setter may bound the caches, so what stores take by default is no expectation. */
	s->engine.rocksdb.cache_capacity_bytes = (struct qty){ 0 };
	struct ledger *l = snap_ledger(s);
	assert_true(l->expected.parts[3].bytes < 4000ull * MIB);
	free(l);
	s->engine.rocksdb.cache_capacity_bytes = qty_measured(4000ull * MIB);
	l = snap_ledger(s);
	assert_int_equal(l->expected.parts[3].bytes, 4000ull * MIB); /* live data unread: the bound */
	free(l);
	s->engine.rocksdb.live_data_bytes = qty_measured(400 * MIB);
	s->engine.rocksdb.table_readers_bytes = qty_measured(30 * MIB);
	s->engine.rocksdb.memtables_bytes = qty_measured(170 * MIB);
	l = snap_ledger(s);
	assert_int_equal(l->expected.parts[3].bytes, 600 * MIB);
	free(l);
	s->engine.rocksdb.live_data_bytes = qty_measured(5000ull * MIB);
	l = snap_ledger(s);
	assert_int_equal(l->expected.parts[3].bytes, 4000ull * MIB);
	free(l);
	snap_free(s);
}

static void what_is_missing_is_named(void **state)
{
	(void)state;
	struct snapshot *s = tm_new(&tms[0], true);
	s->flags.max_heap_bytes = (struct qty){ 0 };
	struct ledger *l = snap_ledger(s);
	assert_false(qty_known(l->expected.bytes));
	assert_string_equal(l->expected.missing, "-Xmx");
	assert_int_equal(judge(s, l), RULE_INCONCLUSIVE);
	free(l);

	s->flags.max_heap_bytes = qty_measured(1ull << 29);
	s->flags.max_metaspace_bytes = (struct qty){ 0 };
	l = snap_ledger(s);
	assert_true(qty_known(l->expected.bytes));
	assert_false(qty_known(l->legal.bytes)); /* unlimited metaspace: the legal demand has no sum */
	assert_string_equal(l->legal.missing, "MaxMetaspaceSize (unlimited)");
	assert_int_equal(l->lines[OWNER_METASPACE].bound.kind, LIMIT_NONE);
	free(l);

	s->flags.max_heap_bytes = qty_measured(UINT64_MAX);
	l = snap_ledger(s);
	assert_false(qty_known(l->expected.bytes));
	assert_non_null(l->expected.missing);
	free(l);

	s->vmas_read = false;
	l = snap_ledger(s);
	assert_int_equal(l->expected.n_parts, 0);
	assert_false(qty_known(l->expected.bytes));
	assert_int_equal(judge(s, l), RULE_INCONCLUSIVE);
	free(l);
	s->vmas_read = true;
	s->is_jvm = false;
	l = snap_ledger(s);
	assert_int_equal(l->expected.n_parts, 0);
	free(l);
	snap_free(s);
}

/* A heap whose range is unknown stands in native-other: adding -Xmx would count it twice, so there is no figure. */
static void a_heap_not_found_gives_no_demand(void **state)
{
	(void)state;
	struct snapshot *s = tm_new(&tms[0], true);
	struct ledger *l = snap_ledger(s);
	bool found = qty_known(l->lines[OWNER_JAVA_HEAP].bytes);
	assert_true(found);
	free(l);
	s->heap.n_ranges = 0;
	l = snap_ledger(s);
	if (!qty_known(l->lines[OWNER_JAVA_HEAP].bytes)) {
		assert_false(qty_known(l->expected.bytes));
		assert_string_equal(l->expected.missing, "range of the Java heap");
		assert_false(qty_known(l->legal.bytes));
	}
	free(l);
	snap_free(s);
}

static void legal_demand_adds_bounds(void **state)
{
	(void)state;
	const struct tm *tm = &tms[0];
	struct snapshot *s = tm_new(tm, true);
	struct ledger *l = snap_ledger(s);
	const struct demand *d = &l->legal;
	assert_int_equal(d->n_parts, 7);
	assert_int_equal(d->parts[0].bytes, tm->heap);
	assert_int_equal(d->parts[1].bytes, tm->direct);
	assert_int_equal(d->parts[2].bytes, 256 * MIB);
	assert_int_equal(d->parts[3].bytes, 240 * MIB); /* ReservedCodeCacheSize by default */
	assert_int_equal(d->parts[4].bytes, 80 * MIB);  /* 80 threads of 1 MiB */
	assert_int_equal(d->parts[5].bytes, tm->managed);
	uint64_t rest = (12 + 10 + 60 + 30 + 20 + 3 + 5 + 4 + 3) * (uint64_t)MIB;
	assert_int_equal(d->parts[6].bytes, rest);
	/* The shipped default exceeds its container by it, and nobody is alarmed. */
	assert_true(d->bytes.bytes > tm->process);
	assert_int_equal(judge(s, l), RULE_SILENT);
	free(l);
	s->flags.reserved_code_cache_bytes = qty_measured(100 * MIB);
	s->flags.thread_stack_bytes = qty_measured(2 * MIB);
	s->flags.max_direct_bytes = (struct qty){ 0 }; /* then the largest heap is its bound */
	l = snap_ledger(s);
	assert_int_equal(l->legal.parts[1].bytes, tm->heap);
	assert_int_equal(l->legal.parts[3].bytes, 100 * MIB);
	assert_int_equal(l->legal.parts[4].bytes, 160 * MIB);
	free(l);
	s->status.n_threads.known = false;
	l = snap_ledger(s);
	assert_string_equal(l->legal.missing, "thread stacks");
	free(l);
	snap_free(s);
}

/* Lines that are unread stand in native-other: a bound for them and those bytes may be the same bytes. */
static void legal_demand_counts_unread_lines_once(void **state)
{
	(void)state;
	struct snapshot *s = tm_new(&tms[0], false);
	struct ledger *l = snap_ledger(s);
	uint64_t native = 30 + 150 + 110 + 60 + 512 + 20, bounds = tms[0].managed + tms[0].direct + 256 * MIB;
	uint64_t rest = (12 + 10 + 3 + 5 + 4 + 3) * (uint64_t)MIB;
	if (native * MIB > bounds)
		rest += native * MIB - bounds;
	assert_int_equal(l->legal.parts[6].bytes, rest);
	free(l);
	snap_free(s);
}

static const struct ledger_budget *budget_of(const struct ledger *l, const char *name)
{
	for (size_t i = 0; i < l->n_budgets; i++)
		if (strcmp(l->budgets[i].name, name) == 0)
			return &l->budgets[i];
	return NULL;
}

static void budgets(void **state)
{
	(void)state;
	const struct tm *tm = &tms[0];
	struct snapshot *s = tm_new(tm, true);
	struct ledger *l = snap_ledger(s);
	static const struct {
		const char *name;
		uint64_t mib;
	} table[] = { { "heap", 511 },
		      { "direct", 150 },
		      { "metaspace", 110 },
		      { "managed", 512 },
		      { "jvm-overhead", 60 + 12 + 10 + 18 + 60 + 30 + 20 } };
	assert_int_equal(l->n_budgets, 5);
	uint64_t sum = 0, owners = 0;
	for (size_t i = 0; i < 5; i++) {
		const struct ledger_budget *b = budget_of(l, table[i].name);
		assert_non_null(b);
		assert_int_equal(b->actual_bytes.bytes, table[i].mib * MIB);
		assert_int_equal(owners & b->owners, 0); /* no owner lives on two budgets */
		owners |= b->owners;
		sum += b->budget_bytes;
	}
	assert_int_equal(sum, tm->process);
	assert_null(budget_of(l, "managed")->enforced_by);
	assert_string_equal(budget_of(l, "heap")->enforced_by, "-Xmx");
	assert_int_equal(l->lines[OWNER_JAVA_HEAP].budget_bytes.bytes, tm->heap);
	assert_int_equal(l->lines[OWNER_JAVA_HEAP].bound.bytes, tm->heap);
	assert_int_equal(l->lines[OWNER_ROCKSDB_BLOCK_CACHE].budget_bytes.bytes, tm->managed);
	assert_int_equal(l->lines[OWNER_THREAD_STACKS].bound.bytes, 80 * MIB);
	free(l);

	s->engine.kind = ENGINE_FLINK_JOBMANAGER; /* no managed memory there */
	s->engine.flink.managed_bytes = (struct qty){ 0 };
	l = snap_ledger(s);
	assert_null(budget_of(l, "managed"));
	free(l);

	memset(&s->engine.flink, 0, sizeof s->engine.flink);
	s->engine.kind = ENGINE_JVM;
	l = snap_ledger(s);
	assert_int_equal(l->n_budgets, 1);
	assert_int_equal(l->budgets[0].budget_bytes, tm->heap);
	free(l);

	/* The ZGC heap is the Java heap: same budget, same bound. */
	s->memfd_heap_bytes = qty_measured(100 * MIB);
	s->cgroup.stat.shmem_bytes = qty_measured(100 * MIB);
	s->heap.n_ranges = 0;
	s->vmas.items[0].anonymous_bytes = 0;
	l = snap_ledger(s);
	assert_int_equal(l->lines[OWNER_ZGC_HEAP].budget_bytes.bytes, tm->heap);
	assert_int_equal(l->lines[OWNER_ZGC_HEAP].bound.bytes, tm->heap);
	assert_int_equal(l->budgets[0].actual_bytes.bytes, 100 * MIB);
	free(l);
	snap_free(s);
}

/* A budget that is not known is no budget of zero. */
static void unknown_budgets_are_not_listed(void **state)
{
	(void)state;
	struct snapshot *s = tm_new(&tms[0], true);
	s->engine.flink.direct_bytes = s->engine.flink.managed_bytes = (struct qty){ 0 };
	struct ledger *l = snap_ledger(s);
	assert_null(budget_of(l, "direct"));
	assert_null(budget_of(l, "managed"));
	assert_int_equal(l->n_budgets, 3);
	free(l);
	snap_free(s);
}

/* MaxMetaspaceSize is unlimited by default: said of a JVM whose options could be read, of nobody else. */
static void metaspace_without_a_bound(void **state)
{
	(void)state;
	static const struct {
		enum access_level access;
		bool is_jvm, told;
		enum limit_kind kind;
	} table[] = {
		{ ACCESS_FULL, true, false, LIMIT_NONE },     { ACCESS_PROCESS, true, false, LIMIT_NONE },
		{ ACCESS_STATUS, true, false, LIMIT_UNREAD }, { ACCESS_FULL, false, false, LIMIT_UNREAD },
		{ ACCESS_FULL, true, true, LIMIT_SET },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct snapshot *s = tm_new(&tms[0], true);
		s->access = table[i].access;
		s->is_jvm = table[i].is_jvm;
		if (!table[i].told)
			s->flags.max_metaspace_bytes = (struct qty){ 0 };
		struct ledger *l = snap_ledger(s);
		assert_int_equal(l->lines[OWNER_METASPACE].bound.kind, table[i].kind);
		free(l);
		snap_free(s);
	}
}

/* One part of RocksDB unread is enough for its bytes to stand in native-other. */
static void one_unread_part_counts_once(void **state)
{
	(void)state;
	for (int part = 0; part < 3; part++) {
		struct snapshot *s = tm_new(&tms[0], true);
		struct rocksdb_claim *claim = &s->engine.rocksdb;
		struct qty *parts[] = { &claim->cache_usage_bytes, &claim->memtables_bytes,
					&claim->table_readers_bytes };
		claim->memtables_in_cache = false;
		claim->cache_usage_bytes = claim->memtables_bytes = qty_measured(150 * MIB);
		claim->table_readers_bytes = qty_measured(100 * MIB);
		*parts[part] = (struct qty){ 0 };
		struct ledger *l = snap_ledger(s);
		uint64_t known = qty_or(claim->cache_usage_bytes, 0) + qty_or(claim->memtables_bytes, 0) +
				 qty_or(claim->table_readers_bytes, 0);
		uint64_t native = l->lines[OWNER_NATIVE_OTHER].bytes.bytes, bound = tms[0].managed - known;
		uint64_t rest = (60 + 12 + 10 + 18 + 60 + 3 + 5 + 4 + 3) * (uint64_t)MIB +
				(native > bound ? native - bound : 0);
		assert_int_equal(l->expected.parts[4].bytes, rest + rest / 10);
		free(l);
		snap_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(default_taskmanagers_are_silent),
		cmocka_unit_test(the_same_over_a_smaller_limit_fires),
		cmocka_unit_test(expected_is_the_sum_of_its_parts),
		cmocka_unit_test(native_memory_past_the_bound_counts),
		cmocka_unit_test(rocksdb_expectations),
		cmocka_unit_test(streams_expectation_is_bounded_by_its_data),
		cmocka_unit_test(what_is_missing_is_named),
		cmocka_unit_test(a_heap_not_found_gives_no_demand),
		cmocka_unit_test(legal_demand_adds_bounds),
		cmocka_unit_test(legal_demand_counts_unread_lines_once),
		cmocka_unit_test(budgets),
		cmocka_unit_test(unknown_budgets_are_not_listed),
		cmocka_unit_test(metaspace_without_a_bound),
		cmocka_unit_test(one_unread_part_counts_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
