/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/thresholds.h"

#include <stdio.h>

#include "base/units.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

const struct threshold_info threshold_table[THRESHOLD_COUNT] = {
	[T_FREEBOARD_LOW_WARNING] = { "freeboard-low", "warning", THRESHOLD_SHARE, RAISED_BELOW, "of the limit", 1000,
				      1200,
				      "Flink sets 10 % of a process aside as overhead: with less room than that, the reserve for the unforeseen is being eaten" },
	[T_FREEBOARD_LOW_CRITICAL] = { "freeboard-low", "critical", THRESHOLD_SHARE, RAISED_BELOW, "of the limit", 300,
				       400,
				       "3 % of 2 GiB is 61 MiB, about one memtable of 64 MiB: the next flush cycle can end the pod" },
	[T_FREEBOARD_LOW_WARNING_MAX] = { "freeboard-low", "warning-max", THRESHOLD_BYTES, RAISED_BELOW, NULL, GIB,
					  GIB + GIB / 5,
					  "Flink caps its overhead at 1 GiB: a large pod with more room than that is not warned of its share" },
	[T_DEMAND_OVER_LIMIT_OVER] = { "demand-over-limit", "over", THRESHOLD_SHARE, RAISED_ABOVE, "of the limit", 0, 0,
				       "the expectation has its own margin (1.1 x what is not bounded); any excess cannot fit" },
	[T_LIMIT_BELOW_PROCESS_SIZE_SLACK] = { "limit-below-process-size", "slack", THRESHOLD_BYTES, RAISED_ABOVE, NULL,
					       MIB, MIB,
					       "rounding of Kubernetes quantities to pages; 4000m against 4G differs by 180 MiB and is far above it" },
	[T_LIMIT_ABOVE_PROCESS_SIZE_ABOVE] = { "limit-above-process-size", "above", THRESHOLD_SHARE, RAISED_ABOVE,
					       "of Flink's process size", 500, 400,
					       "operators that give Flink 90 % of the limit leave 11 % of the process size unplanned; 5 % is what rounding and a limit-factor of 1.05 leave on purpose" },
	[T_LIMIT_ABOVE_PROCESS_SIZE_ABOVE_BYTES] = { "limit-above-process-size", "above-bytes", THRESHOLD_BYTES,
						     RAISED_ABOVE, NULL, 64 * MIB, 48 * MIB,
						     "less than one write buffer is not worth a restart" },
	[T_LIMIT_ABOVE_PROCESS_SIZE_IDLE] = { "limit-above-process-size", "idle", THRESHOLD_SHARE, RAISED_ABOVE,
					      "of the limit", 2500, 2000,
					      "a quarter of the limit that the floor does not reach is, where the request equals the limit, paid for on every pod of the job" },
	[T_ROCKSDB_OVER_BUDGET_OVER] = { "rocksdb-over-budget", "over", THRESHOLD_SHARE, RAISED_ABOVE, "of the budget",
					 1000, 800,
					 "usage above the cache's capacity is normal up to one arena a state; Flink's own end-to-end test allows 1.27 x its grant" },
	[T_ROCKSDB_OVER_BUDGET_OVER_BYTES] = { "rocksdb-over-budget", "over-bytes", THRESHOLD_BYTES, RAISED_ABOVE, NULL,
					       64 * MIB, 48 * MIB,
					       "one write buffer of 64 MiB may be in flight beside the budget without harm" },
	[T_ROCKSDB_UNBOUNDED_ROOM] = { "rocksdb-unbounded", "room", THRESHOLD_SHARE, RAISED_ABOVE,
				       "of the room that the limit leaves to RocksDB", 10000, 9500,
				       "what the stores may take at most no longer fits beside what else runs in the container" },
	[T_ROCKSDB_UNBOUNDED_CAPACITY] = { "rocksdb-unbounded", "capacity", THRESHOLD_SHARE, RAISED_ABOVE,
					   "of the limit", 10000, 9500,
					   "a cache as large as the limit is no bound: the kernel's kill comes first (a cache sized from the host's memory)" },
	[T_ROCKSDB_PINNED_PINNED] = { "rocksdb-pinned", "pinned", THRESHOLD_SHARE, RAISED_ABOVE,
				      "of the block cache's usage", 8000, 7000,
				      "pinned blocks cannot be evicted; with four fifths pinned the cache's capacity no longer bounds it" },
	[T_ROCKSDB_PINNED_OVER] = { "rocksdb-pinned", "over", THRESHOLD_SHARE, RAISED_ABOVE,
				    "of the block cache's capacity", 1000, 500,
				    "usage above capacity by more than a tenth is beyond what arenas of idle states explain in a cache of ordinary size" },
	[T_WRITE_BUFFER_THRASH_ARENA] = { "write-buffer-thrash", "arena", THRESHOLD_SHARE, RAISED_ABOVE,
					  "of the write buffer manager's capacity", 8750, 8000,
					  "a flush starts at 7/8 of the capacity: one arena block above it makes every write flush (FLINK-19238)" },
	[T_WRITE_BUFFER_THRASH_STORES] = { "write-buffer-thrash", "stores", THRESHOLD_SHARE, RAISED_ABOVE,
					   "of the write buffer manager's capacity", 10000, 9000,
					   "one arena block a state must fit, or writing to one state flushes another" },
	[T_MANAGED_IDLE_IDLE] = { "managed-idle", "idle", THRESHOLD_SHARE, RAISED_ABOVE, "of the process size", 1000,
				  800,
				  "a tenth of the process, Flink's own unit for overhead, is worth a change of configuration" },
	[T_MANAGED_IDLE_IDLE_BYTES] = { "managed-idle", "idle-bytes", THRESHOLD_BYTES, RAISED_ABOVE, NULL, 128 * MIB,
					96 * MIB, "below this the heap would not notice the gain" },
	[T_ALLOCATOR_RETENTION_RETAINED] = { "allocator-retention", "retained", THRESHOLD_SHARE, RAISED_ABOVE,
					     "of the limit", 1000, 800,
					     "as much as Flink's whole overhead is held by malloc and used by nobody" },
	[T_ALLOCATOR_RETENTION_RETAINED_BYTES] = { "allocator-retention", "retained-bytes", THRESHOLD_BYTES,
						   RAISED_ABOVE, NULL, 256 * MIB, 192 * MIB,
						   "64 MiB arenas with some free space each are normal; four of them empty are not" },
	[T_ALLOCATOR_RETENTION_MOST] = { "allocator-retention", "retained-alone", THRESHOLD_SHARE, RAISED_ABOVE,
					 "of the limit", 3000, 2500,
					 "below 853 MiB the limit comes before four empty arenas do: three times Flink's overhead, used by nobody, is no slack of an allocator" },
	[T_ALLOCATOR_RETENTION_RATIO] = { "allocator-retention", "ratio", THRESHOLD_SHARE, RAISED_ABOVE,
					  "of what is in use or claimed", 15000, 13000,
					  "a block cache in jemalloc costs 5 to 8 % more than it claims; reports of glibc's fragmentation start at 1.9 x" },
	[T_ALLOCATOR_RETENTION_RATIO_MOST] = { "allocator-retention", "ratio-most", THRESHOLD_SHARE, RAISED_BELOW,
					       "of what is in use or claimed", 40000, 45000,
					       "public reports of fragmentation end at 3 to 4 x: what is more is likelier a leak, and native-unexplained says so" },
	[T_DIRECT_NEAR_LIMIT_WARNING] = { "direct-near-limit", "warning", THRESHOLD_SHARE, RAISED_ABOVE,
					  "of MaxDirectMemorySize less Flink's network buffers", 9000, 8500,
					  "Flink allocates its network buffers whole at the start, 93 % of the maximum of a large TaskManager; of the other 128 MiB a tenth is three arena chunks of Netty" },
	[T_DIRECT_NEAR_LIMIT_CRITICAL] = { "direct-near-limit", "critical", THRESHOLD_SHARE, RAISED_ABOVE,
					   "of MaxDirectMemorySize", 9700, 9500,
					   "reports of `OutOfMemoryError: Direct buffer memory` stand at 97 % and more" },
	[T_METASPACE_NEAR_LIMIT_WARNING] = { "metaspace-near-limit", "warning", THRESHOLD_SHARE, RAISED_ABOVE,
					     "of MaxMetaspaceSize", 9000, 8500,
					     "one more job's classes (18 MiB in a public report) are 7 % of the default of 256 MiB" },
	[T_METASPACE_NEAR_LIMIT_CRITICAL] = { "metaspace-near-limit", "critical", THRESHOLD_SHARE, RAISED_ABOVE,
					      "of MaxMetaspaceSize", 9700, 9500,
					      "the JVM collects the whole heap for every chunk it is refused" },
	[T_HEAP_PRESSURE_WARNING] = { "heap-pressure", "warning", THRESHOLD_SHARE, RAISED_ABOVE,
				      "of -Xmx (Serial, Parallel: of the old generation), after a collection", 8500,
				      8000,
				      "G1 means to start reclaiming before 85 % (a reserve of 10 %, 5 % of waste); with less than 15 % to allocate in, collections follow each other" },
	[T_HEAP_PRESSURE_CRITICAL] = { "heap-pressure", "critical", THRESHOLD_SHARE, RAISED_ABOVE,
				       "of -Xmx (Serial, Parallel: of the old generation), after a collection", 9500,
				       9000,
				       "HotSpot's GC overhead limit is near: OutOfMemoryError, not the kernel, ends the process" },
	[T_HEAP_SIZED_FROM_HOST_HEAP] = { "heap-sized-from-host", "heap", THRESHOLD_SHARE, RAISED_ABOVE, "of the limit",
					  8000, 7500,
					  "the JVM's own default is 25 % of the limit, and guides stop at 75 %; a heap nobody set that is larger was sized from something else" },
	[T_TMPFS_CHARGED_NOTICE] = { "tmpfs-charged", "notice", THRESHOLD_SHARE, RAISED_ABOVE, "of the limit", 500, 400,
				     "files in memory that take half of Flink's overhead belong on a disk" },
	[T_TMPFS_CHARGED_WARNING] = { "tmpfs-charged", "warning", THRESHOLD_SHARE, RAISED_ABOVE, "of the limit", 1500,
				      1200,
				      "more than the whole overhead: no budget of Flink or the JVM has room for it" },
	[T_TMPFS_CHARGED_BYTES] = { "tmpfs-charged", "bytes", THRESHOLD_BYTES, RAISED_ABOVE, NULL, 64 * MIB, 48 * MIB,
				    "secrets, tokens and /dev/shm of a small pod stay below it" },
	[T_DIRTY_CACHE_DIRTY] = { "dirty-cache", "dirty", THRESHOLD_SHARE, RAISED_ABOVE, "of the limit", 1000, 700,
				  "the kernel throttles writers at 20 % of what is dirtyable; at half of that a container at its limit already waits for the disk" },
	[T_DIRTY_CACHE_BYTES] = { "dirty-cache", "bytes", THRESHOLD_BYTES, RAISED_ABOVE, NULL, 64 * MIB, 48 * MIB,
				  "one SST file of a compaction is 64 MiB" },
	[T_DIRTY_CACHE_NEAR] = { "dirty-cache", "near", THRESHOLD_SHARE, RAISED_BELOW, "of the limit left", 1000, 1200,
				 "a compaction that deletes one SST file of 64 MiB takes a container of 1 GiB 6 % below its limit for a moment, and the next write is back at it" },
	[T_PAGE_CACHE_BENIGN_CHARGE] = { "page-cache-benign", "charge", THRESHOLD_SHARE, RAISED_ABOVE, "of the limit",
					 8500, 8000, "this is where dashboards of memory.current turn red" },
	[T_PAGE_CACHE_BENIGN_FREEBOARD] = { "page-cache-benign", "freeboard", THRESHOLD_SHARE, RAISED_ABOVE,
					    "of the limit", 2000, 1500, "twice the room at which freeboard-low warns" },
	[T_SOCKET_MEMORY_NOTICE] = { "socket-memory", "notice", THRESHOLD_SHARE, RAISED_ABOVE, "of the limit", 300, 200,
				     "a TaskManager's sockets hold some MiB; 3 % is many connections or peers that do not read" },
	[T_SOCKET_MEMORY_WARNING] = { "socket-memory", "warning", THRESHOLD_SHARE, RAISED_ABOVE, "of the limit", 1000,
				      800, "as much as the whole overhead" },
	[T_SOCKET_MEMORY_BYTES] = { "socket-memory", "bytes", THRESHOLD_BYTES, RAISED_ABOVE, NULL, 64 * MIB, 48 * MIB,
				    "10 connections at the default maximum of tcp_rmem (6 MiB)" },
	[T_KERNEL_MEMORY_NOTICE] = { "kernel-memory", "notice", THRESHOLD_SHARE, RAISED_ABOVE, "of the limit", 500, 400,
				     "page tables are 0.2 % of what is mapped and a thread's stack 16 KiB: 5 % is out of the ordinary" },
	[T_KERNEL_MEMORY_WARNING] = { "kernel-memory", "warning", THRESHOLD_SHARE, RAISED_ABOVE, "of the limit", 1000,
				      800, "as much as the whole overhead" },
	[T_KERNEL_MEMORY_BYTES] = { "kernel-memory", "bytes", THRESHOLD_BYTES, RAISED_ABOVE, NULL, 96 * MIB, 80 * MIB,
				    "2,000 threads' kernel stacks are 32 MiB; three times that is out of the ordinary in a small pod" },
	[T_OTHER_PROCESS_NOTICE] = { "other-process", "notice", THRESHOLD_SHARE, RAISED_ABOVE, "of the limit", 500, 400,
				     "half of Flink's overhead goes to processes that no budget of Flink counts" },
	[T_OTHER_PROCESS_WARNING] = { "other-process", "warning", THRESHOLD_SHARE, RAISED_ABOVE, "of the limit", 1000,
				      800, "as much as the whole overhead" },
	[T_OTHER_PROCESS_BYTES] = { "other-process", "bytes", THRESHOLD_BYTES, RAISED_ABOVE, NULL, 64 * MIB, 48 * MIB,
				    "a shell, an entrypoint and a health check stay below it" },
	[T_THP_INFLATION_INFLATED] = { "thp-inflation", "inflated", THRESHOLD_SHARE, RAISED_ABOVE, "of the limit", 500,
				       400, "half of Flink's overhead for memory that nobody asked for" },
	[T_THP_INFLATION_BYTES] = { "thp-inflation", "bytes", THRESHOLD_BYTES, RAISED_ABOVE, NULL, 128 * MIB, 96 * MIB,
				    "64 threads' stacks with one huge page of 2 MiB each" },
	[T_SWAP_IN_USE_NOTICE] = { "swap-in-use", "notice", THRESHOLD_BYTES, RAISED_ABOVE, NULL, 16 * MIB, 8 * MIB,
				   "pages of start-up that are never touched again are swapped without harm" },
	[T_SWAP_IN_USE_WARNING] = { "swap-in-use", "warning", THRESHOLD_SHARE, RAISED_ABOVE, "of the limit", 500, 300,
				    "a collection touches the whole heap: what is swapped comes back page by page while the world is stopped" },
	[T_MEMORY_HIGH_THROTTLING_NEAR] = { "memory-high-throttling", "near", THRESHOLD_SHARE, RAISED_BELOW,
					    "of memory.high", 200, 400,
					    "the kernel reclaims in batches of 64 pages a CPU and steps over the line before it throttles" },
	[T_MEMORY_HIGH_THROTTLING_FLOOR] = { "memory-high-throttling", "floor", THRESHOLD_SHARE, RAISED_ABOVE,
					     "of memory.high", 9000, 8500,
					     "below it there is page cache left to reclaim; above it the kernel can only make the threads sleep" },
	[T_PRESSURE_STALL_WARNING] = { "pressure-stall", "warning", THRESHOLD_SHARE, RAISED_ABOVE,
				       "of the time, some threads, 60 s", 1000, 500,
				       "a checkpoint's alignment of some seconds is lost when a tenth of the time is spent waiting for memory" },
	[T_PRESSURE_STALL_CRITICAL] = { "pressure-stall", "critical", THRESHOLD_SHARE, RAISED_ABOVE,
					"of the time, all threads, 60 s", 1000, 500,
					"systemd-oomd's default kills at 60 % over 30 s; at 10 % nothing at all runs one second in ten" },
	[T_RECLAIM_THRASH_MARGIN] = { "reclaim-thrash", "margin", THRESHOLD_SHARE, RAISED_BELOW,
				      "of the limit, beside what is mapped from files", 500, 700,
				      "with less room the kernel evicts the pages of the running program itself" },
	[T_RECLAIM_THRASH_MOVING] = { "reclaim-thrash", "moving", THRESHOLD_SHARE, RAISED_ABOVE,
				      "of the time, some threads, 10 s", 100, 50,
				      "refaults are counted since the container's start: only pressure tells that they happen now" },
	[T_RECLAIM_THRASH_REFAULTS] = { "reclaim-thrash", "refaults", THRESHOLD_COUNTED, RAISED_ABOVE, NULL, 100, 50,
					"an agent counts them a second, over a minute: a hundred pages evicted and read again are what a slow disk can serve, and each of them a thread waits for" },
	[T_OOM_KILL_KILLS] = { "oom-kill", "kills", THRESHOLD_COUNTED, RAISED_ABOVE, NULL, 0, 0, "one is an incident" },
	[T_OOM_KILL_POD] = { "oom-kill", "pod", THRESHOLD_SHARE, RAISED_ABOVE, "of the pod's limit", 9500, 9000,
			     "5 % of a pod of 2 GiB is 102 MiB: a sidecar and what it caches no longer fit beside this container" },
	[T_NATIVE_UNEXPLAINED_OVER] = { "native-unexplained", "over", THRESHOLD_SHARE, RAISED_ABOVE, "of the limit",
					500, 400,
					"what is free of the overhead carries the first part; half an overhead more is no rounding" },
	[T_NATIVE_UNEXPLAINED_OVER_BYTES] = { "native-unexplained", "over-bytes", THRESHOLD_BYTES, RAISED_ABOVE, NULL,
					      128 * MIB, 96 * MIB,
					      "malloc of a plain JVM (symbols, compiler, zip, JNI) is some tens of MiB" },
	[T_METRICS_MISSING_POOL_BYTES] = { "metrics-missing", "pool-bytes", THRESHOLD_BYTES, RAISED_ABOVE, NULL,
					   64 * MIB, 48 * MIB, "below one write buffer there is nothing to name" },
	[T_LIMIT_FORECAST_NOTICE] = { "limit-forecast", "notice-hours", THRESHOLD_COUNTED, RAISED_BELOW, NULL, 168, 192,
				      "a week: time to plan a change for the next release of the job" },
	[T_LIMIT_FORECAST_WARNING] = { "limit-forecast", "warning-hours", THRESHOLD_COUNTED, RAISED_BELOW, NULL, 24, 30,
				       "a day: whoever is on call tomorrow would be woken by it" },
	[T_LIMIT_FORECAST_CRITICAL] = { "limit-forecast", "critical-hours", THRESHOLD_COUNTED, RAISED_BELOW, NULL, 1, 2,
					"time for a savepoint and a restart with more room, and little else" },
	[T_LIMIT_FORECAST_REACH] = { "limit-forecast", "reach", THRESHOLD_COUNTED, RAISED_BELOW, NULL, 3, 4,
				     "times the time that was watched, while that is no whole day: the rise of a morning says nothing of the next one" },
	[T_NATIVE_GROWTH_GROWN] = { "native-growth", "grown-bytes", THRESHOLD_BYTES, RAISED_ABOVE, NULL, 32 * MIB,
				    24 * MIB, "half an arena of malloc: less can be the next arena that fills" },
	[T_NATIVE_GROWTH_WINDOW] = { "native-growth", "window-minutes", THRESHOLD_COUNTED, RAISED_ABOVE, NULL, 120, 120,
				     "a cache of some GiB warms up within an hour or two under load; a leak goes on" },
	[T_NATIVE_GROWTH_DAYS] = { "native-growth", "days", THRESHOLD_COUNTED, RAISED_BELOW, NULL, 14, 21,
				   "what would fill the room only in more than two weeks is seldom alive so long: the next release restarts it" },
	[T_NATIVE_GROWTH_REACH] = { "native-growth", "reach", THRESHOLD_COUNTED, RAISED_BELOW, NULL, 3, 4,
				    "times the time that was watched, while that is no whole day: malloc's arenas settle within hours" },
	[T_STEP_GROWTH_HEIGHT] = { "step-growth", "height-bytes", THRESHOLD_BYTES, RAISED_ABOVE, NULL, 16 * MIB,
				   12 * MIB,
				   "a job's own noise from start to start (code cache, threads, arenas) is some MiB" },
	[T_STEP_GROWTH_SHARE] = { "step-growth", "share", THRESHOLD_SHARE, RAISED_ABOVE,
				  "of the growth since the first step", 5000, 4000,
				  "where most of the growth lies between the steps it is a slope, and native-growth tells of it" },
	[T_STEP_GROWTH_LEFT] = { "step-growth", "left", THRESHOLD_COUNTED, RAISED_BELOW, NULL, 20, 24,
				 "a job in trouble restarts twenty times in a night" },
	[T_METASPACE_GROWTH_GROWN] = { "metaspace-growth", "grown-bytes", THRESHOLD_BYTES, RAISED_ABOVE, NULL, 16 * MIB,
				       12 * MIB, "one more job's classes are 18 MiB in a public report" },
	[T_METASPACE_GROWTH_WINDOW] = { "metaspace-growth", "window-minutes", THRESHOLD_COUNTED, RAISED_ABOVE, NULL, 60,
					60,
					"classes are loaded when code is first run: that ends within minutes to an hour" },
	[T_METASPACE_GROWTH_DAYS] = { "metaspace-growth", "days", THRESHOLD_COUNTED, RAISED_BELOW, NULL, 7, 10,
				      "MaxMetaspaceSize within a week" },
	[T_METASPACE_GROWTH_REACH] = { "metaspace-growth", "reach", THRESHOLD_COUNTED, RAISED_BELOW, NULL, 6, 8,
				       "times the time that was watched, while that is no whole day: a job that starts anew loads its classes once more, and the old ones go later" },
	[T_THREAD_GROWTH_GROWN] = { "thread-growth", "grown", THRESHOLD_COUNTED, RAISED_ABOVE, NULL, 64, 48,
				    "a pool of a client (S3, JDBC, Netty) has some dozens of threads, and is filled once" },
	[T_THREAD_GROWTH_WINDOW] = { "thread-growth", "window-minutes", THRESHOLD_COUNTED, RAISED_ABOVE, NULL, 60, 60,
				     "pools grow with their load up to their size: within an hour they have" },
	[T_THREAD_GROWTH_MANY] = { "thread-growth", "many", THRESHOLD_COUNTED, RAISED_ABOVE, NULL, 2000, 1800,
				   "a task slot runs on some dozens of threads; common limits of a pod's pids start at 4,096" },
	[T_ROCKSDB_METADATA_THRASH_FULL] = { "rocksdb-metadata-thrash", "full", THRESHOLD_SHARE, RAISED_ABOVE,
					     "of the block cache's capacity", 9000, 8500,
					     "a cache that is not full evicts nothing" },
	[T_ROCKSDB_METADATA_THRASH_MISSES] = { "rocksdb-metadata-thrash", "misses", THRESHOLD_SHARE, RAISED_ABOVE,
					       "of the look-ups of a minute", 3000, 2000,
					       "every read looks up index and filter first: with those in the cache two look-ups of three hit, whatever the data does" },
	[T_ROCKSDB_METADATA_THRASH_HITS] = { "rocksdb-metadata-thrash", "metadata-hits", THRESHOLD_SHARE, RAISED_BELOW,
					     "of the look-ups of index or filter", 8000, 9000,
					     "index and filter are needed for every read: what is worth caching is nearly always there" },
	[T_ROCKSDB_METADATA_THRASH_DATA] = { "rocksdb-metadata-thrash", "data-times", THRESHOLD_COUNTED, RAISED_ABOVE, NULL, 20, 15, "times the block cache: index and filter are 1 to 2 % of small records' files, more with Bloom filters, so at 20 times they fill a large part of it" },
	[T_LIMIT_CHANGED_MINUTES] = { "limit-changed", "minutes", THRESHOLD_COUNTED, RAISED_BELOW, NULL, 60, 60,
				      "long enough to be seen beside what follows from it" },
};

