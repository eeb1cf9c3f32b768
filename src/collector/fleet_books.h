/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The latest composition of a pod, and what it is compared with: budgets, bounds and claims, as told last of the same
 * process (bankfull/books.h). Compact: what is known alone, some 550 bytes a pod for the latter.
 */
#ifndef COLLECTOR_FLEET_BOOKS_H
#define COLLECTOR_FLEET_BOOKS_H

#include "bankfull/wire.h"
#include "sys/clock.h"

/* The latest composition: bytes of the known owners alone, in the order of enum owner. */
struct fleet_composition {
	struct wall taken; /* by the collector's clock */
	uint64_t known;    /* bit set of 1 << enum owner; 0: there is none */
	uint64_t states;   /* two bits an owner: enum qty_state */
	uint64_t *bytes;
	struct signed_qty residual_bytes;
	struct fleet_books *books; /* NULL: none */
};
struct qty fleet_owner(const struct fleet_composition *composition, enum owner owner);

/* Books are told every WIRE_BOOKS_MS. Past this they are of an agent that tells none any more. */
enum { FLEET_BOOKS_STALE_MS = 3 * WIRE_BOOKS_MS };

struct fleet_budget {
	const char *name;
	struct qty bytes;
	uint64_t owners; /* bit set of 1 << enum owner */
	bool used_known; /* none of its owners was unread */
};

struct fleet_books {
	struct wall taken; /* by the collector's clock */
	/* Bit sets of 1 << enum owner. `unread`: they are there and could not be read. */
	uint32_t bounded, unbounded, claimed, unread;
	struct qty legal_bytes;
	struct engine_facts engine;
	uint32_t n_budgets;
	struct fleet_budget budgets[]; /* behind them the bytes of `bounded`, then those of `claimed` */
};

/* The books of this composition; NULL: none, or too old. */
const struct fleet_books *fleet_books(const struct fleet_composition *composition);

struct limit fleet_bound(const struct fleet_books *books, enum owner owner);
struct qty fleet_claim(const struct fleet_books *books, enum owner owner);
/* The sum of its owners as they are now: of the composition, which may be newer than the books. */
struct qty fleet_budget_used(const struct fleet_composition *composition, const struct fleet_budget *budget);

#endif
