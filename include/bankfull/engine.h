/* SPDX-License-Identifier: Apache-2.0 */
/* What the streaming engine in the JVM was given (budgets) and what it says it uses (claims). */
#ifndef BANKFULL_ENGINE_H
#define BANKFULL_ENGINE_H

#include "bankfull/context.h"
#include "bankfull/quantity.h"
#include "bankfull/subject.h"

enum engine {
	ENGINE_UNKNOWN = 0,
	ENGINE_FLINK_TASKMANAGER,
	ENGINE_FLINK_JOBMANAGER,
	ENGINE_KAFKA_STREAMS,
	ENGINE_JVM,
	ENGINE_COUNT
};
extern const char *const
	engine_names[ENGINE_COUNT]; /* "unknown", "flink-taskmanager", "flink-jobmanager", "kafka-streams", "jvm" */

enum allocator {
	ALLOCATOR_UNKNOWN = 0,
	ALLOCATOR_GLIBC,
	ALLOCATOR_JEMALLOC,
	ALLOCATOR_TCMALLOC,
	ALLOCATOR_MIMALLOC,
	ALLOCATOR_MUSL,
	ALLOCATOR_COUNT
};
extern const char *const allocator_names[ALLOCATOR_COUNT];

/*
 * Flink's own split of a TaskManager's memory, exact, from the -D options of its command line
 * (TaskExecutorProcessUtils.generateDynamicConfigsStr) or a JobManager's. process = sum of the parts.
 */
struct flink_budget {
	struct qty framework_heap_bytes, task_heap_bytes;
	struct qty framework_off_heap_bytes, task_off_heap_bytes, network_bytes;
	struct qty managed_bytes;
	struct qty metaspace_bytes, overhead_bytes;
	struct qty heap_bytes, direct_bytes, flink_bytes, process_bytes; /* derived sums */
	struct count n_slots;
};

enum state_backend { BACKEND_UNKNOWN = 0, BACKEND_HASHMAP, BACKEND_ROCKSDB, BACKEND_FORST, BACKEND_COUNT };
extern const char *const state_backend_names[BACKEND_COUNT];

/* How RocksDB's (or ForSt's) block caches are shared: it decides what may be added (facts: Flink's RocksDBMemoryControllerUtils). */
enum rocksdb_sharing {
	ROCKSDB_SHARING_UNKNOWN = 0,
	ROCKSDB_PER_SLOT,    /* Flink managed or fixed-per-slot: one cache a slot, memtables charged to it */
	ROCKSDB_PER_PROCESS, /* fixed-per-tm, or a Streams config setter's shared cache */
	ROCKSDB_PER_STORE,   /* nothing shared: every column family or store has its own */
	ROCKSDB_SHARING_COUNT,
};

/* RocksDB by its own properties, caches counted once. Claims, not residency: usage counts reservations too. */
struct rocksdb_claim {
	enum rocksdb_sharing sharing;
	bool memtables_in_cache; /* a write buffer manager charges them to the cache: already inside cache_usage */
	struct count n_stores;   /* RocksDB instances or column families seen */
	struct count n_caches;   /* distinct block caches, as counted for the sums below */
	bool n_caches_certain;   /* false: an estimate; cache_usage_low_bytes is then the least it can be */
	struct qty cache_usage_bytes, cache_usage_low_bytes, cache_capacity_bytes, cache_pinned_bytes;
	struct qty memtables_bytes;          /* size-all-mem-tables, summed */
	struct qty memtables_unpinned_bytes; /* cur-size-all-mem-tables, summed: the gap is held by iterators */
	struct qty table_readers_bytes;      /* outside the cache unless index and filter blocks are cached */
	struct qty live_data_bytes, sst_bytes;
	char largest_store[96]; /* the store with most memtables + readers: where to look first */
	struct qty largest_store_bytes;
	/* How many stores or column families say so; unread where the metric is not exported. */
	struct count n_flush_pending;  /* mem-table-flush-pending is 1 */
	struct count n_write_stopped;  /* is-write-stopped is 1 */
	struct count n_write_delayed;  /* actual-delayed-write-rate is not 0 */
	struct count n_immutable;      /* sum of num-immutable-mem-table */
	struct count n_open_iterators; /* Kafka Streams: sum of num-open-iterators */
	struct count n_ticker_series;  /* series of tickers (block-cache-hit, bytes-read, ...) on the page */
	/* Flink's tickers, summed over databases: since each was opened. */
	struct count cache_hits, cache_misses;
	/* Kafka Streams: the lowest index and filter hit ratio of all stores, over its last sampling (DEBUG level). */
	struct count metadata_hit_bp;
	bool ambiguous; /* label-less or colliding series: not usable for sums; the reason stands in a gap */
};

/* Gauges of the JVM and engine from one metrics page. */
struct engine_gauges {
	struct qty heap_used_bytes, heap_committed_bytes, heap_max_bytes;
	struct qty metaspace_used_bytes, metaspace_committed_bytes, metaspace_max_bytes;
	struct qty code_cache_used_bytes, code_cache_committed_bytes;
	struct qty direct_used_bytes, direct_capacity_bytes, mapped_used_bytes;
	struct count direct_buffers, threads, classes_loaded;
	struct qty managed_used_bytes, managed_total_bytes; /* Flink: a reservation, never a use */
	struct qty network_used_bytes, network_total_bytes, network_available_bytes;
};

/* Kafka Streams: what the number of stores allows (RocksDBStore.java: 50 MiB cache + 3 x 16 MiB memtables an instance). */
struct streams_bound {
	struct count n_instances; /* RocksDB instances open in this process: segments count each */
	struct count n_threads;
	bool from_directories;                  /* counted by CURRENT files under state.dir, else by metrics */
	bool bounded_setter;                    /* all stores report one cache */
	struct count n_kv, n_window, n_session; /* stores by kind, as the metrics' labels name them */
	struct qty native_bound_bytes;
};

struct engine_state {
	enum engine kind;
	char version[32];
	enum state_backend backend;
	struct flink_budget flink;
	struct engine_gauges gauges;
	struct rocksdb_claim rocksdb;
	struct streams_bound streams;
	struct engine_context context;
	char jobs[WIRE_JOBS_MAX][64]; /* by name, escaped; the first ones where there are more */
	size_t n_jobs;
	/* Settings that decide what managed memory is used for. */
	struct qty rocksdb_fixed_per_slot_bytes, rocksdb_fixed_per_tm_bytes;
	enum tristate rocksdb_managed;  /* state.backend.rocksdb.memory.managed */
	uint32_t write_buffer_ratio_bp; /* 0: unread; 5000 is Flink's default */
	struct qty
		write_buffer_bytes; /* state.backend.rocksdb.writebuffer.size: 64 MiB where the configuration was read and has none */
	enum tristate tickers; /* any ticker metric is switched on, by the configuration or by what the page shows */
	enum tristate manual_compaction; /* state.backend.rocksdb.manual-compaction.min-interval above 0 */
	enum tristate batch;             /* execution.runtime-mode is BATCH: operators use managed memory */
	enum tristate python;            /* PyFlink: its workers use managed memory */
};

#endif
