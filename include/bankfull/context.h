/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine was doing when a sample was taken: rules hold fire by it, post-mortems print it. */
#ifndef BANKFULL_CONTEXT_H
#define BANKFULL_CONTEXT_H

#include "bankfull/quantity.h"

/* From the metrics page that is fetched anyway: what the engine was doing. Unread where the page has it not. */
struct engine_context {
	char job_state[24]; /* "running", "restarting", ...; "" */
	enum tristate checkpointing, restoring, rebalancing;
	/* the highest of all tasks, in basis points of time */
	struct count backpressured_bp, busy_bp;
	struct count records_lag_max, restarts;
};

#endif
