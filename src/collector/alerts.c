/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/alerts.h"

#include <stdlib.h>

#include "base/esc.h"
#include "collector/alerts_parts.h"
#include "collector/silences.h"

enum { LOOK_MS = 2000 };

int alerts_new(struct loop *loop, const struct alerts_options *options, const struct fleet *fleet,
	       const struct silences *silences, struct store *store, struct alerts **ret_alerts, struct err *err)
{
	struct alerts *alerts = calloc(1, sizeof *alerts);
	struct alert_group *groups = calloc(ALERT_GROUPS_MAX, sizeof *groups);
	if (!alerts || !groups) {
		free(alerts);
		free(groups);
		return err_set(err, ERR_NOMEM, "no memory for alerting");
	}
	alerts->loop = loop;
	alerts->conf = options->conf;
	alerts->fleet = fleet;
	alerts->silences = silences;
	alerts->store = store;
	alerts->log = options->log;
	alerts->groups = groups;
	str_copy(alerts->cluster, sizeof alerts->cluster, str_of(options->cluster));
	alerts->origin =
		(struct alert_origin){ options->conf, alerts->cluster, options->public_url ? options->public_url : "" };
	for (unsigned i = 0; i < options->conf->n_receivers; i++)
		alerts->posts[i] =
			(struct alert_post){ .alerts = alerts, .conf = &options->conf->receivers[i], .receiver = i };
	int rc = alert_book_init(&alerts->book, options->conf, err);
	if (rc == 0)
		rc = alert_load(alerts, loop_now(loop), clock_wall(), err);
	if (rc < 0)
		alerts_free(alerts);
	else
		*ret_alerts = alerts;
	return rc;
}

void alerts_stop(struct alerts *alerts)
{
	alerts->stopped = true;
	for (size_t i = 0; i < alerts->conf->n_receivers; i++)
		if (alerts->posts[i].job)
			atomic_store(&alerts->posts[i].job->message.abandon, true);
}

unsigned alerts_in_flight(const struct alerts *alerts)
{
	return alerts->in_flight;
}

void alerts_free(struct alerts *alerts)
{
	struct err err;
	if (!alerts)
		return;
	/* What came through since the last step: a restart need not say it again. */
	if (alerts->stopped && alert_save(alerts, &err) < 0)
		logger_say(alerts->log, SAY_WARNING, "alerts-not-kept", "%s: somebody may be told twice", err.message);
	for (size_t i = 0; i < alerts->conf->n_receivers; i++)
		if (alerts->posts[i].job)
			alerts->posts[i].job->post = NULL;
	alert_book_done(&alerts->book);
	free(alerts->groups);
	free(alerts);
}

/* --- silences ----------------------------------------------------------------------------------------------------- */

static bool finding_silenced(const void *context, const struct fleet_pod *pod, const struct fleet_finding *finding)
{
	const struct alerts *alerts = context;
	return silences_match(alerts->silences, &pod->subject, finding->rule, finding->severity, SILENCE_SILENCE,
			      alerts->wall) != NULL;
}

const struct silence *alerts_silence(const struct silences *silences, const struct alert *alert, struct wall now)
{
	const struct silence_alert subject = { alert->cluster, alert->namespace_, alert->workload, alert->rule,
					       alert->severity };
	const struct silence *found = silences ? silences_match_alert(silences, &subject, SILENCE_SILENCE, now) : NULL;
	if (!found && silences)
		found = silences_match_alert(silences, &subject, SILENCE_ACKNOWLEDGEMENT, now);
	return found;
}

static void ask_silences(struct alerts *alerts)
{
	for (size_t i = 0; i < alerts->book.n_active; i++) {
		struct alert *alert = alerts->book.active[i];
		alert->silenced =
			alert->figures.silenced || alerts_silence(alerts->silences, alert, alerts->wall) != NULL;
	}
}

/* --- a step ------------------------------------------------------------------------------------------------------- */

static int look(struct alerts *alerts, struct mono now, struct err *err)
{
	bool silences = alerts->silences && silences_active(alerts->silences, SILENCE_SILENCE) > 0;
	const struct alert_grouping how = {
		.cluster = alerts->cluster,
		.least = alertconf_least(alerts->conf),
		.silenced = silences ? finding_silenced : NULL,
		.context = alerts,
	};
	size_t n = alert_groups(alerts->fleet, &how, alerts->groups, &alerts->left_out);
	return alert_book_look(&alerts->book, alerts->groups, n, now, alerts->wall, err);
}

static void say_edges(struct alerts *alerts)
{
	const struct alert_book *book = &alerts->book;
	for (size_t i = 0; i < book->n_active + book->n_ended; i++) {
		struct alert *alert = i < book->n_active ? book->active[i] : book->ended[i - book->n_active];
		char workload[128], namespace_[64];
		uint8_t edges = alert->ended.ms ? 2 : 1;
		if (alert->logged >= edges)
			continue;
		alert->logged = edges;
		logger_say(alerts->log, SAY_INFO, alert->ended.ms ? "alert-resolved" : "alert-firing",
			   "%s %s of %s/%s: %u of %u pods", severity_names[alert->severity], alert->rule,
			   esc_copy(namespace_, sizeof namespace_, str_of(alert->namespace_)),
			   esc_copy(workload, sizeof workload, str_of(alert->workload)), alert->figures.n_pods,
			   alert->figures.n_workload_pods);
	}
}

