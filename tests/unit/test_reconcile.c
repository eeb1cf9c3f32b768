/* SPDX-License-Identifier: Apache-2.0 */
/* The books: each group against its counter, the identity of the charge, sums and tolerances. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "ledger/parts.h"
#include "ledger/reconcile.h"
#include "support/lines.h"
#include "support/snap.h"

static void every_group_closes(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	struct ledger *l = snap_ledger(s);
	for (int group = 0; group < GROUP_HUGETLB; group++) {
		assert_true(l->groups[group].closed);
		assert_int_equal(l->groups[group].counter_bytes.bytes, l->groups[group].owners_bytes.bytes);
		assert_int_equal(l->groups[group].owners_bytes.bytes, snap_group_lines(l, (enum ledger_group)group));
	}
	assert_false(qty_known(l->groups[GROUP_HUGETLB].counter_bytes));
	assert_false(l->groups[GROUP_HUGETLB].closed);
	assert_int_equal(l->stat_residual_bytes.bytes, 0);
	assert_true(l->residual_bytes.known);
	assert_int_equal(l->residual_bytes.bytes, 0);
	assert_false(l->torn);
	LINE(l, OWNER_JAVA_HEAP, 400);
	LINE(l, OWNER_CODE_CACHE, 30);
	LINE(l, OWNER_JVM_CDS, 5);
	LINE(l, OWNER_LIBRARY_DATA, 6);
	LINE(l, OWNER_THREAD_STACKS, 20);
	LINE(l, OWNER_NATIVE_OTHER, 340);
	LINE(l, OWNER_OTHER_PROCESSES, 0);
	LINE(l, OWNER_TMPFS, 10);
	LINE(l, OWNER_MAPPED_FILES, 50);
	LINE(l, OWNER_PAGE_CACHE, 200);
	LINE(l, OWNER_KERNEL_STACKS, 2);
	LINE(l, OWNER_PAGE_TABLES, 4);
	LINE(l, OWNER_SLAB_RECLAIMABLE, 8);
	LINE(l, OWNER_SLAB_UNRECLAIMABLE, 3);
	LINE(l, OWNER_PERCPU, 1);
	LINE(l, OWNER_KERNEL_OTHER, 5);
	LINE(l, OWNER_SOCKETS, 2);
	assert_true(line_unread(l, OWNER_VMALLOC)); /* not in this memory.stat: not zero */
	assert_int_equal(l->lines[OWNER_JAVA_HEAP].bytes.state, QTY_MEASURED);
	free(l);
	snap_free(s);
}

/* Half-unmapped huge pages, as measured: 64 MiB on the LRU and charged, in no type counter. */
static void thp_unmapped_closes_the_identity(void **state)
{
	(void)state;
	struct snap_shape shape = snap_plain;
	shape.thp_unmapped = 64;
	struct snapshot *s = snap_new(&shape);
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_THP_UNMAPPED, 64);
	assert_int_equal(l->stat_residual_bytes.bytes, 0);
	assert_int_equal(l->residual_bytes.bytes, 0);
	assert_true(l->groups[GROUP_ANON].closed);
	assert_int_equal(l->groups[GROUP_ANON].counter_bytes.bytes, s->cgroup.stat.anon_bytes.bytes + 64 * MIB);
	free(l);

	/* jemalloc with RocksDB: 4.36 MiB on an anon of 37.8 MiB. The tolerance of a group does not swallow it. */
	s->cgroup.stat.inactive_anon_bytes.bytes -= 64 * MIB - 4571791;
	s->cgroup.current_bytes.bytes -= 64 * MIB - 4571791;
	l = snap_ledger(s);
	assert_int_equal(line_bytes(l, OWNER_THP_UNMAPPED), 4571791);
	assert_int_equal(l->residual_bytes.bytes, 0);
	free(l);
	snap_free(s);
}

static void lists_below_the_types_are_told(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->cgroup.stat.inactive_anon_bytes.bytes -= 1 * MIB; /* exactly the tolerance: no note */
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_THP_UNMAPPED, 0);
	assert_string_equal(l->lines[OWNER_THP_UNMAPPED].note, "");
	free(l);
	s->cgroup.stat.inactive_anon_bytes.bytes -= 7 * MIB;
	l = snap_ledger(s);
	LINE(l, OWNER_THP_UNMAPPED, 0);
	assert_non_null(strstr(l->lines[OWNER_THP_UNMAPPED].note, "large-folio accounting: lists 8 MiB below"));
	assert_int_equal(l->stat_residual_bytes.bytes, 8 * MIB);
	free(l);
	snap_free(s);
}

