/* SPDX-License-Identifier: Apache-2.0 */
/* `bankfull fleet`: what a collector answers to GET /api/v1/fleet (docs/openapi.json), asked for and shown. Internal to src/cli. */
#ifndef CLI_FLEET_H
#define CLI_FLEET_H

#include "cli/paint.h"
#include "data/js.h"

enum {
	FLEET_LIMIT = 100,
	FLEET_LIMIT_MAX = 10000,
	FLEET_PAGE = 200, /* rows a request: the API's most */
	FLEET_PAGES_MAX = FLEET_LIMIT_MAX / FLEET_PAGE,
	FLEET_BODY_MAX = 4 << 20, /* of a page: 200 rows of 1 KiB, and a pod name may be long */
};

struct fleet_query {
	const char
		*collector; /* http:// or https:// of its dashboard and API, without a path or with that of a proxy */
	const char *view;   /* "workloads" or "pods" */
	const char *cluster, *namespace_, *workload, *job, *engine, *role, *severity, *state, *q, *sort; /* NULL: any */
	bool descending;
	uint64_t limit;
	struct str token; /* empty: as nobody */
	const char *token_file, *ca_file;
	bool insecure;
	uint64_t timeout_ms; /* of each request */
};

/* Pages of one answer. A fleet moves on between two of them: a row may then stand in both, and is kept once. */
struct fleet_answer {
	struct js *pages[FLEET_PAGES_MAX];
	size_t n_pages;
	uint64_t matching;
	bool alarming; /* something that matches is at warning or above and is not silenced */
};
void fleet_answer_done(struct fleet_answer *answer);

/*
 * USAGE: the URL, or what was asked; DENIED: 401, 403, its certificate; UNSUPPORTED: it has no such API; MALFORMED: that
 * is no fleet; and whatever else net/http.h says. One line each, which says what to do.
 */
int fleet_ask(const struct fleet_query *query, struct fleet_answer *ret_answer, struct err *err)
	__attribute__((warn_unused_result));

/* PURE. The address of one page. USAGE: it is none, or too long. */
int fleet_url(const struct fleet_query *query, const char *severity, uint64_t from, uint64_t count, struct buf *out,
	      struct err *err) __attribute__((warn_unused_result));
/* PURE. A page that is what the API answers; `*ret_matching` of it. */
int fleet_check(const struct js *page, uint64_t *ret_matching, struct err *err) __attribute__((warn_unused_result));
/* PURE. A row at warning or above that nobody has silenced. */
bool fleet_is_alarming(const struct js *row);

/* The nth row of all pages, NULL past the last; one that was on a page before is left out. */
const struct js *fleet_row_at(const struct fleet_answer *answer, size_t *page, size_t *row);

struct fleet_face {
	bool pods, color, utf8;
	unsigned columns;
};
/* PURE. For people, in lines of face->columns. */
int fleet_table(const struct fleet_answer *answer, const struct fleet_face *face, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));
/* PURE. For programs: docs/fleet.md. */
int fleet_json(const struct fleet_answer *answer, const char *view, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));

#endif
