/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The places in a YAML text where Kubernetes takes the description of a pod: Deployment, StatefulSet, DaemonSet, Job,
 * CronJob, Pod, PodTemplate and the Flink operator's FlinkDeployment, in any number of documents, also as items of a List.
 */
#ifndef KUBE_SITE_H
#define KUBE_SITE_H

#include "data/yml_tree.h"

enum { SITES_MAX = 10000 };

/* The container that Flink and its operator take for their own. */
#define FLINK_CONTAINER "flink-main-container"

enum site_type { SITE_POD, SITE_TEMPLATE, SITE_JOB, SITE_FLINK };

struct site {
	enum site_type type;
	const char *kind;   /* "Deployment" */
	struct str name;    /* of the object; "" where only generateName is given */
	unsigned line;      /* of the object */
	unsigned object;    /* the whole object */
	unsigned holder;    /* the map that holds the template: of FlinkDeployment `spec` or `spec.taskManager` */
	const char *key;    /* its key there; NULL: the object is the template */
	unsigned template_; /* the map of metadata and spec; 0: there is none yet (FlinkDeployment) */
	unsigned spec;      /* of the pod; 0: none yet (FlinkDeployment) */
};

/* Owned: sites_done(). */
struct sites {
	struct site *items;
	unsigned n, room;
	unsigned n_others; /* objects of other kinds */
};

/* Every place, in the order of the text. Refuses, with "name:line: ", a workload without a pod. */
int sites_find(const struct yml_tree *tree, const char *name, struct sites *ret_sites, struct err *err)
	__attribute__((warn_unused_result));
void sites_done(struct sites *sites);
#define auto_sites auto_(sites_done)

/* Of an operator's FlinkDeployment: `podTemplate` of `spec`, or of spec.jobManager, spec.taskManager; 0: none. */
unsigned site_flink_layer(const struct yml_tree *tree, const struct site *site, const char *part);
/* `spec.flinkConfiguration` says this key; "" where not. */
struct str site_flink_setting(const struct yml_tree *tree, const struct site *site, const char *key);

#endif
