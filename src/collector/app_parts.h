/* SPDX-License-Identifier: Apache-2.0 */
/* What app.c, app_start.c and route.c share. */
#ifndef COLLECTOR_APP_PARTS_H
#define COLLECTOR_APP_PARTS_H

#include "collector/alerts.h"
#include "collector/api.h"
#include "collector/app.h"
#include "collector/kube_view.h"
#include "collector/listen.h"
#include "collector/live.h"
#include "collector/own_rules.h"
#include "collector/web.h"

struct app {
	const struct collectorconf *conf;
	struct logger *log;
	struct listen_plan plan;
	struct loop *loop;
	struct store *store;
	struct fleet *fleet;
	struct own_rules *rules;
	struct silences *silences;
	struct alerts *alerts;
	struct auth *auth;
	struct ingest *ingest;
	struct live *live;
	struct kube_view *kube; /* NULL: Kubernetes is not asked */
	struct server *server;
	struct web web;
	struct api api;
	struct loop_timer *step_timer, *drain_timer;
	struct mono rules_due, keep_due, leaf_due, drain_until;
	unsigned generation; /* of agents' tokens, when sessions were last held against them */
	bool draining, clock_suspect;
};

/* Subprotocols, in the order in which the server has them. */
enum { ROUTE_AGENTS = 0, ROUTE_LIVE, ROUTE_PROTOCOL_COUNT };

/* route.c: requests and upgrades of all listeners; their context is the app. */
extern const struct server_events route_events;

/* app_start.c: all of it, or what was made until it failed. */
int app_start(struct app *app, const char *version, struct err *err) __attribute__((warn_unused_result));
/* app.c */
int app_timers(struct app *app, struct err *err) __attribute__((warn_unused_result));
void app_complain(struct app *app, const char *event, const char *what, const struct err *err);

#endif
