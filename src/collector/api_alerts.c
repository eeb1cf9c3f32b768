/* SPDX-License-Identifier: Apache-2.0 */
/* Alerts: those that are active and those that lately were, and who was told of them or why nobody was. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "collector/alert_figures.h"
#include "collector/api_parts.h"
#include "wire/put.h"

/* Newest first: an order that holds while pages are turned. */
static int newest_first(const void *a, const void *b)
{
	const struct alert *const *x = a, *const *y = b;
	return (*x)->row == (*y)->row ? 0 : (*x)->row > (*y)->row ? -1 : 1;
}

static bool is_asked_for(const struct api_call *call, const struct alert *alert, int64_t below)
{
	const struct api_query *q = &call->query;
	const struct subject_view view = { .cluster = alert->cluster,
					   .namespace_ = alert->namespace_,
					   .workload = alert->workload,
					   .pod = "",
					   .pod_uid = "",
					   .node = "",
					   .container = "" };
	return alert->row != 0 && (below == 0 || alert->row < below) && api_sees(call, &view) &&
	       (!q->rule || strcmp(q->rule, alert->rule) == 0) && alert->severity >= q->least &&
	       (!q->has_active || q->active == (alert->ended.ms == 0));
}

/* --- one of them ------------------------------------------------------------------------------------------------ */

static const char *state_of(const struct alert *alert, const struct alert_delivery *delivery,
			    const struct alerts_receiver_counts *receiver, bool waits)
{
	bool told = delivery->told == ALERT_EDGE_RESOLVED || (delivery->told == ALERT_EDGE_FIRING && !alert->ended.ms);
	if (told)
		return "told";
	if (delivery->told == ALERT_EDGE_EXCUSED || (alert->ended.ms && !alert->pending))
		return "excused";
	if (!alert->ended.ms && alert->silenced)
		return "silenced";
	if (waits)
		return "waiting";
	return receiver->failing ? "failing" : "due";
}

static void put_delivery(struct js_out *out, const struct alert *alert, const struct alert_delivery *delivery,
			 const struct alerts_receiver_counts *receiver, bool waits)
{
	const char *state = state_of(alert, delivery, receiver, waits);
	bool failing = strcmp(state, "failing") == 0;
	js_out_object(out);
	put_text(out, "receiver", receiver->name);
	put_text(out, "type", receiver_type_names[receiver->type]);
	put_text(out, "state", state);
	api_put_u64(out, "tries", failing ? receiver->tries : 0);
	put_text(out, "last_error", failing ? receiver->last_error : NULL);
	api_put_wall(out, "told_ms", delivery->told_at);
	api_put_u64(out, "repeats", delivery->repeats);
	js_out_object_end(out);
}

static void put_deliveries(struct api_call *call, const struct alert *alert, const struct alerts_counts *counts)
{
	uint64_t wait_ms = alerts_group_wait_ms(call->api->alerts);
	bool waits = call->now.ms < alert->started.ms + (int64_t)wait_ms;
	js_out_key(&call->out, "deliveries");
	js_out_array(&call->out);
	for (size_t i = 0; i < counts->n_receivers; i++)
		if (alert->receivers & 1U << i)
			put_delivery(&call->out, alert, &alert->deliveries[i], &counts->receivers[i], waits);
	js_out_array_end(&call->out);
}

static void put_alert(struct api_call *call, const struct alert *alert, const struct alerts_counts *counts)
{
	struct js_out *out = &call->out;
	const struct subject_view view = { .cluster = alert->cluster,
					   .namespace_ = alert->namespace_,
					   .workload = alert->workload };
	bool own = alert->namespace_[0] == '\0' && strcmp(alert->workload, ALERT_OWN_WORKLOAD) == 0;
	js_out_object(out);
	api_put_id(out, "id", alert->row);
	put_text(out, "cluster", alert->cluster);
	put_text(out, "namespace", alert->namespace_);
	put_text(out, "workload", alert->workload);
	if (own)
		put_text(out, "workload_id", NULL); /* the collector itself is no workload of the fleet */
	else
		api_put_workload_id(out, "workload_id", &view);
	put_text(out, "rule", alert->rule);
	put_text(out, "severity", severity_names[alert->severity]);
	api_put_wall(out, "started_ms", alert->started);
	api_put_wall(out, "ended_ms", alert->ended);
	alert_figures_put(out, &alert->figures, ALERT_NAMES_RAW);
	silence_put_brief(out, "silenced",
			  alert->ended.ms ? NULL : alerts_silence(call->api->silences, alert, call->now));
	api_put_bool(out, "pods_silenced", !alert->ended.ms && alert->figures.silenced);
	js_out_key(out, "route");
	if (alert->route >= 0)
		js_out_u64(out, (uint64_t)alert->route + 1);
	else
		js_out_null(out);
	put_deliveries(call, alert, counts);
	js_out_object_end(out);
}

