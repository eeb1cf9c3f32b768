/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The books of one container: every byte charged to it has one owner, or stands in a residual.
 *
 * Owners exclude each other. Each group closes against its own counter of memory.stat, because totals
 * can agree while every part is wrong. Residuals are signed and never clamped.
 */
#ifndef BANKFULL_LEDGER_H
#define BANKFULL_LEDGER_H

#include <stddef.h>

#include "bankfull/quantity.h"

enum ledger_group { GROUP_ANON = 0, GROUP_SHMEM, GROUP_FILE, GROUP_KERNEL, GROUP_SOCK, GROUP_HUGETLB, GROUP_COUNT };
extern const char *const ledger_group_names[GROUP_COUNT];

enum owner {
	/* anon */
	OWNER_JAVA_HEAP = 0,
	OWNER_METASPACE, /* class metadata, class space included */
	OWNER_CODE_CACHE,
	OWNER_JVM_CDS,
	OWNER_THREAD_STACKS,
	OWNER_GC,
	OWNER_JVM_OTHER, /* compiler, symbol, internal, arena chunk, ...: the JVM's own malloc and small mappings */
	OWNER_DIRECT_BUFFERS, /* NIO direct pool; Flink's network buffers are inside */
	OWNER_MANAGED_UNSAFE, /* Unsafe memory outside the direct pool: Flink batch, Netty without cleaner */
	OWNER_ROCKSDB_BLOCK_CACHE,
	OWNER_ROCKSDB_MEMTABLES,
	OWNER_ROCKSDB_TABLE_READERS,
	OWNER_ALLOCATOR_RETAINED, /* freed by the program, kept by malloc */
	OWNER_NATIVE_OTHER,       /* the native pool less all that was claimed */
	OWNER_LIBRARY_DATA,       /* written pages of mapped files: relocations and data of libraries */
	OWNER_OTHER_PROCESSES,
	OWNER_THP_UNMAPPED, /* the unmapped rest of huge pages: charged, on the LRU, in no type counter */
	/* shmem */
	OWNER_ZGC_HEAP, /* a heap in a memfd; counted as java-heap */
	OWNER_TMPFS,
	OWNER_SHARED_MAPS,
	/* file */
	OWNER_MAPPED_FILES,
	OWNER_PAGE_CACHE,
	/* kernel */
	OWNER_KERNEL_STACKS,
	OWNER_PAGE_TABLES,
	OWNER_SLAB_RECLAIMABLE,
	OWNER_SLAB_UNRECLAIMABLE,
	OWNER_PERCPU,
	OWNER_VMALLOC,
	OWNER_KERNEL_OTHER,
	/* sock */
	OWNER_SOCKETS,
	/* hugetlb: charged only with memory_hugetlb_accounting */
	OWNER_HUGETLB,
	OWNER_COUNT,
};

struct owner_info {
	const char *name;
	enum ledger_group group;
	const char *meaning; /* one line for people */
};
extern const struct owner_info owner_table[OWNER_COUNT];

/* The kernel takes it back before it kills: the floor does not count it. */
bool owner_is_reclaimable(enum owner owner);

enum { LEDGER_NOTE_CAP = 200, LEDGER_SOURCE_CAP = 64 };

struct ledger_line {
	enum owner owner;
	struct qty bytes; /* resident, or charged */
	uint32_t age_ms;
	struct qty budget_bytes; /* what configuration set aside for it */
	struct limit bound;      /* what it can grow to; LIMIT_NONE: nothing bounds it */
	struct qty claim_bytes;  /* what the engine or JVM says of itself */
	char source[LEDGER_SOURCE_CAP];
	char note[LEDGER_NOTE_CAP];
};

struct ledger_group_sum {
	struct qty
		counter_bytes; /* what the kernel counts for the group; unread without a cgroup, but for anon (smaps) */
	struct qty owners_bytes;  /* sum of the lines */
	uint64_t tolerance_bytes; /* how far the two may be apart */
	bool closed;              /* both known and within tolerance */
};

enum freeboard_level {
	FREEBOARD_UNREAD = 0,
	FREEBOARD_CONTAINER,
	FREEBOARD_POD,
	FREEBOARD_PROCESSES,
	FREEBOARD_LEVEL_COUNT
};
extern const char *const freeboard_level_names[FREEBOARD_LEVEL_COUNT];

enum { DEMAND_PARTS_MAX = 16 };

/* One addend of a demand, so that a sum can be checked by hand. */
struct demand_part {
	const char *what;
	uint64_t bytes;
	bool unread;     /* its line is: its bytes stand in "everything else", bytes is 0 here and null in JSON */
	uint64_t owners; /* bit set of 1 << enum owner: who fills it; 0 in a legal demand */
};

struct demand {
	struct qty bytes; /* unread if a part that must be known is not: `missing` says which */
	struct demand_part parts[DEMAND_PARTS_MAX];
	size_t n_parts;
	const char *missing;
};

enum { LEDGER_BUDGETS_MAX = 8 };

/* One budget of the configuration and the owners that live on it. */
struct ledger_budget {
	const char *name; /* "heap", "direct", "metaspace", "managed", "jvm-overhead" */
	uint64_t budget_bytes;
	struct qty actual_bytes; /* sum of its owners */
	uint64_t owners;         /* bit set of 1 << enum owner */
	const char *enforced_by; /* the flag that enforces it, or NULL: nothing does */
};

struct ledger {
	struct limit limit;
	bool limit_told;                       /* the limit is the user's word, not the cgroup's */
	struct qty charge_bytes;               /* memory.current */
	struct ledger_line lines[OWNER_COUNT]; /* in the order of enum owner; only lines[i].listed ones are printed */
	bool listed[OWNER_COUNT];
	struct ledger_group_sum groups[GROUP_COUNT];
	struct signed_qty stat_residual_bytes; /* memory.current less the identity of its LRU lists, kernel and sock */
	uint64_t stat_tolerance_bytes;
	struct signed_qty residual_bytes;  /* charge less all owners */
	bool torn;                         /* memory.current moved by more than the tolerance while read */
	struct qty floor_bytes;            /* what the kernel cannot reclaim */
	struct signed_qty freeboard_bytes; /* limit less floor: the head-room; negative past the limit */
	enum freeboard_level freeboard_level;
	struct signed_qty throttle_room_bytes; /* memory.high less charge */
	struct qty swap_room_bytes;
	struct demand expected, legal;
	struct ledger_budget budgets[LEDGER_BUDGETS_MAX]; /* what configuration set aside, against what is there */
	size_t n_budgets;
	struct qty native_pool_bytes; /* anon that no JVM rule takes: where RocksDB must be */
	struct signed_qty pool_minus_claims_bytes;
	bool overlap; /* claims passed what is resident: the deficit stands in the residual */
};

/* A line that is listed and known, else 0: for sums whose caller tells apart what is unread. */
static inline uint64_t ledger_bytes(const struct ledger *ledger, enum owner owner)
{
	return ledger->listed[owner] ? qty_or(ledger->lines[owner].bytes, 0) : 0;
}

/* The three lines of RocksDB together, as resident: they share one bound. */
uint64_t ledger_rocksdb_bytes(const struct ledger *ledger);

static inline bool ledger_is_unread(const struct ledger *ledger, enum owner owner)
{
	return ledger->listed[owner] && !qty_known(ledger->lines[owner].bytes);
}

#endif
