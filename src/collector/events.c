/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/events.h"

#include <string.h>

#include "wire/wire.h"

struct list {
	struct event *items;
	size_t n;
};

static void put(struct list *list, enum event_kind kind, struct wall at, int64_t value, int64_t before)
{
	if (list->n < EVENTS_OF_SAMPLE_MAX)
		list->items[list->n++] = (struct event){ kind, at, value, before };
}

static int64_t signed_of(uint64_t n)
{
	return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

/* --- the process ------------------------------------------------------------------------------------ */

static void end(struct event_state *state, struct wall at, struct list *list)
{
	put(list, HAPPENED_JVM_END, at, state->pid, 0);
	state->alive = state->checkpointing = false; /* of what it was doing nobody tells the end */
	state->restarts = (struct count){ 0 };
	state->gone_since.ms = 0;
}

static void see_none(struct event_state *state, const struct wire_sample *sample, struct wall at, struct list *list)
{
	if (!state->jvm_known || !state->alive)
		return;
	if (wire_epoch_same(state->epoch, sample->head.epoch))
		end(state, at, list);
	else if (state->gone_since.ms == 0)
		state->gone_since = at;
	else if (at.ms - state->gone_since.ms >= HAPPENED_SURELY_GONE_MS)
		end(state, state->gone_since, list);
}

static void see_process(struct event_state *state, const struct wire_sample *sample, struct wall at, struct list *list)
{
	bool same = state->jvm_known && sample->pid == state->pid && sample->start_ticks == state->start_ticks;
	if (state->jvm_known && !same && state->alive)
		end(state, state->gone_since.ms ? state->gone_since : at, list);
	if (!same || !state->alive)
		put(list, state->jvm_known && !same ? HAPPENED_JVM_START : HAPPENED_JVM_SEEN, at, sample->pid,
		    signed_of(sample->start_ticks));
	state->jvm_known = state->alive = true;
	state->pid = sample->pid;
	state->start_ticks = sample->start_ticks;
	state->epoch = sample->head.epoch;
	state->gone_since.ms = 0;
}

/* --- what it says ------------------------------------------------------------------------------------- */

static int64_t limit_of(const struct limit *limit)
{
	return limit->kind == LIMIT_NONE ? HAPPENED_NO_LIMIT : signed_of(limit->bytes);
}

static void see_limit(struct event_state *state, const struct limit *limit, struct wall at, struct list *list)
{
	if (limit->kind == LIMIT_UNREAD)
		return;
	if (state->limit.kind != LIMIT_UNREAD && limit_of(limit) != limit_of(&state->limit))
		put(list, HAPPENED_LIMIT, at, limit_of(limit), limit_of(&state->limit));
	state->limit = *limit;
}

/* A count that went down began anew: with another process or cgroup. */
static void see_count(struct count *before, struct count now, enum event_kind kind, struct wall at, struct list *list)
{
	if (!now.known)
		return;
	if (before->known && now.n > before->n)
		put(list, kind, at, signed_of(now.n), signed_of(before->n));
	*before = now;
}

static void see_checkpoint(struct event_state *state, enum tristate checkpointing, struct wall at, struct list *list)
{
	if (checkpointing == TRISTATE_TRUE && !state->checkpointing) {
		state->checkpointing = true;
		state->checkpoint_at = at;
		put(list, HAPPENED_CHECKPOINT, at, 0, 0);
	} else if (checkpointing == TRISTATE_FALSE && state->checkpointing) {
		int64_t took = at.ms - state->checkpoint_at.ms;
		state->checkpointing = false;
		put(list, HAPPENED_CHECKPOINT, state->checkpoint_at, took > 0 ? took : 1, 0);
	}
}

size_t events_step(struct event_state *state, const struct wire_sample *sample, struct wall at,
		   struct event ret_events[EVENTS_OF_SAMPLE_MAX])
{
	struct list list = { ret_events, 0 };
	if (sample->pid <= 0) {
		see_none(state, sample, at, &list);
		return list.n;
	}
	see_process(state, sample, at, &list);
	see_limit(state, &sample->limit, at, &list);
	see_count(&state->oom_kill, sample->events.oom_kill, HAPPENED_OOM_KILL, at, &list);
	see_count(&state->restarts, sample->context.restarts, HAPPENED_RESTART, at, &list);
	see_checkpoint(state, sample->context.checkpointing, at, &list);
	return list.n;
}
