/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/vmashape.h"

#include <string.h>

/* CodeHeap::reserve: one byte of segment map for each 128 bytes of code (CodeCacheSegmentSize). */
enum { CODE_SEGMENT_BYTES = 128 };

/* Leaves room for the rest; a JVM has some 50 ranges at most. */
enum { MERGED_STACKS_MAX = VMA_MARKS_MAX - 80 };

/* A heap is at least this much, and begins at a multiple of it. */
#define HEAP_MIN_BYTES      (2 * SHAPE_MIB)

/* Heaps with compressed oops end here: 32 GiB. */
#define COMPRESSED_OOPS_END (UINT64_C(32768) * SHAPE_MIB)

bool marks_overlap(const struct vma_marks *marks, struct addr_range range)
{
	for (size_t i = 0; i < marks->n; i++)
		if (marks->items[i].range.start < range.end && marks->items[i].range.end > range.start)
			return true;
	return false;
}

bool marks_add(struct vma_marks *marks, struct addr_range range, enum vma_class class)
{
	if (marks->n == VMA_MARKS_MAX || range.start >= range.end || marks_overlap(marks, range))
		return false;
	size_t at = marks->n;
	for (; at > 0 && marks->items[at - 1].range.start > range.start; at--)
		marks->items[at] = marks->items[at - 1];
	marks->items[at] = (struct vma_mark){ range, class };
	marks->n++;
	return true;
}

void marks_drop(struct vma_marks *marks, enum vma_class class)
{
	size_t kept = 0;
	for (size_t i = 0; i < marks->n; i++)
		if (marks->items[i].class != class)
			marks->items[kept++] = marks->items[i];
	marks->n = kept;
}

/* Nothing but the heap itself in the range: commits, reserves and the archive's objects that are mapped into it. */
static bool is_heap_shaped(const struct vma_view *view, struct addr_range range)
{
	uint64_t at = range.start;
	for (size_t i = view_find(view, at); at < range.end; i++) {
		if (i >= view->set->n)
			return false;
		const struct vma *vma = &view->set->items[i];
		bool fits = shape_is_commit(view, vma) || shape_is_reserve(view, vma) || shape_is_archive(view, vma);
		if (vma->start > at || !fits)
			return false;
		at = vma->end;
	}
	return true;
}

/* A class space of the heap's size would pass for it, but for the archive below. */
static bool follows_archive(const struct vma_view *view, size_t index)
{
	while (index > 0 && view->set->items[index - 1].end == view->set->items[index].start) {
		index--;
		if (shape_is_archive(view, &view->set->items[index]))
			return true;
		if (!shape_is_reserve(view, &view->set->items[index]))
			return false;
	}
	return false;
}

/*
 * Without an answer of the JVM: a piece of address space of exactly the heap's reserve. First one that touches
 * nothing at either end, as a heap at a low address does (compressed oops); then one that only ends with a mapping; then
 * one at a low address with something right above it, as a class space without an archive.
 */
static bool is_heap_at(const struct vma_view *view, size_t index, uint64_t size, int pass)
{
	const struct vma_set *set = view->set;
	struct addr_range range = { set->items[index].start, set->items[index].start + size };
	if (range.start % HEAP_MIN_BYTES != 0 || range.end < size || !shape_is_commit(view, &set->items[index]))
		return false;
	size_t last = view_find(view, range.end - 1);
	bool ends = last < set->n && set->items[last].end == range.end;
	bool starts = index == 0 || set->items[index - 1].end != range.start;
	bool alone = ends && starts && (last + 1 >= set->n || set->items[last + 1].start != range.end);
	if (pass == 0 ? !alone : pass == 1 ? !ends : !starts || range.start >= COMPRESSED_OOPS_END)
		return false;
	return is_heap_shaped(view, range) && !follows_archive(view, index);
}

