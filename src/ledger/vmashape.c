/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/vmashape.h"

static const uint64_t arena_bytes = 64 * SHAPE_MIB;

enum {
	GUARD_MAX_PAGES = 16, /* Java threads have 3 or 4 guard pages, native ones one */
	NATIVE_STACK_BYTES = 8 * 1024 * 1024,
	PAGE_BYTES_DEFAULT = 4096,
	FIRST_PAGE_MAX = 64 * 1024, /* the protected first page of a relocated CDS archive: JDK 21+ */
};

static const uint32_t access_flags = VMA_READ | VMA_WRITE | VMA_EXEC;

void view_of(const struct snapshot *snapshot, struct vma_view *ret_view)
{
	struct vma_view view = {
		.snapshot = snapshot,
		.set = &snapshot->vmas,
		.page_bytes = snapshot->page_bytes ? snapshot->page_bytes : PAGE_BYTES_DEFAULT,
	};
	for (size_t i = 0; i < view.set->n; i++) {
		const struct vma *vma = &view.set->items[i];
		if (vma->kind != VMA_ANON)
			continue;
		view.stack_marks |= (vma->flags & VMA_NOHUGEPAGE) != 0;
		view.noreserve_marks |= (vma->flags & VMA_NORESERVE) != 0;
		view.account_marks |= (vma->flags & VMA_ACCOUNT) != 0;
	}
	*ret_view = view;
}

