/* SPDX-License-Identifier: Apache-2.0 */
/* How one figure moves: which of its windows speaks. */
#include "ledger/historyparts.h"

enum {
	BRIEF_LEAST_S = 3600, /* a brief window shorter than this overrules no longer one */
	BRIEF_EVERY_S = 180,  /* two hours do not say another thing each minute */
	STANDS_NOISES = 4,    /* growth that should have shown in the brief window, in TREND_NOISE_BYTES */
};

/* The median of up to HISTORY_RECENT points that end with `last`. */
uint64_t history_level_at(const struct trend_series *series, size_t last)
{
	uint64_t figures[HISTORY_RECENT];
	size_t n = last + 1 < HISTORY_RECENT ? last + 1 : HISTORY_RECENT;
	for (size_t i = 0; i < n; i++)
		figures[i] = series->points[last + 1 - n + i].bytes;
	return trend_median(figures, n);
}

/* What rises and falls with the load of the day is where it was a day ago, however steep it is now. */
void history_level_days(const struct trend_series *series, struct trend *trend)
{
	if (trend->kind != TREND_GROWING || trend->span_ms < (uint64_t)HISTORY_DAY_S * 1000)
		return;
	size_t last = series->n - 1, before = last;
	while (before > 0 && series->points[last].at.ns - series->points[before].at.ns < history_ns(HISTORY_DAY_S))
		before--;
	double grown = (double)history_level_at(series, last) - (double)history_level_at(series, before);
	if (grown < trend->slope * HISTORY_DAY_S / 2)
		trend->kind = TREND_FLAT;
}

/* The same points give the same answer. */
static void fit_whole(struct history_figure *figure, struct trend_space *space, struct trend *ret_trend)
{
	const struct trend_series *whole = &figure->whole;
	struct mono first = whole->n ? whole->points[0].at : (struct mono){ 0 };
	struct mono last = whole->n ? whole->points[whole->n - 1].at : (struct mono){ 0 };
	if (!last.ns || first.ns != figure->fitted_first.ns || last.ns != figure->fitted_last.ns) {
		trend_fit(whole, space, &figure->fitted);
		history_level_days(whole, &figure->fitted);
		figure->fitted_first = first;
		figure->fitted_last = last;
	}
	*ret_trend = figure->fitted;
}

static bool grows(const struct trend *trend)
{
	return trend->kind == TREND_GROWING || trend->kind == TREND_DECELERATING;
}

/*
 * No slope of the points could fill `room` in HISTORY_REACH times their window: half of all pairs are 0.29 of it or more
 * apart, and one of them is as steep as the median, so the median is at most range / (0.29 x window).
 */
static bool is_far(const struct trend_series *series, struct mono since, double room)
{
	uint64_t low = UINT64_MAX, high = 0;
	for (size_t i = 0; i < series->n; i++) {
		uint64_t bytes = series->points[i].bytes;
		if (series->points[i].at.ns < since.ns)
			continue;
		low = bytes < low ? bytes : low;
		high = bytes > high ? bytes : high;
	}
	return low > high || (double)(high - low) / 0.29 * HISTORY_REACH <= room;
}

/* Growth that fills the room soon, as measured by its own window, and that is clearly steeper than what is known so far. */
static bool overrules(const struct trend *trend, double room, const struct trend *known)
{
	double seen_s = (double)trend->span_ms / 1000;
	return trend->kind == TREND_GROWING && room < trend->slope * seen_s * HISTORY_REACH &&
	       (known->kind != TREND_GROWING || trend->slope_low > known->slope_high);
}

/*
 * Most of what has grown since `since` is more than the two hours before held: memtables that fill again, a heap between
 * two collections and the load of each hour are where they were.
 */
static bool is_new(const struct history_figure *figure, struct mono since)
{
	const struct trend_series *close = &figure->close;
	size_t first = 0;
	while (first + 1 < close->n && close->points[first].at.ns < since.ns)
		first++;
	uint64_t last = close->points[close->n - 1].bytes, from = close->points[first].bytes, most = from;
	for (size_t i = 0; i < figure->brief.n && figure->brief.points[i].at.ns < since.ns; i++)
		most = figure->brief.points[i].bytes > most ? figure->brief.points[i].bytes : most;
	return last > most && last - most >= (last - from) / 2;
}

