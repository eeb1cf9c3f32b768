/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The post-mortem of an agent that could not write one: a pod's cgroup with memory.oom.group, an eviction or a lost node
 * takes agent and JVM together. When a stream ends without bye while its last sample was near the limit, and neither a
 * post-mortem nor the same live process comes within INFER_AFTER_MS, the collector writes what it holds, marked inferred.
 * What waits for its end is in memory alone: a restart of the collector within that time forgets it.
 */
#ifndef COLLECTOR_INFERRED_H
#define COLLECTOR_INFERRED_H

#include "collector/session.h"

enum {
	NEAR_LIMIT_PCT = 5,
	OOM_RECENT_MS = 120000,
	INFER_AFTER_MS = 90000,
	INFER_RETRY_MS = 10000,
	INFER_MAX = 4096, /* streams that ended near their limit within INFER_AFTER_MS */
};

/* A stream that ended near its limit and said nothing more. */
struct watch {
	struct watch *next;
	int64_t agent;
	char id[WIRE_NAME_CAP];
	struct wire_epoch epoch;
	struct wire_sample last;
	bool oom_rose, oom_kill_rose;
	struct wall ended;
	struct mono due;
	unsigned n_tries;
};

void inferred_sample(struct session *session, const struct wire_sample *sample);
void inferred_postmortem(struct session *session, const struct wire_postmortem *part);
/* The stream has ended, not by us. */
void inferred_ended(struct session *session);
void inferred_step(struct ingest *ingest);
void inferred_done(struct ingest *ingest);

#endif
