/* SPDX-License-Identifier: Apache-2.0 */
/* Who owns the anonymous bytes of each mapping: the rules one by one, on mappings made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <string.h>

#include "ledger/vmashape.h"
#include "ledger/vmasplit.h"

#define KIB UINT64_C(1024)
#define MIB (KIB << 10)
#define GIB (MIB << 10)

enum { ROOM = 64 };

static const uint32_t commit = VMA_READ | VMA_WRITE | VMA_ACCOUNT;
static const uint32_t reserve = VMA_NORESERVE;
static const uint32_t arena = VMA_READ | VMA_WRITE | VMA_NORESERVE;
static const uint32_t stack = VMA_READ | VMA_WRITE | VMA_ACCOUNT | VMA_NOHUGEPAGE;
static const uint32_t code = VMA_READ | VMA_WRITE | VMA_EXEC | VMA_ACCOUNT;

struct world {
	struct snapshot s;
	struct vma vmas[ROOM];
	char names[1024];
	struct vma_split split;
};

/* With a reserve of one page, so that the kernel is one that shows MAP_NORESERVE. */
static struct world *world_new(void)
{
	static struct world world;
	world = (struct world){ .s = { .page_bytes = 4096, .is_jvm = true, .vmas_read = true } };
	world.s.vmas =
		(struct vma_set){ .items = world.vmas, .room = ROOM, .names = world.names, .have = VMA_HAVE_VMFLAGS };
	world.vmas[world.s.vmas.n++] = (struct vma){ .start = 0x1000, .end = 0x2000, .flags = reserve };
	return &world;
}

static struct vma *first(struct world *w)
{
	return &w->vmas[1];
}

/* Appends [start, start + size); 0: where the one before ends. Returns its end. */
static uint64_t map(struct world *w, uint64_t start, uint64_t size, uint32_t flags, uint64_t anon)
{
	size_t n = w->s.vmas.n++;
	assert_true(n < ROOM);
	start = start ? start : w->vmas[n - 1].end;
	w->vmas[n] = (struct vma){ .start = start,
				   .end = start + size,
				   .flags = flags,
				   .kind = VMA_ANON,
				   .rss_bytes = anon,
				   .pss_bytes = anon,
				   .anonymous_bytes = anon };
	return start + size;
}

static void name(struct world *w, enum vma_kind kind, const char *text)
{
	struct vma *vma = &w->vmas[w->s.vmas.n - 1];
	vma->kind = kind;
	vma->name_at = (uint32_t)w->s.vmas.names_len;
	vma->name_len = (uint32_t)strlen(text);
	assert_true(vma->name_at + vma->name_len < sizeof w->names);
	memcpy(w->names + vma->name_at, text, vma->name_len);
	w->s.vmas.names_len += vma->name_len;
}

static void heap(struct world *w, uint64_t start, uint64_t end)
{
	w->s.heap.ranges[w->s.heap.n_ranges++] = (struct addr_range){ start, end };
}

/* Answers every query, `bytes` in order; what is left out is empty. */
static void answer(struct world *w, const uint64_t *bytes, size_t n)
{
	struct addr_range ranges[RESIDENT_RANGES_MAX];
	size_t asked = vmasplit_queries(&w->s, ranges);
	assert_int_equal(asked, n);
	for (size_t i = 0; i < asked; i++)
		w->s.residents[i] = (struct resident_range){ ranges[i], bytes[i] };
	w->s.n_residents = asked;
}

static const struct vma_split *run(struct world *w)
{
	uint64_t sum = 0;
	vmasplit_run(&w->s, &w->split);
	for (int c = 0; c < CLASS_COUNT; c++)
		sum += w->split.anon_bytes[c];
	assert_int_equal(sum, w->split.total_anon_bytes);
	return &w->split;
}

#define ANSWER(w, ...) answer((w), (const uint64_t[]){ __VA_ARGS__ }, sizeof((const uint64_t[]){ __VA_ARGS__ }) / 8)

