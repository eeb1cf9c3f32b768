/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What ingest.c, session*.c, rate.c and inferred*.c share. Internal to them and to their tests: nobody else looks inside.
 *
 * A session's life: NEW (hello must come), OPEN, CLOSING (an error was said, it was replaced, or it said bye; frames that
 * still come are dropped). `epochs[].stored.acked` is what was taken into the open batch, `committed` what may be acked.
 */
#ifndef COLLECTOR_SESSION_H
#define COLLECTOR_SESSION_H

#include "collector/batch.h"
#include "collector/events.h"
#include "collector/last_word.h"
#include "config/policyconf.h"
#include "wire/wire.h"

enum {
	INGEST_SLOW_MS = 1000,
	INGEST_PAUSED_MS = 50, /* while somebody is not read */
	CLOCK_OFFSET_MS = 30000,
	HELLO_MS = 30000, /* an agent says hello at once; who holds a connection and says nothing is none */
	/* A session may send this much of its rate at once, and be held back so long before it is closed. */
	RATE_BURST_S = 4,
	RATE_PATIENCE_MS = 300000,
	RATE_DEBT_S = 20, /* a peer that goes on while nobody reads: its frames come from somewhere */
	RATE_FRAME_BYTES = 4096,
};

struct session_epoch {
	struct store_epoch stored;
	uint64_t committed;
	bool ack_due;
};

enum session_state { SESSION_NEW = 0, SESSION_OPEN, SESSION_CLOSING };

struct session {
	struct ingest *ingest;
	struct session *next, *prev;             /* all */
	struct session *id_next, *epoch_next;    /* the same bucket of by_id, of by_epoch */
	struct session *batch_next, *batch_prev; /* those with something in the open batch */
	bool in_batch, listed;
	struct server_ws *ws; /* NULL until it is open, and in tests without sockets */
	char id[WIRE_NAME_CAP], peer[64], method[16];
	char shown_id[WIRE_NAME_CAP]; /* what its credentials said before hello */
	bool of_node;                 /* it speaks for a pod that is not its own: `id` is of that, node_agent.h */
	bool asserted;                /* nobody has confirmed that pod yet */
	bool node_proved;             /* its node is that of its credentials */
	struct wall expires;          /* of its credentials; ms 0: never */
	struct proof *proof;          /* of its token, which is reviewed again; NULL: it is not */
	struct auth_agent *vouched;   /* until hello: the pod that its credentials name, where they name one */
	struct mono opened;
	enum session_state state;
	int64_t agent; /* 0 before hello */
	struct session_epoch epochs[WIRE_EPOCHS_MAX];
	size_t n_epochs;
	struct wire_hello *hello; /* from its coming to the welcome */
	bool welcome_due, fleet_told, replaced, said_bye, clock_is_off;
	bool policy_due;                     /* a further welcome, for its policy */
	uint64_t policy_sent, policy_looked; /* version of it; policy_version when it was looked at */
	int64_t offset_ms;
	unsigned n_waiting; /* messages in the open batch */
	/* How it is being closed. */
	bool error_due;
	enum wire_error_code error;
	char error_text[WIRE_TEXT_CAP];
	unsigned close_code; /* 0: it is not */
	/* Token bucket: frames and bytes that it may still send. */
	double frames_left, bytes_left;
	struct mono refilled, held_since;
	bool held, paused;
	/* The last sample with a target, the composition of an earlier one kept; for what may have to be inferred. */
	bool has_last;
	struct last_word last;
	bool oom_rose, oom_kill_rose;
	struct mono oom_at;
	struct event_state happened;
};

/* --- session.c ------------------------------------------------------------------------------- */

/* After its batch was committed. */
void session_committed(struct session *session);
/* Its credentials do not hold any more. */
void session_deny(struct session *session);
/* Says the error and closes; the last thing to do with a session. */
void session_fail(struct session *session, enum wire_error_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* --- session_policy.c --------------------------------------------------------------------------- */

/* What holds for its subject now. Version 0: nothing is set, or it is not known who it is. */
void session_policy(struct session *session, struct wire_policy *ret_policy);

/* --- session_hello.c ---------------------------------------------------------------------------- */

void hello_take(struct session *session, const struct wire_hello *hello);

/* --- session_node.c ----------------------------------------------------------------------------- */

/* Kubernetes told of pods: whom it confirms is not asserted any more, whom it contradicts is closed. */
void session_pods_told(struct ingest *ingest);

/* --- session_events.c: what happened goes into the batch of the sample that tells it --------------- */

int session_events_hello(struct session *session, const struct wire_hello *hello, bool new_start, struct err *err)
	__attribute__((warn_unused_result));
int session_events_sample(struct session *session, const struct wire_sample *sample, struct err *err)
	__attribute__((warn_unused_result));
int session_events_bye(struct session *session, struct err *err) __attribute__((warn_unused_result));
void session_events_ended(struct session *session);

/* --- rate.c ------------------------------------------------------------------------------------ */

void rate_start(struct session *session);
/* False: it went on for too long; the session is to be closed. */
bool rate_take(struct session *session, size_t bytes);
void rate_resume(struct session *session);

#endif
