/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How one figure moves: PURE, no allocation; the caller owns series and work space.
 *
 * The slope is the median of the slopes of all pairs of points (Theil 1950, Sen 1968): a third of the points may be
 * spikes without moving it. Its range is Sen's: the order statistics that hold the true slope in nine of ten windows
 * of independent errors. Errors of neighbouring samples are not independent, so growth must also be worth its name:
 * more over the window than TREND_NOISE_BYTES and than 1 % of what is there.
 */
#ifndef LEDGER_TREND_H
#define LEDGER_TREND_H

#include <stddef.h>

#include "bankfull/quantity.h"

enum {
	TREND_POINTS = 120, /* 7,140 pairs: 0.2 ms */
	TREND_POINTS_MIN = 8,
	TREND_NOISE_BYTES = 4 << 20,
};

struct trend_point {
	struct mono at;
	uint64_t bytes;
};

/*
 * The points of one figure, oldest first. A full series forgets every second point, so it keeps its length in time and
 * halves what it knows of each hour; from then on it takes every second point that is offered, and so on.
 */
struct trend_series {
	struct trend_point points[TREND_POINTS];
	size_t n;
	uint32_t stride, offered; /* of `stride` offered points one is kept */
};

void trend_clear(struct trend_series *series);

/* Points must come in the order of time; one that does not is dropped. */
void trend_push(struct trend_series *series, struct mono at, uint64_t bytes);

/* The same for a window that slides: a full series forgets its oldest point, and keeps the distance of the others. */
void trend_slide(struct trend_series *series, struct mono at, uint64_t bytes);

/* Forgets what is older than `before`. */
void trend_forget(struct trend_series *series, struct mono before);

enum trend_kind {
	TREND_TOO_FEW = 0, /* of points */
	TREND_FLAT,
	TREND_GROWING,
	TREND_DECELERATING, /* growing, but the second half of the window at under half the pace of the first */
	TREND_SHRINKING,
	TREND_KIND_COUNT
};

struct trend {
	enum trend_kind kind;
	double slope, slope_low, slope_high; /* bytes a second */
	uint64_t first_bytes, last_bytes;    /* medians of the first and the last fifth of the window */
	uint64_t span_ms;
	double early, late; /* slopes of the window's halves, where it grows */
};

/* It grows in both halves of its window: a step, or a ramp that has ended, is in one of them. */
bool trend_is_steady(const struct trend *trend);

struct trend_space {
	double slopes[TREND_POINTS * (TREND_POINTS - 1) / 2];
};

void trend_fit(const struct trend_series *series, struct trend_space *space, struct trend *ret_trend);

/* The same for the points at or after `since`; with fewer than `least` (4 or more) of them TREND_TOO_FEW. */
void trend_fit_since(const struct trend_series *series, struct mono since, size_t least, struct trend_space *space,
		     struct trend *ret_trend);

/* The same for figures that are no bytes: what moves by less than `noise` over the window is flat. */
void trend_fit_above(const struct trend_series *series, uint64_t noise, struct trend_space *space,
		     struct trend *ret_trend);

/* The figure of rank `k` (0: the smallest) of `n`, which it puts into another order. */
double trend_select(double *figures, size_t n, size_t k);

/* Median of `n` figures (n > 0), which it sorts, smallest first. Of an even number the lower one. */
uint64_t trend_median(uint64_t *figures, size_t n);

#endif
