/* SPDX-License-Identifier: Apache-2.0 */
/* How node mode starts the agent of one pod: its arguments, its environment, as whom it runs. */
#ifndef AGENT_NODECHILD_H
#define AGENT_NODECHILD_H

#include "agent/node.h"
#include "agent/nodebook.h"
#include "bankfull/process.h"
#include "bankfull/quantity.h"

enum {
	NODE_ARGS_MAX = 192,
	/* An agent holds some 10 MiB; a scan of 64 MiB of smaps, its cap, beside its parsed form. */
	NODE_CHILD_DATA_BYTES = 256 << 20,
	NODE_CHILD_OOM_MORE = 500, /* before the supervisor, and before any of the node's own */
};

struct nodechild_args {
	const char *argv[NODE_ARGS_MAX + 1]; /* ends with NULL */
	const char **environment;            /* ends with NULL */
	char pod_limit[24], state_dir[512];
};
void nodechild_args_done(struct nodechild_args *args);

/* Pure. LIMIT: too many arguments. What is of the whole node is left out, what is of this pod is added. */
int nodechild_args(const struct agentconf *conf, const struct node_call *call, const struct node_pod *pod,
		   struct limit pod_limit, struct nodechild_args *ret_args, struct err *err)
	__attribute__((warn_unused_result));

/*
 * Pure. As whom the JVM may be seen with no capability: as itself. False where that does not do: it is root's, it holds
 * capabilities, or it is of another user namespace; then as we are.
 */
bool nodechild_ids(const struct process_status *jvm, bool same_user_namespace, uint32_t *ret_uid, uint32_t *ret_gid);

struct nodechild {
	int pid;
	struct limit pod_limit; /* of the pod's own cgroup; unread: not in sight */
	enum pod_qos qos;       /* by where that stands */
	bool as_jvm;            /* it runs as the JVM's user */
};

/* Starts it. */
int nodechild_start(const struct agentconf *conf, const struct node_call *call, const struct node_pod *pod,
		    const struct process_id *jvm, struct nodechild *ret_child, struct err *err)
	__attribute__((warn_unused_result));

#endif
