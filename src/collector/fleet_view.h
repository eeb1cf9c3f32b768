/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One window of the fleet as one viewer may see it: filter, order, cut, and what stands above and beside it. PURE over an
 * index that is up to date (fleet_index_refresh()). Nothing of a namespace that the viewer does not see is in any of it.
 */
#ifndef COLLECTOR_FLEET_VIEW_H
#define COLLECTOR_FLEET_VIEW_H

#include "collector/auth.h"
#include "collector/fleet_index.h"

enum {
	VIEW_COUNT = 60,
	VIEW_COUNT_MAX = 200,
	VIEW_FROM_MAX = 1000000,
	VIEW_TEXT_CAP = 128,
	VIEW_FACETS_MAX = 100, /* values of one field to choose from */
};

enum view_kind { VIEW_WORKLOADS = 0, VIEW_PODS, VIEW_KIND_COUNT };
extern const char *const view_kind_names[VIEW_KIND_COUNT];

enum view_sort {
	VIEW_DANGER = 0,
	VIEW_FREEBOARD,
	VIEW_SEVERITY,
	VIEW_NAME,
	VIEW_NAMESPACE,
	VIEW_CHARGE,
	VIEW_HEARD,
	VIEW_SORT_COUNT
};
extern const char *const view_sort_names[VIEW_SORT_COUNT];

/* "" and SEVERITY_NONE: any. */
struct view_filter {
	char cluster[64], namespace_[64], workload[WIRE_NAME_CAP], job[64];
	char engine[32];       /* "flink 1.20.0", or its first word */
	char q[VIEW_TEXT_CAP]; /* a part of pod, workload, namespace, node or a job, in any case */
	enum severity least;
	bool has_role, has_state;
	enum wire_role role;
	enum pod_state state;
};

/* Zeros are the defaults, but for `count`. */
struct view_query {
	enum view_kind kind;
	struct view_filter filter;
	enum view_sort sort;
	bool descending;
	uint32_t from, count;
};

/* The same for the API's lists. */
bool view_has_text(const struct fleet_pod *pod, const char *q);
bool view_is_engine(const char *engine, const char *wanted);

struct view_summary {
	uint64_t pods, workloads, by_state[POD_STATE_COUNT], by_severity[SEVERITY_COUNT]; /* pods, by their worst */
};

struct view_row {
	const struct index_workload *workload;
	const struct index_pod *pod; /* of workloads: the worst of it */
};

struct view_window {
	uint64_t total, matching;
	size_t n;
	struct view_row rows[VIEW_COUNT_MAX];
};

/* Room for keys, kept from one view to the next. */
struct view_scratch {
	struct view_key *keys;
	size_t room;
};
void view_scratch_done(struct view_scratch *scratch);

int fleet_view(const struct fleet_index *index, const struct view_query *query, const struct auth_viewer *viewer,
	       struct view_scratch *scratch, struct view_window *ret_window, struct err *err)
	__attribute__((warn_unused_result));

void fleet_view_summary(const struct fleet_index *index, const struct auth_viewer *viewer,
			struct view_summary *ret_summary);

struct view_facets {
	size_t n_clusters, n_namespaces, n_engines;
	const char *clusters[VIEW_FACETS_MAX], *namespaces[VIEW_FACETS_MAX], *engines[VIEW_FACETS_MAX];
};
void fleet_view_facets(const struct fleet_index *index, const struct auth_viewer *viewer,
		       struct view_facets *ret_facets);

#endif
