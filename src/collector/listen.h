/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which listener serves whom, and whether it may: PURE. Beyond loopback a listener of agents needs TLS and one way to
 * know an agent, one of people TLS and their tokens, unless --insecure is said. That of metrics has neither: it shows
 * no pod, and probes and scrapers have no credentials.
 */
#ifndef COLLECTOR_LISTEN_H
#define COLLECTOR_LISTEN_H

#include "config/collectorconf.h"
#include "config/setting_value.h"
#include "net/server.h"

enum { LISTEN_AGENTS = 1 << 0, LISTEN_API = 1 << 1, LISTEN_METRICS = 1 << 2 };

struct listen_plan {
	struct {
		const char *name;
		char address[LISTEN_ADDRESS_CAP];
		uint16_t port;
		unsigned serves;
		bool loopback;
	} listeners[SERVER_LISTENERS_MAX];
	size_t n;
	bool open_agents, open_viewers; /* no credentials are configured for them */
};

/* USAGE: an address that is none, or what must be added for it. */
int listen_plan(const struct collectorconf *conf, struct listen_plan *ret_plan, struct err *err)
	__attribute__((warn_unused_result));

/* "localhost" or an address, with or without a port: what a browser sends that was not led here by a name of its page. */
bool listen_host_is_address(struct str host);

#endif
