/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/vmasplit.h"

#include <string.h>

#include "base/str.h"

const char *const vma_class_names[CLASS_COUNT] = {
	[CLASS_HEAP] = "heap",     [CLASS_METASPACE] = "metaspace", [CLASS_CODE] = "code",       [CLASS_CDS] = "cds",
	[CLASS_STACKS] = "stacks", [CLASS_GC] = "gc",               [CLASS_JVM] = "jvm",         [CLASS_LIBRARY] = "library",
	[CLASS_MALLOC] = "malloc", [CLASS_POOL] = "pool",
};

enum { MIB = 1 << 20, ARENA_BYTES = 64 * MIB, GUARD_MAX_BYTES = 64 * 1024 };

static uint64_t anon_of(const struct snapshot *snapshot, const struct vma *vma)
{
	return snapshot->vmas.have & VMA_HAVE_PSS_ANON ? vma->pss_anon_bytes : vma->anonymous_bytes;
}

static struct str name_of(const struct vma_set *set, const struct vma *vma)
{
	return (struct str){ vma->name_len ? set->names + vma->name_at : "", vma->name_len };
}

static bool overlaps(struct addr_range a, uint64_t start, uint64_t end)
{
	return a.start < end && a.end > start;
}

/* The class of NMT's category or System.map's label. */
__attribute__((unused)) static enum vma_class class_of_category(const char *category)
{
	static const struct {
		const char *category;
		enum vma_class class;
	} table[] = {
		{ "Java Heap", CLASS_HEAP },  { "JAVAHEAP", CLASS_HEAP },   { "Class", CLASS_METASPACE },
		{ "Metaspace", CLASS_METASPACE }, { "CLASS", CLASS_METASPACE }, { "META", CLASS_METASPACE },
		{ "Code", CLASS_CODE },       { "CODE", CLASS_CODE },       { "Shared class space", CLASS_CDS },
		{ "CDS", CLASS_CDS },         { "GC", CLASS_GC },           { "CARDTBL", CLASS_GC },
		{ "Thread Stack", CLASS_STACKS }, { "Thread", CLASS_STACKS }, { "STACK", CLASS_STACKS },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (strcmp(table[i].category, category) == 0)
			return table[i].class;
	return strncmp(category, "STACK", 5) == 0 ? CLASS_STACKS : CLASS_JVM;
}

struct known_range {
	struct addr_range range;
	enum vma_class class;
};

enum { KNOWN_MAX = JVM_HEAP_RANGES_MAX + JVM_CODE_RANGES_MAX };

static size_t known_ranges(const struct snapshot *snapshot, struct known_range known[KNOWN_MAX])
{
	size_t n = 0;
	for (size_t i = 0; i < snapshot->heap.n_ranges; i++)
		known[n++] = (struct known_range){ snapshot->heap.ranges[i], CLASS_HEAP };
	for (size_t i = 0; i < snapshot->code.n_ranges; i++)
		known[n++] = (struct known_range){ snapshot->code.ranges[i], CLASS_CODE };
	return n;
}

static bool resident_in(const struct snapshot *snapshot, struct addr_range range, uint64_t *ret_bytes)
{
	for (size_t i = 0; i < snapshot->n_residents; i++) {
		const struct resident_range *r = &snapshot->residents[i];
		if (r->range.start == range.start && r->range.end == range.end) {
			*ret_bytes = r->resident_bytes;
			return true;
		}
	}
	return false;
}

/*
 * A thread's stack: Linux 6.7+ turns MAP_STACK into VM_NOHUGEPAGE. Before, by shape: glibc puts a small
 * guard of no access right below (Java threads 12 to 16 KiB, native ones 4 KiB).
 */
static bool is_stack(const struct snapshot *snapshot, size_t index, bool nohugepage_marks)
{
	const struct vma *vma = &snapshot->vmas.items[index];
	if (nohugepage_marks)
		return vma->flags & VMA_NOHUGEPAGE;
	if (index == 0 || vma->end - vma->start > 16 * (uint64_t)MIB || (vma->flags & VMA_NORESERVE))
		return false;
	const struct vma *guard = &snapshot->vmas.items[index - 1];
	return guard->end == vma->start && !(guard->flags & (VMA_READ | VMA_WRITE | VMA_EXEC)) && guard->kind == VMA_ANON &&
	       guard->end - guard->start <= GUARD_MAX_BYTES;
}

static bool have_stack_marks(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->vmas.n; i++)
		if ((snapshot->vmas.items[i].flags & VMA_NOHUGEPAGE) && snapshot->vmas.items[i].kind == VMA_ANON)
			return true;
	return false;
}

/*
 * A glibc arena: starts on a 64 MiB border and does not pass the next one. HotSpot's metaspace nodes look
 * the same, but HotSpot commits without MAP_NORESERVE, while glibc maps a whole arena with it.
 */
static bool is_arena(const struct snapshot *snapshot, const struct vma *vma)
{
	if (snapshot->allocator == ALLOCATOR_JEMALLOC || vma->start % ARENA_BYTES != 0 || vma->end - vma->start > ARENA_BYTES)
		return false;
	return !(snapshot->vmas.have & VMA_HAVE_VMFLAGS) || (vma->flags & VMA_NORESERVE);
}

