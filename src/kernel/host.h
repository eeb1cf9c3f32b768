/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the machine has, below all containers: /proc/meminfo (Documentation/filesystems/proc.rst) and the mode of
 * transparent huge pages (Documentation/admin-guide/mm/transhuge.rst). Neither is of the target's cgroup; where a
 * container's /proc/meminfo is mounted over (lxcfs), it tells what that says.
 */
#ifndef KERNEL_HOST_H
#define KERNEL_HOST_H

#include "bankfull/snapshot.h"
#include "base/buf.h"
#include "base/err.h"

struct host_memory {
	struct qty total_bytes;
	struct qty available_bytes; /* MemAvailable: Linux 3.14+ */
	struct qty swap_free_bytes;
};

/* MALFORMED: no MemTotal, a known key twice, no number in kB, a cut last line. */
int host_meminfo_parse(struct str text, struct host_memory *ret, struct err *err) __attribute__((warn_unused_result));

/* "always [madvise] never\n": the word in brackets. MALFORMED: none, two, or another word. */
int host_thp_parse(struct str text, enum thp_mode *ret, struct err *err) __attribute__((warn_unused_result));

/* The two files as they are. GONE, for the second, on kernels without transparent huge pages. */
int host_meminfo_read(struct buf *buf, struct err *err) __attribute__((warn_unused_result));
int host_thp_read(struct buf *buf, struct err *err) __attribute__((warn_unused_result));

#endif
