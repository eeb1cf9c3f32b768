/* SPDX-License-Identifier: Apache-2.0 */
#include "config/alertconf.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/typo.h"
#include "config/alertvalue.h"
#include "net/http.h"
#include "rules/collector_rules.h"
#include "rules/rules.h"

enum {
	TIMEOUT_MS = 10000,
	TIMEOUT_LEAST_MS = 100,
	TIMEOUT_MOST_MS = 60000,
	GROUP_WAIT_MS = 10000,
	GROUP_WAIT_MOST_MS = 600000,
	HOLD_MS = 300000, /* two scans of a busy JVM: a finding that is back by then is the same trouble */
	HOLD_MOST_MS = 3600000,
	REPEAT_LEAST_MS = 300000,
	REPEAT_MOST_MS = 7 * 86400000,
};

#define DEFAULT_TITLE       "{{severity}}: {{rule}} at {{workload}}, {{pods}} of {{workload_pods}} pods"
#define DEFAULT_DESCRIPTION "{{title}}\n{{worst}}"

const char *const receiver_type_names[RECEIVER_TYPE_COUNT] = { "alertmanager", "webhook" };

/* What is given by name is resolved when all names are known. */
struct reading {
	const struct yml *yml;
	const char *name;
	struct alertconf *conf;
	unsigned receiver_lines[ALERT_RECEIVERS_MAX], route_lines[ALERT_ROUTES_MAX];
	bool typed[ALERT_RECEIVERS_MAX], watchdog_said[ALERT_RECEIVERS_MAX], default_said;
};

bool alertconf_is_key(struct str key)
{
	return str_take(&key, STR("alerts")) && (key.len == 0 || key.ptr[0] == '.' || key.ptr[0] == '[');
}

/* --- one receiver, one route, one label ---------------------------------------------------------------------- */

static int take_name(struct str value, char *dest, struct err *err)
{
	int rc = value_text("name", value, dest, ALERT_NAME_CAP, err);
	for (size_t i = 0; rc == 0 && i < value.len; i++) {
		char c = value.ptr[i];
		bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
			    c == '_' || c == '.';
		if (!good)
			rc = err_set(err, ERR_USAGE, "name: letters, digits, '-', '_' and '.'");
	}
	return rc;
}

static int take_url(struct str value, char *dest, struct err *err)
{
	int rc = value_text("url", value, dest, ALERT_URL_CAP, err);
	if (rc == 0)
		rc = http_url_check(dest, false, err);
	if (rc < 0)
		err_wrap(err, "url");
	return rc;
}

/* "/api/v2/alerts" is put behind it. */
static int check_base(const char *url, struct err *err)
{
	return strpbrk(url, "?#") ? err_set(err, ERR_USAGE,
					    "url: Alertmanager's is its base, without a '?' or '#': http://HOST:9093")
				  : 0;
}

static int take_type(struct str value, enum receiver_type *dest, struct err *err)
{
	for (unsigned i = 0; i < RECEIVER_TYPE_COUNT; i++) {
		if (!str_eq(value, str_of(receiver_type_names[i])))
			continue;
		*dest = (enum receiver_type)i;
		return 0;
	}
	return err_set(err, ERR_USAGE, "type: alertmanager or webhook");
}

static int receiver_key(struct reading *r, size_t i, struct str key, struct str value, struct err *err)
{
	static const char *const names[] = { "name",    "type",          "url",      "token-file", "ca-file",
					     "timeout", "send-resolved", "watchdog", NULL };
	struct alert_receiver *receiver = &r->conf->receivers[i];
	uint64_t ms = receiver->timeout_ms;
	if (str_eq(key, STR("name")))
		return take_name(value, receiver->name, err);
	if (str_eq(key, STR("type"))) {
		r->typed[i] = true;
		return take_type(value, &receiver->type, err);
	}
	if (str_eq(key, STR("url")))
		return take_url(value, receiver->url, err);
	if (str_eq(key, STR("token-file")))
		return value_text("token-file", value, receiver->token_file, ALERT_PATH_CAP, err);
	if (str_eq(key, STR("ca-file")))
		return value_text("ca-file", value, receiver->ca_file, ALERT_PATH_CAP, err);
	if (str_eq(key, STR("send-resolved")))
		return value_bool("send-resolved", value, &receiver->send_resolved, err);
	if (str_eq(key, STR("watchdog"))) {
		r->watchdog_said[i] = true;
		return value_bool("watchdog", value, &receiver->watchdog, err);
	}
	if (str_eq(key, STR("token")) || str_eq(key, STR("password")))
		return err_set(err, ERR_USAGE, "secrets come from files: name one with token-file");
	if (!str_eq(key, STR("timeout")))
		return value_unknown(key, "a receiver", names, err);
	int rc = value_ms("timeout", value, TIMEOUT_LEAST_MS, TIMEOUT_MOST_MS, &ms, err);
	receiver->timeout_ms = (uint32_t)ms;
	return rc;
}

