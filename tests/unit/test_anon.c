/* SPDX-License-Identifier: Apache-2.0 */
/* The anonymous side: the JVM, NMT, claims, other processes; no byte counted twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "ledger/reconcile.h"
#include "support/lines.h"
#include "support/snap.h"

/* A fork shares its parent's pages: Anonymous counts them in both, Pss_Anon half in each, as measured 128 against 64. */
static void other_processes(void **state)
{
	(void)state;
	struct snap_shape shape = snap_plain;
	shape.others = 70;
	struct snapshot *s = snap_new(&shape);
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_OTHER_PROCESSES, 70);
	assert_string_equal(l->lines[OWNER_OTHER_PROCESSES].note, "1 other process");
	assert_int_equal(l->residual_bytes.bytes, 0);
	free(l);

	s->vmas.have |= VMA_HAVE_PSS_ANON;
	struct vma *pool = &s->vmas.items[s->vmas.n - 1];
	pool->pss_anon_bytes = pool->pss_bytes = 236 * MIB; /* 128 of its 300 MiB are shared with a child */
	s->cgroup.n_procs = count_of(3);
	l = snap_ledger(s);
	LINE(l, OWNER_OTHER_PROCESSES, 134);
	assert_string_equal(l->lines[OWNER_OTHER_PROCESSES].note, "2 other processes");
	assert_int_equal(l->residual_bytes.bytes, 0);
	assert_true(l->groups[GROUP_ANON].closed);
	free(l);

	/* Not a member of the cgroup that was given: all its processes are others. */
	s->cgroup.target_is_member = false;
	s->cgroup.n_procs = count_of(1);
	l = snap_ledger(s);
	assert_string_equal(l->lines[OWNER_OTHER_PROCESSES].note, "1 other process");
	free(l);

	/* More of its own than the cgroup counts: nothing for others, the deficit is residual. */
	s->cgroup.target_is_member = true;
	s->cgroup.n_procs = count_of(2);
	s->cgroup.stat.anon_bytes = qty_measured(700 * MIB);
	l = snap_ledger(s);
	LINE(l, OWNER_OTHER_PROCESSES, 0);
	free(l);

	/* Alone: what differs is the time between two reads, not a process. */
	s->cgroup.n_procs = count_of(1);
	s->cgroup.stat.anon_bytes = qty_measured(900 * MIB);
	l = snap_ledger(s);
	LINE(l, OWNER_OTHER_PROCESSES, 0);
	assert_int_equal(l->lines[OWNER_OTHER_PROCESSES].bytes.state, QTY_MEASURED);
	free(l);
	snap_free(s);
}

static void full_nmt(struct snapshot *s)
{
	snap_nmt(s, "Java Heap", 0, 500 * MIB); /* the heap by its range: never again by NMT */
	snap_nmt(s, "Class", 1 * MIB, 30 * MIB);
	snap_nmt(s, "Thread", 1 * MIB, 20 * MIB);
	snap_nmt(s, "Code", 2 * MIB, 30 * MIB);
	snap_nmt(s, "GC", 5 * MIB, 25 * MIB);
	snap_nmt(s, "GCCardSet", 1 * MIB, 0);
	snap_nmt(s, "Compiler", 3 * MIB, 0);
	snap_nmt(s, "Symbol", 8 * MIB, 0);
	snap_nmt(s, "Native Memory Tracking", 1 * MIB, 0);
	s->nmt.categories[s->nmt.n_categories - 1].committed_bytes = qty_measured(4 * MIB);
	snap_nmt(s, "Other", 90 * MIB, 0);
	s->nmt.metadata_committed_bytes = qty_measured(40 * MIB);
	s->nmt.class_space_committed_bytes = qty_measured(6 * MIB);
}

