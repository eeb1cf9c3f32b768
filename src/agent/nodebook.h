/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Node mode's book: which pods are watched, which process of ours does it, when one is begun, begun again or ended. Pure:
 * what is seen and what time it is are told to it.
 *
 * A target is a pod (by its UID) and one container of it (by its name; "" where nobody names it: then the pod is one
 * target). It stays in the book while its JVM restarts; NODE_QUIET_MS after the last sight of it its process is ended. One
 * that ends by itself is begun again, later each time.
 */
#ifndef AGENT_NODEBOOK_H
#define AGENT_NODEBOOK_H

#include "bankfull/subject.h"
#include "config/agentconf.h"
#include "kernel/podpath.h"
#include "sys/clock.h"

enum {
	NODE_SETTLE_MS = 10000,
	NODE_QUIET_MS = 600000, /* kubelet's back-off between restarts ends at 5 minutes */
	NODE_STABLE_MS = 60000, /* of a process that ran so long the failures before are forgotten */
	NODE_AGAIN_MS = 5000,   /* doubled with each failure */
	NODE_AGAIN_MAX_MS = 300000,
};

struct node_pod {
	char pod_uid[POD_UID_CAP], container_id[CGPATH_ID_CAP];
	char namespace_[64], pod[WIRE_NAME_CAP], container[64]; /* "": not known */
	enum pod_qos qos;
};

struct node_target {
	bool used;
	struct node_pod pod;
	int child; /* its pid; 0: none */
	bool ending;
	struct mono seen, started, due; /* due: not begun before that */
	unsigned failures;              /* in a row */
};

struct nodebook {
	struct node_target targets[AGENT_TARGETS_MAX];
	size_t max;      /* at most AGENT_TARGETS_MAX */
	size_t left_out; /* pods that found no room since nodebook_look() */
	uint64_t started_total, failed_total, ended_total;
};

void nodebook_init(struct nodebook *book, size_t max);

/* A look at the node begins: nobody is left out yet. */
void nodebook_look(struct nodebook *book);
/* A JVM of this pod is there. Twice in one look is once. False: there is no room for it. */
bool nodebook_see(struct nodebook *book, const struct node_pod *pod, struct mono now);

enum node_step { NODE_WAIT = 0, NODE_START, NODE_END };
/* What is to be done next, and with which target; call it until NODE_WAIT. NODE_END comes once for each. */
enum node_step nodebook_next(struct nodebook *book, struct mono now, size_t *ret_target);

void nodebook_started(struct nodebook *book, size_t target, int child, struct mono now);
/* It could not be begun. */
void nodebook_failed(struct nodebook *book, size_t target, struct mono now);
/* Its process has ended. */
void nodebook_ended(struct nodebook *book, size_t target, struct mono now);

size_t nodebook_targets(const struct nodebook *book);
size_t nodebook_children(const struct nodebook *book);

#endif
