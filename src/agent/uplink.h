/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's side of bankfull.v1 as a machine without sockets, clock or chance: what to say next, what to make of what
 * was said, when to come again. outbox.c connects it to net/wsclient.h.
 *
 * A session: hello with the epochs that still have something (at most WIRE_EPOCHS_MAX, the live one among them), welcome,
 * then messages in the order of each epoch, the live epoch and the oldest in turn, so neither waits for the other.
 * At most `window` are unacked. What a session had sent and was not acked is sent again from welcome.acked on.
 *
 * A message that the collector will not take must not hold up all behind it for ever: after a protocol error the next
 * session sends one message at a time, and one that ends two such sessions becomes a gap "unwritable".
 */
#ifndef AGENT_UPLINK_H
#define AGENT_UPLINK_H

#include "agent/spool.h"
#include "net/wsclient.h"

enum {
	UPLINK_WELCOME_MS = 20000, /* from the hello */
	UPLINK_ACK_MS = 60000,     /* with something unacked and no ack */
	UPLINK_STABLE_MS = 60000,  /* a session so long resets the backoff */
	UPLINK_ERROR_MS = 5000,    /* from an error to the close that must follow it */
	UPLINK_WINDOW_MAX = 4096,
	UPLINK_RETRY_AFTER_MAX_S = 3600,
	UPLINK_WISH_MAX_MS = 300000, /* the longest interval that anybody may set: past it the wish would be silence */
};

enum uplink_state {
	UPLINK_DOWN = 0,
	UPLINK_OPEN,    /* hello is to be sent */
	UPLINK_GREETED, /* welcome is awaited */
	UPLINK_UP,
	UPLINK_FAILED, /* an error was said or heard: silent until the end */
	UPLINK_LEFT,   /* bye was said */
};

struct uplink_options {
	struct spool *spool;
	const char *version, *jdk, *engine; /* of hello; kept by pointer, may be NULL */
	unsigned backoff_min_ms, backoff_max_ms;
	bool of_node; /* it speaks for a pod that is not its own */
};

struct uplink {
	struct uplink_options options;
	struct wire_subject subject;
	enum uplink_state state;
	struct mono began, opened, last_ack;
	uint32_t window, min_interval_ms, max_frame;
	uint32_t own_window; /* halved when the collector said that it was too fast */
	bool live_next;      /* whose turn it is */
	bool cycle;          /* ended to offer further epochs */
	bool leaving;        /* say bye once all is acked */
	bool leave_now;      /* say bye next */
	bool fresh;          /* there are other credentials by now than this session showed */
	const char *reason;
	enum wire_error_code error; /* with heard_error: the last one of this session */
	bool heard_error;
	unsigned attempts; /* since the last stable session */
	/* One message at a time, to find the one that is not taken. */
	bool careful;
	unsigned careful_acks, blames;
	struct wire_position last_sent, blamed;
	uint64_t sent_total, resent_total, acked_total, sessions_total, failed_connects_total, errors_total;
	uint64_t refused_total; /* messages that the collector would not take: gaps now */
	struct buf text;
	struct wire_message heard; /* work space of 20 KiB */
};

int uplink_init(struct uplink *uplink, const struct uplink_options *options, const struct wire_subject *subject,
		struct err *err) __attribute__((warn_unused_result));
void uplink_done(struct uplink *uplink);

void uplink_opened(struct uplink *uplink, struct mono now);

/* The next frame. False: nothing now. */
bool uplink_next(struct uplink *uplink, struct mono now, struct wall wall, struct buf *frame);

struct uplink_heard {
	bool began;                       /* a session: samples should carry a composition again */
	const struct wire_policy *policy; /* with it, or NULL; until the next frame. Also in a session that runs */
	bool acked;                       /* something was: there may be room in the window */
	bool close;                       /* end this session, come again */
	const char *event;                /* for the log, or NULL */
	char text[WIRE_TEXT_CAP + 64];
};
void uplink_frame(struct uplink *uplink, struct mono now, struct str frame, struct uplink_heard *ret_heard);

/* True: this session is stuck; close it. `ret_event` for the log. */
bool uplink_stuck(const struct uplink *uplink, struct mono now, const char **ret_event);

struct uplink_ended {
	uint64_t delay_ms;
	bool lasting; /* waiting alone will not mend it */
	bool denied;  /* it is about what the agent showed: other credentials may mend it */
	const char *event;
	char text[400];
};
/* An attempt or a session is over. `chance` is any random number. */
void uplink_ended(struct uplink *uplink, struct mono now, const struct wsclient_ended *ended, uint64_t chance,
		  struct uplink_ended *ret_ended);

/* Nothing of any epoch that can be sent waits for an ack. */
bool uplink_idle(const struct uplink *uplink);

#endif
