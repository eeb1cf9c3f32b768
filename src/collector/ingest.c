/* SPDX-License-Identifier: Apache-2.0 */
/* All sessions, and the batch that they share. */
#include "collector/inferred.h"

#include <stdio.h>

#include "base/esc.h"

static void on_commit_timer(void *context);
static void on_slow_timer(void *context);

int ingest_new(struct loop *loop, const struct ingest_options *options, struct store *store, struct fleet *fleet,
	       struct ingest **ret_ingest, struct err *err)
{
	struct ingest *ingest = calloc(1, sizeof *ingest);
	if (!ingest)
		return err_set(err, ERR_NOMEM, "no memory for sessions");
	struct ingest_options *o = &ingest->options;
	*o = *options;
	o->window = o->window ? o->window : 256;
	o->min_interval_ms = o->min_interval_ms ? o->min_interval_ms : 1000;
	o->max_frame = o->max_frame && o->max_frame < WIRE_FRAME_MAX ? o->max_frame : WIRE_FRAME_MAX;
	o->rate_per_s = o->rate_per_s ? o->rate_per_s : 500;
	o->commit_ms = o->commit_ms ? o->commit_ms : 20;
	o->commit_messages = o->commit_messages ? o->commit_messages : 2000;
	ingest->loop = loop;
	ingest->store = store;
	ingest->fleet = fleet;
	ingest->fed = calloc(o->commit_messages, sizeof *ingest->fed);
	int rc = ingest->fed ? 0 : err_set(err, ERR_NOMEM, "no memory for a batch");
	if (rc == 0 && loop)
		rc = loop_timer_new(loop, on_commit_timer, ingest, &ingest->commit_timer, err);
	if (rc == 0 && loop)
		rc = loop_timer_new(loop, on_slow_timer, ingest, &ingest->slow_timer, err);
	if (rc < 0) {
		ingest_free(ingest);
		return rc;
	}
	if (loop)
		loop_timer_set(ingest->slow_timer, INGEST_SLOW_MS);
	*ret_ingest = ingest;
	return 0;
}

void ingest_free(struct ingest *ingest)
{
	if (!ingest)
		return;
	ingest_stop(ingest);
	ingest_flush(ingest);
	while (ingest->sessions)
		session_closed(ingest->sessions, 0);
	inferred_done(ingest);
	loop_timer_free(ingest->commit_timer);
	loop_timer_free(ingest->slow_timer);
	free(ingest->fed);
	free(ingest);
}

void ingest_stop(struct ingest *ingest)
{
	ingest->stopping = true;
}

bool ingest_healthy(const struct ingest *ingest)
{
	return !ingest->unhealthy;
}

void ingest_count(const struct ingest *ingest, struct ingest_counts *ret_counts)
{
	*ret_counts = ingest->counts;
}

/* --- by id ---------------------------------------------------------------------------------- */

/* FNV-1a: ids are ours or the cluster's; who may choose them could as well open many sessions. */
static size_t bucket_of(const char *id)
{
	uint32_t hash = 2166136261U;
	for (; *id; id++)
		hash = (hash ^ (unsigned char)*id) * 16777619U;
	return hash % INGEST_BUCKETS;
}

struct session *ingest_find(struct ingest *ingest, const char *id)
{
	struct session *session = ingest->by_id[bucket_of(id)];
	while (session && (session->state == SESSION_CLOSING || strcmp(session->id, id) != 0))
		session = session->id_next;
	return session;
}

static size_t epoch_bucket(struct wire_epoch epoch)
{
	/* Random bits already, where an agent makes them. */
	return ((size_t)(epoch.bytes[0] ^ epoch.bytes[15]) | (size_t)(epoch.bytes[1] ^ epoch.bytes[14]) << 8) %
	       INGEST_BUCKETS;
}

static struct wire_epoch live_epoch(const struct session *session)
{
	return session->epochs[session->n_epochs - 1].stored.epoch;
}

struct session *ingest_find_live(struct ingest *ingest, struct wire_epoch epoch)
{
	struct session *session = ingest->by_epoch[epoch_bucket(epoch)];
	while (session && (session->state == SESSION_CLOSING || !wire_epoch_same(live_epoch(session), epoch)))
		session = session->epoch_next;
	return session;
}

void ingest_list(struct session *session)
{
	struct session **by_id = &session->ingest->by_id[bucket_of(session->id)];
	struct session **by_epoch = &session->ingest->by_epoch[epoch_bucket(live_epoch(session))];
	session->id_next = *by_id;
	*by_id = session;
	session->epoch_next = *by_epoch;
	*by_epoch = session;
	session->listed = true;
}

static void unlist(struct session *session)
{
	struct session **at = &session->ingest->by_id[bucket_of(session->id)];
	while (*at != session)
		at = &(*at)->id_next;
	*at = session->id_next;
	at = &session->ingest->by_epoch[epoch_bucket(live_epoch(session))];
	while (*at != session)
		at = &(*at)->epoch_next;
	*at = session->epoch_next;
	session->listed = false;
}