static bool is_pattern(const char *text)
{
	return strpbrk(text, "*?[") != NULL;
}

/* A misspelt rule would silently match nothing. */
static int take_rule(struct str value, char *dest, struct err *err)
{
	int rc = value_text("rule", value, dest, ALERT_NAME_CAP, err);
	if (rc < 0 || is_pattern(dest) || rules_find(value) || collector_rule_find(value))
		return rc;
	return err_set(err, ERR_USAGE, "there is no rule '%s': 'bankfull rules' lists them; * stands for any", dest);
}

/* "receivers[2]" is no index here: they are read when all receivers are known. */
static int route_key(struct reading *r, size_t i, struct str key, const struct yml_entry *entry, struct err *err)
{
	static const char *const names[] = {
		"cluster", "namespace", "workload", "rule", "severity", "receivers", NULL
	};
	struct alert_route *route = &r->conf->routes[i];
	struct str value = entry->value;
	if (str_eq(key, STR("cluster")))
		return value_text("cluster", value, route->cluster, sizeof route->cluster, err);
	if (str_eq(key, STR("namespace")))
		return value_text("namespace", value, route->namespace_, sizeof route->namespace_, err);
	if (str_eq(key, STR("workload")))
		return value_text("workload", value, route->workload, sizeof route->workload, err);
	if (str_eq(key, STR("rule")))
		return take_rule(value, route->rule, err);
	if (str_eq(key, STR("severity")))
		return value_severity(value, &route->least, err);
	return str_take(&key, STR("receivers")) && (key.len == 0 || key.ptr[0] == '[')
		       ? 0
		       : value_unknown(key, "a route", names, err);
}

static bool is_label_name(struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
		if (!letter && !(i > 0 && c >= '0' && c <= '9'))
			return false;
	}
	return name.len > 0 && name.len < ALERT_NAME_CAP;
}

static int label_key(struct reading *r, struct str key, struct str value, struct err *err)
{
	static const char *const ours[] = { "alertname", "cluster", "namespace", "workload", "rule", "severity" };
	if (!is_label_name(key))
		return err_set(err, ERR_USAGE, "labels: a name of letters, digits and '_', as Prometheus has them");
	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
		if (str_eq(key, str_of(ours[i])))
			return err_set(err, ERR_USAGE, "labels: '%s' is one that each alert has by itself", ours[i]);
	if (r->conf->n_labels == ALERT_LABELS_MAX)
		return err_set(err, ERR_USAGE, "labels: more than %d", ALERT_LABELS_MAX);
	struct alert_label *label = &r->conf->labels[r->conf->n_labels++];
	str_copy(label->name, sizeof label->name, key);
	return value_text("labels", value, label->value, sizeof label->value, err);
}

/* --- the section ----------------------------------------------------------------------------------------------- */

static int template_key(const char *key, struct str value, char dest[ALERTTEXT_CAP], struct err *err)
{
	int rc = alerttext_check(value, err);
	if (rc < 0)
		err_wrap(err, "%s", key);
	else
		str_copy(dest, ALERTTEXT_CAP, value);
	return rc;
}

static int plain_key(struct reading *r, struct str key, const struct yml_entry *entry, struct err *err)
{
	static const char *const names[] = { "receivers",   "routes",     "default", "labels", "title",
					     "description", "group-wait", "hold",    "repeat", NULL };
	struct alertconf *conf = r->conf;
	if (str_eq(key, STR("title")))
		return template_key("title", entry->value, conf->title, err);
	if (str_eq(key, STR("description")))
		return template_key("description", entry->value, conf->description, err);
	if (str_eq(key, STR("group-wait")))
		return value_ms("group-wait", entry->value, 0, GROUP_WAIT_MOST_MS, &conf->group_wait_ms, err);
	if (str_eq(key, STR("hold")))
		return value_ms("hold", entry->value, 0, HOLD_MOST_MS, &conf->hold_ms, err);
	if (str_eq(key, STR("repeat")))
		return value_ms("repeat", entry->value, REPEAT_LEAST_MS, REPEAT_MOST_MS, &conf->repeat_ms, err);
	if (entry->empty && (str_eq(key, STR("receivers")) || str_eq(key, STR("routes")) || str_eq(key, STR("labels"))))
		return 0;
	r->default_said = true;
	if (str_take(&key, STR("default")) && (key.len == 0 || key.ptr[0] == '['))
		return 0;
	return value_unknown(key, "alerts", names, err);
}