static void nmt_divides_the_pool(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	full_nmt(s);
	s->engine.gauges.direct_used_bytes = qty_measured(80 * MIB);
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_METASPACE, 46);
	LINE(l, OWNER_GC, 31);
	LINE(l, OWNER_JVM_OTHER, 1 + 1 + 2 + 3 + 8 + 4);
	LINE(l, OWNER_DIRECT_BUFFERS, 80);
	LINE(l, OWNER_MANAGED_UNSAFE, 10); /* Other less direct */
	LINE(l, OWNER_NATIVE_OTHER, 340 - 46 - 31 - 19 - 90);
	assert_int_equal(l->native_pool_bytes.bytes, 154 * MIB);
	assert_true(l->pool_minus_claims_bytes.known); /* no RocksDB here: nothing is claimed */
	assert_int_equal(l->pool_minus_claims_bytes.bytes, 154 * MIB);
	assert_int_equal(l->lines[OWNER_DIRECT_BUFFERS].bytes.state, QTY_INFERRED);
	assert_false(l->overlap);
	assert_int_equal(l->residual_bytes.bytes, 0);
	free(l);

	/* Without metrics Other is taken for direct, and said so: nothing is left for Unsafe. */
	s->engine.gauges.direct_used_bytes = (struct qty){ 0 };
	l = snap_ledger(s);
	LINE(l, OWNER_DIRECT_BUFFERS, 90);
	assert_false(l->listed[OWNER_MANAGED_UNSAFE]);
	assert_non_null(strstr(l->lines[OWNER_DIRECT_BUFFERS].note, "Unsafe memory inside"));
	free(l);

	/* A difference below 64 KiB is the time between two reads. */
	static const struct {
		uint64_t direct;
		bool listed;
	} table[] = { { 90 * MIB - 64 * KIB, true }, { 90 * MIB - 64 * KIB + 1, false }, { 91 * MIB, false } };
	for (size_t i = 0; i < 3; i++) {
		s->engine.gauges.direct_used_bytes = qty_measured(table[i].direct);
		l = snap_ledger(s);
		assert_int_equal(l->listed[OWNER_MANAGED_UNSAFE], table[i].listed);
		free(l);
	}
	snap_free(s);
}

static void jvm_books_larger_than_the_pool(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	snap_nmt(s, "GC", 10 * MIB, 0);
	snap_nmt(s, "Compiler", 330 * MIB, 0);
	struct ledger *l = snap_ledger(s);
	assert_false(l->overlap); /* to the byte */
	free(l);
	snap_nmt(s, "Arena Chunk", 1, 0);
	l = snap_ledger(s);
	assert_true(l->overlap);
	LINE(l, OWNER_NATIVE_OTHER, 0);
	assert_int_equal(l->residual_bytes.bytes, 0);
	free(l);
	snap_free(s);
}

/* Without NMT and metrics nothing of the JVM's own is zero: it is unread and stands in native-other. */
static void no_nmt_no_metrics(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	struct ledger *l = snap_ledger(s);
	static const enum owner inside[] = { OWNER_METASPACE, OWNER_GC, OWNER_JVM_OTHER, OWNER_DIRECT_BUFFERS,
					     OWNER_ALLOCATOR_RETAINED };
	for (size_t i = 0; i < sizeof inside / sizeof inside[0]; i++) {
		assert_true(line_unread(l, inside[i]));
		assert_non_null(strstr(l->lines[inside[i]].note, "inside native-other"));
	}
	assert_false(l->listed[OWNER_ROCKSDB_BLOCK_CACHE]); /* no RocksDB seen */
	LINE(l, OWNER_NATIVE_OTHER, 340);
	free(l);

	/* Metrics alone: metaspace and direct are told, Unsafe needs NMT. */
	s->engine.gauges.metaspace_committed_bytes = qty_measured(50 * MIB);
	s->engine.gauges.direct_used_bytes = qty_measured(20 * MIB);
	s->engine.gauges.network_total_bytes = qty_measured(16 * MIB);
	l = snap_ledger(s);
	LINE(l, OWNER_METASPACE, 50);
	LINE(l, OWNER_DIRECT_BUFFERS, 20);
	assert_non_null(strstr(l->lines[OWNER_DIRECT_BUFFERS].note, "network buffers 16 MiB"));
	assert_true(line_unread(l, OWNER_MANAGED_UNSAFE));
	LINE(l, OWNER_NATIVE_OTHER, 270);
	free(l);
	snap_free(s);
}

/* The best word on metaspace, and only one of them. */
static void metaspace_sources(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->perf.metaspace_capacity_bytes = qty_measured(10 * MIB);
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_METASPACE, 10);
	assert_string_equal(l->lines[OWNER_METASPACE].source, "hsperfdata, as of the last GC");
	free(l);
	s->heap.metaspace_committed_bytes = qty_measured(20 * MIB);
	l = snap_ledger(s);
	LINE(l, OWNER_METASPACE, 20);
	free(l);
	s->engine.gauges.metaspace_committed_bytes = qty_measured(30 * MIB);
	l = snap_ledger(s);
	LINE(l, OWNER_METASPACE, 30);
	free(l);
	s->nmt.metadata_committed_bytes = qty_measured(35 * MIB); /* class space unread: half a sum is none */
	l = snap_ledger(s);
	LINE(l, OWNER_METASPACE, 30);
	free(l);
	s->nmt.class_space_committed_bytes = qty_measured(5 * MIB);
	l = snap_ledger(s);
	LINE(l, OWNER_METASPACE, 40);
	LINE(l, OWNER_NATIVE_OTHER, 300);
	free(l);
	snap_free(s);
}

