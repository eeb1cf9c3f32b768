/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What Kafka Streams may come to hold in RocksDB. Each open RocksDB instance has by default a cache of 50 MiB and
 * three memtables of 16 MiB (RocksDBStore.java, the same in 4.0 to 4.4): 98 MiB an instance. A key-value store is
 * one instance, a window or session store one for each live segment. Table readers come on top and have no bound
 * but the data.
 */
#ifndef ENGINE_STREAMS_H
#define ENGINE_STREAMS_H

#include "bankfull/engine.h"
#include "base/str.h"

#define STREAMS_CACHE_BYTES     (50ull << 20)
#define STREAMS_MEMTABLES_BYTES (48ull << 20)
#define STREAMS_INSTANCE_BYTES  (STREAMS_CACHE_BYTES + STREAMS_MEMTABLES_BYTES)

/*
 * RocksDB directories below state.dir: one relative path of a CURRENT file a line. Lines that are none are
 * ignored, the same path twice counts once. Directories of tasks that moved away stay up to 10 minutes
 * (state.cleanup.delay.ms): an upper bound. False, and nothing set, if there is none.
 */
bool streams_count_directories(struct str state_dirs, uint64_t *ret_instances);

/* The bound by `bound->n_instances` and, where a setter bounds it, by `claim`. */
void streams_bound_set(struct streams_bound *bound, const struct rocksdb_claim *claim);

#endif
