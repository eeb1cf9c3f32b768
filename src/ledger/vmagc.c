/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The collector's own tables by their shape. What they are and how large is a matter of the collector and of the
 * heap's size H (share/gc): card tables and block offset tables H/512, mark bitmaps H/64 or H/32.
 *
 * Where they are is told, in this order of trust, by
 *   1. the mirror: tables are committed where the heap is, so a hole in the heap shows as a hole of 1/512 or 1/64;
 *   2. the fit: a mapping that is exactly a run of tables in the order they are reserved;
 *   3. the neighbour: right below a table or the segment map of the code cache, which is reserved before the heap
 *      (init_globals: codeCache_init, then universe_init), as mmap goes downwards;
 *   4. the top of a mapping: the JVM mapped first and therefore highest, what malloc mapped since lies below.
 *
 * All of it may be resident, or nothing: pagemap tells. NMT's committed is no measure of it: G1's mark stack alone is
 * 32 MiB that no one touches.
 */
#include "ledger/vmashape.h"

#define HUGE_ALIGN          (2 * SHAPE_MIB)  /* Linux 6.7+ puts mappings of whole 2 MiB on such a border */
#define MARK_STACK_BYTES    (32 * SHAPE_MIB) /* MarkStackSize: 4 Mi entries of 8 bytes */
#define TASK_QUEUE_BYTES    SHAPE_MIB /* GenericTaskQueue: 128 Ki entries of 8 bytes, by malloc, one a GC thread */
#define Z_MARK_SPACE_BYTES  (8192 * SHAPE_MIB) /* ZMarkStackSpaceLimit */
#define Z_GRANULE_MAP_BYTES (16 * SHAPE_MIB)   /* one pointer a granule of 2 MiB of 4 TiB */

enum { TABLES_MAX = 8, QUEUES_MAX = 64, SLACK_PAGES = 2, HOLES_MAX = 4 };

struct gc_table {
	uint64_t covers_from, covers_bytes; /* the part of the heap it describes, from the heap's start */
	uint64_t size;
	unsigned divisor; /* 0: of a size of its own */
	uint64_t start;   /* where it was found */
	bool sparse;      /* nobody touches it: it can only be where as much is untouched */
	bool found;
};

struct gc_plan {
	struct gc_table tables[TABLES_MAX]; /* in the order they are reserved: from the top down */
	size_t n;
	struct addr_range heap;
	bool queues_above; /* G1 allocates its task queues before its tables */
	bool whole;        /* tables may be committed whole, whatever the heap is */
};

static uint64_t page_up(const struct vma_view *view, uint64_t bytes)
{
	return (bytes + view->page_bytes - 1) / view->page_bytes * view->page_bytes;
}

static void plan_add(const struct vma_view *view, struct gc_plan *plan, struct addr_range covers, unsigned divisor,
		     uint64_t extra)
{
	if (plan->n == TABLES_MAX || covers.end <= covers.start)
		return;
	uint64_t bytes = covers.end - covers.start;
	plan->tables[plan->n++] = (struct gc_table){
		.covers_from = covers.start - plan->heap.start,
		.covers_bytes = bytes,
		.size = page_up(view, bytes / divisor) + extra,
		.divisor = divisor,
	};
}

static const struct nmt_category *nmt_gc(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->nmt.n_categories && snapshot->nmt_read; i++)
		if (str_eq(str_of(snapshot->nmt.categories[i].name), STR("GC")))
			return &snapshot->nmt.categories[i];
	return NULL;
}

static uint64_t told_reserved(const struct snapshot *snapshot)
{
	const struct nmt_category *gc = nmt_gc(snapshot);
	return gc ? qty_or(gc->mmap_reserved_bytes, 0) : 0;
}

/*
 * G1 had two bitmaps until JDK 19 and a table of card counts until 21. NMT's sum decides where there is one.
 */
static void plan_g1(const struct vma_view *view, struct gc_plan *plan)
{
	uint64_t heap = plan->heap.end - plan->heap.start, told = told_reserved(view->snapshot);
	int major = view->snapshot->jdk_major;
	unsigned n_cards = major >= 21 ? 2 : 3, n_bitmaps = major >= 20 ? 1 : 2;
	uint64_t best = UINT64_MAX;
	for (unsigned cards = 2; told && cards <= 3; cards++) {
		for (unsigned bitmaps = 1; bitmaps <= 2; bitmaps++) {
			uint64_t sum = cards * (heap / 512) + bitmaps * (heap / 64) + MARK_STACK_BYTES;
			if (sum > told || told - sum >= best)
				continue;
			best = told - sum;
			n_cards = cards;
			n_bitmaps = bitmaps;
		}
	}
	for (unsigned i = 0; i < n_cards; i++)
		plan_add(view, plan, plan->heap, 512, 0);
	for (unsigned i = 0; i < n_bitmaps; i++)
		plan_add(view, plan, plan->heap, 64, 0);
	/* Committed whole and hardly touched: only where there is as much untouched. */
	if (plan->n < TABLES_MAX)
		plan->tables[plan->n++] = (struct gc_table){ .size = MARK_STACK_BYTES, .sparse = true };
	plan->queues_above = true;
}

