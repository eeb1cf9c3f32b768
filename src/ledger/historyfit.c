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
	SMALL_BYTES = 16 << 20, /* an owner that came late and is no larger than this needs no trend */
	USUAL_SLOTS = 13,       /* a minute */
	SPIKE_SLOTS_LEAST = 60, /* five minutes */
	SPIKE_PART_SLOTS = 120, /* ten */
	LOOKUPS_LEAST = 1000,   /* of a cache in a minute: fewer are no ratio */
	RATE_SPAN_LEAST_S = 20,
};

/* p99 - median of `n` slots that end `back` slots ago, less what `slope` adds from one to the next. */
static uint64_t spike_in(const struct history *history, size_t back, size_t n, double slope, struct trend_space *space)
{
	size_t last = (history->next_slot + HISTORY_SLOTS - 1) % HISTORY_SLOTS;
	for (size_t i = 0; i < n; i++) {
		size_t at = (last + HISTORY_SLOTS - back - i) % HISTORY_SLOTS;
		double ago = (double)(history->slot_at[last].ns - history->slot_at[at].ns) / 1e9;
		space->slopes[i] = (double)history->slot[at] + slope * ago;
	}
	double high = trend_select(space->slopes, n, n * 99 / 100), median = trend_select(space->slopes, n, n / 2);
	return high > median ? (uint64_t)(high - median) : 0;
}

/*
 * How far the floor's peaks stand above what is usual, with its trend taken out: growth is no spike. By parts of the last
 * hour, of which the second highest counts: a peak that comes again is in two of them, a restart or a savepoint, which
 * moves the level for good or was there once, in one. A trend that was seen for less than a part tells nothing of them;
 * then the time before HISTORY_CLOSE_S tells what is usual, for by then what grows so fast had not begun.
 */
static uint64_t spike_of(const struct history *history, const struct trend *floor, struct trend_space *space)
{
	_Static_assert((int)SPIKE_PART_SLOTS <= TREND_POINTS * (TREND_POINTS - 1) / 2, "room for a slot each");
	bool moves =
		floor->kind == TREND_GROWING || floor->kind == TREND_SHRINKING || floor->kind == TREND_DECELERATING;
	size_t span = floor->span_ms / 1000 / HISTORY_SLOT_S, parts = 0;
	bool young = moves && span < SPIKE_PART_SLOTS;
	size_t back = young ? HISTORY_CLOSE_S / HISTORY_SLOT_S : 0;
	size_t until = moves && !young && span < history->n_slots ? span : history->n_slots;
	uint64_t first = 0, second = 0;
	for (; back + SPIKE_SLOTS_LEAST <= until; back += SPIKE_PART_SLOTS, parts++) {
		size_t n = until - back < SPIKE_PART_SLOTS ? until - back : SPIKE_PART_SLOTS;
		uint64_t spike = spike_in(history, back, n, moves && !young ? floor->slope : 0, space);
		second = spike > first ? first : spike > second ? spike : second;
		first = spike > first ? spike : first;
	}
	return parts > 1 ? second : first;
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
	uint64_t taken = sat_add(ledger_bytes(ledger, OWNER_ROCKSDB_BLOCK_CACHE),
				 sat_add(ledger_bytes(ledger, OWNER_ROCKSDB_MEMTABLES),
					 sat_add(ledger_bytes(ledger, OWNER_ROCKSDB_TABLE_READERS),
						 ledger_bytes(ledger, OWNER_MANAGED_UNSAFE))));
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

/* The median of the last few slots: a peak is in one or two of them. */
static uint64_t usual_floor(const struct history *history, uint64_t now)
{
	uint64_t figures[USUAL_SLOTS];
	size_t n = history->n_slots < USUAL_SLOTS ? history->n_slots : USUAL_SLOTS, last = history->next_slot;
	for (size_t i = 0; i < n; i++)
		figures[i] = history->slot[(last + HISTORY_SLOTS - 1 - i) % HISTORY_SLOTS];
	if (n == 0)
		return now;
	uint64_t usual = trend_median(figures, n);
	/* The median is as old as the middle slot: half a minute is 5 % of the limit for what grows by 10 % a minute. */
	const struct trend *floor = &history->view.floor;
	double age_s = (double)(history->slot_at[(last + HISTORY_SLOTS - 1) % HISTORY_SLOTS].ns -
				history->slot_at[(last + HISTORY_SLOTS - 1 - n / 2) % HISTORY_SLOTS].ns) /
		       1e9;
	return floor->kind == TREND_GROWING ? sat_add(usual, (uint64_t)(floor->slope * age_s)) : usual;
}

/* What the line can grow to, where something bounds it. */
static struct limit bound_of(const struct history *history, const struct snapshot *snapshot,
			     const struct ledger *ledger, enum owner owner)
{
	const struct ledger_line *line = &ledger->lines[owner];
	struct limit bound = line->bound;
	const struct qty *capacity = &snapshot->engine.rocksdb.cache_capacity_bytes;
	const struct qty *soft = &history->view.native_soft_bound_bytes;
	if (owner == OWNER_ROCKSDB_BLOCK_CACHE && bound.kind == LIMIT_SET) /* of the three lines together */
		bound.bytes = sat_sub(bound.bytes, sat_add(ledger_bytes(ledger, OWNER_ROCKSDB_MEMTABLES),
							   ledger_bytes(ledger, OWNER_ROCKSDB_TABLE_READERS)));
	if (owner == OWNER_ROCKSDB_BLOCK_CACHE && qty_known(*capacity) &&
	    (bound.kind != LIMIT_SET || capacity->bytes < bound.bytes))
		bound = limit_set(capacity->bytes);
	if (owner == OWNER_NATIVE_OTHER && qty_known(*soft) && history->view.native_may_warm)
		bound = limit_set(soft->bytes);
	return bound;
}

/* Memtables that share the bound of the three lines take from the cache what they grow by: its part stands for both. */
static bool is_inside(const struct ledger *ledger, enum owner owner)
{
	return owner == OWNER_ROCKSDB_MEMTABLES && ledger->listed[OWNER_ROCKSDB_BLOCK_CACHE] &&
	       qty_known(ledger->lines[OWNER_ROCKSDB_BLOCK_CACHE].bytes) &&
	       ledger->lines[OWNER_ROCKSDB_BLOCK_CACHE].bound.kind == LIMIT_SET;
}

static size_t owner_parts(const struct history *history, const struct snapshot *snapshot, const struct ledger *ledger,
			  struct forecast_part *parts, uint64_t *ret_sum)
{
	size_t n = 0;
	*ret_sum = 0;
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		const struct ledger_line *line = &ledger->lines[owner];
		if (!ledger->listed[owner] || !qty_known(line->bytes) || owner_is_reclaimable((enum owner)owner))
			continue;
		struct trend trend = history->view.owners[owner];
		if ((trend.kind == TREND_TOO_FEW && line->bytes.bytes < SMALL_BYTES) ||
		    is_inside(ledger, (enum owner)owner))
			trend.kind = TREND_FLAT;
		const struct trend_series *brief = &history->owners[owner].brief;
		uint64_t level = brief->n ? history_level_at(brief, brief->n - 1) : line->bytes.bytes;
		parts[n++] = (struct forecast_part){ .owner = owner,
						     .now_bytes = level,
						     .bound = bound_of(history, snapshot, ledger, (enum owner)owner),
						     .trend = trend };
		*ret_sum = sat_add(*ret_sum, level);
	}
	return n;
}

