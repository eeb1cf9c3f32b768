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
#include "sys/logger.h"

struct ingest;
struct podbook;
struct session;
struct silences;

struct ingest_options {
	const char *cluster;                 /* stands in every subject */
	uint32_t window;                     /* 0: 256 */
	uint32_t min_interval_ms;            /* 0: 1000 */
	uint32_t max_frame;                  /* 0: WIRE_FRAME_MAX */
	unsigned rate_per_s;                 /* frames a session may send a second, on average; 0: 500 */
	unsigned commit_ms, commit_messages; /* 0: 20, 2000 */
	const struct policies *policies;     /* config/policyconf.h, or NULL */
	struct silences *silences;           /* collector/silences.h, or NULL */
	const struct podbook *pods;          /* collector/podbook.h; NULL: Kubernetes' pods are not watched */
	const char *node_agents;             /* collector/node_agent.h; NULL: nobody speaks for another pod */
	struct logger *log;                  /* or NULL */
};

struct ingest_counts {
	uint64_t sessions, sessions_total, replaced_total, frames_total, bytes_total;
	uint64_t samples_total, findings_total, postmortem_parts_total, gaps_total, duplicates_total, acks_total;
	uint64_t errors_total[WIRE_ERR_COUNT];
	uint64_t commits_total, failed_commits_total, inferred_postmortems_total, clock_offset_sessions;
	uint64_t policy_left_out_total; /* silences that an agent's policy had no room for */
};

/* `loop` NULL: no timer is made and no clock read; the caller's ingest_step() says what time it is. */
int ingest_new(struct loop *loop, const struct ingest_options *options, struct store *store, struct fleet *fleet,
	       struct ingest **ret_ingest, struct err *err) __attribute__((warn_unused_result));
/* Commits what is open, then frees; after server_free(). */
void ingest_free(struct ingest *ingest);

/* A session for an agent whose identity is settled: it takes the proof over. NULL: too many, or no memory, and nothing is taken. */
struct session *ingest_open(struct ingest *ingest, const struct auth_agent *agent, const char *peer);
void session_opened(struct session *session, struct server_ws *ws);
void session_frame(struct session *session, struct str frame);
bool session_writable(struct session *session, struct buf *frame);
void session_closed(struct session *session, unsigned close_code); /* frees it */

/* Does what is due: a commit, the end of a pause, an inferred post-mortem. Returns when to come again, in milliseconds. */
uint64_t ingest_step(struct ingest *ingest, struct mono now, struct wall wall);
/* Commits what is open: before anybody else begins a batch in the store. */
void ingest_flush(struct ingest *ingest);
/* Silences have changed: tells the agents concerned, a thousand looked at a call. True: all have been. */
bool ingest_policies(struct ingest *ingest);
/* Sessions whose credentials do not hold any more are closed with WIRE_CLOSE_DENIED. One that expires is so by itself. */
typedef bool ingest_holds_fn(void *context, const char *method, const char *id);
void ingest_recheck(struct ingest *ingest, ingest_holds_fn *holds, void *context);
/* The collector stops: from here on a session that ends is no agent that died. */
void ingest_stop(struct ingest *ingest);
/* False from a failed batch until the next one that is committed. */
bool ingest_healthy(const struct ingest *ingest);

void ingest_count(const struct ingest *ingest, struct ingest_counts *ret_counts);

#endif
