/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may speak for whom. An agent in node mode has the credentials of its own pod and tells of others: only those that
 * `--node-agents` names may, never any pod that says so, or a sidecar could speak for its neighbour. PURE.
 *
 * Even so it speaks for pods of its own node alone. Where nothing says on which node a pod runs, its word is taken and marked
 * (`asserted`). Its sessions have ids of their own, so none ever takes the place of a pod's own agent.
 */
#ifndef COLLECTOR_NODE_AGENT_H
#define COLLECTOR_NODE_AGENT_H

#include "bankfull/subject.h"
#include "base/err.h"
#include "collector/fleet_read.h"
#include "collector/podbook.h"

/* What the credentials say of it; "" where they do not. */
struct node_claim {
	const char *id, *method; /* as of struct auth_agent */
	const char *namespace_, *account, *node;
};

/* "NAMESPACE/ACCOUNT,...", and ids of static tokens and certificates: names, no patterns. USAGE says which is none. */
int node_agents_check(const char *list, struct err *err) __attribute__((warn_unused_result));

enum node_verdict { NODE_CONFIRMED = 0, NODE_ASSERTED };

/*
 * `pods` is what Kubernetes says of them; NULL: nothing. DENIED: it may not, with the setting that would let it; or the pod is
 * another node's, or has another name. MALFORMED: no pod is named.
 */
int node_agent_judge(const char *list, const struct podbook *pods, const struct node_claim *claim,
		     const struct wire_subject *subject, enum node_verdict *ret_verdict, struct err *err)
	__attribute__((warn_unused_result));

/*
 * The same of one that may: by what is known of the pod now. `node` is that of its credentials; "": they name none, and nothing can
 * be held against it.
 */
int node_agent_hold(const struct podbook *pods, const char *node, const struct subject_view *subject,
		    enum node_verdict *ret_verdict, struct err *err) __attribute__((warn_unused_result));

/* "node:NODE:POD-UID[:CONTAINER]": the same when its pod is another one. LIMIT: too long. */
int node_agent_id(const struct node_claim *claim, const struct wire_subject *subject, char ret_id[WIRE_NAME_CAP],
		  struct err *err) __attribute__((warn_unused_result));

#endif
