/* SPDX-License-Identifier: Apache-2.0 */
/* From what is kept to what it means: trends, spike, forecast, steps. */
#include <string.h>

#include "base/sat.h"
#include "ledger/historyparts.h"
#include "ledger/parts.h"
#include "ledger/reconcile.h"

enum {
	THREADS_NOISE = 16,
	CLASSES_NOISE = 200,
	SPIKE_SLOTS_LEAST = 60, /* five minutes */
	SPIKE_PART_SLOTS = 120, /* ten */
	SPIKE_AFTER_SLOTS = 13, /* one */
	LOOKUPS_LEAST = 1000,   /* of a cache in a minute: fewer are no ratio */
	RATE_SPAN_LEAST_S = 20,
};

static uint64_t slots_level(const struct history *history, size_t ago, size_t n)
{
	uint64_t figures[SPIKE_PART_SLOTS / 5];
	for (size_t i = 0; i < n; i++)
		figures[i] = history->slot[history_slot(history, ago + i)];
	return trend_median(figures, n);
}

/* What the `n` slots that end `back` slots ago rise by in a second, from their first fifth to their last. */
static double slots_slope(const struct history *history, size_t back, size_t n)
{
	size_t fifth = n / 5;
	double grown =
		(double)slots_level(history, back, fifth) - (double)slots_level(history, back + n - fifth, fifth);
	double ns = (double)(history->slot_at[history_slot(history, back + fifth / 2)].ns -
			     history->slot_at[history_slot(history, back + n - 1 - fifth / 2)].ns);
	return ns > 0 ? grown / ns * 1e9 : 0;
}

/* What the slot held, with `slope` added until the last one: growth taken out. */
static double slot_level(const struct history *history, size_t ago, double slope)
{
	size_t at = history_slot(history, ago);
	struct mono last = history->slot_at[history_slot(history, 0)];
	return (double)history->slot[at] + slope * ((double)(last.ns - history->slot_at[at].ns) / 1e9);
}

/* Median of the `n` slots from `back` on; leaves their levels in `space`. */
static double slots_usual(const struct history *history, size_t back, size_t n, double slope, struct trend_space *space)
{
	for (size_t i = 0; i < n; i++)
		space->slopes[i] = slot_level(history, back + i, slope);
	return trend_select(space->slopes, n, n / 2);
}

/* The highest of them: how many slots ago. */
static size_t slots_peak(const struct history *history, size_t back, size_t n, double slope)
{
	size_t peak = back;
	for (size_t i = 1; i < n; i++)
		if (slot_level(history, back + i, slope) > slot_level(history, peak, slope))
			peak = back + i;
	return peak;
}

struct spike {
	uint64_t bytes;
	size_t peak; /* slots ago */
};

/*
 * How far the p99 of `n` slots that end `back` slots ago stands above what is usual in them, and above what came right
 * after: a level that stays, a heap that grew or arenas, is no peak. Less what `slope` adds from one slot to the next.
 */
static struct spike spike_in(const struct history *history, size_t back, size_t n, double slope,
			     struct trend_space *space)
{
	size_t after = back > SPIKE_AFTER_SLOTS ? back - SPIKE_AFTER_SLOTS : 0;
	double then = slots_usual(history, after, SPIKE_AFTER_SLOTS, slope, space);
	double usual = slots_usual(history, back, n, slope, space);
	double high = trend_select(space->slopes, n, n * 99 / 100);
	usual = usual > then ? usual : then;
	return (struct spike){ high > usual ? (uint64_t)(high - usual) : 0, slots_peak(history, back, n, slope) };
}

/* The two highest; of one peak, which the end of a part may cut in two, the higher half. */
static void note_spike(const struct spike *spike, struct spike *first, uint64_t *second)
{
	bool same = spike->peak < first->peak + SPIKE_SLOTS_LEAST; /* parts come in the order of their age */
	uint64_t lower = spike->bytes < first->bytes ? spike->bytes : first->bytes;
	if (!same && lower > *second)
		*second = lower;
	if (spike->bytes > first->bytes)
		*first = *spike;
}

