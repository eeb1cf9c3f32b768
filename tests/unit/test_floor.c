/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel cannot reclaim, and the room above it by level. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "support/snap.h"

enum { ANON = 801, FLOOR = ANON + 10 + 23 - 8 + 2 };

static void check_floor(const struct snapshot *s, uint64_t want, const char *what)
{
	struct ledger *l = snap_ledger(s);
	if (l->floor_bytes.bytes != want)
		print_error("%s: floor %llu MiB, wanted %llu\n", what, (unsigned long long)(l->floor_bytes.bytes / MIB),
			    (unsigned long long)(want / MIB));
	assert_true(qty_known(l->floor_bytes));
	assert_int_equal(l->floor_bytes.bytes, want);
	free(l);
}

/* Each row bends the plain snapshot and says what the floor must become, in MiB on top of the plain one. */
static void page_cache_grows(struct snapshot *s)
{
	s->cgroup.stat.file_bytes.bytes += 3000 * (uint64_t)MIB;
	s->cgroup.stat.inactive_file_bytes.bytes += 3000 * (uint64_t)MIB;
	s->cgroup.current_bytes.bytes += 3000 * (uint64_t)MIB;
}
static void cache_is_active(struct snapshot *s)
{
	s->cgroup.stat.active_file_bytes = s->cgroup.stat.inactive_file_bytes;
	s->cgroup.stat.inactive_file_bytes.bytes = 0;
}
/* mlock of anon moves it to `unevictable`: it is in anon already, as measured 48 of 48 MiB. */
static void mlocked_anon(struct snapshot *s)
{
	s->cgroup.stat.unevictable_bytes.bytes += 48 * MIB;
	s->cgroup.stat.inactive_anon_bytes.bytes -= 48 * MIB;
}
static void mlocked_file(struct snapshot *s)
{
	s->cgroup.stat.unevictable_bytes.bytes += 48 * MIB;
	s->cgroup.stat.inactive_file_bytes.bytes -= 48 * MIB;
}
/* MADV_FREE moves anon to the file list, where it can be dropped: 64 MiB there, half of it rewritten since. */
static void lazyfree_half_rewritten(struct snapshot *s)
{
	s->vmas.items[s->vmas.n - 1].lazyfree_bytes = 32 * MIB;
	s->cgroup.stat.inactive_file_bytes.bytes += 64 * MIB;
	s->cgroup.stat.inactive_anon_bytes.bytes -= 64 * MIB;
}
static void lazyfree_beyond_the_lists(struct snapshot *s)
{
	s->vmas.items[s->vmas.n - 1].lazyfree_bytes = 64 * MIB;
	s->cgroup.stat.inactive_file_bytes.bytes += 16 * MIB;
}
static void lazyfree_at_60_s(struct snapshot *s)
{
	lazyfree_half_rewritten(s);
	s->age_ms = 60000;
}
static void lazyfree_too_old(struct snapshot *s)
{
	lazyfree_half_rewritten(s);
	s->age_ms = 60001;
}
static void lazyfree_without_smaps(struct snapshot *s)
{
	lazyfree_half_rewritten(s);
	s->vmas_read = false;
}
static void lists_ahead_without_lazyfree(struct snapshot *s)
{
	s->cgroup.stat.inactive_file_bytes.bytes += 64 * MIB;
}
static void thp_is_reclaimed_first(struct snapshot *s)
{
	s->cgroup.stat.inactive_anon_bytes.bytes += 64 * MIB;
	s->cgroup.current_bytes.bytes += 64 * MIB;
}
static void swap_is_not_subtracted(struct snapshot *s)
{
	s->cgroup.swap_current_bytes = qty_measured(100 * MIB);
	s->cgroup.swap_max = limit_set(200 * MIB);
}
static void old_kernel(struct snapshot *s)
{
	s->cgroup.stat.kernel_bytes = (struct qty){ 0 };
}
static void charged_hugetlb(struct snapshot *s)
{
	s->cgroup.stat.hugetlb_bytes = qty_measured(64 * MIB);
}
static void slab_not_told_apart(struct snapshot *s)
{
	s->cgroup.stat.slab_reclaimable_bytes = (struct qty){ 0 };
}

