/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/vmasplit.h"

#include <string.h>

#include "ledger/vmashape.h"

const char *const vma_class_names[CLASS_COUNT] = {
	[CLASS_HEAP] = "heap", [CLASS_METASPACE] = "metaspace", [CLASS_CODE] = "code",
	[CLASS_CDS] = "cds",   [CLASS_STACKS] = "stacks",       [CLASS_GC] = "gc",
	[CLASS_JVM] = "jvm",   [CLASS_LIBRARY] = "library",     [CLASS_MALLOC] = "malloc",
	[CLASS_POOL] = "pool",
};

/* One part of a mapping and who owns it. */
struct piece {
	struct addr_range range;
	enum vma_class class;
};

struct splitter {
	struct vma_view view;
	struct vma_marks marks;
	bool labels_by_mapping; /* the regions are those of System.map: a label is the whole mapping's, for whatever is in it */
};

/* The class of NMT's category: System.map's tags were turned into these. */
static enum vma_class class_of_category(const char *category)
{
	static const struct {
		const char *category;
		enum vma_class class;
	} table[] = {
		{ "Java Heap", CLASS_HEAP },         { "Class", CLASS_METASPACE }, { "Metaspace", CLASS_METASPACE },
		{ "Shared class space", CLASS_CDS }, { "Code", CLASS_CODE },       { "GC", CLASS_GC },
		{ "Thread Stack", CLASS_STACKS },    { "Thread", CLASS_STACKS },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (strcmp(table[i].category, category) == 0)
			return table[i].class;
	return CLASS_JVM;
}

static const struct jvm_region *region_after(const struct snapshot *snapshot, uint64_t address)
{
	size_t low = 0, high = snapshot->regions.n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (snapshot->regions.items[middle].range.end > address)
			high = middle;
		else
			low = middle + 1;
	}
	return low < snapshot->regions.n ? &snapshot->regions.items[low] : NULL;
}

/* NMT detail tells committed ranges; only System.map labels what is merely reserved. */
static bool labels_reserves(const struct vma_view *view)
{
	for (size_t i = 0; i < view->set->n && view->snapshot->regions.n; i++) {
		const struct vma *vma = &view->set->items[i];
		const struct jvm_region *region = region_after(view->snapshot, vma->start);
		if (shape_is_reserve(view, vma) && region && region->range.start <= vma->start &&
		    region->range.end >= vma->end && vma->end - vma->start >= SHAPE_MIB)
			return true;
	}
	return false;
}

static void splitter_of(const struct snapshot *snapshot, struct splitter *ret)
{
	view_of(snapshot, &ret->view);
	ret->labels_by_mapping = labels_reserves(&ret->view);
	marks_find(&ret->view, ret->labels_by_mapping || !snapshot->regions.n, &ret->marks);
}

static const struct vma_mark *mark_after(const struct vma_marks *marks, uint64_t address)
{
	for (size_t i = 0; i < marks->n; i++)
		if (marks->items[i].range.end > address)
			return &marks->items[i];
	return NULL;
}

/* May a label speak for parts of this mapping? Not where the mapping's own marks say more: stacks, arenas, files. */
static bool takes_labels(const struct splitter *splitter, size_t index)
{
	const struct vma_view *view = &splitter->view;
	const struct vma *vma = &view->set->items[index];
	if (view->snapshot->regions.n == 0 || vma->kind != VMA_ANON)
		return false;
	if (view->stack_marks && shape_is_stack(view, index))
		return false;
	if (view->noreserve_marks && shape_is_arena(view, vma))
		return false;
	if (!splitter->labels_by_mapping)
		return true;
	const struct vma_mark *mark = mark_after(&splitter->marks, vma->start);
	return !mark || mark->range.start >= vma->end;
}

