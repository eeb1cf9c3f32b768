/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/app.h"

#include "base/esc.h"
#include "collector/app_parts.h"
#include "collector/leaf.h"
#include "net/http.h"

enum {
	STEP_MS = 1000,
	RULES_MS = 5000,
	KEEP_MS = 60000,
	CLOCK_AHEAD_MS = 24 * 3600 * 1000,
	CLOCK_BEHIND_MS = 3600 * 1000,
	DRAIN_STEP_MS = 20,
	DRAIN_MS = 3000, /* Kubernetes waits 30 s; an agent that does not answer needs no longer */
};

/* --- timers --------------------------------------------------------------------------------------- */

void app_complain(struct app *app, const char *event, const char *what, const struct err *err)
{
	char shown[2 * sizeof err->message];
	logger_say(app->log, SAY_ERROR, event, "%s: %s", what, esc_copy(shown, sizeof shown, str_of(err->message)));
}

/* Said once, and again when it is over: certificates and tokens go by the same clock. */
static void judge_clock(struct app *app, int64_t ahead_ms)
{
	bool suspect = ahead_ms > CLOCK_AHEAD_MS || ahead_ms < -CLOCK_BEHIND_MS;
	if (suspect && !app->clock_suspect)
		logger_say(
			app->log, SAY_WARNING, "clock-suspect",
			"the clock is %lld h %s what the store has seen: it is wrong, or the collector was away for so long; until they agree what is old goes slowly",
			(long long)((ahead_ms < 0 ? -ahead_ms : ahead_ms) / 3600000),
			ahead_ms < 0 ? "behind" : "ahead of");
	if (!suspect && app->clock_suspect)
		logger_say(app->log, SAY_INFO, "clock-well", "the clock and what the store has seen agree again");
	app->clock_suspect = suspect;
}

/* Each of them makes batches of its own. */
static void housekeep(struct app *app, struct mono now, struct wall wall)
{
	struct err err;
	bool more = false;
	if (!mono_ms_until(now, app->rules_due)) {
		app->rules_due = mono_add_ms(now, RULES_MS);
		ingest_flush(app->ingest);
		if (own_rules_step(app->rules, now, wall, &err) < 0)
			app_complain(app, "own-rules-failed", "the collector's own rules", &err);
		if (ingest_healthy(app->ingest) && silences_step(app->silences, app->fleet, now, wall, &err) < 0)
			app_complain(app, "silences-failed", "silences that have ended", &err);
	}
	if (!mono_ms_until(now, app->keep_due)) {
		ingest_flush(app->ingest);
		fleet_expire(app->fleet, wall, FLEET_FORGET_MS);
		judge_clock(app, store_age(app->store, now, wall));
		if (store_keep(app->store, wall, &more, &err) < 0)
			app_complain(app, "retention-failed", "old samples could not be rolled up or deleted", &err);
		app->keep_due = mono_add_ms(now, more ? STEP_MS : KEEP_MS);
	}
}

/* The listeners see by themselves that the files are others. */
static void keep_leaf(struct app *app, struct mono now, struct wall wall)
{
	struct err err;
	bool made;
	if (!app->conf->tls_ca || mono_ms_until(now, app->leaf_due))
		return;
	app->leaf_due = mono_add_ms(now, LEAF_CHECK_MS);
	if (leaf_keep(app->conf, wall, &made, &err) < 0)
		app_complain(app, "certificate-failed", "the old one stays, and it is tried again", &err);
	else if (made)
		logger_say(app->log, SAY_INFO, "certificate-made", "a new certificate, good for %d days", LEAF_DAYS);
}

/* After the rules, so that what they find is told with the rest. */
static void tell(struct app *app, struct mono now, struct wall wall)
{
	struct alerts_trouble troubles[ALERT_RECEIVERS_MAX];
	struct err err;
	ingest_flush(app->ingest);
	kube_view_step(app->kube, ingest_healthy(app->ingest), now, wall);
	if (alerts_step(app->alerts, ingest_healthy(app->ingest), now, wall, &err) < 0)
		app_complain(app, "alerts-failed", "what is to be told is tried again", &err);
	size_t n = alerts_troubles(app->alerts, now, troubles);
	own_rules_delivery(app->rules, troubles, n, app->conf->alerts->n_receivers);
}

static bool holds(void *context, const char *method, const char *id)
{
	const struct app *app = context;
	return auth_holds(app->auth, method, id);
}

static void on_step(void *context)
{
	struct app *app = context;
	unsigned generation = auth_step(app->auth);
	if (generation != app->generation)
		ingest_recheck(app->ingest, holds, app);
	app->generation = generation;
	live_recheck(app->live, loop_now(app->loop));
	housekeep(app, loop_now(app->loop), clock_wall());
	keep_leaf(app, loop_now(app->loop), clock_wall());
	tell(app, loop_now(app->loop), clock_wall());
	app->api.ready = ingest_healthy(app->ingest);
	loop_timer_set(app->step_timer, STEP_MS);
}

