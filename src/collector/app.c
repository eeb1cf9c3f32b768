/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/app.h"

#include <stdio.h>
#include <sys/resource.h>

#include "base/esc.h"
#include "collector/app_parts.h"
#include "collector/fleet_load.h"
#include "collector/store_audit.h"
#include "net/http.h"

enum {
	STEP_MS = 1000,
	RULES_MS = 5000,
	DEED_MS = 3600 * 1000, /* the same login is put down once */
	KEEP_MS = 60000,
	CLOCK_AHEAD_MS = 24 * 3600 * 1000,
	CLOCK_BEHIND_MS = 3600 * 1000,
	DRAIN_STEP_MS = 20,
	DRAIN_MS = 3000, /* Kubernetes waits 30 s; an agent that does not answer needs no longer */
};

/* --- timers --------------------------------------------------------------------------------------- */

static void complain(struct app *app, const char *event, const char *what, const struct err *err)
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
			complain(app, "own-rules-failed", "the collector's own rules", &err);
		if (ingest_healthy(app->ingest) && silences_step(app->silences, app->fleet, now, wall, &err) < 0)
			complain(app, "silences-failed", "silences that have ended", &err);
	}
	if (!mono_ms_until(now, app->keep_due)) {
		ingest_flush(app->ingest);
		fleet_expire(app->fleet, wall, FLEET_FORGET_MS);
		judge_clock(app, store_age(app->store, now, wall));
		if (store_keep(app->store, wall, &more, &err) < 0)
			complain(app, "retention-failed", "old samples could not be rolled up or deleted", &err);
		app->keep_due = mono_add_ms(now, more ? STEP_MS : KEEP_MS);
	}
}

/* After the rules, so that what they find is told with the rest. */
static void tell(struct app *app, struct mono now, struct wall wall)
{
	struct alerts_trouble troubles[ALERT_RECEIVERS_MAX];
	struct err err;
	ingest_flush(app->ingest);
	if (alerts_step(app->alerts, ingest_healthy(app->ingest), now, wall, &err) < 0)
		complain(app, "alerts-failed", "what is to be told is tried again", &err);
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
	if (!reviews.reviews_in_flight && !alerts_in_flight(app->alerts) &&
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
			complain(app, "tokens-unusable", "what was read before still holds", &err);
		else
			logger_say(app->log, SAY_INFO, "tokens-read", "the files of tokens were read again");
	} else if (app->draining) {
		app->drain_until = loop_now(app->loop);
	} else {
		begin_end(app);
	}
}

/* --- the beginning -------------------------------------------------------------------------------- */

static void on_library_log(void *context, const char *text)
{
	struct app *app = context;
	char shown[512];
	logger_say(app->log, SAY_DEBUG, "library", "%s", esc_copy(shown, sizeof shown, str_of(text)));
}

/* One descriptor a connection; what the hard limit allows is ours to take. */
static void raise_descriptors(struct app *app, uint64_t connections)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit); /* what holds then is what held before */
	if (limit.rlim_cur < connections + 64)
		logger_say(app->log, SAY_WARNING, "few-descriptors",
			   "at most %llu files may be open: that is less than the %llu connections configured",
			   (unsigned long long)limit.rlim_cur, (unsigned long long)connections);
}

static int open_store(struct app *app, struct err *err)
{
	const struct collectorconf *conf = app->conf;
	const struct store_options options = {
		.raw_s = conf->raw_s,
		.rollup_s = conf->rollup_s,
		.findings_s = conf->findings_s,
		.disk_cap_bytes = conf->disk_cap_bytes,
	};
	int rc = store_open(conf->data, &options, &app->store, err);
	if (rc == 0)
		rc = fleet_new(&app->fleet, err);
	if (rc == 0)
		rc = fleet_load(app->fleet, app->store, clock_wall(), err);
	if (rc == 0)
		rc = own_rules_new(app->fleet, app->store, &app->rules, err);
	if (rc == 0)
		rc = silences_new(app->store, app->log, &app->silences, err);
	return rc;
}

static int make_auth(struct app *app, struct err *err)
{
	const struct collectorconf *conf = app->conf;
	const struct auth_options options = {
		.agent_tokens_file = conf->agent_tokens,
		.viewer_tokens_file = conf->viewer_tokens,
		.proxy_viewers_file = conf->proxy_viewers,
		.proxy_peers = conf->proxy_peers,
		.proxy_user_header = conf->proxy_user_header,
		.proxy_groups_header = conf->proxy_groups_header,
		.client_certificates = conf->client_ca != NULL,
		.review_url = conf->review_url,
		.review_ca_file = conf->review_ca,
		.review_token_file = conf->review_token,
		.audience = conf->audience,
		.open = app->plan.open_agents,
		.open_viewers = app->plan.open_viewers,
		.log = app->log,
	};
	return auth_new(app->loop, &options, app->store, &app->auth, err);
}