static void heap_shares_a_mapping(void **state)
{
	(void)state;
	struct world *w = world_new();
	map(w, 0x80000000, 10 * MIB, commit, 7 * MIB);
	heap(w, 0x80000000, 0x80000000 + 8 * MIB);
	ANSWER(w, 6 * MIB);
	const struct vma_split *split = run(w);
	assert_int_equal(split->anon_bytes[CLASS_HEAP], 6 * MIB);
	assert_int_equal(split->anon_bytes[CLASS_POOL], 1 * MIB);
	assert_true(split->exact_heap && split->labelled[CLASS_HEAP]);
	/* A mapping with all its pages, or none, needs no question. */
	first(w)->anonymous_bytes = 10 * MIB;
	ANSWER(w);
	assert_int_equal(run(w)->anon_bytes[CLASS_HEAP], 8 * MIB);
	first(w)->anonymous_bytes = 0;
	ANSWER(w);
	assert_int_equal(run(w)->total_anon_bytes, 0);
}

/* JDK 17 and later map the archive's objects into the heap: they are heap. */
static void archive_in_the_heap(void **state)
{
	(void)state;
	struct world *w = world_new();
	map(w, 0xe0000000, 16 * MIB, commit, 9 * MIB);
	map(w, 0, MIB, VMA_READ | VMA_WRITE, 300 * KIB);
	name(w, VMA_FILE, "/usr/lib/jvm/lib/server/classes.jsa");
	map(w, 0x7f0000000000, MIB, VMA_READ | VMA_WRITE, 500 * KIB);
	name(w, VMA_FILE, "/usr/lib/jvm/lib/server/classes.jsa");
	heap(w, 0xe0000000, 0xe0000000 + 17 * MIB);
	const struct vma_split *split = run(w);
	assert_int_equal(split->anon_bytes[CLASS_HEAP], 9 * MIB + 300 * KIB);
	assert_int_equal(split->anon_bytes[CLASS_CDS], 500 * KIB);
}

/* Without attach: -Xmx, and a piece of address space that is just that. */
static void heap_by_shape(void **state)
{
	(void)state;
	struct world *w = world_new();
	map(w, 0x70000000, MIB, VMA_READ | VMA_WRITE, 0);
	name(w, VMA_FILE, "/x/classes.jsa");
	map(w, 0x71000000, 128 * KIB, commit, 64 * KIB); /* the class space: below, no neighbour of the archive here */
	map(w, 0xc0000000, 300 * MIB, commit, 200 * MIB);
	map(w, 0, 724 * MIB, reserve, 0);
	w->s.flags.max_heap_bytes = qty_measured(GIB);
	w->s.gc = GC_G1;
	const struct vma_split *split = run(w);
	assert_int_equal(split->anon_bytes[CLASS_HEAP], 200 * MIB);
	assert_false(split->exact_heap);
	assert_true(split->labelled[CLASS_HEAP]);
	w->s.flags.max_heap_bytes = qty_measured(2 * GIB);
	split = run(w);
	assert_int_equal(split->anon_bytes[CLASS_HEAP], 0);
	assert_false(split->labelled[CLASS_HEAP]);
}

/* The class space of 1 GiB of a JVM with -Xmx1g is no heap. */
static void class_space_is_no_heap(void **state)
{
	(void)state;
	struct world *w = world_new();
	map(w, 0x07000000, 14 * MIB, VMA_READ | VMA_WRITE | VMA_ACCOUNT, 10 * MIB);
	name(w, VMA_FILE, "/x/classes.jsa");
	map(w, 0, 2 * MIB, reserve, 0);
	map(w, 0, 128 * KIB, commit, 116 * KIB);
	map(w, 0, GIB - 128 * KIB, reserve, 0);
	map(w, 0xc0000000, GIB, commit, 600 * MIB);
	w->s.flags.max_heap_bytes = qty_measured(GIB);
	assert_int_equal(run(w)->anon_bytes[CLASS_HEAP], 600 * MIB);
}

static void stacks_by_mark(void **state)
{
	(void)state;
	struct world *w = world_new();
	map(w, 0x7f0000000000, 4 * KIB, VMA_NOHUGEPAGE, 0);
	map(w, 0, MIB, stack, 80 * KIB);
	map(w, 0, MIB, commit, MIB); /* a direct buffer right above it */
	const struct vma_split *split = run(w);
	assert_int_equal(split->anon_bytes[CLASS_STACKS], 80 * KIB);
	assert_int_equal(split->n_stacks, 1);
	assert_int_equal(split->anon_bytes[CLASS_POOL], MIB);
}

