/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Huge pages that nobody asked for. Three kinds can be seen:
 *
 * - the rest of a huge page of which a part was unmapped (MADV_DONTNEED of an allocator): charged, and in no type counter
 *   of memory.stat. Exact. The kernel splits and reclaims it before any OOM kill, so it is not in the floor.
 * - huge pages in thread stacks (JDK-8303215, JDK-8312182): 2 MiB where a thread uses some KiB.
 * - huge pages in glibc's arenas: how much of one was touched cannot be seen, so this is "at most", and no more than
 *   the native memory that nobody claims.
 *
 * Those of the Java heap are wanted and not counted.
 */
#include "ledger/vmashape.h"
#include "rules/all.h"
#include "rules/growing.h"
#include "rules/judged.h"
#include "rules/room.h"
#include "rules/text.h"
#include "rules/version.h"

struct inflation {
	uint64_t unmapped, stacks, arenas;
	uint64_t held, all; /* of it in the floor: stacks and arenas; and all three */
	enum owner largest;
};

static bool in_heap(const struct snapshot *snapshot, const struct vma *vma)
{
	for (size_t i = 0; i < snapshot->heap.n_ranges && i < JVM_HEAP_RANGES_MAX; i++)
		if (vma->start < snapshot->heap.ranges[i].end && vma->end > snapshot->heap.ranges[i].start)
			return true;
	return false;
}

static bool is_glibc_arena(const struct vma_view *view, const struct vma *vma)
{
	const enum allocator allocator = view->snapshot->allocator;
	if (allocator != ALLOCATOR_GLIBC && allocator != ALLOCATOR_UNKNOWN)
		return false;
	/* Without marks an arena looks like any mapping that begins at its border. */
	return vma->kind == VMA_BRK || (view->noreserve_marks && shape_is_arena(view, vma));
}

static void take_mappings(const struct snapshot *snapshot, struct inflation *ret)
{
	struct vma_view view;
	view_of(snapshot, &view);
	for (size_t i = 0; i < snapshot->vmas.n; i++) {
		const struct vma *vma = &snapshot->vmas.items[i];
		if (vma->anon_huge_bytes == 0 || in_heap(snapshot, vma))
			continue;
		uint64_t huge = vma->anon_huge_bytes, stack = shape_stack_bytes(&view, i);
		if (is_glibc_arena(&view, vma))
			ret->arenas = sat_add(ret->arenas, huge);
		else if (shape_is_stack(&view, i))
			ret->stacks = sat_add(ret->stacks, huge);
		else if (stack) /* merged with what lies above it */
			ret->stacks = sat_add(ret->stacks, stack < huge ? stack : huge);
	}
}

/* Native memory that nobody claims: what is claimed was asked for and touched. */
static uint64_t unclaimed(const struct ledger *ledger)
{
	static const enum owner owners[] = { OWNER_NATIVE_OTHER, OWNER_ALLOCATOR_RETAINED };
	uint64_t sum = 0;
	for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++)
		if (ledger->listed[owners[i]])
			sum = sat_add(sum, qty_or(ledger->lines[owners[i]].bytes, 0));
	return sum;
}

static bool take(const struct rule_input *input, struct inflation *ret)
{
	const struct ledger *ledger = input->ledger;
	*ret = (struct inflation){ .largest = OWNER_THP_UNMAPPED };
	if (!ledger->listed[OWNER_THP_UNMAPPED] || !qty_known(ledger->lines[OWNER_THP_UNMAPPED].bytes))
		return false;
	ret->unmapped = ledger->lines[OWNER_THP_UNMAPPED].bytes.bytes;
	if (input->snapshot->vmas_read) {
		uint64_t most = unclaimed(ledger);
		take_mappings(input->snapshot, ret);
		ret->arenas = ret->arenas < most ? ret->arenas : most;
	}
	ret->held = sat_add(ret->stacks, ret->arenas);
	ret->all = sat_add(ret->held, ret->unmapped);
	if (ret->stacks > ret->unmapped && ret->stacks >= ret->arenas)
		ret->largest = OWNER_THREAD_STACKS;
	else if (ret->arenas > ret->unmapped)
		ret->largest = OWNER_NATIVE_OTHER;
	return true;
}

static void observe(const struct rule_input *input, const struct inflation *t, const struct judged_limit *limit,
		    struct finding *finding)
{
	static const char *const modes[THP_MODE_COUNT] = { "unread", "never", "madvise", "always" };
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	finding_title(finding, "huge pages hold %s%s of the limit of %s that nobody asked for",
		      t->held ? "at most " : "", units_format(a, t->all), units_format(b, limit->bytes));
	finding_observation(finding, "The node's mode of transparent huge pages is %s.", modes[input->snapshot->thp]);
	if (t->unmapped)
		finding_observation(
			finding,
			"%s is the rest of huge pages that were given back in part: charged, but the kernel takes it back before it kills.",
			units_format(a, t->unmapped));
	if (t->stacks)
		finding_observation(finding, "Thread stacks have %s of huge pages, of which a thread uses some KiB.",
				    units_format(a, t->stacks));
	if (t->arenas)
		finding_observation(
			finding,
			"glibc's arenas have at most %s in huge pages that nobody claims: how much of them was touched cannot be seen.",
			units_format(a, t->arenas));
	if (t->held)
		finding_observation(finding, "Stacks and arenas, %s, are in the floor.", units_format(b, t->held));
}

