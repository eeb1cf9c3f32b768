/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/forecast.h"

#include <math.h>

/* Of the slope: how far the true one may be off at least, either way. */
#define FORECAST_SPREAD 0.1

/* Where the limit is reached already: who grows most in this time. */
enum { NAMED_S = 60 };

const char *const forecast_kind_names[FORECAST_KIND_COUNT] = { "inconclusive", "not-growing", "decelerating",
							       "reaches" };

enum pace { PACE_GENTLE, PACE_LIKELY, PACE_STEEP };

static double slope_of(const struct forecast_part *part, enum pace pace)
{
	if (part->trend.kind == TREND_TOO_FEW || part->trend.kind == TREND_FLAT)
		return 0;
	/*
	 * Errors of neighbouring samples are not independent, so Sen's range is too narrow: none is narrower than
	 * FORECAST_SPREAD. A pace that falls may have come to nothing already.
	 */
	double slope = part->trend.slope, spread = fabs(slope) * FORECAST_SPREAD;
	if (pace == PACE_LIKELY)
		return slope;
	double high = slope + spread, low = slope - spread;
	if (pace == PACE_STEEP)
		return part->trend.slope_high > high ? part->trend.slope_high : high;
	if (part->trend.kind == TREND_DECELERATING)
		return 0;
	return part->trend.slope_low < low ? part->trend.slope_low : low;
}

/* What the part holds after `t` seconds. What is past its bound already stays where it is. */
static double part_at(const struct forecast_part *part, enum pace pace, double t)
{
	double now = (double)part->now_bytes, then = now + slope_of(part, pace) * t;
	double most = part->bound.kind == LIMIT_SET ? (double)part->bound.bytes : then;
	if (most < now)
		most = now;
	return then < 0 ? 0 : then > most ? most : then;
}

static double sum_at(const struct forecast_part *parts, size_t n, enum pace pace, double t, double spike)
{
	double sum = spike;
	for (size_t i = 0; i < n; i++)
		sum += part_at(&parts[i], pace, t);
	return sum;
}

/*
 * The first second at which the sum passes the limit. The sum is piecewise linear and, where something shrinks, not
 * monotone: so it is looked at on a grid that widens with the time, and the step that passes is halved.
 */
static uint64_t solve(const struct forecast_part *parts, size_t n, enum pace pace, double spike, double limit)
{
	double before = 0, step = 1;
	if (sum_at(parts, n, pace, 0, spike) >= limit)
		return 0;
	if (n == 0)
		return FORECAST_NEVER;
	while (before < FORECAST_HORIZON_S) {
		double t = before + step;
		if (sum_at(parts, n, pace, t, spike) < limit) {
			before = t;
			step = t / 64 < 1 ? 1 : t / 64;
			continue;
		}
		while (t - before > 0.5) {
			double middle = (before + t) / 2;
			if (sum_at(parts, n, pace, middle, spike) < limit)
				before = middle;
			else
				t = middle;
		}
		return t > FORECAST_HORIZON_S ? FORECAST_NEVER : (uint64_t)(t + 0.5);
	}
	return FORECAST_NEVER;
}

/* Most owners stand still: they are summed once, not at each second that is looked at. */
static size_t part_moving(const struct forecast_part *parts, size_t n, struct forecast_part *moving, double *rest)
{
	size_t n_moving = 0;
	for (size_t i = 0; i < n; i++) {
		if (parts[i].trend.kind == TREND_FLAT || n_moving == FORECAST_PARTS_MAX)
			*rest += (double)parts[i].now_bytes;
		else
			moving[n_moving++] = parts[i];
	}
	return n_moving;
}

static void name_owner(const struct forecast_part *parts, size_t n, struct forecast *forecast)
{
	double until = forecast->likely_s == FORECAST_NEVER ? FORECAST_HORIZON_S : (double)forecast->likely_s, most = 0;
	until = until < NAMED_S ? NAMED_S : until;
	for (size_t i = 0; i < n; i++) {
		double grown = part_at(&parts[i], PACE_LIKELY, until) - (double)parts[i].now_bytes;
		if (grown <= most)
			continue;
		most = grown;
		forecast->owner = parts[i].owner;
		forecast->owner_bytes = grown < 1e19 ? (uint64_t)grown : UINT64_MAX;
		forecast->trend = parts[i].trend;
	}
}

void forecast_run(const struct forecast_part *parts, size_t n, uint64_t spike_bytes, uint64_t limit_bytes,
		  struct forecast *ret_forecast)
{
	double spike = (double)spike_bytes, limit = (double)limit_bytes;
	*ret_forecast = (struct forecast){
		.earliest_s = FORECAST_NEVER, .likely_s = FORECAST_NEVER, .latest_s = FORECAST_NEVER, .owner = -1
	};
	for (size_t i = 0; i < n; i++)
		if (parts[i].trend.kind == TREND_TOO_FEW)
			return;
	struct forecast_part moving[FORECAST_PARTS_MAX] = { 0 };
	double rest = spike;
	size_t n_moving = part_moving(parts, n, moving, &rest);
	/* Where it stands now is not known to the last byte either. */
	ret_forecast->earliest_s = solve(moving, n_moving, PACE_STEEP, rest, limit - TREND_NOISE_BYTES);
	ret_forecast->likely_s = solve(moving, n_moving, PACE_LIKELY, rest, limit);
	ret_forecast->latest_s = solve(moving, n_moving, PACE_GENTLE, rest, limit + TREND_NOISE_BYTES);
	name_owner(parts, n, ret_forecast);
	if (!ret_forecast->owner_bytes) /* a peak may reach it; that is no pace */
		ret_forecast->earliest_s = ret_forecast->likely_s = ret_forecast->latest_s = FORECAST_NEVER;
	if (ret_forecast->likely_s == FORECAST_NEVER)
		ret_forecast->kind = FORECAST_NOT_GROWING;
	else if (ret_forecast->trend.kind == TREND_DECELERATING)
		ret_forecast->kind = FORECAST_DECELERATING;
	else
		ret_forecast->kind = FORECAST_REACHES;
}

void steps_judge(const int64_t *heights, size_t n, uint64_t room_bytes, struct steps *ret_steps)
{
	uint64_t ups[STEP_EVENTS_MAX];
	size_t up = 0, first = n > STEP_EVENTS_MAX ? n - STEP_EVENTS_MAX : 0;
	*ret_steps = (struct steps){ .n = n - first };
	for (size_t i = first; i < n; i++)
		if (heights[i] > TREND_NOISE_BYTES)
			ups[up++] = (uint64_t)heights[i];
	if (up == 0)
		return;
	ret_steps->height_bytes = trend_median(ups, up); /* in order now */
	ret_steps->alike = up >= 3 && up == ret_steps->n && ups[0] >= ret_steps->height_bytes / 2 &&
			   ups[up - 1] <= ret_steps->height_bytes + ret_steps->height_bytes / 2;
	ret_steps->left = room_bytes / ret_steps->height_bytes;
}
