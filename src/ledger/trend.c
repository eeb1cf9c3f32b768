/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/trend.h"

#include <math.h>

const char *const trend_kind_names[TREND_KIND_COUNT] = { "too-few", "flat", "growing", "decelerating", "shrinking" };

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

/* The slope of rank `k` of all; what is before it is not larger, what is after it not smaller (Hoare's selection). */
static double select_slope(double *slopes, size_t n, size_t k)
{
	size_t first = 0, last = n - 1;
	while (first < last) {
		double pivot = slopes[first + (last - first) / 2];
		size_t i = first, j = last;
		for (;;) {
			while (slopes[i] < pivot)
				i++;
			while (slopes[j] > pivot)
				j--;
			if (i >= j)
				break;
			double aside = slopes[i];
			slopes[i++] = slopes[j];
			slopes[j--] = aside;
		}
		/* Now [first, j] <= pivot <= [j + 1, last]. */
		if (k <= j)
			last = j;
		else
			first = j + 1;
	}
	return slopes[k];
}

static size_t pair_slopes(const struct trend_point *points, size_t n, struct trend_space *space)
{
	size_t count = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++) {
			double seconds = (double)(points[j].at.ns - points[i].at.ns) / 1e9;
			space->slopes[count++] = ((double)points[j].bytes - (double)points[i].bytes) / seconds;
		}
	return count;
}

static double median_slope(const struct trend_point *points, size_t n, struct trend_space *space)
{
	size_t count = pair_slopes(points, n, space);
	double upper = select_slope(space->slopes, count, count / 2);
	return count % 2 ? upper : (select_slope(space->slopes, count, count / 2 - 1) + upper) / 2;
}

/* Sen's range: Kendall's S has variance n(n-1)(2n+5)/18; 1.645 of its deviations leave a twentieth on either side. */
static void slope_range(size_t n, size_t count, struct trend_space *space, struct trend *trend)
{
	double deviation = sqrt((double)n * (double)(n - 1) * (double)(2 * n + 5) / 18), half = 1.645 * deviation;
	double low = ((double)count - half) / 2, high = ((double)count + half) / 2;
	trend->slope_low = select_slope(space->slopes, count, low < 0 ? 0 : (size_t)low);
	trend->slope_high = select_slope(space->slopes, count, high >= (double)count ? count - 1 : (size_t)high);
}

/* Growth that is worth its name. */
static bool is_worth(const struct trend *trend, double slope)
{
	double moved = fabs(slope) * (double)trend->span_ms / 1000;
	return moved >= TREND_NOISE_BYTES && moved >= (double)trend->last_bytes / 100;
}

void trend_fit(const struct trend_series *series, struct trend_space *space, struct trend *ret_trend)
{
	const struct trend_point *points = series->points;
	size_t n = series->n;
	*ret_trend = (struct trend){ .kind = TREND_TOO_FEW };
	if (n < TREND_POINTS_MIN)
		return;
	double early = median_slope(points, n / 2, space), late = median_slope(points + n / 2, n - n / 2, space);
	ret_trend->slope = median_slope(points, n, space);
	slope_range(n, n * (n - 1) / 2, space, ret_trend);
	ret_trend->first_bytes = median_of(points, n / 5);
	ret_trend->last_bytes = median_of(points + n - n / 5, n / 5);
	ret_trend->span_ms = (points[n - 1].at.ns - points[0].at.ns) / 1000000;
	if (!is_worth(ret_trend, ret_trend->slope))
		ret_trend->kind = TREND_FLAT;
	else if (ret_trend->slope_high < 0)
		ret_trend->kind = TREND_SHRINKING;
	else if (ret_trend->slope_low <= 0)
		ret_trend->kind = TREND_FLAT;
	else
		ret_trend->kind = early > 0 && late < early / 2 ? TREND_DECELERATING : TREND_GROWING;
}
