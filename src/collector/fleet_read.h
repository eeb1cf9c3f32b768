/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the API, the metrics page and the collector's own rules see of the fleet. Everything is borrowed: valid until
 * the next call of fleet.h.
 */
#ifndef COLLECTOR_FLEET_READ_H
#define COLLECTOR_FLEET_READ_H

#include "collector/fleet.h"
#include "collector/fleet_books.h"
#include "collector/spark.h"

enum {
	FLEET_FINDINGS_MAX = 64,    /* open ones of one pod: FINDINGS_MAX of its agent, and the collector's */
	FLEET_PODS_MAX = 100000,    /* ten times what one collector is made for */
	FLEET_FILTER_LABELS_MAX = 4 /* of one request */
};

/* A subject whose strings somebody else holds. */
struct subject_view {
	const char *cluster, *namespace_, *workload, *pod, *pod_uid, *node, *container; /* "" where not known */
	enum wire_role role;
	bool asserted; /* an agent of another pod says so, and nobody has confirmed it */
	uint8_t n_jobs, n_labels;
	const char *jobs[WIRE_JOBS_MAX];
	struct {
		const char *key, *value;
	} labels[WIRE_LABELS_MAX];
};
void subject_view_of(const struct wire_subject *subject, struct subject_view *ret_view);

/* NULL: any. */
struct subject_filter {
	const char *cluster, *namespace_, *workload, *pod, *node, *container, *job;
	bool has_role;
	enum wire_role role;
	struct {
		const char *key, *value;
	} labels[FLEET_FILTER_LABELS_MAX];
	size_t n_labels;
};
bool subject_matches(const struct subject_filter *filter, const struct subject_view *view);
bool subject_has_job(const struct subject_view *view, const char *job);

struct fleet_finding {
	const char *id, *rule, *title;
	enum severity severity;
	int owner;
	struct wall opened, updated; /* updated: received */
	struct wire_epoch epoch;     /* the start of the agent that said so; zeros: not known */
};

struct fleet_findings {
	struct fleet_finding *items;
	uint8_t n, room;
	uint32_t left_out; /* opened past FLEET_FINDINGS_MAX: they stand in the store alone */
};

/* The latest sample, without its composition. */
struct fleet_latest {
	struct wall received, wall; /* both by the collector's clock; 0: none yet */
	uint32_t interval_ms;       /* 0: not known (read back from the store) */
	bool urgent;
	int pid; /* 0: there was none; -1: not known */
	uint64_t start_ticks;
	enum access_level access;
	struct limit limit;
	bool limit_told;
	struct qty charge_bytes, floor_bytes, swap_bytes, expected_bytes;
	struct signed_qty freeboard_bytes;
	enum freeboard_level freeboard_level;
	struct qty groups[GROUP_COUNT];
	struct signed_qty grown_since_scan[GROUP_COUNT];
	struct cgroup_events events;
	struct count some_avg10_bp, full_avg10_bp;
	struct wire_forecast forecast;
	struct engine_context context;
};

struct fleet_pod {
	int64_t agent; /* the store's row */
	const char *agent_id;
	struct subject_view subject;
	struct fleet_workload *workload;
	struct fleet_pod *next; /* of the same workload, in no order */
	const char *program, *jdk, *engine;
	uint32_t sessions; /* > 0: connected. During a change of sessions 2 */
	bool said_bye;     /* not connected, and it ended on purpose */
	bool restored;     /* read back from the store and not heard of since */
	struct wall since; /* it is connected, or is not */
	struct wall heard; /* last, of anything */
	/*
	 * This start of the agent: when it began, by our clock, and since when it has told of a target that lives (0: it has
	 * not). What was heard before it began, it knows nothing of.
	 */
	struct wire_epoch epoch;
	struct wall epoch_began, alive_since;
	int64_t offset_ms; /* the collector's clock less the agent's, at hello */
	struct fleet_latest latest;
	enum access_level best_access; /* that the agent ever had, for agent-access-lost */
	struct fleet_composition composition;
	struct fleet_findings findings;
	struct wall last_postmortem; /* received; 0: none within a day before the collector started, nor since */
	struct spark spark;          /* since the collector started, until fleet_load_spark() */
	bool spark_loaded;           /* or there was nothing to load */
	uint64_t changed;            /* fleet_generation() when anything above last did */
};

/* It ended on purpose: what was open then is nobody's trouble. */
static inline bool fleet_is_over(const struct fleet_pod *pod)
{
	return pod->sessions == 0 && pod->said_bye;
}

/*
 * An earlier start of the agent than this one said so, and will say nothing more of it. Its spool may be heard after what
 * this start says, and clocks are set back: the epoch tells, and where that is not known the time.
 */
bool fleet_of_former(const struct fleet_pod *pod, const struct fleet_finding *finding);

/* Pods by agent row, ascending. */
size_t fleet_pods(const struct fleet *fleet, const struct fleet_pod *const **ret_pods);
const struct fleet_pod *fleet_find(const struct fleet *fleet, int64_t agent); /* or NULL */
/* The first pod whose agent row is above `agent`: an index into fleet_pods(), its length if there is none. */
size_t fleet_after(const struct fleet *fleet, int64_t agent);

/* A cluster's, namespace's and name's pods; agents that name no workload share one per namespace, named "". */
struct fleet_workload {
	const char *cluster, *namespace_, *name;
	struct fleet_pod *pods;
	size_t n_pods;    /* never 0 */
	uint64_t changed; /* when one of its pods last did, came or went */
	uint64_t born;    /* no other one has the same */
};

/* Workloads by cluster, namespace and name, ascending. */
size_t fleet_workloads(const struct fleet *fleet, const struct fleet_workload *const **ret_workloads);
/* The place of this one in that order: where it stands, or would (then `*ret_there` is false). */
size_t fleet_workload_at(const struct fleet *fleet, const char *cluster, const char *namespace_, const char *name,
			 bool *ret_there);

/* Goes up with each change, and so says whether there was any. fleet_shape(): when a pod or workload last came or went. */
uint64_t fleet_generation(const struct fleet *fleet);
uint64_t fleet_shape(const struct fleet *fleet);

/* Findings of the collector about itself. */
const struct fleet_findings *fleet_own_findings(const struct fleet *fleet);

#endif
