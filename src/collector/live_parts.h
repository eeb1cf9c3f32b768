/* SPDX-License-Identifier: Apache-2.0 */
/* What live*.c share. Internal to them and to their tests. */
#ifndef COLLECTOR_LIVE_PARTS_H
#define COLLECTOR_LIVE_PARTS_H

#include "collector/fleet_row.h"
#include "collector/live.h"
#include "data/js.h"

enum {
	LIVE_BODY_CAP = 4 << 20, /* 200 rows of the longest names, each byte of them escaped */
	LIVE_ASKS_PER_S = 10,
	LIVE_ASKS_BURST = 40,
	LIVE_ERRORS_MAX = 20,
	LIVE_NEW = UINT8_MAX,
	LIVE_SPARK_MS = 5, /* of a tick, for reading what the store knows of the last hour */
};

/* A row as it was shown last. */
struct live_row {
	uint64_t id;        /* agent, or when the workload was born */
	uint64_t signature; /* of what the clock moves: states */
	int64_t heard_ms;
	size_t at, len; /* its text in `rows`, without age_ms */
};

/* What it takes from one state to the next. */
struct live_step {
	bool possible;                 /* else it takes a whole frame */
	bool moved, above_changed;     /* above: what stands above the rows */
	uint8_t stood[VIEW_COUNT_MAX]; /* where each row stood before; LIVE_NEW: nowhere */
	uint8_t changed[VIEW_COUNT_MAX];
	size_t n_changed; /* rows that are to be sent */
};

/* What viewers with the same request and the same sight look at. */
struct topic {
	struct live *live;
	struct topic *next, *prev;
	struct live_request request;
	struct auth_viewer sight; /* its namespaces count, and nothing else */
	uint64_t hash;
	struct live_viewer *viewers;
	bool due;        /* somebody waits for a first frame */
	bool sparks_due; /* rows whose last hour stands in the store still */
	/* The state that was built last. */
	uint64_t seq; /* 0: none was */
	uint64_t generation, version, silences;
	int64_t at_ms, minute;
	struct mono said; /* when `seq` last went up */
	bool gone;
	struct live_row shown[VIEW_COUNT_MAX];
	size_t n_shown;
	struct buf rows;
	uint64_t total, matching;
	struct view_summary summary;
	uint64_t facets_seq;
	struct buf facets;     /* "facets":{...} */
	struct live_step last; /* stays until the next state, whoever looks meanwhile and finds nothing */
	/* Frames without their beginning, made when the first viewer is to have them. */
	struct buf whole, step;
	uint64_t whole_seq, step_seq;
};

struct live_viewer {
	struct live *live;
	struct live_viewer *next, *prev;             /* all */
	struct live_viewer *topic_next, *topic_prev; /* of one topic */
	struct topic *topic;                         /* NULL: nothing is subscribed */
	struct server_ws *ws;                        /* NULL until it is open, and in tests without sockets */
	struct auth_viewer viewer;
	char who[128]; /* whom the cap is per: an address, or the user that a proxy named */
	struct mono opened;
	int64_t n;
	uint64_t seen, facets_seen; /* of the topic; 0: nothing yet */
	bool wanting;               /* server_ws_want_write() is under way */
	/* An error to be told; the newest, where he does not read. */
	const char *error_code; /* NULL: none */
	int64_t error_n;
	char error_text[200];
	double asks_left;
	struct mono refilled;
	unsigned n_errors;
	bool closing;
};

struct live {
	struct loop *loop;
	struct live_options options;
	struct fleet *fleet;
	const struct silences *silences;
	struct store *store;
	struct auth *auth;
	struct loop_timer *timer;
	bool stopped;
	struct mono now, round_due, not_before; /* not_before: the agents' share of the time is over */
	struct wall wall;
	struct live_viewer *viewers;
	struct topic *topics, *cursor; /* cursor: the next to be built in this round; NULL: none is under way */
	struct fleet_index index;
	struct view_scratch scratch;
	struct view_window window;
	struct view_facets facets;
	struct live_step step;
	struct buf text; /* what becomes a topic's rows */
	unsigned auth_generation;
	struct live_counts counts;
};

/* live_topic.c */
/* Ends an object that began at `from` of `buf`, and leaves of it what is between its braces. */
bool live_end_members(struct buf *buf, size_t from, struct js_out *out);
bool live_same_sight(const struct auth_viewer *a, const struct auth_viewer *b);
/* NULL: no memory. */
struct topic *topic_join(struct live *live, struct live_viewer *viewer, const struct live_request *request);
void topic_leave(struct live_viewer *viewer); /* frees the topic with its last viewer */
/* Looks at the fleet, which the index shows as it is. True: there is something to be sent. */
bool topic_build(struct topic *topic);
/* Might that find anything? */
bool topic_is_stale(const struct topic *topic);

/* live_frame.c: the next frame for this viewer; false: he has all. */
bool topic_frame(struct live_viewer *viewer, struct buf *frame);

#endif