/*
 * How far the floor's peaks stand above what is usual, with its growth taken out: growth is no spike. By parts of the last
 * hour, of which the second highest counts: a peak that comes again is in two of them, a restart or a savepoint, which
 * moves the level for good or was there once, in one. A trend that was seen for less than a part tells nothing of
 * them: then each part's own line is taken out, and one part alone cannot tell a peak from where growth began.
 */
static uint64_t spike_of(const struct history *history, const struct trend *floor, struct trend_space *space)
{
	_Static_assert((int)SPIKE_PART_SLOTS <= TREND_POINTS * (TREND_POINTS - 1) / 2, "room for a slot each");
	bool moves =
		floor->kind == TREND_GROWING || floor->kind == TREND_SHRINKING || floor->kind == TREND_DECELERATING;
	size_t span = floor->span_ms / 1000 / HISTORY_SLOT_S, parts = 0;
	bool brief = moves && span < SPIKE_PART_SLOTS;
	size_t until = moves && !brief && span < history->n_slots ? span : history->n_slots;
	struct spike first = { 0 };
	uint64_t second = 0;
	for (size_t back = 0; back + SPIKE_SLOTS_LEAST <= until; back += SPIKE_PART_SLOTS, parts++) {
		size_t n = until - back < SPIKE_PART_SLOTS ? until - back : SPIKE_PART_SLOTS;
		double slope = brief ? slots_slope(history, back, n) : moves ? floor->slope : 0;
		struct spike spike = spike_in(history, back, n, slope, space);
		note_spike(&spike, &first, &second);
	}
	return parts > 1 || brief ? second : first.bytes;
}

/* What Flink sets aside for native memory and nobody has taken. */
static uint64_t flink_bound(const struct snapshot *snapshot, const struct ledger *ledger)
{
	static const enum owner of_overhead[] = { OWNER_CODE_CACHE,  OWNER_JVM_CDS,   OWNER_THREAD_STACKS,
						  OWNER_GC,          OWNER_JVM_OTHER, OWNER_ALLOCATOR_RETAINED,
						  OWNER_LIBRARY_DATA };
	const struct flink_budget *flink = &snapshot->engine.flink;
	uint64_t bound = qty_or(flink->overhead_bytes, 0);
	for (size_t i = 0; i < sizeof of_overhead / sizeof of_overhead[0]; i++)
		bound = sat_sub(bound, ledger_bytes(ledger, of_overhead[i]));
	uint64_t task = qty_or(flink->task_off_heap_bytes, 0), direct = qty_or(flink->direct_bytes, 0);
	uint64_t left = sat_sub(direct, ledger_bytes(ledger, OWNER_DIRECT_BUFFERS));
	if (ledger_is_unread(ledger, OWNER_DIRECT_BUFFERS))
		bound = sat_add(bound, direct);
	else
		bound = sat_add(bound, task < left ? task : left);
	if (ledger_is_unread(ledger, OWNER_METASPACE))
		bound = sat_add(bound, qty_or(flink->metaspace_bytes, 0));
	uint64_t taken = sat_add(ledger_rocksdb_bytes(ledger), ledger_bytes(ledger, OWNER_MANAGED_UNSAFE));
	/* RocksDB outside of managed memory fills none of it: what grows there has no plan. */
	bool pays = store_managed_pays(&snapshot->engine) || snapshot->engine.batch == TRISTATE_TRUE ||
		    snapshot->engine.python == TRISTATE_TRUE;
	return sat_add(bound, pays ? sat_sub(qty_or(flink->managed_bytes, 0), taken) : 0);
}

