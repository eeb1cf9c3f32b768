/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.stat of a cgroup v2. Contract as in cgfile.h. Keys that this kernel does not print stay unread. Reading it
 * makes the kernel flush the subtree's counters: cheap for a container, never read a parent.
 */
#ifndef KERNEL_MEMSTAT_H
#define KERNEL_MEMSTAT_H

#include "bankfull/cgroup.h"
#include "base/err.h"
#include "base/str.h"

int memstat_parse(struct str text, struct cgroup_stat *ret, struct err *err) __attribute__((warn_unused_result));

#endif
