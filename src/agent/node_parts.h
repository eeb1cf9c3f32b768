/* SPDX-License-Identifier: Apache-2.0 */
/* The supervisor's state and the doors between its files. Internal to src/agent. */
#ifndef AGENT_NODE_PARTS_H
#define AGENT_NODE_PARTS_H

#include <stdio.h>

#include "agent/node.h"
#include "agent/nodechild.h"
#include "agent/nodescan.h"
#include "net/loop.h"
#include "net/server.h"

enum { NODE_SHOWN_CAP = 512 };

struct node {
	const struct agentconf *conf;
	const struct node_call *call;
	struct logger *log;
	const char *version;
	struct loop *loop;
	struct loop_timer *timer, *listen_timer;
	struct server *server;
	struct nodescan scan;
	struct nodebook book;
	bool looked; /* the last look at the processes succeeded */
	bool leaving;
	struct mono leave_at, ticked;
	struct wall started;
	uint64_t ticks_total;
};

/* node_page.c: /metrics, /healthz, /readyz of the supervisor. */
void node_listen(void *node);

#endif
