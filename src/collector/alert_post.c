/* SPDX-License-Identifier: Apache-2.0 */
/* One receiver: a message at a time, again and again until it came through. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "base/esc.h"
#include "collector/alerts_parts.h"

/* --- a message -------------------------------------------------------------------------------------------------- */

static void job_free(struct alert_job *job)
{
	buf_done(&job->message.body);
	free(job);
}

static void work(void *context)
{
	struct alert_job *job = context;
	alert_send(&job->message);
}

static struct alert_job *job_new(struct alert_post *post)
{
	const struct alert_receiver *conf = post->conf;
	struct alert_job *job = calloc(1, sizeof *job);
	if (!job)
		return NULL;
	struct alert_message *message = &job->message;
	job->post = post;
	message->timeout_ms = conf->timeout_ms;
	message->body.cap = ALERT_BODY_MAX;
	str_copy(message->token_file, sizeof message->token_file, str_of(conf->token_file));
	str_copy(message->ca_file, sizeof message->ca_file, str_of(conf->ca_file));
	if (conf->type == RECEIVER_ALERTMANAGER) {
		alert_url(conf, message->url, sizeof message->url);
	} else {
		str_copy(message->url, sizeof message->url, str_of(conf->url));
		message->content_type = ALERT_EVENT_TYPE;
	}
	return job;
}

static int encode(const struct alert_post *post, struct alert_job *job, struct wall wall, struct err *err)
{
	const struct alert_origin *origin = &post->alerts->origin;
	struct buf *body = &job->message.body;
	if (post->conf->type == RECEIVER_ALERTMANAGER)
		return alert_encode_batch(origin, job->items, job->n_items, job->watchdog, wall, body, err);
	if (job->watchdog)
		return alert_encode_watchdog(origin, wall, body, err);
	return alert_encode_event(origin, post->receiver, &job->items[0], wall, body, err);
}

/* --- what became of it ------------------------------------------------------------------------------------------- */

static uint64_t chance(void)
{
	uint64_t number = 0;
	/* Without entropy it retries at the least delay: jitter is for the sake of many, and this is one. */
	if (getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number)
		return 0;
	return number;
}

static void came_through(struct alert_post *post, const struct alert_job *job, struct mono now, struct wall wall)
{
	struct alerts *alerts = post->alerts;
	for (size_t i = 0; i < job->n_items; i++) {
		/* Beats are how it is kept alive there, not something that is told. */
		bool beat = job->items[i].again && post->conf->type == RECEIVER_ALERTMANAGER;
		post->told_total += beat ? 0 : 1;
		alert_told(&alerts->book, post->receiver, &job->items[i], now, wall);
	}
	if (job->watchdog)
		post->watchdog_due = mono_add_ms(now, ALERT_BEAT_MS);
	if (post->singly)
		post->singly--;
	if (post->failing)
		logger_say(alerts->log, SAY_INFO, "alert-receiver-well", "receiver '%s' is reached again",
			   post->conf->name);
	post->failing = false;
	post->failures = 0;
	post->last_error[0] = '\0';
	post->next = now;
}

/* A webhook's path is often its password: of an address that a message names, the host alone is kept. */
void alert_hide_path(char *text)
{
	for (char *at = strstr(text, "://"); at; at = strstr(at, "://")) {
		at += 3;
		char *path = at + strcspn(at, "/ ");
		size_t len = strcspn(path, " ");
		/* "http://host:80/path: nobody listens there" */
		if (len && path[len - 1] == ':')
			len--;
		memmove(path, path + len, strlen(path + len) + 1);
	}
}

static void failed(struct alert_post *post, const struct alert_job *job, struct mono now)
{
	char message[2 * sizeof job->message.err.message];
	(void)esc_copy(message, sizeof message, str_of(job->message.err.message));
	alert_hide_path(message);
	str_copy(post->last_error, sizeof post->last_error, str_of(message));
	post->failures++;
	post->failed_total++;
	post->next = mono_add_ms(now, alert_backoff_ms(post->failures, chance()));
	if (post->failing)
		return;
	post->failing = true;
	post->failing_since = now;
	logger_say(post->alerts->log, SAY_WARNING, "alert-receiver-failing", "receiver '%s': %s; it is tried again",
		   post->conf->name, post->last_error);
}

static void refused(struct alert_post *post, const struct alert_job *job, struct mono now)
{
	failed(post, job, now);
	if (job->n_items + job->watchdog > 1) {
		post->singly = (unsigned)job->n_items;
		post->next = now;
		return;
	}
	if (job->n_items == 0 || !alert_refused(&post->alerts->book, post->receiver, &job->items[0], now))
		return;
	post->dropped = true;
	post->dropped_at = now;
	post->dropped_total++;
	post->next = now;
	logger_say(post->alerts->log, SAY_ERROR, "alert-dropped", "receiver '%s' will not take an alert: %s",
		   post->conf->name, post->last_error);
}

static void done(void *context)
{
	struct alert_job *job = context;
	struct alert_post *post = job->post;
	if (!post) {
		job_free(job);
		return;
	}
	struct alerts *alerts = post->alerts;
	struct mono now = loop_now(alerts->loop);
	struct wall wall = clock_wall();
	post->job = NULL;
	alerts->in_flight--;
	for (size_t i = 0; i < job->n_items; i++)
		job->items[i].alert->in_flight--;
	switch (alert_outcome_of(job->message.rc, job->message.status)) {
	case ALERT_TOLD:
		came_through(post, job, now, wall);
		break;
	case ALERT_REFUSED:
		refused(post, job, now);
		break;
	case ALERT_FAILED:
		if (!alerts->stopped)
			failed(post, job, now);
		break;
	}
	job_free(job);
	alert_post_pump(post, now, wall);
}

/* --- the next one ------------------------------------------------------------------------------------------------ */

static void begin(struct alert_post *post, struct alert_job *job, struct mono now)
{
	struct alerts *alerts = post->alerts;
	struct err err;
	int rc = encode(post, job, alerts->wall, &err);
	if (rc == 0)
		rc = loop_work(alerts->loop, work, done, job, &err);
	if (rc < 0) {
		job->message.err = err;
		failed(post, job, now);
		job_free(job);
		return;
	}
	post->job = job;
	alerts->in_flight++;
	for (size_t i = 0; i < job->n_items; i++)
		job->items[i].alert->in_flight++;
}

void alert_post_pump(struct alert_post *post, struct mono now, struct wall wall)
{
	struct alerts *alerts = post->alerts;
	bool alertmanager = post->conf->type == RECEIVER_ALERTMANAGER;
	if (post->job || alerts->stopped || mono_ms_until(now, post->next) > 0)
		return;
	bool watchdog =
		post->conf->watchdog && alerts->healthy && !post->singly && mono_ms_until(now, post->watchdog_due) == 0;
	struct alert_job *job = job_new(post);
	if (!job)
		return; /* in a second again */
	alerts->wall = wall;
	job->watchdog = watchdog;
	if (alertmanager)
		job->n_items =
			alert_due(&alerts->book, post->receiver, now, job->items, post->singly ? 1 : ALERT_BATCH_MAX);
	else if (!watchdog)
		job->n_items = alert_due(&alerts->book, post->receiver, now, job->items, 1);
	if (job->n_items || job->watchdog) {
		begin(post, job, now);
		return;
	}
	/* Nobody is waiting for it: whether it is reached is not known any more. */
	post->failing = false;
	post->singly = 0;
	job_free(job);
}
