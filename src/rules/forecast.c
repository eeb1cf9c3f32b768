/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit-forecast: when the limit is reached if everything goes on as it does (DESIGN 3.4, ledger/forecast.h). A pace that
 * falls, growth that ends at a bound below the limit, and a window that is too short to say are told apart: only what
 * goes on is a finding.
 */
#include <stdio.h>

#include "rules/all.h"
#include "rules/growing.h"
#include "rules/room.h"
#include "rules/text.h"

enum { HOUR_S = 3600, DAY_S = 86400 };

static enum severity severity_of(const struct rule_input *input, uint64_t left_s)
{
	if (left_s < sat_mul(judged_level(input, T_LIMIT_FORECAST_CRITICAL), HOUR_S))
		return SEVERITY_CRITICAL;
	if (left_s < sat_mul(judged_level(input, T_LIMIT_FORECAST_WARNING), HOUR_S))
		return SEVERITY_WARNING;
	return left_s < sat_mul(judged_level(input, T_LIMIT_FORECAST_NOTICE), HOUR_S) ? SEVERITY_NOTICE : SEVERITY_NONE;
}

static void observe(const struct rule_input *input, const struct judged_limit *limit, struct finding *finding)
{
	const struct forecast *forecast = &input->history->forecast;
	uint64_t spike = input->history->spike_bytes;
	char a[GROWING_TEXT_CAP], b[GROWING_TEXT_CAP], c[GROWING_TEXT_CAP], size[UNITS_TEXT_CAP];
	const char *who = forecast->owner >= 0 ? owner_table[forecast->owner].name : "what it holds";
	finding_title(finding, "the limit of %s is reached in about %s if %s goes on growing",
		      units_format(size, limit->bytes), growing_about(a, forecast->likely_s), who);
	finding_observation(finding, "At the pace of the last %s, the floor passes %s in %s;",
			    growing_time(b, forecast->trend.span_ms / 1000), limit->name,
			    growing_time(a, forecast->likely_s));
	if (forecast->latest_s == FORECAST_NEVER)
		finding_observation(finding,
				    "at the earliest in %s, and at the gentlest pace that fits not within a month.",
				    growing_time(b, forecast->earliest_s));
	else
		finding_observation(finding, "by the spread of the slopes between %s and %s.",
				    growing_time(b, forecast->earliest_s), growing_time(c, forecast->latest_s));
	finding_observation(finding, "Most of it is %s: %s more until then.", who,
			    units_format(size, forecast->owner_bytes));
	if (spike >= TREND_NOISE_BYTES)
		finding_observation(finding, "Peaks of %s above the usual floor (checkpoints) are counted in.",
				    units_format(size, spike));
	finding_bytes(finding, "limit_bytes", limit->bytes);
	if (qty_known(input->ledger->floor_bytes))
		finding_bytes(finding, "floor_bytes", input->ledger->floor_bytes.bytes);
	finding_bytes(finding, "earliest_s", forecast->earliest_s);
	finding_bytes(finding, "likely_s", forecast->likely_s);
	finding_bytes(finding, "latest_s", forecast->latest_s); /* never: left out */
	finding_bytes(finding, "grown_until_then_bytes", forecast->owner_bytes);
	finding_bytes(finding, "spike_bytes", spike);
	finding_bytes(finding, "window_s", forecast->trend.span_ms / 1000);
}

/* A day more at this pace, and no more than a quarter of the limit: what grows without end is not cured by room. */
static void buy_time(const struct rule_input *input, const struct judged_limit *limit, struct finding *finding)
{
	uint64_t room = 0, left = input->history->forecast.likely_s;
	(void)growing_room(input, &room);
	uint64_t day = left ? sat_mul(room / left, DAY_S) : limit->bytes / 4;
	uint64_t more = day < limit->bytes / 4 ? day : limit->bytes / 4;
	room_raise_limit(input, limit, finding, sat_add(limit->bytes, more));
}

/*
 * What grows has a bound that fits below the limit: a heap, a block cache, or native memory that may be a cache which
 * nobody reads. It fills as a leak does, and ends.
 */
