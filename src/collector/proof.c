/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/proof.h"

#include <stdlib.h>

bool proofs_init(struct proofs *proofs, uint64_t again_ms)
{
	*proofs = (struct proofs){ .again_ms = again_ms };
	proofs->rows = calloc(PROOF_ROWS, sizeof *proofs->rows);
	return proofs->rows != NULL;
}

void proofs_done(struct proofs *proofs)
{
	free(proofs->rows);
	proofs->rows = NULL;
}

/* The digest's own bits are the hash; who could choose them would have to be given good tokens by the API server. */
static struct proof_row *row_of(struct proofs *proofs, const uint8_t *digest)
{
	return &proofs->rows[(digest[0] | digest[1] << 8) % PROOF_ROWS];
}

/* The same for the same token, and for many of them spread over `width_ms`. */
static uint64_t spread(const uint8_t *digest, uint64_t width_ms)
{
	uint32_t bits = (uint32_t)digest[2] | (uint32_t)digest[3] << 8 | (uint32_t)digest[4] << 16;
	return width_ms * bits >> 24;
}

static struct mono remember(struct proofs *proofs, const uint8_t *digest, struct mono due)
{
	struct proof_row *row = row_of(proofs, digest);
	memcpy(row->digest, digest, sizeof row->digest);
	row->due = due;
	return due;
}

static struct mono due_of(struct proofs *proofs, const uint8_t *digest, struct mono now)
{
	const struct proof_row *row = row_of(proofs, digest);
	if (hash_same(row->digest, digest))
		return row->due;
	return remember(proofs, digest, mono_add_ms(now, spread(digest, proofs->again_ms / 2)));
}

struct proof *proof_new(struct proofs *proofs, struct str token, const uint8_t digest[HASH_SHA256_LEN],
			struct wall expires, struct mono now)
{
	struct proof *proof = malloc(sizeof *proof + token.len);
	if (!proof)
		return NULL;
	*proof = (struct proof){ .owner = proofs,
				 .next = proofs->first,
				 .expires = expires,
				 .due = due_of(proofs, digest, now),
				 .len = token.len };
	memcpy(proof->digest, digest, sizeof proof->digest);
	memcpy(proof->token, token.ptr, token.len);
	if (proofs->first)
		proofs->first->prev = proof;
	proofs->first = proof;
	proofs->n++;
	return proof;
}

void proof_free(struct proof *proof)
{
	if (!proof)
		return;
	struct proofs *proofs = proof->owner;
	if (proofs->at == proof)
		proofs->at = proof->next;
	if (proof->next)
		proof->next->prev = proof->prev;
	if (proof->prev)
		proof->prev->next = proof->next;
	else
		proofs->first = proof->next;
	proofs->n--;
	explicit_bzero(proof->token, proof->len);
	free(proof);
}

struct proof *proofs_due(struct proofs *proofs, struct mono now)
{
	struct proof *proof = proofs->at ? proofs->at : proofs->first;
	for (size_t i = 0; i < proofs->n; i++) {
		proofs->at = proof->next ? proof->next : proofs->first;
		if (!proof->asked && !proof->refused && mono_ms_until(now, proof->due) == 0) {
			proof->asked = true;
			return proof;
		}
		proof = proofs->at;
	}
	return NULL;
}

size_t proofs_settle(struct proofs *proofs, const uint8_t digest[HASH_SHA256_LEN], enum proof_outcome outcome,
		     struct mono now)
{
	uint64_t wait = proofs->again_ms / 4 * 3 + spread(digest, proofs->again_ms / 2);
	size_t n = 0;
	if (outcome == PROOF_NOT_ASKED)
		wait = PROOF_RETRY_MS + spread(digest, PROOF_RETRY_MS);
	if (outcome == PROOF_REFUSED)
		wait = 0;
	struct mono due = remember(proofs, digest, mono_add_ms(now, wait));
	for (struct proof *proof = proofs->first; proof; proof = proof->next) {
		if (!hash_same(proof->digest, digest))
			continue;
		n += outcome == PROOF_REFUSED && !proof->refused;
		proof->refused = proof->refused || outcome == PROOF_REFUSED;
		proof->asked = false;
		proof->due = due;
	}
	return n;
}
