/* SPDX-License-Identifier: Apache-2.0 */
/* Snapshots built in code: a plain JVM whose mappings and cgroup agree byte for byte, for a test to bend. */
#ifndef BANKFULL_TESTS_SNAP_H
#define BANKFULL_TESTS_SNAP_H

#include "bankfull/ledger.h"
#include "bankfull/snapshot.h"

enum { KIB = 1 << 10, MIB = 1 << 20 };
#define GIB ((uint64_t)1 << 30)

/* What is resident or charged, in MiB. */
struct snap_shape {
	unsigned heap, code, cds, library, stacks, arenas, pool; /* anon of the JVM, by mapping */
	unsigned others;                                         /* anon of other processes in the container */
	unsigned thp_unmapped;                                   /* on the LRU, in no type counter */
	unsigned shmem, mapped, cache;                           /* mapped and cache are page cache */
	unsigned kernel_stack, pagetables, slab_reclaimable, slab_unreclaimable, percpu, kernel_other, sock;
};

/* A JVM alone in its container: 801 MiB of anon, 10 of tmpfs, 250 of page cache, 23 of kernel, 2 of sockets. */
extern const struct snap_shape snap_plain;

/* The same with another process and half-unmapped huge pages: every group has something to show. */
extern const struct snap_shape snap_crowded;

/* A JVM with smaps, the heap's and the code's ranges, and a cgroup that is told what the shape says. snap_free(). */
struct snapshot *snap_new(const struct snap_shape *shape);
void snap_free(struct snapshot *snapshot);

/* Append one mapping above all others, `anon` bytes of it anonymous and resident. Valid until the next one. */
struct vma *snap_vma(struct snapshot *snapshot, enum vma_kind kind, uint32_t flags, const char *name, uint64_t size,
		     uint64_t anon);

/* Forget the cgroup: a machine without v2. */
void snap_no_cgroup(struct snapshot *snapshot);

/* One NMT category; the first one makes NMT read. */
void snap_nmt(struct snapshot *snapshot, const char *name, uint64_t malloc_bytes, uint64_t mmap_committed_bytes);

/* Flink's own split of a TaskManager and the flags that follow from it (facts of the default configuration). */
void snap_flink(struct snapshot *snapshot, uint64_t heap, uint64_t managed, uint64_t network, uint64_t direct,
		uint64_t overhead, uint64_t process);

void snap_gap(struct snapshot *snapshot, const char *what, int kind, const char *reason);
void snap_setting(struct snapshot *snapshot, const char *key, const char *value, const char *where);

/* Run the ledger into a fresh one; free() it. */
struct ledger *snap_ledger(const struct snapshot *snapshot);

/* Sum of the known lines of a group, with 128 bits: a sum that wrapped shows. */
uint64_t snap_group_lines(const struct ledger *ledger, enum ledger_group group);
uint64_t snap_all_lines(const struct ledger *ledger);

#endif
