/* SPDX-License-Identifier: Apache-2.0 */
/* shmem, file, kernel and hugetlb: what memory.stat counts by itself. */
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

static void kernel_parts_larger_than_the_whole_are_residual(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->cgroup.stat.slab_unreclaimable_bytes = qty_measured(9 * MIB); /* 6 more: kernel-other has only 5 */
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_KERNEL_OTHER, 0);
	assert_int_equal(l->residual_bytes.bytes, -1 * MIB);
	free(l);
	snap_free(s);
}

static void a_kernel_key_alone_is_kernel_other(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	struct cgroup_stat *stat = &s->cgroup.stat;
	stat->kernel_stack_bytes = stat->pagetables_bytes = stat->slab_reclaimable_bytes =
		stat->slab_unreclaimable_bytes = stat->percpu_bytes = (struct qty){ 0 };
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_KERNEL_OTHER, 23);
	assert_int_equal(l->residual_bytes.bytes, 0);
	free(l);
	snap_free(s);
}

static void secondary_page_tables_count(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->cgroup.stat.sec_pagetables_bytes = qty_measured(1 * MIB);
	s->cgroup.stat.vmalloc_bytes = qty_measured(1 * MIB);
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_PAGE_TABLES, 5);
	LINE(l, OWNER_VMALLOC, 1);
	LINE(l, OWNER_KERNEL_OTHER, 3);
	assert_int_equal(l->residual_bytes.bytes, 0);
	free(l);
	snap_free(s);
}

static void zgc_heap_file(void **state)
{
	(void)state;
	struct snap_shape shape = snap_plain;
	shape.heap = 0;
	shape.shmem = 500;
	struct snapshot *s = snap_new(&shape);
	s->heap.n_ranges = 0;
	s->gc = GC_Z;
	s->memfd_heap_bytes = qty_measured(450 * MIB);
	struct vma *map =
		snap_vma(s, VMA_SHMEM, VMA_READ | VMA_WRITE | VMA_SHARED, "/memfd:java_heap (deleted)", GIB, 0);
	map->rss_bytes = map->pss_bytes = 300 * MIB; /* RSS errs; the file's blocks do not */
	map = snap_vma(s, VMA_SHMEM, VMA_READ | VMA_WRITE | VMA_SHARED, "/dev/shm/x", 32 * MIB, 0);
	map->rss_bytes = map->pss_bytes = 20 * MIB;
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_ZGC_HEAP, 450);
	LINE(l, OWNER_SHARED_MAPS, 20);
	LINE(l, OWNER_TMPFS, 30);
	assert_true(l->groups[GROUP_SHMEM].closed);
	assert_false(l->listed[OWNER_JAVA_HEAP]);
	assert_int_equal(l->residual_bytes.bytes, 0);
	free(l);

	/* A heap in hugetlb pages has a file larger than what is charged to shmem. */
	s->memfd_heap_bytes = qty_measured(700 * MIB);
	l = snap_ledger(s);
	LINE(l, OWNER_ZGC_HEAP, 500);
	assert_int_equal(l->lines[OWNER_ZGC_HEAP].bytes.state, QTY_DERIVED);
	LINE(l, OWNER_TMPFS, 0);
	assert_non_null(strstr(l->lines[OWNER_ZGC_HEAP].note, "not charged here"));
	assert_int_equal(l->residual_bytes.bytes, 0);
	free(l);
	snap_free(s);
}

static void mounts_are_named(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	struct ledger *l = snap_ledger(s);
	struct qty bytes = l->lines[OWNER_TMPFS].bytes;
	assert_null(strstr(l->lines[OWNER_TMPFS].note, "mounts"));
	free(l);
	const struct tmpfs_mount mounts[] = {
		{ .path = "/dev/shm", .used_bytes = qty_measured(UINT64_MAX) },
		{ .path = "/mnt/0123456789012345678901234567890123456789", .used_bytes = qty_measured(1536 * 1024) },
		{ .path = "/third", .used_bytes = qty_measured(1 << 20) },
	};
	memcpy(s->tmpfs, mounts, sizeof mounts);
	s->n_tmpfs = 3;
	s->vmas_read = false;
	l = snap_ledger(s);
	assert_string_equal(
		l->lines[OWNER_TMPFS].note,
		"shared mappings are inside: smaps unread; in the mounts, whoever was charged: /dev/shm 16.00 EiB, /mnt/0123456789012345678901234567890 1.5 MiB");
	free(l);
	s->vmas_read = true;
	s->tmpfs[0].used_bytes = qty_measured((1 << 20) - 1);
	s->n_tmpfs = 1;
	l = snap_ledger(s);
	assert_string_equal(l->lines[OWNER_TMPFS].note, "");
	assert_int_equal(l->lines[OWNER_TMPFS].bytes.bytes, bytes.bytes);
	free(l);
	snap_free(s);
}

