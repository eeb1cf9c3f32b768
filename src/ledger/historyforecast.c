/* SPDX-License-Identifier: Apache-2.0 */
/* From the owners' trends to when the limit is reached. */
#include <math.h>

#include "base/sat.h"
#include "ledger/historyparts.h"
#include "ledger/parts.h"

#define POOL_TOLD 0.3 /* of the pool's slope: what its parts may say otherwise */

enum {
	SMALL_BYTES = 16 << 20, /* an owner that came late and is no larger than this needs no trend */
	USUAL_SLOTS = 13,       /* a minute */
	HASTY_REACH = 3,        /* as limit-forecast.reach */
};

uint32_t history_settling_s(const struct history *history, struct mono now)
{
	if (history->settled_at.ns <= now.ns || history_since_s(history->hold_since, now) > SETTLE_MOST_S)
		return 0;
	return (uint32_t)history_since_s(now, history->settled_at) + 1;
}

/* The median of the last few slots: a peak is in one or two of them. */
static uint64_t usual_floor(const struct history *history, uint64_t now)
{
	uint64_t figures[USUAL_SLOTS];
	size_t n = history->n_slots < USUAL_SLOTS ? history->n_slots : USUAL_SLOTS;
	for (size_t i = 0; i < n; i++)
		figures[i] = history->slot[history_slot(history, i)];
	if (n == 0)
		return now;
	uint64_t usual = trend_median(figures, n);
	/* The median is as old as the middle slot: half a minute is 5 % of the limit for what grows by 10 % a minute. */
	const struct trend *floor = &history->view.floor;
	double age_s = (double)(history->slot_at[history_slot(history, 0)].ns -
				history->slot_at[history_slot(history, n / 2)].ns) /
		       1e9;
	return floor->kind == TREND_GROWING ? sat_add(usual, (uint64_t)(floor->slope * age_s)) : usual;
}

/* RocksDB keeps to it as long as nothing pins what it would free: past it, and what fragments take, it is no bound. */
static bool stores_are_bounded(const struct ledger *ledger)
{
	const struct limit *bound = &ledger->lines[OWNER_ROCKSDB_BLOCK_CACHE].bound;
	return bound->kind == LIMIT_SET && ledger_rocksdb_bytes(ledger) <= sat_add(bound->bytes, bound->bytes / 16);
}

/* What the line can grow to, where something bounds it. */
static struct limit bound_of(const struct history *history, const struct snapshot *snapshot,
			     const struct ledger *ledger, enum owner owner)
{
	const struct ledger_line *line = &ledger->lines[owner];
	struct limit bound = line->bound;
	const struct qty *capacity = &snapshot->engine.rocksdb.cache_capacity_bytes;
	const struct qty *soft = &history->view.native_soft_bound_bytes;
	bool is_store = owner >= OWNER_ROCKSDB_BLOCK_CACHE && owner <= OWNER_ROCKSDB_TABLE_READERS;
	if (is_store && ledger->lines[OWNER_ROCKSDB_BLOCK_CACHE].bound.kind == LIMIT_SET && !stores_are_bounded(ledger))
		return (struct limit){ 0, LIMIT_NONE };
	if (owner == OWNER_ROCKSDB_BLOCK_CACHE && bound.kind == LIMIT_SET) /* of the three lines together */
		bound.bytes = sat_sub(bound.bytes, sat_sub(ledger_rocksdb_bytes(ledger), line->bytes.bytes));
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
	       qty_known(ledger->lines[OWNER_ROCKSDB_BLOCK_CACHE].bytes) && stores_are_bounded(ledger);
}

/* They divide what smaps shows as one: ledger.native_pool_bytes. */
static bool owner_shares_pool(int owner)
{
	return owner >= OWNER_ROCKSDB_BLOCK_CACHE && owner <= OWNER_NATIVE_OTHER;
}

static bool is_counted(const struct ledger *ledger, int owner)
{
	return ledger->listed[owner] && qty_known(ledger->lines[owner].bytes) &&
	       !owner_is_reclaimable((enum owner)owner);
}

static struct forecast_part part_of(const struct history *history, const struct snapshot *snapshot,
				    const struct ledger *ledger, enum owner owner)
{
	uint64_t now = ledger->lines[owner].bytes.bytes;
	const struct history_figure *figure = &history->owners[owner];
	struct trend trend = history->view.owners[owner];
	/* What had moved in the short window would be fitted. */
	bool stands = now < SMALL_BYTES || figure->close.n >= HISTORY_FLASH_POINTS;
	if ((trend.kind == TREND_TOO_FEW && stands) || is_inside(ledger, owner))
		trend.kind = TREND_FLAT;
	/* The long windows' points are a minute apart: five of them are too old where only the short one speaks. */
	if (figure->brief.n && !figure->is_young)
		now = history_level_at(&figure->brief, figure->brief.n - 1);
	return (struct forecast_part){ .owner = (int)owner,
				       .now_bytes = now,
				       .bound = bound_of(history, snapshot, ledger, owner),
				       .trend = trend };
}

