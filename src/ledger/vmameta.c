/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metaspace by its shape (JDK 16+, JEP 387; share/memory/metaspace): nodes of 64 MiB that begin with a commit and are
 * committed in granules of 64 KiB, and the class space, one node of CompressedClassSpaceSize that follows the CDS
 * archive or, without one, stands alone. Older JDKs do not match and stay unlabelled.
 *
 * The JVM's own word on what is committed, where there is one, is the proof: a shape alone can be a mark bitmap of a
 * heap of 4 GiB.
 */
#include "ledger/vmashape.h"

#define NODE_BYTES    (64 * SHAPE_MIB)
#define NODE_ALIGN    (4 * SHAPE_MIB) /* the root chunk: 4 MiB, 16 MiB from JDK 22 on */
#define GRANULE       UINT64_C(65536)
#define CLASS_ALIGN   (16 * SHAPE_MIB)
#define CLASS_DEFAULT (1024 * SHAPE_MIB)

enum { NODES_MAX = 32 };

struct meta_node {
	struct addr_range range;
	uint64_t committed;
};

/* Committed sizes agree: they are read some milliseconds apart while classes may be loading. */
static bool near(uint64_t committed, struct qty told)
{
	uint64_t slack = SHAPE_MIB + qty_or(told, 0) / 32;
	return !qty_known(told) || (committed <= told.bytes + slack && told.bytes <= committed + slack);
}

static struct qty known_or(struct qty first, struct qty second)
{
	return qty_known(first) ? first : second;
}

static struct qty class_told(const struct snapshot *snapshot)
{
	return known_or(snapshot->nmt.class_space_committed_bytes, snapshot->heap.class_space_committed_bytes);
}

/* What the JVM says is committed outside of the class space, where that was found to hold `class_bytes`. */
static struct qty nodes_told(const struct snapshot *snapshot, uint64_t class_bytes)
{
	struct qty all =
		known_or(snapshot->heap.metaspace_committed_bytes, snapshot->engine.gauges.metaspace_committed_bytes);
	struct qty class_space = known_or(class_told(snapshot), qty_of(class_bytes, QTY_DERIVED));
	return known_or(snapshot->nmt.metadata_committed_bytes, qty_sub(all, class_space));
}

/* hsperfdata is as of the last collection: no proof, but not less than that can be committed. */
static uint64_t nodes_at_least(const struct snapshot *snapshot)
{
	struct qty nodes = qty_sub(snapshot->perf.metaspace_capacity_bytes, snapshot->perf.class_space_capacity_bytes);
	return qty_or(nodes, 0);
}

/* Sizes the class space may have been reserved with: what the JVM says, then what its flags make of it. */
static size_t class_sizes(const struct snapshot *snapshot, uint64_t sizes[5])
{
	uint64_t max = qty_or(snapshot->flags.max_metaspace_bytes, 0);
	/* Metaspace::ergo_initialize: 0.8 of MaxMetaspaceSize, in whole root chunks, if that is below the default. */
	uint64_t ergonomic =
		max && max < CLASS_DEFAULT * 2 ? (max / 5 * 4 + CLASS_ALIGN - 1) / CLASS_ALIGN * CLASS_ALIGN : 0;
	const uint64_t wanted[] = {
		qty_or(snapshot->nmt.class_space_reserved_bytes, 0),
		qty_or(snapshot->heap.class_space_reserved_bytes, 0),
		qty_or(snapshot->flags.compressed_class_space_bytes, 0),
		ergonomic,
		CLASS_DEFAULT,
	};
	size_t n = 0;
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
		if (wanted[i])
			sizes[n++] = wanted[i];
	return n;
}

/* The committed bytes, 0 if it is none. */
static uint64_t try_class_space(const struct vma_view *view, struct vma_marks *marks, uint64_t start, uint64_t size)
{
	struct addr_range range = { start, start + size };
	if (range.end < start || start % NODE_ALIGN != 0 || marks_overlap(marks, range))
		return 0;
	uint64_t committed = shape_committed(view, range, GRANULE);
	if (committed == 0 || !near(committed, class_told(view->snapshot)))
		return 0;
	return marks_add(marks, range, CLASS_METASPACE) ? committed : 0;
}

