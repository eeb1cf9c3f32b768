/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one target has done over time: PURE, no allocation, the caller owns it and gives every clock reading.
 *
 * Series are fed at each tick (floor, charge, threads, refaults) and at each smaps scan (owners); windows are cut at JVM
 * start, limit change and gaps. history_look() makes of them what rules and samples want: trends, forecast, steps.
 */
#ifndef LEDGER_HISTORY_H
#define LEDGER_HISTORY_H

#include "bankfull/context.h"
#include "bankfull/ledger.h"
#include "bankfull/snapshot.h"
#include "ledger/forecast.h"

struct history; /* src/ledger/history.c: sizeof by history_size(), so that the owner allocates once */
size_t history_size(void);

/* Nothing known yet. */
void history_start(struct history *history);

/* One tick of the target of `snapshot`. Notices by itself another process, another limit, a gap in time. */
void history_tick(struct history *history, struct mono now, const struct snapshot *snapshot,
		  const struct ledger *ledger, const struct engine_context *context);
/* The ledger was closed at this tick: after history_tick(). */
void history_scan(struct history *history, struct mono now, const struct snapshot *snapshot,
		  const struct ledger *ledger);

enum history_event {
	EVENT_JVM_START = 0,
	EVENT_RESTART,
	EVENT_REBALANCE,
	EVENT_CHECKPOINT,
	EVENT_LIMIT,
	EVENT_KIND_COUNT
};

/* What history says now: what a report has not. rule_input.history; NULL in a report. */
struct history_view {
	uint64_t span_ms; /* of the present window */
	struct trend owners[OWNER_COUNT];
	struct trend floor, native_pool, threads, metaspace, classes;
	struct forecast forecast;
	uint64_t spike_bytes;                 /* p99 - median of the floor */
	struct steps steps[EVENT_KIND_COUNT]; /* of the native pool */
	struct limit limit_before;            /* with limit_changed_s_ago */
	struct count limit_changed_s_ago;
	struct count refaults_per_s, cache_miss_bp; /* over the last minute */
	struct count peak_other_bytes; /* highest resident of what expected demand calls "everything else" */
	struct engine_context context; /* the latest */
	uint32_t settling_s; /* > 0: a restore, rebalance or start was less than this ago: rules of growth hold fire */
};
void history_look(struct history *history, struct mono now, const struct snapshot *snapshot,
		  const struct ledger *ledger, struct trend_space *space, struct history_view *ret_view);

#endif
