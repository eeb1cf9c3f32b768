/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/outbox_parts.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <unistd.h>

#include "sys/clock.h"

enum {
	DISK_BYTES = 16 << 20,
	MEMORY_BYTES = 1 << 20,
	RECORDER_SHARE = 4,      /* of all: a quarter */
	RECORDER_MOST = 4 << 20, /* fifteen minutes of one sample a second, twice */
	POSTMORTEM_SHARE = 40,   /* of the spool: eight of them are a fifth of it */
	CHECK_MS = 5000,
	STOP_MS = 2000, /* without a post-mortem to be sent */
	CLOSE_MS = 500, /* for the closing handshake after bye */
	BACKOFF_MIN_MS = 500,
	BACKOFF_MAX_MS = 60000,
	SUBJECT_MS = 10000, /* an engine's page names its jobs one after the other while they start */
	SAY_503_FROM = 3,   /* in a row */
	SUBJECT_APART = 6,  /* a session cluster may start jobs all day */
};

struct mono outbox_now(const struct outbox *outbox)
{
	return outbox->loop ? loop_now(outbox->loop) : clock_mono();
}

uint64_t outbox_chance(void)
{
	uint64_t number = 0;
	/* Early in a boot it may have nothing yet: the clock is chance enough then. */
	if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
		number = clock_mono().ns * UINT64_C(0x9e3779b97f4a7c15);
	return number;
}

void outbox_watch_disk(struct outbox *outbox)
{
	struct spool_counts counts;
	spool_count(outbox->spool, &counts);
	bool down = counts.trouble[0] != '\0';
	if (down && !outbox->said_disk)
		logger_say(outbox->log, SAY_WARNING, "state-dir-unusable",
			   "%s: unsent messages and the flight recorder are kept in memory; tried again every %d s",
			   counts.trouble, SPOOL_RETRY_MS / 1000);
	if (!down && outbox->said_disk)
		logger_say(outbox->log, SAY_INFO, "state-dir-usable", "the state directory can be written again");
	outbox->said_disk = down;
}

/* --- the session ------------------------------------------------------------------------ */

static void finish(struct outbox *outbox)
{
	if (outbox->stopped)
		return;
	outbox->stopped = true;
	spool_hurry(outbox->spool, outbox_now(outbox)); /* what is in memory alone ends here */
	loop_timer_cancel(outbox->again);
	loop_timer_cancel(outbox->check);
	outbox->done(outbox->done_context);
}

static void ended(struct outbox *outbox, const struct wsclient_ended *how)
{
	struct uplink_ended e;
	struct mono now = outbox_now(outbox);
	bool left = outbox->uplink.state == UPLINK_LEFT, cycle = outbox->uplink.cycle;
	outbox->attempting = false;
	outbox->uplink.fresh = outbox_has_fresh_token(outbox);
	uplink_ended(&outbox->uplink, now, how, outbox_chance(), &e);
	if (outbox->stopping) {
		struct outbox_counts counts;
		outbox_count(outbox, &counts);
		uint64_t left_ms = mono_ms_until(now, outbox->deadline);
		/* Without a post-mortem one failure is enough: the spool is there for the next start. */
		if (left || left_ms == 0 || counts.postmortems_unacked == 0) {
			finish(outbox);
			return;
		}
		e.delay_ms = e.delay_ms < outbox->uplink.options.backoff_min_ms ? e.delay_ms
										: outbox->uplink.options.backoff_min_ms;
		loop_timer_set(outbox->again, e.delay_ms < left_ms ? e.delay_ms : left_ms);
		return;
	}
	if (!cycle) {
		/* Said once, and again when the reason is another one. */
		bool news = !outbox->said_down || strncmp(outbox->trouble, e.text, sizeof outbox->trouble - 1) != 0;
		/* A token that was renewed is reviewed first, each hour: that is no trouble unless it stays so. */
		bool usual = how->http_status == 503 && how->retry_after_s && outbox->uplink.attempts < SAY_503_FROM;
		if (news && !usual)
			logger_say(outbox->log, SAY_WARNING, e.event, "%s: %s; next attempt in %llu.%llu s",
				   outbox->url, e.text, (unsigned long long)(e.delay_ms / 1000),
				   (unsigned long long)(e.delay_ms % 1000 / 100));
		outbox->said_down = outbox->said_down || !usual;
		(void)snprintf(outbox->trouble, sizeof outbox->trouble, "%s", e.text);
	}
	outbox->denied = e.denied;
	outbox->backoff_ms = e.delay_ms;
	loop_timer_set(outbox->again, e.delay_ms);
}

