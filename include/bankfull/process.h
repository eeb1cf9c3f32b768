/* SPDX-License-Identifier: Apache-2.0 */
/* One process as /proc shows it (proc_pid_status(5), proc_pid_stat(5), proc_pid_smaps(5)). */
#ifndef BANKFULL_PROCESS_H
#define BANKFULL_PROCESS_H

#include <stddef.h>

#include "bankfull/quantity.h"

/* A process is its pid and its start time, never a bare pid: pids are reused. */
struct process_id {
	int pid;
	uint64_t start_ticks; /* since boot, /proc/<pid>/stat field 22 */
};

struct process_status {
	char name[64]; /* "Name:", as the kernel escapes it */
	char state;    /* R S D T t Z X I */
	struct count
		thread_group; /* the process's pid; /proc shows a directory for each thread's id too, though it lists none */
	struct count uid_real, uid_effective, uid_saved, uid_fs;
	struct count gid_real, gid_effective, gid_saved, gid_fs;
	struct count ns_pid; /* innermost of NSpid: the pid the process sees itself as */
	struct count n_threads;
	struct count sig_caught, sig_ignored; /* masks; SIGQUIT is bit 2 (value 1 << (3 - 1)) */
	struct count cap_permitted, cap_effective;
	struct qty vm_peak_bytes, vm_size_bytes, vm_hwm_bytes, vm_rss_bytes, rss_anon_bytes, rss_file_bytes,
		rss_shmem_bytes;
	struct qty vm_pte_bytes, vm_swap_bytes, vm_locked_bytes, hugetlb_bytes;
};

enum vma_kind {
	VMA_ANON = 0, /* no file behind it */
	VMA_FILE,     /* a regular file */
	VMA_SHMEM,    /* memfd, /dev/shm, SysV, shared anonymous (/dev/zero) */
	VMA_BRK,      /* [heap] */
	VMA_STACK,    /* [stack]: the primordial thread's */
	VMA_SPECIAL,  /* [vdso], [vvar], ... */
	VMA_KIND_COUNT,
};

enum {
	VMA_READ = 1 << 0,
	VMA_WRITE = 1 << 1,
	VMA_EXEC = 1 << 2,
	VMA_SHARED = 1 << 3,
	VMA_NOHUGEPAGE = 1 << 4, /* VmFlags nh: MAP_STACK marks a stack so on Linux 6.7+ */
	VMA_HUGEPAGE = 1 << 5,   /* hg */
	VMA_HUGETLB = 1 << 6,    /* ht */
	VMA_LOCKED = 1 << 7,     /* lo */
	VMA_DELETED = 1 << 8,    /* the path ends in " (deleted)" */
	VMA_NORESERVE = 1 << 9,  /* nr: glibc maps its arenas so, HotSpot its uncommitted reserves */
	VMA_ACCOUNT = 1 << 10,   /* ac: what HotSpot commits, stacks, malloc's own mappings */
};

/* One mapping of smaps. Bytes; a field the kernel did not print is 0 here and absent in vma_set.have. */
struct vma {
	uint64_t start, end;
	uint64_t offset;
	uint64_t inode;
	uint32_t flags;
	enum vma_kind kind;
	uint32_t name_at, name_len; /* in vma_set.names: the path, [anon:NAME], or nothing */
	uint64_t rss_bytes, pss_bytes, pss_anon_bytes, anonymous_bytes, lazyfree_bytes, swap_bytes, locked_bytes;
	uint64_t anon_huge_bytes, private_hugetlb_bytes, shared_hugetlb_bytes;
};

enum {
	VMA_HAVE_PSS_ANON = 1 << 0, /* Linux 5.14+ */
	VMA_HAVE_LAZYFREE = 1 << 1, /* 4.12+ */
	VMA_HAVE_VMFLAGS = 1 << 2,
};

/* All mappings of one process, ascending and not overlapping. Owned by whoever parsed it: vma_set_done(). */
struct vma_set {
	struct vma *items;
	size_t n, room;
	char *names;
	size_t names_len, names_room;
	uint32_t have; /* VMA_HAVE_* seen */
};

void vma_set_done(struct vma_set *set);

/* Resident bytes that pagemap's present bits showed for one address range. */
struct resident_range {
	struct addr_range range;
	uint64_t resident_bytes;
};

#endif