static void hugetlb(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	struct vma *map = snap_vma(s, VMA_ANON, VMA_READ | VMA_WRITE | VMA_HUGETLB, "", 64 * MIB, 0);
	map->private_hugetlb_bytes = 64 * MIB;
	struct ledger *l = snap_ledger(s);
	assert_true(line_unread(l, OWNER_HUGETLB));
	assert_non_null(strstr(l->lines[OWNER_HUGETLB].note, "64 MiB of hugetlb pages mapped, not charged"));
	assert_int_equal(l->residual_bytes.bytes, 0);
	free(l);
	s->cgroup.stat.hugetlb_bytes = qty_measured(64 * MIB); /* memory_hugetlb_accounting */
	s->cgroup.current_bytes.bytes += 64 * MIB;
	l = snap_ledger(s);
	LINE(l, OWNER_HUGETLB, 64);
	assert_true(l->groups[GROUP_HUGETLB].closed);
	assert_int_equal(l->stat_residual_bytes.bytes, 0);
	assert_int_equal(l->residual_bytes.bytes, 0);
	free(l);
	snap_free(s);
}

static void mapped_files(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->vmas.items[3].rss_bytes += 80 * MIB; /* 80 mapped, 50 charged here: the image's pages are another's */
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_MAPPED_FILES, 50);
	assert_string_equal(l->lines[OWNER_MAPPED_FILES].note, "30 MiB more mapped, charged elsewhere");
	assert_int_equal(l->residual_bytes.bytes, 0);
	free(l);

	/* file_mapped has mapped shmem inside, and is capped by what there is of page cache. */
	struct vma *shm = snap_vma(s, VMA_SHMEM, VMA_READ | VMA_SHARED, "/dev/shm/y", 32 * MIB, 0);
	shm->rss_bytes = shm->pss_bytes = 10 * MIB;
	l = snap_ledger(s);
	LINE(l, OWNER_MAPPED_FILES, 40);
	LINE(l, OWNER_PAGE_CACHE, 210);
	free(l);
	s->cgroup.stat.file_mapped_bytes = qty_measured(GIB);
	l = snap_ledger(s);
	LINE(l, OWNER_MAPPED_FILES, 250);
	LINE(l, OWNER_PAGE_CACHE, 0);
	free(l);
	s->cgroup.stat.file_mapped_bytes = (struct qty){ 0 };
	l = snap_ledger(s);
	assert_true(line_unread(l, OWNER_MAPPED_FILES));
	LINE(l, OWNER_PAGE_CACHE, 250);
	assert_true(l->groups[GROUP_FILE].closed);
	free(l);
	snap_free(s);
}

/* 1 MiB is where a note begins. */
static void a_little_more_mapped_is_no_note(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	struct ledger *l = snap_ledger(s);
	assert_false(l->listed[OWNER_SHARED_MAPS]); /* there are none */
	free(l);
	s->vmas.items[3].rss_bytes += 51 * MIB - 1;
	l = snap_ledger(s);
	assert_string_equal(l->lines[OWNER_MAPPED_FILES].note, "");
	free(l);
	s->vmas.items[3].rss_bytes += 1;
	l = snap_ledger(s);
	assert_string_equal(l->lines[OWNER_MAPPED_FILES].note, "1 MiB more mapped, charged elsewhere");
	free(l);
	snap_free(s);
}

/* The heap file's mappings are mapped shmem too. */
static void a_mapped_heap_file_is_no_page_cache(void **state)
{
	(void)state;
	struct snap_shape shape = snap_plain;
	shape.shmem = 100;
	shape.mapped = 150;
	struct snapshot *s = snap_new(&shape);
	s->memfd_heap_bytes = qty_measured(80 * MIB);
	struct vma *map =
		snap_vma(s, VMA_SHMEM, VMA_READ | VMA_WRITE | VMA_SHARED, "/memfd:java_heap (deleted)", GIB, 0);
	map->rss_bytes = map->pss_bytes = 60 * MIB;
	map = snap_vma(s, VMA_SHMEM, VMA_READ | VMA_WRITE | VMA_SHARED, "/dev/shm/x", 32 * MIB, 0);
	map->rss_bytes = map->pss_bytes = 20 * MIB;
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_MAPPED_FILES, 150 - 60 - 20);
	free(l);
	snap_free(s);
}

/* memory.stat counts the container's page tables: the process's own do not replace them. */
static void page_tables_are_the_containers(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->status.vm_pte_bytes = qty_measured(3 * MIB);
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_PAGE_TABLES, 4);
	free(l);
	snap_free(s);
}

static void what_one_process_tells_without_a_cgroup(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	snap_no_cgroup(s);
	s->status.n_threads = count_of(64);
	s->status.vm_pte_bytes = qty_measured(3 * MIB);
	struct ledger *l = snap_ledger(s);
	LINE(l, OWNER_KERNEL_STACKS, 1);
	LINE(l, OWNER_PAGE_TABLES, 3);
	assert_true(line_unread(l, OWNER_SLAB_UNRECLAIMABLE));
	free(l);
	s->status.n_threads = count_of(UINT64_MAX); /* a product past u64 is no number */
	l = snap_ledger(s);
	assert_true(line_unread(l, OWNER_KERNEL_STACKS));
	free(l);
	snap_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_one_process_tells_without_a_cgroup),
		cmocka_unit_test(kernel_parts_larger_than_the_whole_are_residual),
		cmocka_unit_test(a_kernel_key_alone_is_kernel_other),
		cmocka_unit_test(secondary_page_tables_count),
		cmocka_unit_test(zgc_heap_file),
		cmocka_unit_test(mounts_are_named),
		cmocka_unit_test(hugetlb),
		cmocka_unit_test(mapped_files),
		cmocka_unit_test(a_little_more_mapped_is_no_note),
		cmocka_unit_test(a_mapped_heap_file_is_no_page_cache),
		cmocka_unit_test(page_tables_are_the_containers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
