/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tokens of agents that are connected, to be reviewed again: a pod that was deleted, or an account that was, has a token that is
 * good by its own word for up to an hour. PURE but for memory: auth_review.h asks.
 *
 * When a token is due belongs to the token, not to the session: who comes back sooner is not asked about later. What was good is due
 * `again_ms` on, by up to a quarter of it sooner or later; what nobody remembers, as after a start, within half of it, so that
 * not all are asked about at once. A token stands here as long as its session, and is wiped then.
 */
#ifndef COLLECTOR_PROOF_H
#define COLLECTOR_PROOF_H

#include "bankfull/quantity.h"
#include "base/str.h"
#include "net/hash.h"
#include "sys/clock.h"

enum { PROOF_ROWS = 16384, PROOF_RETRY_MS = 30000 };

struct proof {
	struct proofs *owner;
	struct proof *next, *prev;
	uint8_t digest[HASH_SHA256_LEN];
	struct wall expires;
	struct mono due;
	bool asked, refused;
	size_t len;
	char token[];
};

struct proofs {
	struct proof *first, *at; /* where the last look ended */
	size_t n;
	uint64_t again_ms;
	/* One of two whose digests agree pushes out the other, which is then one that nobody remembers. */
	struct proof_row {
		uint8_t digest[HASH_SHA256_LEN];
		struct mono due;
	} * rows;
};

/* False: no memory. */
bool proofs_init(struct proofs *proofs, uint64_t again_ms);
void proofs_done(struct proofs *proofs); /* no session may be left */

/* Of a session that begins; NULL: no memory. */
struct proof *proof_new(struct proofs *proofs, struct str token, const uint8_t digest[HASH_SHA256_LEN],
			struct wall expires, struct mono now);
void proof_free(struct proof *proof); /* NULL is fine */
/* It does not hold any more. NULL: there is none that could. */
static inline bool proof_refused(const struct proof *proof)
{
	return proof && proof->refused;
}

/* One that is due, and is marked as asked about; NULL: none. */
struct proof *proofs_due(struct proofs *proofs, struct mono now);

enum proof_outcome { PROOF_GOOD, PROOF_REFUSED, PROOF_NOT_ASKED /* nobody could be: what held holds */ };
/* Of all that show this token. Returns how many were refused now. */
size_t proofs_settle(struct proofs *proofs, const uint8_t digest[HASH_SHA256_LEN], enum proof_outcome outcome,
		     struct mono now);

#endif
