/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a process is gone: PURE. What the kernel shows in the container's memory.events (measured on Linux 6.1): its own
 * limit raises max, oom and oom_kill; the pod's limit or the node raises oom_kill alone; SIGKILL raises nothing; one
 * victim under memory.oom.group counts 2. The container died when its pid ended, never by oom_kill alone.
 */
#ifndef LEDGER_DEATH_H
#define LEDGER_DEATH_H

#include "bankfull/ledger.h"
#include "bankfull/wire.h"

struct death_evidence {
	struct cgroup_events before, after; /* of the target's cgroup: some seconds before the end, and after it */
	bool after_read; /* false: the cgroup was gone too; with `before` unread none was ever in sight */
	struct limit limit, pod_limit;
	struct qty charge_bytes, floor_bytes, pod_charge_bytes; /* last seen */
	struct qty pod_others_bytes; /* of the pod's other containers, by the same measure as the floor */
	struct qty peak_bytes;       /* the highest floor seen: memory.peak counts page cache that nobody needs */
	struct qty host_available_bytes, host_memory_bytes; /* last seen */
	struct count node_psi_full_avg10_bp;
	struct count exit_status; /* where it can be known, as Kubernetes writes it: 137 is SIGKILL */
	enum tristate perf_left;  /* the JVM's hsperfdata file was still there after it: it did not end by itself */
	bool exits_on_oom;        /* -XX:+ExitOnOutOfMemoryError, whose exit leaves that file too */
	struct count heap_full_pct, metaspace_full_pct; /* of what may be, by what the last collection left */
	bool stop_asked;       /* the pod is being stopped: whoever watches was asked to end, too (SIGTERM) */
	bool java_oom_seen;    /* ExitOnOutOfMemoryError or such, by what the JVM left */
	uint32_t last_seen_ms; /* before the death */
};

struct death_verdict {
	enum death_cause cause;
	unsigned confidence_pct;
	bool stopped, node_low; /* with its pod; the node had hardly any memory left then */
	char why[320];          /* what it rests on, in words */
	char missing[160];      /* what would have made it certain; "" */
	struct qty
		survivable_limit; /* where a limit may have killed: peak floor + spike + 5 %; at its own, at least that limit + these */
};

/* By what the node had left, or how long it stalled; what is not known is not low. */
bool death_node_is_low(const struct death_evidence *evidence);

void death_judge(const struct death_evidence *evidence, uint64_t spike_bytes, struct death_verdict *ret_verdict);

/* to - from, at the ends of i64 where it would pass them; 0 where either is unknown. */
int64_t death_grown(struct qty from, struct qty to);

/*
 * What an owner held at the first of two compositions. One of anonymous memory that was unread then (an engine's page answers
 * only once it is up) stood inside native-other: it held no more than that.
 */
struct qty death_from(const struct qty first[OWNER_COUNT], const struct qty last[OWNER_COUNT], enum owner owner);

/* The owner that grew most between two compositions, of those that the kernel cannot take back; -1: none did, or it is not known. */
int death_owner(const struct qty first[OWNER_COUNT], const struct qty last[OWNER_COUNT], uint64_t *ret_grown_bytes);

#endif
