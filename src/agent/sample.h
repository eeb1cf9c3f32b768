/* SPDX-License-Identifier: Apache-2.0 */
/* One tick as a message, and whether it is urgent. PURE. */
#ifndef AGENT_SAMPLE_H
#define AGENT_SAMPLE_H

#include "bankfull/wire.h"
#include "ledger/aged.h"
#include "ledger/history.h"

struct sample_input {
	const struct snapshot *snapshot;
	const struct ledger *ledger; /* of this tick: aged where there was no scan */
	const struct aged_mark *mark;
	const struct history_view *history; /* or NULL */
	uint64_t scan_age_ms;               /* of the mark */
	bool with_composition;
	bool urgent;
	uint32_t interval_ms;
	uint64_t mono_ms; /* since the epoch began */
	struct wall wall;
};

/* All but head.epoch and head.seq. */
void sample_make(const struct sample_input *input, struct wire_sample *ret_sample);

/* The books that were told last: struct wire_books says when they are told again. */
struct books_told {
	bool told;
	uint64_t mono_ms;
	int pid;
	uint64_t start_ticks;
	struct wire_books books;
};

/* Takes the books out of a sample where they were told lately. `anew`: a session began. */
void sample_thin(struct books_told *told, bool anew, struct wire_sample *sample);

/* No target: what little a sample says then. */
void sample_none(uint32_t interval_ms, uint64_t mono_ms, struct wall wall, struct wire_sample *ret_sample);

/*
 * Near the end: freeboard under 3 % of the limit (until it is over 5 % again), or, for a minute, the first `max` event in
 * ten minutes. A pod whose page cache stands at its limit counts `max` all day long and is healthy: that alone must not
 * keep it urgent, so where the freeboard is known to be over 10 % later events do not count.
 */
struct urgency {
	bool on;
	bool low;                /* freeboard */
	bool max_known;          /* max_seen was read */
	uint64_t max_seen;       /* memory.events' max at the last tick */
	struct mono max_at;      /* when it last rose */
	struct mono until;       /* urgent by max events */
	uint64_t begun_total;    /* how often it became urgent */
	uint64_t max_seen_total; /* ticks at which max had risen */
};

/* `ret_first`: it has become urgent just now, so one deeper reading is due. */
bool urgency_step(struct urgency *urgency, struct mono now, const struct snapshot *snapshot,
		  const struct ledger *ledger, bool *ret_first);

#endif