/* Card table, start array of the old generation, and for Parallel bitmap (two until JDK 21) and block table. */
static void plan_generations(const struct vma_view *view, struct gc_plan *plan, bool parallel)
{
	const struct snapshot *snapshot = view->snapshot;
	uint64_t guard = snapshot->jdk_major >= 21 ? 0 : view->page_bytes, heap = plan->heap.end - plan->heap.start;
	struct addr_range old = { 0 };
	for (size_t i = 0; i < snapshot->heap.n_ranges && snapshot->heap.n_ranges > 1; i++) {
		struct addr_range range = snapshot->heap.ranges[i];
		/* The old generation is the lower one of Parallel, the upper one of Serial. */
		if (parallel ? range.start == plan->heap.start : range.end == plan->heap.end)
			old = range;
	}
	plan_add(view, plan, plan->heap, 512, guard);
	plan_add(view, plan, old, 512, 0);
	if (!parallel)
		return;
	plan->whole = true;
	uint64_t told = told_reserved(snapshot);
	bool one_bitmap = told ? told < heap / 32 + heap / 512 : snapshot->jdk_major >= 21;
	plan_add(view, plan, plan->heap, one_bitmap ? 64 : 32, 0);
	if (!one_bitmap)
		plan_add(view, plan, plan->heap, 512, 0);
}

static void plan_make(const struct vma_view *view, const struct vma_marks *marks, struct gc_plan *ret_plan)
{
	struct gc_plan plan = { .heap = { UINT64_MAX, 0 } };
	for (size_t i = 0; i < marks->n; i++) {
		struct addr_range range = marks->items[i].range;
		if (marks->items[i].class != CLASS_HEAP)
			continue;
		plan.heap.start = range.start < plan.heap.start ? range.start : plan.heap.start;
		plan.heap.end = range.end > plan.heap.end ? range.end : plan.heap.end;
	}
	bool heap = plan.heap.start < plan.heap.end;
	switch (view->snapshot->gc) {
	case GC_G1:
		if (heap)
			plan_g1(view, &plan);
		break;
	case GC_PARALLEL:
	case GC_SERIAL:
		if (heap)
			plan_generations(view, &plan, view->snapshot->gc == GC_PARALLEL);
		break;
	case GC_SHENANDOAH:
		if (heap)
			plan_add(view, &plan, plan.heap, 32, 0);
		break;
	case GC_Z:
		for (int i = 0; i < 2 && told_reserved(view->snapshot) >= Z_MARK_SPACE_BYTES; i++)
			plan.tables[plan.n++] = (struct gc_table){ .size = Z_GRANULE_MAP_BYTES };
		break;
	case GC_EPSILON:
	case GC_UNKNOWN:
	case GC_COUNT:
		break;
	}
	*ret_plan = plan;
}

/* --- 1. the mirror --------------------------------------------------------------------- */

/* The uncommitted parts of [from, from + bytes) of the heap, as offsets from `from`. */
static size_t heap_holes(const struct vma_view *view, const struct gc_plan *plan, const struct gc_table *table,
			 struct addr_range holes[HOLES_MAX])
{
	uint64_t start = plan->heap.start + table->covers_from, end = start + table->covers_bytes;
	size_t n = 0;
	for (size_t i = view_find(view, start); i < view->set->n && view->set->items[i].start < end && n < HOLES_MAX;
	     i++) {
		const struct vma *vma = &view->set->items[i];
		if (!shape_is_reserve(view, vma))
			continue;
		uint64_t from = vma->start > start ? vma->start : start, to = vma->end < end ? vma->end : end;
		holes[n++] = (struct addr_range){ from - start, to - start };
	}
	return n;
}

static bool about(const struct vma_view *view, uint64_t a, uint64_t b)
{
	uint64_t slack = SLACK_PAGES * view->page_bytes;
	return a <= b + slack && b <= a + slack;
}

