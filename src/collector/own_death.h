/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A post-mortem that the collector writes itself, marked inferred: what was last seen of an agent's target, and what is stored of
 * the quarter of an hour before. For who knows of a death that no agent told of (inferred.h, kube_deaths.h).
 */
#ifndef COLLECTOR_OWN_DEATH_H
#define COLLECTOR_OWN_DEATH_H

#include "base/buf.h"
#include "base/err.h"
#include "collector/last_word.h"
#include "collector/store.h"
#include "ledger/death.h"

enum { OWN_DEATH_BEFORE_MS = 900000, OWN_DEATH_AT_CAP = 32 };

struct own_death {
	int64_t agent;
	char id[WIRE_ID_CAP];         /* the same for the same death: a second one is dropped by the store */
	char title[160];              /* who grew is put behind it */
	const char *why;              /* how the collector came to know */
	const struct last_word *last; /* figures nobody saw are unread; head.wall.ms 0: nobody saw any */
	const struct death_verdict *verdict;
	struct wall stream_ended; /* ms 0: it is not about a stream */
	struct wall since,
		until; /* what is stored from there to there is its timeline; since ms 0: OWN_DEATH_BEFORE_MS */
	struct wall died;
};

/* The post-mortem into `ret_message`, without its body, and its frame into `text`: as store_own_postmortem() wants both. */
int own_death_encode(struct store *store, const struct own_death *death, struct wire_message *ret_message,
		     struct buf *text, struct err *err) __attribute__((warn_unused_result));

/* "at 97 % of", or "near" where that is not known. */
const char *own_death_at(const struct last_word *last, char dest[OWN_DEATH_AT_CAP]);

#endif
