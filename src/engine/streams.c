/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/streams.h"

#include <stdlib.h>

/* app/0_3/rocksdb/counts/CURRENT: at least one directory before it. */
static bool is_current(struct str path)
{
	return str_ends(path, STR("/CURRENT")) && path.len > STR("/CURRENT").len;
}

static int compare(const void *left, const void *right)
{
	const struct str *a = left, *b = right;
	size_t len = a->len < b->len ? a->len : b->len;
	int order = len ? memcmp(a->ptr, b->ptr, len) : 0;
	return order ? order : (a->len > b->len) - (a->len < b->len);
}

bool streams_count_directories(struct str state_dirs, uint64_t *ret_instances)
{
	struct str rest = state_dirs, line;
	size_t n = 0, at = 0;
	while (str_line(&rest, &line))
		n += is_current(str_trim(line));
	if (n == 0)
		return false;
	struct str *paths = malloc(n * sizeof *paths);
	if (!paths)
		return false;
	for (rest = state_dirs; str_line(&rest, &line);)
		if (is_current(str_trim(line)))
			paths[at++] = str_trim(line);
	qsort(paths, n, sizeof *paths, compare);
	uint64_t distinct = 1;
	for (size_t i = 1; i < n; i++)
		distinct += !str_eq(paths[i - 1], paths[i]);
	free(paths);
	*ret_instances = distinct;
	return true;
}

static struct qty times(struct count n, uint64_t bytes)
{
	uint64_t product;
	if (!n.known || __builtin_mul_overflow(n.n, bytes, &product))
		return (struct qty){ 0 };
	return qty_of(product, QTY_INFERRED);
}

void streams_bound_set(struct streams_bound *bound, const struct rocksdb_claim *claim)
{
	bound->bounded_setter = claim->sharing == ROCKSDB_PER_PROCESS && qty_known(claim->cache_capacity_bytes);
	if (!bound->bounded_setter) {
		/*
		 * A setter that gives every store its own cache shows in the capacities; without them the default
		 * holds.
		 */
		struct qty memtables = times(bound->n_instances, STREAMS_MEMTABLES_BYTES);
		struct qty caches = times(bound->n_instances, STREAMS_CACHE_BYTES);
		if (claim->sharing == ROCKSDB_PER_STORE && !claim->ambiguous &&
		    qty_known(claim->cache_capacity_bytes) && qty_known(caches) &&
		    claim->cache_capacity_bytes.bytes > caches.bytes)
			caches = claim->cache_capacity_bytes;
		bound->native_bound_bytes = qty_add(memtables, caches);
		return;
	}
	struct qty capacity = qty_of(claim->cache_capacity_bytes.bytes, QTY_INFERRED);
	bound->native_bound_bytes = claim->memtables_in_cache
					    ? capacity
					    : qty_add(capacity, times(bound->n_instances, STREAMS_MEMTABLES_BYTES));
}
