/* SPDX-License-Identifier: Apache-2.0 */
/* What the API and the collector's own rules read of the store. Rows are valid during the call; false stops. */
#ifndef COLLECTOR_STORE_READ_H
#define COLLECTOR_STORE_READ_H

#include "collector/store.h"

struct store_agent_row {
	int64_t agent;
	char agent_id[WIRE_NAME_CAP];
	struct wire_hello hello; /* what it said of itself last: subject and versions, the rest is not kept */
	struct wall first_seen, last_seen;
	bool said_bye; /* its latest epoch ended with one: it is gone on purpose */
};
/* Rows are valid during the call; false stops. All agents seen within the findings' retention, newest first. */
typedef bool store_agent_fn(void *context, const struct store_agent_row *row);
int store_each_agent(struct store *store, store_agent_fn *fn, void *context, struct err *err)
	__attribute__((warn_unused_result));

/* Those that named this workload last ("": none), newest row first, below `below` where that is not 0. Of any namespace. */
int store_each_agent_of(struct store *store, const char *workload, int64_t below, store_agent_fn *fn, void *context,
			struct err *err) __attribute__((warn_unused_result));

/* One of them; GONE if there is none of this row. */
int store_agent_read(struct store *store, int64_t agent, struct store_agent_row *ret_row, struct err *err)
	__attribute__((warn_unused_result));

/* One point of a series: of one raw sample, or of one minute (roll-up: mean, and the extremes that matter). */
struct store_point {
	struct wall received;
	struct wall wall; /* by the agent's clock, corrected */
	struct qty limit_bytes, charge_bytes, charge_max_bytes, floor_bytes, floor_max_bytes;
	bool no_limit; /* it was read, and there is none: limit_bytes is unread then */
	struct signed_qty freeboard_bytes, freeboard_min_bytes;
	struct qty groups[GROUP_COUNT];
	bool has_composition;
	struct qty owners[OWNER_COUNT];
	uint32_t n_samples; /* that it stands for */
};
static inline struct limit store_point_limit(const struct store_point *point)
{
	if (point->no_limit)
		return (struct limit){ .kind = LIMIT_NONE };
	return qty_known(point->limit_bytes) ? limit_set(point->limit_bytes.bytes) : (struct limit){ 0 };
}
typedef bool store_point_fn(void *context, const struct store_point *point);
/*
 * Points of one agent received in [from, to), oldest first, none closer than step_ms to the one before (0: all): from the
 * raw samples where they are still kept, else from the roll-ups.
 */
int store_each_point(struct store *store, int64_t agent, struct wall from, struct wall to, uint64_t step_ms,
		     store_point_fn *fn, void *context, struct err *err) __attribute__((warn_unused_result));

struct store_gap_row {
	int64_t agent;
	struct wire_epoch epoch;
	uint64_t from, to; /* to UINT64_MAX: open-ended */
	char reason[WIRE_REASON_CAP];
	struct wall received;
};
typedef bool store_gap_fn(void *context, const struct store_gap_row *row);
int store_each_gap(struct store *store, int64_t agent, store_gap_fn *fn, void *context, struct err *err)
	__attribute__((warn_unused_result));

struct store_finding_row {
	int64_t row, agent; /* agent 0: the collector's own, about itself */
	char id[WIRE_ID_CAP];
	char rule[48];
	enum severity severity;
	enum wire_edge edge; /* the latest */
	int owner;
	char title[160];
	struct wall opened, updated, cleared; /* cleared.ms 0: still open */
	struct wall received;                 /* the latest, by our own clock */
	uint64_t n_updates;
	struct str text; /* the latest frame that carried the whole finding; empty unless asked for */
};
struct store_filter {
	int64_t agent;           /* 0: all */
	bool agent_is_collector; /* those of the collector about itself alone */
	const char *rule;        /* NULL: all */
	const char *id;          /* of a finding or post-mortem, with its agent; NULL: all */
	enum severity least;
	bool open_only;
	struct wall from, to; /* opened before `to`, not cleared before `from`; 0: unbounded */
	int64_t below_row;    /* for the next page: rows below this one; 0: from the newest */
	size_t most;          /* 0: 1000 */
	bool with_text;
};
typedef bool store_finding_fn(void *context, const struct store_finding_row *row);
int store_each_finding(struct store *store, const struct store_filter *filter, store_finding_fn *fn, void *context,
		       struct err *err) __attribute__((warn_unused_result));

struct store_postmortem_row {
	int64_t row, agent;
	char id[WIRE_ID_CAP];
	enum death_cause cause;
	int owner, pid;
	struct wall died, received;
	char title[160];
	unsigned parts, parts_here;
	bool inferred;
	bool told;       /* Kubernetes told of it: store_postmortem_told() */
	struct str text; /* part 0's frame, or the part asked for; empty unless asked for */
};
typedef bool store_postmortem_fn(void *context, const struct store_postmortem_row *row);
int store_each_postmortem(struct store *store, const struct store_filter *filter, store_postmortem_fn *fn,
			  void *context, struct err *err) __attribute__((warn_unused_result));
/* All parts of one, in order; GONE if the agent has none of this id. An id is its agent's: two may have the same. */
int store_postmortem_parts(struct store *store, int64_t agent, const char *id, store_postmortem_fn *fn, void *context,
			   struct err *err) __attribute__((warn_unused_result));

#endif
