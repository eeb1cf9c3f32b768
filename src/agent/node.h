/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `bankfull agent --node`: one agent for the pods of a node. It looks for JVMs that run an engine in a pod, and keeps an
 * agent of its own (this program with --in-pod) for each: what one of them reads, holds or loses is no other's. An agent
 * runs as its JVM's user with no capability, as a sidecar does, where that lets it see the JVM. docs/node.md is its manual.
 */
#ifndef AGENT_NODE_H
#define AGENT_NODE_H

#include "base/err.h"
#include "config/agentconf.h"
#include "sys/logger.h"

/* What this program was called with, for those that it starts. */
struct node_call {
	int argc;
	char **argv; /* argv[0] is "agent" */
	char *const *environment;
};

/* Runs until SIGTERM or SIGINT. An error means that it could not start at all. */
int node_run(const struct agentconf *conf, const struct node_call *call, struct logger *log, const char *version,
	     struct err *err) __attribute__((warn_unused_result));

#endif
