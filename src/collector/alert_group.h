/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What of the fleet belongs together for somebody who is called: all pods of one workload with one rule. PURE.
 */
#ifndef COLLECTOR_ALERT_GROUP_H
#define COLLECTOR_ALERT_GROUP_H

#include "collector/fleet_read.h"

enum {
	ALERT_GROUPS_MAX = 4096, /* a fleet of more has one trouble, not so many */
	ALERT_WORST_MAX = 5,
	ALERT_TITLE_CAP = 160,
};

/* The workload of what the collector finds about itself. */
#define ALERT_OWN_WORKLOAD "bankfull-collector"

/* One of the worst pods: by severity, then by what is left, then by name. */
struct alert_worst {
	int64_t agent; /* 0: the collector itself */
	char pod[WIRE_NAME_CAP];
	enum severity severity;
	struct signed_qty freeboard_bytes;
	struct signed_qty freeboard_bp; /* of the limit; unknown where either is */
};

/* Figures: they change all the time and are no part of what an alert is. */
struct alert_figures {
	uint32_t n_pods, n_workload_pods;
	bool silenced; /* each of them is, by silences that name pods: then these are theirs, else the others' alone */
	char title[ALERT_TITLE_CAP]; /* of the worst pod's finding */
	int owner;                   /* which it names; -1: none */
	uint8_t n_worst;
	struct alert_worst worst[ALERT_WORST_MAX];
};

struct alert_group {
	const char *cluster, *namespace_, *workload, *rule; /* borrowed of the fleet */
	enum severity severity;                             /* the highest of its findings */
	struct alert_figures figures;
	int64_t last; /* the pod that was counted last */
};

/* Whether nobody is to hear of this finding of this pod. */
typedef bool alert_silenced_fn(const void *context, const struct fleet_pod *pod, const struct fleet_finding *finding);

struct alert_grouping {
	const char *cluster;         /* of the collector itself */
	enum severity least;         /* findings below are no alert */
	alert_silenced_fn *silenced; /* NULL: none is */
	const void *context;
};

/*
 * Groups by cluster, namespace, workload and rule, ascending, into `groups` (ALERT_GROUPS_MAX of them); `*ret_left_out`
 * is how many more there were. A pod that ended on purpose and is away has nothing any more; one that is only silent keeps
 * what it had.
 */
size_t alert_groups(const struct fleet *fleet, const struct alert_grouping *how, struct alert_group *groups,
		    size_t *ret_left_out);

/* The order of the above. */
int alert_key_compare(const char *const a[4], const char *const b[4]);

#endif
