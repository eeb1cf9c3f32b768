/* SPDX-License-Identifier: Apache-2.0 */
/* All sessions and the batch they share, from inside. Internal to those that session.h names, which includes it. */
#ifndef COLLECTOR_BATCH_H
#define COLLECTOR_BATCH_H

#include "collector/ingest.h"

enum { INGEST_BUCKETS = 4096 /* chains of two or three at 10,000 agents */ };

/* What the fleet is told once the batch is committed. */
struct fed {
	int64_t agent;
	struct wall received;
	enum wire_type type; /* SAMPLE, FINDING, POSTMORTEM */
	union {
		struct wire_sample sample;
		struct wire_finding finding;
	};
};

struct ingest {
	struct loop *loop;
	struct ingest_options options;
	struct store *store;
	struct fleet *fleet;
	struct loop_timer *commit_timer, *slow_timer;
	struct mono now;
	struct wall wall;
	struct session *sessions, *by_id[INGEST_BUCKETS], *by_epoch[INGEST_BUCKETS];
	bool stopping, unhealthy, loaded;
	struct mono probe_due; /* while unhealthy */
	bool batch_open;
	struct mono batch_opened;
	struct session *batch;
	struct fed *fed; /* commit_messages rows */
	unsigned n_fed;
	struct watch *watches;
	unsigned n_watches, n_paused;
	/* Of silences: what sessions are held against; all of them have been; what was said that does not fit. */
	uint64_t policy_version, policy_done, policy_said;
	uint64_t pods_version; /* of the book that sessions were held against */
	struct ingest_counts counts;
	struct wire_message message, answer;
};

/* --- ingest.c -------------------------------------------------------------------------------- */

/* The open batch, begun where there is none. A failure has failed the whole batch already. */
int ingest_begin(struct ingest *ingest, struct err *err) __attribute__((warn_unused_result));
void ingest_join(struct session *session);
/* Of the open batch; NULL: nothing more will fit, which ingest_full() prevents. */
struct fed *ingest_feed(struct ingest *ingest, int64_t agent, enum wire_type type);
bool ingest_full(const struct ingest *ingest);
/* Nothing of the batch is stored: its sessions are closed with WIRE_CLOSE_STORE. */
void ingest_fail(struct ingest *ingest, const struct err *err);
/* The session of this id that is not being closed, or NULL. */
struct session *ingest_find(struct ingest *ingest, const char *id);
/* The same, by the epoch that is its present start. */
struct session *ingest_find_live(struct ingest *ingest, struct wire_epoch epoch);
void ingest_list(struct session *session);

#endif
