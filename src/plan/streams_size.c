/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/streams_size.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/auto.h"
#include "base/sat.h"
#include "base/units.h"
#include "engine/streams.h"
#include "plan/resize_parts.h"
#include "plan/streams_size_parts.h"

enum {
	MIB = 1 << 20,
	CACHE_MARGIN = 64 << 20, /* a cache fills with time: half above the highest, and at least that */
	REST_MARGIN = 64 << 20,  /* what nothing bounds peaks between two readings: a fifth, and at least that */
	HEAP_MARGIN = 128 << 20, /* half above what was ever touched, and at least that */
	HEAP_LEAST = 256 << 20,
	WORTH = 128 << 20,           /* less is not worth a restart */
	MEMTABLE_LEAST = 2 << 20,    /* of an instance: below, RocksDB flushes small files all the time */
	MEMTABLE_DEFAULT = 16 << 20, /* RocksDBStore.java */
};

const char *const streams_size_names[STREAMS_SIZE_ROW_COUNT] = { "heap", "block-cache", "memtables", "the-rest",
								 "limit" };

static uint64_t more_of(uint64_t bytes, unsigned percent, uint64_t margin)
{
	uint64_t more = bytes / 100 * percent;
	return resize_round_up(sat_add(bytes, more > margin ? more : margin));
}

/* One pod is lost, and the others share what it had. */
static uint64_t shared(uint64_t value, uint64_t pods)
{
	if (pods < 2)
		return value;
	return sat_add(value, value / (pods - 1) + (value % (pods - 1) != 0));
}

/* --- what was seen ------------------------------------------------------------------------------------------------ */

static struct qty cache_of(const struct resize_reading *reading)
{
	return qty_known(reading->readers_bytes) ? qty_add(reading->cache_bytes, reading->readers_bytes)
						 : reading->cache_bytes;
}

static struct qty rest_of(const struct resize_reading *reading)
{
	struct qty native = qty_add(cache_of(reading), reading->memtables_bytes);
	return qty_sub(reading->floor_bytes, qty_add(reading->used[RESIZE_HEAP], native));
}

static struct qty seen(const struct resize_reading *reading, enum streams_size_row row)
{
	switch (row) {
	case STREAMS_SIZE_HEAP:
		return reading->used[RESIZE_HEAP];
	case STREAMS_SIZE_CACHE:
		return cache_of(reading);
	case STREAMS_SIZE_MEMTABLES:
		return reading->memtables_bytes;
	case STREAMS_SIZE_REST:
		return rest_of(reading);
	case STREAMS_SIZE_LIMIT:
		return reading->floor_bytes;
	case STREAMS_SIZE_ROW_COUNT:
		break;
	}
	return (struct qty){ 0 };
}

static void look(const struct resize_reading *readings, size_t n, uint64_t *values, struct streams_size *size)
{
	for (int row = 0; row < STREAMS_SIZE_ROW_COUNT; row++) {
		size_t m = 0;
		for (size_t i = 0; i < n; i++) {
			struct qty bytes = seen(&readings[i], (enum streams_size_row)row);
			if (qty_known(bytes))
				values[m++] = bytes.bytes;
		}
		(void)resize_percentiles(values, m, &size->rows[row]);
	}
	for (size_t i = 0, from = 0; i < n; i++) {
		from = readings[i].pod == readings[from].pod ? from : i;
		int64_t span = readings[i].taken.ms - readings[from].taken.ms;
		if (readings[from].taken.ms > 0 && span > 0 && (uint64_t)span > size->span_ms)
			size->span_ms = (uint64_t)span;
	}
}

/* By default the bound of a ledger is 98 MiB for each instance; a setter's is its cache. */
static void look_at_bound(const struct resize_reading *last, struct streams_size *size)
{
	struct resize_row *cache = &size->rows[STREAMS_SIZE_CACHE], *memtables = &size->rows[STREAMS_SIZE_MEMTABLES];
	bool bound = last->cache_bound.kind == LIMIT_SET;
	uint64_t each = STREAMS_INSTANCE_BYTES, by_bound = bound ? last->cache_bound.bytes / each : 0;
	size->instances = last->facts.streams_instances;
	size->by_default = bound && last->cache_bound.bytes % each == 0 &&
			   (!last->facts.streams_instances.known || last->facts.streams_instances.n == by_bound);
	if (size->by_default)
		size->instances = count_of(by_bound);
	cache->set_known = bound;
	cache->set_bytes = size->by_default ? by_bound * STREAMS_CACHE_BYTES : bound ? last->cache_bound.bytes : 0;
	memtables->set_known = size->by_default;
	memtables->set_bytes = size->by_default ? by_bound * STREAMS_MEMTABLES_BYTES : 0;
	if (size->instances.known)
		size->instances_lost = count_of(shared(size->instances.n, size->pods));
}

