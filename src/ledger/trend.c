/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/trend.h"

#include <math.h>

#define STEADY_LEAST 0.4 /* of the whole window's slope, in either half */

/* Pairs grow with the square of points, and what they tell does not. */
enum { FIT_POINTS = 64 };

/* Points that are near are so large a part of all apart; of fewer there are no near ones. */
enum { NEAR_PART = 4, NEAR_POINTS = 16 };

void trend_clear(struct trend_series *series)
{
	series->n = 0;
	series->stride = 1;
	series->offered = 0;
}

/* Keeps the first and every second after it: the oldest point stays where it was. */
static void thin(struct trend_series *series)
{
	size_t kept = 0;
	for (size_t i = 0; i < series->n; i += 2)
		series->points[kept++] = series->points[i];
	series->n = kept;
	series->stride *= 2;
	series->offered = 0;
}

void trend_push(struct trend_series *series, struct mono at, uint64_t bytes)
{
	if (series->n && at.ns <= series->points[series->n - 1].at.ns)
		return;
	if (series->stride == 0)
		series->stride = 1;
	if (series->offered++ % series->stride != 0)
		return;
	if (series->n == TREND_POINTS)
		thin(series);
	series->points[series->n++] = (struct trend_point){ at, bytes };
}

static void drop_first(struct trend_series *series, size_t n)
{
	series->n -= n;
	for (size_t i = 0; i < series->n; i++)
		series->points[i] = series->points[i + n];
}

void trend_slide(struct trend_series *series, struct mono at, uint64_t bytes)
{
	if (series->n && at.ns <= series->points[series->n - 1].at.ns)
		return;
	if (series->n == TREND_POINTS)
		drop_first(series, 1);
	series->points[series->n++] = (struct trend_point){ at, bytes };
}

void trend_forget(struct trend_series *series, struct mono before)
{
	size_t old = 0;
	while (old < series->n && series->points[old].at.ns < before.ns)
		old++;
	if (old)
		drop_first(series, old);
}

uint64_t trend_median(uint64_t *figures, size_t n)
{
	/* By insertion: a fifth of a series at most, and qsort() may allocate. */
	for (size_t i = 1; i < n; i++) {
		uint64_t figure = figures[i];
		size_t at = i;
		for (; at > 0 && figures[at - 1] > figure; at--)
			figures[at] = figures[at - 1];
		figures[at] = figure;
	}
	return figures[(n - 1) / 2];
}

static uint64_t median_of(const struct trend_point *points, size_t n)
{
	uint64_t figures[TREND_POINTS];
	for (size_t i = 0; i < n; i++)
		figures[i] = points[i].bytes;
	return trend_median(figures, n);
}

/* Hoare's selection within [first, last]: what is before rank k is then not larger, what is after it not smaller. */
static double select_in(double *figures, size_t first, size_t last, size_t k)
{
	while (first < last) {
		double pivot = figures[first + (last - first) / 2];
		size_t i = first, j = last;
		for (;;) {
			while (figures[i] < pivot)
				i++;
			while (figures[j] > pivot)
				j--;
			if (i >= j)
				break;
			double aside = figures[i];
			figures[i++] = figures[j];
			figures[j--] = aside;
		}
		/* Now [first, j] <= pivot <= [j + 1, last]. */
		if (k <= j)
			last = j;
		else
			first = j + 1;
	}
	return figures[k];
}

double trend_select(double *figures, size_t n, size_t k)
{
	return select_in(figures, 0, n - 1, k);
}

/* Of points no more than `reach` apart. */
static size_t pair_slopes(const struct trend_point *points, size_t n, size_t reach, struct trend_space *space)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n && j <= i + reach; j++) {
			double seconds = (double)(points[j].at.ns - points[i].at.ns) / 1e9;
			space->slopes[count++] = ((double)points[j].bytes - (double)points[i].bytes) / seconds;
		}
	return count;
}

/* Leaves the slopes parted at their middle rank. */
static double median_slope_within(const struct trend_point *points, size_t n, size_t reach, struct trend_space *space)
{
	size_t count = pair_slopes(points, n, reach, space);
	double upper = trend_select(space->slopes, count, count / 2);
	return count % 2 ? upper : (select_in(space->slopes, 0, count / 2 - 1, count / 2 - 1) + upper) / 2;
}

static double median_slope(const struct trend_point *points, size_t n, struct trend_space *space)
{
	return median_slope_within(points, n, n, space);
}

/*
 * Sen's range: Kendall's S has variance n(n-1)(2n+5)/18; 1.645 of its deviations leave a twentieth on either side. After
 * median_slope() of the same points: the low rank lies before the middle, the high one after it.
 */
static void slope_range(size_t n, size_t count, struct trend_space *space, struct trend *trend)
{
	double deviation = sqrt((double)n * (double)(n - 1) * (double)(2 * n + 5) / 18), half = 1.645 * deviation;
	double low = ((double)count - half) / 2, high = ((double)count + half) / 2;
	size_t first = low < 0 ? 0 : (size_t)low, last = high >= (double)count ? count - 1 : (size_t)high;
	trend->slope_low = select_in(space->slopes, 0, count / 2, first);
	trend->slope_high = select_in(space->slopes, count / 2, count - 1, last);
}