static enum vma_class class_by_shape(const struct snapshot *snapshot, size_t index, bool stack_marks)
{
	const struct vma *vma = &snapshot->vmas.items[index];
	switch (vma->kind) {
	case VMA_BRK:
		return CLASS_MALLOC;
	case VMA_STACK:
		return CLASS_STACKS;
	case VMA_FILE:
		return str_ends(name_of(&snapshot->vmas, vma), STR(".jsa")) ? CLASS_CDS : CLASS_LIBRARY;
	case VMA_SHMEM:
	case VMA_SPECIAL:
	case VMA_KIND_COUNT:
		return CLASS_LIBRARY;
	case VMA_ANON:
		break;
	}
	if (vma->flags & VMA_EXEC)
		return CLASS_CODE;
	if (is_arena(snapshot, vma))
		return CLASS_MALLOC;
	if (is_stack(snapshot, index, stack_marks))
		return CLASS_STACKS;
	return CLASS_POOL;
}

static void split_one(const struct snapshot *snapshot, size_t index, bool stack_marks, uint64_t bytes[CLASS_COUNT])
{
	const struct vma *vma = &snapshot->vmas.items[index];
	uint64_t left = anon_of(snapshot, vma);
	if (left == 0)
		return;
	struct known_range known[KNOWN_MAX];
	size_t n = vma->kind == VMA_ANON ? known_ranges(snapshot, known) : 0;
	for (size_t i = 0; i < n && left; i++) {
		if (!overlaps(known[i].range, vma->start, vma->end))
			continue;
		struct addr_range part = { known[i].range.start > vma->start ? known[i].range.start : vma->start,
			                   known[i].range.end < vma->end ? known[i].range.end : vma->end };
		uint64_t resident = left;
		if ((part.start != vma->start || part.end != vma->end) && !resident_in(snapshot, part, &resident) &&
		    resident > part.end - part.start)
			resident = part.end - part.start;
		if (resident > left)
			resident = left;
		bytes[known[i].class] += resident;
		left -= resident;
	}
	if (left)
		bytes[class_by_shape(snapshot, index, stack_marks)] += left;
}

void vmasplit_one(const struct snapshot *snapshot, size_t index, uint64_t bytes[CLASS_COUNT])
{
	split_one(snapshot, index, have_stack_marks(snapshot), bytes);
}

static bool is_heap_memfd(const struct vma_set *set, const struct vma *vma)
{
	return vma->kind == VMA_SHMEM && str_has(name_of(set, vma), STR("java_heap"));
}

void vmasplit_run(const struct snapshot *snapshot, struct vma_split *ret_split)
{
	struct vma_split split = { .exact_heap = snapshot->heap.n_ranges > 0 };
	bool stack_marks = have_stack_marks(snapshot);
	(void)class_of_category;
	for (size_t i = 0; i < snapshot->vmas.n; i++) {
		const struct vma *vma = &snapshot->vmas.items[i];
		uint64_t anon = anon_of(snapshot, vma);
		split.total_anon_bytes += anon;
		split.lazyfree_bytes += vma->lazyfree_bytes;
		split.swap_bytes += vma->swap_bytes;
		split.hugetlb_bytes += vma->private_hugetlb_bytes + vma->shared_hugetlb_bytes;
		split_one(snapshot, i, stack_marks, split.anon_bytes);
		if (vma->kind == VMA_ANON && class_by_shape(snapshot, i, stack_marks) == CLASS_STACKS)
			split.n_stacks++;
		uint64_t other_rss = vma->rss_bytes - (vma->anonymous_bytes < vma->rss_bytes ? vma->anonymous_bytes : vma->rss_bytes);
		uint64_t other_pss = vma->pss_bytes - (anon < vma->pss_bytes ? anon : vma->pss_bytes);
		if (is_heap_memfd(&snapshot->vmas, vma)) {
			split.heap_shmem_rss_bytes += other_rss;
		} else if (vma->kind == VMA_SHMEM) {
			split.shmem_rss_bytes += other_rss;
			split.shmem_pss_bytes += other_pss;
		} else if (vma->kind == VMA_FILE) {
			split.file_rss_bytes += other_rss;
			split.file_pss_bytes += other_pss;
		}
	}
	split.labelled[CLASS_HEAP] = split.exact_heap;
	split.labelled[CLASS_CODE] = true;
	split.labelled[CLASS_STACKS] = split.labelled[CLASS_CDS] = split.labelled[CLASS_LIBRARY] = true;
	split.labelled[CLASS_MALLOC] = split.labelled[CLASS_POOL] = true;
	*ret_split = split;
}

size_t vmasplit_queries(const struct snapshot *snapshot, struct addr_range ret_ranges[RESIDENT_RANGES_MAX])
{
	struct known_range known[KNOWN_MAX];
	size_t n_known = known_ranges(snapshot, known), n = 0;
	for (size_t v = 0; v < snapshot->vmas.n; v++) {
		const struct vma *vma = &snapshot->vmas.items[v];
		if (vma->kind != VMA_ANON || anon_of(snapshot, vma) == 0)
			continue;
		for (size_t i = 0; i < n_known && n < RESIDENT_RANGES_MAX; i++) {
			struct addr_range r = known[i].range;
			if (!overlaps(r, vma->start, vma->end) || (r.start <= vma->start && r.end >= vma->end))
				continue;
			ret_ranges[n++] = (struct addr_range){ r.start > vma->start ? r.start : vma->start,
				                               r.end < vma->end ? r.end : vma->end };
		}
	}
	return n;
}
