/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the stores of a Kafka Streams application come to: how many RocksDB instances a pod opens, with all pods there and
 * with one lost, what bounds them, and what a config setter with one shared cache would save. PURE.
 *
 * A key-value store is one instance for each partition, a window or session store one for each live segment (engine/streams.h
 * has the sizes). Standbys open all that active tasks open. Tasks are taken to be balanced, each sub-topology for itself.
 */
#ifndef PLAN_STREAMSPLAN_H
#define PLAN_STREAMSPLAN_H

#include "bankfull/finding.h"
#include "plan/topology.h"
#include "rules/thresholds.h"

/* What RocksDBConfigSetter sets, as --setter has it. 0: as Kafka Streams has it. */
struct streams_setter {
	bool given;
	uint64_t cache_bytes;        /* one cache for all instances of a process */
	uint64_t store_cache_bytes;  /* a cache for each instance */
	uint64_t write_buffer_bytes; /* of one memtable */
	uint64_t write_buffers;      /* at most so many memtables an instance */
	uint64_t manager_bytes;      /* a WriteBufferManager, charged to the shared cache */
};

/* "cache=64m,write-buffer=8m,manager=32m". USAGE names what is accepted. */
int streams_setter_parse(struct str text, struct streams_setter *ret_setter, struct err *err)
	__attribute__((warn_unused_result));
/* What the memtables of one instance may hold. */
uint64_t streams_memtable_bytes(const struct streams_setter *setter);

struct streamsplan_ask {
	const struct topology *topology; /* NULL: stores and windowed say it */
	uint64_t stores, windowed; /* stores in all, in one sub-topology; of a topology's stores so many are windowed */
	uint64_t segments;         /* live ones of a window store; 0: 3 */
	uint64_t partitions, pods, standbys, threads;
	struct streams_setter setter;
	uint64_t heap_bytes; /* 0: a quarter of the limit, as the JVM takes */
	struct limit limit;
	const struct thresholds *thresholds;
};

struct streams_pods {
	uint64_t pods, copies;   /* of each task: 1 and its standbys, as far as there are pods for them */
	uint64_t instances;      /* of RocksDB, on the fullest pod */
	struct qty native_bytes; /* what they may come to, targets included */
};

struct streamsplan {
	uint64_t tasks, stores, instances_all; /* instances_all: active and standby, of all pods */
	struct qty all_bytes;
	uint64_t instance_bytes;             /* of one instance without sharing */
	struct streams_pods steady, lost;    /* lost: one pod away; pods 0 where there is but one */
	uint64_t warmup_instances;           /* that warm-up replicas may add while tasks move */
	uint64_t heap_bytes, jvm_bytes;      /* heap 0: not known; jvm: metaspace, code, stacks, collector, direct */
	struct demand expected;              /* of the fullest pod when one is lost; no sum without a heap */
	uint64_t default_bytes, saved_bytes; /* saved: what one cache for all bounds the same pod to, less */
	uint64_t proposed_cache_bytes, proposed_manager_bytes; /* 0: no limit is known, or a setter is there */
	struct limit limit;
	struct streams_setter setter;
	struct verdict *verdict;
};

int streamsplan_run(const struct streamsplan_ask *ask, struct streamsplan *ret_plan, struct err *err)
	__attribute__((warn_unused_result));
void streamsplan_done(struct streamsplan *plan);
#define auto_streamsplan auto_(streamsplan_done)

#endif
