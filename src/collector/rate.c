/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast one session may send: a token bucket of frames and one of bytes. Whoever is too fast is not read for a while
 * (TCP then holds the peer back); an agent that empties a spool is no offender. Only a peer that is held back for
 * minutes on end, or goes on although nobody reads, is closed.
 */
#include "collector/session.h"

static double burst_frames(const struct session *session)
{
	return (double)session->ingest->options.rate_per_s * RATE_BURST_S;
}

void rate_start(struct session *session)
{
	session->frames_left = burst_frames(session);
	session->bytes_left = session->frames_left * RATE_FRAME_BYTES;
	session->refilled = session->ingest->now;
}

static void refill(struct session *session)
{
	struct mono now = session->ingest->now;
	double most = burst_frames(session);
	if (now.ns <= session->refilled.ns)
		return;
	double frames = (double)(now.ns - session->refilled.ns) / 1e9 * session->ingest->options.rate_per_s;
	session->refilled = now;
	session->frames_left += frames;
	session->bytes_left += frames * RATE_FRAME_BYTES;
	if (session->frames_left > most)
		session->frames_left = most;
	if (session->bytes_left > most * RATE_FRAME_BYTES)
		session->bytes_left = most * RATE_FRAME_BYTES;
}

static bool has_more_than(const struct session *session, double share)
{
	double least = burst_frames(session) * share;
	return session->frames_left > least && session->bytes_left > least * RATE_FRAME_BYTES;
}

static void pause_reading(struct session *session, bool paused)
{
	struct ingest *ingest = session->ingest;
	if (session->paused == paused)
		return;
	session->paused = paused;
	ingest->n_paused = paused ? ingest->n_paused + 1 : ingest->n_paused - 1;
	if (paused && ingest->slow_timer)
		loop_timer_set(ingest->slow_timer, INGEST_PAUSED_MS);
	if (session->ws)
		server_ws_pause(session->ws, paused);
}

bool rate_take(struct session *session, size_t bytes)
{
	struct ingest *ingest = session->ingest;
	double rate = ingest->options.rate_per_s;
	refill(session);
	if (has_more_than(session, 0.5))
		session->held = false;
	session->frames_left -= 1;
	session->bytes_left -= (double)bytes;
	if (has_more_than(session, 0))
		return true;
	if (!session->held)
		session->held_since = ingest->now;
	session->held = true;
	pause_reading(session, true);
	return session->frames_left > -rate * RATE_DEBT_S &&
	       session->bytes_left > -rate * RATE_DEBT_S * RATE_FRAME_BYTES &&
	       mono_ms_until(session->held_since, ingest->now) < RATE_PATIENCE_MS;
}

void rate_resume(struct session *session)
{
	refill(session);
	if (has_more_than(session, 1.0 / 16))
		pause_reading(session, false);
}