/* 40 empty column families report 320 MiB of cache usage at 5 MiB resident, as measured. */
static void claims_above_residency(void **state)
{
	(void)state;
	struct snap_shape shape = snap_plain;
	shape.arenas = 0;
	shape.pool = 5;
	struct snapshot *s = snap_new(&shape);
	struct rocksdb_claim *claim = &s->engine.rocksdb;
	claim->cache_usage_bytes = qty_measured(320 * MIB);
	claim->n_caches = count_of(1);
	claim->n_caches_certain = true;
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_ROCKSDB_BLOCK_CACHE, 5);
	assert_int_equal(l->lines[OWNER_ROCKSDB_BLOCK_CACHE].bytes.state, QTY_INFERRED);
	assert_int_equal(l->lines[OWNER_ROCKSDB_BLOCK_CACHE].claim_bytes.bytes, 320 * MIB);
	assert_non_null(strstr(l->lines[OWNER_ROCKSDB_BLOCK_CACHE].note, "315 MiB claimed, not resident"));
	assert_non_null(strstr(l->lines[OWNER_ROCKSDB_BLOCK_CACHE].note, "1 cache"));
	LINE(l, OWNER_NATIVE_OTHER, 0);
	assert_true(line_unread(l, OWNER_ROCKSDB_MEMTABLES)); /* not exported is not empty */
	assert_false(l->pool_minus_claims_bytes.known);
	assert_int_equal(l->residual_bytes.bytes, 0);
	free(l);
	claim->memtables_bytes = claim->table_readers_bytes = qty_measured(0);
	l = snap_ledger(s);
	assert_int_equal(l->pool_minus_claims_bytes.bytes, -315 * MIB);
	free(l);
	snap_free(s);
}

/* A write buffer manager charges memtables to the cache: usage has them inside, and they are added once. */
static void memtables_charged_to_the_cache(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	struct rocksdb_claim *claim = &s->engine.rocksdb;
	claim->cache_usage_bytes = qty_measured(200 * MIB);
	claim->memtables_bytes = qty_measured(80 * MIB);
	claim->table_readers_bytes = qty_measured(10 * MIB);
	claim->memtables_in_cache = true;
	claim->n_caches = count_of(2);
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_ROCKSDB_TABLE_READERS, 10);
	LINE(l, OWNER_ROCKSDB_MEMTABLES, 80);
	LINE(l, OWNER_ROCKSDB_BLOCK_CACHE, 120);
	assert_non_null(strstr(l->lines[OWNER_ROCKSDB_BLOCK_CACHE].note, "2 caches, an estimate"));
	assert_int_equal(l->pool_minus_claims_bytes.bytes, 130 * MIB);
	free(l);
	claim->cache_pinned_bytes =
		qty_measured(115 * MIB); /* reserved when the memtables were larger: holds nothing now */
	l = snap_ledger(s);
	LINE(l, OWNER_ROCKSDB_MEMTABLES, 80);
	LINE(l, OWNER_ROCKSDB_BLOCK_CACHE, 85);
	assert_int_equal(l->pool_minus_claims_bytes.bytes, 165 * MIB);
	free(l);
	claim->cache_pinned_bytes = qty_measured(60 * MIB); /* less than the memtables: read a moment apart */
	l = snap_ledger(s);
	LINE(l, OWNER_ROCKSDB_BLOCK_CACHE, 120);
	free(l);
	claim->cache_pinned_bytes = qty_measured(250 * MIB);
	l = snap_ledger(s);
	LINE(l, OWNER_ROCKSDB_BLOCK_CACHE, 0);
	free(l);
	claim->cache_pinned_bytes = qty_measured(115 * MIB);
	claim->memtables_in_cache = false; /* each on its own: 290 of the pool's 340 */
	l = snap_ledger(s);
	LINE(l, OWNER_ROCKSDB_BLOCK_CACHE, 200);
	LINE(l, OWNER_NATIVE_OTHER, 50);
	free(l);
	claim->memtables_in_cache = true;
	claim->cache_usage_bytes = qty_measured(70 * MIB); /* read a moment apart: never below nothing */
	l = snap_ledger(s);
	LINE(l, OWNER_ROCKSDB_BLOCK_CACHE, 0);
	free(l);
	snap_free(s);
}

