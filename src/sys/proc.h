/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc as a directory descriptor, so that a fixture tree can stand in for it, and its pids.
 * A descriptor of /proc/<pid> belongs to one process for ever: once that process is gone every open below
 * it is ESRCH, also when the number was given to another. (A fixture tree cannot show that.)
 */
#ifndef SYS_PROC_H
#define SYS_PROC_H

#include <sys/types.h>

#include "base/err.h"

enum { PROC_NAME_CAP = 16 };

/* The root of a process file system, normally "/proc". */
int proc_root_open(const char *path, int *ret_dirfd, struct err *err) __attribute__((warn_unused_result));

/* /proc/<pid>. ERR_GONE says "no such process"; with hidepid that also means: not yours to see. */
int proc_open(int proc_dirfd, int pid, int *ret_dirfd, struct err *err) __attribute__((warn_unused_result));

/* A pidfd, readable once the process has ended; -1 where there is none: before Linux 5.3, or no such process. */
int proc_pidfd(int pid);

/* Ascending pids. Owned by whoever listed them: pid_list_done(). */
struct pid_list {
	int *pids;
	size_t n, room;
};
void pid_list_done(struct pid_list *list);

/* All numeric directories. More than LIMIT_PROCS is ERR_LIMIT. Processes that end meanwhile may or may not be there. */
int proc_list(int proc_dirfd, struct pid_list *ret_list, struct err *err) __attribute__((warn_unused_result));

/* What the link `name` ("exe", "cwd", "fd/3") of /proc/<pid> says, cut to cap - 1 bytes with a NUL. Unescaped. */
int proc_link(int pid_dirfd, const char *name, char *ret_text, size_t cap, struct err *err)
	__attribute__((warn_unused_result));

#endif