/* Where the commits below items[index] begin: they may be several mappings without a gap. */
static uint64_t commits_start(const struct vma_view *view, size_t index)
{
	while (index > 0 && view->set->items[index - 1].end == view->set->items[index].start &&
	       shape_is_commit(view, &view->set->items[index - 1]))
		index--;
	return view->set->items[index].start;
}

/*
 * Is the reserve items[index] the first hole of this table? Tables are committed in whole pages, and may have a page
 * more than the heap needs. A hole at the table's end tells the table's place by its own end.
 */
static bool is_mirror(const struct vma_view *view, const struct gc_table *table, struct addr_range hole, size_t index,
		      uint64_t *ret_start)
{
	const struct vma *gap = &view->set->items[index];
	uint64_t committed = page_up(view, hole.start / table->divisor),
		 hole_end = page_up(view, hole.end / table->divisor);
	uint64_t below = hole.end == table->covers_bytes ? gap->end - hole_end : gap->start - committed;
	if (committed == 0 || committed > gap->start || hole_end > gap->end || below >= gap->start)
		return false;
	if (!about(view, gap->start, below + committed) || !about(view, gap->end, below + hole_end) ||
	    below < commits_start(view, index))
		return false;
	*ret_start = below;
	return true;
}

static void find_mirrors(const struct vma_view *view, struct gc_plan *plan, struct vma_marks *marks)
{
	for (size_t t = 0; t < plan->n; t++) {
		struct gc_table *table = &plan->tables[t];
		struct addr_range holes[HOLES_MAX];
		if (!table->divisor || !heap_holes(view, plan, table, holes))
			continue;
		for (size_t i = view->set->n; i-- > 1 && !table->found;) {
			const struct vma *gap = &view->set->items[i];
			uint64_t start;
			if (!shape_is_reserve(view, gap) || gap[-1].end != gap->start ||
			    !shape_is_commit(view, gap - 1) || !is_mirror(view, table, holes[0], i, &start))
				continue;
			table->found = marks_add(marks, (struct addr_range){ start, start + table->size }, CLASS_GC);
		}
	}
}

/* ZGC until JDK 20 reserves a space for its mark stacks that no other reserve equals. */
static void find_z_mark_space(const struct vma_view *view, struct vma_marks *marks)
{
	for (size_t i = 1; i < view->set->n; i++) {
		const struct vma *gap = &view->set->items[i];
		if (!shape_is_reserve(view, gap) || gap->end < Z_MARK_SPACE_BYTES || gap[-1].end != gap->start)
			continue;
		struct addr_range range = { gap->end - Z_MARK_SPACE_BYTES, gap->end };
		if (shape_is_commit(view, gap - 1) && shape_committed(view, range, view->page_bytes) &&
		    marks_add(marks, range, CLASS_GC))
			return;
	}
}

/* --- 2. to 4.: fit, neighbour, top ------------------------------------------------------------- */

enum trust { TRUST_NONE = 0, TRUST_TOP, TRUST_BORDER, TRUST_BORDER_ABOVE_CODE, TRUST_NEIGHBOUR, TRUST_FIT };

struct gc_place {
	size_t first, n; /* which tables */
	uint64_t end, bytes;
	enum trust trust;
};

struct gc_search {
	const struct vma_view *view;
	const struct gc_plan *plan;
	const struct vma_marks *marks;
	uint64_t zone; /* where the code cache ends: above it lie the mappings that the JVM made first; 0: unread */
};

/* The part of a chain of commits that ends at `end` and is not marked yet. */
static uint64_t free_from(const struct gc_search *search, size_t index, uint64_t end)
{
	uint64_t from = commits_start(search->view, index);
	for (size_t i = 0; i < search->marks->n; i++)
		if (search->marks->items[i].range.end <= end && search->marks->items[i].range.end > from)
			from = search->marks->items[i].range.end;
	return from;
}

/* Has the mapping that holds `start` as much untouched as a table that nobody touches? */
static bool is_sparse(const struct gc_search *search, uint64_t start, uint64_t bytes)
{
	const struct vma *vma = &search->view->set->items[view_find(search->view, start)];
	uint64_t size = vma->end - vma->start, anon = view_anon_bytes(search->view, vma);
	return size >= bytes && anon <= size && size - anon >= bytes / 2;
}

/*
 * The longest run of tables not yet found from `first` on that lies below `end` and begins where a mapping begins. If
 * there is none, the first table alone, if it fits.
 */
