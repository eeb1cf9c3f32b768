/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The post-mortem of an agent that could not write one: a pod's cgroup with memory.oom.group, an eviction or a lost node
 * takes agent and JVM together. When a stream ends without bye while its last sample was near the limit, and neither a
 * post-mortem nor the same live process comes within INFER_AFTER_MS, the collector writes what it holds, marked inferred.
 * What waits for its end is in memory alone. A collector that starts looks for those whose last stored sample was near the
 * limit: they have as long to come back. Of them neither process nor events are known, nor whether they were urgent.
 */
#ifndef COLLECTOR_INFERRED_H
#define COLLECTOR_INFERRED_H

#include "collector/session.h"

enum {
	NEAR_LIMIT_PCT = 5,
	OOM_RECENT_MS = 120000,
	INFER_AFTER_MS = 90000,
	INFER_RETRY_MS = 10000,
	INFER_LOADED_MS =
		3600000,  /* a collector that was away for longer cannot say that an end had to do with the limit */
	INFER_MAX = 4096, /* streams that ended near their limit within INFER_AFTER_MS */
};

/* A stream that ended near its limit and said nothing more. */
struct watch {
	struct watch *next;
	int64_t agent;
	char id[WIRE_NAME_CAP];
	struct wire_epoch epoch;
	struct last_word last; /* pid 0: of an earlier run of the collector */
	bool oom_rose, oom_kill_rose;
	struct wall ended;
	struct mono due;
	unsigned n_tries;
};

static inline bool inferred_is_near(struct limit limit, struct signed_qty freeboard)
{
	return freeboard.known && limit.kind == LIMIT_SET &&
	       freeboard.bytes < (int64_t)(limit.bytes / 100 * NEAR_LIMIT_PCT);
}

/* Once, when the fleet has been read from the store: what has ended since, or ended shortly before the last stop. */
void inferred_load(struct ingest *ingest);
void inferred_sample(struct session *session, const struct wire_sample *sample);
void inferred_postmortem(struct session *session, const struct wire_postmortem *part);
/* The stream has ended, not by us. */
void inferred_ended(struct session *session);
void inferred_step(struct ingest *ingest);
void inferred_done(struct ingest *ingest);

#endif
