/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of inject.h share. */
#ifndef KUBE_INJECT_PARTS_H
#define KUBE_INJECT_PARTS_H

#include "kube/graft.h"
#include "kube/inject.h"
#include "kube/pod.h"

#define SIDECAR_TOKEN_VOLUME  "bankfull-token"
#define SIDECAR_STATE_VOLUME  "bankfull-state"
#define SIDECAR_CONFIG_VOLUME "bankfull-config"

/* Who the sidecar is to be, and whether the watched container has to be told its group. */
struct identity {
	bool known, group_known, root;
	uint64_t user, group;
	unsigned tell_group; /* the securityContext that gets runAsGroup; 0: none */
	bool tell_pod;       /* it is the pod's */
};

int identity_of(const char *name, const struct yml_tree *tree, const struct site *site, const struct pod *pod,
		const struct inject_options *options, struct identity *ret, struct err *err)
	__attribute__((warn_unused_result));

/* As an item of initContainers, or of containers. */
struct sidecar {
	const struct inject_options *options;
	const struct pod *pod;
	struct identity identity;
	struct str workload, metrics_url, flink_rest, config;
	char labels[POD_LABELS_CAP];
	bool named_by_pod; /* the pod's own name is the workload's: a Pod */
};
void sidecar_emit(struct emit *e, const struct sidecar *sidecar);
void sidecar_volumes_emit(struct emit *e, const struct sidecar *sidecar);

/* "deployment/web" */
void site_note(struct buf *notes, const char *name, const struct site *site, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The same but for what is empty or null: in the sidecar's absence nothing else may have changed. */
bool trees_agree(const struct yml_tree *a, const struct yml_tree *b);

#endif
