/* SPDX-License-Identifier: Apache-2.0 */
/* What a history is made of. Internal to history*.c. */
#ifndef LEDGER_HISTORYPARTS_H
#define LEDGER_HISTORYPARTS_H

#include "ledger/history.h"

enum {
	HISTORY_GAP_S = 300,    /* without a tick for so long, nobody knows what happened between */
	HISTORY_SPACING_S = 60, /* between two points: a full series then is two hours */
	HISTORY_CLOSE_SPACING_S = 10,
	HISTORY_FLASH_POINTS = 4,
	HISTORY_FIT_SOONEST_S = 10,
	HISTORY_MOVED_SHARE = 64, /* of the limit: the floor has moved by so much since the fit */
	HISTORY_DAY_S = 86400,
	HISTORY_WHOLE_S = 26 * 3600, /* a day and what it is compared with: loads have a daily cycle */
	HISTORY_SLOT_S = 5,
	HISTORY_SLOTS = 720, /* an hour: three intervals of checkpoints of 20 minutes */
	HISTORY_RECENT = 5,
	HISTORY_RATES = 16,
	/* How long what an event began goes on. */
	BOOT_S = 60, /* a JVM that starts: nothing in it is a pace */
	SETTLE_START_S = 900,
	SETTLE_RESTORE_S = 600,
	SETTLE_RESTART_S = 600,
	SETTLE_REBALANCE_S = 300,
	SETTLE_MOST_S = 3600, /* what never settles, a job that restarts all the time, is judged all the same */
	STEP_SETTLE_S =
		900, /* so much later the figure has settled after an event; the lowest from then on to the next one counts */
	STEP_MERGE_S = 120,      /* events closer than this are one: attempts of one restart */
	MASK_SCANS = 5,          /* so many scans must agree that another set of owners is read */
	MASK_SCANS_AT_START = 2, /* then one source after the other comes up */
};

/* One figure: the last quarter of an hour, the last two hours, a point a minute, and the last day, thinned. */
struct history_figure {
	struct trend_series close, brief, whole;
	struct mono pushed;
	/* What they said when they ended so: the whole one takes a point in many minutes, and none is fitted oftener. */
	struct trend fitted, fitted_brief;
	struct mono fitted_first, fitted_last, brief_last;
	bool is_young; /* only `close` has enough points */
};

/* One event, and what the native pool held before it and held when it had settled. */
struct history_step {
	struct mono at;
	uint64_t before, after;
	uint32_t scans; /* since */
	bool has_before, has_after;
};

struct history_events {
	struct history_step steps[STEP_EVENTS_MAX]; /* oldest first */
	size_t n;
	uint32_t count; /* all, the merged ones too */
	struct mono last;
};

/* A counter over the last minute. */
struct history_rate {
	struct mono at[HISTORY_RATES];
	uint64_t value[HISTORY_RATES];
	size_t n;
};

struct history {
	bool started;
	struct process_id process;
	struct limit limit, limit_before;
	struct mono limit_changed, window_start, last_tick;
	struct mono close_start; /* of the short windows: not later */
	bool limit_has_changed;

	struct history_figure owners[OWNER_COUNT], floor, pool, threads, metaspace, classes;
	uint64_t scans;
	bool books_known;
	uint64_t unread_mask,
		other_mask; /* of the owners whose bytes stand in native-other; and one that is on trial */
	unsigned other_mask_scans;
	int metaspace_source,
		classes_source; /* the better of several, once seen: they differ, and a change would be a step */

	uint64_t recent[HISTORY_RECENT]; /* native pool, newest last */
	size_t n_recent;
	struct history_events events[EVENT_KIND_COUNT];
	struct engine_context context;
	bool tasks_gone; /* the page has no tasks: when it has again, something started */

	struct mono settled_at,
		hold_since; /* growth is judged again from settled_at on; it has not been since hold_since */

	struct mono slot_at[HISTORY_SLOTS];
	uint64_t slot[HISTORY_SLOTS]; /* the highest floor of each */
	size_t n_slots, next_slot;

	struct history_rate refaults, hits, misses;
	struct count peak_other_bytes;

	bool fit_due, fit_now;  /* there are new points; or what was fitted is no longer true */
	bool brief_is_eventful; /* something started within the brief windows */
	struct mono fitted;
	uint64_t fitted_floor; /* the floor then */
	struct history_view view;
};

/* `s` seconds. */
static inline uint64_t history_ns(uint64_t s)
{
	return s * 1000000000;
}

/* Between two readings; 0 when `to` is not later. */
static inline uint64_t history_since_s(struct mono from, struct mono to)
{
	return to.ns > from.ns ? (to.ns - from.ns) / 1000000000 : 0;
}

/* The slot that was written `ago` slots before the last one. */
static inline size_t history_slot(const struct history *history, size_t ago)
{
	return (history->next_slot + 2 * HISTORY_SLOTS - 1 - ago) % HISTORY_SLOTS;
}

/* historytrend.c: what the figure does, by the window that tells most; `room` is what is left below the limit. */
void history_trend(const struct history *history, struct history_figure *figure, struct mono now, double room,
		   struct trend_space *space, struct trend *ret_trend);
/* The median of up to HISTORY_RECENT points that end with `last`. */
uint64_t history_level_at(const struct trend_series *series, size_t last);
/* What rises and falls with the load of the day is flat. */
void history_level_days(const struct trend_series *series, struct trend *trend);

/* historyfit.c: trends, spike, forecast and steps of the moment, into history->view. */
void history_fit(struct history *history, struct mono now, const struct snapshot *snapshot, const struct ledger *ledger,
		 struct trend_space *space);

/* historyforecast.c: into view->forecast, of the trends that view has. */
void history_forecast(struct history *history, struct mono now, const struct snapshot *snapshot,
		      const struct ledger *ledger);
/* How long growth is not yet judged. */
uint32_t history_settling_s(const struct history *history, struct mono now);

/* historyfit.c: what may warm up in native-other and is no leak; unread where nothing is set aside for it. */
struct qty history_soft_bound(const struct snapshot *snapshot, const struct ledger *ledger);

#endif
