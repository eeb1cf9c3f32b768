/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting the stores. What they add up to is claim.c's. */
#include "engine/stores.h"

#include <stdlib.h>

enum { ARENA_MAX = 8 * 1024 * 1024, PART_END = 0x1f };

static const char *const property_names[ROCKSDB_PROPERTY_COUNT] = {
	[ROCKSDB_CACHE_USAGE] = "block-cache-usage",         [ROCKSDB_CACHE_CAPACITY] = "block-cache-capacity",
	[ROCKSDB_CACHE_PINNED] = "block-cache-pinned-usage", [ROCKSDB_ALL_MEMTABLES] = "size-all-mem-tables",
	[ROCKSDB_CUR_MEMTABLES] = "cur-size-all-mem-tables", [ROCKSDB_TABLE_READERS] = "estimate-table-readers-mem",
	[ROCKSDB_LIVE_DATA] = "estimate-live-data-size",     [ROCKSDB_LIVE_SST] = "live-sst-files-size",
	[ROCKSDB_TOTAL_SST] = "total-sst-files-size",        [ROCKSDB_FLUSH_PENDING] = "mem-table-flush-pending",
	[ROCKSDB_WRITE_STOPPED] = "is-write-stopped",        [ROCKSDB_DELAYED_RATE] = "actual-delayed-write-rate",
	[ROCKSDB_IMMUTABLE] = "num-immutable-mem-table",     [ROCKSDB_OPEN_ITERATORS] = "num-open-iterators",
};

static bool same_name(struct str name, const char *property)
{
	size_t i = 0;
	for (; i < name.len && property[i]; i++)
		if (name.ptr[i] != property[i] && !(property[i] == '-' && name.ptr[i] == '_'))
			return false;
	return i == name.len && !property[i];
}

bool rocksdb_property_find(struct str name, enum rocksdb_property *ret_property)
{
	for (int i = 0; i < ROCKSDB_PROPERTY_COUNT; i++)
		if (same_name(name, property_names[i])) {
			*ret_property = (enum rocksdb_property)i;
			return true;
		}
	return false;
}

void stores_done(struct stores *stores)
{
	free(stores->items);
	free(stores->slots);
	buf_done(&stores->arena);
	*stores = (struct stores){ 0 };
}

static void add_part(struct buf *arena, struct str part)
{
	char *at = buf_grow(arena, part.len + 1);
	if (!at)
		return;
	for (size_t i = 0; i < part.len; i++)
		at[i] = part.ptr[i] == PART_END ? '?' : part.ptr[i];
	at[part.len] = PART_END;
	buf_grown(arena, part.len + 1);
}

static uint32_t hash_of(struct str text)
{
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < text.len; i++)
		hash = (hash ^ (unsigned char)text.ptr[i]) * 16777619u;
	return hash;
}

static bool grow_slots(struct stores *stores)
{
	if ((stores->n + 1) * 2 <= stores->n_slots)
		return true;
	size_t n = stores->n_slots ? stores->n_slots * 2 : 64;
	uint32_t *slots = calloc(n, sizeof *slots);
	if (!slots)
		return false;
	for (size_t i = 0; i < stores->n; i++) {
		size_t at = stores->items[i].hash & (n - 1);
		while (slots[at])
			at = (at + 1) & (n - 1);
		slots[at] = (uint32_t)i + 1;
	}
	free(stores->slots);
	stores->slots = slots;
	stores->n_slots = n;
	return true;
}

static bool grow_items(struct stores *stores)
{
	if (stores->n < stores->room)
		return true;
	size_t room = stores->room ? stores->room * 2 : 32;
	struct store *items = realloc(stores->items, room * sizeof *items);
	if (!items)
		return false;
	stores->items = items;
	stores->room = room;
	return true;
}

/*
 * The store of the key that stands at the end of the arena from `key_at` on; new ones keep the key, known ones
 * give it back.
 */
