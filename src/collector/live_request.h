/* SPDX-License-Identifier: Apache-2.0 */
/* What a viewer of bankfull.live.v1 asks for, judged whole before anything is looked up: PURE. docs/live.md. */
#ifndef COLLECTOR_LIVE_REQUEST_H
#define COLLECTOR_LIVE_REQUEST_H

#include "collector/fleet_view.h"

#define LIVE_PROTOCOL "bankfull.live.v1"

enum {
	LIVE_FRAME_MAX = 4096,
	LIVE_WORKLOAD_ID_CAP = 1200, /* three bytes a byte of cluster, namespace and name, and two ':' */
};

enum live_kind { LIVE_NOTHING = 0, LIVE_FLEET, LIVE_POD, LIVE_WORKLOAD };

/* Made by memset() and filled, so that equal ones are equal byte for byte. */
struct live_request {
	enum live_kind kind;
	bool moves;              /* of a fleet: takes rows in another order as such, not as a whole frame */
	struct view_query query; /* of a fleet */
	int64_t pod;             /* of a pod: the agent's row */
	char cluster[64], namespace_[64], name[WIRE_NAME_CAP]; /* of a workload */
};

/*
 * USAGE, with one line that says which member and why; MALFORMED: no JSON. `*ret_n` is set wherever it could be read, on
 * failure too, and is 0 otherwise.
 */
int live_request_parse(struct str text, struct live_request *ret_request, int64_t *ret_n, struct err *err)
	__attribute__((warn_unused_result));

/* The words of a query, for whoever else takes them. False: none of them. */
bool view_kind_parse(struct str text, enum view_kind *ret_kind);
bool view_sort_parse(struct str text, enum view_sort *ret_sort);
bool pod_state_parse(struct str text, enum pod_state *ret_state);

#endif
