/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fleet in a form that is quick to search: what filters and orders ask of a pod, side by side, workload by workload.
 * Made again where pods came or went, else brought up to date by what has changed. PURE: fleet and time in, this out.
 */
#ifndef COLLECTOR_FLEET_INDEX_H
#define COLLECTOR_FLEET_INDEX_H

#include "collector/fleet_read.h"

enum { FLEET_STALE_MS = 30000, FLEET_STALE_INTERVALS = 3 };

enum pod_state {
	POD_CONNECTED = 0,
	POD_STALE, /* connected, and nothing heard for three intervals, and FLEET_STALE_MS */
	POD_GONE,
	POD_STATE_COUNT
};
extern const char *const pod_state_names[POD_STATE_COUNT];

enum pod_state pod_state(const struct fleet_pod *pod, struct wall now);

/* The worst open finding; of a pod that ended on purpose none counts. */
enum severity pod_severity(const struct fleet_pod *pod);

/* Groups of an order: what is unread, and what is gone, is behind the rest whichever way it goes. */
struct index_danger {
	uint8_t group;
	uint64_t first, second;
};

struct index_pod {
	const struct fleet_pod *pod;
	const char *name, *engine; /* as they were when this was made */
	uint64_t changed;          /* the pod's, when this was made */
	int64_t stale_at_ms, heard_ms;
	struct qty charge_bytes;
	struct signed_qty freeboard_bp;
	uint32_t rank; /* by name, then by id: no two have the same */
	enum pod_state state;
	enum severity severity;
	struct index_danger danger;
};

struct index_workload {
	const struct fleet_workload *workload;
	size_t first, n, worst; /* in pods; worst: the one in most danger */
	uint64_t changed;
	int64_t stale_at_ms;     /* the earliest of its pods' */
	uint32_t rank;           /* by name, then by cluster and namespace */
	uint32_t namespace_rank; /* by namespace: those of one have the same */
	uint32_t by_state[POD_STATE_COUNT], by_severity[SEVERITY_COUNT];
	enum severity severity;
};

struct fleet_index {
	const struct fleet *fleet;
	uint64_t version; /* of what is in here: goes up when anything changed */
	uint64_t generation, shape;
	bool made;
	struct index_pod *pods; /* in the order of workloads */
	size_t n_pods, pods_room;
	struct index_workload *workloads;
	size_t n_workloads, workloads_room;
	uint32_t *order; /* scratch of ranks */
	size_t order_room;
};

void fleet_index_init(struct fleet_index *index, const struct fleet *fleet);
void fleet_index_done(struct fleet_index *index);

/* Before anything of it is looked at, after any call of fleet.h. NOMEM leaves an index without pods. */
int fleet_index_refresh(struct fleet_index *index, struct wall now, struct err *err)
	__attribute__((warn_unused_result));

#endif
