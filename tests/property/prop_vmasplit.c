/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whatever the mappings, answers and labels are: each byte of a mapping goes to one class, questions are sound and
 * always the same, and the order in which labels came makes no difference. Seeded; the seed is printed and may be
 * set by PROP_SEED.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jvm/region.h"
#include "ledger/vmasplit.h"

enum { ROUNDS = 3000, VMAS_MAX = 120, REGIONS_MAX = 40 };

static uint64_t seed, state_word;

static uint64_t draw(void)
{
	uint64_t z = state_word += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static uint64_t below(uint64_t n)
{
	return draw() % n;
}

/* Sizes and borders as they occur: pages, granules, MiB, 64 MiB. */
static uint64_t draw_size(void)
{
	static const uint64_t units[] = { 4096, 65536, 1 << 20, 2 << 20, 4 << 20, 16 << 20, 64 << 20 };
	return units[below(sizeof units / sizeof units[0])] * (1 + below(6));
}

static const uint32_t kinds_of_flags[] = {
	VMA_READ | VMA_WRITE | VMA_ACCOUNT,
	VMA_NORESERVE,
	VMA_READ | VMA_WRITE | VMA_NORESERVE,
	VMA_READ | VMA_WRITE | VMA_ACCOUNT,
	VMA_NORESERVE,
	VMA_READ | VMA_WRITE | VMA_ACCOUNT | VMA_NOHUGEPAGE,
	VMA_READ | VMA_WRITE | VMA_EXEC | VMA_ACCOUNT,
	0,
	VMA_READ | VMA_WRITE | VMA_SHARED,
};

struct world {
	struct snapshot s;
	struct vma vmas[VMAS_MAX];
	char names[64];
};

static void draw_vmas(struct world *w)
{
	static const char names[] = "/x/classes.jsa";
	uint64_t at = below(2) ? 0x80000000 : 0x7f0000000000;
	memcpy(w->names, names, sizeof names);
	w->s.vmas = (struct vma_set){ .items = w->vmas, .n = below(VMAS_MAX), .names = w->names };
	w->s.vmas.names_len = sizeof names - 1;
	w->s.vmas.have = (uint32_t)(below(4) ? VMA_HAVE_VMFLAGS : VMA_HAVE_VMFLAGS | VMA_HAVE_PSS_ANON);
	for (size_t i = 0; i < w->s.vmas.n; i++) {
		if (below(4) == 0)
			at = (at + (64 << 20)) >> 26 << 26;
		uint64_t size = draw_size();
		struct vma *vma = &w->vmas[i];
		*vma = (struct vma){ .start = at, .end = at + size };
		vma->flags = kinds_of_flags[below(sizeof kinds_of_flags / sizeof kinds_of_flags[0])];
		vma->kind = below(8) ? VMA_ANON : (enum vma_kind)below(VMA_KIND_COUNT);
		vma->name_len = vma->kind == VMA_FILE && below(2) ? sizeof names - 1 : 0;
		vma->anonymous_bytes = below(4) ? below(size / 4096 + 1) * 4096 : below(2) * size;
		vma->pss_anon_bytes = below(vma->anonymous_bytes + 1);
		vma->rss_bytes = vma->anonymous_bytes;
		vma->pss_bytes = below(vma->rss_bytes + 1);
		at += size + (below(3) ? 0 : draw_size());
	}
}

/* A border of a mapping, or an address anywhere in or near one. */
static uint64_t draw_address(const struct world *w)
{
	if (w->s.vmas.n == 0)
		return below(1 << 20) * 4096;
	const struct vma *vma = &w->vmas[below(w->s.vmas.n)];
	return below(2) ? vma->start : vma->start + below((vma->end - vma->start) / 4096 + 4) * 4096;
}

static struct addr_range draw_range(const struct world *w)
{
	uint64_t start = draw_address(w);
	return (struct addr_range){ start, below(4) ? start + draw_size() : draw_address(w) };
}

static struct qty draw_qty(void)
{
	return below(2) ? qty_measured(below(3) ? draw_size() : draw()) : (struct qty){ 0 };
}

static void draw_answers(struct world *w)
{
	struct snapshot *s = &w->s;
	s->page_bytes = below(8) ? 4096 : 65536;
	s->gc = (enum jvm_gc)below(GC_COUNT);
	s->jdk_major = (int)below(30);
	s->allocator = (enum allocator)below(ALLOCATOR_COUNT);
	for (s->heap.n_ranges = 0; s->heap.n_ranges < below(4); s->heap.n_ranges++)
		s->heap.ranges[s->heap.n_ranges] = draw_range(w);
	for (s->code.n_ranges = 0; s->code.n_ranges < below(4); s->code.n_ranges++)
		s->code.ranges[s->code.n_ranges] = draw_range(w);
	s->flags.max_heap_bytes = draw_qty();
	s->flags.max_metaspace_bytes = draw_qty();
	s->heap.metaspace_committed_bytes = draw_qty();
	s->heap.class_space_committed_bytes = draw_qty();
	s->perf.metaspace_capacity_bytes = draw_qty();
	s->nmt_read = below(2);
	if (!s->nmt_read)
		return;
	s->nmt.metadata_committed_bytes = draw_qty();
	s->nmt.class_space_committed_bytes = draw_qty();
	s->nmt.class_space_reserved_bytes = draw_qty();
	s->nmt.n_categories = below(2);
	s->nmt.categories[0] = (struct nmt_category){ .name = "GC", .mmap_reserved_bytes = draw_qty() };
	s->nmt.categories[0].mmap_committed_bytes = draw_qty();
}

static void add_region(struct jvm_regions *regions, const struct jvm_region *region)
{
	struct err err;
	assert_int_equal(region_add(regions, region->range, str_of(region->category), &err), 0);
}

/* The same labels, settled after they came in one order and in another. */
static void draw_regions(const struct world *w, struct jvm_regions *one, struct jvm_regions *other)
{
	static const char *const categories[] = { "Java Heap", "GC", "Metaspace", "Code", "Thread Stack", "Internal" };
	struct jvm_region drawn[REGIONS_MAX];
	size_t n = below(2) ? below(REGIONS_MAX) : 0;
	for (size_t i = 0; i < n; i++) {
		drawn[i] = (struct jvm_region){ .range = draw_range(w) };
		str_copy(drawn[i].category, sizeof drawn[i].category, str_of(categories[below(6)]));
		add_region(one, &drawn[i]);
	}
	for (size_t i = n; i > 1; i--) {
		size_t j = below(i);
		struct jvm_region swap = drawn[i - 1];
		drawn[i - 1] = drawn[j];
		drawn[j] = swap;
	}
	for (size_t i = 0; i < n; i++)
		add_region(other, &drawn[i]);
	assert_int_equal(region_settle(one, NULL), 0);
	assert_int_equal(region_settle(other, NULL), 0);
}

static void check_queries(struct world *w)
{
	struct addr_range ranges[RESIDENT_RANGES_MAX], again[RESIDENT_RANGES_MAX];
	size_t n = vmasplit_queries(&w->s, ranges);
	assert_true(n <= RESIDENT_RANGES_MAX);
	assert_int_equal(vmasplit_queries(&w->s, again), n);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(ranges[i].start, again[i].start);
		assert_int_equal(ranges[i].end, again[i].end);
		assert_true(ranges[i].start < ranges[i].end);
		assert_true(i == 0 || ranges[i - 1].end <= ranges[i].start);
		bool inside = false;
		for (size_t v = 0; v < w->s.vmas.n; v++)
			inside |= w->vmas[v].start <= ranges[i].start && ranges[i].end <= w->vmas[v].end;
		assert_true(inside);
		uint64_t size = ranges[i].end - ranges[i].start;
		/* Mostly sound, now and then more than the mapping has. */
		w->s.residents[i] = (struct resident_range){ ranges[i], below(5) ? below(size + 1) : size };
	}
	w->s.n_residents = n - (n ? below(2) : 0);
}