/* After the archive: MetaspaceShared reserves both in one piece, so that narrow Klass pointers reach both. */
static uint64_t class_space_after_archive(const struct vma_view *view, struct vma_marks *marks, size_t archive)
{
	const struct vma_set *set = view->set;
	size_t i = archive + 1;
	while (i < set->n && set->items[i].start == set->items[i - 1].end &&
	       (shape_is_reserve(view, &set->items[i]) || shape_is_archive(view, &set->items[i])))
		i++;
	if (i >= set->n || set->items[i].start != set->items[i - 1].end)
		return 0;
	uint64_t sizes[5], committed = 0;
	size_t n = class_sizes(view->snapshot, sizes);
	for (size_t s = 0; s < n && !committed; s++)
		committed = try_class_space(view, marks, set->items[i].start, sizes[s]);
	return committed;
}

static uint64_t find_class_space(const struct vma_view *view, struct vma_marks *marks)
{
	const struct vma_set *set = view->set;
	uint64_t sizes[5], committed = 0;
	for (size_t i = 0; i < set->n && !committed; i++) {
		struct addr_range range = { set->items[i].start, set->items[i].end };
		if (shape_is_archive(view, &set->items[i]) && !marks_overlap(marks, range))
			committed = class_space_after_archive(view, marks, i);
	}
	size_t n = class_sizes(view->snapshot, sizes);
	for (size_t s = 0; s < n && !committed; s++)
		for (size_t i = 0; i < set->n && !committed; i++)
			if (shape_is_reserve(view, &set->items[i]) && set->items[i].end > sizes[s])
				committed = try_class_space(view, marks, set->items[i].end - sizes[s], sizes[s]);
	return committed;
}

static bool node_at(const struct vma_view *view, const struct vma_marks *marks, uint64_t end, struct meta_node *ret)
{
	if (end < NODE_BYTES || end % NODE_ALIGN != 0)
		return false;
	struct meta_node node = { { end - NODE_BYTES, end }, 0 };
	if (marks_overlap(marks, node.range))
		return false;
	node.committed = shape_committed(view, node.range, GRANULE);
	*ret = node;
	return node.committed != 0;
}

static uint64_t sum_of(const struct meta_node *nodes, size_t n)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += nodes[i].committed;
	return sum;
}

/* Nodes that end in a reserve: all but those committed to their last byte. */
static size_t nodes_with_tail(const struct vma_view *view, const struct vma_marks *marks,
			      struct meta_node nodes[NODES_MAX])
{
	const struct vma_set *set = view->set;
	size_t n = 0;
	for (size_t i = 0; i < set->n && n < NODES_MAX; i++)
		if (shape_is_reserve(view, &set->items[i]) && node_at(view, marks, set->items[i].end, &nodes[n]))
			n++;
	return n;
}

/*
 * Mappings of the same shape that are no metaspace: where the JVM told a sum, keep the node that is it alone, else
 * leave out the one without which the sum is right.
 */
static size_t leave_out_strangers(struct meta_node *nodes, size_t n, struct qty told)
{
	if (!qty_known(told) || near(sum_of(nodes, n), told) || sum_of(nodes, n) < told.bytes)
		return n;
	for (size_t i = 0; i < n; i++) {
		if (nodes[i].committed != told.bytes)
			continue;
		nodes[0] = nodes[i];
		return 1;
	}
	for (size_t i = 0; i < n; i++) {
		if (!near(sum_of(nodes, n) - nodes[i].committed, told))
			continue;
		nodes[i] = nodes[n - 1];
		return n - 1;
	}
	return n;
}

/*
 * A node whose reserve has merged with the one above it: its end is inside a reserve. Taken only where the JVM's sum
 * proves it.
 */
static bool node_with_merged_tail(const struct vma_view *view, struct vma_marks *marks, struct qty missing)
{
	const struct vma_set *set = view->set;
	for (size_t i = 1; i < set->n; i++) {
		const struct vma *tail = &set->items[i];
		if (!shape_is_reserve(view, tail) || tail[-1].end != tail->start || !shape_is_commit(view, tail - 1))
			continue;
		for (uint64_t start = tail->start / NODE_ALIGN * NODE_ALIGN; start + NODE_BYTES > tail->start && start;
		     start -= NODE_ALIGN) {
			struct addr_range used = { start, tail->start }, range = { start, start + NODE_BYTES };
			if (range.end > tail->end || marks_overlap(marks, range))
				continue;
			if (used.start < used.end && shape_committed(view, used, GRANULE) == missing.bytes)
				return marks_add(marks, range, CLASS_METASPACE);
		}
	}
	return false;
}