static void rocksdb_without_metrics(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	(void)snap_vma(s, VMA_FILE, VMA_READ | VMA_EXEC, "/tmp/librocksdbjni123.so", 12 * MIB, 0);
	struct ledger *l = snap_ledger(s);
	assert_true(line_unread(l, OWNER_ROCKSDB_BLOCK_CACHE));
	assert_true(line_unread(l, OWNER_ROCKSDB_MEMTABLES));
	assert_true(line_unread(l, OWNER_ROCKSDB_TABLE_READERS));
	assert_non_null(strstr(l->lines[OWNER_ROCKSDB_MEMTABLES].note, "inside native-other"));
	assert_false(l->pool_minus_claims_bytes.known);
	free(l);
	s->engine.rocksdb.cache_usage_bytes = qty_measured(50 * MIB);
	s->engine.rocksdb.memtables_bytes = qty_measured(50 * MIB);
	s->engine.rocksdb.ambiguous = true; /* colliding series: no sum of them is used */
	l = snap_ledger(s);
	assert_true(line_unread(l, OWNER_ROCKSDB_BLOCK_CACHE));
	assert_non_null(strstr(l->lines[OWNER_ROCKSDB_BLOCK_CACHE].note, "collide"));
	LINE(l, OWNER_NATIVE_OTHER, 340);
	free(l);
	snap_free(s);
}

static void retained(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->malloc_info.free_bytes = qty_measured(60 * MIB);
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_ALLOCATOR_RETAINED, 60);
	LINE(l, OWNER_NATIVE_OTHER, 280);
	assert_int_equal(l->pool_minus_claims_bytes.bytes, 280 * MIB);
	free(l);
	s->allocator = ALLOCATOR_JEMALLOC; /* malloc_info then tells of a glibc that nobody uses */
	l = snap_ledger(s);
	assert_true(line_unread(l, OWNER_ALLOCATOR_RETAINED));
	free(l);
	snap_free(s);
}

/*
 * Every source that overlaps another, one after the other: NMT, hsperfdata, heap_info, malloc_info, metrics, RocksDB's
 * claims. The owners' sum must not move by a byte.
 */
static void add_perf(struct snapshot *s)
{
	s->perf_read = true;
	s->perf.metaspace_used_bytes = s->perf.metaspace_capacity_bytes = qty_measured(44 * MIB);
	s->perf.heap_capacity_bytes = s->perf.heap_used_bytes = qty_measured(500 * MIB);
}
static void add_heap_info(struct snapshot *s)
{
	s->heap.committed_bytes = s->heap.used_bytes = qty_measured(500 * MIB);
	s->heap.metaspace_used_bytes = s->heap.metaspace_committed_bytes = qty_measured(45 * MIB);
}
static void add_code(struct snapshot *s)
{
	s->code.used_bytes = s->code.max_used_bytes = qty_measured(25 * MIB);
}
static void add_malloc_info(struct snapshot *s)
{
	s->malloc_info.in_use_bytes = qty_measured(200 * MIB);
	s->malloc_info.free_bytes = qty_measured(30 * MIB);
	s->malloc_info.system_bytes = qty_measured(230 * MIB);
}
static void add_metrics(struct snapshot *s)
{
	struct engine_gauges *g = &s->engine.gauges;
	s->metrics_read = true;
	g->heap_used_bytes = g->heap_committed_bytes = qty_measured(500 * MIB);
	g->metaspace_used_bytes = g->metaspace_committed_bytes = qty_measured(46 * MIB);
	g->code_cache_used_bytes = qty_measured(25 * MIB);
	g->direct_used_bytes = g->direct_capacity_bytes = qty_measured(70 * MIB);
	g->network_used_bytes = g->network_total_bytes = qty_measured(64 * MIB);
	g->managed_used_bytes = g->managed_total_bytes = qty_measured(600 * MIB); /* a reservation, never a use */
	g->mapped_used_bytes = qty_measured(40 * MIB);
}
static void add_claims(struct snapshot *s)
{
	struct rocksdb_claim *claim = &s->engine.rocksdb;
	claim->cache_usage_bytes = qty_measured(300 * MIB);
	claim->cache_capacity_bytes = qty_measured(400 * MIB);
	claim->memtables_bytes = qty_measured(100 * MIB);
	claim->memtables_unpinned_bytes = qty_measured(90 * MIB);
	claim->table_readers_bytes = qty_measured(20 * MIB);
	claim->live_data_bytes = claim->sst_bytes = qty_measured(2000u * (uint64_t)MIB);
	claim->memtables_in_cache = true;
}

