/* SPDX-License-Identifier: Apache-2.0 */
/* What a pod's description says about the container that is to be watched, and what of it forbids a sidecar. */
#ifndef KUBE_POD_H
#define KUBE_POD_H

#include "kube/site.h"

#define SIDECAR_NAME "bankfull"

/* A number that the text says, with the line where it does; `known` false: it does not. */
struct said {
	bool known;
	uint64_t value;
	unsigned line;
	unsigned map; /* the securityContext that says it */
};

struct pod {
	unsigned spec, containers;
	unsigned main; /* the watched container; 0: Flink's, which the operator makes */
	struct str main_name;
	struct said user, group;
	bool shares, host_pid, flink;
	bool guaranteed;          /* by its containers, as far as the text says */
	bool class_guaranteed;    /* QoS class with the sidecar, which is Burstable otherwise: never BestEffort */
	bool main_limit;          /* the watched container has, or will have, a memory limit */
	bool drops_all;           /* the watched container drops all capabilities */
	uint64_t pod_limit_bytes; /* the pod's own memory limit; 0: none is said */
	uint64_t grace_s;         /* terminationGracePeriodSeconds; 0: not said */
};

/* `container`: which one is watched; NULL: by annotation, by name or because there is one alone. USAGE, naming the line. */
int pod_look(const struct yml_tree *tree, const char *name, const struct site *site, const char *container,
	     struct pod *ret_pod, struct err *err) __attribute__((warn_unused_result));

/* An annotation of the template; "" where it has none. */
struct str pod_annotation(const struct yml_tree *tree, const struct site *site, const char *key);

/*
 * Labels of the template that tell one workload's pods from another's, and "qos", for the agent's setting of labels:
 * "app=web,qos=Burstable". Kubernetes' downward API has no QoS class.
 */
enum { POD_LABELS_CAP = 640 };
void pod_labels(const struct yml_tree *tree, const struct site *site, const struct pod *pod, char ret[POD_LABELS_CAP]);
#endif
