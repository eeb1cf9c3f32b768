/* SPDX-License-Identifier: Apache-2.0 */
/* thp-inflation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "support/judge.h"
#include "support/snap.h"

static const uint32_t rw = VMA_READ | VMA_WRITE | VMA_ACCOUNT;

static enum rule_answer ask(struct snapshot *s, struct finding *f)
{
	struct ledger *l = snap_ledger(s);
	enum rule_answer answer = judge("thp-inflation", s, l, f);
	free(l);
	snap_free(s);
	return answer;
}

/* 350 MiB in use, and `mib` MiB that are the unmapped rest of huge pages. */
static struct snapshot *unmapped(unsigned mib, uint64_t limit_mib)
{
	const struct snap_shape shape = { .heap = 300, .pool = 50, .thp_unmapped = mib };
	struct snapshot *s = snap_new(&shape);
	s->cgroup.max = limit_set(limit_mib * MIB);
	s->thp = THP_ALWAYS;
	return s;
}

static void resident(struct snapshot *s, struct vma *vma, uint64_t huge)
{
	vma->anon_huge_bytes = huge;
	s->cgroup.stat.anon_bytes.bytes += vma->anonymous_bytes;
	s->cgroup.stat.inactive_anon_bytes.bytes += vma->anonymous_bytes;
	s->cgroup.current_bytes.bytes += vma->anonymous_bytes;
}

/* `n` stacks of 4 MiB, as kernels before 6.7 show them, `huge` bytes of each in huge pages. */
static void stacks(struct snapshot *s, unsigned n, uint64_t huge)
{
	s->flags.thread_stack_bytes = qty_measured(4 * MIB);
	for (unsigned i = 0; i < n; i++) {
		uint64_t guard_end = snap_vma(s, VMA_ANON, 0, "", 16 * KIB, 0)->end;
		struct vma *vma = snap_vma(s, VMA_ANON, rw, "", 4 * MIB - 16 * KIB, huge);
		vma->end -= vma->start - guard_end;
		vma->start = guard_end;
		resident(s, vma, huge);
	}
}

/* `n` arenas of glibc, each filled with 64 MiB of huge pages. */
static void arenas(struct snapshot *s, unsigned n)
{
	const uint64_t arena = 64 * MIB;
	for (unsigned i = 0; i < n; i++) {
		struct vma *vma = snap_vma(s, VMA_ANON, VMA_READ | VMA_WRITE | VMA_NORESERVE, "", arena, arena);
		vma->start = (vma->start / arena + 1) * arena;
		vma->end = vma->start + arena;
		resident(s, vma, arena);
	}
}

static void levels(void **state)
{
	(void)state;
	static const struct {
		unsigned mib;
		uint64_t limit_mib;
		bool fires;
	} table[] = { { 0, 1000, false },  { 128, 1000, false }, /* just the bytes */
		      { 129, 1000, true }, { 200, 4000, false }, /* just 5 % */
		      { 201, 4000, true }, { 900, 1300, true },  { 900, 90000, false } };
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		enum rule_answer answer = ask(unmapped(table[i].mib, table[i].limit_mib), &f);
		assert_int_equal(answer, table[i].fires ? RULE_FIRED : RULE_SILENT);
		if (answer != RULE_FIRED)
			continue;
		judge_whole(&f);
		assert_int_equal(f.severity, SEVERITY_NOTICE); /* reclaimed before any kill */
		judge_figure(&f, "thp_unmapped_bytes", table[i].mib * (uint64_t)MIB);
		judge_figure(&f, "inflated_bytes", table[i].mib * (uint64_t)MIB);
		assert_int_equal(f.owner, OWNER_THP_UNMAPPED);
		assert_null(strstr(f.title, "at most"));
		assert_non_null(strstr(f.change, "write madvise to /sys/kernel/mm/transparent_hugepage/enabled"));
		assert_int_equal(f.turns[0].knob, KNOB_HUGE_PAGES);
	}
}

