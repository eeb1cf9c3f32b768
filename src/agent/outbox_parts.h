/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the outbox: outbox.c is its life, outbox_put.c what goes in, outbox_death.c the post-mortem, outbox_token.c the token. */
#ifndef AGENT_OUTBOX_PARTS_H
#define AGENT_OUTBOX_PARTS_H

#include "agent/credential.h"
#include "agent/outbox.h"
#include "agent/print.h"
#include "agent/recorder.h"
#include "agent/uplink.h"
#include "sys/logger.h"

struct outbox {
	struct loop *loop;
	struct logger *log;
	struct outbox_events events;
	void *context;
	struct wire_epoch epoch;
	struct mono began;
	struct spool *spool;
	struct recorder recorder;
	struct uplink uplink;
	struct wsclient *client;  /* NULL: there is no collector */
	const char *url;          /* of it, for the log */
	struct loop_timer *again; /* the next attempt, or the end of the stop */
	struct loop_timer *check; /* stuck sessions, disks to try again */
	bool attempting;          /* an attempt or a session is on */
	struct credential credential;
	bool denied;       /* the last attempt or session ended for what the agent showed */
	bool said_down;    /* the log knows that there is no connection */
	bool said_disk;    /* or no disk */
	char trouble[160]; /* of the connection */
	bool subject_due;  /* the session's hello said another subject */
	struct mono subject_changed, subject_renewed;
	unsigned subject_ms;
	uint64_t backoff_ms;
	uint64_t spooled;          /* numbers given where there is no collector, for the recorder alone */
	struct mono last_sample;   /* that was spooled */
	uint64_t postmortem_bytes; /* most of one post-mortem */
	uint64_t postmortems_total, unwritable_total, policy_refused_total;
	struct printer printer; /* standard output */
	struct buf text;        /* one frame: allocated once */
	struct wire_message message;
	/* The stop. */
	bool stopping, stopped;
	struct mono deadline;
	void (*done)(void *context);
	void *done_context;
};

struct mono outbox_now(const struct outbox *outbox);

uint64_t outbox_chance(void);

/* outbox_token.c: shows a token that was renewed before the old one ends; says of one that nobody renews. */
void outbox_tend_token(struct outbox *outbox);
/* The file has another one than was shown. */
bool outbox_has_fresh_token(const struct outbox *outbox);

/* Something was spooled or acked: the session may go on. */
void outbox_wake(struct outbox *outbox);

/* Log, once, that the disk fails or is well again. */
void outbox_watch_disk(struct outbox *outbox);

/* Encode `message` into outbox->text. False: it cannot be. */
bool outbox_encode(struct outbox *outbox, const struct wire_message *message);

/* 64 bits of an id: what tells one finding or post-mortem in the spool from another. */
uint64_t outbox_key(const char *id);

#endif
