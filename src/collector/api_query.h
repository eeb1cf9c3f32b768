/* SPDX-License-Identifier: Apache-2.0 */
/* The parameters of a request, judged whole before anything is looked up: PURE. Internal to src/collector/api*.c. */
#ifndef COLLECTOR_API_QUERY_H
#define COLLECTOR_API_QUERY_H

#include "bankfull/finding.h"
#include "base/buf.h"
#include "base/err.h"
#include "collector/fleet_view.h"

enum { API_LIMIT = 100, API_LIMIT_MAX = 1000, API_CURSOR_CAP = 1200, API_QUERY_CAP = 8192 };

/* What a path takes. */
enum {
	API_SUBJECT = 1 << 0, /* cluster, namespace, workload, role, pod, node, container, job, label.KEY */
	API_PAGE = 1 << 1,    /* limit, cursor */
	API_RULE = 1 << 2,
	API_SEVERITY = 1 << 3,
	API_OPEN = 1 << 4,
	API_CAUSE = 1 << 5,
	API_RANGE = 1 << 6, /* from, to */
	API_STEP = 1 << 7,
	API_CONNECTED = 1 << 8,
	API_PAST = 1 << 10,
	API_ACTIVE = 1 << 9,
	API_TEXT = 1 << 11, /* q, engine */
	API_VIEW = 1 << 12, /* cluster, namespace, workload, job, role, state; view, sort, descending, from, count */
};

struct api_query {
	struct subject_filter filter;
	size_t limit;
	const char *cursor; /* NULL: the first page */
	const char *rule;   /* NULL: all */
	enum severity least;
	bool open_only;
	bool has_cause;
	enum death_cause cause;
	struct wall from, to; /* 0: not given */
	bool has_step;
	uint64_t step_ms;
	bool has_connected, connected;
	bool past;
	bool has_active, active;
	const char *q, *engine; /* NULL: any */
	struct view_query view; /* but for what stands above */
	unsigned given;         /* so that nothing is given twice */
	char text[API_QUERY_CAP];
	size_t used;
};

/* USAGE, with one line that says which parameter and why. `allowed`: of the flags above. */
int api_query_parse(struct str query, unsigned allowed, struct api_query *ret_query, struct err *err)
	__attribute__((warn_unused_result));

/*
 * Ids in a path: parts with ':' between; bytes that are not letters, digits, '-', '_' or '.' are ~XX, and so is a first
 * '.', lest a client take it for a step. Of a workload: cluster, namespace, name. Of a finding or post-mortem: the row of
 * its agent, and the id it has there.
 */
bool api_workload_id(struct buf *out, const char *cluster, const char *namespace_, const char *name);
bool api_workload_parse(struct str id, char cluster[64], char namespace_[64], char name[WIRE_NAME_CAP]);
bool api_finding_id(struct buf *out, int64_t agent, const char *id);
bool api_finding_parse(struct str text, int64_t *ret_agent, char id[WIRE_ID_CAP]);

#endif
