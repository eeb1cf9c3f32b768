/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One reading of one JVM and its container: plain data, no I/O, replayable. Whoever fills it never
 * judges; whoever judges (ledger, rules) never reads anything else.
 */
#ifndef BANKFULL_SNAPSHOT_H
#define BANKFULL_SNAPSHOT_H

#include "bankfull/cgroup.h"
#include "bankfull/engine.h"
#include "bankfull/jvm.h"
#include "bankfull/process.h"

/* Why an input is missing. `what` is the evidence's name: "cgroup/memory.stat", "jvm/nmt", "http/metrics". */
struct gap {
	char what[48];
	int kind;         /* enum err_kind of base/err.h */
	char reason[320]; /* as long as the message of a struct err */
};

/* A setting in force and where it was read: "command line", "VM.flags", "config.yaml:12". */
struct setting {
	char key[80];
	char value[80];
	char where[64];
};

enum access_level {
	ACCESS_NONE = 0, /* not even status */
	ACCESS_STATUS,   /* world-readable files only: no composition */
	ACCESS_PROCESS,  /* smaps; no cgroup of the target */
	ACCESS_FULL,     /* smaps and the target's cgroup */
	ACCESS_COUNT,
};
extern const char *const access_level_names[ACCESS_COUNT];

/* A tmpfs that the target sees, by its mount point in the target. Who wrote the files is charged, whoever sees them. */
struct tmpfs_mount {
	char path[96];
	struct qty used_bytes;
	struct limit size; /* the mount option; LIMIT_NONE: half of the host's memory */
};

/* /sys/kernel/mm/transparent_hugepage/enabled of the host. */
enum thp_mode { THP_UNREAD = 0, THP_NEVER, THP_MADVISE, THP_ALWAYS, THP_MODE_COUNT };
extern const char *const thp_mode_names[THP_MODE_COUNT];

enum { TMPFS_MOUNTS_MAX = 8 };

enum { GAPS_MAX = 48, SETTINGS_MAX = 48, RESIDENT_RANGES_MAX = 64 };

struct snapshot {
	struct wall taken;
	uint32_t age_ms;    /* of the smaps scan relative to `taken`: 0 for a report */
	uint32_t host_cpus; /* online CPUs of the host: the error of the kernel's per-cpu counters grows with them */
	uint32_t page_bytes;
	char kernel[96];

	struct qty host_memory_bytes, host_available_bytes,
		host_swap_free_bytes; /* /proc/meminfo: the host's, not the container's */
	enum thp_mode thp;

	struct process_id process;
	bool process_read; /* status was read */
	struct process_status status;
	char container_id[80];
	char machine_cgroup[160]; /* what this machine has, where the target's cgroup was not found; else "" */

	struct cgroup_memory cgroup;
	struct limit
		told_limit; /* --limit: counts when the cgroup says nothing, and is checked against it when it does */
	struct limit pod_limit;
	/* What the kernel cannot reclaim of the pod's other containers, where somebody sees them: a lower bound. */
	struct qty pod_others_bytes;
	struct tmpfs_mount tmpfs[TMPFS_MOUNTS_MAX]; /* largest first; empty ones left out */
	size_t n_tmpfs;
	bool tmpfs_read; /* false: what mounts there are is not known */

	struct qty rollup_anon_bytes; /* smaps_rollup's Anonymous: read only where smaps could not be used */
	bool vmas_read;
	struct vma_set vmas;
	struct resident_range
		residents[RESIDENT_RANGES_MAX]; /* pagemap's answers for ranges that share a mapping with others */
	size_t n_residents;
	struct qty memfd_heap_bytes; /* st_blocks of ZGC's memfd: what is charged, resident or not */

	bool is_jvm;
	char jdk[64];
	int jdk_major; /* 0: unread */
	enum jvm_gc gc;
	struct jvm_flags flags;
	struct jvm_heap heap;
	struct jvm_code code;
	struct jvm_nmt nmt;
	bool nmt_read;
	struct jvm_regions regions;
	struct jvm_perf perf;
	bool perf_read;
	struct jvm_malloc malloc_info;

	struct engine_state engine;
	bool metrics_read;
	enum allocator allocator;
	struct count malloc_arena_max;

	enum access_level access;
	struct gap gaps[GAPS_MAX];
	size_t n_gaps;
	struct setting settings[SETTINGS_MAX];
	size_t n_settings;
};

void snapshot_done(struct snapshot *snapshot);

/* The gap of this name, or NULL. */
const struct gap *snapshot_gap(const struct snapshot *snapshot, const char *what);

#endif
