/* SPDX-License-Identifier: Apache-2.0 */
/* One session: frames in, frames out. docs/wire.md says what it demands of its peer. */
#include "collector/inferred.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/esc.h"

static unsigned close_code_of(enum wire_error_code code)
{
	switch (code) {
	case WIRE_ERR_RATE:
		return WIRE_CLOSE_RATE;
	case WIRE_ERR_SIZE:
		return WIRE_CLOSE_SIZE;
	case WIRE_ERR_STORE:
		return WIRE_CLOSE_STORE;
	case WIRE_ERR_REPLACED:
		return WIRE_CLOSE_REPLACED;
	case WIRE_ERR_MALFORMED:
	case WIRE_ERR_TYPE:
	case WIRE_ERR_SEQUENCE:
	case WIRE_ERR_STATE:
	case WIRE_ERR_COUNT:
		break;
	}
	return WIRE_CLOSE_PROTOCOL;
}

static void close_with(struct session *session, unsigned code, const char *reason)
{
	session->state = SESSION_CLOSING;
	session->close_code = code;
	if (!session->ws)
		return;
	server_ws_want_write(session->ws);
	server_ws_close(session->ws, code, reason);
}

void session_fail(struct session *session, enum wire_error_code code, const char *format, ...)
{
	struct ingest *ingest = session->ingest;
	char raw[WIRE_TEXT_CAP];
	va_list args;
	if (session->state == SESSION_CLOSING)
		return;
	va_start(args, format);
	(void)vsnprintf(raw, sizeof raw, format, args);
	va_end(args);
	(void)esc_copy(session->error_text, sizeof session->error_text, str_of(raw));
	session->error = code;
	session->error_due = true;
	/* What the failed batch held is not to be acked; what an earlier one held is acked by the next welcome. */
	for (size_t i = 0; code == WIRE_ERR_STORE && i < session->n_epochs; i++)
		session->epochs[i].ack_due = false;
	ingest->counts.errors_total[code]++;
	if (code != WIRE_ERR_STORE) /* that has been said for the whole batch */
		logger_say(ingest->options.log, SAY_WARNING, "agent-error", "%s at %s: %s: %s",
			   session->id[0] ? session->id : "an agent", session->peer, wire_error_names[code],
			   session->error_text);
	close_with(session, close_code_of(code), wire_error_names[code]);
}

void session_deny(struct session *session)
{
	if (session->state == SESSION_CLOSING)
		return;
	logger_say(session->ingest->options.log, SAY_INFO, "agent-denied", "the credentials of %s do not hold any more",
		   session->id[0] ? session->id : session->peer);
	close_with(session, WIRE_CLOSE_DENIED, "credentials");
}

/* --- what is numbered ----------------------------------------------------------------------------- */

static struct session_epoch *find_epoch(struct session *session, struct wire_epoch epoch)
{
	for (size_t i = 0; i < session->n_epochs; i++)
		if (wire_epoch_same(session->epochs[i].stored.epoch, epoch))
			return &session->epochs[i];
	session_fail(session, WIRE_ERR_SEQUENCE, "an epoch that hello did not name");
	return NULL;
}

/* Known before: it was acked, but that may not have arrived. */
static void ack_again(struct session *session, struct session_epoch *epoch)
{
	session->ingest->counts.duplicates_total++;
	epoch->ack_due = true;
	if (session->ws)
		server_ws_want_write(session->ws);
}

/*
 * `from` to `to` may be taken now: the next in order, within the window. A duplicate is acked again. Returns the epoch, or
 * NULL where there is nothing more to do.
 */
static struct session_epoch *in_order(struct session *session, struct wire_epoch name, uint64_t from, uint64_t to)
{
	struct session_epoch *epoch = find_epoch(session, name);
	if (!epoch)
		return NULL;
	uint64_t taken = epoch->stored.acked;
	if (to <= taken) {
		ack_again(session, epoch);
		return NULL;
	}
	if (from > taken + 1) { /* taken < to, so it does not wrap */
		session_fail(session, WIRE_ERR_SEQUENCE,
			     "number %" PRIu64 " came where %" PRIu64 " was next: what is missing must be declared",
			     from, taken + 1);
		return NULL;
	}
	if (session->n_waiting >= session->ingest->options.window) {
		session_fail(session, WIRE_ERR_RATE, "more than the window of %u messages without an ack",
			     session->ingest->options.window);
		return NULL;
	}
	return epoch;
}

/* By our clock; a time that is not known stays so. */
static struct wall corrected(const struct session *session, struct wall wall)
{
	int64_t ms;
	return wall.ms == 0 || __builtin_add_overflow(wall.ms, session->offset_ms, &ms) ? wall : (struct wall){ ms };
}

