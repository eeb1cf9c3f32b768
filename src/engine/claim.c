/* SPDX-License-Identifier: Apache-2.0 */
/* What the stores of stores.c add up to: shared caches once. */
#include "base/esc.h"
#include "base/units.h"
#include "engine/rocksdb.h"
#include "engine/stores.h"
#include "engine/streams.h"

#include <inttypes.h>
#include <stdio.h>

enum { FLINK_UNMANAGED_CACHE = 8 << 20 }; /* state.backend.rocksdb.block.cache-size */

/* Usages below this say nothing: an empty cache reports its own handles (88 bytes each). */
enum { USAGE_TELLS = 1 << 20 };

static struct store_id id_of(const struct stores *stores, const struct store *store)
{
	struct str rest = { stores->arena.ptr + store->key_at, store->key_len };
	struct store_id id = { 0 };
	struct str *const parts[] = { &id.job,     &id.vertex, &id.subtask, &id.op_id, &id.op_name,
				      &id.attempt, &id.task,   &id.thread,  &id.store };
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		(void)str_split(&rest, 0x1f, parts[i]);
	return id;
}

static int compare_str(struct str a, struct str b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int order = len ? memcmp(a.ptr, b.ptr, len) : 0;
	return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* Sum over all stores that report it; unread if none does or any reports what is no number. */
static struct qty sum_of(const struct stores *stores, enum rocksdb_property property)
{
	struct qty sum = { 0 };
	bool any = false;
	for (size_t i = 0; i < stores->n; i++) {
		if (!(stores->items[i].seen >> property & 1))
			continue;
		sum = any ? qty_add(sum, stores->items[i].property[property]) : stores->items[i].property[property];
		any = true;
		if (!qty_known(sum))
			return sum;
	}
	if (qty_known(sum))
		sum.state = QTY_DERIVED;
	return sum;
}

static struct qty max_of(const struct stores *stores, enum rocksdb_property property)
{
	struct qty max = { 0 };
	for (size_t i = 0; i < stores->n; i++) {
		struct qty q = stores->items[i].property[property];
		if (qty_known(q) && (!qty_known(max) || q.bytes > max.bytes))
			max = q;
	}
	return max;
}

static struct qty min_of(const struct stores *stores, enum rocksdb_property property)
{
	struct qty min = { 0 };
	for (size_t i = 0; i < stores->n; i++) {
		struct qty q = stores->items[i].property[property];
		if (qty_known(q) && (!qty_known(min) || q.bytes < min.bytes))
			min = q;
	}
	return min;
}

/* One subtask with keyed state, or after merging one subtask index of a job. */
struct group {
	struct str job, vertex, subtask;
	uint64_t usage_bytes, pinned_bytes;
};

struct groups {
	struct group *items;
	size_t n;
};

static int by_vertex(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	int order = compare_str(a->job, b->job);
	order = order ? order : compare_str(a->vertex, b->vertex);
	return order ? order : compare_str(a->subtask, b->subtask);
}

static int by_subtask(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	int order = compare_str(a->job, b->job);
	return order ? order : compare_str(a->subtask, b->subtask);
}

static int by_usage(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	return (a->usage_bytes < b->usage_bytes) - (a->usage_bytes > b->usage_bytes);
}

/* Sort, and make one of neighbours that compare equal, keeping the maxima. */
static void merge(struct groups *groups, int (*compare)(const void *, const void *))
{
	size_t n = 0;
	qsort(groups->items, groups->n, sizeof *groups->items, compare);
	for (size_t i = 0; i < groups->n; i++) {
		struct group *last = n ? &groups->items[n - 1] : NULL, *now = &groups->items[i];
		if (last && compare(last, now) == 0) {
			last->usage_bytes = now->usage_bytes > last->usage_bytes ? now->usage_bytes : last->usage_bytes;
			last->pinned_bytes =
				now->pinned_bytes > last->pinned_bytes ? now->pinned_bytes : last->pinned_bytes;
		} else {
			groups->items[n++] = *now;
		}
	}
	groups->n = n;
}

static void fill_groups(const struct stores *stores, struct groups *groups)
{
	groups->n = 0;
	for (size_t i = 0; i < stores->n; i++) {
		const struct store *store = &stores->items[i];
		if (!qty_known(store->property[ROCKSDB_CACHE_USAGE]) &&
		    !qty_known(store->property[ROCKSDB_CACHE_CAPACITY]))
			continue;
		struct store_id id = id_of(stores, store);
		groups->items[groups->n++] = (struct group){
			.job = id.job,
			.vertex = id.vertex,
			.subtask = id.subtask,
			.usage_bytes = qty_or(store->property[ROCKSDB_CACHE_USAGE], 0),
			.pinned_bytes = qty_or(store->property[ROCKSDB_CACHE_PINNED], 0),
		};
	}
}

struct totals {
	size_t n;
	uint64_t usage_bytes, pinned_bytes;
};

static void add_group(struct totals *totals, const struct group *group)
{
	totals->n++;
	if (__builtin_add_overflow(totals->usage_bytes, group->usage_bytes, &totals->usage_bytes))
		totals->usage_bytes = UINT64_MAX;
	if (__builtin_add_overflow(totals->pinned_bytes, group->pinned_bytes, &totals->pinned_bytes))
		totals->pinned_bytes = UINT64_MAX;
}

/* The vertex with most subtasks here: no two of them share a slot, so these caches are distinct for certain. */
static struct totals widest_vertex(const struct groups *groups)
{
	struct totals best = { 0 }, now = { 0 };
	for (size_t i = 0; i < groups->n; i++) {
		const struct group *group = &groups->items[i], *before = i ? group - 1 : NULL;
		if (!before || !str_eq(before->job, group->job) || !str_eq(before->vertex, group->vertex))
			now = (struct totals){ 0 };
		add_group(&now, group);
		if (now.n > best.n || (now.n == best.n && now.usage_bytes > best.usage_bytes))
			best = now;
	}
	return best;
}

static void put_totals(struct rocksdb_claim *claim, const struct stores *stores, struct totals totals,
		       enum qty_state state)
{
	claim->n_caches = count_of(totals.n);
	if (qty_known(max_of(stores, ROCKSDB_CACHE_USAGE)))
		claim->cache_usage_bytes = qty_of(totals.usage_bytes, state);
	if (qty_known(max_of(stores, ROCKSDB_CACHE_PINNED)))
		claim->cache_pinned_bytes = qty_of(totals.pinned_bytes, state);
	struct qty capacity = max_of(stores, ROCKSDB_CACHE_CAPACITY);
	uint64_t product;
	if (qty_known(capacity) && !__builtin_mul_overflow(capacity.bytes, (uint64_t)totals.n, &product))
		claim->cache_capacity_bytes = qty_of(product, state);
}

/* One cache a slot, with no label that names the slot. */
static int claim_per_slot(const struct stores *stores, struct count n_slots, struct rocksdb_claim *claim)
{
	struct groups groups = { malloc(stores->n * sizeof *groups.items), 0 };
	if (!groups.items)
		return -1;
	fill_groups(stores, &groups);
	merge(&groups, by_vertex);
	struct totals least = widest_vertex(&groups);
	bool told_apart = true;
	for (size_t i = 0; i < groups.n; i++)
		told_apart = told_apart && groups.items[i].subtask.len != 0;
	size_t most = n_slots.known && n_slots.n < groups.n ? (size_t)n_slots.n : groups.n;
	if (!told_apart && !(n_slots.known && n_slots.n == 1))
		most = SIZE_MAX; /* the labels that tell subtasks apart were taken off */
	claim->n_caches_certain = least.n >= most;
	put_totals(claim, stores, least, claim->n_caches_certain ? QTY_DERIVED : QTY_INFERRED);
	claim->cache_usage_low_bytes = claim->cache_usage_bytes;
	if (!claim->n_caches_certain) {
		/* Subtasks of one index sit in one slot by default: as many caches as indices, slots permitting. */
		struct totals guess = { 0 };
		merge(&groups, by_subtask);
		qsort(groups.items, groups.n, sizeof *groups.items, by_usage);
		for (size_t i = 0; i < groups.n && (guess.n < most || guess.n < least.n); i++)
			add_group(&guess, &groups.items[i]);
		if (guess.n >= least.n && guess.usage_bytes >= least.usage_bytes)
			put_totals(claim, stores, guess, QTY_INFERRED);
	}
	free(groups.items);
	return 0;
}

static void claim_once(const struct stores *stores, struct rocksdb_claim *claim)
{
	claim->n_caches = count_of(1);
	claim->n_caches_certain = true;
	claim->cache_usage_bytes = claim->cache_usage_low_bytes = max_of(stores, ROCKSDB_CACHE_USAGE);
	claim->cache_capacity_bytes = max_of(stores, ROCKSDB_CACHE_CAPACITY);
	claim->cache_pinned_bytes = max_of(stores, ROCKSDB_CACHE_PINNED);
}

static void claim_each(const struct stores *stores, struct rocksdb_claim *claim)
{
	claim->n_caches = claim->n_stores;
	claim->n_caches_certain = true;
	claim->cache_usage_bytes = claim->cache_usage_low_bytes = sum_of(stores, ROCKSDB_CACHE_USAGE);
	claim->cache_capacity_bytes = sum_of(stores, ROCKSDB_CACHE_CAPACITY);
	claim->cache_pinned_bytes = sum_of(stores, ROCKSDB_CACHE_PINNED);
}

static bool all_equal(const struct stores *stores, enum rocksdb_property property)
{
	struct qty max = max_of(stores, property), min = min_of(stores, property);
	return qty_known(max) && max.bytes == min.bytes;
}

/*
 * What the settings say, unless the caches themselves say otherwise: a job may override the cluster's
 * configuration.
 */
static enum rocksdb_sharing flink_sharing(const struct stores *stores, const struct engine_state *state,
					  const char *what, struct engine_notes *notes)
{
	struct rocksdb_budget budget;
	rocksdb_budget(state, &budget);
	if (budget.sharing != ROCKSDB_PER_SLOT || !qty_known(max_of(stores, ROCKSDB_CACHE_CAPACITY)))
		return budget.sharing;
	if (!all_equal(stores, ROCKSDB_CACHE_CAPACITY)) {
		engine_note(
			notes, what, ERR_UNSUPPORTED,
			"block cache capacities differ between states although slots should share one each: the usage is an estimate");
		return ROCKSDB_SHARING_UNKNOWN;
	}
	uint64_t capacity = max_of(stores, ROCKSDB_CACHE_CAPACITY).bytes;
	if (capacity == FLINK_UNMANAGED_CACHE &&
	    (!qty_known(budget.cache_bytes) || budget.cache_bytes.bytes != capacity)) {
		engine_note(
			notes, what, ERR_UNSUPPORTED,
			"every state has a block cache of 8 MiB, the default without managed memory: counted as one cache each");
		return ROCKSDB_PER_STORE;
	}
	if (qty_known(budget.cache_bytes) && capacity > budget.cache_bytes.bytes)
		engine_note(notes, what, ERR_UNSUPPORTED,
			    "block caches hold up to %" PRIu64 " bytes, Flink's formula for a slot gives %" PRIu64
			    ": the job sets its own RocksDB memory",
			    capacity, budget.cache_bytes.bytes);
	return ROCKSDB_PER_SLOT;
}

static int claim_flink(const struct stores *stores, const struct engine_state *state, const char *what,
		       struct rocksdb_claim *claim, struct engine_notes *notes)
{
	int status = 0;
	claim->sharing = flink_sharing(stores, state, what, notes);
	claim->memtables_in_cache = claim->sharing != ROCKSDB_PER_STORE;
	if (claim->sharing == ROCKSDB_PER_PROCESS)
		claim_once(stores, claim);
	else if (claim->sharing == ROCKSDB_PER_STORE)
		claim_each(stores, claim);
	else
		status = claim_per_slot(stores, state->flink.n_slots, claim);
	if (claim->sharing == ROCKSDB_SHARING_UNKNOWN)
		claim->n_caches_certain = false;
	return status;
}

/* Do all Streams stores report one cache? */
static enum rocksdb_sharing streams_sharing(const struct stores *stores, bool *ret_certain)
{
	struct qty capacity = max_of(stores, ROCKSDB_CACHE_CAPACITY);
	struct qty most = max_of(stores, ROCKSDB_CACHE_USAGE), least = min_of(stores, ROCKSDB_CACHE_USAGE);
	*ret_certain = true;
	if (stores->n < 2 || !all_equal(stores, ROCKSDB_CACHE_CAPACITY))
		return ROCKSDB_PER_STORE;
	bool tells = qty_known(most) && most.bytes >= USAGE_TELLS;
	if (tells && most.bytes == least.bytes)
		return ROCKSDB_PER_PROCESS;
	/* Window stores by default: 50 MiB a segment, so an exact multiple for every store of as many segments. */
	if (capacity.bytes <= STREAMS_CACHE_BYTES ||
	    (capacity.bytes % STREAMS_CACHE_BYTES == 0 && capacity.bytes <= 4 * STREAMS_CACHE_BYTES))
		return ROCKSDB_PER_STORE;
	/*
	 * One cache read within one scrape: usages are near each other. Far apart, a setter gave each store a
	 * cache of its own.
	 */
	*ret_certain = tells && most.bytes - least.bytes <= most.bytes / 20;
	return !tells || most.bytes - least.bytes <= most.bytes / 4 ? ROCKSDB_PER_PROCESS : ROCKSDB_PER_STORE;
}

/*
 * Are the memtables charged to this cache? The setter that says so cannot be seen. They are charged by pinned
 * entries, at least as many bytes as they have: a cache that holds less, or pins far less, has not got them.
 */
static bool may_be_charged(const struct rocksdb_claim *claim)
{
	uint64_t memtables = qty_or(claim->memtables_bytes, 0);
	if (memtables == 0 || qty_or(claim->cache_usage_bytes, 0) < memtables)
		return false;
	return !qty_known(claim->cache_pinned_bytes) || claim->cache_pinned_bytes.bytes >= memtables / 2;
}

static void claim_streams(const struct stores *stores, struct rocksdb_claim *claim)
{
	bool certain;
	claim->sharing = streams_sharing(stores, &certain);
	if (claim->sharing == ROCKSDB_PER_PROCESS) {
		claim_once(stores, claim);
		claim->memtables_in_cache = may_be_charged(claim);
	} else {
		claim_each(stores, claim);
		if (!certain)
			claim->cache_usage_low_bytes = max_of(stores, ROCKSDB_CACHE_USAGE);
	}
	claim->n_caches_certain = certain;
}

static void find_largest(const struct stores *stores, struct rocksdb_claim *claim)
{
	const struct store *largest = NULL;
	uint64_t most = 0;
	for (size_t i = 0; i < stores->n; i++) {
		const struct store *store = &stores->items[i];
		struct qty memtables = store->property[ROCKSDB_ALL_MEMTABLES],
			   readers = store->property[ROCKSDB_TABLE_READERS];
		uint64_t both;
		if ((!qty_known(memtables) && !qty_known(readers)) ||
		    __builtin_add_overflow(qty_or(memtables, 0), qty_or(readers, 0), &both))
			continue;
		if (!largest || both > most) {
			largest = store;
			most = both;
		}
	}
	if (!largest)
		return;
	struct store_id id = id_of(stores, largest);
	struct str first = id.op_name.len ? id.op_name : id.op_id.len ? id.op_id : id.task;
	struct str last = id.op_name.len || id.op_id.len ? id.subtask : (struct str){ "", 0 };
	char text[400];
	(void)snprintf(text, sizeof text, "%.*s%s%.*s%s%.*s", (int)(first.len > 100 ? 100 : first.len),
		       first.len ? first.ptr : "", first.len ? "/" : "", (int)(id.store.len > 200 ? 200 : id.store.len),
		       id.store.len ? id.store.ptr : "", last.len ? " #" : "", (int)(last.len > 16 ? 16 : last.len),
		       last.len ? last.ptr : "");
	(void)esc_copy(claim->largest_store, sizeof claim->largest_store, str_of(text));
	claim->largest_store_bytes = qty_of(most, QTY_DERIVED);
}

static int compare_threads(const void *left, const void *right)
{
	return compare_str(*(const struct str *)left, *(const struct str *)right);
}

/* Instances and threads by what reports. A default store with segments shows 50 MiB of cache for each. */
static int count_instances(const struct stores *stores, const struct rocksdb_claim *claim, struct streams_bound *bound)
{
	struct str *threads = malloc(stores->n * sizeof *threads);
	uint64_t instances = 0, n_threads = 0;
	if (!threads)
		return -1;
	for (size_t i = 0; i < stores->n; i++) {
		uint64_t capacity = qty_or(stores->items[i].property[ROCKSDB_CACHE_CAPACITY], 0);
		bool segments = claim->sharing == ROCKSDB_PER_STORE && capacity &&
				capacity % STREAMS_CACHE_BYTES == 0 && capacity / STREAMS_CACHE_BYTES <= 8;
		instances += segments ? capacity / STREAMS_CACHE_BYTES : 1;
		threads[i] = id_of(stores, &stores->items[i]).thread;
	}
	qsort(threads, stores->n, sizeof *threads, compare_threads);
	for (size_t i = 0; i < stores->n; i++)
		n_threads += threads[i].len && (i == 0 || !str_eq(threads[i - 1], threads[i]));
	free(threads);
	/*
	 * Directories show every segment, and those of tasks that just left: fewer of them than open stores means
	 * another state.dir.
	 */
	if (!bound->from_directories || bound->n_instances.n < instances) {
		bound->n_instances = count_of(instances);
		bound->from_directories = false;
	}
	if (n_threads)
		bound->n_threads = count_of(n_threads);
	return 0;
}

static bool is_ambiguous(const struct stores *stores, const struct engine_state *state, const char *what,
			 struct engine_notes *notes)
{
	if (stores->full) {
		engine_note(notes, what, ERR_LIMIT, "more than %d stores report RocksDB metrics: no sums", STORES_MAX);
		return true;
	}
	for (size_t i = 0; i < stores->n; i++) {
		const struct store *store = &stores->items[i];
		if (store->conflicts) {
			engine_note(
				notes, what, ERR_MALFORMED,
				"the same RocksDB series comes more than once with different values: labels that tell stores apart are missing, no sums");
			return true;
		}
		bool streams = state->kind != ENGINE_FLINK_TASKMANAGER;
		bool one = state->streams.n_instances.known && state->streams.n_instances.n == 1;
		if (streams && !id_of(stores, store).store.len && !one) {
			engine_note(
				notes, what, ERR_UNSUPPORTED,
				"RocksDB series without a store label: with several stores they overwrite each other, so they are no sums; use a jmx_exporter rule that keeps the store's name");
			return true;
		}
	}
	return false;
}

int stores_claim(struct stores *stores, struct engine_state *state, const char *what, struct engine_notes *notes,
		 struct err *err)
{
	struct rocksdb_claim claim = { 0 };
	int status = 0;
	if (stores->n == 0 && !stores->full)
		return 0;
	claim.n_stores = count_of(stores->n);
	claim.ambiguous = is_ambiguous(stores, state, what, notes);
	if (!claim.ambiguous) {
		claim.memtables_bytes = sum_of(stores, ROCKSDB_ALL_MEMTABLES);
		claim.memtables_unpinned_bytes = sum_of(stores, ROCKSDB_CUR_MEMTABLES);
		claim.table_readers_bytes = sum_of(stores, ROCKSDB_TABLE_READERS);
		claim.live_data_bytes = sum_of(stores, ROCKSDB_LIVE_DATA);
		claim.sst_bytes = sum_of(stores, ROCKSDB_LIVE_SST);
		if (!qty_known(claim.sst_bytes))
			claim.sst_bytes = sum_of(stores, ROCKSDB_TOTAL_SST);
		if (state->kind == ENGINE_FLINK_TASKMANAGER)
			status = claim_flink(stores, state, what, &claim, notes);
		else
			claim_streams(stores, &claim);
		find_largest(stores, &claim);
		stores_count(stores, &claim, &state->streams);
		if (status == 0 && state->kind != ENGINE_FLINK_TASKMANAGER)
			status = count_instances(stores, &claim, &state->streams);
	}
	if (status < 0)
		return err_set(err, ERR_NOMEM, "no memory to sum up %zu stores", stores->n);
	state->rocksdb = claim;
	return 0;
}