/* --- the batch ------------------------------------------------------------------------------ */

static void say_failed(struct ingest *ingest, const struct err *err)
{
	char shown[2 * sizeof err->message];
	logger_say(ingest->options.log, SAY_ERROR, "batch-failed",
		   "%u messages could not be stored, their agents will send them again: %s", ingest->n_fed,
		   esc_copy(shown, sizeof shown, str_of(err->message)));
}

static void say_storing(struct ingest *ingest)
{
	if (ingest->unhealthy)
		logger_say(ingest->options.log, SAY_INFO, "storing-again", "batches are committed again");
	ingest->unhealthy = false;
}

int ingest_begin(struct ingest *ingest, struct err *err)
{
	if (ingest->batch_open)
		return 0;
	int rc = store_begin(ingest->store, err);
	if (rc < 0) {
		if (!ingest->unhealthy) /* one line for all that try meanwhile */
			say_failed(ingest, err);
		ingest->unhealthy = true;
		ingest->counts.failed_commits_total++;
		return rc;
	}
	ingest->batch_open = true;
	ingest->batch_opened = ingest->now;
	if (ingest->commit_timer)
		loop_timer_set(ingest->commit_timer, ingest->options.commit_ms);
	return 0;
}

void ingest_join(struct session *session)
{
	struct ingest *ingest = session->ingest;
	if (session->in_batch)
		return;
	session->in_batch = true;
	session->batch_prev = NULL;
	session->batch_next = ingest->batch;
	if (ingest->batch)
		ingest->batch->batch_prev = session;
	ingest->batch = session;
}

static void leave(struct session *session)
{
	if (!session->in_batch)
		return;
	if (session->batch_prev)
		session->batch_prev->batch_next = session->batch_next;
	else
		session->ingest->batch = session->batch_next;
	if (session->batch_next)
		session->batch_next->batch_prev = session->batch_prev;
	session->in_batch = false;
	session->batch_next = session->batch_prev = NULL;
}

bool ingest_full(const struct ingest *ingest)
{
	return ingest->n_fed == ingest->options.commit_messages;
}

struct fed *ingest_feed(struct ingest *ingest, int64_t agent, enum wire_type type)
{
	if (ingest_full(ingest))
		return NULL;
	struct fed *fed = &ingest->fed[ingest->n_fed++];
	fed->agent = agent;
	fed->received = ingest->wall;
	fed->type = type;
	return fed;
}

static void close_batch(struct ingest *ingest)
{
	ingest->batch_open = false;
	ingest->n_fed = 0;
	if (ingest->commit_timer)
		loop_timer_cancel(ingest->commit_timer);
}

void ingest_fail(struct ingest *ingest, const struct err *err)
{
	say_failed(ingest, err);
	store_rollback(ingest->store);
	ingest->counts.failed_commits_total++;
	ingest->unhealthy = true;
	close_batch(ingest);
	/* Each leaves first: closing it may free it, and may call back in here. */
	while (ingest->batch) {
		struct session *session = ingest->batch;
		leave(session);
		session_fail(session, WIRE_ERR_STORE, "nothing can be stored at the moment: send it again later");
	}
}

static void tell_fleet(struct ingest *ingest)
{
	struct err err;
	int rc = 0;
	for (struct session *s = ingest->batch; s; s = s->batch_next) {
		if (!s->hello || s->fleet_told || s->replaced)
			continue;
		s->fleet_told = fleet_connected(ingest->fleet, s->agent, s->id, s->hello, s->offset_ms, ingest->wall,
						&err) == 0;
		rc = s->fleet_told ? rc : -1;
	}
	for (unsigned i = 0; i < ingest->n_fed; i++) {
		const struct fed *fed = &ingest->fed[i];
		if (fed->type == WIRE_SAMPLE)
			fleet_sample(ingest->fleet, fed->agent, &fed->sample, fed->received);
		else if (fed->type == WIRE_POSTMORTEM)
			fleet_postmortem(ingest->fleet, fed->agent, fed->received);
		else if (fleet_finding(ingest->fleet, fed->agent, &fed->finding, fed->received, &err) < 0)
			rc = -1;
	}
	if (rc < 0)
		logger_say(ingest->options.log, SAY_ERROR, "fleet-incomplete", "stored, but not all of it is shown: %s",
			   err.message);
}

void ingest_flush(struct ingest *ingest)
{
	struct err err;
	if (!ingest->batch_open)
		return;
	if (store_commit(ingest->store, &err) < 0) {
		ingest_fail(ingest, &err);
		return;
	}
	say_storing(ingest);
	ingest->counts.commits_total++;
	tell_fleet(ingest);
	close_batch(ingest);
	while (ingest->batch) {
		struct session *session = ingest->batch;
		leave(session);
		session_committed(session);
	}
}

/* --- time ----------------------------------------------------------------------------------- */