static void attempt(void *context)
{
	struct outbox *outbox = context;
	struct err err = { 0 };
	if (outbox->stopping && mono_ms_until(outbox_now(outbox), outbox->deadline) == 0) {
		/* Time is up. A session that is there hears a bye, if the line takes it at once. */
		if (outbox->uplink.state != UPLINK_UP || outbox->uplink.leave_now) {
			finish(outbox);
			return;
		}
		outbox->uplink.leave_now = true;
		wsclient_want_write(outbox->client);
		loop_timer_set(outbox->again, CLOSE_MS);
		return;
	}
	if (outbox->attempting) {
		loop_timer_set(outbox->again, mono_ms_until(outbox_now(outbox), outbox->deadline));
		return;
	}
	outbox->attempting = true;
	outbox->denied = false;
	credential_show(&outbox->credential, outbox_chance());
	if (wsclient_connect(outbox->client, &err) < 0) {
		struct wsclient_ended how = { .end = WSCLIENT_UNREACHED };
		(void)snprintf(how.why, sizeof how.why, "%s", err.message);
		ended(outbox, &how);
	} else if (outbox->stopping) {
		loop_timer_set(outbox->again, mono_ms_until(outbox_now(outbox), outbox->deadline));
	}
}

static void on_open(void *context)
{
	struct outbox *outbox = context;
	outbox->subject_due = false;
	uplink_opened(&outbox->uplink, outbox_now(outbox));
	wsclient_want_write(outbox->client);
}

static void on_frame(void *context, struct str frame)
{
	struct outbox *outbox = context;
	struct uplink_heard heard;
	uplink_frame(&outbox->uplink, outbox_now(outbox), frame, &heard);
	if (heard.event)
		logger_say(outbox->log, SAY_WARNING, heard.event, "%s", heard.text);
	if (heard.began) {
		if (outbox->said_down || outbox->uplink.sessions_total == 1)
			logger_say(outbox->log, SAY_INFO, "collector-connected", "a session with the collector began");
		outbox->said_down = false;
		outbox->trouble[0] = '\0';
		outbox->backoff_ms = 0;
	}
	if (heard.policy) {
		outbox->policy_refused_total += heard.policy->n_refused;
		if (outbox->events.on_policy && heard.policy->version)
			outbox->events.on_policy(outbox->context, heard.policy);
	}
	if (heard.began && outbox->events.on_session)
		outbox->events.on_session(outbox->context, outbox->uplink.min_interval_ms);
	if (heard.close)
		wsclient_close(outbox->client, 1000, "come again");
	else if (heard.acked)
		outbox_wake(outbox);
}

static bool on_writable(void *context, struct buf *frame)
{
	struct outbox *outbox = context;
	bool said = uplink_next(&outbox->uplink, outbox_now(outbox), clock_wall(), frame);
	if (outbox->uplink.state == UPLINK_LEFT) {
		wsclient_close(outbox->client, 1000, "bye");
		loop_timer_set(outbox->again, CLOSE_MS);
	}
	return said;
}

static void on_end(void *context, const struct wsclient_ended *how)
{
	ended(context, how);
}

void outbox_wake(struct outbox *outbox)
{
	if (outbox->client && outbox->uplink.state == UPLINK_UP)
		wsclient_want_write(outbox->client);
}

/* Nothing is lost by it: what is unacked is sent again. Only while nothing waits: near its limit a pod has better to say. */
static void renew(struct outbox *outbox, struct mono now)
{
	struct outbox_counts counts;
	if (!outbox->subject_due || outbox->stopping || outbox->uplink.state != UPLINK_UP ||
	    mono_ms_until(outbox->subject_changed, now) < outbox->subject_ms ||
	    (outbox->subject_renewed.ns &&
	     mono_ms_until(outbox->subject_renewed, now) < (uint64_t)SUBJECT_APART * outbox->subject_ms))
		return;
	outbox_count(outbox, &counts);
	if (counts.spooled_messages)
		return;
	outbox->subject_due = false;
	outbox->subject_renewed = now;
	outbox->uplink.cycle = true;
	wsclient_close(outbox->client, 1000, "come again");
}