/* --- what to make of it ------------------------------------------------------------------------------------------- */

static void keep(struct resize_row *row, const char *why)
{
	resize_say(row, row->set_bytes, why);
}

static bool may_lower(const struct streams_size *size)
{
	return !size->too_few && size->span_ms >= RESIZE_DAY_MS;
}

static void propose_heap(struct streams_size *size, bool pressure)
{
	struct resize_row *row = &size->rows[STREAMS_SIZE_HEAP];
	uint64_t want = more_of(row->max_bytes, 50, HEAP_MARGIN);
	if (want < HEAP_LEAST)
		want = HEAP_LEAST;
	if (!row->known)
		keep(row, "its use was not read");
	else if (pressure)
		resize_say(row, resize_round_up(row->set_bytes + row->set_bytes / 4),
			   "heap-pressure is open: a quarter more");
	else if (sat_add(want, 2ull * WORTH) > row->set_bytes)
		keep(row, "it fits");
	else if (!may_lower(size))
		keep(row, "it may be too large: it is lowered by readings of a day or more");
	else
		resize_say(row, want, "half above the highest that was ever touched");
}

/* What the stores may come to, as they are set, with one pod lost. */
static uint64_t stores_bound(const struct streams_size *size)
{
	const struct resize_row *cache = &size->rows[STREAMS_SIZE_CACHE],
				*memtables = &size->rows[STREAMS_SIZE_MEMTABLES];
	if (size->by_default)
		return sat_mul(size->instances_lost.n, STREAMS_INSTANCE_BYTES);
	/* Memtables that are charged to the cache are within it; where both come to more, they are not. */
	uint64_t native = shared(memtables->max_bytes, size->pods);
	bool within = sat_add(cache->max_bytes, memtables->max_bytes) <= cache->set_bytes;
	return sat_add(cache->set_bytes + cache->set_bytes / 10, within ? 0 : more_of(native, 25, 0));
}

static void want_setter(struct streams_size *size)
{
	const struct resize_row *cache = &size->rows[STREAMS_SIZE_CACHE],
				*memtables = &size->rows[STREAMS_SIZE_MEMTABLES];
	uint64_t instances = size->instances_lost.known ? size->instances_lost.n : 1;
	uint64_t manager = more_of(shared(memtables->max_bytes, size->pods), 25, 0);
	uint64_t least = resize_round_up(sat_mul(instances, MEMTABLE_LEAST));
	size->manager_bytes = manager > least ? manager : least;
	size->cache_bytes =
		sat_add(more_of(shared(cache->max_bytes, size->pods), 50, CACHE_MARGIN), size->manager_bytes);
	/* Each instance fills one memtable while all of them stay below what the manager holds. */
	uint64_t buffer = size->manager_bytes / (instances ? instances : 1) / MIB * MIB;
	size->buffer_bytes = buffer < MIB ? MIB : buffer > MEMTABLE_DEFAULT ? MEMTABLE_DEFAULT : buffer;
}

/* A cache takes what it is given: where the limit has less room than half above the highest, it is given that. */
static void fit_setter(struct streams_size *size, uint64_t beside, uint64_t limit)
{
	uint64_t room = limit > beside ? (limit - beside) / 11 * 10 / (16ull * MIB) * (16ull * MIB) : 0;
	uint64_t least = sat_add(shared(size->rows[STREAMS_SIZE_CACHE].max_bytes, size->pods), size->manager_bytes);
	if (size->cache_bytes > room && room >= least)
		size->cache_bytes = room;
}

static void propose_stores(const struct resize_reading *last, struct streams_size *size, uint64_t beside)
{
	struct resize_row *cache = &size->rows[STREAMS_SIZE_CACHE], *memtables = &size->rows[STREAMS_SIZE_MEMTABLES];
	uint64_t bound = stores_bound(size);
	bool limited = last->limit.kind == LIMIT_SET;
	keep(memtables, size->by_default ? "three of 16 MiB for each instance" : "");
	if (!cache->known || !memtables->known || !cache->set_known) {
		keep(cache, "its use, or what bounds it, was not read");
		return;
	}
	want_setter(size);
	if (size->by_default && (limited ? sat_add(beside, bound) > last->limit.bytes : size->instances.n > 3)) {
		if (limited)
			fit_setter(size, beside, last->limit.bytes);
		resize_say(cache, size->cache_bytes,
			   limited ? "by default the stores may grow past the limit: one cache for all"
				   : "nothing bounds all stores together: one cache for all");
		resize_say(memtables, size->manager_bytes, "a quarter above the highest, charged to that cache");
		return;
	}
	bool large = !size->by_default && sat_add(size->cache_bytes, WORTH) <= cache->set_bytes;
	if (large && may_lower(size)) {
		resize_say(cache, size->cache_bytes,
			   "half above the highest, for a cache fills with time, and memtables");
		return;
	}
	keep(cache, large              ? "it may be too large: it is lowered by readings of a day or more"
		    : size->by_default ? "what the stores may grow to by default fits the limit"
		    : cache->max_bytes > cache->set_bytes / 10 * 9 ? "it is full, as a cache should be"
								   : "it fits");
	size->cache_bytes = size->manager_bytes = size->buffer_bytes = 0;
}

