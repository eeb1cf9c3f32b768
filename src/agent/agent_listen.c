/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's own listener: /metrics, /healthz, /readyz. A port that is taken degrades, and is tried again. */
#include "agent/agent_parts.h"
#include "agent/expose.h"
#include "agent/page.h"
#include "data/js.h"
#include "data/prom_out.h"
#include "sys/clock.h"

enum { STALE_TICKS = 5 }; /* so many intervals without a tick: something holds the loop */

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

void agent_listen(void *context)
{
	struct agent *a = context;
	static const struct server_events events = { .on_request = on_request };
	if (!page_listen(a->loop, a->conf->listen, &events, a, a->log, &a->server))
		loop_timer_set(a->listen_timer, PAGE_LISTEN_AGAIN_MS);
}
