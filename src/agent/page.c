/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/page.h"

#include <stdlib.h>

enum {
	DEFAULT_PORT = 9482,
	CONNECTIONS_MAX = 16, /* a scraper or two, and a probe */
};

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

bool page_listen(struct loop *loop, const char *said, const struct server_events *events, void *context,
		 struct logger *log, struct server **ret_server)
{
	char address[64] = "";
	struct err err = { 0 };
	uint16_t port = DEFAULT_PORT;
	if (said && strcmp(said, "off") == 0)
		return true;
	if (said && !take_address(said, address, sizeof address, &port))
		return true; /* the settings refuse it */
	/* In a pod Prometheus comes from elsewhere; on a machine only who asks for it opens a port to the world. */
	if (!said && !getenv("KUBERNETES_SERVICE_HOST"))
		str_copy(address, sizeof address, STR("127.0.0.1"));
	const struct server_options options = { .listeners = { { "metrics", address, port, { NULL, NULL, NULL } } },
						.n_listeners = 1,
						.max_connections = CONNECTIONS_MAX,
						.max_per_address = CONNECTIONS_MAX,
						.max_body = 1024 };
	if (server_new(loop, &options, events, context, ret_server, &err) == 0) {
		logger_say(log, SAY_INFO, "listening", "/metrics on port %u of %s", server_port(*ret_server, 0),
			   address[0] ? address : "all addresses");
		return true;
	}
	logger_say(log, SAY_WARNING, "listen-failed", "no /metrics: %s; tried again in a minute", err.message);
	return false;
}