/* Whether managed memory may stand in native-other: RocksDB without metrics, Python, batch, or nobody knows. */
static bool may_hold_managed(const struct snapshot *snapshot, const struct ledger *ledger)
{
	const struct engine_state *engine = &snapshot->engine;
	bool no_store = !ledger->listed[OWNER_ROCKSDB_BLOCK_CACHE];
	return recon_rocksdb_is_unread(snapshot, ledger) || engine->python == TRISTATE_TRUE ||
	       (!snapshot->nmt_read &&
		(engine->batch == TRISTATE_TRUE || (engine->backend == BACKEND_UNKNOWN && no_store)));
}

struct qty history_soft_bound(const struct snapshot *snapshot, const struct ledger *ledger)
{
	const struct engine_state *engine = &snapshot->engine;
	if (engine->kind == ENGINE_FLINK_TASKMANAGER && qty_known(engine->flink.managed_bytes) &&
	    (may_hold_managed(snapshot, ledger) || ledger_is_unread(ledger, OWNER_DIRECT_BUFFERS)))
		return qty_of(flink_bound(snapshot, ledger), QTY_INFERRED);
	if (engine->kind == ENGINE_KAFKA_STREAMS && recon_rocksdb_is_unread(snapshot, ledger))
		return engine->streams.native_bound_bytes;
	return (struct qty){ 0 };
}

static void fit_steps(struct history *history, const struct ledger *ledger)
{
	uint64_t room = ledger->freeboard_bytes.known && ledger->freeboard_bytes.bytes > 0
				? (uint64_t)ledger->freeboard_bytes.bytes
				: 0;
	for (int kind = 0; kind < EVENT_KIND_COUNT; kind++) {
		const struct history_events *events = &history->events[kind];
		int64_t heights[STEP_EVENTS_MAX], sum = 0;
		uint64_t first = 0;
		size_t n = 0;
		for (size_t i = 0; i < events->n; i++) {
			const struct history_step *step = &events->steps[i];
			if (!step->has_before || !step->has_after)
				continue;
			first = n ? first : step->before;
			heights[n] = (int64_t)(step->after - step->before);
			sum += heights[n++];
		}
		steps_judge(heights, n, room, &history->view.steps[kind]);
		uint64_t now = history->n_recent ? history->recent[history->n_recent - 1] : 0;
		uint64_t grown = sat_sub(now, first), share = 0;
		/* Right after an event, a cache that was closed is not there: then they are more than all growth. */
		if (n && sum > 0)
			share = grown > (uint64_t)sum ? sat_mul((uint64_t)sum, 10000) / grown : 10000;
		history->view.steps_share_bp[kind] = (uint32_t)share;
	}
}

/* Something started, moved or was restored within the brief window. */
static bool is_eventful(const struct history *history, struct mono now)
{
	static const enum history_event kinds[] = { EVENT_RESTART, EVENT_REBALANCE };
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		const struct history_events *events = &history->events[kinds[i]];
		if (events->count && history_since_s(events->last, now) < TREND_POINTS * HISTORY_SPACING_S)
			return true;
	}
	return false;
}

/* Past its soft bound it is no warm-up; arenas and fragments of a full cache are a sixteenth more. */
static bool may_warm(const struct ledger *ledger, const struct snapshot *snapshot, const struct qty *soft)
{
	uint64_t bytes = ledger_bytes(ledger, OWNER_NATIVE_OTHER);
	if (qty_known(*soft))
		return bytes < sat_add(soft->bytes, soft->bytes / 16);
	return recon_rocksdb_is_unread(snapshot, ledger);
}

/* What speaks for an owner that grows fast is asked as soon as the owner is. */
static void fit_count(const struct history_figure *figure, uint64_t noise, struct trend_space *space,
		      struct trend *ret_trend)
{
	trend_fit_above(&figure->whole, noise, space, ret_trend);
	history_level_days(&figure->whole, ret_trend);
	if (ret_trend->kind == TREND_TOO_FEW)
		trend_fit_above(&figure->close, noise, space, ret_trend);
}