static void heap_by_shape(const struct vma_view *view, struct vma_marks *marks)
{
	const struct snapshot *snapshot = view->snapshot;
	uint64_t size = qty_or(snapshot->flags.max_heap_bytes, qty_or(snapshot->perf.heap_max_bytes, 0));
	size = size / HEAP_MIN_BYTES * HEAP_MIN_BYTES + (size % HEAP_MIN_BYTES ? HEAP_MIN_BYTES : 0);
	if (size == 0 || snapshot->gc == GC_Z)
		return;
	for (int pass = 0; pass < 3; pass++) {
		for (size_t i = 0; i < view->set->n; i++) {
			struct addr_range range = { view->set->items[i].start, view->set->items[i].start + size };
			if (!is_heap_at(view, i, size, pass))
				continue;
			marks->sure[CLASS_HEAP] = marks_add(marks, range, CLASS_HEAP);
			return;
		}
	}
}

static void heap_and_code(const struct vma_view *view, struct vma_marks *marks)
{
	const struct snapshot *snapshot = view->snapshot;
	for (size_t i = 0; i < snapshot->heap.n_ranges && i < JVM_HEAP_RANGES_MAX; i++)
		marks->exact_heap |= marks_add(marks, snapshot->heap.ranges[i], CLASS_HEAP);
	marks->sure[CLASS_HEAP] = marks->exact_heap;
	if (!marks->exact_heap)
		heap_by_shape(view, marks);
	for (size_t i = 0; i < snapshot->code.n_ranges && i < JVM_CODE_RANGES_MAX; i++)
		(void)marks_add(marks, snapshot->code.ranges[i], CLASS_CODE);
}

static uint64_t code_committed(const struct vma_view *view, struct addr_range range)
{
	uint64_t sum = 0;
	for (size_t i = view_find(view, range.start); i < view->set->n && view->set->items[i].start < range.end; i++)
		if (view->set->items[i].flags & VMA_EXEC)
			sum += view->set->items[i].end - view->set->items[i].start;
	return sum;
}

/*
 * The segment map of each code heap, committed as far as the code is: small, but the collector's tables lie below
 * it.
 */
static void segment_maps(const struct vma_view *view, struct vma_marks *marks)
{
	const struct jvm_code *code = &view->snapshot->code;
	uint64_t page = view->page_bytes;
	for (size_t c = 0; c < code->n_ranges && c < JVM_CODE_RANGES_MAX; c++) {
		uint64_t size = (code->ranges[c].end - code->ranges[c].start) / CODE_SEGMENT_BYTES;
		uint64_t committed = code_committed(view, code->ranges[c]) / CODE_SEGMENT_BYTES;
		size = (size + page - 1) / page * page;
		for (size_t i = 1; i < view->set->n && size; i++) {
			const struct vma *gap = &view->set->items[i], *below = gap - 1;
			if (!shape_is_reserve(view, gap) || below->end != gap->start || !shape_is_commit(view, below) ||
			    gap->end - gap->start >= size || gap->end < size || gap->end - size < below->start)
				continue;
			uint64_t used = size - (gap->end - gap->start);
			if (used + page < committed || used > committed + 2 * page)
				continue;
			if (marks_add(marks, (struct addr_range){ gap->end - size, gap->end }, CLASS_CODE))
				break;
		}
	}
}

/* Stacks that share a mapping with what lies above them. */
static void merged_stacks(const struct vma_view *view, struct vma_marks *marks)
{
	for (size_t i = 0; i < view->set->n && marks->n < MERGED_STACKS_MAX; i++) {
		const struct vma *vma = &view->set->items[i];
		uint64_t bytes = shape_stack_bytes(view, i);
		if (bytes && bytes < vma->end - vma->start)
			(void)marks_add(marks, (struct addr_range){ vma->start, vma->start + bytes }, CLASS_STACKS);
	}
}

void marks_find(const struct vma_view *view, bool by_shape, struct vma_marks *ret_marks)
{
	struct vma_marks marks = { .n = 0 };
	heap_and_code(view, &marks);
	merged_stacks(view, &marks);
	if (by_shape) {
		segment_maps(view, &marks);
		marks_gc_mirrors(view, &marks);
		marks_metaspace(view, &marks);
		marks_gc(view, &marks);
	}
	*ret_marks = marks;
}