/* The batch for one more message; false: there is none now, and the session has been told. */
static bool open_batch(struct session *session)
{
	struct ingest *ingest = session->ingest;
	struct err err;
	if (ingest_full(ingest))
		ingest_flush(ingest);
	if (session->state == SESSION_CLOSING) /* that failed */
		return false;
	if (ingest_begin(ingest, &err) < 0) {
		session_fail(session, WIRE_ERR_STORE, "nothing can be stored at the moment: %s", err.message);
		return false;
	}
	ingest_join(session);
	return true;
}

static void taken(struct session *session, struct session_epoch *epoch)
{
	session->n_waiting++;
	epoch->ack_due = true;
	if (ingest_full(session->ingest))
		ingest_flush(session->ingest);
}

static void take_sample(struct session *session, struct wire_sample *sample)
{
	struct ingest *ingest = session->ingest;
	struct session_epoch *epoch = in_order(session, sample->head.epoch, sample->head.seq, sample->head.seq);
	struct err err;
	if (!epoch || !open_batch(session))
		return;
	/* The fleet has the session's offset itself. */
	ingest_feed(ingest, session->agent, WIRE_SAMPLE)->sample = *sample;
	sample->head.wall = corrected(session, sample->head.wall);
	if (store_sample(ingest->store, session->agent, &epoch->stored, sample, ingest->wall, &err) < 0 ||
	    session_events_sample(session, sample, &err) < 0) {
		ingest_fail(ingest, &err);
		return;
	}
	ingest->counts.samples_total++;
	inferred_sample(session, sample);
	taken(session, epoch);
}

static void take_finding(struct session *session, struct wire_finding *finding, struct str text)
{
	struct ingest *ingest = session->ingest;
	struct session_epoch *epoch = in_order(session, finding->head.epoch, finding->head.seq, finding->head.seq);
	struct err err;
	if (!epoch || !open_batch(session))
		return;
	finding->head.wall = corrected(session, finding->head.wall);
	finding->opened = corrected(session, finding->opened);
	if (store_finding(ingest->store, session->agent, &epoch->stored, finding, text, ingest->wall, &err) < 0) {
		ingest_fail(ingest, &err);
		return;
	}
	ingest->counts.findings_total++;
	ingest_feed(ingest, session->agent, WIRE_FINDING)->finding = *finding;
	taken(session, epoch);
}

static void take_postmortem(struct session *session, struct wire_postmortem *part, struct str text)
{
	struct ingest *ingest = session->ingest;
	struct session_epoch *epoch = in_order(session, part->head.epoch, part->head.seq, part->head.seq);
	struct err err;
	if (!epoch || !open_batch(session))
		return;
	part->head.wall = corrected(session, part->head.wall);
	part->died = corrected(session, part->died);
	if (store_postmortem(ingest->store, session->agent, &epoch->stored, part, text, ingest->wall, &err) < 0) {
		ingest_fail(ingest, &err);
		return;
	}
	ingest->counts.postmortem_parts_total++;
	(void)ingest_feed(ingest, session->agent, WIRE_POSTMORTEM);
	inferred_postmortem(session, part);
	taken(session, epoch);
}

static void take_gap(struct session *session, const struct wire_gap *gap)
{
	struct ingest *ingest = session->ingest;
	struct session_epoch *epoch = in_order(session, gap->epoch, gap->from, gap->to);
	struct err err;
	if (!epoch || !open_batch(session))
		return;
	/* It may reach back over what was stored before its ack arrived: the store keeps what is missing of it. */
	if (store_gap(ingest->store, session->agent, &epoch->stored, gap, ingest->wall, &err) < 0) {
		ingest_fail(ingest, &err);
		return;
	}
	ingest->counts.gaps_total++;
	taken(session, epoch);
}

static void take_bye(struct session *session)
{
	struct ingest *ingest = session->ingest;
	struct err err;
	if (!open_batch(session))
		return;
	if (store_bye(ingest->store, session->agent, &session->epochs[session->n_epochs - 1].stored, ingest->wall,
		      &err) < 0 ||
	    session_events_bye(session, &err) < 0) {
		ingest_fail(ingest, &err);
		return;
	}
	/* Closed when this is committed. */
	session->said_bye = true;
}

/* --- frames --------------------------------------------------------------------------------------- */

