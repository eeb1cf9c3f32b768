/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a session into the open batch, beside the samples that tell them. */
#include "collector/fleet_read.h"
#include "collector/inferred.h"
#include "collector/store_event.h"

/* The process that the store saw last, and whether it was seen to end; a checkpoint that had not ended. */
static int seed_from_store(struct session *session, struct err *err)
{
	struct store *store = session->ingest->store;
	struct event_state *state = &session->happened;
	struct event start, seen, ended, checkpoint;
	bool started = false, was_seen = false, has_ended = false, has_checkpoint = false;
	int rc = store_event_last(store, session->agent, HAPPENED_JVM_START, &start, &started, err);
	if (rc == 0)
		rc = store_event_last(store, session->agent, HAPPENED_JVM_SEEN, &seen, &was_seen, err);
	if (rc == 0)
		rc = store_event_last(store, session->agent, HAPPENED_JVM_END, &ended, &has_ended, err);
	if (rc == 0)
		rc = store_event_last(store, session->agent, HAPPENED_CHECKPOINT, &checkpoint, &has_checkpoint, err);
	if (rc < 0 || !(started || was_seen))
		return rc;
	const struct event *last = !started || (was_seen && seen.at.ms > start.at.ms) ? &seen : &start;
	state->jvm_known = true;
	state->pid = (int)last->value;
	state->start_ticks = (uint64_t)last->before;
	state->alive = !has_ended || ended.at.ms <= last->at.ms;
	if (has_checkpoint && checkpoint.value == 0 && state->alive && checkpoint.at.ms >= last->at.ms) {
		state->checkpointing = true;
		state->checkpoint_at = checkpoint.at;
	}
	return 0;
}

/* Counts and limit of the last sample, which no event need have told. */
static void seed_from_fleet(struct session *session)
{
	const struct fleet_pod *pod = fleet_find(session->ingest->fleet, session->agent);
	struct event_state *state = &session->happened;
	if (!pod || !pod->latest.received.ms)
		return;
	state->limit = pod->latest.limit;
	if (pod->latest.pid != state->pid || pod->latest.start_ticks != state->start_ticks)
		return; /* read back from the store, or of another process */
	state->oom_kill = pod->latest.events.oom_kill;
	state->restarts = pod->latest.context.restarts;
}

int session_events_hello(struct session *session, const struct wire_hello *hello, bool new_start, struct err *err)
{
	struct ingest *ingest = session->ingest;
	struct wall now = ingest->wall;
	int rc = store_event_found(ingest->store, session->agent, (struct wall){ now.ms - INFER_AFTER_MS }, err);
	if (rc == 0)
		rc = seed_from_store(session, err);
	if (rc < 0)
		return rc;
	seed_from_fleet(session);
	if (!new_start)
		return 0;
	int64_t age_ms = hello->mono_ms < (uint64_t)now.ms ? (int64_t)hello->mono_ms : now.ms;
	const struct event event = { .kind = HAPPENED_AGENT_START, .at.ms = now.ms - age_ms };
	return store_event(ingest->store, session->agent, &event, now, err);
}

int session_events_sample(struct session *session, const struct wire_sample *sample, struct err *err)
{
	struct ingest *ingest = session->ingest;
	struct event events[EVENTS_OF_SAMPLE_MAX];
	bool dated = sample->head.wall.ms > 0 && sample->head.wall.ms < ingest->wall.ms;
	size_t n = events_step(&session->happened, sample, dated ? sample->head.wall : ingest->wall, events);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = store_event(ingest->store, session->agent, &events[i], ingest->wall, err);
	return rc;
}

int session_events_bye(struct session *session, struct err *err)
{
	const struct event event = { .kind = HAPPENED_AGENT_BYE, .at = session->ingest->wall };
	return store_event(session->ingest->store, session->agent, &event, event.at, err);
}

/* Should it be back soon, session_events_hello() takes this away again. Where nothing can be stored, it is not told. */
void session_events_ended(struct session *session)
{
	struct ingest *ingest = session->ingest;
	struct err err;
	if (ingest->stopping || session->said_bye || session->replaced || !session->fleet_told)
		return;
	if (ingest_full(ingest))
		ingest_flush(ingest);
	const struct event event = { .kind = HAPPENED_AGENT_LOST, .at = ingest->wall };
	if (ingest_begin(ingest, &err) == 0 && store_event(ingest->store, session->agent, &event, event.at, &err) < 0)
		ingest_fail(ingest, &err);
}
