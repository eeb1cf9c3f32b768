/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reviews of tokens under way, and what they said. Before one begins the token's shape, audience and expiry are looked
 * at, and whether its service account may be an agent; at most REVIEWS_IN_FLIGHT run; good ones are kept in the store until the token expires, refusals here for
 * REVIEW_REFUSED_MS in a table of fixed size, where a later one may push out an earlier one. Those of agents that are connected
 * are reviewed again, at most REVIEWS_AGAIN_IN_FLIGHT at once, so that there is room for who comes. A refusal ends the session and is forgotten
 * by the store; no answer changes nothing. Internal to auth.c.
 */
#ifndef COLLECTOR_AUTH_REVIEW_H
#define COLLECTOR_AUTH_REVIEW_H

#include "collector/auth.h"

enum { REVIEWS_IN_FLIGHT = 16, REVIEWS_AGAIN_IN_FLIGHT = 8, REVIEW_REFUSED_MS = 60000, REVIEW_REFUSED_ROWS = 1024 };

struct reviews;

enum review_kind { REVIEW_GOOD, REVIEW_REFUSED, REVIEW_NOT_ALLOWED, REVIEW_LATER };

struct review_verdict {
	enum review_kind kind;
	unsigned retry_after_s; /* LATER */
	char why[160];          /* REFUSED: one line, escaped, nothing of the token. NOT_ALLOWED is said here, once */
};

int reviews_new(struct loop *loop, const struct auth_options *options, struct store *store, struct auth_counts *counts,
		struct reviews **ret_reviews, struct err *err) __attribute__((warn_unused_result));
/* Those under way end within about a second, without a result. */
void reviews_stop(struct reviews *reviews);
/* Those under way end by themselves and are forgotten. NULL is fine. */
void reviews_free(struct reviews *reviews);

/* Begins what is due. */
void reviews_step(struct reviews *reviews);
/* `*ret_agent` is filled with REVIEW_GOOD alone. */
void reviews_ask(struct reviews *reviews, struct str token, const uint8_t digest[32], struct wall now,
		 struct auth_agent *ret_agent, struct review_verdict *ret_verdict);

#endif
