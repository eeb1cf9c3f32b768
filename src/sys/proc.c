/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/str.h"
#include "sys/file.h"

int proc_root_open(const char *path, int *ret_dirfd, struct err *err)
{
	return dir_open_at(AT_FDCWD, path, ret_dirfd, err);
}

int proc_open(int proc_dirfd, int pid, int *ret_dirfd, struct err *err)
{
	char name[PROC_NAME_CAP];
	(void)snprintf(name, sizeof name, "%d", pid);
	int fd = -1;
	struct err why = { 0 };
	int r = dir_open_at(proc_dirfd, name, &fd, &why);
	if (r == -ENOENT || r == -ESRCH)
		return err_set(err, ERR_GONE, "no such process: %d", pid);
	if (r < 0) {
		if (err)
			*err = why;
		return r;
	}
	*ret_dirfd = fd;
	return 0;
}

int proc_pidfd(int pid)
{
#ifdef SYS_pidfd_open
	return (int)syscall(SYS_pidfd_open, pid, 0U);
#else
	(void)pid;
	return -1;
#endif
}

void pid_list_done(struct pid_list *list)
{
	free(list->pids);
	*list = (struct pid_list){ 0 };
}

struct listing {
	struct pid_list list;
	enum err_kind failed;
};

static bool add_pid(struct listing *listing, int pid)
{
	struct pid_list *list = &listing->list;
	if (list->n == LIMIT_PROCS) {
		listing->failed = ERR_LIMIT;
		return false;
	}
	if (list->n == list->room) {
		size_t room = list->room ? list->room * 2 : 256;
		int *pids = realloc(list->pids, room * sizeof *pids);
		if (!pids) {
			listing->failed = ERR_NOMEM;
			return false;
		}
		list->pids = pids;
		list->room = room;
	}
	list->pids[list->n++] = pid;
	return true;
}

static bool each_name(void *context, const char *name)
{
	uint64_t pid;
	if (!str_is_u64(str_of(name), &pid) || pid == 0 || pid > INT_MAX)
		return true;
	return add_pid(context, (int)pid);
}

static int by_number(const void *left, const void *right)
{
	int a = *(const int *)left, b = *(const int *)right;
	return (a > b) - (a < b);
}

int proc_list(int proc_dirfd, struct pid_list *ret_list, struct err *err)
{
	struct listing listing = { 0 };
	/* The other names of /proc are some dozens. */
	int r = dir_list(proc_dirfd, (size_t)LIMIT_PROCS + 1024, each_name, &listing, err);
	if (r == 0 && listing.failed)
		r = err_set(err, listing.failed, "list of processes: %s",
			    listing.failed == ERR_LIMIT ? "too many" : "no memory");
	if (r < 0) {
		pid_list_done(&listing.list);
		return r;
	}
	/* The kernel lists them ascending; a fixture tree in any order. */
	if (listing.list.n)
		qsort(listing.list.pids, listing.list.n, sizeof *listing.list.pids, by_number);
	*ret_list = listing.list;
	return 0;
}

int proc_link(int pid_dirfd, const char *name, char *ret_text, size_t cap, struct err *err)
{
	char text[PATH_MAX];
	ssize_t len = readlinkat(pid_dirfd, name, text, sizeof text);
	if (len < 0)
		return err_sys(err, errno, "%s", name);
	str_copy(ret_text, cap, (struct str){ text, (size_t)len });
	return 0;
}