void history_fit(struct history *history, struct mono now, const struct snapshot *snapshot, const struct ledger *ledger,
		 struct trend_space *space)
{
	struct history_view *view = &history->view;
	double room = ledger->freeboard_bytes.known ? (double)ledger->freeboard_bytes.bytes : 1e300;
	history->brief_is_eventful = is_eventful(history, now);
	view->native_soft_bound_bytes = history_soft_bound(snapshot, ledger);
	view->native_may_warm = may_warm(ledger, snapshot, &view->native_soft_bound_bytes);
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		history_trend(history, &history->owners[owner], now, room, space, &view->owners[owner]);
	history_trend(history, &history->floor, now, room, space, &view->floor);
	history_trend(history, &history->pool, now, room, space, &view->native_pool);
	fit_count(&history->threads, THREADS_NOISE, space, &view->threads);
	fit_count(&history->metaspace, TREND_NOISE_BYTES, space, &view->metaspace);
	fit_count(&history->classes, CLASSES_NOISE, space, &view->classes);
	view->spike_bytes = spike_of(history, &view->floor, space);
	fit_steps(history, ledger);
	history_forecast(history, now, snapshot, ledger);
	history->fitted = now;
	history->fitted_floor = qty_or(ledger->floor_bytes, 0);
	history->fit_due = history->fit_now = false;
}

/* A second; unknown over less than RATE_SPAN_LEAST_S. */
static struct count per_second(const struct history_rate *rate, struct mono now)
{
	size_t first = 0;
	while (first + 1 < rate->n && history_since_s(rate->at[first], now) > 60)
		first++;
	if (rate->n < 2)
		return (struct count){ 0 };
	uint64_t seconds = history_since_s(rate->at[first], rate->at[rate->n - 1]);
	if (seconds < RATE_SPAN_LEAST_S)
		return (struct count){ 0 };
	return count_of((rate->value[rate->n - 1] - rate->value[first]) / seconds);
}

/* Of what was looked up, not of what was there. */
static struct count miss_bp(const struct history *history, struct mono now)
{
	struct count hits = per_second(&history->hits, now), misses = per_second(&history->misses, now);
	uint64_t lookups = sat_add(hits.n, misses.n);
	if (!hits.known || !misses.known || lookups < LOOKUPS_LEAST / 60)
		return (struct count){ 0 };
	return count_of(sat_mul(misses.n, 10000) / lookups);
}

/* A forecast ages until the next fit. */
static void age_forecast(struct forecast *forecast, uint64_t s)
{
	uint64_t *times[] = { &forecast->earliest_s, &forecast->likely_s, &forecast->latest_s };
	for (size_t i = 0; i < 3; i++)
		if (*times[i] != FORECAST_NEVER)
			*times[i] = sat_sub(*times[i], s);
}

void history_look(struct history *history, struct mono now, const struct snapshot *snapshot,
		  const struct ledger *ledger, struct trend_space *space, struct history_view *ret_view)
{
	if (history->fit_now || (history->fit_due && history_since_s(history->fitted, now) >= HISTORY_SPACING_S))
		history_fit(history, now, snapshot, ledger, space);
	*ret_view = history->view;
	age_forecast(&ret_view->forecast, history_since_s(history->fitted, now));
	ret_view->span_ms = now.ns > history->window_start.ns ? (now.ns - history->window_start.ns) / 1000000 : 0;
	ret_view->scans = history->scans;
	ret_view->limit_before = history->limit_before;
	ret_view->limit_changed_s_ago = (struct count){ 0 };
	if (history->limit_has_changed)
		ret_view->limit_changed_s_ago = count_of(history_since_s(history->limit_changed, now));
	ret_view->refaults_per_s = per_second(&history->refaults, now);
	ret_view->cache_miss_bp = miss_bp(history, now);
	ret_view->peak_other_bytes = history->peak_other_bytes;
	ret_view->context = history->context;
	ret_view->settling_s = history_settling_s(history, now);
	for (int kind = 0; kind < EVENT_KIND_COUNT; kind++)
		ret_view->events[kind] = history->events[kind].count;
}