/* Closing one may free it. */
void ingest_recheck(struct ingest *ingest, ingest_holds_fn *holds, void *context)
{
	for (struct session *s = ingest->sessions, *next; s; s = next) {
		next = s->next;
		if (!holds(context, s->method, s->shown_id))
			session_deny(s);
	}
}

static void look_at_sessions(struct ingest *ingest)
{
	for (struct session *s = ingest->sessions, *next; s; s = next) {
		next = s->next;
		if (s->paused)
			rate_resume(s);
		if ((s->expires.ms && s->expires.ms <= ingest->wall.ms) || proof_refused(s->proof))
			session_deny(s);
		else if (s->state == SESSION_NEW && !mono_ms_until(ingest->now, mono_add_ms(s->opened, HELLO_MS)))
			session_fail(s, WIRE_ERR_STATE, "no hello within %d s", HELLO_MS / 1000);
	}
}

/*
 * What is not ready gets no connections of a Service, so no batch, and would never be ready again. Only what is written
 * tells that there is room.
 */
static void try_again(struct ingest *ingest)
{
	struct err err;
	if (!ingest->unhealthy || ingest->batch_open || mono_ms_until(ingest->now, ingest->probe_due))
		return;
	ingest->probe_due = mono_add_ms(ingest->now, INGEST_SLOW_MS);
	if (store_probe(ingest->store, &err) == 0)
		say_storing(ingest);
}

uint64_t ingest_step(struct ingest *ingest, struct mono now, struct wall wall)
{
	ingest->now = now;
	ingest->wall = wall;
	if (ingest->batch_open && !mono_ms_until(now, mono_add_ms(ingest->batch_opened, ingest->options.commit_ms)))
		ingest_flush(ingest);
	try_again(ingest);
	look_at_sessions(ingest);
	session_pods_told(ingest);
	if (!ingest->loaded)
		inferred_load(ingest);
	ingest->loaded = true;
	inferred_step(ingest);
	bool told = ingest_policies(ingest);
	return ingest->n_paused || !told ? INGEST_PAUSED_MS : INGEST_SLOW_MS;
}

static void look_at_clock(struct ingest *ingest)
{
	if (!ingest->loop)
		return;
	ingest->now = loop_now(ingest->loop);
	ingest->wall = clock_wall();
}

static void on_commit_timer(void *context)
{
	struct ingest *ingest = context;
	look_at_clock(ingest);
	ingest_flush(ingest);
}

static void on_slow_timer(void *context)
{
	struct ingest *ingest = context;
	look_at_clock(ingest);
	loop_timer_set(ingest->slow_timer, ingest_step(ingest, ingest->now, ingest->wall));
}

/* --- sessions come and go --------------------------------------------------------------------- */

struct session *ingest_open(struct ingest *ingest, const struct auth_agent *agent, const char *peer)
{
	bool names = agent->pod[0] || agent->namespace_[0] || agent->node[0];
	struct session *session = ingest->stopping ? NULL : calloc(1, sizeof *session);
	struct auth_agent *vouched = session && names ? malloc(sizeof *vouched) : NULL;
	if (!session || (names && !vouched)) {
		free(session);
		return NULL;
	}
	if (vouched)
		*vouched = *agent;
	look_at_clock(ingest);
	session->vouched = vouched;
	session->ingest = ingest;
	str_copy(session->id, sizeof session->id, str_of(agent->id));
	str_copy(session->shown_id, sizeof session->shown_id, str_of(agent->id));
	str_copy(session->peer, sizeof session->peer, str_of(peer));
	memcpy(session->method, agent->method, sizeof session->method);
	session->expires = agent->expires;
	session->proof = agent->proof;
	session->opened = ingest->now;
	rate_start(session);
	session->next = ingest->sessions;
	if (ingest->sessions)
		ingest->sessions->prev = session;
	ingest->sessions = session;
	ingest->counts.sessions++;
	ingest->counts.sessions_total++;
	return session;
}

void session_opened(struct session *session, struct server_ws *ws)
{
	session->ws = ws;
}

void session_closed(struct session *session, unsigned close_code)
{
	struct ingest *ingest = session->ingest;
	look_at_clock(ingest);
	session->ws = NULL;
	/* What it had sent is good, and what follows is about what is stored. */
	if (session->in_batch)
		ingest_flush(ingest);
	if (session->fleet_told)
		fleet_disconnected(ingest->fleet, session->agent, session->said_bye, ingest->wall);
	if (session->agent)
		logger_say(ingest->options.log, SAY_DEBUG, "agent-left", "%s has gone (%u)", session->id, close_code);
	inferred_ended(session);
	session_events_ended(session);
	leave(session);
	if (session->listed)
		unlist(session);
	if (session->next)
		session->next->prev = session->prev;
	if (session->prev)
		session->prev->next = session->next;
	else
		ingest->sessions = session->next;
	ingest->counts.sessions--;
	ingest->counts.clock_offset_sessions -= session->clock_is_off;
	ingest->n_paused -= session->paused;
	free(session->hello);
	free(session->vouched);
	proof_free(session->proof);
	free(session);
}