static uint64_t sum_of(const uint64_t bytes[CLASS_COUNT])
{
	uint64_t sum = 0;
	for (int c = 0; c < CLASS_COUNT; c++)
		sum += bytes[c];
	return sum;
}

static void check_split(struct world *w)
{
	struct vma_split split;
	uint64_t total = 0, parts[CLASS_COUNT] = { 0 };
	vmasplit_run(&w->s, &split);
	for (size_t i = 0; i < w->s.vmas.n; i++) {
		const struct vma *vma = &w->vmas[i];
		uint64_t bytes[CLASS_COUNT] = { 0 };
		uint64_t anon = w->s.vmas.have & VMA_HAVE_PSS_ANON ? vma->pss_anon_bytes : vma->anonymous_bytes;
		vmasplit_one(&w->s, i, bytes);
		assert_int_equal(sum_of(bytes), anon);
		for (int c = 0; c < CLASS_COUNT; c++)
			parts[c] += bytes[c];
		total += anon;
	}
	assert_int_equal(split.total_anon_bytes, total);
	assert_int_equal(sum_of(split.anon_bytes), total);
	assert_memory_equal(parts, split.anon_bytes, sizeof parts);
	/* What is not labelled keeps no bytes from the pool. */
	assert_true(split.labelled[CLASS_GC] || split.anon_bytes[CLASS_GC] == 0);
	assert_true(split.labelled[CLASS_METASPACE] || split.anon_bytes[CLASS_METASPACE] == 0);
}

static void every_byte_has_one_owner(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct world w = { .s.page_bytes = 4096 };
		struct jvm_regions one = { 0 }, other = { 0 };
		struct vma_split first, second;
		draw_vmas(&w);
		draw_answers(&w);
		draw_regions(&w, &one, &other);
		w.s.regions = one;
		check_queries(&w);
		check_split(&w);
		vmasplit_run(&w.s, &first);
		w.s.regions = other;
		vmasplit_run(&w.s, &second);
		assert_memory_equal(first.anon_bytes, second.anon_bytes, sizeof first.anon_bytes);
		jvm_regions_done(&one);
		jvm_regions_done(&other);
	}
}

int main(void)
{
	const char *given = getenv("PROP_SEED");
	seed = given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);
	state_word = seed;
	printf("# PROP_SEED=%" PRIu64 "\n", seed);
	const struct CMUnitTest tests[] = { cmocka_unit_test(every_byte_has_one_owner) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
