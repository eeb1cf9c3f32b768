/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/growing.h"

#include <stdio.h>

#include "rules/text.h"

enum { MINUTE_S = 60, HOUR_S = 3600, DAY_S = 86400, FEW_POINTS_S = (TREND_POINTS_MIN + 1) * 60 };

void growing_missing(const struct rule_input *input, uint64_t least_s, struct finding *finding)
{
	uint64_t seen_s = input->history->span_ms / 1000;
	char seen[GROWING_TEXT_CAP], more[GROWING_TEXT_CAP];
	uint64_t wanted = least_s > seen_s ? least_s - seen_s : FEW_POINTS_S;
	finding_missing(finding, "%s more of samples: %s of one process under one limit have been seen, in %llu scans",
			growing_time(more, (wanted + MINUTE_S - 1) / MINUTE_S * MINUTE_S), growing_time(seen, seen_s),
			(unsigned long long)input->history->scans);
}

static bool is_foretold(const struct history_view *history, int owner)
{
	return owner >= 0 && history->forecast.kind == FORECAST_REACHES && history->forecast.owner == owner;
}

bool growing_is_urgent(const struct rule_input *input, int owner)
{
	return input->history && is_foretold(input->history, owner) &&
	       input->history->forecast.likely_s < sat_mul(judged_level(input, T_LIMIT_FORECAST_WARNING), HOUR_S);
}

bool growing_waits(const struct rule_input *input, enum threshold window, int owner, struct finding *finding)
{
	if (is_foretold(input->history, owner))
		return false;
	uint64_t least_s = window == THRESHOLD_COUNT ? 0 : sat_mul(judged_level(input, window), MINUTE_S);
	char left[GROWING_TEXT_CAP];
	if (input->history->settling_s)
		finding_missing(
			finding,
			"a settled state: a start, restart, restore or rebalance goes on or was just now; judged again in %s",
			growing_time(left, input->history->settling_s));
	else if (input->history->span_ms / 1000 < least_s)
		growing_missing(input, least_s, finding);
	return finding->n_missing > 0;
}

bool growing_reaches(const struct rule_input *input, enum threshold reach, uint64_t span_ms, uint64_t left_s,
		     struct finding *finding)
{
	uint64_t times = judged_level(input, reach), span_s = span_ms / 1000;
	if (span_s >= DAY_S || left_s <= sat_mul(span_s, times))
		return true;
	uint64_t wanted = times && left_s / times < DAY_S ? left_s / times + 1 : DAY_S;
	growing_missing(input, wanted, finding);
	return false;
}

bool growing_may_end(const struct trend *trend, uint64_t left_s)
{
	return trend->kind == TREND_GROWING && trend->late < trend->early * 4 / 5 && left_s > trend->span_ms / 1000;
}

uint64_t growing_over(double slope, double seconds)
{
	double grown = slope * seconds;
	return grown <= 0 ? 0 : grown >= 9e18 ? INT64_MAX : (uint64_t)(grown + 0.5);
}

uint64_t growing_grown(const struct trend *trend)
{
	return growing_over(trend->slope, (double)trend->span_ms / 1000);
}

uint64_t growing_left_s(uint64_t room, double slope)
{
	double left = slope > 0 ? (double)room / slope : 1e300;
	return left >= 1e15 ? FORECAST_NEVER : (uint64_t)(left + 0.5);
}

bool growing_room(const struct rule_input *input, uint64_t *ret_room)
{
	const struct signed_qty *freeboard = &input->ledger->freeboard_bytes;
	uint64_t spike = input->history->spike_bytes;
	if (!freeboard->known)
		return false;
	uint64_t room = freeboard->bytes < 0 ? 0 : (uint64_t)freeboard->bytes;
	*ret_room = room > spike ? room - spike : 0;
	return true;
}

const char *growing_time(char dest[GROWING_TEXT_CAP], uint64_t seconds)
{
	unsigned long long s = seconds;
	if (s < 2ull * MINUTE_S)
		(void)snprintf(dest, GROWING_TEXT_CAP, "%llu s", s);
	else if (s < 2ull * HOUR_S)
		(void)snprintf(dest, GROWING_TEXT_CAP, "%llu min", s / MINUTE_S);
	else if (s < 2ull * DAY_S)
		(void)snprintf(dest, GROWING_TEXT_CAP, "%llu h %llu min", s / HOUR_S, s % HOUR_S / MINUTE_S);
	else
		(void)snprintf(dest, GROWING_TEXT_CAP, "%llu d %llu h", s / DAY_S, s % DAY_S / HOUR_S);
	return dest;
}

const char *growing_about(char dest[GROWING_TEXT_CAP], uint64_t seconds)
{
	unsigned long long s = seconds;
	if (s < 2ull * MINUTE_S)
		(void)snprintf(dest, GROWING_TEXT_CAP, "%llu s", s / 10 * 10);
	else if (s < 2ull * HOUR_S)
		(void)snprintf(dest, GROWING_TEXT_CAP, "%llu min", s < 10ull * MINUTE_S ? s / MINUTE_S : s / 300 * 5);
	else if (s < 2ull * DAY_S)
		(void)snprintf(dest, GROWING_TEXT_CAP, "%llu h", s / HOUR_S);
	else
		(void)snprintf(dest, GROWING_TEXT_CAP, "%llu d", s / DAY_S);
	return dest;
}

const char *growing_pace(char dest[GROWING_TEXT_CAP], double slope)
{
	char size[UNITS_TEXT_CAP];
	bool slow = slope * HOUR_S < 1 << 20;
	uint64_t bytes = growing_over(slope, slow ? DAY_S : HOUR_S), unit = 1;
	while (bytes / unit >= 64)
		unit *= 2;
	bytes = (bytes + unit / 2) / unit * unit;
	(void)snprintf(dest, GROWING_TEXT_CAP, "%s %s", units_format(size, bytes), slow ? "a day" : "an hour");
	return dest;
}
