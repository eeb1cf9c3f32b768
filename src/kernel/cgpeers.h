/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other containers of a pod, as far as they can be seen: those whose cgroup lies beside the target's (systemd and cgroupfs
 * drivers alike put a pod's containers into one directory) and one of whose processes is in sight with our uid and gid.
 * What is in no process's sight (another user's, one that ended and left a tmpfs) is not found: the sum is a lower bound.
 */
#ifndef KERNEL_CGPEERS_H
#define KERNEL_CGPEERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

enum { CGPEERS_MAX = 16 };

struct cgpeers {
	int dirfds[CGPEERS_MAX]; /* the first n are ours to close */
	size_t n;
};
void cgpeers_done(struct cgpeers *peers);

/* Pure: both paths as /proc/<pid>/cgroup shows them to one reader, whose own is "/" in a cgroup namespace of its own. */
bool cgpeers_beside(const char *target, const char *other);

/* Those of `pid`, without its own. GONE: it is not there. `any_fs` as of cgpath_open(). */
int cgpeers_open(int proc_dirfd, int pid, bool any_fs, struct cgpeers *ret, struct err *err)
	__attribute__((warn_unused_result));

#endif
