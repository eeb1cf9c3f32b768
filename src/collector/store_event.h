/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a pod's time axis (events.h) in the store: one row each, unique by agent, kind and time. */
#ifndef COLLECTOR_STORE_EVENT_H
#define COLLECTOR_STORE_EVENT_H

#include "collector/events.h"
#include "collector/store.h"

/*
 * In a batch. The same again changes nothing; a checkpoint that ended replaces its start. No event is later than
 * `received`: a clock that is wrong must not keep it for ever.
 */
int store_event(struct store *store, int64_t agent, const struct event *event, struct wall received, struct err *err)
	__attribute__((warn_unused_result));
/* In a batch: the agent is back, and was not lost, if that is not earlier than `since`. */
int store_event_found(struct store *store, int64_t agent, struct wall since, struct err *err)
	__attribute__((warn_unused_result));
/* The latest of this kind; `*ret_found` false: there is none. */
int store_event_last(struct store *store, int64_t agent, enum event_kind kind, struct event *ret_event, bool *ret_found,
		     struct err *err) __attribute__((warn_unused_result));

/* One moment of the axis: a checkpoint has two. */
struct event_mark {
	enum event_kind kind;
	bool is_end; /* of a checkpoint */
	struct wall at;
	int64_t value, before;
};
typedef bool store_event_fn(void *context, const struct event_mark *mark);
/* Those in [from, to), oldest first, that are shown; rows are valid during the call, false stops. */
int store_each_event(struct store *store, int64_t agent, struct wall from, struct wall to, store_event_fn *fn,
		     void *context, struct err *err) __attribute__((warn_unused_result));

/*
 * For store_keep.c: checkpoints go with the samples, all others with the minutes; of each kind `most` rows at most.
 * `*ret_n` counts those that went.
 */
int store_events_expire(struct store *store, struct wall raw, struct wall minutes, int64_t most, int64_t *ret_n,
			struct err *err) __attribute__((warn_unused_result));

#endif
