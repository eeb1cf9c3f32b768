/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From frames to the store: the sessions of all agents and the group commit they share.
 *
 * A session takes its epochs strictly in order, puts messages into the open batch and acks cumulatively after the
 * batch's commit. The batch is committed when COMMIT_MS have passed or COMMIT_MESSAGES wait; a failed commit acks
 * nothing, closes the sessions concerned with WIRE_CLOSE_STORE and lets them resend.
 */
#ifndef COLLECTOR_INGEST_H
#define COLLECTOR_INGEST_H

#include "collector/auth.h"
#include "collector/fleet.h"
#include "collector/store.h"
#include "net/server.h"

struct ingest;
struct session;

struct ingest_options {
	const char *cluster;                 /* stands in every subject */
	uint32_t window;                     /* 0: 256 */
	uint32_t min_interval_ms;            /* 0: 1000 */
	uint32_t max_frame;                  /* 0: WIRE_FRAME_MAX */
	unsigned rate_per_s;                 /* frames a session may send a second, on average; 0: 500 */
	unsigned commit_ms, commit_messages; /* 0: 20, 2000 */
	const struct policies *policies;     /* config/policyconf.h, or NULL */
};

struct ingest_counts {
	uint64_t sessions, sessions_total, replaced_total, frames_total, bytes_total;
	uint64_t samples_total, findings_total, postmortem_parts_total, gaps_total, duplicates_total, acks_total;
	uint64_t errors_total[WIRE_ERR_COUNT];
	uint64_t commits_total, failed_commits_total, inferred_postmortems_total, clock_offset_sessions;
};

int ingest_new(struct loop *loop, const struct ingest_options *options, struct store *store, struct fleet *fleet,
	       struct ingest **ret_ingest, struct err *err) __attribute__((warn_unused_result));
/* Commits what is open, then frees; after server_free(). */
void ingest_free(struct ingest *ingest);

/* A session for an agent whose identity is settled. NULL: too many, or no memory. */
struct session *ingest_open(struct ingest *ingest, const struct auth_agent *agent, const char *peer);
void session_opened(struct session *session, struct server_ws *ws);
void session_frame(struct session *session, struct str frame);
bool session_writable(struct session *session, struct buf *frame);
void session_closed(struct session *session, unsigned close_code); /* frees it */

void ingest_count(const struct ingest *ingest, struct ingest_counts *ret_counts);

#endif
