/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What watches a simulated pod: the agent's own steps in its own order and cadence (src/agent/agent_tick.c), without its
 * readers and its wire; and what people alert by today, on the same figures.
 */
#ifndef REPLAY_WATCHER_H
#define REPLAY_WATCHER_H

#include <stdio.h>

#include "agent/budget.h"
#include "agent/sample.h"
#include "ledger/aged.h"
#include "replay/pod.h"
#include "rules/standing.h"

/* What people alert by: a level, or Prometheus' predict_linear over an hour, four hours ahead. */
enum peer { PEER_FLOOR_85, PEER_WORKING_SET_90, PEER_PREDICT_LINEAR, PEER_COUNT };
extern const char *const peer_names[PEER_COUNT];

struct alarm {
	bool on;
	double since_s;
	double first_s; /* the first that was raised at or after the leak began; 0: none */
	unsigned raised;
};

enum { PEER_POINTS = 120, FORECASTS_MAX = 1024 };

struct watcher {
	struct snapshot *snapshot;
	struct ledger *ledger;
	struct aged_mark *mark;
	struct history *history;
	struct trend_space *space;
	struct history_view view;
	struct verdict *verdict;
	struct standings standings;
	struct thresholds thresholds;
	struct urgency urgency;
	struct budget budget;
	bool scanned;
	double scanned_s, attach_s, scrape_s;
	uint64_t floor_at_scan, start_ticks;

	struct alarm peers[PEER_COUNT];
	double working_set[PEER_POINTS];
	size_t n_points, next_point;
	double peer_s;

	/* what came of it */
	unsigned warnings, by_rule[FINDINGS_MAX];
	double named_s,
		group_s;   /* when the leaking owner, or its group, was first named at warning or above; 0: never */
	double peak_floor; /* share of the limit */
	/* likely_s, every watcher_every_s() from the leak's begin on; -1: none */
	double forecasts[FORECASTS_MAX];
	size_t n_forecasts;
	FILE *trace; /* each edge, or NULL */
};

void watcher_begin(struct watcher *watcher, const struct pod *pod);
/* One tick; how many seconds to the next. */
double watcher_tick(struct watcher *watcher, const struct pod *pod);
/* How often a forecast is noted: a hundredth of what a leak of this speed takes from empty to full. */
double watcher_every_s(const struct leak *leak);
void watcher_end(struct watcher *watcher);

#endif
