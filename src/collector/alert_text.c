/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/alert_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/date.h"
#include "base/esc.h"
#include "base/units.h"
#include "collector/alert_figures.h"
#include "collector/api_parts.h"
#include "data/js.h"

enum { WORST_CAP = 2048, LINK_CAP = ALERT_URL_CAP + 2048 };

/* All that is said of one alert, ready to be written. */
struct said {
	const struct alert *alert;
	char name[ALERT_NAME_CAP + 16], namespace_[ALERT_SHOWN_CAP], workload[ALERT_SHOWN_CAP];
	char rule[ALERT_SHOWN_CAP], cluster[ALERT_SHOWN_CAP];
	char title[ALERT_SHOWN_CAP], worst[WORST_CAP], pods[16], workload_pods[16], started[DATE_TEXT_CAP];
	char runbook[LINK_CAP], dashboard[LINK_CAP];
	const char *owner;
};

/* --- values ---------------------------------------------------------------------------------------------------- */

void alert_url(const struct alert_receiver *receiver, char *dest, size_t cap)
{
	size_t len = strlen(receiver->url);
	while (len > 0 && receiver->url[len - 1] == '/')
		len--;
	(void)snprintf(dest, cap, "%.*s/api/v2/alerts", (int)len, receiver->url);
}

const char *alert_name_of(char dest[ALERT_NAME_CAP + 16], const char *rule)
{
	size_t len = (size_t)snprintf(dest, ALERT_NAME_CAP + 16, "Bankfull");
	bool up = true;
	for (const char *c = rule; *c && len < ALERT_NAME_CAP + 15; c++) {
		bool plain = isascii((unsigned char)*c) && isalnum((unsigned char)*c);
		if (plain)
			dest[len++] = (char)(up ? toupper((unsigned char)*c) : *c);
		up = !plain;
	}
	dest[len] = '\0';
	return dest;
}

static void say_worst(const struct alert_figures *figures, char dest[WORST_CAP])
{
	size_t len = 0;
	dest[0] = '\0';
	for (size_t i = 0; i < figures->n_worst && len < WORST_CAP; i++) {
		const struct alert_worst *worst = &figures->worst[i];
		char pod[ALERT_SHOWN_CAP], left[UNITS_TEXT_CAP];
		(void)esc_copy(pod, sizeof pod, str_of(worst->pod));
		int n = snprintf(dest + len, WORST_CAP - len, "%s%s (%s%s%s)", i ? ", " : "", pod,
				 severity_names[worst->severity], worst->freeboard_bytes.known ? ", freeboard " : "",
				 worst->freeboard_bytes.known ? units_format_signed(left, worst->freeboard_bytes.bytes)
							      : "");
		len += n > 0 ? (size_t)n : 0;
	}
	if (figures->n_pods > figures->n_worst && len < WORST_CAP)
		(void)snprintf(dest + len, WORST_CAP - len, " and %u more", figures->n_pods - figures->n_worst);
}

