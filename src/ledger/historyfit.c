/* SPDX-License-Identifier: Apache-2.0 */
/* From what is kept to what it means: trends, spike, forecast, steps. */
#include <string.h>

#include "base/sat.h"
#include "ledger/historyparts.h"
#include "ledger/parts.h"

enum {
	THREADS_NOISE = 16,
	CLASSES_NOISE = 200,
	BRIEF_LEAST_S = 1800,   /* a brief window shorter than this overrules no longer one */
	SMALL_BYTES = 16 << 20, /* an owner that came late and is no larger than this needs no trend */
	SPIKE_SLOTS_LEAST = 60, /* five minutes */
	LOOKUPS_LEAST = 1000,   /* of a cache in a minute: fewer are no ratio */
	RATE_SPAN_LEAST_S = 20,
};

/*
 * The last two hours overrule the day where they differ beyond both ranges: growth that began, that goes on steadily
 * after a warm-up, or that has ended.
 */
static void fit_recent(const struct history_figure *figure, struct trend_space *space, struct trend *ret_trend)
{
	struct trend brief;
	trend_fit(&figure->whole, space, ret_trend);
	trend_fit(&figure->brief, space, &brief);
	if (brief.kind == TREND_TOO_FEW || brief.span_ms < BRIEF_LEAST_S * 1000 || brief.span_ms >= ret_trend->span_ms)
		return;
	if (brief.kind == TREND_GROWING &&
	    (ret_trend->kind != TREND_GROWING || brief.slope_low > ret_trend->slope_high)) {
		*ret_trend = brief;
		return;
	}
	double expected = ret_trend->slope * (double)brief.span_ms / 1000;
	if (brief.kind != TREND_GROWING && ret_trend->kind == TREND_GROWING && expected >= 4.0 * TREND_NOISE_BYTES)
		ret_trend->kind = TREND_DECELERATING;
}

/* p99 - median of the floor in the last hour, with its trend taken out: growth is no spike. */
static uint64_t spike_of(const struct history *history, const struct trend *floor, struct trend_space *space)
{
	_Static_assert(HISTORY_SLOTS <= sizeof space->slopes / sizeof space->slopes[0], "room for a slot each");
	size_t n = history->n_slots, last = (history->next_slot + HISTORY_SLOTS - 1) % HISTORY_SLOTS;
	bool moves =
		floor->kind == TREND_GROWING || floor->kind == TREND_SHRINKING || floor->kind == TREND_DECELERATING;
	if (n < SPIKE_SLOTS_LEAST)
		return 0;
	for (size_t i = 0; i < n; i++) {
		double ago = (double)(history->slot_at[last].ns - history->slot_at[i].ns) / 1e9;
		space->slopes[i] = (double)history->slot[i] + (moves ? floor->slope * ago : 0);
	}
	double high = trend_select(space->slopes, n, n * 99 / 100), median = trend_select(space->slopes, n, n / 2);
	return high > median ? (uint64_t)(high - median) : 0;
}

static uint64_t known_bytes(const struct ledger *ledger, enum owner owner)
{
	return ledger->listed[owner] ? qty_or(ledger->lines[owner].bytes, 0) : 0;
}