static void floors(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		void (*bend)(struct snapshot *);
		int more;
	} table[] = {
		{ "page cache is not in it", page_cache_grows, 0 },
		{ "active cache is not in it", cache_is_active, 0 },
		{ "mlocked anon counts once", mlocked_anon, 0 },
		{ "mlocked file pages are in it", mlocked_file, 48 },
		{ "lazyfree is not in it", lazyfree_half_rewritten, -32 },
		{ "lazyfree only as far as the lists show", lazyfree_beyond_the_lists, -16 },
		{ "lazyfree of a scan of 60 s", lazyfree_at_60_s, -32 },
		{ "lazyfree of an older scan", lazyfree_too_old, 0 },
		{ "lazyfree without smaps", lazyfree_without_smaps, 0 },
		{ "lists ahead of file, no lazyfree", lists_ahead_without_lazyfree, 0 },
		{ "thp-unmapped is not in it", thp_is_reclaimed_first, 0 },
		{ "swap is not subtracted", swap_is_not_subtracted, 0 },
		{ "before 5.18 the kernel's parts", old_kernel, -5 },
		{ "charged hugetlb is in it", charged_hugetlb, 64 },
		{ "unknown slab counts as held", slab_not_told_apart, 8 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct snapshot *s = snap_new(&snap_plain);
		check_floor(s, FLOOR * (uint64_t)MIB, "plain");
		table[i].bend(s);
		check_floor(s, (uint64_t)(FLOOR + table[i].more) * MIB, table[i].what);
		snap_free(s);
	}
}

/* A part that is unread makes the container's floor unread: the process's own stands in, and is named so. */
static void an_unread_part_is_not_zero(void **state)
{
	(void)state;
	static const size_t offsets[] = {
		offsetof(struct cgroup_stat, anon_bytes),        offsetof(struct cgroup_stat, file_bytes),
		offsetof(struct cgroup_stat, shmem_bytes),       offsetof(struct cgroup_stat, sock_bytes),
		offsetof(struct cgroup_stat, active_file_bytes), offsetof(struct cgroup_stat, inactive_file_bytes),
	};
	for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
		struct snapshot *s = snap_new(&snap_plain);
		*(struct qty *)(void *)((char *)&s->cgroup.stat + offsets[i]) = (struct qty){ 0 };
		s->cgroup.max = limit_set(GIB);
		struct ledger *l = snap_ledger(s);
		assert_int_equal(l->freeboard_level, FREEBOARD_PROCESSES);
		assert_int_equal(l->floor_bytes.state, QTY_INFERRED);
		free(l);
		snap_free(s);
	}
}

static void floor_of_the_process(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	snap_no_cgroup(s);
	check_floor(s, ANON * (uint64_t)MIB, "anon alone");
	s->vmas.items[s->vmas.n - 1].lazyfree_bytes = 32 * MIB;
	check_floor(s, (ANON - 32) * (uint64_t)MIB, "less lazyfree");
	s->status.rss_shmem_bytes = qty_measured(7 * MIB);
	s->status.vm_pte_bytes = qty_measured(2 * MIB);
	s->status.n_threads = count_of(64); /* 16 KiB each */
	check_floor(s, (ANON - 32 + 7 + 2 + 1) * (uint64_t)MIB, "shmem, page tables, kernel stacks");
	struct vma *map = snap_vma(s, VMA_SHMEM, VMA_READ | VMA_SHARED, "/dev/shm/x", 32 * MIB, 0);
	map->rss_bytes = map->pss_bytes = 5 * MIB;
	s->memfd_heap_bytes = qty_measured(100 * MIB);
	check_floor(s, (ANON - 32 + 105 + 2 + 1) * (uint64_t)MIB, "a heap file is charged whole");
	s->vmas_read = false;
	s->memfd_heap_bytes = (struct qty){ 0 };
	s->status.rss_anon_bytes = qty_measured(700 * MIB);
	check_floor(s, (700 + 7 + 2 + 1) * (uint64_t)MIB, "status alone");
	s->rollup_anon_bytes = qty_measured(706 * MIB); /* status runs some MiB low */
	check_floor(s, (706 + 7 + 2 + 1) * (uint64_t)MIB, "the rollup where smaps could not be used");
	s->rollup_anon_bytes = (struct qty){ 0 };
	s->status.n_threads = count_of(UINT64_MAX);
	struct ledger *l = snap_ledger(s);
	assert_false(qty_known(l->floor_bytes)); /* a product past u64 is no number */
	free(l);
	s->status = (struct process_status){ 0 };
	s->told_limit = limit_set(GIB);
	l = snap_ledger(s);
	assert_false(qty_known(l->floor_bytes));
	assert_false(l->freeboard_bytes.known);
	assert_int_equal(l->freeboard_level, FREEBOARD_UNREAD);
	free(l);
	snap_free(s);
}

