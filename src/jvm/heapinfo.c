/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/heapinfo.h"

#include "jvm/take.h"

static int bad(unsigned line, const char *what, struct err *err)
{
	return err_set(err, ERR_MALFORMED, "heap_info: line %u: %s", line, what);
}

static struct qty sum(struct qty total, uint64_t bytes)
{
	return qty_known(total) ? qty_add(total, qty_measured(bytes)) : qty_measured(bytes);
}

static int add_range(struct jvm_heap *heap, uint64_t start, uint64_t end, unsigned line, struct err *err)
{
	if (start >= end)
		return bad(line, "an empty address range", err);
	if (heap->n_ranges == JVM_HEAP_RANGES_MAX)
		return bad(line, "too many address ranges", err);
	heap->ranges[heap->n_ranges++] = (struct addr_range){ start, end };
	heap->max_bytes = sum(heap->max_bytes, end - start);
	return 0;
}

/* The size after `word` anywhere in the line. */
static bool size_after(struct str line, struct str word, uint64_t *ret_bytes)
{
	struct str rest = str_skip(line, str_find(line, word) + word.len);
	return str_has(line, word) && take_size(&rest, ret_bytes);
}

/*
 * "garbage-first heap   total reserved 262144K, committed 106496K, used 104514K [lo, hi)" (25),
 * "garbage-first heap   total 173056K, used 104464K [lo, hi)" (11 to 21): total is what is committed.
 * "PSYoungGen   total 35328K, used 24308K [lo, committed end, hi)": total leaves one survivor space out, so the
 * addresses count.
 */
static int parse_space(struct jvm_heap *heap, struct str line, unsigned n, struct err *err)
{
	uint64_t at[4], used, total;
	struct str rest = str_skip(line, str_index(line, '['));
	unsigned n_at = take_addresses(&rest, at);

	if (!size_after(line, STR(" used "), &used))
		return bad(n, "no number after 'used'", err);
	if (n_at < 2)
		return bad(n, "no address range", err);
	if (n_at == 3)
		heap->committed_bytes = sum(heap->committed_bytes, at[1] - at[0]);
	else if (size_after(line, STR(" committed "), &total) || size_after(line, STR(" total "), &total))
		heap->committed_bytes = sum(heap->committed_bytes, total);
	else
		return bad(n, "no number after 'total'", err);
	heap->used_bytes = sum(heap->used_bytes, used);
	return add_range(heap, at[0], at[n_at - 1], n, err);
}

/* "ZHeap           used 108M, capacity 112M, max capacity 256M" */
static int parse_z(struct jvm_heap *heap, struct str line, unsigned n, struct err *err)
{
	uint64_t used, capacity, max;
	if (!size_after(line, STR(" used "), &used) || !size_after(line, STR(", capacity "), &capacity) ||
	    !size_after(line, STR(" max capacity "), &max))
		return bad(n, "a number is missing", err);
	heap->used_bytes = qty_measured(used);
	heap->committed_bytes = qty_measured(capacity);
	heap->max_bytes = qty_measured(max);
	return 0;
}

/* "256M max, 256M soft max, 65792K committed, 51743K used" */
static int parse_shenandoah(struct jvm_heap *heap, struct str line, unsigned n, struct err *err)
{
	struct str part, rest = line;
	while (str_split(&rest, ',', &part)) {
		uint64_t bytes;
		part = str_trim(part);
		if (!take_size(&part, &bytes))
			return bad(n, "no number", err);
		str_blanks(&part);
		if (str_eq(part, STR("committed")))
			heap->committed_bytes = qty_measured(bytes);
		else if (str_eq(part, STR("used")))
			heap->used_bytes = qty_measured(bytes);
	}
	return 0;
}

/* "space 65536K,  79% used [lo, top, committed end)": how much is reserved stands nowhere. */
static int parse_epsilon(struct jvm_heap *heap, struct str addresses, unsigned n, struct err *err)
{
	uint64_t at[4];
	if (take_addresses(&addresses, at) != 3)
		return bad(n, "no address range", err);
	int rc = add_range(heap, at[0], at[2], n, err);
	if (rc < 0)
		return rc;
	heap->used_bytes = qty_measured(at[1] - at[0]);
	heap->committed_bytes = qty_measured(at[2] - at[0]);
	heap->max_bytes = (struct qty){ 0 };
	return 0;
}

