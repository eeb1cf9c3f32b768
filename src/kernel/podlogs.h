/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What kubelet's log directories call a node's pods and containers: the one place outside of the API server that
 * has a pod's namespace, name and UID together. Only names are read, never a log.
 *
 *   pods/<namespace>_<name>_<uid>                            (kubelet's kuberuntime/helpers.go, BuildPodLogsDirectory)
 *   containers/<name>_<namespace>_<container>-<id>.log       (legacy.go, legacyLogSymlink; links)
 *
 * Names of Kubernetes have no '_', so they can be taken apart.
 */
#ifndef KERNEL_PODLOGS_H
#define KERNEL_PODLOGS_H

#include "bankfull/subject.h"
#include "base/err.h"
#include "base/str.h"
#include "kernel/podpath.h"

struct podlogs_pod {
	char namespace_[64], name[WIRE_NAME_CAP], uid[POD_UID_CAP];
};
struct podlogs_container {
	char namespace_[64], pod[WIRE_NAME_CAP], name[64], id[CGPATH_ID_CAP];
};

/* Pure. False: no such name. */
bool podlogs_parse_pod(struct str name, struct podlogs_pod *ret);
bool podlogs_parse_container(struct str name, struct podlogs_container *ret);

/* Of the directory `logs_fd` (/var/log on the node). GONE: nothing of this UID or id is in it, or it is not mounted. */
int podlogs_find_pod(int logs_fd, const char *uid, struct podlogs_pod *ret, struct err *err)
	__attribute__((warn_unused_result));
int podlogs_find_container(int logs_fd, const char *id, struct podlogs_container *ret, struct err *err)
	__attribute__((warn_unused_result));

#endif
