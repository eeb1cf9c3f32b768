/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP API under /api/v1 (docs/openapi.json), /metrics, /healthz, /readyz. Reads the fleet and the store;
 * what it writes are silences, which operators make.
 */
#ifndef COLLECTOR_API_H
#define COLLECTOR_API_H

#include "collector/alerts.h"
#include "collector/auth.h"
#include "collector/fleet.h"
#include "collector/ingest.h"
#include "collector/live.h"
#include "collector/silences.h"
#include "collector/store_read.h"
#include "collector/web.h"
#include "net/server.h"

struct api {
	const struct fleet *fleet;
	struct store *store;
	struct auth *auth;
	struct ingest *ingest;
	struct alerts *alerts;     /* NULL: nobody is called */
	struct kube_view *kube;    /* NULL: Kubernetes is not asked */
	struct silences *silences; /* NULL: none are made, and none hold */
	const struct web *web;     /* NULL: nothing is written */
	const struct live *live;   /* NULL: nobody watches */
	const struct server *server;
	const char *version, *cluster;
	struct wall started;
	bool ready; /* the store is open and the last commit did not fail */
};

/* What a listener serves: those of agents nothing of this, those of metrics no API. */
enum api_surface { API_ALL, API_METRICS };

void api_request(struct api *api, enum api_surface surface, const struct server_request *request, struct wall now,
		 struct server_reply *reply);

#endif
