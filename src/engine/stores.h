/* SPDX-License-Identifier: Apache-2.0 */
/*
 * RocksDB (and ForSt) by its own properties, store by store, and the rules by which they may be added.
 *
 * Memtables and table readers belong to one column family or store: their sums are sums. A block cache may be
 * shared, and then every store reports the whole of it (Flink's RocksDBMemoryControllerUtils, Kafka's
 * RocksDBMetricsRecorder):
 * - Flink, managed or fixed-per-slot: one cache a slot. No label names the slot; subtasks of one vertex never
 *   share a slot, so the vertex with most subtasks here gives the least number of caches, and its subtasks' maxima
 *   the least usage.
 * - Flink fixed-per-tm, and a Streams setter's shared cache: one in the process; the maximum once.
 * - Else one each: the sum. The same property of the same store twice with two values makes the whole claim
 *   ambiguous: no sums.
 */
#ifndef ENGINE_STORES_H
#define ENGINE_STORES_H

#include "bankfull/engine.h"
#include "base/buf.h"
#include "engine/notes.h"

enum rocksdb_property {
	ROCKSDB_CACHE_USAGE = 0,
	ROCKSDB_CACHE_CAPACITY,
	ROCKSDB_CACHE_PINNED,
	ROCKSDB_ALL_MEMTABLES,
	ROCKSDB_CUR_MEMTABLES,
	ROCKSDB_TABLE_READERS,
	ROCKSDB_LIVE_DATA,
	ROCKSDB_LIVE_SST,
	ROCKSDB_TOTAL_SST,
	/* No bytes: numbers. */
	ROCKSDB_FLUSH_PENDING,
	ROCKSDB_WRITE_STOPPED,
	ROCKSDB_DELAYED_RATE,
	ROCKSDB_IMMUTABLE,
	ROCKSDB_OPEN_ITERATORS, /* Streams */
	ROCKSDB_PROPERTY_COUNT,
};

/* What a Streams store is, by the label that names it. */
enum store_kind { STORE_KIND_UNREAD = 0, STORE_KV, STORE_WINDOW, STORE_SESSION, STORE_KIND_COUNT };

/* "block_cache_usage" or "block-cache-usage"; false if it is none we use. */
bool rocksdb_property_find(struct str name, enum rocksdb_property *ret_property);

/* Who reports: label values as they stand. Absent parts are empty. */
struct store_id {
	struct str job, vertex, subtask;    /* Flink */
	struct str op_id, op_name, attempt; /* Flink */
	struct str task, thread;            /* Streams */
	struct str store;                   /* state, column family or store name */
	enum store_kind kind;               /* Streams */
};

struct store {
	struct qty property[ROCKSDB_PROPERTY_COUNT];
	uint16_t seen;      /* one bit a property: reported, readable or not */
	uint16_t conflicts; /* one bit a property: reported with two values */
	bool labelled;      /* some part of the id was there */
	enum store_kind kind;
	uint32_t key_at, key_len; /* in the arena: the parts of the id in order, each ended by 0x1f */
	uint32_t hash;
};

enum { STORES_MAX = 32768 };

struct stores {
	struct store *items;
	size_t n, room;
	uint32_t *slots; /* open addressing: index + 1 */
	size_t n_slots;
	struct buf arena;
	bool full; /* more than STORES_MAX, or their names are too long: no sums */
};

void stores_done(struct stores *stores);
#define auto_stores auto_(stores_done)

/* `known` false: the property was there with a value that is no number of bytes (NaN, negative): unread. */
int stores_add(struct stores *stores, const struct store_id *id, enum rocksdb_property property, bool known,
	       uint64_t value, struct err *err) __attribute__((warn_unused_result));

/* How many stores wait, stop or hold back writes, what they hold, and how many there are of each kind. Unread as above. */
void stores_count(const struct stores *stores, struct rocksdb_claim *claim, struct streams_bound *bound);

/*
 * Flink's or Streams' claim, by `state->kind`, budget and settings: fills state->rocksdb, and state->streams by
 * the stores seen. With no store nothing is set. A sum in which one store reports no number is unread.
 */
int stores_claim(struct stores *stores, struct engine_state *state, const char *what, struct engine_notes *notes,
		 struct err *err) __attribute__((warn_unused_result));

#endif
