/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is called, and of what: the section `alerts` of the collector's file. docs/alerts.md is its manual.
 *
 *     alerts:
 *       receivers:
 *         - name: oncall
 *           type: alertmanager              or webhook
 *           url: https://alertmanager:9093
 *           token-file: /etc/bankfull/am.token
 *           ca-file: /etc/bankfull/ca.crt
 *           timeout: 10s
 *           send-resolved: true
 *           watchdog: true
 *       routes:                             the first that matches decides
 *         - namespace: batch-*
 *           severity: critical              at least; left out: warning
 *           receivers: [oncall]             []: nobody is told
 *       default: [oncall]                   where no route matches, warnings and above; left out: all receivers
 *       labels: { team: streaming }
 *       title: "{{rule}} at {{workload}}"
 *       description: "{{title}}"
 *       group-wait: 10s
 *       hold: 5m
 *       repeat: 12h                         of webhooks: Alertmanager repeats by itself
 *
 * Pure but for the check of URLs. What is wrong is refused whole, with "FILE:LINE: what, and what to do".
 */
#ifndef CONFIG_ALERTCONF_H
#define CONFIG_ALERTCONF_H

#include "bankfull/finding.h"
#include "bankfull/subject.h"
#include "config/alerttext.h"
#include "data/yml.h"

enum {
	ALERT_RECEIVERS_MAX = 16, /* one bit each in a route */
	ALERT_ROUTES_MAX = 64,
	ALERT_LABELS_MAX = 16,
	ALERT_NAME_CAP = 64,
	ALERT_URL_CAP = 1024,
	ALERT_PATH_CAP = 512,
	ALERT_VALUE_CAP = 128,
};

enum receiver_type { RECEIVER_ALERTMANAGER = 0, RECEIVER_WEBHOOK, RECEIVER_TYPE_COUNT };
extern const char *const receiver_type_names[RECEIVER_TYPE_COUNT];

struct alert_receiver {
	char name[ALERT_NAME_CAP];
	enum receiver_type type;
	char url[ALERT_URL_CAP]; /* Alertmanager's is its base: /api/v2/alerts comes behind it */
	char token_file[ALERT_PATH_CAP], ca_file[ALERT_PATH_CAP]; /* "": none; read at each sending */
	uint32_t timeout_ms;
	bool send_resolved, watchdog;
};

struct alert_route {
	char cluster[ALERT_VALUE_CAP], namespace_[64], workload[WIRE_NAME_CAP], rule[ALERT_NAME_CAP]; /* "": all */
	enum severity least;
	uint32_t receivers; /* one bit each; 0: nobody is told */
};

struct alertconf {
	size_t n_receivers, n_routes, n_labels;
	struct alert_receiver receivers[ALERT_RECEIVERS_MAX];
	struct alert_route routes[ALERT_ROUTES_MAX];
	uint32_t default_receivers;
	struct alert_label {
		char name[ALERT_NAME_CAP], value[ALERT_VALUE_CAP];
	} labels[ALERT_LABELS_MAX];
	char title[ALERTTEXT_CAP], description[ALERTTEXT_CAP]; /* of known names alone */
	uint64_t group_wait_ms, hold_ms, repeat_ms;            /* repeat_ms 0: a webhook is told once */
};

/* Does the key belong to this section? */
bool alertconf_is_key(struct str key);

/*
 * `alertmanager`: of --alertmanager, or NULL: one more receiver of that name and address. `*ret_conf` is never NULL:
 * with nothing configured it has no receivers. Owned: alertconf_free().
 */
int alertconf_parse(const struct yml *yml, const char *name, const char *alertmanager, struct alertconf **ret_conf,
		    struct err *err) __attribute__((warn_unused_result));
void alertconf_free(struct alertconf *conf); /* NULL is fine */

/* What an alert is by, for routes. */
struct alert_subject {
	const char *cluster, *namespace_, *workload, *rule;
	enum severity severity;
};
/* Who is told of it, one bit each. `*ret_route` is the route that decided, -1: the default. */
uint32_t alertconf_route(const struct alertconf *conf, const struct alert_subject *subject, int *ret_route);
/* Who may be told of something in this namespace: by a route that may match there, or by default. */
uint32_t alertconf_reach(const struct alertconf *conf, const char *namespace_);
/* The least severity that anybody may be told of; never above warning. */
enum severity alertconf_least(const struct alertconf *conf);

#endif
