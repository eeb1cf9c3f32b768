/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/cgpeers.h"

#include <stdlib.h>
#include <string.h>

#include "base/auto.h"
#include "base/limits.h"
#include "kernel/cgpath.h"
#include "sys/file.h"
#include "sys/proc.h"

void cgpeers_done(struct cgpeers *peers)
{
	for (size_t i = 0; i < peers->n; i++)
		auto_closep(&peers->dirfds[i]);
	*peers = (struct cgpeers){ 0 };
}

/* Length of the directory of a path, without the slash that ends it; of "/x" and "/" it is 0. */
static size_t parent_len(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) : 0;
}

bool cgpeers_beside(const char *target, const char *other)
{
	static const char up[] = "/..";
	size_t len = parent_len(target);
	/* From within a namespace everything that is ours is "/", and a neighbour "/../name": all of one directory. */
	bool from_inside = len == strlen(up) && strncmp(target, up, len) == 0;
	if (strcmp(target, other) == 0 || !other[0] || strcmp(target, "/") == 0)
		return false;
	if (strcmp(other, "/") == 0)
		return from_inside;
	return parent_len(other) == len && strncmp(target, other, len) == 0 && other[len + 1];
}

/* What was looked at: one process of a container is enough. */
struct search {
	struct cgpath target, here;
	char seen[CGPEERS_MAX][CGPATH_CAP];
	size_t n_seen;
};

static int path_of(int proc_dirfd, int pid, int *ret_pid_dirfd, struct cgpath *ret, struct err *err)
{
	auto_buf struct buf text = { 0 };
	auto_close int dirfd = -1;
	int rc = proc_open(proc_dirfd, pid, &dirfd, err);
	if (rc == 0)
		rc = file_read_at(dirfd, "cgroup", LIMIT_PROC_FILE, &text, err);
	if (rc == 0)
		rc = cgpath_parse(buf_str(&text), ret, err);
	if (rc == 0)
		*ret_pid_dirfd = TAKE_FD(dirfd);
	return rc;
}

static bool was_seen(const struct search *search, const char *path)
{
	for (size_t i = 0; i < search->n_seen; i++)
		if (strcmp(search->seen[i], path) == 0)
			return true;
	return false;
}

static void look_at(struct search *search, int proc_dirfd, int pid, bool any_fs, struct cgpeers *peers)
{
	struct err ignored;
	enum cgroup_kind kind;
	struct cgpath_found found;
	auto_close int pid_dirfd = -1;
	if (path_of(proc_dirfd, pid, &pid_dirfd, &search->here, &ignored) < 0 ||
	    !cgpeers_beside(search->target.v2, search->here.v2) || was_seen(search, search->here.v2))
		return;
	/* One that may not be looked into is no reason to give up its container: the next process of it may. */
	if (cgpath_open(pid_dirfd, any_fs, &found, &kind, &ignored) < 0)
		return;
	memcpy(search->seen[search->n_seen++], search->here.v2, CGPATH_CAP);
	peers->dirfds[peers->n++] = found.dirfd;
}

int cgpeers_open(int proc_dirfd, int pid, bool any_fs, struct cgpeers *ret, struct err *err)
{
	auto_close int pid_dirfd = -1;
	auto_(pid_list_done) struct pid_list list = { 0 };
	auto_free struct search *search = calloc(1, sizeof *search);
	struct cgpeers peers = { 0 };
	if (!search)
		return err_set(err, ERR_NOMEM, "no memory to look for containers");
	int rc = path_of(proc_dirfd, pid, &pid_dirfd, &search->target, err);
	if (rc == 0)
		rc = proc_list(proc_dirfd, &list, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < list.n && peers.n < CGPEERS_MAX; i++)
		look_at(search, proc_dirfd, list.pids[i], any_fs, &peers);
	*ret = peers;
	return 0;
}
