/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's own listener: how many pods it watches and what that costs. Of the pods themselves the collector tells. */
#include "agent/node_parts.h"
#include "agent/page.h"
#include "data/prom_out.h"
#include "sys/usage.h"

enum { STUCK_MS = 60000 };

static void put_book(struct prom_out *out, const struct node *n)
{
	const struct nodebook *book = &n->book;
	prom_out_gauge(out, "bankfull_node_targets", "Pods that are watched, or wait for their agent.",
		       nodebook_targets(book));
	prom_out_gauge(out, "bankfull_node_agents", "Agents of pods that run.", nodebook_children(book));
	prom_out_gauge(out, "bankfull_node_targets_max", "Most pods that are watched.", book->max);
	prom_out_gauge(out, "bankfull_node_targets_left_out", "JVMs that run an engine and found no room.",
		       book->left_out + n->scan.jvms_left_out);
	prom_out_counter(out, "bankfull_node_agents_started_total", "Agents of pods that were started.",
			 book->started_total);
	prom_out_counter(out, "bankfull_node_agents_failed_total",
			 "Agents of pods that ended by themselves, or could not be started.", book->failed_total);
	prom_out_counter(out, "bankfull_node_agents_ended_total", "Agents that were ended after their pods.",
			 book->ended_total);
}

static bool put_page(struct prom_out *out, const struct node *n)
{
	struct usage usage;
	usage_read(&usage);
	prom_out_family(out, "bankfull_build_info", PROM_GAUGE, "The agent's version.");
	prom_out_label(out, "version", n->version);
	prom_out_u64(out, 1);
	put_book(out, n);
	prom_out_gauge(out, "bankfull_node_processes", "Processes of the node at the last look.", n->scan.processes);
	prom_out_counter(out, "bankfull_node_looks_total", "Looks at the node's processes.", n->scan.looks_total);
	prom_out_family(out, "bankfull_node_look_seconds_total", PROM_COUNTER, "Time that they took.");
	prom_out_parts(out, (int64_t)(n->scan.look_ns_total / 1000 & INT64_MAX), 1000000);
	prom_out_family(out, "process_cpu_seconds_total", PROM_COUNTER, "User and system time of the agent.");
	prom_out_parts(out, (int64_t)(usage.cpu_ms & INT64_MAX), 1000);
	if (qty_known(usage.resident_bytes))
		prom_out_gauge(out, "process_resident_memory_bytes", "Resident bytes of the agent.",
			       usage.resident_bytes.bytes);
	prom_out_family(out, "process_start_time_seconds", PROM_GAUGE, "Start of the agent since 1970.");
	prom_out_parts(out, n->started.ms, 1000);
	return !buf_failed(out->buf);
}

static void on_request(void *context, const struct server_request *request, struct server_reply *reply)
{
	const struct node *n = context;
	if (!str_eq(request->method, STR("GET")) && !str_eq(request->method, STR("HEAD"))) {
		reply->status = 405;
	} else if (str_eq(request->path, STR("/metrics"))) {
		struct prom_out out;
		prom_out_start(&out, &reply->body);
		reply->content_type = PROM_CONTENT_TYPE;
		if (put_page(&out, n))
			return;
		buf_clear(&reply->body);
		reply->status = 500;
	} else if (str_eq(request->path, STR("/healthz"))) {
		bool stuck = n->ticks_total && !mono_ms_until(clock_mono(), mono_add_ms(n->ticked, STUCK_MS));
		reply->status = stuck ? 503 : 200;
		(void)buf_puts(&reply->body, stuck ? "{\"status\":\"stuck\"}\n" : "{\"status\":\"ok\"}\n");
	} else if (str_eq(request->path, STR("/readyz"))) {
		bool ready = n->looked && !n->leaving;
		reply->status = ready ? 200 : 503;
		(void)buf_puts(&reply->body, ready ? "{\"ready\":true}\n" : "{\"ready\":false}\n");
	} else {
		reply->status = 404;
	}
}

void node_listen(void *context)
{
	struct node *n = context;
	static const struct server_events events = { .on_request = on_request };
	if (!page_listen(n->loop, n->conf->listen, &events, n, n->log, &n->server))
		loop_timer_set(n->listen_timer, PAGE_LISTEN_AGAIN_MS);
}