static struct gc_place run_below(const struct gc_search *search, size_t first, uint64_t from, uint64_t end)
{
	const struct gc_plan *plan = search->plan;
	struct gc_place best = { .first = first, .end = end };
	uint64_t start = end;
	for (size_t i = first; i < plan->n && !plan->tables[i].found; i++) {
		const struct gc_table *table = &plan->tables[i];
		if (table->size > start - from ||
		    (table->sparse && !is_sparse(search, start - table->size, table->size)))
			break;
		start -= table->size;
		bool fits = start == from || search->view->set->items[view_find(search->view, start)].start == start;
		if (fits || i == first)
			best = (struct gc_place){ first, i - first + 1, end, end - start,
						  fits ? TRUST_FIT : TRUST_NONE };
	}
	return best;
}

/* Is what starts at the run's end a table that was reserved before it? */
static bool follows_table(const struct gc_plan *plan, const struct gc_place *place)
{
	for (size_t i = 0; i < place->first; i++)
		if (plan->tables[i].found && plan->tables[i].start == place->end)
			return true;
	return false;
}

static enum trust trust_of(const struct gc_search *search, const struct gc_place *place, bool below_segments)
{
	if (place->bytes == 0)
		return TRUST_NONE;
	if (place->trust == TRUST_FIT)
		return TRUST_FIT;
	if (follows_table(search->plan, place) || (below_segments && !search->plan->queues_above))
		return TRUST_NEIGHBOUR;
	bool above_code = search->zone && place->end > search->zone;
	if (search->plan->tables[place->first].size % HUGE_ALIGN != 0)
		return above_code && !search->plan->queues_above ? TRUST_TOP : TRUST_NONE;
	if (place->end % HUGE_ALIGN != 0)
		return TRUST_NONE;
	/* Below the code cache lies what malloc mapped as well: only where the table's size is more than a guess. */
	bool sizes_told = search->view->snapshot->nmt_read || search->view->snapshot->jdk_major;
	return above_code ? TRUST_BORDER_ABOVE_CODE : sizes_told ? TRUST_BORDER : TRUST_NONE;
}

/* Of two of one trust the earlier tables, then the longer run; what was found first lies highest. */
static bool is_better(const struct gc_place *place, const struct gc_place *than)
{
	if (place->trust != than->trust)
		return place->trust > than->trust;
	if (place->trust == TRUST_NONE || place->first != than->first)
		return place->trust != TRUST_NONE && place->first < than->first;
	return place->bytes > than->bytes;
}

/*
 * G1's task queues are allocated right before its tables, one a GC thread: as many as fit lie between them and what
 * was there before.
 */
static void consider_queues(const struct gc_search *search, uint64_t from, uint64_t end, struct gc_place *best)
{
	const struct gc_plan *plan = search->plan;
	uint64_t queue = TASK_QUEUE_BYTES + search->view->page_bytes, bytes = 0;
	for (size_t i = 0; i < plan->n && !plan->tables[i].found && !plan->tables[i].sparse; i++) {
		bytes += plan->tables[i].size;
		if (bytes >= end - from)
			return;
		uint64_t rest = end - from - bytes;
		if (rest % queue == 0 && rest / queue <= QUEUES_MAX)
			*best = (struct gc_place){ 0, i + 1, from + bytes, bytes, TRUST_FIT };
	}
}

/* Runs of tables that end at `end`, which is in the mapping items[index] or its end. */
static void consider(const struct gc_search *search, size_t index, uint64_t end, bool below_segments,
		     struct gc_place *best)
{
	uint64_t from = free_from(search, index, end), own = search->view->set->items[index].start;
	if (end <= from)
		return;
	for (size_t first = 0; first < search->plan->n; first++) {
		struct gc_place place = run_below(search, first, from, end);
		place.trust = trust_of(search, &place, below_segments);
		if (is_better(&place, best))
			*best = place;
	}
	if (!search->plan->queues_above || best->trust == TRUST_FIT)
		return;
	consider_queues(search, from, end, best);
	if (own > from)
		consider_queues(search, own, end, best);
}

/* The code itself is no neighbour: what malloc mapped later lies below that. */
static bool is_segment_map(const struct gc_search *search, const struct vma_mark *mark)
{
	const struct vma *vma = &search->view->set->items[view_find(search->view, mark->range.start)];
	return mark->class == CLASS_CODE && !(vma->flags & VMA_EXEC);
}

static void consider_mapping(const struct gc_search *search, size_t index, struct gc_place *best)
{
	const struct vma *vma = &search->view->set->items[index];
	bool top_is_free = true, below_segments = false;
	for (size_t m = search->marks->n; m-- > 0;) {
		const struct vma_mark *mark = &search->marks->items[m];
		if (mark->range.end < vma->start || mark->range.start > vma->end)
			continue;
		bool segments = is_segment_map(search, mark);
		if (mark->range.start < vma->end && mark->range.end >= vma->end)
			top_is_free = false;
		if (mark->range.start == vma->end)
			below_segments = segments;
		else if ((segments || mark->class == CLASS_GC) && mark->range.start > vma->start)
			consider(search, index, mark->range.start, segments, best);
	}
	if (top_is_free)
		consider(search, index, vma->end, below_segments, best);
}

