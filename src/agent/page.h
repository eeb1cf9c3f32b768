/* SPDX-License-Identifier: Apache-2.0 */
/* Where an agent's own pages are served: /metrics, /healthz, /readyz. A port that is taken degrades. */
#ifndef AGENT_PAGE_H
#define AGENT_PAGE_H

#include "net/server.h"
#include "sys/logger.h"

enum { PAGE_LISTEN_AGAIN_MS = 60000 };

/* `said` is --listen: NULL, "off" or ADDRESS:PORT. False: the port is taken, it has been said, and it is to be tried again. */
bool page_listen(struct loop *loop, const char *said, const struct server_events *events, void *context,
		 struct logger *log, struct server **ret_server);

#endif
