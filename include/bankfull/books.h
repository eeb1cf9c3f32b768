/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets, bounds and claims as they travel beside a composition. */
#ifndef BANKFULL_BOOKS_H
#define BANKFULL_BOOKS_H

#include "bankfull/engine.h"
#include "bankfull/ledger.h"

/* One budget of the configuration, against what its owners hold: struct ledger_budget. */
struct wire_budget {
	char name[24];
	struct qty bytes, used_bytes; /* used: the sum of its owners; unread where one of them is */
	uint64_t owners;              /* bit set of 1 << enum owner */
};

/* What says whether a budget is too large, and which of its parts is: settings, and what the engine's own metrics say. */
struct engine_facts {
	enum state_backend backend;
	enum tristate batch, python;       /* as struct engine_state has them */
	struct qty managed_reserved_bytes; /* Flink's Managed.Used: 0 where nobody takes managed memory */
	/* The parts of the direct budget that the process was started with; the pool is the network's as its metrics count it. */
	struct qty network_bytes, framework_off_heap_bytes, task_off_heap_bytes, network_pool_bytes;
	struct count streams_instances; /* of RocksDB, in a process of Kafka Streams */
};
struct engine_facts engine_facts(const struct engine_state *engine);

/*
 * What a composition is compared with, of the same scan. Most of it seldom changes and it is twice as long as the owners:
 * it stands in the first composition of a session and of a process, in one where its shape is another, and again after
 * WIRE_BOOKS_MS. What is said once alone would be missing for ever where that sample was dropped from a full spool.
 */
enum { WIRE_BOOKS_MS = 300000 };

struct wire_books {
	struct limit bounds[OWNER_COUNT]; /* what each can grow to; LIMIT_NONE: nothing bounds it */
	struct qty claims[OWNER_COUNT];   /* what engine or JVM says of it */
	uint64_t unread;                  /* bit set of owners that are there and could not be read */
	struct qty legal_bytes;           /* legal demand: what the configuration allows */
	struct wire_budget budgets[LEDGER_BUDGETS_MAX];
	size_t n_budgets;
	struct engine_facts engine; /* an older agent tells none: unread */
};

#endif
