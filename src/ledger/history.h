/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one target has done over time: PURE, no allocation, the caller owns it and gives every clock reading.
 *
 * Floor, threads and counters are fed at each tick, owners at each smaps scan; windows are cut at JVM start and gaps. The
 * long ones begin when a start has settled, and anew when the limit changes; the short ones begin a minute after the
 * process, and go on below another limit. history_look() makes of them what rules and samples want:
 * trends, forecast, steps. It fits once a minute, when there are new points, and keeps the answer until then.
 */
#ifndef LEDGER_HISTORY_H
#define LEDGER_HISTORY_H

#include "bankfull/context.h"
#include "bankfull/ledger.h"
#include "bankfull/snapshot.h"
#include "ledger/forecast.h"

enum {
	HISTORY_CLOSE_S = 900, /* what grows so fast that the limit is an hour away shows in a quarter of one */
	HISTORY_FLASH_S = 90, /* and what fills the room in minutes shows in four scans: what moves is scanned sooner */
	HISTORY_REACH = 4, /* times the length of a short window: what it says of later is the whole window's to say */
};

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
	uint64_t scans;   /* in it: rules say how many more they want */
	struct trend owners[OWNER_COUNT];
	struct trend floor, native_pool, threads, metaspace, classes; /* of threads and classes: counts, not bytes */
	struct forecast forecast;
	uint64_t spike_bytes;               /* p99 - median of the floor, less its trend */
	struct qty native_soft_bound_bytes; /* of native-other: what may warm up in it and is no leak */
	/*
	 * native-other may be a cache that warms up and nobody reads: RocksDB's, within what is set aside for it, or
	 * without anything that bounds it. Its growth then is no leak while it can end by itself.
	 */
	bool native_may_warm;
	struct steps steps[EVENT_KIND_COUNT];      /* of the native pool */
	uint32_t steps_share_bp[EVENT_KIND_COUNT]; /* of the pool's growth since the first of them */
	uint32_t events[EVENT_KIND_COUNT];         /* in the window */
	struct limit limit_before;                 /* with limit_changed_s_ago */
	struct count limit_changed_s_ago;
	struct count refaults_per_s, cache_miss_bp; /* over the last minute */
	struct count peak_other_bytes; /* highest resident of what expected demand calls "everything else" */
	struct engine_context context; /* the latest */
	uint32_t settling_s; /* how long rules of growth still hold fire after a start, restart, restore or rebalance */
};
void history_look(struct history *history, struct mono now, const struct snapshot *snapshot,
		  const struct ledger *ledger, struct trend_space *space, struct history_view *ret_view);

#endif
