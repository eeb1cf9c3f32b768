/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's own listener: /metrics, /healthz, /readyz. A port that is taken degrades, and is tried again. */
#include <stdlib.h>

#include "agent/agent_parts.h"
#include "agent/expose.h"
#include "base/esc.h"
#include "data/js.h"
#include "data/prom_out.h"
#include "sys/clock.h"

enum {
	DEFAULT_PORT = 9482,
	CONNECTIONS_MAX = 16, /* a scraper or two, and a probe */
	STALE_TICKS = 5,      /* so many intervals without a tick: something holds the loop */
};

static void reply_metrics(const struct agent *a, struct server_reply *reply)
{
	struct outbox_counts counts;
	struct usage usage;
	outbox_count(a->outbox, &counts);
	usage_read(&usage);
	struct expose_input in = { .version = a->version,
				   .snapshot = a->life.on ? a->snapshot : NULL,
				   .ledger = a->ledger,
				   .mark = a->mark,
				   .history = a->view,
				   .standings = &a->standings,
				   .silences = &a->rules.silences,
				   .now = clock_wall(),
				   .urgent = a->urgency.on,
				   .budget = &a->budget,
				   .slow = slow_count(a->slow),
				   .outbox = &counts,
				   .usage = &usage,
				   .start_ms = (uint64_t)a->started.ms,
				   .ticks_total = a->ticks_total,
				   .tick_ns_total = a->tick_ns_total,
				   .longest_tick_ns = a->longest_tick_ns,
				   .lives_total = a->lives_total,
				   .deaths_total = a->deaths_total,
				   .wakes_total = a->wakes_total,
				   .reopened_total = a->watch.reopened_total,
				   .log_suppressed_total = a->log->suppressed_total,
				   .policies_refused_total = a->policies_refused_total,
				   .policy_version = a->policy_version };
	reply->content_type = PROM_CONTENT_TYPE;
	if (expose_metrics(&in, &reply->body))
		return;
	buf_clear(&reply->body);
	reply->status = 500;
}

/* Alive: the loop turns. Nothing of the pod is told. */
static void reply_health(const struct agent *a, struct server_reply *reply)
{
	bool stale = a->ticks_total &&
		     agent_ms_since(a->ticked, clock_mono()) > STALE_TICKS * (uint64_t)agent_interval_ms(a) + 10000;
	reply->status = stale ? 503 : 200;
	(void)buf_puts(&reply->body, stale ? "{\"status\":\"stuck\"}\n" : "{\"status\":\"ok\"}\n");
}

static void reply_ready(const struct agent *a, struct server_reply *reply)
{
	struct err ignored;
	struct js_out out;
	bool ready = a->life.on && a->snapshot && !a->leaving;
	reply->status = ready ? 200 : 503;
	js_out_start(&out, &reply->body, 0);
	js_out_object(&out);
	js_out_key(&out, "ready");
	js_out_bool(&out, ready);
	if (!ready) {
		js_out_key(&out, "waiting");
		js_out_text(&out, a->leaving ? "asked to end" : a->waiting);
	}
	js_out_object_end(&out);
	if (js_out_end(&out, &ignored) == 0)
		(void)buf_putc(&reply->body, '\n');
}

static void on_request(void *context, const struct server_request *request, struct server_reply *reply)
{
	const struct agent *a = context;
	if (!str_eq(request->method, STR("GET")) && !str_eq(request->method, STR("HEAD")))
		reply->status = 405;
	else if (str_eq(request->path, STR("/metrics")))
		reply_metrics(a, reply);
	else if (str_eq(request->path, STR("/healthz")))
		reply_health(a, reply);
	else if (str_eq(request->path, STR("/readyz")))
		reply_ready(a, reply);
	else
		reply->status = 404;
}

/* "ADDRESS:PORT" as the settings checked it; brackets around IPv6 are taken off. */
static bool take_address(const char *listen, char *dest, size_t cap, uint16_t *ret_port)
{
	const char *colon = strrchr(listen, ':');
	uint64_t port;
	if (!colon || !str_is_u64(str_of(colon + 1), &port) || port > UINT16_MAX)
		return false;
	struct str host = { listen, (size_t)(colon - listen) };
	if (host.len >= 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']')
		host = (struct str){ host.ptr + 1, host.len - 2 };
	str_copy(dest, cap, host);
	*ret_port = (uint16_t)port;
	return true;
}

void agent_listen(void *context)
{
	struct agent *a = context;
	char address[64] = "";
	struct err err = { 0 };
	uint16_t port = DEFAULT_PORT;
	const char *said = a->conf->listen;
	if (said && strcmp(said, "off") == 0)
		return;
	if (said && !take_address(said, address, sizeof address, &port))
		return; /* the settings refuse it */
	/* In a pod Prometheus comes from elsewhere; on a machine only who asks for it opens a port to the world. */
	if (!said && !getenv("KUBERNETES_SERVICE_HOST"))
		str_copy(address, sizeof address, STR("127.0.0.1"));
	struct server_options options = { .listeners = { { "metrics", address, port, { NULL, NULL, NULL } } },
					  .n_listeners = 1,
					  .max_connections = CONNECTIONS_MAX,
					  .max_per_address = CONNECTIONS_MAX,
					  .max_body = 1024 };
	static const struct server_events events = { .on_request = on_request };
	if (server_new(a->loop, &options, &events, a, &a->server, &err) == 0) {
		logger_say(a->log, SAY_INFO, "listening", "/metrics on port %u of %s", server_port(a->server, 0),
			   address[0] ? address : "all addresses");
		return;
	}
	logger_say(a->log, SAY_WARNING, "listen-failed", "no /metrics: %s; tried again in a minute", err.message);
	loop_timer_set(a->listen_timer, LISTEN_AGAIN_MS);
}
