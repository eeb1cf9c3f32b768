/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small files of a cgroup v2 (Documentation/admin-guide/cgroup-v2.rst): bytes in, values out. No v1, no
 * totals. Input need not end in NUL and must end in a newline (else MALFORMED: cut); unknown keys are ignored, a known
 * key twice is MALFORMED, so is a NUL byte or a number past u64; outputs are untouched on failure.
 */
#ifndef KERNEL_CGFILE_H
#define KERNEL_CGFILE_H

#include "bankfull/cgroup.h"
#include "base/err.h"
#include "base/str.h"

/* One number: memory.current, memory.peak, memory.swap.current, ... */
int cgfile_parse_bytes(struct str text, struct qty *ret, struct err *err) __attribute__((warn_unused_result));

/* One number or "max": memory.max, .high, .low, .min, .swap.max, .zswap.max. */
int cgfile_parse_limit(struct str text, struct limit *ret, struct err *err) __attribute__((warn_unused_result));

/* memory.events and memory.events.local. */
int cgfile_parse_events(struct str text, struct cgroup_events *ret, struct err *err)
	__attribute__((warn_unused_result));

/* memory.pressure. Averages beyond 100 % are MALFORMED. */
int cgfile_parse_pressure(struct str text, struct cgroup_pressure *ret, struct err *err)
	__attribute__((warn_unused_result));

/*
 * cgroup.procs: how many lines, and whether `pid` is one. A process of a pid namespace that we do not see is listed
 * as 0 and counted.
 */
int cgfile_parse_procs(struct str text, int pid, struct count *ret_n, bool *ret_member, struct err *err)
	__attribute__((warn_unused_result));

#endif