static void check(void *context)
{
	struct outbox *outbox = context;
	const char *event;
	struct mono now = outbox_now(outbox);
	spool_tend(outbox->spool, now);
	if (!outbox->recorder.on_disk && !outbox->said_disk)
		recorder_move(&outbox->recorder, spool_dir(outbox->spool), now);
	outbox_watch_disk(outbox);
	if (outbox->client && uplink_stuck(&outbox->uplink, now, &event)) {
		logger_say(outbox->log, SAY_WARNING, event, "the session is ended and begun anew");
		wsclient_close(outbox->client, 1000, "no answer");
	}
	renew(outbox, now);
	outbox_tend_token(outbox);
	loop_timer_set(outbox->check,
		       outbox->subject_due && outbox->subject_ms < CHECK_MS ? outbox->subject_ms : CHECK_MS);
}

/* --- life -------------------------------------------------------------------------------- */

static int make_spool(struct outbox *outbox, const struct outbox_options *options, struct err *err)
{
	uint64_t all = options->spool_bytes ? options->spool_bytes : options->state_dir ? DISK_BYTES : MEMORY_BYTES;
	uint64_t recorder = all / RECORDER_SHARE < RECORDER_MOST ? all / RECORDER_SHARE : RECORDER_MOST;
	uint64_t memory = all < MEMORY_BYTES ? all : MEMORY_BYTES;
	struct mono now = outbox_now(outbox);
	if (!options->state_dir)
		memory = all;
	const struct spool_options spool = { .dir = options->state_dir,
					     .bytes = all - recorder,
					     .memory_bytes = (size_t)(memory - memory / RECORDER_SHARE),
					     .epoch = outbox->epoch };
	int ret = spool_new(&spool, now, &outbox->spool, err);
	if (ret < 0)
		return ret;
	recorder_init(&outbox->recorder, spool_dir(outbox->spool), recorder, (size_t)(memory / RECORDER_SHARE), now);
	outbox->postmortem_bytes = (options->state_dir ? all - recorder : spool.memory_bytes) / POSTMORTEM_SHARE;
	outbox_watch_disk(outbox);
	return 0;
}

static int make_uplink(struct outbox *outbox, const struct outbox_options *options, const struct wire_subject *subject,
		       struct err *err)
{
	const struct uplink_options uplink = {
		.spool = outbox->spool,
		.version = options->version,
		.jdk = options->jdk,
		.engine = options->engine,
		.of_node = options->of_node,
		.backoff_min_ms = options->backoff_min_ms ? options->backoff_min_ms : BACKOFF_MIN_MS,
		.backoff_max_ms = options->backoff_max_ms ? options->backoff_max_ms : BACKOFF_MAX_MS,
	};
	int ret = uplink_init(&outbox->uplink, &uplink, subject, err);
	outbox->uplink.began = outbox->began;
	if (ret < 0 || !options->url)
		return ret;
	outbox->url = options->url;
	outbox->credential.path = options->token_file;
	static const struct wsclient_events events = {
		.on_open = on_open, .on_frame = on_frame, .on_writable = on_writable, .on_end = on_end
	};
	const struct wsclient_options client = { .url = options->url,
						 .protocol = WIRE_PROTOCOL,
						 .token_file = options->token_file,
						 .ca_file = options->ca_file,
						 .ca_pem = options->ca_pem,
						 .cert_file = options->cert_file,
						 .key_file = options->key_file,
						 .server_name = options->server_name,
						 .max_frame = WIRE_FRAME_MAX };
	return wsclient_new(outbox->loop, &client, &events, outbox, &outbox->client, err);
}

int outbox_new(struct loop *loop, const struct outbox_options *options, const struct wire_subject *subject,
	       const struct outbox_events *events, void *context, struct outbox **ret_outbox, struct err *err)
{
	struct outbox *outbox = calloc(1, sizeof *outbox);
	if (!outbox)
		return err_set(err, ERR_NOMEM, "no memory for an outbox");
	outbox->subject_ms = options->subject_ms ? options->subject_ms : SUBJECT_MS;
	outbox->loop = loop;
	outbox->log = options->log;
	outbox->events = *events;
	outbox->context = context;
	outbox->text.cap = WIRE_FRAME_MAX;
	outbox->recorder.sides[0].log.fd = outbox->recorder.sides[1].log.fd = -1;
	uint64_t random[2] = { outbox_chance(), outbox_chance() };
	memcpy(outbox->epoch.bytes, random, sizeof outbox->epoch.bytes);
	outbox->began = clock_mono();
	int ret = make_spool(outbox, options, err);
	if (ret == 0)
		ret = make_uplink(outbox, options, subject, err);
	if (ret == 0)
		ret = loop_timer_new(loop, attempt, outbox, &outbox->again, err);
	if (ret == 0)
		ret = loop_timer_new(loop, check, outbox, &outbox->check, err);
	if (ret == 0)
		ret = printer_init(&outbox->printer, loop, STDOUT_FILENO, err);
	if (ret < 0) {
		outbox_free(outbox);
		return ret;
	}
	loop_timer_set(outbox->check, CHECK_MS);
	if (outbox->client)
		loop_timer_set(outbox->again, 0);
	*ret_outbox = outbox;
	return 0;
}

