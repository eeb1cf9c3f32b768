/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Flink gives RocksDB (and ForSt): of a grant S with write buffer ratio w, a cache of (3-w)S/3 and a write
 * buffer manager of 2Sw/3, charged to that cache; memtables may reach 1.5 times the manager's, hence cache + wbm/2
 * = S (RocksDBMemoryControllerUtils). Truncations are Java's: the figures equal Flink's to the byte.
 */
#ifndef ENGINE_ROCKSDB_H
#define ENGINE_ROCKSDB_H

#include "bankfull/engine.h"

struct rocksdb_split {
	uint64_t cache_bytes, write_buffers_bytes;
};

enum { ROCKSDB_RATIO_DEFAULT_BP = 5000 };

struct rocksdb_split rocksdb_split(uint64_t grant_bytes, uint32_t write_buffer_ratio_bp);

struct rocksdb_budget {
	enum rocksdb_sharing sharing;
	struct count n_caches;                       /* slots, or 1 */
	struct qty grant_bytes;                      /* of one cache */
	struct qty cache_bytes, write_buffers_bytes; /* of one cache */
	struct qty total_grant_bytes; /* of the process: what RocksDB may hold before it is over its budget */
	bool within_managed;          /* the grant is part of managed memory; else it comes on top of Flink's budget */
};

/*
 * By priority: fixed-per-slot, managed (the default), fixed-per-tm, nothing shared (sharing PER_STORE, sizes
 * unread). `managed` gives a slot all of its managed memory: true of a streaming job whose only consumer is the
 * state backend, an upper bound otherwise.
 */
void rocksdb_budget(const struct engine_state *state, struct rocksdb_budget *ret_budget);

#endif
