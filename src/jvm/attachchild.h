/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The forked half of attach.h and the frames it sends to the other: of use to attach.c only. A frame is a
 * struct attach_frame and `len` bytes, and is sent whole: a reply that was cut off by the deadline is never seen.
 */
#ifndef JVM_ATTACHCHILD_H
#define JVM_ATTACHCHILD_H

#include "bankfull/process.h"
#include "base/err.h"
#include "sys/clock.h"

enum attach_event {
	ATTACH_TRIGGER_MADE,  /* command: which directory; sent before the signal */
	ATTACH_TRIGGER_GONE,  /* unlinked again */
	ATTACH_REPLY,         /* bytes: all that came on the connection of `command` */
	ATTACH_COMMAND_ERROR, /* bytes: a struct err */
	ATTACH_SESSION_ERROR, /* bytes: a struct err; nothing was asked */
};

struct attach_frame {
	uint32_t event;
	uint32_t command;
	uint64_t len;
};

enum { ATTACH_DIR_CWD, ATTACH_DIR_TMP, ATTACH_DIRS };

/* What the parent opened and found out before it forked. */
struct attach_session {
	struct process_id id;
	int proc_fd;              /* /proc/<pid> */
	int pid_fd;               /* pidfd, or -1 on Linux before 5.3 */
	int dir_fds[ATTACH_DIRS]; /* of the target; cwd may be -1 */
	uint64_t ns_pid;
	uint32_t euid, egid; /* of the target */
	bool may_signal;     /* attach_check() without a socket passed */
	struct err refusal;  /* why not */
	struct mono deadline;
	int parent; /* who forks */
	const char *const *commands;
	size_t n_commands;
};

/* A child_work of sys/child.h; `context` is a struct attach_session. */
int attachchild_work(void *context, int out_fd);

/* The socket of this JVM: exists (1), does not (0), or is something else (negative, UNSUPPORTED). */
int attachchild_find_socket(int tmp_fd, uint64_t ns_pid, uint32_t owner, struct err *err);

/* `proc_fd` still is that process, and it is not stopped: GONE, UNSUPPORTED. */
int attachchild_recheck(int proc_fd, const struct process_id *id, struct err *err);

#endif
