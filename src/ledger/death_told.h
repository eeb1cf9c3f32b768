/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A verdict on a death, and what Kubernetes tells of it afterwards: PURE. The kubelet knows the exit status, and whether the
 * kernel's OOM killer came by within the container's cgroup; not at whose limit, for containerd and CRI-O read oom_kill
 * of memory.events, which rises for the pod's limit and the node's want of memory as well.
 */
#ifndef LEDGER_DEATH_TOLD_H
#define LEDGER_DEATH_TOLD_H

#include "ledger/death.h"

struct death_told {
	const char *reason;                   /* of the container's end: "OOMKilled", "Error", "Completed"; "" */
	const char *pod_reason, *pod_message; /* "Evicted", "The node was low on resource: memory. ..."; "" */
	int exit_code;                        /* -1: not told */
	enum tristate
		at_limit; /* what the kernel could not reclaim filled the container's limit when last seen; unread: nobody saw */
};

/* ADDS: nothing that the verdict did not say, or could be told apart from. */
enum death_told_effect { DEATH_TOLD_ADDS = 0, DEATH_TOLD_CONFIRMS, DEATH_TOLD_CORRECTS, DEATH_TOLD_COUNT };
extern const char *const death_told_effect_names[DEATH_TOLD_COUNT]; /* "adds", "confirms", "corrects" */

/* `before` is the cause by what the agent, or the collector, knew. Of the verdict cause, confidence and why are set. */
enum death_told_effect death_hear(enum death_cause before, const struct death_told *told,
				  struct death_verdict *ret_verdict);

#endif
