/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every number a rule compares with, in one table, each with its reason.
 *
 * Each has two levels, so that a finding does not flutter: it is raised past `raise` and, once open, cleared only
 * when the value is back past `clear`. A report, which has no yesterday, judges by `raise` alone.
 */
#ifndef RULES_THRESHOLDS_H
#define RULES_THRESHOLDS_H

#include <stdbool.h>
#include <stdint.h>

enum threshold {
	T_FREEBOARD_LOW_WARNING,
	T_FREEBOARD_LOW_CRITICAL,
	T_FREEBOARD_LOW_WARNING_MAX,
	T_DEMAND_OVER_LIMIT_OVER,
	T_LIMIT_BELOW_PROCESS_SIZE_SLACK,
	T_LIMIT_ABOVE_PROCESS_SIZE_ABOVE,
	T_LIMIT_ABOVE_PROCESS_SIZE_ABOVE_BYTES,
	T_LIMIT_ABOVE_PROCESS_SIZE_IDLE,
	T_ROCKSDB_OVER_BUDGET_OVER,
	T_ROCKSDB_OVER_BUDGET_OVER_BYTES,
	T_ROCKSDB_UNBOUNDED_ROOM,
	T_ROCKSDB_UNBOUNDED_CAPACITY,
	T_ROCKSDB_PINNED_PINNED,
	T_ROCKSDB_PINNED_OVER,
	T_WRITE_BUFFER_THRASH_ARENA,
	T_WRITE_BUFFER_THRASH_STORES,
	T_MANAGED_IDLE_IDLE,
	T_MANAGED_IDLE_IDLE_BYTES,
	T_ALLOCATOR_RETENTION_RETAINED,
	T_ALLOCATOR_RETENTION_RETAINED_BYTES,
	T_ALLOCATOR_RETENTION_MOST,
	T_ALLOCATOR_RETENTION_RATIO,
	T_ALLOCATOR_RETENTION_RATIO_MOST,
	T_DIRECT_NEAR_LIMIT_WARNING,
	T_DIRECT_NEAR_LIMIT_CRITICAL,
	T_METASPACE_NEAR_LIMIT_WARNING,
	T_METASPACE_NEAR_LIMIT_CRITICAL,
	T_HEAP_PRESSURE_WARNING,
	T_HEAP_PRESSURE_CRITICAL,
	T_HEAP_SIZED_FROM_HOST_HEAP,
	T_TMPFS_CHARGED_NOTICE,
	T_TMPFS_CHARGED_WARNING,
	T_TMPFS_CHARGED_BYTES,
	T_DIRTY_CACHE_DIRTY,
	T_DIRTY_CACHE_BYTES,
	T_DIRTY_CACHE_NEAR,
	T_PAGE_CACHE_BENIGN_CHARGE,
	T_PAGE_CACHE_BENIGN_FREEBOARD,
	T_SOCKET_MEMORY_NOTICE,
	T_SOCKET_MEMORY_WARNING,
	T_SOCKET_MEMORY_BYTES,
	T_KERNEL_MEMORY_NOTICE,
	T_KERNEL_MEMORY_WARNING,
	T_KERNEL_MEMORY_BYTES,
	T_OTHER_PROCESS_NOTICE,
	T_OTHER_PROCESS_WARNING,
	T_OTHER_PROCESS_BYTES,
	T_THP_INFLATION_INFLATED,
	T_THP_INFLATION_BYTES,
	T_SWAP_IN_USE_NOTICE,
	T_SWAP_IN_USE_WARNING,
	T_MEMORY_HIGH_THROTTLING_NEAR,
	T_MEMORY_HIGH_THROTTLING_FLOOR,
	T_PRESSURE_STALL_WARNING,
	T_PRESSURE_STALL_CRITICAL,
	T_RECLAIM_THRASH_MARGIN,
	T_RECLAIM_THRASH_MOVING,
	T_RECLAIM_THRASH_REFAULTS,
	T_OOM_KILL_KILLS,
	T_OOM_KILL_POD,
	T_NATIVE_UNEXPLAINED_OVER,
	T_NATIVE_UNEXPLAINED_OVER_BYTES,
	T_METRICS_MISSING_POOL_BYTES,
	T_LIMIT_FORECAST_NOTICE,
	T_LIMIT_FORECAST_WARNING,
	T_LIMIT_FORECAST_CRITICAL,
	T_LIMIT_FORECAST_REACH,
	T_NATIVE_GROWTH_GROWN,
	T_NATIVE_GROWTH_WINDOW,
	T_NATIVE_GROWTH_DAYS,
	T_NATIVE_GROWTH_REACH,
	T_STEP_GROWTH_HEIGHT,
	T_STEP_GROWTH_SHARE,
	T_STEP_GROWTH_LEFT,
	T_METASPACE_GROWTH_GROWN,
	T_METASPACE_GROWTH_WINDOW,
	T_METASPACE_GROWTH_DAYS,
	T_METASPACE_GROWTH_REACH,
	T_THREAD_GROWTH_GROWN,
	T_THREAD_GROWTH_WINDOW,
	T_THREAD_GROWTH_MANY,
	T_ROCKSDB_METADATA_THRASH_FULL,
	T_ROCKSDB_METADATA_THRASH_MISSES,
	T_ROCKSDB_METADATA_THRASH_HITS,
	T_ROCKSDB_METADATA_THRASH_DATA,
	T_LIMIT_CHANGED_MINUTES,
	THRESHOLD_COUNT
};

enum threshold_kind { THRESHOLD_SHARE, THRESHOLD_BYTES, THRESHOLD_COUNTED, THRESHOLD_KIND_COUNT };

/* On which side of the level the trouble is: what is above is raised, or what is below. */
enum threshold_side { RAISED_ABOVE, RAISED_BELOW };

struct threshold_info {
	const char *rule, *name;
	enum threshold_kind kind;
	enum threshold_side side;
	const char *of; /* of a share: what it is a share of */
	uint64_t raise, clear;
	const char *reason;
};

extern const struct threshold_info threshold_table[THRESHOLD_COUNT];

/* The levels in force. Shares are in basis points, 1/10,000. */
struct thresholds {
	uint64_t raise[THRESHOLD_COUNT], clear[THRESHOLD_COUNT];
};

/* The levels of the table. */
void thresholds_init(struct thresholds *ret_thresholds);

/* The levels that a finding which is open is judged by: it stays until the value is past `clear`. */
struct thresholds thresholds_holding(const struct thresholds *thresholds);

/* A level as people write it: "12.5 %", "64.0 MiB", "3". It reads back by the configuration to the same value, but for the decimals of sizes. */
enum { THRESHOLD_TEXT_CAP = 32 };
const char *thresholds_format(char dest[THRESHOLD_TEXT_CAP], enum threshold_kind kind, uint64_t level);

/* `bp` basis points of `bytes`. Divides first: bytes may be near u64's end; saturates. */
uint64_t thresholds_share(uint64_t bytes, uint64_t bp);

#endif
