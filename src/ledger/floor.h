/* SPDX-License-Identifier: Apache-2.0 */
/* What the kernel cannot reclaim of one cgroup, by its memory.stat: PURE. floor.c has the sum and its reasons. */
#ifndef LEDGER_FLOOR_H
#define LEDGER_FLOOR_H

#include "bankfull/cgroup.h"

/* Unread where the counters of file pages are. `lazyfree` is what a recent scan found of it, or 0. */
struct qty floor_of_stat(const struct cgroup_stat *stat, uint64_t lazyfree);

#endif
