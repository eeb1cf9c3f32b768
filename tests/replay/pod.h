/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated pod over time: what each owner of its memory holds from one tick to the next, healthy or leaking. Levels come
 * from a capture of a real process (tests/fixtures), shapes over time from docs/replay.md; everything else is drawn from
 * a seed. It knows nothing of what watches it.
 */
#ifndef REPLAY_POD_H
#define REPLAY_POD_H

#include "bankfull/ledger.h"
#include "bankfull/snapshot.h"
#include "support/prng.h"
#include "sys/evidence.h"

enum { TICK_S = 5, DAY_S = 86400, KINDS = 7 };

/* What one real process held: MiB. */
struct recorded {
	double metaspace, code, cds, stacks, threads, gc, jvm, direct, library, native, mapped;
};

/* A pod as people run it, and the capture that its levels come from. */
struct pod_kind {
	const char *name, *fixture;
	double limit, process, heap, managed,
		network;                /* MiB; managed: what RocksDB's cache may hold; network: Flink's buffers */
	bool flink, rocksdb, unmanaged; /* unmanaged: RocksDB outside of managed memory */
	struct evidence evidence;
	struct recorded was;
};

/* Reads the captures; false: one could not be, and stderr says why. */
bool kinds_load(struct pod_kind kinds[KINDS]);
void kinds_done(struct pod_kind kinds[KINDS]);

/* Who leaks, and how fast: a share of the limit a minute from `begin_s` on. share 0: a healthy pod. */
struct leak {
	enum owner owner;
	double share_percent;
	double begin_s;
};

/* One owner that comes and goes: a spike of so much for so long. */
struct spike {
	double height, left_s;
};

struct pod {
	const struct pod_kind *kind;
	struct prng prng;
	struct leak leak;
	bool instrumented;
	double now_s;       /* of the simulation */
	double up_s, job_s; /* since the JVM, since the job started */
	uint64_t start_ticks, restarts;
	double leaked;

	/* drawn once a life of the pod */
	double day_phase, day_depth, batch_s, heap_share, heap_tau_s, live_share, tooth_s, metaspace_more, code_more,
		native_more, native_tau_s, cache_share, cache_tau_s, flush_s, flush_size, checkpoint_s, checkpoint_size,
		savepoint_s, restart_s, rollout_s, threads_more, page_cache_per_s, churn, metaspace_tau_s;
	/* what is there, MiB */
	double heap, live, metaspace, code, threads, gc, jvm, direct, cache, memtables, readers, native, others, tmpfs,
		page_cache, sock, slab, dirty;
	struct spike checkpoint, savepoint, compiler, batch, restore, rebalance;
	uint64_t refaults, max_events, gc_count, hits, misses;
	double refaults_rate;
};

/* Begins at second `begin_s`; the pod has run for `warm_s` by then. */
void pod_begin(struct pod *pod, const struct pod_kind *kind, uint64_t seed, const struct leak *leak, bool instrumented,
	       double begin_s, double warm_s);
void pod_tick(struct pod *pod, double seconds);

/* The sums that the kernel would count. */
double pod_native(const struct pod *pod); /* what malloc and mappings hold of no JVM area */
double pod_anon(const struct pod *pod);
double pod_floor(const struct pod *pod);

/* --- world.c: the pod as the agent's parsers would have told it --- */

/* A snapshot of the capture, with the pod's own mappings and cgroup. build_free(). */
struct snapshot *world_new(const struct pod *pod);
/* What each tick reads: cgroup files and status. */
void world_tick(const struct pod *pod, struct snapshot *snapshot);
/* What a scan reads: smaps, hsperfdata. */
void world_scan(const struct pod *pod, struct snapshot *snapshot);
/* A page of metrics; nothing where there are none. */
void world_scrape(const struct pod *pod, struct snapshot *snapshot);
/* The JVM's answers by attach, NMT among them where it is on. */
void world_attach(const struct pod *pod, struct snapshot *snapshot);

#endif