/* The first piece with one owner at or after `at`; of what overlaps, marks go before labels. */
static bool piece_at(const struct splitter *splitter, const struct vma *vma, bool labels, uint64_t at,
		     struct piece *ret)
{
	while (at < vma->end) {
		const struct vma_mark *mark = mark_after(&splitter->marks, at);
		const struct jvm_region *region = labels ? region_after(splitter->view.snapshot, at) : NULL;
		uint64_t mark_start = mark && mark->range.start < vma->end ? mark->range.start : vma->end;
		uint64_t region_start = region && region->range.start < vma->end ? region->range.start : vma->end;
		if (mark_start <= at) {
			uint64_t end = mark->range.end < vma->end ? mark->range.end : vma->end;
			*ret = (struct piece){ { at, end }, mark->class };
			return true;
		}
		if (region_start <= at) {
			uint64_t end = region->range.end < mark_start ? region->range.end : mark_start;
			*ret = (struct piece){ { at, end }, class_of_category(region->category) };
			return true;
		}
		at = mark_start < region_start ? mark_start : region_start;
	}
	return false;
}

/* The same, with what continues it joined. Ends are whole pages: the last object of an archive may end inside one. */
static bool piece_next(const struct splitter *splitter, size_t index, bool labels, uint64_t at, struct piece *ret)
{
	const struct vma *vma = &splitter->view.set->items[index];
	struct piece piece, next;
	if (!piece_at(splitter, vma, labels, at, &piece))
		return false;
	while (piece_at(splitter, vma, labels, piece.range.end, &next) && next.range.start == piece.range.end &&
	       next.class == piece.class)
		piece.range.end = next.range.end;
	*ret = piece;
	return true;
}

static bool resident_in(const struct snapshot *snapshot, struct addr_range range, uint64_t *ret_bytes)
{
	for (size_t i = 0; i < snapshot->n_residents && i < RESIDENT_RANGES_MAX; i++) {
		const struct resident_range *r = &snapshot->residents[i];
		if (r->range.start == range.start && r->range.end == range.end) {
			*ret_bytes = r->resident_bytes;
			return true;
		}
	}
	return false;
}

/*
 * How much of a mapping's `anon` bytes is in a piece of it. Without pagemap: what is committed is mostly touched, but
 * for a collector's tables, which are taken to be as full as the mapping is.
 */
static uint64_t bytes_in(const struct splitter *splitter, const struct vma *vma, uint64_t anon,
			 const struct piece *piece)
{
	uint64_t size = piece->range.end - piece->range.start, whole = vma->end - vma->start, resident;
	if (size == whole)
		return anon;
	if (anon >= whole)
		return size;
	if (resident_in(splitter->view.snapshot, piece->range, &resident))
		return resident;
	return piece->class == CLASS_GC ? (uint64_t)((__uint128_t)anon * size / whole) : size;
}

/* What pagemap counted in pieces of the mapping: a piece that it was not asked for gets no more than the rest. */
static uint64_t counted_in(const struct splitter *splitter, size_t index, bool labels)
{
	uint64_t counted = 0, resident;
	struct piece piece = { .range = { 0, splitter->view.set->items[index].start } };
	while (piece_next(splitter, index, labels, piece.range.end, &piece))
		if (resident_in(splitter->view.snapshot, piece.range, &resident))
			counted += resident < UINT64_MAX - counted ? resident : UINT64_MAX - counted;
	return counted;
}

static void split_one(const struct splitter *splitter, size_t index, uint64_t bytes[CLASS_COUNT])
{
	const struct vma *vma = &splitter->view.set->items[index];
	uint64_t anon = view_anon_bytes(&splitter->view, vma), left = anon;
	if (left == 0)
		return;
	bool labels = takes_labels(splitter, index);
	uint64_t counted = counted_in(splitter, index, labels);
	struct piece piece = { .range = { 0, vma->start } };
	while (left && piece_next(splitter, index, labels, piece.range.end, &piece)) {
		uint64_t part = bytes_in(splitter, vma, anon, &piece), resident, most = left;
		if (resident_in(splitter->view.snapshot, piece.range, &resident))
			counted -= resident < counted ? resident : counted;
		else
			most = left > counted ? left - counted : 0;
		part = part < most ? part : most;
		bytes[piece.class] += part;
		left -= part;
	}
	if (left)
		bytes[shape_class(&splitter->view, index)] += left;
}