/* Names of rules are the agents' words too: one that would need quoting in a path has no page. */
static bool has_page(const char *rule)
{
	return rule[0] && rule[strspn(rule, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

static void say_links(const struct alert_origin *origin, const struct alert *alert, struct said *said)
{
	auto_buf struct buf id = { .cap = LINK_CAP };
	size_t len = strlen(origin->public_url);
	if (len == 0)
		return;
	while (len > 0 && origin->public_url[len - 1] == '/')
		len--;
	if (has_page(alert->rule))
		(void)snprintf(said->runbook, sizeof said->runbook, "%.*s/docs/rules/%s", (int)len, origin->public_url,
			       alert->rule);
	/* What the collector finds about itself belongs to no workload: its alerts have a page of their own. */
	if (strcmp(alert->workload, ALERT_OWN_WORKLOAD) == 0 && !alert->namespace_[0])
		(void)snprintf(said->dashboard, sizeof said->dashboard, "%.*s/#/alerts", (int)len, origin->public_url);
	else if (api_workload_id(&id, alert->cluster, alert->namespace_, alert->workload))
		(void)snprintf(said->dashboard, sizeof said->dashboard, "%.*s/#/workloads/%s", (int)len,
			       origin->public_url, id.ptr);
}

static void say(const struct alert_origin *origin, const struct alert *alert, struct said *said)
{
	const struct alert_figures *figures = &alert->figures;
	*said = (struct said){ .alert = alert, .owner = "none" };
	(void)alert_name_of(said->name, alert->rule);
	(void)esc_copy(said->cluster, sizeof said->cluster, str_of(alert->cluster));
	(void)esc_copy(said->namespace_, sizeof said->namespace_, str_of(alert->namespace_));
	(void)esc_copy(said->workload, sizeof said->workload, str_of(alert->workload));
	(void)esc_copy(said->rule, sizeof said->rule, str_of(alert->rule));
	(void)esc_copy(said->title, sizeof said->title, str_of(figures->title));
	say_worst(figures, said->worst);
	(void)snprintf(said->pods, sizeof said->pods, "%u", figures->n_pods);
	(void)snprintf(said->workload_pods, sizeof said->workload_pods, "%u", figures->n_workload_pods);
	(void)date_format_instant(said->started, alert->started.ms);
	if (figures->owner >= 0 && figures->owner < OWNER_COUNT)
		said->owner = owner_table[figures->owner].name;
	say_links(origin, alert, said);
}

static void fill(const struct said *said, const char *text, size_t most, char *dest)
{
	const char *const values[ALERT_FIELD_COUNT] = {
		[ALERT_FIELD_CLUSTER] = said->cluster,
		[ALERT_FIELD_NAMESPACE] = said->namespace_,
		[ALERT_FIELD_WORKLOAD] = said->workload,
		[ALERT_FIELD_RULE] = said->rule,
		[ALERT_FIELD_SEVERITY] = severity_names[said->alert->severity],
		[ALERT_FIELD_PODS] = said->pods,
		[ALERT_FIELD_WORKLOAD_PODS] = said->workload_pods,
		[ALERT_FIELD_TITLE] = said->title,
		[ALERT_FIELD_WORST] = said->worst,
		[ALERT_FIELD_OWNER] = said->owner,
		[ALERT_FIELD_STARTED] = said->started,
		[ALERT_FIELD_RUNBOOK_URL] = said->runbook,
		[ALERT_FIELD_DASHBOARD_URL] = said->dashboard,
	};
	/* A text may name its values often: what passes the room is cut, between two characters. */
	auto_buf struct buf whole = { .cap = 64 * 1024 };
	alerttext_render(text, values, &whole);
	str_copy(dest, most, esc_utf8_cut(buf_str(&whole), most));
}

/* --- members ---------------------------------------------------------------------------------------------------- */

static void put(struct js_out *out, const char *key, const char *text)
{
	if (!text[0])
		return; /* an empty label is none, and an empty annotation says nothing */
	js_out_key(out, key);
	js_out_text(out, text);
}

static void put_instant(struct js_out *out, const char *key, struct wall at)
{
	char text[DATE_TEXT_CAP];
	js_out_key(out, key);
	js_out_text(out, date_format_instant(text, at.ms));
}

static void put_external(struct js_out *out, const struct alertconf *conf)
{
	for (size_t i = 0; i < conf->n_labels; i++) {
		char value[ALERT_SHOWN_CAP];
		put(out, conf->labels[i].name, esc_copy(value, sizeof value, str_of(conf->labels[i].value)));
	}
}

/* What it is, and nothing that changes while it lasts. */
static void put_labels(struct js_out *out, const struct alert_origin *origin, const struct said *said)
{
	js_out_key(out, "labels");
	js_out_object(out);
	put(out, "alertname", said->name);
	put(out, "cluster", said->cluster);
	put(out, "namespace", said->namespace_);
	put(out, "workload", said->workload);
	put(out, "rule", said->rule);
	put(out, "severity", severity_names[said->alert->severity]);
	put_external(out, origin->conf);
	js_out_object_end(out);
}

static void put_annotations(struct js_out *out, const struct alert_origin *origin, const struct said *said)
{
	char title[ALERT_TITLE_MAX], description[ALERT_DESCRIPTION_MAX];
	fill(said, origin->conf->title, sizeof title, title);
	fill(said, origin->conf->description, sizeof description, description);
	js_out_key(out, "annotations");
	js_out_object(out);
	put(out, "title", title);
	put(out, "description", description);
	put(out, "pods", said->pods);
	put(out, "worst_pods", said->worst);
	put(out, "runbook_url", said->runbook);
	put(out, "dashboard_url", said->dashboard);
	js_out_object_end(out);
}

/* --- Alertmanager ------------------------------------------------------------------------------------------------ */

/* It takes no end before the start: a clock that was set back must not make an alert one that it refuses. */
static void put_times(struct js_out *out, struct wall started, struct wall ends)
{
	put_instant(out, "startsAt", started.ms < ends.ms ? started : ends);
	put_instant(out, "endsAt", ends);
}

static void put_alert(struct js_out *out, const struct alert_origin *origin, const struct alert_item *item,
		      struct wall now)
{
	struct said said;
	say(origin, item->alert, &said);
	js_out_object(out);
	put_labels(out, origin, &said);
	put_annotations(out, origin, &said);
	put_times(out, item->alert->started,
		  item->edge == ALERT_EDGE_RESOLVED ? item->alert->ended : (struct wall){ now.ms + ALERT_LIFE_MS });
	put(out, "generatorURL", said.dashboard);
	js_out_object_end(out);
}

static void put_watchdog(struct js_out *out, const struct alert_origin *origin, struct wall now)
{
	char cluster[ALERT_SHOWN_CAP];
	js_out_object(out);
	js_out_key(out, "labels");
	js_out_object(out);
	put(out, "alertname", ALERT_WATCHDOG);
	put(out, "cluster", esc_copy(cluster, sizeof cluster, str_of(origin->cluster)));
	put(out, "severity", "none");
	put_external(out, origin->conf);
	js_out_object_end(out);
	js_out_key(out, "annotations");
	js_out_object(out);
	put(out, "title", "the way from Bankfull to whoever is called works");
	put(out, "description",
	    "This alert always fires. Where it stops, nobody is called by Bankfull any more: make that what calls somebody.");
	js_out_object_end(out);
	put_times(out, now, (struct wall){ now.ms + ALERT_LIFE_MS });
	js_out_object_end(out);
}

int alert_encode_batch(const struct alert_origin *origin, const struct alert_item *items, size_t n, bool watchdog,
		       struct wall now, struct buf *out, struct err *err)
{
	struct js_out js;
	js_out_start(&js, out, 0);
	js_out_array(&js);
	for (size_t i = 0; i < n; i++)
		put_alert(&js, origin, &items[i], now);
	if (watchdog)
		put_watchdog(&js, origin, now);
	js_out_array_end(&js);
	return js_out_end(&js, err);
}

/* --- CloudEvents -------------------------------------------------------------------------------------------------- */

/* `source` is a URI-reference (RFC 3986): of the cluster's name only what may stand in one. */
static void put_source(struct js_out *out, const struct alert_origin *origin)
{
	char source[ALERT_URL_CAP] = "/bankfull/";
	size_t len = strlen(source);
	for (const char *c = origin->cluster; *c && len < sizeof source - 1; c++)
		source[len++] = (char)(isalnum((unsigned char)*c) || strchr("-._~", *c) ? *c : '-');
	source[len] = '\0';
	put(out, "source", origin->public_url[0] ? origin->public_url : source);
}

static void put_event(struct js_out *out, const struct alert_origin *origin, const char *id, const char *type,
		      struct wall at)
{
	put(out, "specversion", "1.0");
	put(out, "id", id);
	put_source(out, origin);
	put(out, "type", type);
	put_instant(out, "time", at);
	put(out, "datacontenttype", "application/json");
}

static void put_data(struct js_out *out, const struct alert_origin *origin, const struct said *said,
		     const struct alert_item *item, uint32_t repeats)
{
	const struct alert *alert = item->alert;
	js_out_key(out, "data");
	js_out_object(out);
	api_put_id(out, "alert", alert->row);
	put(out, "state", item->edge == ALERT_EDGE_RESOLVED ? "resolved" : "firing");
	put_labels(out, origin, said);
	put_annotations(out, origin, said);
	js_out_key(out, "started_ms");
	js_out_i64(out, alert->started.ms);
	api_put_wall(out, "ended_ms", alert->ended);
	api_put_u64(out, "repeats", repeats);
	js_out_key(out, "figures");
	js_out_object(out);
	alert_figures_put(out, &alert->figures, ALERT_NAMES_ESCAPED);
	js_out_object_end(out);
	js_out_object_end(out);
}

int alert_encode_event(const struct alert_origin *origin, unsigned receiver, const struct alert_item *item,
		       struct wall now, struct buf *out, struct err *err)
{
	const struct alert *alert = item->alert;
	bool resolved = item->edge == ALERT_EDGE_RESOLVED;
	uint32_t repeats = alert->deliveries[receiver].repeats + (item->again ? 1 : 0);
	struct said said;
	struct js_out js;
	char id[96], subject[3 * ALERT_SHOWN_CAP + 8];
	say(origin, alert, &said);
	/* A row may be another one's in another database; with its start it is this one's alone. */
	(void)snprintf(id, sizeof id, "%" PRId64 "-%" PRId64 "-%s", alert->started.ms, alert->row,
		       resolved ? "resolved" : "firing");
	if (item->again)
		(void)snprintf(id + strlen(id), sizeof id - strlen(id), "-%" PRIu32, repeats);
	(void)snprintf(subject, sizeof subject, "%s/%s/%s", said.namespace_, said.workload, said.rule);
	js_out_start(&js, out, 0);
	js_out_object(&js);
	put_event(&js, origin, id, resolved ? "io.bankfull.alert.resolved" : "io.bankfull.alert.firing",
		  resolved      ? alert->ended
		  : item->again ? now
				: alert->started);
	put(&js, "subject", subject);
	put_data(&js, origin, &said, item, repeats);
	js_out_object_end(&js);
	return js_out_end(&js, err);
}

int alert_encode_watchdog(const struct alert_origin *origin, struct wall now, struct buf *out, struct err *err)
{
	struct js_out js;
	char id[48];
	(void)snprintf(id, sizeof id, "watchdog-%" PRId64, now.ms);
	js_out_start(&js, out, 0);
	js_out_object(&js);
	put_event(&js, origin, id, "io.bankfull.watchdog", now);
	js_out_object_end(&js);
	return js_out_end(&js, err);
}