/* "receivers[2].url" is 2 and "url". */
static bool split(struct str *key, struct str list, uint64_t *ret_index)
{
	struct str rest = *key;
	if (!str_take(&rest, list) || !str_take(&rest, STR("[")) || !str_u64(&rest, ret_index) ||
	    !str_take(&rest, STR("].")))
		return false;
	*key = rest;
	return true;
}

static int take_entry(struct reading *r, const struct yml_entry *entry, struct err *err)
{
	struct str key = entry->key;
	struct alertconf *conf = r->conf;
	uint64_t i;
	if (!str_take(&key, STR("alerts.")))
		return entry->empty && str_eq(key, STR("alerts"))
			       ? 0
			       : err_set(err, ERR_USAGE,
					 "alerts has receivers, routes and more below it, and is no list");
	if (split(&key, STR("receivers"), &i)) {
		if (i >= ALERT_RECEIVERS_MAX)
			return err_set(err, ERR_USAGE, "more than %d receivers", ALERT_RECEIVERS_MAX);
		conf->n_receivers = i + 1;
		if (!r->receiver_lines[i])
			r->receiver_lines[i] = entry->line;
		return receiver_key(r, i, key, entry->value, err);
	}
	if (split(&key, STR("routes"), &i)) {
		if (i >= ALERT_ROUTES_MAX)
			return err_set(err, ERR_USAGE, "more than %d routes", ALERT_ROUTES_MAX);
		conf->n_routes = i + 1;
		if (!r->route_lines[i])
			r->route_lines[i] = entry->line;
		return route_key(r, i, key, entry, err);
	}
	return str_take(&key, STR("labels.")) ? label_key(r, key, entry->value, err) : plain_key(r, key, entry, err);
}

/* --- what refers to what ------------------------------------------------------------------------------------------ */

static int check_receiver(struct reading *r, size_t i, struct err *err)
{
	struct alert_receiver *receiver = &r->conf->receivers[i];
	if (!receiver->name[0] || !receiver->url[0] || !r->typed[i])
		return err_set(err, ERR_USAGE, "a receiver needs a name, a type (alertmanager or webhook) and a url");
	for (size_t k = 0; k < i; k++)
		if (strcmp(r->conf->receivers[k].name, receiver->name) == 0)
			return err_set(err, ERR_USAGE, "there is a receiver '%s' already", receiver->name);
	int rc = receiver->type == RECEIVER_ALERTMANAGER ? check_base(receiver->url, err) : 0;
	/* Alertmanager is where dead man's switches are made of it; a webhook would be a call each minute. */
	if (!r->watchdog_said[i])
		receiver->watchdog = receiver->type == RECEIVER_ALERTMANAGER;
	return rc;
}

static int refer(const struct alertconf *conf, struct str name, uint32_t *bits, struct err *err)
{
	char shown[ALERT_NAME_CAP], hint[TYPO_HINT_CAP];
	struct typo typo = { .said = name };
	for (size_t i = 0; i < conf->n_receivers; i++) {
		if (str_eq(name, str_of(conf->receivers[i].name))) {
			*bits |= 1U << i;
			return 0;
		}
		typo_offer(&typo, conf->receivers[i].name);
	}
	str_copy(shown, sizeof shown, name);
	return err_set(err, ERR_USAGE, "there is no receiver '%s'%s", shown, typo_hint(&typo, hint));
}

/* The lists of names: "alerts.default[0]", "alerts.routes[1].receivers[0]"; an empty list is nobody. */
static int resolve(struct reading *r, const struct yml_entry *entry, bool said[ALERT_ROUTES_MAX], struct err *err)
{
	struct str key = entry->key;
	uint32_t *bits = &r->conf->default_receivers;
	uint64_t i;
	(void)str_take(&key, STR("alerts."));
	if (split(&key, STR("routes"), &i)) {
		if (!str_take(&key, STR("receivers")))
			return 0;
		said[i] = true;
		bits = &r->conf->routes[i].receivers;
	} else if (!str_take(&key, STR("default"))) {
		return 0;
	}
	if (entry->empty)
		return 0;
	if (key.len == 0)
		return err_set(err, ERR_USAGE, "a list of names of receivers, such as [oncall]; [] is nobody");
	return refer(r->conf, entry->value, bits, err);
}

