/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/podlogs.h"

#include "base/auto.h"
#include "sys/file.h"

enum { NAMES_MAX = 65536, ID_MIN = 12 };

/* A DNS name, as the API server lets pods, namespaces and containers be called: these become rows and labels. */
static bool take_name(struct str text, char *dest, size_t cap)
{
	if (!text.len || text.len >= cap)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '.')
			return false;
	}
	str_copy(dest, cap, text);
	return true;
}

bool podlogs_parse_pod(struct str name, struct podlogs_pod *ret)
{
	struct podlogs_pod pod = { 0 };
	struct str namespace_, pod_name;
	if (!str_split(&name, '_', &namespace_) || !str_split(&name, '_', &pod_name) ||
	    !take_name(namespace_, pod.namespace_, sizeof pod.namespace_) ||
	    !take_name(pod_name, pod.name, sizeof pod.name) || !take_name(name, pod.uid, sizeof pod.uid))
		return false;
	*ret = pod;
	return true;
}

bool podlogs_parse_container(struct str name, struct podlogs_container *ret)
{
	struct podlogs_container container;
	struct str pod, namespace_;
	if (!str_ends(name, STR(".log")))
		return false;
	name.len -= STR(".log").len;
	if (!str_split(&name, '_', &pod) || !str_split(&name, '_', &namespace_))
		return false;
	size_t dash = name.len;
	while (dash && name.ptr[dash - 1] != '-')
		dash--;
	struct str id = str_skip(name, dash);
	if (dash < 2 || id.len < ID_MIN || !take_name(id, container.id, sizeof container.id) ||
	    !take_name((struct str){ name.ptr, dash - 1 }, container.name, sizeof container.name) ||
	    !take_name(pod, container.pod, sizeof container.pod) ||
	    !take_name(namespace_, container.namespace_, sizeof container.namespace_))
		return false;
	*ret = container;
	return true;
}

struct search {
	const char *wanted;
	bool found;
	struct podlogs_pod pod;
	struct podlogs_container container;
};

static bool one_pod(void *context, const char *name)
{
	struct search *search = context;
	struct podlogs_pod pod = { 0 };
	if (!podlogs_parse_pod(str_of(name), &pod) || strcmp(pod.uid, search->wanted) != 0)
		return true;
	search->pod = pod;
	search->found = true;
	return false;
}

static bool one_container(void *context, const char *name)
{
	struct search *search = context;
	struct podlogs_container container;
	if (!podlogs_parse_container(str_of(name), &container) || strcmp(container.id, search->wanted) != 0)
		return true;
	search->container = container;
	search->found = true;
	return false;
}

static int find(int logs_fd, const char *directory, dir_each *each, struct search *search, struct err *err)
{
	auto_close int fd = -1;
	int rc = dir_open_beneath(logs_fd, directory, &fd, err);
	if (rc == 0)
		rc = dir_list(fd, NAMES_MAX, each, search, err);
	if (rc < 0)
		return rc;
	return search->found ? 0 : err_set(err, ERR_GONE, "%s has no %s", directory, search->wanted);
}

int podlogs_find_pod(int logs_fd, const char *uid, struct podlogs_pod *ret, struct err *err)
{
	struct search search = { .wanted = uid };
	int rc = find(logs_fd, "pods", one_pod, &search, err);
	if (rc == 0)
		*ret = search.pod;
	return rc;
}

int podlogs_find_container(int logs_fd, const char *id, struct podlogs_container *ret, struct err *err)
{
	struct search search = { .wanted = id };
	int rc = find(logs_fd, "containers", one_container, &search, err);
	if (rc == 0)
		*ret = search.container;
	return rc;
}