static void tolerances(void **state)
{
	(void)state;
	static const struct {
		uint32_t cpus, page;
		uint64_t bytes;
	} stat[] = {
		{ 0, 0, MIB },
		{ 2, 4096, MIB },
		{ 2, 65536, 16 * MIB }, /* pages of 64 KiB count 16 times */
		{ 4, 4096, 2 * MIB },
		{ 64, 4096, 32 * MIB },
		{ UINT32_MAX, UINT32_MAX, (uint64_t)65536 * 128 * MIB },
	};
	struct snapshot *s = snap_new(&snap_plain);
	for (size_t i = 0; i < sizeof stat / sizeof stat[0]; i++) {
		s->host_cpus = stat[i].cpus;
		s->page_bytes = stat[i].page;
		assert_int_equal(recon_stat_tolerance(s), stat[i].bytes);
	}
	snap_free(s);
	assert_int_equal(recon_group_tolerance(0), 2 * MIB);
	assert_int_equal(recon_group_tolerance(400 * (uint64_t)MIB), 2 * MIB);
	assert_int_equal(recon_group_tolerance(800 * (uint64_t)MIB), 4 * MIB);
	assert_int_equal(recon_group_tolerance(UINT64_MAX), UINT64_MAX / 200);
}

static void a_group_closes_up_to_its_tolerance(void **state)
{
	(void)state;
	static const struct {
		int64_t off;
		bool closed;
	} table[] = { { 2 * MIB, true }, { 2 * MIB + 1, false }, { -2 * MIB, true }, { -2 * MIB - 1, false } };
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct snap_shape shape = snap_plain;
		shape.heap = shape.pool = 10; /* small: the tolerance is the 2 MiB */
		struct snapshot *s = snap_new(&shape);
		s->cgroup.stat.anon_bytes.bytes += (uint64_t)table[i].off;
		s->cgroup.stat.inactive_anon_bytes.bytes += (uint64_t)table[i].off;
		struct ledger *l = snap_ledger(s);
		assert_int_equal(l->groups[GROUP_ANON].tolerance_bytes, 2 * MIB);
		assert_int_equal(l->groups[GROUP_ANON].closed, table[i].closed);
		free(l);
		snap_free(s);
	}
}

static void a_torn_sample_is_known(void **state)
{
	(void)state;
	static const struct {
		int64_t moved;
		bool torn;
	} table[] = { { 0, false },    { MIB, false },     { MIB + 1, true },
		      { -MIB, false }, { -MIB - 1, true }, { 36 * MIB, true } };
	struct snapshot *s = snap_new(&snap_plain);
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		s->cgroup.current_after_bytes = qty_measured(s->cgroup.current_bytes.bytes + (uint64_t)table[i].moved);
		struct ledger *l = snap_ledger(s);
		assert_int_equal(l->torn, table[i].torn);
		free(l);
	}
	s->cgroup.current_after_bytes = (struct qty){ 0 };
	struct ledger *l = snap_ledger(s);
	assert_false(l->torn);
	free(l);
	snap_free(s);
}

/* Before Linux 5.18: the parts are added up, kernel-other is unread, the tolerance is wider. */
static void kernels_without_the_kernel_key(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->cgroup.stat.kernel_bytes = (struct qty){ 0 };
	struct ledger *l = snap_ledger(s);
	assert_true(line_unread(l, OWNER_KERNEL_OTHER));
	assert_non_null(strstr(l->lines[OWNER_KERNEL_OTHER].note, "before Linux 5.18"));
	assert_int_equal(l->groups[GROUP_KERNEL].counter_bytes.bytes, 18 * MIB);
	assert_int_equal(l->groups[GROUP_KERNEL].counter_bytes.state, QTY_DERIVED);
	assert_true(l->stat_residual_bytes.known);
	assert_int_equal(l->stat_residual_bytes.bytes, 5 * MIB); /* what is in no counter */
	assert_int_equal(l->residual_bytes.bytes, 5 * MIB);
	assert_int_equal(l->stat_tolerance_bytes, 4 * MIB);
	assert_true(qty_known(l->floor_bytes));
	free(l);
	snap_free(s);
}

/* Without a cgroup the ledger is built from the process, and what needed the cgroup is unread, with the reason. */
static void no_cgroup(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	snap_no_cgroup(s);
	s->status.vm_pte_bytes = qty_measured(3 * MIB);
	s->vmas.items[3].rss_bytes += 20 * MIB; /* libjvm.so: mapped file pages */
	s->vmas.items[3].pss_bytes += 15 * MIB;
	struct ledger *l = snap_ledger(s);
	static const enum owner needs[] = {
		OWNER_OTHER_PROCESSES,    OWNER_TMPFS,  OWNER_PAGE_CACHE, OWNER_KERNEL_STACKS, OWNER_SLAB_RECLAIMABLE,
		OWNER_SLAB_UNRECLAIMABLE, OWNER_PERCPU, OWNER_VMALLOC,    OWNER_KERNEL_OTHER,  OWNER_SOCKETS
	};
	for (size_t i = 0; i < sizeof needs / sizeof needs[0]; i++) {
		assert_true(line_unread(l, needs[i]));
		assert_string_equal(l->lines[needs[i]].note, "needs the container's cgroup");
	}
	LINE(l, OWNER_JAVA_HEAP, 400);
	LINE(l, OWNER_PAGE_TABLES, 3);
	LINE(l, OWNER_MAPPED_FILES, 15);
	assert_true(l->groups[GROUP_ANON].closed); /* against smaps itself */
	assert_int_equal(l->groups[GROUP_ANON].counter_bytes.bytes, 801 * MIB);
	assert_false(qty_known(l->groups[GROUP_KERNEL].counter_bytes));
	assert_false(l->residual_bytes.known);
	assert_false(l->stat_residual_bytes.known);
	assert_false(qty_known(l->charge_bytes));
	assert_int_equal(l->stat_tolerance_bytes, MIB); /* no kernel was seen to be old */
	free(l);
	snap_free(s);
}