static int check(struct reading *r, struct err *err)
{
	bool said[ALERT_ROUTES_MAX] = { false };
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < r->conf->n_receivers; i++) {
		rc = check_receiver(r, i, err);
		if (rc < 0)
			err_wrap(err, "%s:%u", r->name, r->receiver_lines[i]);
	}
	for (size_t k = 0; rc == 0 && k < r->yml->n; k++) {
		if (!alertconf_is_key(r->yml->items[k].key))
			continue;
		rc = resolve(r, &r->yml->items[k], said, err);
		if (rc < 0)
			err_wrap(err, "%s:%u", r->name, r->yml->items[k].line);
	}
	for (size_t i = 0; rc == 0 && i < r->conf->n_routes; i++)
		if (!said[i])
			rc = err_set(err, ERR_USAGE, "%s:%u: a route needs receivers; [] where nobody is to be told",
				     r->name, r->route_lines[i]);
	return rc;
}

static int add_short_one(struct alertconf *conf, const char *url, struct err *err)
{
	if (conf->n_receivers == ALERT_RECEIVERS_MAX)
		return err_set(err, ERR_USAGE, "--alertmanager: there are %d receivers already", ALERT_RECEIVERS_MAX);
	for (size_t i = 0; i < conf->n_receivers; i++)
		if (strcmp(conf->receivers[i].name, "alertmanager") == 0)
			return err_set(err, ERR_USAGE, "--alertmanager: the file has a receiver of this name already");
	struct alert_receiver *receiver = &conf->receivers[conf->n_receivers];
	int rc = take_url(str_of(url), receiver->url, err);
	if (rc == 0)
		rc = check_base(receiver->url, err);
	if (rc < 0) {
		err_wrap(err, "--alertmanager");
		return rc;
	}
	str_copy(receiver->name, sizeof receiver->name, STR("alertmanager"));
	receiver->type = RECEIVER_ALERTMANAGER;
	receiver->watchdog = true;
	conf->default_receivers |= 1U << conf->n_receivers++;
	return 0;
}

static int parse(struct reading *r, const char *alertmanager, struct err *err)
{
	int rc = 0;
	for (size_t k = 0; rc == 0 && k < r->yml->n; k++) {
		const struct yml_entry *entry = &r->yml->items[k];
		if (!alertconf_is_key(entry->key))
			continue;
		rc = take_entry(r, entry, err);
		if (rc < 0)
			err_wrap(err, "%s:%u", r->name, entry->line);
	}
	if (rc == 0)
		rc = check(r, err);
	if (rc == 0 && !r->default_said)
		r->conf->default_receivers = (uint32_t)((UINT64_C(1) << r->conf->n_receivers) - 1);
	return rc == 0 && alertmanager ? add_short_one(r->conf, alertmanager, err) : rc;
}

int alertconf_parse(const struct yml *yml, const char *name, const char *alertmanager, struct alertconf **ret_conf,
		    struct err *err)
{
	struct alertconf *conf = calloc(1, sizeof *conf);
	if (!conf)
		return err_set(err, ERR_NOMEM, "%s: no memory", name);
	struct reading r = { .yml = yml, .name = name, .conf = conf };
	for (size_t i = 0; i < ALERT_RECEIVERS_MAX; i++) {
		conf->receivers[i].timeout_ms = TIMEOUT_MS;
		conf->receivers[i].send_resolved = true;
	}
	for (size_t i = 0; i < ALERT_ROUTES_MAX; i++)
		conf->routes[i].least = SEVERITY_WARNING;
	conf->group_wait_ms = GROUP_WAIT_MS;
	conf->hold_ms = HOLD_MS;
	str_copy(conf->title, sizeof conf->title, STR(DEFAULT_TITLE));
	str_copy(conf->description, sizeof conf->description, STR(DEFAULT_DESCRIPTION));
	int rc = parse(&r, alertmanager, err);
	if (rc < 0)
		alertconf_free(conf);
	else
		*ret_conf = conf;
	return rc;
}

void alertconf_free(struct alertconf *conf)
{
	free(conf);
}