/* Growth that is worth its name. */
static bool is_worth(const struct trend *trend, double slope, double noise)
{
	double moved = fabs(slope) * (double)trend->span_ms / 1000;
	return moved >= noise && moved >= (double)trend->last_bytes / 100;
}

/* Between the lowest and the highest point. */
static double range_of(const struct trend_point *points, size_t n)
{
	uint64_t low = points[0].bytes, high = low;
	for (size_t i = 1; i < n; i++) {
		low = points[i].bytes < low ? points[i].bytes : low;
		high = points[i].bytes > high ? points[i].bytes : high;
	}
	return (double)(high - low);
}

/* Only what grows is asked whether its pace falls: two more medians. */
static enum trend_kind growing_kind(const struct trend_point *points, size_t n, struct trend_space *space,
				    struct trend *trend)
{
	trend->early = median_slope(points, n / 2, space);
	trend->late = median_slope(points + n / 2, n - n / 2, space);
	return trend->early > 0 && trend->late < trend->early / 2 ? TREND_DECELERATING : TREND_GROWING;
}

/*
 * One step amid the points (a collection, arenas, huge pages) is in half of all pairs, and makes of them a pace that nobody
 * has; it is in a seventh of those that are a quarter of the points apart or nearer. Where these say less, it is they who
 * tell the pace, unless growth is made of steps: then between two of them there is none.
 */
static void discount_step(const struct trend_point *points, size_t n, struct trend_space *space, struct trend *trend)
{
	double near = median_slope_within(points, n, n / NEAR_PART, space);
	if (near >= trend->slope || near < trend->slope * STEADY_LEAST)
		return;
	trend->slope = near;
	trend->slope_low = near < trend->slope_low ? near : trend->slope_low;
}

/* Of many points every second one: a quarter of the pairs, and the last point stays the last. */
static size_t reduce(const struct trend_point *all, size_t n_all, struct trend_point points[TREND_POINTS])
{
	size_t step = n_all > FIT_POINTS ? 2 : 1, n = (n_all + step - 1) / step;
	for (size_t i = 0; i < n; i++)
		points[n - 1 - i] = all[n_all - 1 - i * step];
	return n;
}

static void fit_slopes(const struct trend_point *all, size_t n_all, double noise, struct trend_space *space,
		       struct trend *trend)
{
	struct trend_point points[TREND_POINTS];
	size_t n = reduce(all, n_all, points);
	trend->slope = median_slope(points, n, space);
	slope_range(n, n * (n - 1) / 2, space, trend);
	if (!is_worth(trend, trend->slope, noise))
		trend->kind = TREND_FLAT;
	else if (trend->slope_high < 0)
		trend->kind = TREND_SHRINKING;
	else if (trend->slope_low <= 0)
		trend->kind = TREND_FLAT;
	else
		trend->kind = growing_kind(points, n, space, trend);
	if (trend->kind == TREND_GROWING && n >= NEAR_POINTS)
		discount_step(points, n, space, trend);
}

static void fit(const struct trend_point *points, size_t n, size_t least, double noise, struct trend_space *space,
		struct trend *ret_trend)
{
	size_t fifth = n < 5 ? 1 : n / 5;
	*ret_trend = (struct trend){ .kind = TREND_TOO_FEW };
	if (n < least)
		return;
	ret_trend->first_bytes = median_of(points, fifth);
	ret_trend->last_bytes = median_of(points + n - fifth, fifth);
	ret_trend->span_ms = (points[n - 1].at.ns - points[0].at.ns) / 1000000;
	/* What never left the noise needs no pairs: most owners of most pods. */
	if (range_of(points, n) < noise)
		ret_trend->kind = TREND_FLAT;
	else
		fit_slopes(points, n, noise, space, ret_trend);
}

void trend_fit_above(const struct trend_series *series, uint64_t noise, struct trend_space *space,
		     struct trend *ret_trend)
{
	fit(series->points, series->n, TREND_POINTS_MIN, (double)noise, space, ret_trend);
}

void trend_fit_since(const struct trend_series *series, struct mono since, size_t least, struct trend_space *space,
		     struct trend *ret_trend)
{
	size_t first = 0;
	while (first < series->n && series->points[first].at.ns < since.ns)
		first++;
	fit(series->points + first, series->n - first, least < 4 ? 4 : least, TREND_NOISE_BYTES, space, ret_trend);
}

void trend_fit(const struct trend_series *series, struct trend_space *space, struct trend *ret_trend)
{
	trend_fit_above(series, TREND_NOISE_BYTES, space, ret_trend);
}

bool trend_is_steady(const struct trend *trend)
{
	double least = trend->early < trend->late ? trend->early : trend->late;
	return least >= trend->slope * STEADY_LEAST;
}