/* What the owner has grown by in the short window. */
static int64_t grown_lately(const struct history_figure *figure)
{
	const struct trend_series *close = &figure->close;
	if (close->n < HISTORY_FLASH_POINTS)
		return 0;
	uint64_t first =
		close->points[0].bytes < close->points[1].bytes ? close->points[0].bytes : close->points[1].bytes;
	return (int64_t)history_level_at(close, close->n - 1) - (int64_t)first;
}

/*
 * The owners that share the native pool trade with each other: a store claims its memtables a block at a time, before they
 * are filled, and what it does not claim is native-other's. Over minutes each goes up by stairs, or down by them, while their sum
 * is a line. So where the pool grows steadily and its parts do not say so, the pool speaks, in the name of who has grown
 * most in it, and ends where that one ends.
 */
static size_t pool_speaks(const struct history *history, const struct ledger *ledger, struct forecast_part *parts,
			  size_t n, size_t n_pool)
{
	const struct trend *pool = &history->view.native_pool;
	double told = 0;
	size_t most = 0;
	int64_t grown = 0;
	if (pool->kind != TREND_GROWING || pool->span_ms > HISTORY_CLOSE_S * 1000 || n_pool < 2)
		return n;
	struct forecast_part *shared = parts + n - n_pool;
	for (size_t i = 0; i < n_pool; i++) {
		int64_t more = grown_lately(&history->owners[shared[i].owner]);
		bool tells = shared[i].trend.kind == TREND_GROWING || shared[i].trend.kind == TREND_SHRINKING;
		told += tells ? shared[i].trend.slope : 0;
		most = more > grown ? i : most;
		grown = more > grown ? more : grown;
	}
	if (grown == 0 || fabs(told - pool->slope) < pool->slope * POOL_TOLD)
		return n;
	struct forecast_part part = { .owner = shared[most].owner, .trend = *pool };
	for (size_t i = 0; i < n_pool; i++)
		part.now_bytes = sat_add(part.now_bytes, shared[i].now_bytes);
	/* Memtables inside the cache's bound end where the cache does, and it comes before them. */
	const struct forecast_part *ends =
		is_inside(ledger, (enum owner)part.owner) ? &shared[most - 1] : &shared[most];
	if (ends->bound.kind == LIMIT_SET)
		part.bound = limit_set(sat_add(part.now_bytes, sat_sub(ends->bound.bytes, ends->now_bytes)));
	shared[0] = part;
	return n - n_pool + 1;
}

static size_t owner_parts(const struct history *history, const struct snapshot *snapshot, const struct ledger *ledger,
			  struct forecast_part *parts, uint64_t *ret_sum)
{
	size_t n = 0, n_pool = 0;
	*ret_sum = 0;
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		if (is_counted(ledger, owner) && !owner_shares_pool(owner))
			parts[n++] = part_of(history, snapshot, ledger, (enum owner)owner);
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		if (!is_counted(ledger, owner) || !owner_shares_pool(owner))
			continue;
		parts[n++] = part_of(history, snapshot, ledger, (enum owner)owner);
		n_pool++;
	}
	for (size_t i = 0; i < n; i++)
		*ret_sum = sat_add(*ret_sum, parts[i].now_bytes);
	return pool_speaks(history, ledger, parts, n, n_pool);
}

/* Some owner of a size that matters has not been seen for long. */
static bool is_young(const struct history *history, const struct ledger *ledger)
{
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		if (is_counted(ledger, owner) && history->owners[owner].is_young &&
		    ledger->lines[owner].bytes.bytes >= SMALL_BYTES)
			return true;
	return history->floor.is_young;
}

/* It has been watched for a third as long as it would have to go on: then it does not wait until all is told or settled. */
static bool is_hasty(const struct forecast *forecast)
{
	return forecast->kind == FORECAST_REACHES && forecast->likely_s <= HASTY_REACH * forecast->trend.span_ms / 1000;
}

/*
 * The sum is made to start at the usual floor of now, without a peak that is there at the moment: peaks are added. What
 * lies between it and the owners (the age of the scan, what the kernel counts otherwise) stays as it is. Without a scan
 * the floor is all there is.
 */
void history_forecast(struct history *history, struct mono now, const struct snapshot *snapshot,
		      const struct ledger *ledger)
{
	static const struct forecast unknown = {
		.owner = -1, .earliest_s = FORECAST_NEVER, .likely_s = FORECAST_NEVER, .latest_s = FORECAST_NEVER
	};
	struct history_view *view = &history->view;
	struct forecast_part parts[FORECAST_PARTS_MAX];
	_Static_assert((int)OWNER_COUNT <= (int)FORECAST_PARTS_MAX, "a part an owner");
	uint64_t sum, floor = ledger->floor_bytes.bytes;
	int64_t room = ledger->freeboard_bytes.bytes;
	view->forecast = unknown;
	/* The floor is fed at each tick: while even that is too short a series, nobody can say that nothing grows. */
	if (!qty_known(ledger->floor_bytes) || !ledger->freeboard_bytes.known ||
	    history->floor.close.n < HISTORY_FLASH_POINTS)
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
	if ((history_settling_s(history, now) || is_young(history, ledger)) && !is_hasty(&view->forecast))
		view->forecast = unknown;
}