static void give_up(struct alerts *alerts, struct mono now)
{
	for (unsigned i = 0; i < alerts->conf->n_receivers; i++) {
		size_t n = alert_give_up(&alerts->book, i, alerts->wall);
		if (n == 0)
			continue;
		alerts->posts[i].dropped_total += n;
		alerts->posts[i].dropped = true;
		alerts->posts[i].dropped_at = now;
		logger_say(alerts->log, SAY_ERROR, "alert-dropped",
			   "receiver '%s': %zu alerts that ended were given up, it was not reached for too long",
			   alerts->conf->receivers[i].name, n);
	}
}

int alerts_step(struct alerts *alerts, bool healthy, struct mono now, struct wall wall, struct err *err)
{
	int rc = 0;
	alerts->wall = wall;
	alerts->healthy = healthy;
	if (alerts->stopped)
		return 0;
	if (healthy && mono_ms_until(now, alerts->look_due) == 0) {
		alerts->look_due = mono_add_ms(now, LOOK_MS);
		rc = look(alerts, now, err);
		ask_silences(alerts);
		give_up(alerts, now);
		say_edges(alerts);
	} else {
		ask_silences(alerts);
	}
	if (healthy) {
		struct err failure;
		alert_begin(&alerts->book, now);
		int saved = alert_save(alerts, &failure);
		if (saved < 0 && err)
			*err = failure;
		rc = saved < 0 ? saved : rc;
		alert_book_trim(&alerts->book);
	}
	for (size_t i = 0; i < alerts->conf->n_receivers; i++)
		alert_post_pump(&alerts->posts[i], now, wall);
	return rc;
}

/* --- what is seen of it --------------------------------------------------------------------------------------------- */

const struct alert_book *alerts_book(const struct alerts *alerts)
{
	return &alerts->book;
}

uint64_t alerts_group_wait_ms(const struct alerts *alerts)
{
	return alerts->conf->group_wait_ms;
}

static void count_receiver(const struct alerts *alerts, const struct alert_post *post, struct wall now,
			   struct alerts_receiver_counts *counts)
{
	struct wall oldest;
	size_t queue = alert_queue(&alerts->book, post->receiver, loop_now(alerts->loop), &oldest);
	*counts = (struct alerts_receiver_counts){
		.name = post->conf->name,
		.type = post->conf->type,
		.told_total = post->told_total,
		.failed_total = post->failed_total,
		.dropped_total = post->dropped_total,
		.queue = queue,
		.oldest_due_ms = queue && now.ms > oldest.ms ? (uint64_t)(now.ms - oldest.ms) : 0,
		.failing = post->failing,
		.tries = post->failures,
	};
	str_copy(counts->last_error, sizeof counts->last_error, str_of(post->last_error));
}

const char *const alerts_state_names[ALERTS_STATE_COUNT] = { "calling", "silenced", "unrouted" };

static uint32_t concerned(const struct alertconf *conf, const struct auth_viewer *viewer)
{
	uint32_t receivers = 0;
	if (!viewer || viewer->n_namespaces == 0)
		return UINT32_MAX;
	for (size_t i = 0; i < viewer->n_namespaces; i++)
		receivers |= alertconf_reach(conf, viewer->namespaces[i]);
	return receivers;
}

void alerts_count(const struct alerts *alerts, const struct auth_viewer *viewer, struct wall now,
		  struct alerts_counts *ret_counts)
{
	struct alerts_counts counts = { .left_out = alerts->left_out + alerts->book.left_out,
					.concerned = concerned(alerts->conf, viewer),
					.n_receivers = alerts->conf->n_receivers };
	for (size_t i = 0; i < alerts->book.n_active; i++) {
		const struct alert *alert = alerts->book.active[i];
		enum alerts_state state = !alert->receivers ? ALERTS_UNROUTED
					  : alert->silenced ? ALERTS_SILENCED
							    : ALERTS_CALLING;
		if (!viewer || auth_sees(viewer, alert->namespace_))
			counts.active[alert->severity][state]++;
	}
	for (size_t i = 0; i < alerts->conf->n_receivers; i++)
		count_receiver(alerts, &alerts->posts[i], now, &counts.receivers[i]);
	*ret_counts = counts;
}

size_t alerts_troubles(const struct alerts *alerts, struct mono now, struct alerts_trouble *ret_troubles)
{
	size_t n = 0;
	for (size_t i = 0; i < alerts->conf->n_receivers; i++) {
		const struct alert_post *post = &alerts->posts[i];
		struct alerts_trouble trouble = { .receiver = post->conf->name };
		if (post->failing)
			trouble.failing_ms = mono_ms_until(post->failing_since, now);
		if (post->dropped && mono_ms_until(post->dropped_at, now) < ALERTS_DROPPED_MS)
			trouble.dropped = true;
		str_copy(trouble.last_error, sizeof trouble.last_error, str_of(post->last_error));
		if (trouble.failing_ms || trouble.dropped)
			ret_troubles[n++] = trouble;
	}
	return n;
}
