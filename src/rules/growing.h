/* SPDX-License-Identifier: Apache-2.0 */
/* What the rules of growth have in common: when they hold fire, and how pace and time are written. Internal to src/rules. */
#ifndef RULES_GROWING_H
#define RULES_GROWING_H

#include "base/sat.h"
#include "rules/judged.h"

/*
 * True where it is too early to judge growth, and `finding` says why: something settles (start, restart, restore,
 * rebalance), or the window is shorter than `window`, a threshold in minutes (THRESHOLD_COUNT: none is asked for). Never where
 * the forecast names `owner` already: who must act has no time to wait.
 */
bool growing_waits(const struct rule_input *input, enum threshold window, int owner, struct finding *finding);

/* The forecast names `owner`, and it is near: the rule that has the remedy is then as urgent as limit-forecast. */
bool growing_is_urgent(const struct rule_input *input, int owner);

/*
 * The pace falls, by a fifth from the first half of the window to the second, and what it would fill is further away
 * than the window is long: it may end by itself before. A leak's pace stays, and what is near is told all the same.
 */
bool growing_may_end(const struct trend *trend, uint64_t left_s);

/* Says in `finding` how many more minutes of samples are wanted: of `least_s`, or, past that, of a few scans. */
void growing_missing(const struct rule_input *input, uint64_t least_s, struct finding *finding);

/* What the slope adds in that time; 0 where it falls. */
uint64_t growing_over(double slope, double seconds);

/* What the trend adds over its window. */
uint64_t growing_grown(const struct trend *trend);

/* How long until `room` is used up at this slope, in seconds; FORECAST_NEVER where it does not grow. */
uint64_t growing_left_s(uint64_t room, double slope);

/* The room below the limit, less the peaks of the floor; false where it is not known. */
bool growing_room(const struct rule_input *input, uint64_t *ret_room);

/*
 * Whether what was watched for `span_ms` tells of `left_s` from now: no further than `reach` (a threshold) times that,
 * until it is a whole day. False says in `finding` how much more is wanted.
 */
bool growing_reaches(const struct rule_input *input, enum threshold reach, uint64_t span_ms, uint64_t left_s,
		     struct finding *finding);

enum { GROWING_TEXT_CAP = 40 };

/* "45 s", "20 min", "5 h 20 min", "3 d 4 h". Returns dest. */
const char *growing_time(char dest[GROWING_TEXT_CAP], uint64_t seconds);

/* The same for a title, which must not change with every minute: "45 s", "20 min", "5 h", "3 d". Returns dest. */
const char *growing_about(char dest[GROWING_TEXT_CAP], uint64_t seconds);

/* To six bits or so, for titles: "12.5 MiB an hour", or a day where that is little. Returns dest. */
const char *growing_pace(char dest[GROWING_TEXT_CAP], double slope);

#endif
