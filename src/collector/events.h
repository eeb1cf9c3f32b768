/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What happened to a target, for the time axis: told apart from one sample to the next. PURE.
 *
 * A session takes the samples of an agent strictly in order, so what differs between two is what happened between them;
 * it is dated by the later one's corrected clock. What stood before the first sample of a session is known from the fleet
 * or the store (session_events.c). What cannot be told is no event: a first sample has no before.
 */
#ifndef COLLECTOR_EVENTS_H
#define COLLECTOR_EVENTS_H

#include "bankfull/wire.h"

/* Their numbers stand in the store: new ones at the end. */
enum event_kind {
	HAPPENED_JVM_START = 0, /* value: its pid; before: its start_ticks, so that it is known again */
	HAPPENED_JVM_END,       /* value: the pid that is gone */
	HAPPENED_LIMIT,         /* bytes now and before; HAPPENED_NO_LIMIT */
	HAPPENED_CHECKPOINT,    /* value: how long it took, in milliseconds; 0: its end was not seen */
	HAPPENED_RESTART,       /* the engine's count of restarts, now and before */
	HAPPENED_AGENT_START,
	HAPPENED_AGENT_LOST, /* its stream ended without bye, and it did not come back soon */
	HAPPENED_AGENT_BYE,
	HAPPENED_OOM_KILL, /* memory.events' oom_kill, now and before */
	HAPPENED_JVM_SEEN, /* as HAPPENED_JVM_START, of one that lived before anybody looked. Not shown */
	HAPPENED_COUNT
};

enum {
	EVENTS_OF_SAMPLE_MAX = 8,
	HAPPENED_NO_LIMIT = -1,
	/* A start of an agent tells of no target until it has found it again: only then is it gone. */
	HAPPENED_SURELY_GONE_MS = 60000,
};

struct event {
	enum event_kind kind;
	struct wall at;
	int64_t value, before;
};

/* What the last sample said. {0}: nothing is known. */
struct event_state {
	bool jvm_known, alive;
	int pid;
	uint64_t start_ticks;
	struct wire_epoch epoch; /* in which the process was last seen; zeros: not known */
	struct wall gone_since;  /* another start of the agent sees none; ms 0: it does, or has not said */
	struct limit limit;
	struct count restarts, oom_kill;
	bool checkpointing;
	struct wall checkpoint_at;
};

/* What this sample, taken `at`, says that the one before did not. Returns how many. */
size_t events_step(struct event_state *state, const struct wire_sample *sample, struct wall at,
		   struct event ret_events[EVENTS_OF_SAMPLE_MAX]);

#endif