/* A login is one even when that cannot be put down: the log has it too. */
static void on_deed(void *context, const char *what, const char *who, const char *peer)
{
	struct app *app = context;
	const struct audit_entry entry = {
		.at = clock_wall(), .who = who, .peer = peer, .what = what, .namespace_ = ""
	};
	struct err err;
	ingest_flush(app->ingest);
	if (store_audit_once(app->store, &entry, DEED_MS, &err) < 0)
		complain(app, "audit-failed", what, &err);
}

static int make_web(struct app *app, struct err *err)
{
	app->web = (struct web){ .open = app->plan.open_viewers,
				 .proxy_header = auth_proxy_header(app->auth),
				 .auth = app->auth,
				 .log = app->log,
				 .deed = on_deed,
				 .deed_context = app };
	int rc = web_site_parse(app->conf->public_url, &app->web.site, err);
	if (rc < 0)
		err_wrap(err, "--public-url");
	return rc;
}

static int make_ingest(struct app *app, struct err *err)
{
	const struct collectorconf *conf = app->conf;
	const struct ingest_options options = {
		.cluster = conf->cluster,
		.window = (uint32_t)conf->window,
		.min_interval_ms = (uint32_t)conf->min_interval_ms,
		.policies = conf->policies.n ? &conf->policies : NULL,
		.silences = app->silences,
		.log = app->log,
	};
	return ingest_new(app->loop, &options, app->store, app->fleet, &app->ingest, err);
}

static int make_alerts(struct app *app, struct err *err)
{
	const struct alerts_options options = {
		.conf = app->conf->alerts,
		.cluster = app->conf->cluster,
		.public_url = app->conf->public_url,
		.log = app->log,
	};
	return alerts_new(app->loop, &options, app->fleet, app->silences, app->store, &app->alerts, err);
}

static int make_live(struct app *app, struct err *err)
{
	const struct live_options options = {
		.max_viewers = (unsigned)app->conf->max_viewers,
		.max_per_address = (unsigned)app->conf->max_viewers_per_address,
		.log = app->log,
	};
	return live_new(app->loop, &options, app->fleet, app->silences, app->store, app->auth, &app->live, err);
}

static int make_server(struct app *app, struct err *err)
{
	const struct collectorconf *conf = app->conf;
	struct server_options options = {
		.n_listeners = app->plan.n,
		.max_connections = (unsigned)conf->max_connections,
		.max_per_address = (unsigned)conf->max_per_address,
		.protocols = { [ROUTE_AGENTS] = { .name = WIRE_PROTOCOL, .max_frame = WIRE_FRAME_MAX },
			       [ROUTE_LIVE] = { .name = LIVE_PROTOCOL,
						.max_frame = LIVE_FRAME_MAX,
						.sessions = &live_events } },
		.n_protocols = ROUTE_PROTOCOL_COUNT,
	};
	for (size_t i = 0; i < app->plan.n; i++) {
		struct server_listener *listener = &options.listeners[i];
		listener->name = app->plan.listeners[i].name;
		listener->address = app->plan.listeners[i].address;
		listener->port = app->plan.listeners[i].port;
		if (!conf->tls_cert || app->plan.listeners[i].serves == LISTEN_METRICS)
			continue;
		listener->tls.cert_file = conf->tls_cert;
		listener->tls.key_file = conf->tls_key;
		if (app->plan.listeners[i].serves & LISTEN_AGENTS)
			listener->tls.client_ca_file = conf->client_ca;
	}
	return server_new(app->loop, &options, &route_events, app, &app->server, err);
}

static int make_timers(struct app *app, struct err *err)
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

/* What is cheap to be wrong about is checked before anything is opened. */
static int start(struct app *app, const char *version, struct err *err)
{
	int rc = listen_plan(app->conf, &app->plan, err);
	if (rc == 0)
		rc = loop_new(LOOP_UV, on_library_log, app, &app->loop, err);
	if (rc == 0)
		rc = open_store(app, err);
	if (rc == 0)
		rc = make_auth(app, err);
	if (rc == 0)
		rc = make_web(app, err);
	if (rc == 0)
		rc = make_ingest(app, err);
	if (rc == 0)
		rc = make_alerts(app, err);
	if (rc == 0)
		rc = make_live(app, err);
	if (rc == 0)
		rc = make_server(app, err);
	if (rc == 0)
		rc = make_timers(app, err);
	if (rc < 0)
		return rc;
	app->api = (struct api){
		.fleet = app->fleet,
		.store = app->store,
		.auth = app->auth,
		.ingest = app->ingest,
		.live = app->live,
		.alerts = app->alerts,
		.silences = app->silences,
		.web = &app->web,
		.server = app->server,
		.version = version,
		.cluster = app->conf->cluster,
		.started = clock_wall(),
		.ready = true,
	};
	return 0;
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
	raise_descriptors(app, conf->max_connections);
	int rc = start(app, version, err);
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
