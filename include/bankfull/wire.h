/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of bankfull.v1, the wire between agent and collector: WebSocket text frames, one JSON object a frame,
 * `type` first. docs/wire.md is their manual and docs/wire.schema.json their schema.
 *
 * Samples, findings and parts of post-mortems are numbered: `seq` goes up by one from 1 within an `epoch` (one start of
 * an agent). What will never be sent (dropped from a full spool, superseded) is declared by a gap, which stands in the
 * sequence like what it replaces. A collector takes an epoch strictly in order and acks cumulatively, after its commit.
 */
#ifndef BANKFULL_WIRE_H
#define BANKFULL_WIRE_H

#include "bankfull/books.h"
#include "bankfull/context.h"
#include "bankfull/finding.h"
#include "bankfull/policy.h"
#include "bankfull/snapshot.h"
#include "bankfull/subject.h"
#include "base/str.h"

#define WIRE_PROTOCOL "bankfull.v1"

enum {
	WIRE_FRAME_MAX = 65536, /* a JSON parser can amplify 79 times: the size cap is a memory cap */
	WIRE_DEPTH_MAX = 12,
	WIRE_EPOCHS_MAX = 16, /* starts of an agent whose messages may still wait in one spool */
	WIRE_PARTS_MAX = 64,  /* of one post-mortem */
	WIRE_ID_CAP = 96,
	WIRE_REASON_CAP = 64,
	WIRE_TEXT_CAP = 256,
};

enum wire_type {
	WIRE_HELLO = 0, /* agent to collector */
	WIRE_SAMPLE,
	WIRE_FINDING,
	WIRE_POSTMORTEM,
	WIRE_GAP,
	WIRE_BYE,
	WIRE_WELCOME, /* collector to agent */
	WIRE_ACK,
	WIRE_ERROR,
	WIRE_TYPE_COUNT
};
extern const char *const wire_type_names[WIRE_TYPE_COUNT];

/* One start of an agent: 128 random bits, on the wire 32 lower-case hex digits. */
struct wire_epoch {
	uint8_t bytes[16];
};

/* What every numbered message carries. */
struct wire_head {
	struct wire_epoch epoch;
	uint64_t seq;     /* from 1 */
	uint64_t mono_ms; /* since the epoch began: orders */
	struct wall wall; /* the agent's clock: shown, corrected by the session's offset */
};

struct wire_held {
	struct wire_epoch epoch;
	uint64_t first, last; /* seqs that the spool still holds or has declared; first > last: none yet */
};

struct wire_hello {
	struct wire_subject subject;
	char program[32], jdk[64], engine[32]; /* versions */
	uint64_t mono_ms;
	struct wall wall;
	struct wire_held epochs[WIRE_EPOCHS_MAX]; /* oldest first, the live one last */
	size_t n_epochs;
	enum tristate node_agent; /* true: it speaks for a pod that is not its own (`bankfull agent --node`) */
};

/* When the limit is reached: ledger/forecast.h. */
struct wire_forecast {
	char kind[24];                               /* of forecast_kind_names; "": none was made */
	struct count earliest_s, likely_s, latest_s; /* unknown: not within the horizon */
	int owner;                                   /* who grows most; -1: none */
};

/*
 * One tick. A ledger is closed only at a smaps scan: `composition` is there when this tick had one, or when it is the
 * first since a session began; the groups are of this tick in any case.
 */
struct wire_sample {
	struct wire_head head;
	uint32_t interval_ms; /* until the next one, as planned */
	bool urgent;          /* near the limit: one a second, sent at once */
	int pid;              /* of the target; 0: there is none now, and nothing below is known */
	uint64_t start_ticks;
	enum access_level access;
	struct limit limit;
	bool limit_told;
	struct qty charge_bytes, floor_bytes, swap_bytes, expected_bytes;
	struct signed_qty freeboard_bytes;
	enum freeboard_level freeboard_level;
	struct qty groups[GROUP_COUNT];
	struct signed_qty grown_since_scan[GROUP_COUNT];
	struct cgroup_events events; /* cumulative */
	struct count some_avg10_bp, full_avg10_bp, refaults_file;
	bool has_composition;
	uint32_t composition_age_ms;
	struct qty owners[OWNER_COUNT];
	struct signed_qty residual_bytes;
	bool has_books; /* never without a composition; an older agent has none */
	struct wire_books books;
	struct wire_forecast forecast;
	struct engine_context context;
};

enum wire_edge { WIRE_OPENED = 0, WIRE_UPDATED, WIRE_CLEARED, WIRE_EDGE_COUNT };
extern const char *const wire_edge_names[WIRE_EDGE_COUNT]; /* "opened", "updated", "cleared" */