static bool is_planned(const struct rule_input *input, int owner)
{
	const struct ledger *ledger = input->ledger;
	if (owner < 0 || ledger->freeboard_bytes.bytes < 0)
		return false;
	const struct ledger_line *line = &ledger->lines[owner];
	const struct qty *soft = &input->history->native_soft_bound_bytes;
	uint64_t held = line->bytes.bytes, room = (uint64_t)ledger->freeboard_bytes.bytes;
	if (owner == OWNER_NATIVE_OTHER)
		return input->history->native_may_warm && (!qty_known(*soft) || sat_sub(soft->bytes, held) <= room);
	if (owner == OWNER_ROCKSDB_BLOCK_CACHE) /* the bound is that of the three lines together */
		held = ledger_rocksdb_bytes(ledger);
	/* A budget that is passed by more than fragments take bounds nothing: iterators pin what is past it. */
	return line->bound.kind == LIMIT_SET && held <= sat_add(line->bound.bytes, line->bound.bytes / 16) &&
	       sat_sub(line->bound.bytes, held) <= room;
}

/* It is watched for twice as long as it would have to go on; native memory that fills the room in minutes is no cache. */
static bool may_end_in_plan(const struct rule_input *input, const struct trend *trend, uint64_t left_s)
{
	uint64_t span_s = trend->span_ms / 1000;
	bool is_cache = input->history->forecast.owner == OWNER_NATIVE_OTHER;
	uint64_t hasty_s = !is_cache                                            ? 0
			   : qty_known(input->history->native_soft_bound_bytes) ? HISTORY_FLASH_S
										: HISTORY_CLOSE_S;
	return span_s > hasty_s && left_s > span_s / 2;
}

/* The short windows have looked four times as far ahead as they are long, for growth that is steady and new (history.h). */
static bool reaches(const struct rule_input *input, const struct trend *trend, uint64_t left_s, struct finding *finding)
{
	uint64_t span_s = trend->span_ms / 1000;
	return (span_s <= HISTORY_CLOSE_S && left_s <= HISTORY_REACH * span_s) ||
	       growing_reaches(input, T_LIMIT_FORECAST_REACH, trend->span_ms, left_s, finding);
}

enum rule_answer rule_limit_forecast(const struct rule_input *input, struct finding *finding)
{
	struct judged_limit limit;
	if (!input->history)
		return RULE_SILENT;
	const struct forecast *forecast = &input->history->forecast;
	if (!judged_freeboard(input, &limit))
		judged_missing(finding);
	else if (!input->ledger->freeboard_bytes.known)
		finding_missing(finding, "freeboard: the floor, or its distance to the limit, is unread");
	if (finding->n_missing)
		return RULE_INCONCLUSIVE;
	if (forecast->kind == FORECAST_INCONCLUSIVE) {
		if (!growing_waits(input, THRESHOLD_COUNT, -1, finding))
			growing_missing(input, 0, finding);
		return RULE_INCONCLUSIVE;
	}
	enum severity severity =
		forecast->kind == FORECAST_REACHES ? severity_of(input, forecast->likely_s) : SEVERITY_NONE;
	if (!severity)
		return RULE_SILENT;
	const struct trend *trend = &forecast->trend;
	if (growing_may_end(trend, forecast->likely_s))
		return RULE_SILENT;
	if (is_planned(input, forecast->owner) && may_end_in_plan(input, trend, forecast->likely_s))
		return RULE_SILENT;
	if (!reaches(input, trend, forecast->likely_s, finding))
		return RULE_INCONCLUSIVE;
	finding->severity = severity;
	finding->owner = forecast->owner;
	finding->excess_bytes = forecast->owner_bytes;
	observe(input, &limit, finding);
	finding_cause(finding, "a leak: it goes on while the load is low, and falls at no restart of the job");
	finding_cause(
		finding,
		"more load or state than before: then records, or the size of checkpoints, rise with it, and more room is the remedy");
	finding_cause(
		finding,
		"a warm-up that no metric bounds: then the pace falls from hour to hour, and this finding clears");
	finding_setting_bytes(finding, limit.setting, limit.bytes, limit.where);
	buy_time(input, &limit, finding);
	finding_validate(finding, "steady: the time left does not fall from day to day, or this finding has cleared");
	finding_validate(
		finding,
		"failure: after a restart of the job the floor is back where it was a day before, within 5 %%");
	return RULE_FIRED;
}
