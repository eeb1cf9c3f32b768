/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to web.h that came by no wire, and its replies. */
#ifndef BANKFULL_TESTS_WEBASK_H
#define BANKFULL_TESTS_WEBASK_H

#include "collector/web.h"

/* What a browser that opens a page says it takes. */
#define WEB_BROWSER "accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"

struct ask {
	const char *method, *path, *body; /* NULL: GET, none, none */
	const char *headers[11];          /* name, value, ..., NULL */
	bool tls;
};

struct server_request web_ask_request(const struct ask *ask);
/* At this time, and at its beginning. The reply's body is the caller's. */
struct server_reply web_answer_at(struct web *web, const struct ask *ask, uint64_t ms);
struct server_reply web_answer(struct web *web, const struct ask *ask);
/* The value of a line of reply->extra that begins so; "" without. */
const char *web_header(const struct server_reply *reply, const char *name, char *dest, size_t cap);

#endif