size_t view_find(const struct vma_view *view, uint64_t address)
{
	size_t low = 0, high = view->set->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (view->set->items[middle].end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

struct str view_name(const struct vma_view *view, const struct vma *vma)
{
	return (struct str){ vma->name_len ? view->set->names + vma->name_at : "", vma->name_len };
}

uint64_t view_anon_bytes(const struct vma_view *view, const struct vma *vma)
{
	return view->set->have & VMA_HAVE_PSS_ANON ? vma->pss_anon_bytes : vma->anonymous_bytes;
}

bool shape_is_commit(const struct vma_view *view, const struct vma *vma)
{
	uint32_t mode = vma->flags & (access_flags | VMA_SHARED);
	if (vma->kind != VMA_ANON || mode != (VMA_READ | VMA_WRITE) || (vma->flags & (VMA_NOHUGEPAGE | VMA_NORESERVE)))
		return false;
	if (view->account_marks && !(vma->flags & VMA_ACCOUNT))
		return false;
	/* A stack of 8 MiB is as large as the mark bitmap of a heap of 512 MiB. */
	return shape_stack_bytes(view, (size_t)(vma - view->set->items)) < vma->end - vma->start;
}

bool shape_is_reserve(const struct vma_view *view, const struct vma *vma)
{
	if (vma->kind != VMA_ANON || (vma->flags & (access_flags | VMA_SHARED | VMA_NOHUGEPAGE)))
		return false;
	return !view->noreserve_marks || (vma->flags & VMA_NORESERVE);
}

bool shape_is_archive(const struct vma_view *view, const struct vma *vma)
{
	return vma->kind == VMA_FILE && str_has(view_name(view, vma), STR(".jsa"));
}

uint64_t shape_stack_default_bytes(const struct snapshot *snapshot)
{
	bool arm64 = str_ends(str_of(snapshot->kernel), STR(" aarch64"));
	return arm64 ? 2 * SHAPE_MIB : SHAPE_MIB;
}

/*
 * Before Linux 6.7 a stack is known by the guard right below it: 12 KiB or more of a Java thread's, inside the size
 * that was asked for (JavaThread::create_stack_guard_pages), one page of glibc's for other threads, above which are
 * 1 MiB for those of the JVM and 8 MiB (RLIMIT_STACK) for most others. The guard has no `nr`; what the kernel merged
 * with the stack lies above it.
 */
uint64_t shape_stack_bytes(const struct vma_view *view, size_t index)
{
	const struct vma *vma = &view->set->items[index];
	uint64_t usual = shape_stack_default_bytes(view->snapshot);
	uint64_t size = vma->end - vma->start, wanted = qty_or(view->snapshot->flags.thread_stack_bytes, usual);
	if (view->stack_marks || index == 0 || vma->kind != VMA_ANON || !(vma->flags & VMA_WRITE) ||
	    (vma->flags & (VMA_NORESERVE | VMA_EXEC | VMA_SHARED)))
		return 0;
	const struct vma *guard = vma - 1;
	uint64_t guard_size = guard->end - guard->start;
	if (guard->end != vma->start || guard->kind != VMA_ANON || guard_size > GUARD_MAX_PAGES * view->page_bytes ||
	    (guard->flags & (access_flags | VMA_NORESERVE)))
		return 0;
	if (guard_size == view->page_bytes)
		wanted = size == NATIVE_STACK_BYTES ? size : usual;
	else
		wanted -= guard_size < wanted ? guard_size : wanted;
	return size < wanted ? size : wanted;
}

/* A mapping that is a thread's stack: Linux 6.7+ turns MAP_STACK into VM_NOHUGEPAGE (`nh`). */
bool shape_is_stack(const struct vma_view *view, size_t index)
{
	const struct vma *vma = &view->set->items[index];
	if (vma->kind == VMA_STACK || (vma->kind == VMA_ANON && (vma->flags & VMA_NOHUGEPAGE)))
		return true;
	return shape_stack_bytes(view, index) == vma->end - vma->start;
}

/* A glibc arena starts on a 64 MiB border and does not pass the next one (arena.c, HEAP_MAX_SIZE). */
bool shape_is_arena(const struct vma_view *view, const struct vma *vma)
{
	if (vma->kind != VMA_ANON || vma->start % arena_bytes != 0 || vma->end - vma->start > arena_bytes)
		return false;
	if (view->snapshot->allocator == ALLOCATOR_JEMALLOC || !(vma->flags & VMA_WRITE))
		return false;
	return !view->noreserve_marks || (vma->flags & VMA_NORESERVE);
}

/* DynamicArchive and static archive alike: the header page is anonymous and protected after its check. */
static bool is_archive_head(const struct vma_view *view, size_t index)
{
	const struct vma *vma = &view->set->items[index];
	if (index + 1 >= view->set->n || vma->end - vma->start > FIRST_PAGE_MAX || (vma->flags & access_flags))
		return false;
	return vma[1].start == vma->end && shape_is_archive(view, vma + 1);
}

enum vma_class shape_class(const struct vma_view *view, size_t index)
{
	const struct vma *vma = &view->set->items[index];
	switch (vma->kind) {
	case VMA_BRK:
		return CLASS_MALLOC;
	case VMA_STACK:
		return CLASS_STACKS;
	case VMA_FILE:
		return shape_is_archive(view, vma) ? CLASS_CDS : CLASS_LIBRARY;
	case VMA_SHMEM:
	case VMA_SPECIAL:
	case VMA_KIND_COUNT:
		return CLASS_LIBRARY;
	case VMA_ANON:
		break;
	}
	if (vma->flags & VMA_EXEC)
		return CLASS_CODE;
	if (shape_is_arena(view, vma))
		return CLASS_MALLOC;
	if (shape_is_stack(view, index))
		return CLASS_STACKS;
	return is_archive_head(view, index) ? CLASS_CDS : CLASS_POOL;
}

uint64_t shape_committed(const struct vma_view *view, struct addr_range range, uint64_t granule)
{
	uint64_t at = range.start, committed = 0;
	for (size_t i = view_find(view, at); at < range.end; i++) {
		if (i >= view->set->n)
			return 0;
		const struct vma *vma = &view->set->items[i];
		bool commit = shape_is_commit(view, vma);
		if (vma->start > at || (!commit && !shape_is_reserve(view, vma)) || (at == range.start && !commit))
			return 0;
		uint64_t end = vma->end < range.end ? vma->end : range.end;
		if ((end - range.start) % granule != 0)
			return 0;
		committed += commit ? end - at : 0;
		at = end;
	}
	return committed;
}