static void no_smaps(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->vmas_read = false;
	struct ledger *l = snap_ledger(s);
	assert_true(line_unread(l, OWNER_JAVA_HEAP));
	assert_true(line_unread(l, OWNER_NATIVE_OTHER));
	assert_false(l->listed[OWNER_OTHER_PROCESSES]); /* anon less nothing would be all of it */
	LINE(l, OWNER_TMPFS, 10);
	assert_int_equal(l->lines[OWNER_TMPFS].bytes.state, QTY_INFERRED);
	assert_false(l->groups[GROUP_ANON].closed);
	assert_false(qty_known(l->native_pool_bytes));
	assert_false(l->pool_minus_claims_bytes.known);
	/* What is unread is no residual, and what is left of a group is no sum of it. */
	assert_false(qty_known(l->groups[GROUP_ANON].owners_bytes));
	assert_false(l->residual_bytes.known);
	free(l);
	snap_free(s);
}

static void sums_past_u64_are_unread(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->cgroup.stat.sock_bytes = qty_measured(UINT64_MAX - 5);
	struct ledger *l = snap_ledger(s);
	assert_false(l->residual_bytes.known); /* the owners' sum is none */
	assert_false(l->stat_residual_bytes.known);
	assert_true(l->groups[GROUP_SOCK].closed);
	free(l);
	s->cgroup.stat.slab_reclaimable_bytes = s->cgroup.stat.slab_unreclaimable_bytes = qty_measured(UINT64_MAX);
	l = snap_ledger(s);
	assert_true(line_unread(l, OWNER_KERNEL_OTHER));
	assert_false(qty_known(l->groups[GROUP_KERNEL].owners_bytes));
	free(l);
	for (int i = 0; i < 3; i++)
		snap_nmt(s, i == 0 ? "GC" : i == 1 ? "Compiler" : "Other", UINT64_MAX, UINT64_MAX);
	s->nmt.categories[1].arena_bytes = qty_measured(UINT64_MAX);
	s->engine.rocksdb.cache_usage_bytes = s->engine.rocksdb.memtables_bytes =
		s->engine.rocksdb.table_readers_bytes = qty_measured(UINT64_MAX);
	l = snap_ledger(s);
	assert_int_equal(snap_group_lines(l, GROUP_ANON), 801 * (uint64_t)MIB);
	assert_false(qty_known(l->lines[OWNER_GC].claim_bytes));
	assert_false(l->pool_minus_claims_bytes.known);
	free(l);
	snap_free(s);
}

static void age_of_the_scan_is_told(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->age_ms = 1234;
	struct ledger *l = snap_ledger(s);
	assert_int_equal(l->lines[OWNER_JAVA_HEAP].age_ms, 1234);
	free(l);
	snap_free(s);
}

/* Notes are joined, and a line's buffer holds what fits of them. */
static void notes_are_joined_and_bounded(void **state)
{
	(void)state;
	struct {
		struct ledger_line line;
		char guard[8];
	} at = { .guard = "guard" };
	line_note(&at.line, "%d", 1);
	line_note(&at.line, "two");
	assert_string_equal(at.line.note, "1; two");
	for (int i = 0; i < 100; i++) {
		line_note(&at.line, "note %d", i);
		assert_true(strlen(at.line.note) < sizeof at.line.note);
		assert_string_equal(at.guard, "guard");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_group_closes),
		cmocka_unit_test(thp_unmapped_closes_the_identity),
		cmocka_unit_test(lists_below_the_types_are_told),
		cmocka_unit_test(tolerances),
		cmocka_unit_test(a_group_closes_up_to_its_tolerance),
		cmocka_unit_test(a_torn_sample_is_known),
		cmocka_unit_test(kernels_without_the_kernel_key),
		cmocka_unit_test(no_cgroup),
		cmocka_unit_test(no_smaps),
		cmocka_unit_test(sums_past_u64_are_unread),
		cmocka_unit_test(age_of_the_scan_is_told),
		cmocka_unit_test(notes_are_joined_and_bounded),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