/* Before Linux 6.7 a stack is what lies above a small guard. */
static void stacks_by_shape(void **state)
{
	(void)state;
	struct world *w = world_new();
	map(w, 0x7f0000000000, 16 * KIB, 0, 0);
	map(w, 0, MIB - 16 * KIB, commit, 80 * KIB);
	map(w, 0x7f0010000000, MIB, commit, MIB);
	const struct vma_split *split = run(w);
	assert_int_equal(split->anon_bytes[CLASS_STACKS], 80 * KIB);
	assert_int_equal(split->n_stacks, 1);
	assert_int_equal(split->anon_bytes[CLASS_POOL], MIB);
}

/* A thread of the JVM itself has VMThreadStackSize: what lies above was merged with it. */
static void stacks_of_arm64(void **state)
{
	(void)state;
	static const struct {
		const char *kernel;
		uint64_t stack_bytes;
	} cases[] = { { "6.1.0 x86_64", MIB }, { "6.1.0 aarch64", 2 * MIB }, { "", MIB } };
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct world *w = world_new();
		(void)snprintf(w->s.kernel, sizeof w->s.kernel, "%s", cases[i].kernel);
		map(w, 0x7f0000000000, 4 * KIB, 0, 0);
		map(w, 0, 4 * MIB, commit, 4 * MIB);
		const struct vma_split *split = run(w);
		assert_int_equal(split->anon_bytes[CLASS_STACKS], cases[i].stack_bytes);
		assert_int_equal(split->n_stacks, 1);
	}
}

/* Two of a kind on a border of 64 MiB: only `nr` tells whose they are. */
static void arena_or_metaspace(void **state)
{
	(void)state;
	struct world *w = world_new();
	map(w, 0x7f0000000000, 8 * MIB, arena, 5 * MIB);
	map(w, 0, 56 * MIB, reserve, 0);
	map(w, 0, 8 * MIB, commit, 7 * MIB);
	map(w, 0, 56 * MIB, reserve, 0);
	w->s.nmt_read = true;
	w->s.nmt.metadata_committed_bytes = qty_measured(8 * MIB);
	w->s.nmt.class_space_committed_bytes = qty_measured(0);
	const struct vma_split *split = run(w);
	assert_int_equal(split->anon_bytes[CLASS_MALLOC], 5 * MIB);
	assert_int_equal(split->anon_bytes[CLASS_METASPACE], 7 * MIB);
	assert_true(split->labelled[CLASS_METASPACE]);
	/* NMT says otherwise: then it is not told, and nothing is claimed. */
	w->s.nmt.metadata_committed_bytes = qty_measured(20 * MIB);
	split = run(w);
	assert_false(split->labelled[CLASS_METASPACE]);
	assert_int_equal(split->anon_bytes[CLASS_POOL], 7 * MIB);
}

/* vm.overcommit_memory=2: the kernel knows no MAP_NORESERVE, so only NMT's exact sum makes a node. */
static void without_noreserve(void **state)
{
	(void)state;
	struct world *w = world_new();
	w->s.vmas.n = 0;
	map(w, 0x7f0000000000, 8 * MIB, commit, 5 * MIB);
	map(w, 0, 56 * MIB, 0, 0);
	map(w, 0, 12 * MIB, commit, 7 * MIB);
	map(w, 0, 52 * MIB, 0, 0);
	const struct vma_split *split = run(w);
	assert_false(split->labelled[CLASS_METASPACE]);
	assert_int_equal(split->anon_bytes[CLASS_MALLOC], 12 * MIB);
	w->s.nmt_read = true;
	w->s.nmt.metadata_committed_bytes = qty_measured(12 * MIB);
	split = run(w);
	assert_int_equal(split->anon_bytes[CLASS_METASPACE], 7 * MIB);
	assert_int_equal(split->anon_bytes[CLASS_MALLOC], 5 * MIB);
}

/* Metaspace below the archive, merged with a malloc chunk; class space above it; MaxMetaspaceSize shrank it. */
static void metaspace_and_class_space(void **state)
{
	(void)state;
	struct world *w = world_new();
	uint64_t node = 0x7f0003000000;
	map(w, node - 3 * MIB, 3 * MIB + 1472 * KIB, commit, 4 * MIB);
	map(w, 0, 4 * MIB - 1472 * KIB, reserve, 0);
	map(w, 0, 8 * MIB, commit, 8 * MIB);
	map(w, 0, 52 * MIB, reserve, 0);
	map(w, 0, 12 * MIB, VMA_READ | VMA_WRITE | VMA_ACCOUNT, 10 * MIB);
	name(w, VMA_FILE, "/x/classes.jsa");
	map(w, 0, 4 * MIB, reserve, 0);
	map(w, 0, 384 * KIB, commit, 380 * KIB);
	map(w, 0, 208 * MIB - 384 * KIB, reserve, 0);
	w->s.flags.max_metaspace_bytes = qty_measured(256 * MIB);
	ANSWER(w, 1400 * KIB);
	const struct vma_split *split = run(w);
	assert_true(split->labelled[CLASS_METASPACE]);
	assert_int_equal(split->anon_bytes[CLASS_METASPACE], 8 * MIB + 1780 * KIB);
	assert_int_equal(split->anon_bytes[CLASS_POOL], 4 * MIB - 1400 * KIB);
	assert_int_equal(split->anon_bytes[CLASS_CDS], 10 * MIB);
}

