/* SPDX-License-Identifier: Apache-2.0 */
/* One question to a collector's API (docs/openapi.json), asked as a viewer: address, token, and what to do where it fails. Internal to src/cli. */
#ifndef CLI_COLLECTOR_ASK_H
#define CLI_COLLECTOR_ASK_H

#include "data/js.h"

enum { COLLECTOR_TOKEN_CAP = 4096, COLLECTOR_URL_CAP = 2048, COLLECTOR_TIMEOUT_MS = 10000 };

struct collector_ask {
	const char *option; /* that says where it is, for messages: "--collector" */
	const char
		*collector;  /* http:// or https:// of its dashboard and API, without a path or with that of a proxy */
	struct str token;    /* empty: as nobody */
	const char *ca_file; /* NULL: the system's */
	bool insecure;       /* the token may leave over plain http */
	uint64_t timeout_ms; /* of each request */
	size_t body_max;
	const char *not_taken; /* what it may be that a 400 does not take: "one of the filters" */
};

/* PURE. The collector's address, checked, and a path of its API behind it. USAGE: it is none. */
int collector_url(const struct collector_ask *ask, const char *path, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));
/* PURE. "&name=value", escaped; nothing where `value` is NULL. */
void collector_add_value(struct buf *url, const char *name, const char *value);

/* USAGE, DENIED, UNSUPPORTED, TIMEOUT, MALFORMED and what net/http.h says. One line each, which says what to do. */
int collector_get(const struct collector_ask *ask, const char *url, struct js **ret_answer, struct err *err)
	__attribute__((warn_unused_result));

/* The one token of --token-file, into `token`, which the caller wipes. `file` NULL: none. */
int collector_read_token(const char *file, struct buf *token, struct str *ret_token, struct err *err)
	__attribute__((warn_unused_result));
/* --ca-file can be read. NULL: nothing to check. */
int collector_check_ca(const char *file, struct err *err) __attribute__((warn_unused_result));

#endif
