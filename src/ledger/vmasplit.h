/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who owns the anonymous bytes of each mapping of a JVM. Depends on base and the nouns only; PURE.
 *
 * A mapping may hold several owners: adjacent anonymous mappings merge, so malloc, direct buffers and the
 * JVM's own tables can share one line of smaps. Where address ranges are known (heap, code, NMT detail,
 * System.map) a mapping is split by the present bits of pagemap; where not, it stays in the pool and the
 * ledger splits it by what NMT has committed. Never by first match.
 */
#ifndef LEDGER_VMASPLIT_H
#define LEDGER_VMASPLIT_H

#include "bankfull/snapshot.h"

enum vma_class {
	CLASS_HEAP = 0,
	CLASS_METASPACE, /* class space and non-class nodes */
	CLASS_CODE,
	CLASS_CDS,
	CLASS_STACKS,
	CLASS_GC,
	CLASS_JVM, /* other mappings of the JVM itself, from labelled regions */
	CLASS_LIBRARY,
	CLASS_MALLOC, /* glibc arenas and brk: native code and the JVM's malloc */
	CLASS_POOL, /* everything else anonymous: big malloc blocks, direct buffers, jemalloc extents, unlabelled JVM tables */
	CLASS_COUNT,
};
extern const char *const vma_class_names[CLASS_COUNT];

struct vma_split {
	uint64_t anon_bytes[CLASS_COUNT]; /* sums to total_anon_bytes */
	bool labelled
		[CLASS_COUNT]; /* this class was looked for by addresses or marks that are sure: 0 then means none */
	bool exact_heap;       /* heap by addresses the JVM told, not by shape */
	uint64_t total_anon_bytes; /* sum of Pss_Anon (Anonymous on kernels without it) */
	uint64_t lazyfree_bytes;
	uint64_t file_rss_bytes, file_pss_bytes; /* mapped files less their anonymous part */
	uint64_t shmem_rss_bytes, shmem_pss_bytes,
		heap_shmem_rss_bytes; /* shared mappings; those of the ZGC memfd apart */
	uint64_t swap_bytes, hugetlb_bytes;
	size_t n_stacks;
};

void vmasplit_run(const struct snapshot *snapshot, struct vma_split *ret_split);

/* Who the anonymous bytes of the mapping items[index] belong to, added to bytes[]. For tests and for the picture of one VMA. */
void vmasplit_one(const struct snapshot *snapshot, size_t index, uint64_t bytes[CLASS_COUNT]);

/*
 * The ranges whose residency the split would ask pagemap for: known ranges that share a mapping with others.
 * A function of the mappings and the JVM's answers alone, so a replay asks for the same. At most RESIDENT_RANGES_MAX.
 */
size_t vmasplit_queries(const struct snapshot *snapshot, struct addr_range ret_ranges[RESIDENT_RANGES_MAX]);

#endif