/* A node committed to its end, found because NMT says that much is missing. */
static void full_node(void **state)
{
	(void)state;
	struct world *w = world_new();
	map(w, 0x7f0000000000, 64 * MIB, commit, 64 * MIB);
	map(w, 0, 8 * MIB, arena, 8 * MIB);
	map(w, 0x7f0010000000, 16 * MIB, commit, 16 * MIB);
	map(w, 0, 48 * MIB, reserve, 0);
	w->s.nmt_read = true;
	w->s.nmt.metadata_committed_bytes = qty_measured(80 * MIB);
	w->s.nmt.class_space_committed_bytes = qty_measured(0);
	assert_int_equal(run(w)->anon_bytes[CLASS_METASPACE], 80 * MIB);
	/* A direct buffer of 64 MiB has a header: never a whole number of MiB. */
	first(w)->start -= 4096;
	w->s.nmt.metadata_committed_bytes = qty_measured(16 * MIB);
	assert_int_equal(run(w)->anon_bytes[CLASS_METASPACE], 16 * MIB);
}

/* 512 MiB of heap, of which 1/4 is committed; G1's tables show the same hole. */
static struct world *g1(bool full)
{
	struct world *w = world_new();
	uint64_t h = 512 * MIB, used = full ? h : 128 * MIB;
	map(w, 0xe0000000, used, commit, 100 * MIB);
	if (!full)
		map(w, 0, h - used, reserve, 0);
	heap(w, 0xe0000000, 0xe0000000 + h);
	/* A direct buffer: malloc's own mapping, with its header. */
	map(w, 0x7f0000000000, 10 * MIB + 4 * KIB, commit, 10 * MIB);
	map(w, 0x7f1000000000, used / 64, commit, used / 128);
	if (!full)
		map(w, 0, (h - used) / 64, reserve, 0);
	map(w, 0x7f1010000000, used / 512, commit, 100 * KIB);
	for (int i = 0; i < 2 && !full; i++) {
		map(w, 0, (h - used) / 512, reserve, 0);
		map(w, 0, used / 512 + (i ? 2056 * KIB : 0), commit, 200 * KIB); /* the last with two task queues */
	}
	w->s.gc = GC_G1;
	w->s.jdk_major = 25;
	return w;
}

/* There a stack merges with what lies above it, and what is above is judged by itself: here a bitmap. */
static void merged_stack(void **state)
{
	(void)state;
	struct world *w = g1(true);
	map(w, 0x7f2000000000, 16 * KIB, 0, 0);
	map(w, 0, MIB - 16 * KIB + 13 * MIB + 20 * KIB, commit, 9 * MIB);
	map(w, 0x7f2010000000, 4 * KIB, 0, 0);
	map(w, 0, 8 * MIB, commit, 8 * KIB); /* as large as the bitmap, but a native stack */
	w->s.jdk_major = 17;                 /* which has two bitmaps */
	ANSWER(w, 80 * KIB);
	const struct vma_split *split = run(w);
	assert_int_equal(split->anon_bytes[CLASS_STACKS], 88 * KIB);
	assert_int_equal(split->n_stacks, 2);
	assert_int_equal(split->anon_bytes[CLASS_GC], 4 * MIB + 100 * KIB);
	assert_int_equal(split->anon_bytes[CLASS_POOL], 10 * MIB + 9 * MIB - 80 * KIB);
}

