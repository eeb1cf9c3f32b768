/* SPDX-License-Identifier: Apache-2.0 */
/* All that the collector consists of, made in the order in which each needs the ones before. */
#include <sys/resource.h>

#include "base/esc.h"
#include "collector/app_parts.h"
#include "collector/fleet_load.h"
#include "collector/leaf.h"
#include "collector/node_agent.h"
#include "collector/store_audit.h"

enum { DEED_MS = 3600 * 1000 }; /* the same login is put down once */

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
		.review_again_ms = conf->review_again_s * 1000,
		.allow_agents = conf->allow_agents,
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
		app_complain(app, "audit-failed", what, &err);
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

static int make_kube(struct app *app, struct err *err)
{
	return kube_view_new(app->loop, app->conf, app->fleet, app->silences, app->store, app->log, &app->kube, err);
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
		.pods = kube_view_book(app->kube),
		.node_agents = conf->node_agents,
		.log = app->log,
	};
	int rc = conf->node_agents ? node_agents_check(conf->node_agents, err) : 0;
	return rc < 0 ? rc : ingest_new(app->loop, &options, app->store, app->fleet, &app->ingest, err);
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
	bool made;
	int rc = conf->tls_ca ? leaf_keep(conf, clock_wall(), &made, err) : 0;
	if (rc < 0)
		return rc;
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

/* What is cheap to be wrong about is checked before anything is opened. */
int app_start(struct app *app, const char *version, struct err *err)
{
	raise_descriptors(app, app->conf->max_connections);
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
		rc = make_kube(app, err);
	if (rc == 0)
		rc = make_ingest(app, err);
	if (rc == 0)
		rc = make_alerts(app, err);
	if (rc == 0)
		rc = make_live(app, err);
	if (rc == 0)
		rc = make_server(app, err);
	if (rc == 0)
		rc = app_timers(app, err);
	if (rc < 0)
		return rc;
	app->api = (struct api){
		.fleet = app->fleet,
		.store = app->store,
		.auth = app->auth,
		.ingest = app->ingest,
		.live = app->live,
		.alerts = app->alerts,
		.kube = app->kube,
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