static void freeboard_by_level(void **state)
{
	(void)state;
	static const struct limit none = { 0, LIMIT_NONE }, unread = { 0, LIMIT_UNREAD };
#define L(mib)                                   \
	{                                        \
		(uint64_t)(mib) * MIB, LIMIT_SET \
	}
	const struct {
		const char *what;
		struct limit max, told, pod;
		bool no_cgroup;
		bool known, is_told;
		int64_t mib;
		enum freeboard_level level;
	} table[] = {
		{ "memory.max", L(1000), unread, unread, false, true, false, 1000 - FLOOR, FREEBOARD_CONTAINER },
		{ "at the floor", L(FLOOR), unread, unread, false, true, false, 0, FREEBOARD_CONTAINER },
		{ "past the limit: negative", L(800), unread, unread, false, true, false, 800 - FLOOR,
		  FREEBOARD_CONTAINER },
		{ "max: no limit, no freeboard", none, unread, unread, false, false, false, 0, FREEBOARD_UNREAD },
		{ "max, told", none, L(900), unread, false, true, true, 900 - FLOOR, FREEBOARD_CONTAINER },
		{ "the cgroup's word counts", L(1000), L(900), unread, false, true, false, 1000 - FLOOR,
		  FREEBOARD_CONTAINER },
		{ "the pod is tighter", L(1000), unread, L(950), false, true, false, 950 - FLOOR, FREEBOARD_POD },
		{ "the pod is as wide", L(1000), unread, L(1000), false, true, false, 1000 - FLOOR,
		  FREEBOARD_CONTAINER },
		{ "the pod is wider", L(1000), unread, L(1001), false, true, false, 1000 - FLOOR, FREEBOARD_CONTAINER },
		{ "the pod alone", none, unread, L(950), false, true, false, 950 - FLOOR, FREEBOARD_POD },
		{ "no cgroup, told", unread, L(900), unread, true, true, true, 900 - ANON, FREEBOARD_PROCESSES },
		{ "no cgroup, nothing told", unread, unread, unread, true, false, false, 0, FREEBOARD_UNREAD },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct snapshot *s = snap_new(&snap_plain);
		if (table[i].no_cgroup)
			snap_no_cgroup(s);
		s->cgroup.max = table[i].max;
		s->told_limit = table[i].told;
		s->pod_limit = table[i].pod;
		struct ledger *l = snap_ledger(s);
		if (l->freeboard_bytes.known != table[i].known || l->freeboard_level != table[i].level)
			print_error("%s\n", table[i].what);
		assert_int_equal(l->freeboard_bytes.known, table[i].known);
		assert_int_equal(l->freeboard_bytes.bytes, table[i].mib * MIB);
		assert_int_equal(l->freeboard_level, table[i].level);
		assert_int_equal(l->limit_told, table[i].is_told);
		free(l);
		snap_free(s);
	}
}

/* What the pod's other containers hold is taken off the pod's room, and off nothing else. */
static void freeboard_beside_others(void **state)
{
	(void)state;
	const struct {
		struct limit max, pod;
		uint64_t others_mib;
		int64_t mib;
		enum freeboard_level level;
	} table[] = {
		{ L(1000), L(1200), 150, 1000 - FLOOR, FREEBOARD_CONTAINER },
		{ L(1000), L(1200), 250, 1200 - FLOOR - 250, FREEBOARD_POD },
		{ L(1000), L(1200), 1200, -FLOOR, FREEBOARD_POD },
		{ L(1000), { 0, LIMIT_UNREAD }, 1200, 1000 - FLOOR, FREEBOARD_CONTAINER },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct snapshot *s = snap_new(&snap_plain);
		s->cgroup.max = table[i].max;
		s->pod_limit = table[i].pod;
		s->pod_others_bytes = qty_of(table[i].others_mib * MIB, QTY_INFERRED);
		struct ledger *l = snap_ledger(s);
		assert_int_equal(l->freeboard_bytes.bytes, table[i].mib * MIB);
		assert_int_equal(l->freeboard_level, table[i].level);
		free(l);
		snap_free(s);
	}
}

