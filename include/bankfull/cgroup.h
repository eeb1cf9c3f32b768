/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory side of one cgroup v2, as its files say (Documentation/admin-guide/cgroup-v2.rst).
 * Every field is unread when its key or file is absent: kernels differ, and absent is not zero.
 */
#ifndef BANKFULL_CGROUP_H
#define BANKFULL_CGROUP_H

#include "bankfull/quantity.h"

/* memory.stat. Byte gauges of the cgroup and its descendants, then cumulative event counts. */
struct cgroup_stat {
	struct qty anon_bytes;   /* anonymous pages mapped; half-unmapped huge pages leave this but stay charged */
	struct qty file_bytes;   /* page cache, with tmpfs and shared memory (shmem) inside */
	struct qty kernel_bytes; /* all kernel memory; Linux 5.18+ */
	struct qty kernel_stack_bytes;
	struct qty pagetables_bytes;
	struct qty sec_pagetables_bytes;
	struct qty percpu_bytes;
	struct qty sock_bytes; /* network transmission buffers; not inside kernel_bytes */
	struct qty vmalloc_bytes;
	struct qty shmem_bytes; /* inside file_bytes, on the anon LRU */
	struct qty zswap_bytes, zswapped_bytes;
	struct qty file_mapped_bytes; /* with mapped shmem inside */
	struct qty file_dirty_bytes, file_writeback_bytes, swapcached_bytes;
	struct qty anon_thp_bytes, file_thp_bytes, shmem_thp_bytes;
	struct qty inactive_anon_bytes, active_anon_bytes, inactive_file_bytes, active_file_bytes, unevictable_bytes;
	struct qty slab_reclaimable_bytes, slab_unreclaimable_bytes, slab_bytes; /* inside kernel_bytes */
	struct qty hugetlb_bytes; /* only with the memory_hugetlb_accounting mount option */
	struct count workingset_refault_anon, workingset_refault_file, pgfault, pgmajfault, pgscan, pgsteal;
};

/* memory.events and memory.events.local: cumulative. */
struct cgroup_events {
	struct count low, high, max, oom, oom_kill, oom_group_kill;
};

/* memory.pressure: averages in basis points of time (12.34 % is 1234), totals cumulative. */
struct cgroup_pressure_line {
	uint32_t avg10_bp, avg60_bp, avg300_bp;
	uint64_t total_us;
	bool known;
};
struct cgroup_pressure {
	struct cgroup_pressure_line some, full;
};

enum cgroup_kind {
	CGROUP_UNREAD = 0,
	CGROUP_V2,           /* memory controller found on v2 */
	CGROUP_V2_NO_MEMORY, /* v2 is there, its memory controller is not (hybrid machines) */
	CGROUP_V1,           /* the memory controller sits on v1 */
	CGROUP_NONE,
	CGROUP_KIND_COUNT,
};
extern const char *const cgroup_kind_names[CGROUP_KIND_COUNT];

struct cgroup_memory {
	enum cgroup_kind kind;
	struct qty current_bytes;       /* memory.current before memory.stat was read */
	struct qty current_after_bytes; /* and after it: differing by more than the tolerance, the reading is torn */
	struct limit max, high, low, min, swap_max, zswap_max;
	struct qty peak_bytes, swap_current_bytes, swap_peak_bytes, zswap_current_bytes;
	struct cgroup_stat stat;
	struct cgroup_events events, events_local;
	struct cgroup_pressure pressure;
	struct count n_procs;  /* lines of cgroup.procs */
	bool target_is_member; /* the target's pid stands in cgroup.procs */
	bool is_root;          /* the root cgroup has no memory.max and no memory.current */
};

#endif
