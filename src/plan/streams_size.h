/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The right size of Kafka Streams from what was measured: one cache for all stores, heap and limit, with one pod lost, when
 * the others take its tasks. PURE but for memory.
 *
 * Index and filter blocks are meant to go into the cache. Its size is a target and no limit: a tenth more is left for it.
 */
#ifndef PLAN_STREAMS_SIZE_H
#define PLAN_STREAMS_SIZE_H

#include "plan/resize.h"

enum streams_size_row {
	STREAMS_SIZE_HEAP = 0,
	STREAMS_SIZE_CACHE, /* with index and filter blocks */
	STREAMS_SIZE_MEMTABLES,
	STREAMS_SIZE_REST, /* the floor less these: metaspace, code, stacks, direct buffers, malloc */
	STREAMS_SIZE_LIMIT,
	STREAMS_SIZE_ROW_COUNT
};
extern const char *const streams_size_names[STREAMS_SIZE_ROW_COUNT];

enum { STREAMS_STEPS_MAX = 4, STREAMS_FRAGMENT_CAP = 2048 };

struct streams_step {
	char title[160];
	char fragment[STREAMS_FRAGMENT_CAP]; /* Java, a flag of the JVM, or lines of a manifest */
	char steady[RESIZE_TEXT_CAP], restore[RESIZE_TEXT_CAP];
};

struct streams_size {
	size_t n_readings;
	uint64_t span_ms, pods;                         /* pods: as told or seen; 0: not known */
	bool too_few, by_default;                       /* by_default: no setter bounds RocksDB */
	struct resize_row rows[STREAMS_SIZE_ROW_COUNT]; /* proposed: with one pod lost */
	struct count instances, instances_lost;         /* of RocksDB on a pod: now, and with one pod lost */
	struct qty instance_bytes;                      /* cache and memtables of one, as high as was seen */
	struct count limit_holds;                       /* so many such, beside heap and rest */
	struct count partitions_hold, pods_needed;      /* that many partitions a pod; pods, one of which may be lost */
	uint64_t cache_bytes, manager_bytes, buffer_bytes; /* the proposed setter's; 0: none is proposed */
	uint64_t needed_bytes;                             /* the sum that the limit is proposed for */
	bool raises;
	struct streams_step steps[STREAMS_STEPS_MAX]; /* what carries least risk first */
	size_t n_steps;
};

/*
 * USAGE: they are of two configurations, with both figures. `pods` 0: not known, and none is taken to be lost. `partitions` of
 * the input topics, 0: not told; what all pods have open, standbys included, is taken to be shared evenly by them.
 */
int streams_size_run(const struct resize_reading *readings, const char *const *names, size_t n, uint64_t pods,
		     uint64_t partitions, struct streams_size *ret_size, struct err *err)
	__attribute__((warn_unused_result));

#endif
