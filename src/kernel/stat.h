/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/<pid>/stat (proc_pid_stat(5)): the fields that identify a process. The name stands in
 * parentheses and is whatever the process called itself, newlines and ") Z 1" included: everything
 * up to the last ')' is name.
 */
#ifndef KERNEL_STAT_H
#define KERNEL_STAT_H

#include "bankfull/process.h"
#include "base/err.h"
#include "base/str.h"

struct proc_stat {
	int pid;
	int parent_pid;
	char state;
	char name[64]; /* unescaped bytes of comm, cut at a NUL */
	uint64_t n_threads;
	uint64_t start_ticks; /* since boot, in clock ticks: only ever compared */
	uint64_t start_stack; /* address; another one after each execve(2). 0 if it may not be known */
};

/* Pure. MALFORMED if a field is missing or no number, or for a NUL byte; unchanged `ret` then. */
int stat_parse(struct str text, struct proc_stat *ret, struct err *err) __attribute__((warn_unused_result));

/* Read <pid_dirfd>/stat. GONE, DENIED, MALFORMED. */
int stat_read(int pid_dirfd, struct proc_stat *ret, struct err *err) __attribute__((warn_unused_result));

/* Who stands at pid_dirfd: pid and start time. */
int procid_read(int pid_dirfd, struct process_id *ret, struct err *err) __attribute__((warn_unused_result));

/* 0 if the process at pid_dirfd still is `id`; GONE if it ended or the pid went to another. */
int procid_same(int pid_dirfd, const struct process_id *id, struct err *err) __attribute__((warn_unused_result));

#endif
