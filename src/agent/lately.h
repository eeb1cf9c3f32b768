/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What memory.events showed a while ago. The kernel counts oom and oom_kill before its victim is gone (mm/oom_kill.c), and
 * that count wakes us: the last tick at which the target lived has them in it already, so a death is judged against an
 * earlier reading.
 */
#ifndef AGENT_LATELY_H
#define AGENT_LATELY_H

#include "bankfull/cgroup.h"

/* From the kill to the end: a large process is taken apart for seconds, longer where it waits for a disk. */
enum { LATELY_MS = 10000 };

/* All zero: nothing was seen. */
struct lately {
	struct cgroup_events then; /* LATELY_MS old, up to twice that; younger only right after the start */
	struct cgroup_events next;
	struct mono next_at;
	bool known;
};

/* At each tick. Counters that cannot be read say nothing; those that went back are another cgroup's, and begin anew. */
void lately_step(struct lately *lately, struct mono now, const struct cgroup_events *events);

#endif