static void propose_limit(const struct resize_reading *last, struct streams_size *size, uint64_t beside)
{
	struct resize_row *row = &size->rows[STREAMS_SIZE_LIMIT];
	uint64_t stores = size->cache_bytes ? size->cache_bytes + size->cache_bytes / 10 : stores_bound(size);
	row->set_known = last->limit.kind == LIMIT_SET;
	row->set_bytes = row->set_known ? last->limit.bytes : 0;
	size->needed_bytes = resize_round_up(sat_add(beside, stores));
	if (!row->set_known || !size->rows[STREAMS_SIZE_REST].known || !size->rows[STREAMS_SIZE_CACHE].known)
		keep(row, row->set_known ? "what is needed was not all read" : "");
	else if (size->needed_bytes > row->set_bytes)
		resize_say(row, size->needed_bytes, "heap, the rest and the stores, with one pod lost");
	else if (sat_add(size->needed_bytes, WORTH) > row->set_bytes)
		keep(row, "it fits");
	else if (!may_lower(size))
		keep(row, "it may be too large: it is lowered by readings of a day or more");
	else
		resize_say(row, size->needed_bytes, "heap, the rest and the stores, with one pod lost");
}

/* How many instances a limit holds that are as large as the largest seen. */
static void look_at_instances(struct streams_size *size, uint64_t beside)
{
	const struct resize_row *cache = &size->rows[STREAMS_SIZE_CACHE],
				*memtables = &size->rows[STREAMS_SIZE_MEMTABLES],
				*limit = &size->rows[STREAMS_SIZE_LIMIT];
	if (!size->instances.known || !size->instances.n || !cache->known || !memtables->known)
		return;
	uint64_t each = sat_add(cache->max_bytes, memtables->max_bytes) / size->instances.n;
	size->instance_bytes = qty_of(each, QTY_DERIVED);
	if (limit->set_known && each)
		size->limit_holds = count_of(limit->set_bytes > beside ? (limit->set_bytes - beside) / each : 0);
}

/* The same in partitions: each has as many instances as all pods have open, shared out. One pod more than hold them may be lost. */
static void look_at_partitions(struct streams_size *size, uint64_t partitions)
{
	uint64_t all = sat_mul(size->instances.n, size->pods);
	if (!partitions || !size->limit_holds.known || !size->instances.known || !all)
		return;
	uint64_t held = sat_mul(size->limit_holds.n, partitions) / all;
	size->partitions_hold = count_of(held);
	if (held)
		size->pods_needed = count_of(partitions / held + (partitions % held != 0) + 1);
}

int streams_size_run(const struct resize_reading *readings, const char *const *names, size_t n, uint64_t pods,
		     uint64_t partitions, struct streams_size *ret_size, struct err *err)
{
	int rc = resize_same(readings, names, n, err);
	if (rc < 0)
		return rc;
	auto_free uint64_t *values = malloc(n * sizeof *values);
	if (!values)
		return err_set(err, ERR_NOMEM, "no memory for a plan");
	/* The pod with most stores says the sizes. */
	const struct resize_reading *last = &readings[n - 1];
	for (size_t i = 0; i < n; i++)
		if (readings[i].cache_bound.kind == LIMIT_SET &&
		    readings[i].cache_bound.bytes > last->cache_bound.bytes)
			last = &readings[i];
	struct streams_size size = { .n_readings = n, .pods = pods, .too_few = n < RESIZE_READINGS_LEAST };
	look(readings, n, values, &size);
	look_at_bound(last, &size);
	struct resize_row *heap = &size.rows[STREAMS_SIZE_HEAP], *rest = &size.rows[STREAMS_SIZE_REST];
	heap->set_known = true;
	heap->set_bytes = last->set[RESIZE_HEAP].bytes;
	propose_heap(&size, resize_heap_pressure(readings, n));
	uint64_t rest_bytes = more_of(rest->max_bytes, 20, REST_MARGIN);
	uint64_t beside = sat_add(heap->proposed_bytes, rest_bytes);
	keep(rest, "nothing sets it: a fifth above the highest is left for it");
	propose_stores(last, &size, beside);
	propose_limit(last, &size, beside);
	look_at_instances(&size, beside);
	look_at_partitions(&size, partitions);
	streams_size_steps(&size);
	*ret_size = size;
	return 0;
}
