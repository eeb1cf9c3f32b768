/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COLLECTOR_LAST_WORD_H
#define COLLECTOR_LAST_WORD_H

#include "bankfull/wire.h"

/* Of a sample, what a post-mortem is inferred from. 10,000 sessions keep one: a whole sample is three times as large. */
struct last_word {
	struct wire_head head;
	bool urgent, has_composition;
	int pid;
	uint64_t start_ticks;
	int grows; /* owner of the forecast; -1: none */
	struct limit limit;
	struct qty charge_bytes, floor_bytes;
	struct signed_qty freeboard_bytes, residual_bytes;
	struct cgroup_events events;
	struct qty owners[OWNER_COUNT];
};

#endif