/*
 * The state of one finding; the latest counts. `id` names one episode of one rule at one target: it is the same in
 * open edge, updates and clear. The whole finding as `bankfull report --format json` writes it stands in "finding".
 */
struct wire_finding {
	struct wire_head head;
	char id[WIRE_ID_CAP];
	enum wire_edge edge;
	char rule[48];
	enum severity severity; /* of a cleared one: the last it had */
	int owner;              /* or -1 */
	char title[160];
	struct wall opened;
	/* Encoding: written when not NULL. Decoding: NULL; who wants the whole keeps the frame's text. */
	const struct finding *whole;
	struct str
		deep; /* the same of one deeper reading, near the limit (JSON text of an object): a finding that carries it */
};

enum death_cause {
	DEATH_UNKNOWN = 0,
	DEATH_CONTAINER_LIMIT, /* oom rose with oom_kill: this container's limit */
	DEATH_POD_LIMIT,       /* oom_kill alone, and the pod is known to have been at its limit */
	DEATH_NODE,            /* oom_kill alone, and the node was out of memory */
	DEATH_OUTSIDE,         /* oom_kill alone: pod or node, not known which */
	DEATH_SIGKILL,         /* no oom_kill: killed by somebody, evicted, or failed a probe */
	DEATH_JAVA_OOM,        /* OutOfMemoryError ended it */
	DEATH_EXIT,            /* it exited by itself */
	DEATH_CAUSE_COUNT
};
extern const char *const death_cause_names[DEATH_CAUSE_COUNT];

/*
 * One part of a post-mortem. Part 0's "body" is the verdict and what was known; those after it carry the timeline:
 * {"timeline": [sample, ...]}, oldest first. It is whole when all `parts` are there.
 */
struct wire_postmortem {
	struct wire_head head;
	char id[WIRE_ID_CAP];
	unsigned part, parts;
	/* Of part 0, for lists; the rest stands in the body. */
	enum death_cause cause;
	int owner; /* who grew most before it; -1: not known */
	int pid;
	struct wall died;
	char title[160];
	struct str
		body; /* encoding: JSON text of an object, written as it is; decoding: empty, see wire_finding.whole */
};

/* Numbers that will never come: `from` to `to`, both inside. */
struct wire_gap {
	struct wire_epoch epoch;
	uint64_t from, to;
	char reason[WIRE_REASON_CAP]; /* "spool-full", "superseded", "spool-lost", "unwritable" */
};

struct wire_bye {
	char reason[WIRE_REASON_CAP];
};

struct wire_position {
	struct wire_epoch epoch;
	uint64_t seq;
};

struct wire_welcome {
	struct wire_position acked[WIRE_EPOCHS_MAX]; /* of the epochs that hello named */
	size_t n_acked;
	uint32_t window;          /* most numbered messages that may be unacked on the wire */
	uint32_t min_interval_ms; /* of samples, while nothing is urgent */
	uint32_t max_frame;
	struct wire_policy policy;
};

enum wire_error_code {
	WIRE_ERR_MALFORMED = 0, /* not JSON, not UTF-8, too deep, a field of the wrong kind */
	WIRE_ERR_TYPE,          /* unknown type, or one of the other direction */
	WIRE_ERR_SEQUENCE,      /* seq is past the next one: something is missing and was not declared */
	WIRE_ERR_RATE,
	WIRE_ERR_SIZE,
	WIRE_ERR_STATE, /* before hello, or a second hello */
	WIRE_ERR_STORE, /* the collector cannot store at the moment: try again later */
	WIRE_ERR_REPLACED,
	WIRE_ERR_COUNT
};
extern const char *const wire_error_names[WIRE_ERR_COUNT];

struct wire_error {
	enum wire_error_code code;
	char text[WIRE_TEXT_CAP];
};

/* WebSocket close codes of ours. */
enum {
	WIRE_CLOSE_GOING_AWAY = 1001, /* the collector stops: come back with backoff */
	WIRE_CLOSE_PROTOCOL = 4400,   /* after an error: mend it, or come back with backoff */
	WIRE_CLOSE_DENIED = 4401,
	WIRE_CLOSE_REPLACED = 4409, /* another session of the same identity is newer */
	WIRE_CLOSE_SIZE = 4413,
	WIRE_CLOSE_RATE = 4429,
	WIRE_CLOSE_STORE = 4503,
};

/* One decoded frame. */
struct wire_message {
	enum wire_type type;
	union {
		struct wire_hello hello;
		struct wire_sample sample;
		struct wire_finding finding;
		struct wire_postmortem postmortem;
		struct wire_gap gap;
		struct wire_bye bye;
		struct wire_welcome welcome;
		struct wire_position ack;
		struct wire_error error;
	};
};

#endif