static void gc_mirrors_the_heap(void **state)
{
	(void)state;
	struct world *w = g1(false);
	/* Three tables of 1 MiB: the third of JDK 17's. The upper two begin where a hole of the one below ends. */
	w->s.jdk_major = 17;
	const struct vma_split *split = run(w);
	assert_true(split->labelled[CLASS_GC]);
	assert_int_equal(split->anon_bytes[CLASS_HEAP], 100 * MIB);
	assert_true(split->anon_bytes[CLASS_GC] >= MIB + 300 * KIB);
	assert_int_equal(split->anon_bytes[CLASS_POOL] + split->anon_bytes[CLASS_GC], 11 * MIB + 500 * KIB);
}

static void gc_fits_a_mapping(void **state)
{
	(void)state;
	struct world *w = g1(true);
	const struct vma_split *split = run(w);
	/* The bitmap of 8 MiB is a mapping of its own; direct buffers of 10 MiB are no table. */
	assert_int_equal(split->anon_bytes[CLASS_GC], 4 * MIB + 100 * KIB);
	assert_int_equal(split->anon_bytes[CLASS_POOL], 10 * MIB);
}

/* G1's mark stack is committed and untouched: a mapping that is full does not hold it. */
static void mark_stack(void **state)
{
	(void)state;
	struct world *w = g1(true);
	map(w, 0x7f2000000000, 50 * MIB, commit, 50 * MIB);
	map(w, 0x7f2010000000, 50 * MIB, commit, 10 * MIB);
	ANSWER(w, 12 * KIB);
	const struct vma_split *split = run(w);
	assert_int_equal(split->anon_bytes[CLASS_GC], 4 * MIB + 112 * KIB);
	assert_int_equal(split->anon_bytes[CLASS_POOL], 70 * MIB - 12 * KIB);
}

/* Found less than half of what NMT says is committed: then nothing is claimed, and the ledger asks NMT. */
static void gc_not_sure(void **state)
{
	(void)state;
	struct world *w = g1(true);
	w->s.nmt_read = true;
	w->s.nmt.n_categories = 1;
	w->s.nmt.categories[0] = (struct nmt_category){ .name = "GC",
							.mmap_reserved_bytes = qty_measured(200 * MIB),
							.mmap_committed_bytes = qty_measured(200 * MIB) };
	const struct vma_split *split = run(w);
	assert_false(split->labelled[CLASS_GC]);
	assert_int_equal(split->anon_bytes[CLASS_GC], 0);
	assert_int_equal(split->anon_bytes[CLASS_POOL], 14 * MIB + 100 * KIB);
}

/* ZGC of JDK 17 reserves 8 GiB for mark stacks; its heap is a memfd. */
static void z_heap(void **state)
{
	(void)state;
	struct world *w = world_new();
	map(w, 0x40000000000, 256 * MIB, VMA_READ | VMA_WRITE | VMA_SHARED, 0);
	name(w, VMA_SHMEM, "/memfd:java_heap");
	first(w)->rss_bytes = first(w)->pss_bytes = 200 * MIB;
	map(w, 0x7f0000000000, 32 * MIB, commit, 96 * KIB);
	map(w, 0, 8 * GIB - 32 * MIB, reserve, 0);
	w->s.gc = GC_Z;
	const struct vma_split *split = run(w);
	assert_int_equal(split->heap_shmem_rss_bytes, 200 * MIB);
	assert_int_equal(split->anon_bytes[CLASS_GC], 96 * KIB);
	assert_int_equal(split->total_anon_bytes, 96 * KIB);
}

/* NMT detail's ranges are exact: they split mappings, but not where a mapping's own mark says more. */
static void labels(void **state)
{
	(void)state;
	static struct jvm_region regions[] = {
		{ { 0x7f0000000000, 0x7f0000000000 + 2 * MIB }, "GC" },
		{ { 0x7f0000000000 + 2 * MIB, 0x7f0000000000 + 3 * MIB }, "Metaspace" },
		{ { 0x7f0010000000, 0x7f0010000000 + 512 * KIB }, "Thread Stack" },
		{ { 0x7f0020000000, 0x7f0020000000 + 64 * KIB }, "Internal" },
	};
	struct world *w = world_new();
	map(w, 0x7f0000000000, 4 * MIB, commit, 3 * MIB);
	map(w, 0x7f0010000000, MIB, stack, 600 * KIB);
	map(w, 0x7f0020000000, 64 * KIB, commit, 8 * KIB);
	w->s.regions = (struct jvm_regions){ .items = regions, .n = 4 };
	ANSWER(w, MIB, 512 * KIB);
	const struct vma_split *split = run(w);
	assert_int_equal(split->anon_bytes[CLASS_GC], MIB);
	assert_int_equal(split->anon_bytes[CLASS_METASPACE], 512 * KIB);
	assert_int_equal(split->anon_bytes[CLASS_POOL], 3 * MIB - MIB - 512 * KIB);
	assert_int_equal(split->anon_bytes[CLASS_STACKS], 600 * KIB);
	assert_int_equal(split->anon_bytes[CLASS_JVM], 8 * KIB);
	assert_true(split->labelled[CLASS_GC] && split->labelled[CLASS_METASPACE] && split->labelled[CLASS_JVM]);
}