/* "Metaspace used 83K, committed 320K, reserved 1114112K"; JDK 11 has a capacity between. */
static int parse_metaspace(struct str line, struct qty ret[3], unsigned n, struct err *err)
{
	static const struct str words[3] = { { " used ", 6 }, { " committed ", 11 }, { " reserved ", 10 } };
	for (unsigned i = 0; i < 3; i++) {
		uint64_t bytes;
		if (!size_after(line, words[i], &bytes))
			return bad(n, "a number of metaspace is missing", err);
		ret[i] = qty_measured(bytes);
	}
	return 0;
}

static enum jvm_gc gc_of(struct str line)
{
	static const struct {
		struct str start;
		enum jvm_gc gc;
	} heads[] = {
		{ { "garbage-first heap", 18 }, GC_G1 },
		{ { "PSYoungGen", 10 }, GC_PARALLEL },
		{ { "ParOldGen", 9 }, GC_PARALLEL },
		{ { "def new generation", 18 }, GC_SERIAL },
		{ { "tenured generation", 18 }, GC_SERIAL },
		{ { "DefNew", 6 }, GC_SERIAL },
		{ { "Tenured", 7 }, GC_SERIAL },
		{ { "ZHeap", 5 }, GC_Z },
		{ { "Shenandoah Heap", 15 }, GC_SHENANDOAH },
		{ { "Epsilon Heap", 12 }, GC_EPSILON },
	};
	for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
		if (str_starts(line, heads[i].start))
			return heads[i].gc;
	return GC_UNKNOWN;
}

/* Lines below the head of Shenandoah's and Epsilon's heap. */
static int parse_below(struct jvm_heap *heap, struct str line, unsigned n, bool reserved_next, struct err *err)
{
	uint64_t at[4];
	struct str rest = line;

	if (heap->gc == GC_SHENANDOAH && reserved_next && str_take(&rest, STR("- ")))
		return take_addresses(&rest, at) == 2 ? add_range(heap, at[0], at[1], n, err)
						      : bad(n, "no address range", err);
	if (heap->gc == GC_SHENANDOAH && str_has(line, STR(" max, ")) && str_ends(line, STR("used")))
		return parse_shenandoah(heap, line, n, err);
	if (heap->gc == GC_EPSILON && str_starts(line, STR("space ")))
		return parse_epsilon(heap, str_skip(line, str_index(line, '[')), n, err);
	return 0;
}

static int parse_line(struct jvm_heap *heap, struct str line, unsigned n, bool reserved_next, struct err *err)
{
	struct qty meta[3];
	int rc;
	enum jvm_gc gc = gc_of(line);

	if (gc != GC_UNKNOWN) {
		if (heap->gc != GC_UNKNOWN && heap->gc != gc)
			return bad(n, "a second heap of another collector", err);
		heap->gc = gc;
		if (gc == GC_Z)
			return parse_z(heap, line, n, err);
		return gc == GC_SHENANDOAH || gc == GC_EPSILON ? 0 : parse_space(heap, line, n, err);
	}
	if (str_starts(line, STR("Metaspace "))) {
		rc = parse_metaspace(line, meta, n, err);
		if (rc == 0) {
			heap->metaspace_used_bytes = meta[0];
			heap->metaspace_committed_bytes = meta[1];
			heap->metaspace_reserved_bytes = meta[2];
		}
		return rc;
	}
	if (str_starts(line, STR("class space "))) {
		rc = parse_metaspace(line, meta, n, err);
		if (rc == 0) {
			heap->class_space_used_bytes = meta[0];
			heap->class_space_committed_bytes = meta[1];
			heap->class_space_reserved_bytes = meta[2];
		}
		return rc;
	}
	return parse_below(heap, line, n, reserved_next, err);
}

int heapinfo_parse(struct str text, struct jvm_heap *ret_heap, struct err *err)
{
	struct jvm_heap heap = { 0 };
	bool reserved_next = false;
	struct str line;

	for (unsigned n = 1; str_line(&text, &line); n++) {
		line = str_trim(line);
		int rc = parse_line(&heap, line, n, reserved_next, err);
		if (rc < 0)
			return rc;
		reserved_next = str_eq(line, STR("Reserved region:"));
	}
	if (heap.gc == GC_UNKNOWN)
		return err_set(err, ERR_MALFORMED, "heap_info: no heap of a known collector");
	if (!qty_known(heap.committed_bytes))
		return err_set(err, ERR_MALFORMED, "heap_info: the text ends before the heap's size");
	*ret_heap = heap;
	return 0;
}