static uint64_t code_end(const struct vma_view *view)
{
	const struct jvm_code *code = &view->snapshot->code;
	uint64_t end = 0;
	for (size_t i = 0; i < code->n_ranges && i < JVM_CODE_RANGES_MAX; i++)
		end = code->ranges[i].end > end ? code->ranges[i].end : end;
	for (size_t i = 0; i < view->set->n && code->n_ranges == 0; i++)
		if (view->set->items[i].kind == VMA_ANON && (view->set->items[i].flags & VMA_EXEC))
			end = view->set->items[i].end;
	return end;
}

static void find_places(const struct vma_view *view, struct gc_plan *plan, struct vma_marks *marks)
{
	const struct gc_search search = { view, plan, marks, code_end(view) };
	for (size_t round = 0; round < TABLES_MAX; round++) {
		struct gc_place place = { .trust = TRUST_NONE };
		for (size_t i = view->set->n; i-- > 0;)
			if (shape_is_commit(view, &view->set->items[i]))
				consider_mapping(&search, i, &place);
		if (place.trust == TRUST_NONE)
			return;
		uint64_t end = place.end;
		for (size_t i = place.first; i < place.first + place.n; i++) {
			uint64_t start = end - plan->tables[i].size;
			plan->tables[i].found = true;
			plan->tables[i].start = start;
			(void)marks_add(marks, (struct addr_range){ start, end }, CLASS_GC);
			end = start;
		}
	}
}

static uint64_t committed_in_marks(const struct vma_view *view, const struct vma_marks *marks)
{
	uint64_t sum = 0;
	for (size_t m = 0; m < marks->n; m++) {
		struct addr_range range = marks->items[m].range;
		if (marks->items[m].class != CLASS_GC)
			continue;
		for (size_t i = view_find(view, range.start); i < view->set->n && view->set->items[i].start < range.end;
		     i++) {
			const struct vma *vma = &view->set->items[i];
			uint64_t from = vma->start > range.start ? vma->start : range.start;
			uint64_t to = vma->end < range.end ? vma->end : range.end;
			sum += shape_is_commit(view, vma) ? to - from : 0;
		}
	}
	return sum;
}

/* Before metaspace is looked for: a mark bitmap of 64 MiB that mirrors its heap would pass for a node. */
void marks_gc_mirrors(const struct vma_view *view, struct vma_marks *marks)
{
	struct gc_plan plan;
	plan_make(view, marks, &plan);
	find_mirrors(view, &plan, marks);
	if (view->snapshot->gc == GC_Z)
		find_z_mark_space(view, marks);
}

/* Tables that are marked already, known by size as those of one size are alike, and those that would have a hole. */
static void plan_recall(const struct vma_view *view, struct gc_plan *plan, const struct vma_marks *marks)
{
	struct addr_range holes[HOLES_MAX];
	for (size_t m = 0; m < marks->n; m++) {
		uint64_t size = marks->items[m].range.end - marks->items[m].range.start;
		for (size_t t = 0; t < plan->n && marks->items[m].class == CLASS_GC; t++) {
			if (plan->tables[t].found || plan->tables[t].size != size)
				continue;
			plan->tables[t].found = true;
			plan->tables[t].start = marks->items[m].range.start;
			break;
		}
	}
	for (size_t t = 0; t < plan->n && !plan->whole; t++)
		plan->tables[t].found |= plan->tables[t].divisor && heap_holes(view, plan, &plan->tables[t], holes);
}

void marks_gc(const struct vma_view *view, struct vma_marks *marks)
{
	struct gc_plan plan;
	plan_make(view, marks, &plan);
	plan_recall(view, &plan, marks);
	find_places(view, &plan, marks);
	uint64_t found = committed_in_marks(view, marks);
	const struct nmt_category *told = nmt_gc(view->snapshot);
	uint64_t expected = told ? qty_or(told->mmap_committed_bytes, 0) : 0;
	if (view->snapshot->gc == GC_G1)
		expected = expected > MARK_STACK_BYTES ? expected - MARK_STACK_BYTES : 0;
	marks->sure[CLASS_GC] = found > 0 && found >= expected / 2;
	if (!marks->sure[CLASS_GC])
		marks_drop(marks, CLASS_GC);
}