static struct store *find_or_add(struct stores *stores, size_t key_at)
{
	struct str key = { stores->arena.ptr + key_at, stores->arena.len - key_at };
	uint32_t hash = hash_of(key);
	if (!grow_slots(stores) || !grow_items(stores))
		return NULL;
	size_t at = hash & (stores->n_slots - 1);
	for (; stores->slots[at]; at = (at + 1) & (stores->n_slots - 1)) {
		struct store *store = &stores->items[stores->slots[at] - 1];
		if (store->hash == hash &&
		    str_eq(key, (struct str){ stores->arena.ptr + store->key_at, store->key_len })) {
			stores->arena.len = key_at;
			return store;
		}
	}
	struct store *store = &stores->items[stores->n];
	*store = (struct store){ .key_at = (uint32_t)key_at, .key_len = (uint32_t)key.len, .hash = hash };
	for (size_t i = 0; i < key.len; i++)
		store->labelled = store->labelled || key.ptr[i] != PART_END;
	stores->slots[at] = (uint32_t)++stores->n;
	return store;
}

int stores_add(struct stores *stores, const struct store_id *id, enum rocksdb_property property, bool known,
	       uint64_t value, struct err *err)
{
	stores->arena.cap = ARENA_MAX;
	size_t key_at = stores->arena.len;
	const struct str parts[] = { id->job,     id->vertex, id->subtask, id->op_id, id->op_name,
				     id->attempt, id->task,   id->thread,  id->store };
	if (stores->full)
		return 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		add_part(&stores->arena, parts[i]);
	if (stores->arena.state == BUF_NOMEM)
		return err_set(err, ERR_NOMEM, "no memory for the list of stores");
	if (buf_failed(&stores->arena) || stores->n == STORES_MAX) {
		stores->full = true;
		return 0;
	}
	struct store *store = find_or_add(stores, key_at);
	if (!store)
		return err_set(err, ERR_NOMEM, "no memory for the list of stores");
	uint16_t bit = (uint16_t)(1u << property);
	struct qty now = known ? qty_measured(value) : (struct qty){ 0 };
	if (store->seen & bit) {
		struct qty before = store->property[property];
		if (before.state != now.state || before.bytes != now.bytes)
			store->conflicts |= bit;
	}
	store->seen |= bit;
	store->property[property] = now;
	store->kind = id->kind;
	return 0;
}

/* Over the stores that report it: how many say other than 0, or the sum. Unread if none does or one reports no number. */
static struct count count_over(const struct stores *stores, enum rocksdb_property property, bool sum)
{
	struct count count = { 0 };
	for (size_t i = 0; i < stores->n; i++) {
		struct qty now = stores->items[i].property[property];
		if (!(stores->items[i].seen >> property & 1))
			continue;
		if (!qty_known(now) || __builtin_add_overflow(count.n, sum ? now.bytes : now.bytes != 0, &count.n))
			return (struct count){ 0 };
		count.known = true;
	}
	return count;
}

void stores_count(const struct stores *stores, struct rocksdb_claim *claim, struct streams_bound *bound)
{
	uint64_t n[STORE_KIND_COUNT] = { 0 };
	claim->n_flush_pending = count_over(stores, ROCKSDB_FLUSH_PENDING, false);
	claim->n_write_stopped = count_over(stores, ROCKSDB_WRITE_STOPPED, false);
	claim->n_write_delayed = count_over(stores, ROCKSDB_DELAYED_RATE, false);
	claim->n_immutable = count_over(stores, ROCKSDB_IMMUTABLE, true);
	claim->n_open_iterators = count_over(stores, ROCKSDB_OPEN_ITERATORS, true);
	for (size_t i = 0; i < stores->n; i++)
		n[stores->items[i].kind]++;
	if (stores->n == 0 || n[STORE_KIND_UNREAD])
		return;
	bound->n_kv = count_of(n[STORE_KV]);
	bound->n_window = count_of(n[STORE_WINDOW]);
	bound->n_session = count_of(n[STORE_SESSION]);
}