static bool is_unread(const struct ledger *ledger, enum owner owner)
{
	return ledger->listed[owner] && !qty_known(ledger->lines[owner].bytes);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static bool rocksdb_is_unread(const struct snapshot *snapshot, const struct ledger *ledger)
{
	return is_unread(ledger, OWNER_ROCKSDB_BLOCK_CACHE) || is_unread(ledger, OWNER_ROCKSDB_TABLE_READERS) ||
	       (is_unread(ledger, OWNER_ROCKSDB_MEMTABLES) && !snapshot->engine.rocksdb.memtables_in_cache);
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
		bound = less(bound, known_bytes(ledger, of_overhead[i]));
	uint64_t task = qty_or(flink->task_off_heap_bytes, 0), direct = qty_or(flink->direct_bytes, 0);
	uint64_t left = less(direct, known_bytes(ledger, OWNER_DIRECT_BUFFERS));
	if (is_unread(ledger, OWNER_DIRECT_BUFFERS))
		bound = sat_add(bound, direct);
	else
		bound = sat_add(bound, task < left ? task : left);
	if (is_unread(ledger, OWNER_METASPACE))
		bound = sat_add(bound, qty_or(flink->metaspace_bytes, 0));
	uint64_t taken = sat_add(known_bytes(ledger, OWNER_ROCKSDB_BLOCK_CACHE),
				 sat_add(known_bytes(ledger, OWNER_ROCKSDB_MEMTABLES),
					 sat_add(known_bytes(ledger, OWNER_ROCKSDB_TABLE_READERS),
						 known_bytes(ledger, OWNER_MANAGED_UNSAFE))));
	return sat_add(bound, less(qty_or(flink->managed_bytes, 0), taken));
}

/* Whether managed memory may stand in native-other: RocksDB without metrics, Python, batch, or nobody knows. */
static bool may_hold_managed(const struct snapshot *snapshot, const struct ledger *ledger)
{
	const struct engine_state *engine = &snapshot->engine;
	bool no_store = !ledger->listed[OWNER_ROCKSDB_BLOCK_CACHE];
	return rocksdb_is_unread(snapshot, ledger) || engine->python == TRISTATE_TRUE ||
	       (!snapshot->nmt_read &&
		(engine->batch == TRISTATE_TRUE || (engine->backend == BACKEND_UNKNOWN && no_store)));
}

struct qty history_soft_bound(const struct snapshot *snapshot, const struct ledger *ledger)
{
	const struct engine_state *engine = &snapshot->engine;
	if (engine->kind == ENGINE_FLINK_TASKMANAGER && qty_known(engine->flink.managed_bytes) &&
	    (may_hold_managed(snapshot, ledger) || is_unread(ledger, OWNER_DIRECT_BUFFERS)))
		return qty_of(flink_bound(snapshot, ledger), QTY_INFERRED);
	if (engine->kind == ENGINE_KAFKA_STREAMS && rocksdb_is_unread(snapshot, ledger))
		return engine->streams.native_bound_bytes;
	return (struct qty){ 0 };
}

/* What the floor counts: the kernel can reclaim the others. */
static bool is_in_floor(enum owner owner)
{
	return owner != OWNER_PAGE_CACHE && owner != OWNER_MAPPED_FILES && owner != OWNER_SLAB_RECLAIMABLE &&
	       owner != OWNER_THP_UNMAPPED;
}

/* What the line can grow to, where something bounds it. */
static struct limit bound_of(const struct history *history, const struct ledger *ledger, enum owner owner)
{
	const struct ledger_line *line = &ledger->lines[owner];
	struct limit bound = line->bound;
	const struct qty *soft = &history->view.native_soft_bound_bytes;
	if (owner == OWNER_ROCKSDB_BLOCK_CACHE && bound.kind == LIMIT_SET) /* of the three lines together */
		bound.bytes = less(bound.bytes, sat_add(known_bytes(ledger, OWNER_ROCKSDB_MEMTABLES),
							known_bytes(ledger, OWNER_ROCKSDB_TABLE_READERS)));
	/* Past its soft bound it is no warm-up; arenas and fragments of a full cache are a sixteenth more. */
	if (owner == OWNER_NATIVE_OTHER && qty_known(*soft) &&
	    line->bytes.bytes < sat_add(soft->bytes, soft->bytes / 16))
		bound = limit_set(soft->bytes);
	return bound;
}

static size_t owner_parts(const struct history *history, const struct ledger *ledger, struct forecast_part *parts,
			  uint64_t *ret_sum)
{
	size_t n = 0;
	*ret_sum = 0;
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		const struct ledger_line *line = &ledger->lines[owner];
		if (!ledger->listed[owner] || !qty_known(line->bytes) || !is_in_floor((enum owner)owner))
			continue;
		struct trend trend = history->view.owners[owner];
		if (trend.kind == TREND_TOO_FEW && line->bytes.bytes < SMALL_BYTES)
			trend.kind = TREND_FLAT;
		parts[n++] = (struct forecast_part){ .owner = owner,
						     .now_bytes = line->bytes.bytes,
						     .bound = bound_of(history, ledger, (enum owner)owner),
						     .trend = trend };
		*ret_sum = sat_add(*ret_sum, line->bytes.bytes);
	}
	return n;
}

/*
 * The sum is made to start at the floor of now: what lies between it and the owners (the age of the scan, what the
 * kernel counts otherwise) stays as it is. Without a scan the floor is all there is.
 */
static void fit_forecast(struct history *history, const struct ledger *ledger)
{
	struct history_view *view = &history->view;
	struct forecast_part parts[FORECAST_PARTS_MAX];
	_Static_assert((int)OWNER_COUNT <= (int)FORECAST_PARTS_MAX, "a part an owner");
	uint64_t sum, floor = ledger->floor_bytes.bytes;
	int64_t room = ledger->freeboard_bytes.bytes;
	view->forecast = (struct forecast){
		.owner = -1, .earliest_s = FORECAST_NEVER, .likely_s = FORECAST_NEVER, .latest_s = FORECAST_NEVER
	};
	if (!qty_known(ledger->floor_bytes) || !ledger->freeboard_bytes.known)
		return;
	size_t n = owner_parts(history, ledger, parts, &sum);
	if (n == 0) {
		parts[n++] = (struct forecast_part){ .owner = -1, .now_bytes = floor, .trend = view->floor };
		sum = floor;
	}
	uint64_t limit = room < 0 ? 0 : sat_add(floor, (uint64_t)room);
	limit = sum > floor ? sat_add(limit, sum - floor) : less(limit, floor - sum);
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
		uint64_t grown = less(now, first), share = 0;
		if (n && sum > 0 && grown)
			share = sat_mul((uint64_t)sum, 10000) / grown;
		history->view.steps_share_bp[kind] = share > 10000 ? 10000 : (uint32_t)share;
	}
}

void history_fit(struct history *history, struct mono now, const struct snapshot *snapshot, const struct ledger *ledger,
		 struct trend_space *space)
{
	struct history_view *view = &history->view;
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		fit_recent(&history->owners[owner], space, &view->owners[owner]);
	fit_recent(&history->floor, space, &view->floor);
	fit_recent(&history->pool, space, &view->native_pool);
	trend_fit_above(&history->threads.whole, THREADS_NOISE, space, &view->threads);
	trend_fit_above(&history->metaspace.whole, TREND_NOISE_BYTES, space, &view->metaspace);
	trend_fit_above(&history->classes.whole, CLASSES_NOISE, space, &view->classes);
	view->spike_bytes = spike_of(history, &view->floor, space);
	view->native_soft_bound_bytes = history_soft_bound(snapshot, ledger);
	fit_steps(history, ledger);
	fit_forecast(history, ledger);
	history->fitted = now;
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
			*times[i] = less(*times[i], s);
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
