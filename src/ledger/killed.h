/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose bytes went with a kill that the watched process survived: PURE. memory.events counts a victim and does not name
 * it; the owner that fell most between the scans before and after it lived in what was killed.
 */
#ifndef LEDGER_KILLED_H
#define LEDGER_KILLED_H

#include "bankfull/cgroup.h"
#include "bankfull/ledger.h"

/* All zero: nothing was seen. One process's life. */
struct killed {
	struct count oom_kill; /* as last seen */
	bool scanned, due;     /* `before` is set; a kill was seen since */
	struct qty before[OWNER_COUNT];
	bool known; /* of the last kill after which an owner had fallen: */
	enum owner owner;
	uint64_t fell_bytes;
};

/* At each tick, when the books are closed; `scanned`: they were closed by a scan. */
void killed_step(struct killed *killed, const struct cgroup_events *events, const struct ledger *ledger, bool scanned);

#endif