void outbox_free(struct outbox *outbox)
{
	if (!outbox)
		return;
	printer_done(&outbox->printer);
	wsclient_free(outbox->client);
	loop_timer_free(outbox->again);
	loop_timer_free(outbox->check);
	uplink_done(&outbox->uplink);
	recorder_done(&outbox->recorder);
	spool_free(outbox->spool);
	buf_done(&outbox->text);
	free(outbox);
}

void outbox_subject(struct outbox *outbox, const struct wire_subject *subject)
{
	outbox->uplink.subject = *subject;
	outbox->subject_due = true;
	outbox->subject_changed = outbox_now(outbox);
	loop_timer_set(outbox->check, outbox->subject_ms < CHECK_MS ? outbox->subject_ms : CHECK_MS);
}

void outbox_stop(struct outbox *outbox, const char *reason, uint64_t grace_ms, void (*done)(void *context),
		 void *context)
{
	struct outbox_counts counts;
	if (outbox->stopping)
		return;
	outbox_count(outbox, &counts);
	outbox->stopping = true;
	outbox->done = done;
	outbox->done_context = context;
	uint64_t most_ms = counts.postmortems_unacked ? grace_ms : STOP_MS;
	outbox->deadline = mono_add_ms(outbox_now(outbox), most_ms < grace_ms ? most_ms : grace_ms);
	outbox->uplink.leaving = true;
	outbox->uplink.reason = reason;
	outbox_wake(outbox);
	/* From the loop, as promised: not from within this call. An attempt that is under way is waited for. */
	bool hopeless = !outbox->client || (!outbox->attempting && counts.spooled_messages == 0);
	if (hopeless)
		outbox->deadline = outbox_now(outbox);
	loop_timer_set(outbox->again, hopeless || !outbox->attempting ? 0 : most_ms);
}

void outbox_count(const struct outbox *outbox, struct outbox_counts *ret_counts)
{
	const struct uplink *uplink = &outbox->uplink;
	const struct spool_epoch *live = spool_at(outbox->spool, spool_n(outbox->spool) - 1);
	struct spool_counts spool;
	spool_count(outbox->spool, &spool);
	struct outbox_counts c = {
		.connected = uplink->state == UPLINK_UP,
		.on_disk = spool.on_disk,
		.spooled_messages = spool.messages + spool.gaps,
		.spooled_bytes = spool.bytes,
		.dropped_samples_total = spool.dropped_total[SPOOL_FULL] + spool.dropped_total[SPOOL_LOST],
		.gaps_total = 0,
		.sent_total = uplink->sent_total,
		.resent_total = uplink->resent_total,
		.acked_total = uplink->acked_total,
		.sessions_total = uplink->sessions_total,
		.failed_connects_total = uplink->failed_connects_total,
		.errors_total = uplink->errors_total + outbox->unwritable_total,
		.state_failures_total = spool.failures_total + outbox->recorder.failures_total,
		.policy_refused_total = outbox->policy_refused_total,
		.postmortems_total = outbox->postmortems_total,
		.postmortems_unacked = spool.postmortems,
		.last_acked_seq = live->index.acked,
		.last_seq = live->index.last,
		.backoff_ms = outbox->backoff_ms,
		.token_expires = outbox->credential.expires,
	};
	for (size_t reason = 0; reason < SPOOL_REASON_COUNT; reason++)
		c.gaps_total += spool.dropped_total[reason];
	const char *trouble = outbox->trouble[0] ? outbox->trouble : spool.trouble;
	str_copy(c.trouble, sizeof c.trouble, str_of(trouble));
	*ret_counts = c;
}
