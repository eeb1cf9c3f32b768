/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ZGC's heap is a memfd named java_heap, charged at what is allocated in it, mapped or not: st_blocks of its
 * descriptor tells, RSS does not. Read only where smaps shows "/memfd:java_heap".
 */
#ifndef KERNEL_MEMFD_H
#define KERNEL_MEMFD_H

#include "bankfull/process.h"
#include "base/buf.h"
#include "base/err.h"

struct memfd_heap {
	uint64_t inode;
	uint64_t bytes; /* st_blocks x 512 */
	bool hugetlb;   /* java_heap.hugetlb: charged to the cgroup only with memory_hugetlb_accounting */
};

/* Does a mapping of the set belong to such a heap? */
bool memfd_is_mapped(const struct vma_set *set);

/* Looks through <pid_dirfd>/fd up to the first. UNSUPPORTED if there is none; GONE; DENIED unless same uid and gid. */
int memfd_find(int pid_dirfd, struct memfd_heap *ret, struct err *err) __attribute__((warn_unused_result));

/* Text for captures: "java_heap inode=N bytes=N hugetlb=0\n". */
bool memfd_format(const struct memfd_heap *heap, struct buf *out);
int memfd_parse(struct str text, struct memfd_heap *ret, struct err *err) __attribute__((warn_unused_result));

#endif
