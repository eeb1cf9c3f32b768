/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/all.h"

/* What stands on a composition must outlast a few scans: one that fell into a checkpoint's peak stays until the next. */
enum { SCANS_S = 180 };

const struct rule rule_table[] = {
	{ "freeboard-low", "little room is left between what the kernel cannot reclaim and the limit", "limit, floor",
	  rule_freeboard_low, false, 0, 0 },
	{ "demand-over-limit", "what the pod is configured to need, and will, does not fit its limit",
	  "limit, -Xmx, smaps", rule_demand_over_limit, false, SCANS_S, 0 },
	{ "limit-below-process-size", "the container's limit is smaller than the size Flink was told to plan for",
	  "limit, Flink's budget", rule_limit_below_process_size, false, 0, 0 },
	{ "limit-above-process-size", "the container may take more than Flink plans for, and nothing uses it",
	  "limit, Flink's budget, floor", rule_limit_above_process_size, false, SCANS_S, 0 },
	{ "heap-sized-from-host",
	  "the JVM sized its heap from the host's memory, or from nothing, and not from the container's limit",
	  "limit, -Xmx, where it was set", rule_heap_sized_from_host, false, 0, 0 },
	{ "heap-pressure", "the heap is nearly full right after a collection", "-Xmx, hsperfdata", rule_heap_pressure,
	  false, 0, 0 },
	{ "metaspace-near-limit", "class metadata is close to MaxMetaspaceSize", "MaxMetaspaceSize, metaspace in use",
	  rule_metaspace_near_limit, false, 0, 0 },
	{ "direct-near-limit", "direct buffers are close to MaxDirectMemorySize",
	  "MaxDirectMemorySize, the direct pool's gauge", rule_direct_near_limit, false, 0, 0 },
	{ "rocksdb-over-budget", "RocksDB holds more than its budget", "RocksDB metrics, its budget",
	  rule_rocksdb_over_budget, false, SCANS_S, 0 },
	{ "rocksdb-unbounded", "nothing bounds RocksDB's memory below the container's limit",
	  "limit, state backend, number of stores", rule_rocksdb_unbounded, false, SCANS_S, 0 },
	{ "rocksdb-pinned", "most of the block cache is pinned and cannot be evicted", "RocksDB's cache metrics",
	  rule_rocksdb_pinned, false, SCANS_S, 0 },
	{ "write-buffer-thrash",
	  "the write buffers are too small for the number of states: RocksDB flushes all the time",
	  "RocksDB's budget, number of states, its stall metrics", rule_write_buffer_thrash, false, 0, 0 },
	{ "managed-idle", "Flink sets managed memory aside and nothing uses it", "Flink's budget, state backend",
	  rule_managed_idle, false, SCANS_S, 0 },
	{ "allocator-retention", "malloc keeps memory that the program has freed",
	  "malloc_info, or RocksDB metrics and the allocator", rule_allocator_retention, false, SCANS_S, 0 },
	{ "native-unexplained", "native memory that no budget and no metric explains",
	  "smaps, Flink's budget or RocksDB metrics", rule_native_unexplained, false, SCANS_S, 0 },
	{ "known-leak", "this version has a published leak, and the condition for it is met",
	  "versions, settings, metric names", rule_known_leak, false, 0, 0 },
	{ "other-process", "other processes in the container hold memory that no budget counts", "smaps, memory.stat",
	  rule_other_process, false, SCANS_S, 0 },
	{ "tmpfs-charged", "files in memory (tmpfs, /dev/shm) are charged to the container", "memory.stat, limit",
	  rule_tmpfs_charged, false, 0, 0 },
	{ "socket-memory", "socket buffers hold a part of the limit", "memory.stat, limit", rule_socket_memory, false,
	  0, 0 },
	{ "kernel-memory", "kernel memory holds a part of the limit that cannot be reclaimed", "memory.stat, limit",
	  rule_kernel_memory, false, 0, 0 },
	{ "thp-inflation", "huge pages hold memory that nobody asked for", "smaps, memory.stat, limit",
	  rule_thp_inflation, false, SCANS_S, 0 },
	{ "dirty-cache", "page cache that must be written before it can be reclaimed", "memory.stat, limit",
	  rule_dirty_cache, false, 0, 0 },
	{ "page-cache-benign", "the charge is near the limit and it is page cache: no danger",
	  "memory.current, memory.stat, limit", rule_page_cache_benign, false, 0, 0 },
	{ "swap-in-use", "a part of the container is swapped out", "memory.swap.current or VmSwap", rule_swap_in_use,
	  false, 0, 0 },
	{ "memory-high-throttling", "the container is throttled at memory.high, below its limit",
	  "memory.high, memory.current, memory.events", rule_memory_high_throttling, false, 0, 0 },
	{ "pressure-stall", "threads wait for memory", "memory.pressure", rule_pressure_stall, false, 0, 0 },
	{ "reclaim-thrash", "the kernel evicts the running program's own pages", "limit, memory.stat, memory.pressure",
	  rule_reclaim_thrash, false, 0, 0 },
	{ "oom-kill", "the kernel has killed a process of this container", "memory.events", rule_oom_kill, false, 0,
	  0 },
	{ "metrics-missing", "memory that an exported metric would name", "the engine, its version, its settings",
	  rule_metrics_missing, false, 0, 0 },
	{ "access-degraded", "something could not be read, and these lines are missing for it", "nothing",
	  rule_access_degraded, false, 0, 0 },
	{ "limit-forecast", "at the present pace the limit is reached, and when", "limit, floor and owners over time",
	  rule_limit_forecast, true, 300, 15 }, /* five minutes are half of what some have left */
	{ "native-growth", "native memory grows steadily, past what was set aside for it", "smaps over time, limit",
	  rule_native_growth, true, 600, 0 },
	{ "step-growth", "native memory grows by a step with each restart or rebalance",
	  "smaps over time, three restarts or rebalances", rule_step_growth, true, 120, 0 },
	{ "metaspace-growth", "class metadata grows steadily: class loaders are not unloaded",
	  "metaspace in use over time, MaxMetaspaceSize", rule_metaspace_growth, true, 600, 0 },
	{ "thread-growth", "the number of threads grows steadily", "threads over time", rule_thread_growth, true, 600,
	  0 },
	{ "rocksdb-metadata-thrash", "index and filter blocks do not fit RocksDB's block cache",
	  "RocksDB's cache metrics over time", rule_rocksdb_metadata_thrash, true, 300, 0 },
	{ "limit-changed", "the container's limit was changed while the JVM ran", "limit over time", rule_limit_changed,
	  true, 1, 0 }, /* an event, not a level: a JVM may die of it within the minute that others wait */
};

const size_t rule_count = sizeof rule_table / sizeof rule_table[0];
_Static_assert(sizeof rule_table / sizeof rule_table[0] <= FINDINGS_MAX - 1, "room for one finding a rule");

const struct rule *rules_find(struct str name)
{
	for (size_t i = 0; i < rule_count; i++)
		if (str_eq(str_of(rule_table[i].name), name))
			return &rule_table[i];
	return NULL;
}
