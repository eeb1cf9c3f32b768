/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the limit is reached: PURE.
 *
 *     F(t) = sum over owners of min(bound, now + slope x t) + spike,    solved for F(t) = limit
 *
 * A bounded owner saturates, so a managed cache that warms up is no leak. The answer is a range: with the steepest
 * slopes the data allows, with the likely ones, with the gentlest.
 */
#ifndef LEDGER_FORECAST_H
#define LEDGER_FORECAST_H

#include "ledger/trend.h"

enum { FORECAST_PARTS_MAX = 40 };

struct forecast_part {
	int owner; /* enum owner, or whatever the caller calls it */
	uint64_t now_bytes;
	struct limit bound; /* LIMIT_SET: it cannot grow past it */
	struct trend trend;
};

enum forecast_kind {
	FORECAST_INCONCLUSIVE = 0, /* too few samples */
	FORECAST_NOT_GROWING,      /* nothing grows, or all that does saturates below the limit */
	FORECAST_DECELERATING,     /* at the likely pace the limit would be reached, but the pace is falling */
	FORECAST_REACHES,
	FORECAST_KIND_COUNT
};
extern const char *const forecast_kind_names[FORECAST_KIND_COUNT];

struct forecast {
	enum forecast_kind kind;
	/* Seconds until the limit; FORECAST_NEVER where it is not reached within the horizon. */
	uint64_t earliest_s, likely_s, latest_s;
	int owner;            /* who grows most until then, or -1 */
	uint64_t owner_bytes; /* by how much */
	struct trend trend;   /* how it grows, where anything does */
};

/* A month: what grows slower than that is judged by who plans capacity. */
enum { FORECAST_HORIZON_S = 30 * 86400 };
#define FORECAST_NEVER UINT64_MAX

void forecast_run(const struct forecast_part *parts, size_t n, uint64_t spike_bytes, uint64_t limit_bytes,
		  struct forecast *ret_forecast);

/*
 * Growth per event (a job start, a restart, a rebalance): how much more there is after each event than before it, as
 * the history measures it. A leak of one cache a restart shows no slope; it shows steps of like height.
 */
enum { STEP_EVENTS_MAX = 32 };

struct steps {
	size_t n;              /* events that were measured on both sides */
	uint64_t height_bytes; /* median height of those that went up */
	bool alike;            /* at least three, all up, and within half the median of it */
	uint64_t left;         /* how many more of them until `room_bytes` is used up */
};

/* Of more than STEP_EVENTS_MAX heights the last ones count. */
void steps_judge(const int64_t *heights, size_t n, uint64_t room_bytes, struct steps *ret_steps);

#endif
