/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that leaves the agent. What is put here gets its seq, stands in the spool (a bounded file below the state
 * directory, or memory where there is none) until the collector acked it, and in the flight recorder (the last 15 minutes
 * of samples). Nothing here ever blocks the tick, and nothing that fails here ends the agent: it degrades, counts, and
 * says so once.
 */
#ifndef AGENT_OUTBOX_H
#define AGENT_OUTBOX_H

#include "bankfull/wire.h"
#include "base/buf.h"
#include "base/err.h"
#include "net/loop.h"

struct outbox;
struct logger; /* sys/logger.h */

struct outbox_options {
	const char *state_dir; /* NULL: memory only */
	uint64_t spool_bytes;  /* of spool and recorder together; 0: 16 MiB on disk, 1 MiB in memory */
	const char *url;       /* of the collector; NULL: none, then nothing is spooled but the recorder works */
	const char *token_file, *ca_file, *ca_pem, *cert_file, *key_file, *server_name;
	const char *version;
	const char *jdk, *engine;                /* of hello, kept by pointer: may change between sessions */
	bool of_node;                            /* it speaks for a pod that is not its own */
	unsigned backoff_min_ms, backoff_max_ms; /* 0: 500, 60000 */
	unsigned subject_ms;                     /* 0: 10000; see outbox_subject() */
	struct logger *log;
};

struct outbox_events {
	/* From a welcome; the agent checks it against its own configuration and keeps the last good one. */
	void (*on_policy)(void *context, const struct wire_policy *policy);
	/* A session began: the next sample should carry a composition. `min_interval_ms` is the collector's wish. */
	void (*on_session)(void *context, uint32_t min_interval_ms);
};

int outbox_new(struct loop *loop, const struct outbox_options *options, const struct wire_subject *subject,
	       const struct outbox_events *events, void *context, struct outbox **ret_outbox, struct err *err)
	__attribute__((warn_unused_result));
void outbox_free(struct outbox *outbox);

/*
 * The subject may become better known (engine, jobs) after the start. A hello says it, so a session that is quiet is begun
 * anew for it: `subject_ms` after the last change, and no sooner than six times that after the last such begin.
 */
void outbox_subject(struct outbox *outbox, const struct wire_subject *subject);

/*
 * Each sets head.epoch and head.seq. Urgent samples go to the wire at once. One that comes sooner after the last than
 * the collector's min_interval_ms, is not urgent and has no composition goes to the recorder alone: its seq is 0.
 */
void outbox_sample(struct outbox *outbox, struct wire_sample *sample);
void outbox_finding(struct outbox *outbox, struct wire_finding *finding);
/* `whole` is the body of part 0 (JSON object); the timeline is added from the recorder. Also one JSON line on stdout. */
void outbox_postmortem(struct outbox *outbox, struct wire_postmortem *part0, struct str body);

/*
 * From the flight recorder, of the process (pid, start_ticks): its oldest and its newest sample of the last 15 minutes,
 * those with a composition where there are two of them. False: there are no two. Reads the file: at a death only.
 */
bool outbox_recall(struct outbox *outbox, int pid, uint64_t start_ticks, struct wire_sample *ret_first,
		   struct wire_sample *ret_last);

/*
 * The agent stops: send what is left and bye. `done` is called when all is acked, or at the deadline: up to
 * `grace_ms` with a post-mortem unacked, else at most 2 s.
 */
void outbox_stop(struct outbox *outbox, const char *reason, uint64_t grace_ms, void (*done)(void *context),
		 void *context);

struct outbox_counts {
	bool connected, on_disk;
	uint64_t spooled_messages, spooled_bytes, dropped_samples_total, gaps_total;
	uint64_t sent_total, resent_total, acked_total, sessions_total, failed_connects_total, errors_total;
	uint64_t state_failures_total, policy_refused_total, postmortems_total, postmortems_unacked;
	uint64_t last_acked_seq, last_seq;
	uint64_t backoff_ms;
	struct wall token_expires; /* of the token that was shown last; ms 0: it does not say */
	char trouble[160];         /* why it is not connected, or why it is not on disk; "" */
};
void outbox_count(const struct outbox *outbox, struct outbox_counts *ret_counts);

#endif