static bool starts_mark(const struct vma_view *view, const struct vma_marks *marks, uint64_t address)
{
	for (size_t i = 0; i < marks->n; i++)
		if (marks->items[i].range.start == address && marks->items[i].class == CLASS_METASPACE)
			return true;
	size_t above = view_find(view, address);
	return above < view->set->n && view->set->items[above].start == address &&
	       shape_is_archive(view, &view->set->items[above]);
}

/*
 * A node committed to its last byte has no reserve to be known by. It is looked for only when the JVM told that as
 * much is missing: best right below metaspace or the archive, where the kernel put it, else as high as it can be.
 */
static bool full_node(const struct vma_view *view, struct vma_marks *marks, uint64_t missing, uint64_t *ret_committed)
{
	const struct vma_set *set = view->set;
	struct meta_node best = { 0 };
	bool best_below = false;
	for (size_t i = set->n; i-- > 0;) {
		uint64_t ends[] = { set->items[i].end, 0 };
		for (size_t m = 0; m < marks->n; m++)
			if (marks->items[m].range.start > set->items[i].start &&
			    marks->items[m].range.start < set->items[i].end)
				ends[1] = marks->items[m].range.start;
		for (int e = 0; e < 2; e++) {
			struct meta_node node;
			if (!shape_is_commit(view, &set->items[i]) || !node_at(view, marks, ends[e], &node) ||
			    node.committed > missing + SHAPE_MIB)
				continue;
			bool below = starts_mark(view, marks, node.range.end);
			if (best.committed && (best_below || !below))
				continue;
			best = node;
			best_below = below;
		}
	}
	*ret_committed = best.committed;
	return best.committed && marks_add(marks, best.range, CLASS_METASPACE);
}

static bool touches_none(const struct vma_view *view, struct addr_range range)
{
	size_t i = view_find(view, range.start);
	const struct vma *vma = &view->set->items[i];
	bool below = i > 0 && vma[-1].end == range.start && shape_is_commit(view, vma - 1);
	bool above = i + 1 < view->set->n && vma[1].start == range.end && shape_is_commit(view, vma + 1);
	return vma->start == range.start && vma->end == range.end && !below && !above;
}

/*
 * Where the JVM told nothing: nodes that end in a commit but have a reserve inside (the first node always has, the
 * boot loader's chunk is never used up), and mappings that are a node and touch no other: malloc's have a header, so
 * that none is a whole number of MiB.
 */
static uint64_t full_nodes_by_shape(const struct vma_view *view, struct vma_marks *marks)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < view->set->n; i++) {
		struct meta_node node;
		if (!shape_is_commit(view, &view->set->items[i]) ||
		    !node_at(view, marks, view->set->items[i].end, &node))
			continue;
		if ((node.committed < NODE_BYTES || touches_none(view, node.range)) &&
		    marks_add(marks, node.range, CLASS_METASPACE))
			sum += node.committed;
	}
	return sum;
}

static bool find_nodes(const struct vma_view *view, struct vma_marks *marks, uint64_t class_bytes)
{
	struct qty told = nodes_told(view->snapshot, class_bytes);
	struct meta_node nodes[NODES_MAX] = { 0 };
	if (!view->noreserve_marks && !qty_known(told))
		return false;
	size_t n = leave_out_strangers(nodes, nodes_with_tail(view, marks, nodes), told);
	uint64_t sum = sum_of(nodes, n), full;
	for (size_t i = 0; i < n; i++)
		(void)marks_add(marks, nodes[i].range, CLASS_METASPACE);
	uint64_t wanted = qty_or(told, nodes_at_least(view->snapshot));
	while (sum + NODE_BYTES / 2 < wanted && full_node(view, marks, wanted - sum, &full))
		sum += full;
	if (!qty_known(told))
		return sum + full_nodes_by_shape(view, marks) > 0 && sum >= nodes_at_least(view->snapshot) / 2;
	if (!near(sum, told) && sum < told.bytes && node_with_merged_tail(view, marks, qty_measured(told.bytes - sum)))
		sum = told.bytes;
	return near(sum, told);
}

void marks_metaspace(const struct vma_view *view, struct vma_marks *marks)
{
	const struct snapshot *snapshot = view->snapshot;
	uint64_t class_bytes = find_class_space(view, marks);
	/* -XX:-UseCompressedClassPointers: there is none, and NMT tells none. */
	bool none = snapshot->nmt_read && qty_or(class_told(snapshot), 0) == 0;
	marks->sure[CLASS_METASPACE] = find_nodes(view, marks, class_bytes) && (class_bytes || none);
	if (!marks->sure[CLASS_METASPACE])
		marks_drop(marks, CLASS_METASPACE);
}