static void no_double_count(void **state)
{
	(void)state;
	static void (*const sources[])(struct snapshot *) = { add_perf,    add_heap_info, add_code,       full_nmt,
							      add_metrics, add_claims,    add_malloc_info };
	enum { N = sizeof sources / sizeof sources[0] };
	struct snap_shape shape = snap_plain;
	shape.others = 33;
	shape.thp_unmapped = 7;
	for (unsigned mask = 0; mask < 1u << N; mask++) {
		struct snapshot *s = snap_new(&shape);
		for (unsigned i = 0; i < N; i++)
			if (mask >> i & 1)
				sources[i](s);
		struct ledger *l = snap_ledger(s);
		assert_int_equal(snap_group_lines(l, GROUP_ANON), (801 + 33 + 7) * (uint64_t)MIB);
		assert_int_equal(snap_all_lines(l), s->cgroup.current_bytes.bytes);
		assert_int_equal(l->residual_bytes.bytes, 0);
		for (int group = 0; group < GROUP_HUGETLB; group++)
			assert_true(l->groups[group].closed);
		free(l);
		snap_free(s);
	}
}

static void a_heap_that_was_not_found_stays_in_the_pool(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->heap.n_ranges = 0;
	s->heap.committed_bytes = qty_measured(500 * MIB);
	struct ledger *l = snap_ledger(s);
	/* By shape or not at all: never lost, never twice. */
	assert_int_equal(snap_group_lines(l, GROUP_ANON), 801 * (uint64_t)MIB);
	if (line_unread(l, OWNER_JAVA_HEAP))
		assert_non_null(strstr(l->lines[OWNER_JAVA_HEAP].note, "native-other"));
	free(l);
	snap_free(s);
}

/* A claim that is up to 1 MiB above what is there needs no note. */
static void small_differences_are_not_noted(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->malloc_info.free_bytes = qty_measured(341 * MIB - 1);
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_ALLOCATOR_RETAINED, 340);
	assert_string_equal(l->lines[OWNER_ALLOCATOR_RETAINED].note, "");
	free(l);
	s->malloc_info.free_bytes = qty_measured(341 * MIB);
	l = snap_ledger(s);
	assert_string_equal(l->lines[OWNER_ALLOCATOR_RETAINED].note, "1 MiB claimed, not resident");
	free(l);
	s->malloc_info.free_bytes = qty_measured(200 * MIB);
	l = snap_ledger(s);
	assert_string_equal(l->lines[OWNER_ALLOCATOR_RETAINED].note, "");
	free(l);
	snap_free(s);
}

/* Neither anon nor file known, no figure for what is in between. */
static void thp_needs_both_sides(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->cgroup.stat.file_bytes = (struct qty){ 0 };
	struct ledger *l = snap_ledger(s);
	assert_false(l->listed[OWNER_THP_UNMAPPED]);
	free(l);
	snap_free(s);
	s = snap_new(&snap_plain);
	s->cgroup.stat.unevictable_bytes = (struct qty){ 0 };
	l = snap_ledger(s);
	assert_false(l->listed[OWNER_THP_UNMAPPED]);
	free(l);
	snap_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_processes),
		cmocka_unit_test(nmt_divides_the_pool),
		cmocka_unit_test(jvm_books_larger_than_the_pool),
		cmocka_unit_test(no_nmt_no_metrics),
		cmocka_unit_test(metaspace_sources),
		cmocka_unit_test(claims_above_residency),
		cmocka_unit_test(memtables_charged_to_the_cache),
		cmocka_unit_test(rocksdb_without_metrics),
		cmocka_unit_test(retained),
		cmocka_unit_test(no_double_count),
		cmocka_unit_test(a_heap_that_was_not_found_stays_in_the_pool),
		cmocka_unit_test(small_differences_are_not_noted),
		cmocka_unit_test(thp_needs_both_sides),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
