/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine's cgroups as libcgroup sees them from this process: which version carries the memory controller,
 * where it is mounted, and our own cgroup in it. The one owner of libcgroup: it keeps global tables and is not
 * reentrant, so this runs once, at start; sampling reads files by descriptor (cgread.h). Nothing is ever written.
 */
#ifndef KERNEL_CGMOUNT_H
#define KERNEL_CGMOUNT_H

#include "bankfull/cgroup.h"
#include "base/err.h"

enum { CGMOUNT_CAP = 1024 };

struct cgmount {
	enum cgroup_kind kind;      /* of the memory controller on this machine */
	bool hybrid;                /* a cgroup2 mount stands beside v1 controllers */
	char point[CGMOUNT_CAP];    /* where the memory controller (V2_NO_MEMORY: cgroup2) is mounted; "" if nowhere */
	char own_path[CGMOUNT_CAP]; /* this process's cgroup below it: "/" in a private namespace; "" if unknown */
};

/* No cgroups at all is no error: kind is CGROUP_NONE. IO when libcgroup fails for another reason. Takes 4 to 7 ms. */
int cgmount_read(struct cgmount *ret, struct err *err) __attribute__((warn_unused_result));

#endif
