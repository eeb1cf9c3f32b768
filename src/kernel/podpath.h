/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which pod of Kubernetes a cgroup belongs to, by its path alone: kubelet's names with the systemd driver
 * (kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid>.slice/cri-containerd-<id>.scope), with the cgroupfs
 * driver (kubepods/burstable/pod<uid>/<id>), and below another root (kind's kubelet.slice). From a cgroup namespace the
 * names on the way down stay ("/../../kubepods-pod<uid>.slice/..."), those above are "..".
 */
#ifndef KERNEL_PODPATH_H
#define KERNEL_PODPATH_H

#include "base/err.h"
#include "kernel/cgpath.h"

/* The class by which kubelet places a pod's cgroup. */
enum pod_qos { POD_QOS_UNREAD = 0, POD_QOS_GUARANTEED, POD_QOS_BURSTABLE, POD_QOS_BEST_EFFORT, POD_QOS_COUNT };
extern const char *const pod_qos_names[POD_QOS_COUNT]; /* "", "Guaranteed", "Burstable", "BestEffort" */

enum { POD_UID_CAP = 40 };

struct podpath {
	char pod_uid[POD_UID_CAP];        /* with dashes, as the API server writes it */
	char container_id[CGPATH_ID_CAP]; /* "": the path has none that we know */
	enum pod_qos qos;                 /* unread: its name stands above the reader's root */
};

/* Pure. False: no pod's. */
bool podpath_parse(const char *path, struct podpath *ret);

/*
 * A pod's own cgroup below `root_fd`, the hierarchy as the node has it: only directories that kubelet may have named are
 * looked into. GONE: none has this UID. The descriptor is the caller's; `*ret_qos` is by where it stands.
 */
int podpath_open(int root_fd, const char *pod_uid, int *ret_fd, enum pod_qos *ret_qos, struct err *err)
	__attribute__((warn_unused_result));

#endif
