/* SPDX-License-Identifier: Apache-2.0 */
/* Viewers as they come, ask and go, and the tick that they share. */
#include "collector/live_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/esc.h"

static void on_timer(void *context);

/* --- life --------------------------------------------------------------------------------------------------------- */

int live_new(struct loop *loop, const struct live_options *options, struct fleet *fleet,
	     const struct silences *silences, struct store *store, struct auth *auth, struct live **ret_live,
	     struct err *err)
{
	struct live *live = calloc(1, sizeof *live);
	if (!live)
		return err_set(err, ERR_NOMEM, "no memory for viewers");
	live->loop = loop;
	live->options = *options;
	if (!live->options.max_viewers)
		live->options.max_viewers = LIVE_VIEWERS;
	if (!live->options.max_per_address)
		live->options.max_per_address = LIVE_VIEWERS_PER_ADDRESS;
	live->fleet = fleet;
	live->silences = silences;
	live->store = store;
	live->auth = auth;
	live->text.cap = LIVE_BODY_CAP;
	fleet_index_init(&live->index, fleet);
	int rc = loop ? loop_timer_new(loop, on_timer, live, &live->timer, err) : 0;
	if (rc < 0) {
		live_free(live);
		return rc;
	}
	*ret_live = live;
	return 0;
}

void live_free(struct live *live)
{
	if (!live)
		return;
	while (live->viewers)
		live_closed(live->viewers);
	loop_timer_free(live->timer);
	fleet_index_done(&live->index);
	view_scratch_done(&live->scratch);
	buf_done(&live->text);
	free(live);
}

void live_stop(struct live *live)
{
	live->stopped = true;
	if (live->timer)
		loop_timer_cancel(live->timer);
}

void live_count(const struct live *live, struct live_counts *ret_counts)
{
	*ret_counts = live->counts;
}

/* --- the tick ------------------------------------------------------------------------------------------------------ */

static void want(struct live_viewer *viewer)
{
	if (!viewer->ws || viewer->wanting)
		return;
	viewer->wanting = true;
	server_ws_want_write(viewer->ws);
}

static void tell(struct topic *topic)
{
	for (struct live_viewer *viewer = topic->viewers; viewer; viewer = viewer->topic_next)
		if (viewer->seen != topic->seq)
			want(viewer);
}

/* Whoever has nothing yet is told, too, where the look found nothing new. */
static void look(struct topic *topic)
{
	bool was_due = topic->due;
	topic->live->counts.builds_total++;
	if (topic_build(topic) || was_due)
		tell(topic);
}

static uint64_t spent_us(const struct live *live, struct mono since)
{
	return live->loop ? (clock_mono().ns - since.ns) / 1000 : 0;
}

static bool is_over(const struct live *live, struct mono since)
{
	return spent_us(live, since) >= LIVE_SLICE_MS * 1000;
}

/* First those that somebody waits for, then those whose turn it is: those after them go on with the next slice. */
static void slice(struct live *live, struct mono since)
{
	for (struct topic *topic = live->topics; topic && !is_over(live, since); topic = topic->next)
		if (topic->due)
			look(topic);
	while (live->cursor && !is_over(live, since)) {
		struct topic *topic = live->cursor;
		live->cursor = topic->next;
		if (topic_is_stale(topic))
			look(topic);
	}
}

uint64_t live_tick(struct live *live, struct mono now, struct wall wall)
{
	struct err err;
	live->now = now;
	live->wall = wall;
	if (!live->topics || live->stopped)
		return 0;
	struct mono since = live->loop ? clock_mono() : now;
	/* Without memory for a look nothing is shown: later, perhaps. */
	if (fleet_index_refresh(&live->index, wall, &err) < 0)
		return LIVE_TICK_MS;
	if (!live->cursor && !mono_ms_until(now, live->round_due)) {
		live->cursor = live->topics;
		live->round_due = mono_add_ms(now, LIVE_TICK_MS);
	}
	slice(live, since);
	uint64_t took_us = spent_us(live, since);
	live->counts.build_us_total += took_us;
	uint64_t pause_ms = took_us * (LIVE_SHARE - 1) / 1000;
	live->not_before = mono_add_ms(now, (took_us + 999) / 1000 + pause_ms);
	uint64_t due_ms = live->cursor ? 0 : mono_ms_until(now, live->round_due);
	return due_ms > pause_ms ? due_ms : pause_ms + 1;
}