void thresholds_init(struct thresholds *ret_thresholds)
{
	for (int i = 0; i < THRESHOLD_COUNT; i++) {
		ret_thresholds->raise[i] = threshold_table[i].raise;
		ret_thresholds->clear[i] = threshold_table[i].clear;
	}
}

struct thresholds thresholds_holding(const struct thresholds *thresholds)
{
	struct thresholds holding = *thresholds;
	for (int i = 0; i < THRESHOLD_COUNT; i++)
		holding.raise[i] = thresholds->clear[i];
	return holding;
}

const char *thresholds_format(char dest[THRESHOLD_TEXT_CAP], enum threshold_kind kind, uint64_t level)
{
	char size[UNITS_TEXT_CAP];
	unsigned long long whole = level / 100, rest = level % 100;
	if (kind == THRESHOLD_BYTES)
		(void)snprintf(dest, THRESHOLD_TEXT_CAP, "%s", units_format(size, level));
	else if (kind == THRESHOLD_COUNTED)
		(void)snprintf(dest, THRESHOLD_TEXT_CAP, "%llu", (unsigned long long)level);
	else if (rest == 0)
		(void)snprintf(dest, THRESHOLD_TEXT_CAP, "%llu %%", whole);
	else if (rest % 10 == 0)
		(void)snprintf(dest, THRESHOLD_TEXT_CAP, "%llu.%llu %%", whole, rest / 10);
	else
		(void)snprintf(dest, THRESHOLD_TEXT_CAP, "%llu.%02llu %%", whole, rest);
	return dest;
}

uint64_t thresholds_share(uint64_t bytes, uint64_t bp)
{
	uint64_t whole, rest, sum;
	if (__builtin_mul_overflow(bytes / 10000, bp, &whole) || __builtin_mul_overflow(bytes % 10000, bp, &rest) ||
	    __builtin_add_overflow(whole, rest / 10000, &sum))
		return UINT64_MAX;
	return sum;
}