static void dispatch(struct session *session, struct wire_message *message, struct str frame)
{
	switch (message->type) {
	case WIRE_HELLO:
		hello_take(session, &message->hello);
		break;
	case WIRE_SAMPLE:
		take_sample(session, &message->sample);
		break;
	case WIRE_FINDING:
		take_finding(session, &message->finding, frame);
		break;
	case WIRE_POSTMORTEM:
		take_postmortem(session, &message->postmortem, frame);
		break;
	case WIRE_GAP:
		take_gap(session, &message->gap);
		break;
	case WIRE_BYE:
		take_bye(session);
		break;
	case WIRE_WELCOME:
	case WIRE_ACK:
	case WIRE_ERROR:
	case WIRE_TYPE_COUNT:
		session_fail(session, WIRE_ERR_TYPE, "%s is for the other direction", wire_type_names[message->type]);
		break;
	}
}

void session_frame(struct session *session, struct str frame)
{
	struct ingest *ingest = session->ingest;
	enum wire_error_code code;
	struct err err;
	if (ingest->loop) {
		ingest->now = loop_now(ingest->loop);
		ingest->wall = clock_wall();
	}
	ingest->counts.frames_total++;
	ingest->counts.bytes_total += frame.len;
	if (session->state == SESSION_CLOSING || session->said_bye)
		return;
	if (!rate_take(session, frame.len)) {
		session_fail(session, WIRE_ERR_RATE, "more than %u frames or %u bytes a second for too long",
			     ingest->options.rate_per_s, ingest->options.rate_per_s * RATE_FRAME_BYTES);
	} else if (frame.len > ingest->options.max_frame) {
		session_fail(session, WIRE_ERR_SIZE, "a frame of %zu bytes: at most %u are taken", frame.len,
			     ingest->options.max_frame);
	} else if (wire_decode(frame, &ingest->message, &code, &err) < 0) {
		session_fail(session, code, "%s", err.message);
	} else if (session->state == SESSION_NEW && ingest->message.type < WIRE_WELCOME &&
		   ingest->message.type != WIRE_HELLO) {
		session_fail(session, WIRE_ERR_STATE, "%s before hello", wire_type_names[ingest->message.type]);
	} else {
		dispatch(session, &ingest->message, frame);
	}
}

void session_committed(struct session *session)
{
	for (size_t i = 0; i < session->n_epochs; i++)
		session->epochs[i].committed = session->epochs[i].stored.acked;
	session->n_waiting = 0;
	session->welcome_due = session->hello != NULL;
	if (session->said_bye && session->state == SESSION_OPEN)
		close_with(session, 1000, "bye");
	else if (session->ws)
		server_ws_want_write(session->ws);
}

/* A further one, for its policy, acks nothing. */
static void fill_welcome(struct session *session, bool first, struct wire_message *answer)
{
	const struct ingest_options *options = &session->ingest->options;
	struct wire_welcome *welcome = &answer->welcome;
	memset(welcome, 0, sizeof *welcome);
	answer->type = WIRE_WELCOME;
	welcome->n_acked = first ? session->n_epochs : 0;
	for (size_t i = 0; i < welcome->n_acked; i++)
		welcome->acked[i] =
			(struct wire_position){ session->epochs[i].stored.epoch, session->epochs[i].committed };
	welcome->window = options->window;
	welcome->min_interval_ms = options->min_interval_ms;
	welcome->max_frame = options->max_frame;
	session_policy(session, &welcome->policy);
	session->policy_sent = welcome->policy.version;
	session->policy_due = false;
}

static bool fill_ack(struct session *session, struct wire_message *answer)
{
	for (size_t i = 0; i < session->n_epochs; i++) {
		struct session_epoch *epoch = &session->epochs[i];
		/* What waits in the open batch is acked after its commit. */
		if (!epoch->ack_due || (session->in_batch && epoch->committed != epoch->stored.acked))
			continue;
		epoch->ack_due = false;
		answer->type = WIRE_ACK;
		answer->ack = (struct wire_position){ epoch->stored.epoch, epoch->committed };
		session->ingest->counts.acks_total++;
		return true;
	}
	return false;
}

bool session_writable(struct session *session, struct buf *frame)
{
	struct wire_message *answer = &session->ingest->answer;
	struct err err;
	if (session->welcome_due) {
		fill_welcome(session, true, answer);
		session->welcome_due = false;
		free(session->hello);
		session->hello = NULL;
	} else if (!session->hello && fill_ack(session, answer)) {
		/* filled */
	} else if (session->policy_due && session->state == SESSION_OPEN && !session->hello) {
		fill_welcome(session, false, answer);
	} else if (session->error_due) {
		session->error_due = false;
		answer->type = WIRE_ERROR;
		answer->error.code = session->error;
		memcpy(answer->error.text, session->error_text, sizeof answer->error.text);
	} else {
		return false;
	}
	if (wire_encode(answer, frame, &err) == 0)
		return true;
	logger_say(session->ingest->options.log, SAY_ERROR, "not-encoded", "%s: %s", wire_type_names[answer->type],
		   err.message);
	return false;
}