/*
 * What is faster than the two hours show. A checkpoint's peak and a savepoint's do not last a quarter of an hour, and in
 * the minute and a half all points must rise; what a bound ends, the forecast knows.
 */
static void fit_close(const struct history_figure *figure, struct mono now, double room, bool flash_alone,
		      struct trend_space *space, struct trend *ret_trend)
{
	static const struct {
		uint64_t s;
		size_t least;
	} windows[] = { { HISTORY_CLOSE_S, TREND_POINTS_MIN }, { HISTORY_FLASH_S, HISTORY_FLASH_POINTS } };
	for (size_t i = flash_alone; i < sizeof windows / sizeof windows[0]; i++) {
		uint64_t ns = history_ns(windows[i].s);
		struct mono since = { now.ns > ns ? now.ns - ns : 0 };
		struct trend trend;
		if (is_far(&figure->close, since, room))
			continue;
		trend_fit_since(&figure->close, since, windows[i].least, space, &trend);
		if (overrules(&trend, room, ret_trend) && trend_is_steady(&trend) && is_new(figure, since))
			*ret_trend = trend;
	}
}

/*
 * The last two hours overrule the day where they tell something else: growth that began and would end soon, growth that
 * goes on steadily after a warm-up, growth that has ended. Not where something started in them: what is filled again
 * after a restart is no trend.
 */
static void fit_brief(const struct history *history, struct history_figure *figure, double room,
		      struct trend_space *space, struct trend *ret_trend)
{
	const struct trend_series *series = &figure->brief;
	if (history->brief_is_eventful || (!grows(ret_trend) && is_far(series, (struct mono){ 0 }, room)))
		return;
	if (series->n && series->points[series->n - 1].at.ns >= figure->brief_last.ns + history_ns(BRIEF_EVERY_S)) {
		trend_fit(series, space, &figure->fitted_brief);
		figure->brief_last = series->points[series->n - 1].at;
	}
	struct trend brief = figure->fitted_brief;
	if (brief.kind == TREND_TOO_FEW || brief.span_ms < BRIEF_LEAST_S * 1000 || brief.span_ms >= ret_trend->span_ms)
		return;
	double seen_s = (double)brief.span_ms / 1000;
	if (overrules(&brief, room, ret_trend) && trend_is_steady(&brief)) {
		*ret_trend = brief;
		return;
	}
	bool stands = brief.kind == TREND_FLAT || brief.kind == TREND_SHRINKING;
	if (stands && ret_trend->kind == TREND_DECELERATING)
		*ret_trend = brief;
	else if (stands && ret_trend->kind == TREND_GROWING &&
		 ret_trend->slope * seen_s >= (double)STANDS_NOISES * TREND_NOISE_BYTES)
		ret_trend->kind = TREND_DECELERATING;
}

/*
 * Before the long windows have points enough the short one is all there is.
 */
static void fit_young(const struct history_figure *figure, struct mono now, double room, struct trend_space *space,
		      struct trend *ret_trend)
{
	struct mono since = { now.ns > history_ns(HISTORY_CLOSE_S) ? now.ns - history_ns(HISTORY_CLOSE_S) : 0 };
	if (is_far(&figure->close, since, room))
		return;
	trend_fit_since(&figure->close, since, HISTORY_FLASH_POINTS, space, ret_trend);
}

void history_trend(const struct history *history, struct history_figure *figure, struct mono now, double room,
		   struct trend_space *space, struct trend *ret_trend)
{
	fit_whole(figure, space, ret_trend);
	figure->is_young = ret_trend->kind == TREND_TOO_FEW;
	if (figure->is_young)
		fit_young(figure, now, room, space, ret_trend);
	/* Within an hour one step, of a collection or a restart, looks like growth. It is in one of the halves. */
	if (ret_trend->kind == TREND_GROWING && ret_trend->span_ms < BRIEF_LEAST_S * 1000 &&
	    !trend_is_steady(ret_trend))
		ret_trend->kind = TREND_DECELERATING;
	fit_brief(history, figure, room, space, ret_trend);
	/* A cache that warms up within its plan may be as fast as a leak of an hour, but not as one of minutes. */
	bool in_plan = history->view.native_may_warm && qty_known(history->view.native_soft_bound_bytes);
	fit_close(figure, now, room, in_plan && figure == &history->owners[OWNER_NATIVE_OTHER], space, ret_trend);
}