/* --- the end -------------------------------------------------------------------------------------- */

static void on_drain(void *context)
{
	struct app *app = context;
	struct ingest_counts counts;
	struct auth_counts reviews;
	ingest_count(app->ingest, &counts);
	auth_count(app->auth, &reviews);
	/* An agent that does not answer is cut; a thread cannot be, and must not run on while the program is taken apart. */
	if (!reviews.reviews_in_flight && !alerts_in_flight(app->alerts) && !kube_view_in_flight(app->kube) &&
	    (!counts.sessions || !mono_ms_until(loop_now(app->loop), app->drain_until)))
		loop_stop(app->loop);
	else
		loop_timer_set(app->drain_timer, DRAIN_STEP_MS);
}

static void begin_end(struct app *app)
{
	app->draining = true;
	logger_say(app->log, SAY_INFO, "stopping", "asked to stop: agents are sent away, what they sent is committed");
	ingest_stop(app->ingest);
	ingest_flush(app->ingest);
	live_stop(app->live);
	server_drain(app->server);
	auth_stop(app->auth);
	alerts_stop(app->alerts);
	kube_view_stop(app->kube);
	app->drain_until = mono_add_ms(loop_now(app->loop), DRAIN_MS);
	loop_timer_set(app->drain_timer, DRAIN_STEP_MS);
}

static void on_signal(void *context, int signal)
{
	struct app *app = context;
	struct err err;
	if (signal == SIGHUP) {
		/* Certificates are read again whenever their files change. */
		if (auth_reload(app->auth, &err) < 0)
			app_complain(app, "tokens-unusable", "what was read before still holds", &err);
		else
			logger_say(app->log, SAY_INFO, "tokens-read", "the files of tokens were read again");
	} else if (app->draining) {
		app->drain_until = loop_now(app->loop);
	} else {
		begin_end(app);
	}
}

/* --- the beginning -------------------------------------------------------------------------------- */

int app_timers(struct app *app, struct err *err)
{
	static const int signals[] = { SIGTERM, SIGINT, SIGHUP };
	int rc = loop_timer_new(app->loop, on_step, app, &app->step_timer, err);
	if (rc == 0)
		rc = loop_timer_new(app->loop, on_drain, app, &app->drain_timer, err);
	if (rc == 0)
		rc = loop_signals(app->loop, signals, sizeof signals / sizeof signals[0], on_signal, app, err);
	if (rc == 0)
		loop_timer_set(app->step_timer, STEP_MS);
	return rc;
}

/* In the order that lets each still call what it was made with. */
static void stop(struct app *app)
{
	if (app->ingest)
		ingest_stop(app->ingest);
	server_free(app->server);
	live_free(app->live);
	ingest_free(app->ingest);
	auth_free(app->auth);
	kube_view_free(app->kube);
	alerts_free(app->alerts);
	own_rules_free(app->rules);
	silences_free(app->silences);
	fleet_free(app->fleet);
	store_close(app->store);
	loop_timer_free(app->step_timer);
	loop_timer_free(app->drain_timer);
	loop_free(app->loop);
	http_done();
}

static void say_where(const struct app *app)
{
	for (size_t i = 0; i < app->plan.n; i++) {
		const char *address = app->plan.listeners[i].address;
		bool v6 = strchr(address, ':') != NULL;
		logger_say(app->log, SAY_INFO, "listening", "%s%s%s:%u: %s%s", v6 ? "[" : "",
			   address[0] ? address : "*", v6 ? "]" : "", server_port(app->server, (unsigned)i),
			   app->plan.listeners[i].name,
			   app->plan.listeners[i].serves & LISTEN_AGENTS && app->plan.listeners[i].serves & LISTEN_API
				   ? ", agents at /agent"
				   : "");
	}
	if (app->plan.open_agents)
		logger_say(app->log, SAY_WARNING, "open",
			   "agents are not authenticated: what they say they are proves nothing");
}

int app_run(const struct collectorconf *conf, const char *version, struct logger *log, struct err *err)
{
	struct app *app = calloc(1, sizeof *app);
	if (!app)
		return err_set(err, ERR_NOMEM, "no memory");
	app->conf = conf;
	app->log = log;
	int rc = app_start(app, version, err);
	if (rc == 0) {
		say_where(app);
		rc = loop_run(app->loop, err);
	}
	stop(app);
	if (rc == 0)
		logger_say(log, SAY_INFO, "stopped", "all that was acked is stored");
	free(app);
	return rc;
}