void vmasplit_one(const struct snapshot *snapshot, size_t index, uint64_t bytes[CLASS_COUNT])
{
	struct splitter splitter;
	splitter_of(snapshot, &splitter);
	split_one(&splitter, index, bytes);
}

static bool is_heap_memfd(const struct vma_view *view, const struct vma *vma)
{
	return vma->kind == VMA_SHMEM && str_has(view_name(view, vma), STR("java_heap"));
}

/* What is not anonymous in a mapping, by kind. */
static void add_others(const struct vma_view *view, const struct vma *vma, struct vma_split *split)
{
	uint64_t anon = view_anon_bytes(view, vma);
	uint64_t rss = vma->rss_bytes - (vma->anonymous_bytes < vma->rss_bytes ? vma->anonymous_bytes : vma->rss_bytes);
	uint64_t pss = vma->pss_bytes - (anon < vma->pss_bytes ? anon : vma->pss_bytes);
	split->lazyfree_bytes += vma->lazyfree_bytes;
	split->swap_bytes += vma->swap_bytes;
	split->hugetlb_bytes += vma->private_hugetlb_bytes + vma->shared_hugetlb_bytes;
	if (is_heap_memfd(view, vma)) {
		split->heap_shmem_rss_bytes += rss;
	} else if (vma->kind == VMA_SHMEM) {
		split->shmem_rss_bytes += rss;
		split->shmem_pss_bytes += pss;
	} else if (vma->kind == VMA_FILE) {
		split->file_rss_bytes += rss;
		split->file_pss_bytes += pss;
	}
}

void vmasplit_run(const struct snapshot *snapshot, struct vma_split *ret_split)
{
	struct splitter splitter;
	struct vma_split split = { 0 };
	splitter_of(snapshot, &splitter);
	for (size_t i = 0; i < snapshot->vmas.n; i++) {
		const struct vma *vma = &snapshot->vmas.items[i];
		split.total_anon_bytes += view_anon_bytes(&splitter.view, vma);
		split_one(&splitter, i, split.anon_bytes);
		add_others(&splitter.view, vma, &split);
		/* Guards have the mark of the stack above them. */
		if ((vma->flags & VMA_WRITE) && shape_class(&splitter.view, i) == CLASS_STACKS && vma->kind == VMA_ANON)
			split.n_stacks++;
	}
	for (size_t i = 0; i < splitter.marks.n; i++)
		split.n_stacks += splitter.marks.items[i].class == CLASS_STACKS;
	split.exact_heap = splitter.marks.exact_heap;
	split.labelled[CLASS_HEAP] = splitter.marks.sure[CLASS_HEAP];
	bool labels = snapshot->regions.n > 0;
	split.labelled[CLASS_METASPACE] = labels || splitter.marks.sure[CLASS_METASPACE];
	split.labelled[CLASS_GC] = labels || splitter.marks.sure[CLASS_GC];
	split.labelled[CLASS_JVM] = labels;
	split.labelled[CLASS_CODE] = split.labelled[CLASS_STACKS] = split.labelled[CLASS_CDS] = true;
	split.labelled[CLASS_LIBRARY] = split.labelled[CLASS_MALLOC] = split.labelled[CLASS_POOL] = true;
	*ret_split = split;
}

size_t vmasplit_queries(const struct snapshot *snapshot, struct addr_range ret_ranges[RESIDENT_RANGES_MAX])
{
	struct splitter splitter;
	size_t n = 0;
	splitter_of(snapshot, &splitter);
	for (size_t i = 0; i < snapshot->vmas.n; i++) {
		const struct vma *vma = &snapshot->vmas.items[i];
		uint64_t anon = view_anon_bytes(&splitter.view, vma), whole = vma->end - vma->start;
		bool labels = takes_labels(&splitter, i);
		/* A mapping without pages, or with all of them, keeps no secret. */
		if (anon == 0 || anon >= whole)
			continue;
		struct piece piece = { .range = { 0, vma->start } };
		while (n < RESIDENT_RANGES_MAX && piece_next(&splitter, i, labels, piece.range.end, &piece))
			if (piece.range.end - piece.range.start < whole)
				ret_ranges[n++] = piece.range;
	}
	return n;
}