static void throttle_and_swap_room(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	struct ledger *l = snap_ledger(s);
	assert_false(l->throttle_room_bytes.known);
	assert_false(qty_known(l->swap_room_bytes));
	free(l);
	s->cgroup.high = limit_set(s->cgroup.current_bytes.bytes - MIB);
	s->cgroup.swap_max = limit_set(100 * MIB);
	s->cgroup.swap_current_bytes = qty_measured(30 * MIB);
	l = snap_ledger(s);
	assert_int_equal(l->throttle_room_bytes.bytes, -MIB);
	assert_int_equal(l->swap_room_bytes.bytes, 70 * MIB);
	free(l);
	static const struct {
		struct limit max;
		struct qty current, host_free, room;
	} cases[] = {
		/* No swap.max: the host decides, if it is known. */
		{ { 0, LIMIT_NONE }, { 30 * MIB, QTY_MEASURED }, { 0 }, { 0 } },
		{ { 0, LIMIT_NONE }, { 30 * MIB, QTY_MEASURED }, { 5, QTY_MEASURED }, { 5, QTY_MEASURED } },
		{ { 100 * MIB, LIMIT_SET }, { 30 * MIB, QTY_MEASURED }, { 0, QTY_MEASURED }, { 0, QTY_MEASURED } },
		{ { 100 * MIB, LIMIT_SET },
		  { 30 * MIB, QTY_MEASURED },
		  { 71 * MIB, QTY_MEASURED },
		  { 70 * MIB, QTY_DERIVED } },
		{ { 100 * MIB, LIMIT_SET },
		  { 130 * MIB, QTY_MEASURED },
		  { 71 * MIB, QTY_MEASURED },
		  { 0, QTY_DERIVED } },
		{ { 100 * MIB, LIMIT_SET }, { 0 }, { 71 * MIB, QTY_MEASURED }, { 0 } },
		{ { 0, LIMIT_UNREAD }, { 0 }, { 71 * MIB, QTY_MEASURED }, { 0 } },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		s->cgroup.swap_max = cases[i].max;
		s->cgroup.swap_current_bytes = cases[i].current;
		s->host_swap_free_bytes = cases[i].host_free;
		l = snap_ledger(s);
		if (qty_known(l->swap_room_bytes) != qty_known(cases[i].room) ||
		    l->swap_room_bytes.bytes != cases[i].room.bytes)
			fail_msg("case %zu", i);
		free(l);
	}
	snap_free(s);
}

static void figures_past_i64_are_unknown(void **state)
{
	(void)state;
	struct snapshot *s = snap_new(&snap_plain);
	s->cgroup.max = limit_set(UINT64_MAX);
	s->cgroup.high = limit_set(UINT64_MAX);
	struct ledger *l = snap_ledger(s);
	assert_false(l->freeboard_bytes.known);
	assert_int_equal(l->freeboard_level, FREEBOARD_UNREAD);
	assert_false(l->throttle_room_bytes.known);
	free(l);
	s->cgroup.stat.file_bytes = s->cgroup.stat.active_file_bytes = s->cgroup.stat.inactive_file_bytes =
		qty_measured(UINT64_MAX);
	l = snap_ledger(s);
	assert_int_equal(l->floor_bytes.state, QTY_INFERRED); /* the process's own */
	free(l);
	snap_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(floors),
		cmocka_unit_test(an_unread_part_is_not_zero),
		cmocka_unit_test(floor_of_the_process),
		cmocka_unit_test(freeboard_by_level),
		cmocka_unit_test(freeboard_beside_others),
		cmocka_unit_test(throttle_and_swap_room),
		cmocka_unit_test(figures_past_i64_are_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
