/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What changes, as it changes: viewers of bankfull.live.v1, docs/live.md.
 *
 * Viewers with equal requests who may see the same share a topic: what it shows is looked at once and its frames are
 * made once. While somebody watches, a timer looks each LIVE_TICK_MS at what has changed in the fleet; otherwise nothing
 * wakes. Nothing is queued for a viewer: it is behind, by one state (then the difference is sent) or by more (then the
 * newest whole). Making frames takes at most one part in LIVE_SHARE of the time; the rest is the agents'.
 */
#ifndef COLLECTOR_LIVE_H
#define COLLECTOR_LIVE_H

#include "collector/auth.h"
#include "collector/live_request.h"
#include "collector/silences.h"
#include "net/server.h"

enum {
	LIVE_TICK_MS = 200,
	LIVE_SHARE = 5,
	LIVE_SLICE_MS = 20,         /* as long as agents may wait at once */
	LIVE_QUIET_MS = 10000,      /* then something is said all the same */
	LIVE_PROXY_MS = 15 * 60000, /* then the proxy is to say again who it is */
	LIVE_VIEWERS = 1000,
	LIVE_VIEWERS_PER_ADDRESS = 64, /* or per user, behind a proxy */
	LIVE_CLOSE_BAD = 4400,
	LIVE_CLOSE_DENIED = 4401,
};

struct live;
struct live_viewer;

struct live_options {
	unsigned max_viewers, max_per_address; /* 0: the above */
	struct logger *log;                    /* or NULL */
};

struct live_counts {
	uint64_t viewers, topics, viewers_total, refused_total, requests_total, errors_total;
	uint64_t frames_total, bytes_total; /* written to viewers */
	uint64_t skipped_total;             /* states that a viewer did not get because it did not read */
	uint64_t builds_total, build_us_total;
};

/* All is borrowed. `loop` NULL: no timer and no clock; live_tick() says what time it is. `silences`, `store`, `auth`: or NULL. */
int live_new(struct loop *loop, const struct live_options *options, struct fleet *fleet,
	     const struct silences *silences, struct store *store, struct auth *auth, struct live **ret_live,
	     struct err *err) __attribute__((warn_unused_result));
void live_free(struct live *live); /* after server_free(); NULL is fine */

/* A viewer who has shown who he is. NULL: too many, or no memory, and `reply` says so. */
struct live_viewer *live_open(struct live *live, const struct auth_viewer *viewer, const char *peer,
			      struct server_reply *reply);
void live_opened(struct live_viewer *viewer, struct server_ws *ws);
void live_frame(struct live_viewer *viewer, struct str frame);
bool live_writable(struct live_viewer *viewer, struct buf *frame);
void live_closed(struct live_viewer *viewer); /* frees it */
/* The same as the server calls them. */
extern const struct server_events live_events;

/* Does what is due; returns when to come again in milliseconds, 0: not before something happens. */
uint64_t live_tick(struct live *live, struct mono now, struct wall wall);
/* Once a second: viewers whose credentials do not hold any more are closed with LIVE_CLOSE_DENIED. */
void live_recheck(struct live *live, struct mono now);
void live_stop(struct live *live); /* no viewer is let in any more, and nothing more is made */
void live_count(const struct live *live, struct live_counts *ret_counts);

#endif