static void on_timer(void *context)
{
	struct live *live = context;
	uint64_t again_ms = live_tick(live, loop_now(live->loop), clock_wall());
	if (again_ms > 0)
		loop_timer_set(live->timer, again_ms);
}

/* Somebody waits for a first frame. */
static void hurry(struct live *live)
{
	if (!live->timer || live->stopped)
		return;
	struct mono now = loop_now(live->loop);
	loop_timer_set(live->timer, mono_ms_until(now, live->not_before) + 1);
}

/* --- viewers come and go -------------------------------------------------------------------------------------------- */

static void refuse(struct live *live, struct server_reply *reply, unsigned status, unsigned retry_after_s,
		   const char *who, const char *text)
{
	char shown[2 * sizeof(((struct live_viewer *)0)->who)];
	live->counts.refused_total++;
	logger_say(live->options.log, SAY_WARNING, "viewer-refused", "%s: %s",
		   esc_copy(shown, sizeof shown, str_of(who)), text);
	reply->retry_after_s = retry_after_s;
	(void)server_refuse(reply, status, text);
}

static unsigned others_of(const struct live *live, const char *who)
{
	unsigned n = 0;
	for (const struct live_viewer *viewer = live->viewers; viewer; viewer = viewer->next)
		n += strcmp(viewer->who, who) == 0;
	return n;
}

struct live_viewer *live_open(struct live *live, const struct auth_viewer *who, const char *peer,
			      struct server_reply *reply)
{
	if (live->stopped || live->counts.viewers >= live->options.max_viewers) {
		refuse(live, reply, 503, 30, peer,
		       live->stopped ? "the collector stops" : "as many viewers as --max-viewers allows are here");
		return NULL;
	}
	/* All users of a proxy have its address. */
	const char *per = who->way == AUTH_PROXY ? who->name : peer;
	if (others_of(live, per) >= live->options.max_per_address) {
		refuse(live, reply, 429, 30, per,
		       "as many viewers of this address, or user, as --max-viewers-per-address allows are here");
		return NULL;
	}
	struct live_viewer *viewer = calloc(1, sizeof *viewer);
	if (!viewer) {
		refuse(live, reply, 503, 30, per, "no memory for another viewer");
		return NULL;
	}
	viewer->live = live;
	viewer->viewer = *who;
	str_copy(viewer->who, sizeof viewer->who, str_of(per));
	viewer->asks_left = LIVE_ASKS_BURST;
	viewer->opened = viewer->refilled = live->loop ? loop_now(live->loop) : live->now;
	viewer->next = live->viewers;
	if (viewer->next)
		viewer->next->prev = viewer;
	live->viewers = viewer;
	live->counts.viewers++;
	live->counts.viewers_total++;
	return viewer;
}

void live_opened(struct live_viewer *viewer, struct server_ws *ws)
{
	viewer->ws = ws;
}

void live_closed(struct live_viewer *viewer)
{
	struct live *live = viewer->live;
	topic_leave(viewer);
	if (viewer->prev)
		viewer->prev->next = viewer->next;
	else
		live->viewers = viewer->next;
	if (viewer->next)
		viewer->next->prev = viewer->prev;
	live->counts.viewers--;
	free(viewer);
}

static void close_viewer(struct live_viewer *viewer, unsigned code, const char *reason)
{
	topic_leave(viewer);
	viewer->closing = true;
	if (viewer->ws)
		server_ws_close(viewer->ws, code, reason);
}

/* Another sight: nothing of the old one may follow. */
static void look_anew(struct live_viewer *viewer)
{
	struct live *live = viewer->live;
	struct live_request request;
	memcpy(&request, &viewer->topic->request, sizeof request);
	topic_leave(viewer);
	if (!topic_join(live, viewer, &request))
		close_viewer(viewer, 1011, "no memory");
	hurry(live);
}

static void say_denied(const struct live_viewer *viewer, bool old)
{
	char shown[2 * sizeof viewer->viewer.name];
	logger_say(viewer->live->options.log, old ? SAY_DEBUG : SAY_INFO, "viewer-denied", "%s: %s",
		   esc_copy(shown, sizeof shown, str_of(viewer->viewer.name)),
		   old ? "the proxy is to say again who it is" : "the credentials do not hold any more");
}

