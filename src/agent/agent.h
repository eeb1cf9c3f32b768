/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon: watches one JVM for as long as both live, through restarts of the JVM. docs/agent.md is its manual.
 *
 * One thread, one loop. At each tick the kept files are read into the same snapshot, the books are aged or, at a scan,
 * closed; rules speak, edges of findings and the sample go to the outbox. What may hang runs in a child (slow.h), what
 * holds up the JVM on a budget (budget.h). In steady state a tick allocates nothing of ours.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "base/err.h"
#include "config/agentconf.h"

struct logger;

/* Runs until SIGTERM or SIGINT. An error means that it could not start at all: no memory, no event loop. */
int agent_run(const struct agentconf *conf, struct logger *log, const char *version, struct err *err)
	__attribute__((warn_unused_result));

#endif