static void name_causes(const struct snapshot *snapshot, struct finding *finding)
{
	finding_cause(
		finding,
		"the node's mode is always: the kernel gives 2 MiB to whoever touches the first byte of an aligned range; then AnonHugePages of smaps is high in mappings that have no hg among their VmFlags");
	finding_cause(
		finding,
		"the allocator gives back single pages of huge ones (jemalloc's decay, glibc's trim): then thp-unmapped is most of it and falls under pressure");
	finding_cause(
		finding,
		"the allocator asks for them: jemalloc by thp:always, glibc by glibc.malloc.hugetlb=1, the default of glibc 2.43 on arm64; then its mappings have hg among their VmFlags");
	if (snapshot->flags.transparent_huge_pages)
		finding_cause(
			finding,
			"the Java heap, by -XX:+UseTransparentHugePages: wanted and not counted here, but the unmapped rest appears when the heap shrinks");
	else
		finding_cause(
			finding,
			"memory in use that happens to lie in huge pages: then it is the same with THP off, and has an owner in the ledger");
}

/* Stacks get no huge pages in mode always: JDK-8312182, in 22, and in 17u and 21u since autumn 2023. */
static bool jdk_lacks_fix(const struct snapshot *snapshot)
{
	static const struct version fixed17 = { .parts = { 17, 0, 10 } }, fixed21 = { .parts = { 21, 0, 2 } };
	struct version version;
	if (snapshot->jdk_major < 17 || snapshot->jdk_major > 21)
		return false;
	if (!version_parse(snapshot->jdk, &version))
		return false;
	return version_compare(&version, snapshot->jdk_major == 17 ? &fixed17 : &fixed21) < 0;
}

static void change_for(const struct snapshot *snapshot, const struct inflation *t, struct finding *finding)
{
	if (t->largest == OWNER_THREAD_STACKS && snapshot->thp == THP_ALWAYS && jdk_lacks_fix(snapshot)) {
		finding_turn(finding, KNOB_VERSION, TURN_SET);
		finding_change(
			finding,
			"take a JDK that keeps huge pages out of thread stacks (JDK-8312182): 17.0.10 or later of 17, 21.0.2 or later of 21, or 22 and later; this is %s",
			snapshot->jdk);
		return;
	}
	finding_turn(finding, KNOB_HUGE_PAGES, TURN_DOWN);
	if (snapshot->allocator == ALLOCATOR_JEMALLOC && snapshot->thp != THP_NEVER &&
	    t->largest != OWNER_THREAD_STACKS)
		finding_change(
			finding,
			"set MALLOC_CONF=thp:never in the container's environment (after a comma, where MALLOC_CONF has other options): jemalloc then keeps its own memory out of huge pages, the Java heap keeps its own");
	else if (snapshot->thp == THP_MADVISE && snapshot->allocator == ALLOCATOR_GLIBC)
		finding_change(
			finding,
			"set GLIBC_TUNABLES=glibc.malloc.hugetlb=0 in the container's environment: malloc then asks for no huge pages, the Java heap keeps its own");
	else if (snapshot->thp == THP_NEVER || snapshot->thp == THP_MADVISE)
		finding_change(
			finding,
			"restart the process: huge pages that were made before the node's mode was changed stay until it ends; if they are back an hour later, write never to /sys/kernel/mm/transparent_hugepage/enabled on the node");
	else
		finding_change(
			finding,
			"on the node write madvise to /sys/kernel/mm/transparent_hugepage/enabled (at boot: transparent_hugepage=madvise) and restart the pod: who wants huge pages, such as -XX:+UseTransparentHugePages, still gets them");
}

static void figures(const struct inflation *t, const struct judged_limit *limit, struct finding *finding)
{
	finding_bytes(finding, "inflated_bytes", t->all);
	finding_bytes(finding, "limit_bytes", limit->bytes);
	finding_bytes(finding, "thp_unmapped_bytes", t->unmapped);
	finding_bytes(finding, "stack_huge_bytes", t->stacks);
	finding_bytes(finding, "arena_huge_bytes", t->arenas);
}

enum rule_answer rule_thp_inflation(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	struct inflation t;
	struct judged_limit limit;
	char a[UNITS_TEXT_CAP];
	if (!take(input, &t)) {
		finding_missing_file(finding, snapshot, "memory.stat", "the container's cgroup v2 was not read");
		return RULE_INCONCLUSIVE;
	}
	if (t.all <= judged_level(input, T_THP_INFLATION_BYTES))
		return RULE_SILENT;
	if (!judged_container(input->ledger, &limit)) {
		judged_missing(finding);
		return RULE_INCONCLUSIVE;
	}
	uint64_t level = judged_both(input, T_THP_INFLATION_INFLATED, T_THP_INFLATION_BYTES, limit.bytes);
	if (t.all <= level)
		return RULE_SILENT;
	/* What is not in the floor kills nobody. */
	bool grave = t.held > level && (room_is_low(input) || growing_is_urgent(input, (int)t.largest));
	finding->severity = grave ? SEVERITY_WARNING : SEVERITY_NOTICE;
	finding->owner = (int)t.largest;
	finding->excess_bytes = grave ? t.held : t.all;
	observe(input, &t, &limit, finding);
	name_causes(snapshot, finding);
	finding_setting_bytes(finding, limit.setting, limit.bytes, limit.where);
	figures(&t, &limit, finding);
	if (!snapshot->vmas_read)
		finding_missing(finding, "smaps of the JVM: huge pages in thread stacks and arenas (same uid and gid)");
	if (snapshot->thp == THP_UNREAD)
		finding_missing(
			finding,
			"the node's mode of huge pages: cat /sys/kernel/mm/transparent_hugepage/enabled, the word in brackets");
	change_for(snapshot, &t, finding);
	finding_validate(
		finding,
		"steady: thp-unmapped, and AnonHugePages of smaps in stacks and arenas, stay below %s together through a full day's peak",
		units_format(a, level));
	finding_validate(
		finding,
		"restore: the time of a restore from a savepoint is what it was before: huge pages save page faults, too");
	return RULE_FIRED;
}
