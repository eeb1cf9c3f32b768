/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One scan of the target's mappings, timed: smaps, and what only smaps tells to ask (pagemap, the ZGC memfd), tmpfs and
 * hsperfdata beside it. When it may be made is budget.h's to say. And what our own cgroup says of our CPU.
 */
#ifndef AGENT_SCAN_H
#define AGENT_SCAN_H

#include "agent/budget.h"
#include "agent/watch.h"

/*
 * Reads, builds a snapshot of all evidence (refresh_run() what a tick read into it), and says what it cost. GONE, DENIED,
 * MALFORMED (the mappings kept moving), LIMIT, NOMEM: no snapshot; the reason stands in the evidence "proc/smaps", and
 * `ret_walk` is filled all the same. The text is not kept.
 */
int scan_run(struct watch *watch, struct snapshot **ret_snapshot, struct budget_walk *ret_walk, struct err *err)
	__attribute__((warn_unused_result));

/* Resident in the largest mapping; 0: no mappings. */
uint64_t scan_largest(const struct snapshot *snapshot);

/* Our own cgroup's CPU: descriptors kept, -1 where there is none. */
struct own_cpu {
	int stat_fd;
	uint64_t quota_ns; /* in one period; 0: none, or not known */
};
void own_cpu_open(struct own_cpu *ret);
void own_cpu_close(struct own_cpu *own);
struct count own_cpu_throttled(const struct own_cpu *own); /* nr_throttled of cpu.stat */

/* Pure: "100000 100000\n" is 100 ms, "max 100000\n" is 0. */
bool own_cpu_parse_max(struct str text, uint64_t *ret_quota_ns);
struct count own_cpu_parse_throttled(struct str text);

#endif