/* System.map labels whole mappings, reserves too: a label is taken for what no rule took. */
static void labels_of_mappings(void **state)
{
	(void)state;
	static struct jvm_region regions[] = {
		{ { 0x7f0000000000, 0x7f0000000000 + 64 * MIB }, "Metaspace" },
		{ { 0x7f0010000000, 0x7f0010000000 + 2 * MIB }, "GC" },
	};
	struct world *w = world_new();
	map(w, 0x7f0000000000, 8 * MIB, commit, 7 * MIB);
	map(w, 0, 56 * MIB, reserve, 0);
	map(w, 0x7f0010000000, 2 * MIB, commit, MIB);
	w->s.regions = (struct jvm_regions){ .items = regions, .n = 2 };
	const struct vma_split *split = run(w);
	assert_int_equal(split->anon_bytes[CLASS_METASPACE], 7 * MIB);
	assert_int_equal(split->anon_bytes[CLASS_GC], MIB);
}

/* More resident than the mapping has, as between two reads: never more than there is, never less than nothing. */
static void wild_answers(void **state)
{
	(void)state;
	struct world *w = world_new();
	map(w, 0x80000000, 10 * MIB, commit, 7 * MIB);
	heap(w, 0x80000000, 0x80000000 + 4 * MIB);
	heap(w, 0x80000000 + 5 * MIB, 0x80000000 + 9 * MIB);
	ANSWER(w, 4 * MIB, 4 * MIB);
	const struct vma_split *split = run(w);
	assert_int_equal(split->anon_bytes[CLASS_HEAP], 7 * MIB);
	assert_int_equal(split->anon_bytes[CLASS_POOL], 0);
}

static void code_and_libraries(void **state)
{
	(void)state;
	struct world *w = world_new();
	map(w, 0x7f0000000000, 2 * MIB, code, MIB);
	map(w, 0x7f0010000000, MIB, VMA_READ | VMA_WRITE, 40 * KIB);
	name(w, VMA_FILE, "/usr/lib/libc.so.6");
	first(w)[1].rss_bytes = first(w)[1].pss_bytes = 100 * KIB;
	map(w, 0x7f0020000000, MIB, commit, 20 * KIB);
	name(w, VMA_BRK, "[heap]");
	const struct vma_split *split = run(w);
	assert_int_equal(split->anon_bytes[CLASS_CODE], MIB);
	assert_int_equal(split->anon_bytes[CLASS_LIBRARY], 40 * KIB);
	assert_int_equal(split->file_rss_bytes, 60 * KIB);
	assert_int_equal(split->anon_bytes[CLASS_MALLOC], 20 * KIB);
}

static void nothing(void **state)
{
	(void)state;
	struct world *w = world_new();
	assert_int_equal(run(w)->total_anon_bytes, 0);
	ANSWER(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(heap_shares_a_mapping),
		cmocka_unit_test(archive_in_the_heap),
		cmocka_unit_test(heap_by_shape),
		cmocka_unit_test(class_space_is_no_heap),
		cmocka_unit_test(stacks_by_mark),
		cmocka_unit_test(stacks_by_shape),
		cmocka_unit_test(stacks_of_arm64),
		cmocka_unit_test(arena_or_metaspace),
		cmocka_unit_test(without_noreserve),
		cmocka_unit_test(metaspace_and_class_space),
		cmocka_unit_test(full_node),
		cmocka_unit_test(merged_stack),
		cmocka_unit_test(gc_mirrors_the_heap),
		cmocka_unit_test(gc_fits_a_mapping),
		cmocka_unit_test(mark_stack),
		cmocka_unit_test(gc_not_sure),
		cmocka_unit_test(z_heap),
		cmocka_unit_test(labels),
		cmocka_unit_test(labels_of_mappings),
		cmocka_unit_test(wild_answers),
		cmocka_unit_test(code_and_libraries),
		cmocka_unit_test(nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
