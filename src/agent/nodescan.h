/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Node mode's look at a node: the JVMs that run an engine in a pod, and what their pods are called. Only processes that
 * are young, or have not been looked at for a minute, are looked at; the mappings of those alone that are in a pod and may be a JVM.
 */
#ifndef AGENT_NODESCAN_H
#define AGENT_NODESCAN_H

#include "agent/nodebook.h"
#include "bankfull/process.h"

enum {
	NODE_JVMS_MAX = 256,
	NODE_YOUNG_MS = 60000, /* a shell becomes a JVM, a JVM maps RocksDB: looked at each time until then */
	NODE_LOOK_AGAIN_MS = 60000,
};

struct node_jvm {
	struct process_id id;
	struct node_pod pod;
};

struct node_other {
	int pid;
	struct mono again; /* not looked at before */
};

struct nodescan {
	int proc_fd;
	const char *logs; /* kernel/podlogs.h; NULL: no names by it */
	struct node_jvm jvms[NODE_JVMS_MAX];
	size_t n_jvms;
	size_t jvms_left_out; /* more than NODE_JVMS_MAX */
	struct node_other *others;
	size_t n_others;
	uint64_t processes, looked_total, looks_total, look_ns_total;
};

/* `proc` is "/proc", or a fixture's. */
int nodescan_init(struct nodescan *scan, const char *proc, const char *logs, struct err *err)
	__attribute__((warn_unused_result));
void nodescan_done(struct nodescan *scan);

/* `jvms` is of now after it. On an error it is as it was. */
int nodescan_run(struct nodescan *scan, struct mono now, struct err *err) __attribute__((warn_unused_result));

#endif
