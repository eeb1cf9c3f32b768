/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/podpath.h"

#include "base/auto.h"
#include "sys/file.h"

enum {
	UID_MIN = 8, /* a UUID, or of a static pod the hash of its file: 32 digits */
	DEPTH_MAX = 6,
	NAMES_MAX = 4096, /* of one directory: kubelet's default is 110 pods a node */
};

const char *const pod_qos_names[POD_QOS_COUNT] = {
	[POD_QOS_UNREAD] = "",
	[POD_QOS_GUARANTEED] = "Guaranteed",
	[POD_QOS_BURSTABLE] = "Burstable",
	[POD_QOS_BEST_EFFORT] = "BestEffort",
};

/* systemd has '-' for a child slice, so kubelet writes '_' in its place (kubelet's cm/cgroup_manager_linux.go). */
static bool take_uid(struct str text, char ret_uid[POD_UID_CAP])
{
	char uid[POD_UID_CAP];
	if (text.len < UID_MIN || text.len >= sizeof uid)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i] == '_' ? '-' : text.ptr[i];
		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f') && c != '-')
			return false;
		uid[i] = c;
	}
	uid[text.len] = '\0';
	memcpy(ret_uid, uid, sizeof uid);
	return true;
}

static enum pod_qos qos_of(struct str name)
{
	if (str_ends(name, STR("burstable")))
		return POD_QOS_BURSTABLE;
	if (str_ends(name, STR("besteffort")))
		return POD_QOS_BEST_EFFORT;
	return str_ends(name, STR("kubepods")) ? POD_QOS_GUARANTEED : POD_QOS_UNREAD;
}

/* One name of a path, with the one above it. False: it is no pod's. */
static bool pod_of_name(struct str name, struct str above, char ret_uid[POD_UID_CAP], enum pod_qos *ret_qos)
{
	/* runc without a systemd of its own below kubelet's: "kubepods-pod<uid>.slice:cri-containerd:<id>" is one name. */
	name.len = str_index(name, ':');
	if (str_ends(name, STR(".slice"))) {
		name.len -= STR(".slice").len;
		size_t at = str_find(name, STR("-pod"));
		struct str before = { name.ptr, at };
		if (at == name.len || !str_has(before, STR("kubepods")) || !take_uid(str_skip(name, at + 4), ret_uid))
			return false;
		*ret_qos = qos_of(before);
		return true;
	}
	if (!str_take(&name, STR("pod")) || !take_uid(name, ret_uid))
		return false;
	if (str_ends(above, STR(".slice")))
		return false;
	*ret_qos = qos_of(above);
	return true;
}

bool podpath_parse(const char *path, struct podpath *ret)
{
	struct podpath found = { .qos = POD_QOS_UNREAD };
	struct str rest = str_of(path), name, above = { NULL, 0 };
	bool is_pod = false;
	while (str_split(&rest, '/', &name)) {
		char uid[POD_UID_CAP];
		enum pod_qos qos;
		/* The innermost: a cluster in a pod of another one. */
		if (pod_of_name(name, above, uid, &qos)) {
			memcpy(found.pod_uid, uid, sizeof uid);
			found.qos = qos;
			is_pod = true;
		}
		above = name;
	}
	if (!is_pod)
		return false;
	(void)cgpath_container_id(path, found.container_id);
	*ret = found;
	return true;
}

/* --- the pod's own directory ----------------------------------------------------------------- */

struct search {
	const char *pod_uid;
	struct str above; /* the name of the directory that is listed */
	char found[256];  /* the pod's directory in it */
	enum pod_qos qos;
	char below[8][256]; /* directories to look into */
	size_t n_below;
};

static bool may_hold_pods(struct str name)
{
	return str_has(name, STR("kubepods")) || str_has(name, STR("kubelet")) || str_eq(name, STR("burstable")) ||
	       str_eq(name, STR("besteffort"));
}

static bool one_name(void *context, const char *text)
{
	struct search *search = context;
	struct str name = str_of(text);
	char uid[POD_UID_CAP];
	enum pod_qos qos;
	if (pod_of_name(name, search->above, uid, &qos)) {
		if (strcmp(uid, search->pod_uid) != 0 || name.len >= sizeof search->found)
			return true;
		str_copy(search->found, sizeof search->found, name);
		search->qos = qos;
		return false;
	}
	size_t room = sizeof search->below / sizeof search->below[0];
	if (may_hold_pods(name) && search->n_below < room && name.len < sizeof search->below[0])
		str_copy(search->below[search->n_below++], sizeof search->below[0], name);
	return true;
}

/* NOLINTNEXTLINE(misc-no-recursion): as deep as DEPTH_MAX */
static int search_in(int dirfd, const char *above, const char *pod_uid, unsigned depth, int *ret_fd,
		     enum pod_qos *ret_qos, struct err *err)
{
	struct search search = { .pod_uid = pod_uid, .above = str_of(above) };
	int rc = dir_list(dirfd, NAMES_MAX, one_name, &search, err);
	if (rc < 0)
		return rc;
	if (search.found[0]) {
		rc = dir_open_beneath(dirfd, search.found, ret_fd, err);
		if (rc == 0)
			*ret_qos = search.qos;
		return rc;
	}
	for (size_t i = 0; i < search.n_below && depth < DEPTH_MAX; i++) {
		struct err ignored;
		auto_close int below = -1;
		if (dir_open_beneath(dirfd, search.below[i], &below, &ignored) == 0 &&
		    search_in(below, search.below[i], pod_uid, depth + 1, ret_fd, ret_qos, &ignored) == 0)
			return 0;
	}
	return err_set(err, ERR_GONE, "no pod has the UID %s here", pod_uid);
}

int podpath_open(int root_fd, const char *pod_uid, int *ret_fd, enum pod_qos *ret_qos, struct err *err)
{
	return search_in(root_fd, "", pod_uid, 0, ret_fd, ret_qos, err);
}