static void put_total(struct js_out *out, const char *key, uint64_t total, bool limited)
{
	if (!limited) {
		api_put_u64(out, key, total);
		return;
	}
	js_out_key(out, key);
	js_out_null(out);
}

/* --- the list --------------------------------------------------------------------------------------------------- */

/*
 * Whoever is called by nobody sees that here, too. Who is limited to namespaces sees those that may be told of them, and
 * whether they are reached: how much others are told is theirs.
 */
static void put_receivers(struct js_out *out, const struct alerts_counts *counts, bool limited)
{
	js_out_key(out, "receivers");
	js_out_array(out);
	for (size_t i = 0; i < counts->n_receivers; i++) {
		const struct alerts_receiver_counts *receiver = &counts->receivers[i];
		const bool due = receiver->queue && !limited;
		if (!(counts->concerned & 1U << i))
			continue;
		js_out_object(out);
		put_text(out, "receiver", receiver->name);
		put_text(out, "type", receiver_type_names[receiver->type]);
		put_text(out, "state", receiver->failing ? "failing" : due ? "due" : "idle");
		put_total(out, "queue", receiver->queue, limited);
		put_total(out, "told", receiver->told_total, limited);
		put_total(out, "failed", receiver->failed_total, limited);
		put_total(out, "dropped", receiver->dropped_total, limited);
		put_text(out, "last_error", limited ? NULL : receiver->last_error);
		js_out_object_end(out);
	}
	js_out_array_end(out);
}

static void put_page(struct api_call *call, const struct alert **found, size_t n)
{
	struct alerts_counts counts;
	char next[24] = "";
	size_t shown = n < call->query.limit ? n : call->query.limit;
	alerts_count(call->api->alerts, &call->viewer, call->now, &counts);
	api_list_start(call);
	for (size_t i = 0; i < shown; i++)
		put_alert(call, found[i], &counts);
	js_out_array_end(&call->out);
	put_receivers(&call->out, &counts, call->viewer.n_namespaces != 0);
	if (n > shown)
		(void)snprintf(next, sizeof next, "%" PRId64, found[shown - 1]->row);
	put_text(&call->out, "next", next);
	js_out_object_end(&call->out);
	api_end(call);
}

/* An alert is of no pod: filters that ask for one would find nothing, and seem to say that all is well. */
static bool may_ask(struct api_call *call)
{
	const struct subject_filter *filter = &call->query.filter;
	if (!call->api->alerts)
		api_not_found(call);
	else if (filter->pod || filter->node || filter->container || filter->job || filter->has_role ||
		 filter->n_labels)
		api_error(call->reply, 400, "bad-parameter",
			  "alerts are of workloads: filter by cluster, namespace, workload, rule, severity, active");
	else
		return true;
	return false;
}

void api_alerts(struct api_call *call)
{
	int64_t below = 0;
	if (!may_ask(call))
		return;
	if (!api_cursor_row(call, &below))
		return;
	const struct alert_book *book = alerts_book(call->api->alerts);
	size_t all = book->n_active + book->n_ended, n = 0;
	auto_free const struct alert **found = calloc(all + 1, sizeof(struct alert *));
	if (!found) {
		api_failed(call->reply, &(struct err){ .kind = ERR_NOMEM, .message = "no memory for a list" });
		return;
	}
	for (size_t i = 0; i < all; i++) {
		const struct alert *alert = i < book->n_active ? book->active[i] : book->ended[i - book->n_active];
		if (is_asked_for(call, alert, below))
			found[n++] = alert;
	}
	qsort(found, n, sizeof(struct alert *), newest_first);
	put_page(call, found, n);
}