/* What is in the floor warns where the room is low, and only there. */
static void stacks_are_in_the_floor(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = unmapped(0, 2000);
	stacks(s, 64, 2 * MIB); /* just the bytes */
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = unmapped(0, 2000);
	stacks(s, 65, 2 * MIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	assert_int_equal(f.owner, OWNER_THREAD_STACKS);
	judge_figure(&f, "stack_huge_bytes", 130 * (uint64_t)MIB);
	assert_non_null(strstr(f.title, "at most 130.0 MiB"));
	s = unmapped(100, 500);
	stacks(s, 65, 2 * MIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.severity, SEVERITY_WARNING);
	judge_figure(&f, "inflated_bytes", 230 * (uint64_t)MIB);
	assert_true(f.excess_bytes == 130 * (uint64_t)MIB); /* the rest is reclaimed */
	s = unmapped(100, 500); /* together past the level, but what is in the floor is not */
	stacks(s, 64, 2 * MIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_int_equal(f.severity, SEVERITY_NOTICE);
	assert_true(f.excess_bytes == 228 * (uint64_t)MIB);
}

static void arenas_are_at_most_what_nobody_claims(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = unmapped(0, 2000);
	arenas(s, 3);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_int_equal(f.owner, OWNER_NATIVE_OTHER);
	judge_figure(&f, "arena_huge_bytes", 192 * (uint64_t)MIB);
	/* Of the pool of 242 MiB all but 140 are direct buffers. */
	s = unmapped(0, 2000);
	arenas(s, 3);
	s->engine.gauges.direct_used_bytes = qty_measured(102 * (uint64_t)MIB);
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_figure(&f, "arena_huge_bytes", 140 * (uint64_t)MIB);
	s = unmapped(0, 2000);
	arenas(s, 3);
	s->engine.gauges.direct_used_bytes = qty_measured(120 * (uint64_t)MIB);
	assert_int_equal(ask(s, &f), RULE_SILENT);
	/* jemalloc has no such arenas, and a heap at such a border is none: 128 MiB are left, just the bytes. */
	s = unmapped(0, 2000);
	arenas(s, 3);
	s->allocator = ALLOCATOR_JEMALLOC;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = unmapped(0, 2000);
	arenas(s, 3);
	struct vma *last = &s->vmas.items[s->vmas.n - 1];
	s->heap.ranges[s->heap.n_ranges++] = (struct addr_range){ last->start, last->end };
	assert_int_equal(ask(s, &f), RULE_SILENT);
}

/* -XX:+UseTransparentHugePages: the heap's huge pages were asked for. */
static void heap_is_wanted(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = unmapped(0, 500);
	s->flags.transparent_huge_pages = true;
	s->vmas.items[0].anon_huge_bytes = 300 * (uint64_t)MIB;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = unmapped(150, 1000);
	s->flags.transparent_huge_pages = true;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	assert_non_null(strstr(f.competing_causes[3], "wanted and not counted"));
}

/* One change, by what is largest, who allocates, and what the node's mode is. */
static void change_by_facts(void **state)
{
	(void)state;
	static const struct {
		enum thp_mode mode;
		enum allocator allocator;
		const char *change;
	} table[] = {
		{ THP_ALWAYS, ALLOCATOR_JEMALLOC, "MALLOC_CONF=thp:never" },
		{ THP_MADVISE, ALLOCATOR_JEMALLOC, "MALLOC_CONF=thp:never" },
		{ THP_UNREAD, ALLOCATOR_JEMALLOC, "MALLOC_CONF=thp:never" },
		{ THP_NEVER, ALLOCATOR_JEMALLOC, "restart the process" },
		{ THP_ALWAYS, ALLOCATOR_GLIBC, "on the node write madvise" },
		{ THP_MADVISE, ALLOCATOR_GLIBC, "GLIBC_TUNABLES=glibc.malloc.hugetlb=0" },
		{ THP_MADVISE, ALLOCATOR_MUSL, "restart the process" },
		{ THP_NEVER, ALLOCATOR_GLIBC, "restart the process" },
		{ THP_UNREAD, ALLOCATOR_GLIBC, "on the node write madvise" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		struct snapshot *s = unmapped(200, 1000);
		s->thp = table[i].mode;
		s->allocator = table[i].allocator;
		assert_int_equal(ask(s, &f), RULE_FIRED);
		judge_whole(&f);
		assert_non_null(strstr(f.change, table[i].change));
		assert_int_equal(f.n_missing, table[i].mode == THP_UNREAD);
		if (table[i].mode == THP_UNREAD)
			judge_missing(&f, "transparent_hugepage/enabled");
	}
}

static void stacks_by_jdk(void **state)
{
	(void)state;
	static const struct {
		const char *jdk;
		int major;
		bool upgrade;
	} table[] = {
		{ "17.0.9", 17, true },   { "17.0.10", 17, false },     { "17.0.8.1+1", 17, true },
		{ "17.0.15", 17, false }, { "21.0.1+12", 21, true },    { "21.0.2", 21, false },
		{ "19.0.2", 19, true },   { "11.0.22", 11, false },     { "22.0.1", 22, false },
		{ "", 0, false },         { "17-internal", 17, false },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct finding f;
		struct snapshot *s = unmapped(10, 2000);
		stacks(s, 100, 2 * MIB);
		(void)snprintf(s->jdk, sizeof s->jdk, "%s", table[i].jdk);
		s->jdk_major = table[i].major;
		assert_int_equal(ask(s, &f), RULE_FIRED);
		judge_whole(&f);
		assert_int_equal(strstr(f.change, "JDK-8312182") != NULL, table[i].upgrade);
		assert_int_equal(f.turns[0].knob, table[i].upgrade ? KNOB_VERSION : KNOB_HUGE_PAGES);
	}
	struct finding f; /* the JDK keeps them out in mode always alone */
	struct snapshot *s = unmapped(10, 2000);
	stacks(s, 100, 2 * MIB);
	(void)snprintf(s->jdk, sizeof s->jdk, "17.0.1");
	s->jdk_major = 17;
	s->thp = THP_NEVER;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	assert_non_null(strstr(f.change, "restart the process"));
}

static void without_inputs(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = unmapped(200, 1000);
	s->cgroup.max.kind = LIMIT_NONE;
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "memory limit");
	s = unmapped(128, 1000);
	s->cgroup.max.kind = LIMIT_NONE;
	assert_int_equal(ask(s, &f), RULE_SILENT);
	s = unmapped(200, 1000);
	snap_no_cgroup(s);
	s->told_limit = limit_set(GIB);
	assert_int_equal(ask(s, &f), RULE_INCONCLUSIVE);
	judge_missing(&f, "memory.stat");
	s = unmapped(200, 1000);
	s->vmas_read = false;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	judge_missing(&f, "smaps");
}

/* Extremes come from files that others write; the longest texts are whole. */
static void extremes(void **state)
{
	(void)state;
	struct finding f;
	struct snapshot *s = unmapped(200, 0);
	stacks(s, 2, 2 * MIB);
	arenas(s, 2);
	for (size_t i = 0; i < s->vmas.n; i++)
		s->vmas.items[i].anon_huge_bytes = UINT64_MAX;
	s->cgroup.stat.inactive_anon_bytes = qty_measured((uint64_t)INT64_MAX);
	s->thp = THP_UNREAD;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	s = unmapped(200, 0);
	stacks(s, 100, 2 * MIB);
	memset(s->jdk, '1', sizeof s->jdk - 1);
	memcpy(s->jdk, "17.0.1", 6);
	s->jdk_major = 17;
	assert_int_equal(ask(s, &f), RULE_FIRED);
	judge_whole(&f);
	s = unmapped(200, 0);
	s->cgroup.max = limit_set(UINT64_MAX);
	assert_int_equal(ask(s, &f), RULE_SILENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels),
		cmocka_unit_test(stacks_are_in_the_floor),
		cmocka_unit_test(arenas_are_at_most_what_nobody_claims),
		cmocka_unit_test(heap_is_wanted),
		cmocka_unit_test(change_by_facts),
		cmocka_unit_test(stacks_by_jdk),
		cmocka_unit_test(without_inputs),
		cmocka_unit_test(extremes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
