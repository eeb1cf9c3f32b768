/* SPDX-License-Identifier: Apache-2.0 */
/* Pods run to their end, and what is counted of them. */
#ifndef REPLAY_RUNS_H
#define REPLAY_RUNS_H

#include "replay/watcher.h"

enum { HEALTHY_DAYS = 4 }; /* of one pod: more than the day that a history keeps */

/* What healthy pods were told in so many pod-days. */
struct healthy {
	double pod_days;
	unsigned warnings, by_rule[FINDINGS_MAX], by_peer[PEER_COUNT];
	unsigned near; /* pods that came within 5 % of their limit: they are not counted */
};

/* Healthy pod number `i` of a seed, for so many days; adds to `sum`. Trace: each edge of a rule, or NULL. */
void run_healthy(struct pod_kind kinds[KINDS], uint64_t seed, unsigned i, double days, FILE *trace,
		 struct healthy *sum);

/* One leak, followed to its end. Minutes before the kernel's kill; -1: never. */
struct leak_run {
	const char *kind;
	struct leak leak;
	bool instrumented;
	double lasted_min;            /* from its begin to the kill */
	double named_min, thrash_min; /* first named at warning or above; the same, before reclaim begins to thrash */
	double forecast_error;        /* at half the time from the first named warning to the kill: share; -1: none */
	double peer_min[PEER_COUNT];
};

enum { LEAK_OWNERS = 7, LEAK_SPEEDS = 3 };
extern const enum owner leak_owners[LEAK_OWNERS];
extern const double leak_speeds[LEAK_SPEEDS]; /* % of the limit a minute */

void run_leak(struct pod_kind kinds[KINDS], uint64_t seed, enum owner owner, double share_percent, bool instrumented,
	      FILE *trace, struct leak_run *ret);

#endif