void live_recheck(struct live *live, struct mono now)
{
	unsigned generation = live->auth ? auth_viewers_generation(live->auth) : 0;
	bool again = generation != live->auth_generation;
	live->auth_generation = generation;
	for (struct live_viewer *viewer = live->viewers; viewer; viewer = viewer->next) {
		bool old = viewer->viewer.way == AUTH_PROXY &&
			   !mono_ms_until(now, mono_add_ms(viewer->opened, LIVE_PROXY_MS));
		if (viewer->closing || (!again && !old))
			continue;
		if (old || !auth_viewer_again(live->auth, &viewer->viewer)) {
			say_denied(viewer, old);
			close_viewer(viewer, LIVE_CLOSE_DENIED, "credentials");
			continue;
		}
		if (viewer->topic && !live_same_sight(&viewer->topic->sight, &viewer->viewer))
			look_anew(viewer);
	}
}

/* --- frames --------------------------------------------------------------------------------------------------------- */

static void complain(struct live_viewer *viewer, const char *code, int64_t n, const char *text)
{
	viewer->error_code = code;
	viewer->error_n = n;
	str_copy(viewer->error_text, sizeof viewer->error_text, str_of(text));
	viewer->live->counts.errors_total++;
	want(viewer);
	if (++viewer->n_errors >= LIVE_ERRORS_MAX)
		close_viewer(viewer, LIVE_CLOSE_BAD, "too many errors");
}

static bool may_ask(struct live_viewer *viewer)
{
	struct live *live = viewer->live;
	struct mono now = live->loop ? loop_now(live->loop) : live->now;
	viewer->asks_left += (double)(now.ns - viewer->refilled.ns) * 1e-9 * LIVE_ASKS_PER_S;
	viewer->refilled = now;
	if (viewer->asks_left > LIVE_ASKS_BURST)
		viewer->asks_left = LIVE_ASKS_BURST;
	if (viewer->asks_left < 1)
		return false;
	viewer->asks_left--;
	return true;
}

void live_frame(struct live_viewer *viewer, struct str frame)
{
	struct live *live = viewer->live;
	struct live_request request;
	struct err err;
	int64_t n;
	if (viewer->closing || live->stopped)
		return;
	live->counts.requests_total++;
	if (!may_ask(viewer)) {
		complain(viewer, "too-fast", 0, "more requests than 10 a second: this one is not answered");
		return;
	}
	int rc = live_request_parse(frame, &request, &n, &err);
	/* What was asked for before is over in any case: answers to it would be taken for answers to this. */
	topic_leave(viewer);
	viewer->n = n;
	if (rc < 0)
		complain(viewer, err.kind == ERR_MALFORMED ? "not-json" : "bad-request", n, err.message);
	else if (!topic_join(live, viewer, &request))
		complain(viewer, "no-memory", n, "no memory for this at the moment");
	else
		hurry(live);
}

static bool put_error(struct live_viewer *viewer, struct buf *frame)
{
	struct js_out out;
	js_out_start(&out, frame, 0);
	js_out_object(&out);
	js_out_key(&out, "type");
	js_out_text(&out, "error");
	js_out_key(&out, "n");
	js_out_i64(&out, viewer->error_n);
	js_out_key(&out, "code");
	js_out_text(&out, viewer->error_code);
	js_out_key(&out, "message");
	js_out_text(&out, viewer->error_text);
	js_out_object_end(&out);
	viewer->error_code = NULL;
	return js_out_end(&out, NULL) == 0;
}

bool live_writable(struct live_viewer *viewer, struct buf *frame)
{
	struct live *live = viewer->live;
	viewer->wanting = false;
	bool more = viewer->error_code ? put_error(viewer, frame) : topic_frame(viewer, frame);
	if (more) {
		live->counts.frames_total++;
		live->counts.bytes_total += frame->len;
	}
	return more;
}

/* --- as the server calls them ----------------------------------------------------------------------------------------- */

static void on_open(void *session, struct server_ws *ws)
{
	live_opened(session, ws);
}

static void on_frame(void *session, struct str frame)
{
	live_frame(session, frame);
}

static bool on_writable(void *session, struct buf *frame)
{
	return live_writable(session, frame);
}

static void on_closed(void *session, unsigned close_code)
{
	(void)close_code;
	live_closed(session);
}

const struct server_events live_events = {
	.on_open = on_open,
	.on_frame = on_frame,
	.on_writable = on_writable,
	.on_closed = on_closed,
};
