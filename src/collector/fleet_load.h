/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet as the store remembers it: agents heard of within FLEET_FORGET_MS, their last point, their open findings, when they last died. */
#ifndef COLLECTOR_FLEET_LOAD_H
#define COLLECTOR_FLEET_LOAD_H

#include "collector/fleet.h"
#include "collector/store_read.h"

int fleet_load(struct fleet *fleet, struct store *store, struct wall now, struct err *err)
	__attribute__((warn_unused_result));

/*
 * The last hour of one pod that was read back, for its line: some milliseconds, so only of what somebody looks at. What cannot be
 * read is a gap.
 */
void fleet_load_spark(struct fleet *fleet, struct store *store, int64_t agent, struct wall now);

#endif
