/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that may hang or needs another identity, done in a forked child with a deadline: the parent
 * collects what the child writes and never waits past the deadline. Single-threaded callers only.
 */
#ifndef SYS_CHILD_H
#define SYS_CHILD_H

#include "base/buf.h"
#include "base/err.h"
#include "sys/clock.h"

/*
 * Runs in the child: default signal handlers, stdin from nowhere. Writes its answer to out_fd; what it returns (0 to
 * 255) is the exit status.
 */
typedef int child_work(void *context, int out_fd);

struct child_result {
	int exit_status; /* 0 to 255; -1 if a signal ended it */
	int signal;      /* that signal, or 0 */
	int unreaped;    /* 0; else the pid of a killed child stuck in the kernel, which nobody waits for */
};

/*
 * Run `work` in a child. `out` is emptied first and its cap becomes `cap`.
 *   0            the child ended and wrote at most `cap` bytes; `ret` says how it ended
 *   ERR_TIMEOUT  it did not end by `deadline`: killed with SIGKILL and reaped
 *   ERR_LIMIT    it wrote more than `cap`: the same
 *   ERR_IO, ERR_NOMEM  no pipe or no fork
 * `ret` is filled in the first three cases. What a killed child had written stays in `out`. The
 * child dies with its parent; it is the only process ever signalled, and the pipe is always closed. A
 * grandchild that keeps the pipe open does not prolong anything: the child's end is the end.
 */
int child_run(child_work *work, void *context, struct mono deadline, size_t cap, struct buf *out,
	      struct child_result *ret, struct err *err) __attribute__((warn_unused_result));

/*
 * The same without waiting, for an event loop: child_start(), then child_look() whenever `fd` is readable or the deadline
 * has come, until it no longer says CHILD_RUNS; then, or whenever it is too late, child_end(). Descriptors of ours but
 * the standard ones and `out_fd` are closed in the child, so that it keeps no connection of ours open.
 */
struct child_job {
	int pid; /* 0: none */
	int fd;  /* readable when the child has written, or has closed its end */
};
enum child_state { CHILD_RUNS = 0, CHILD_DONE, CHILD_TOO_MUCH, CHILD_NOMEM };

int child_start(child_work *work, void *context, struct child_job *ret_job, struct err *err)
	__attribute__((warn_unused_result));
/* Appends what is in the pipe to `out`, at most its cap in all. CHILD_DONE: it has ended and is reaped. */
enum child_state child_look(struct child_job *job, struct buf *out, struct child_result *ret);
/* Kills and reaps what still runs, and closes the pipe. A job that is none is fine. */
void child_end(struct child_job *job, struct child_result *ret);

/* For `work`: write all bytes. False when the reader is gone. */
bool child_write(int fd, struct str bytes);

#endif