/*
 * The sum is made to start at the usual floor of now, without a peak that is there at the moment: peaks are added. What
 * lies between it and the owners (the age of the scan, what the kernel counts otherwise) stays as it is. Without a scan
 * the floor is all there is.
 */
static void fit_forecast(struct history *history, const struct snapshot *snapshot, const struct ledger *ledger)
{
	struct history_view *view = &history->view;
	struct forecast_part parts[FORECAST_PARTS_MAX];
	_Static_assert((int)OWNER_COUNT <= (int)FORECAST_PARTS_MAX, "a part an owner");
	uint64_t sum, floor = ledger->floor_bytes.bytes;
	int64_t room = ledger->freeboard_bytes.bytes;
	view->forecast = (struct forecast){
		.owner = -1, .earliest_s = FORECAST_NEVER, .likely_s = FORECAST_NEVER, .latest_s = FORECAST_NEVER
	};
	/* The floor is fed at each tick: while even that is too short a series, nobody can say that nothing grows. */
	if (!qty_known(ledger->floor_bytes) || !ledger->freeboard_bytes.known || view->floor.kind == TREND_TOO_FEW)
		return;
	uint64_t limit = room < 0 ? 0 : sat_add(floor, (uint64_t)room);
	floor = usual_floor(history, floor);
	size_t n = owner_parts(history, snapshot, ledger, parts, &sum);
	if (n == 0) {
		parts[n++] = (struct forecast_part){ .owner = -1, .now_bytes = floor, .trend = view->floor };
		sum = floor;
	}
	limit = sum > floor ? sat_add(limit, sum - floor) : sat_sub(limit, floor - sum);
	forecast_run(parts, n, view->spike_bytes, limit, &view->forecast);
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
	trend_fit_above(&history->threads.whole, THREADS_NOISE, space, &view->threads);
	trend_fit_above(&history->metaspace.whole, TREND_NOISE_BYTES, space, &view->metaspace);
	trend_fit_above(&history->classes.whole, CLASSES_NOISE, space, &view->classes);
	history_level_days(&history->threads.whole, &view->threads);
	history_level_days(&history->metaspace.whole, &view->metaspace);
	view->spike_bytes = spike_of(history, &view->floor, space);
	fit_steps(history, ledger);
	fit_forecast(history, snapshot, ledger);
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

static uint32_t settling(const struct history *history, struct mono now)
{
	if (history->settled_at.ns <= now.ns || history_since_s(history->hold_since, now) > SETTLE_MOST_S)
		return 0;
	return (uint32_t)history_since_s(now, history->settled_at) + 1;
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
	ret_view->settling_s = settling(history, now);
	for (int kind = 0; kind < EVENT_KIND_COUNT; kind++)
		ret_view->events[kind] = history->events[kind].count;
}
