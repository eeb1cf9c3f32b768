/* SPDX-License-Identifier: Apache-2.0 */
/*
 * This very program once more, as a process of its own that lives for long: other arguments, and perhaps another user. It
 * begins from a clean address space and has of ours only standard output and error. For short work see child.h.
 */
#ifndef SYS_SPAWN_H
#define SYS_SPAWN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct spawn_options {
	char *const *argv, *const *environment;
	bool set_ids; /* become uid and gid, with no capability left where that is not root; groups stay */
	uint32_t uid, gid;
	uint64_t
		data_bytes; /* most that it may allocate (RLIMIT_DATA): it fails itself before it starves others; 0: as we */
	int oom_score_adj; /* added to ours where it may be: the kernel should take it before us */
};

/* IO: no fork, or the program could not be begun; NOMEM. SIGTERM ends it when we end. */
int spawn_start(const struct spawn_options *options, int *ret_pid, struct err *err) __attribute__((warn_unused_result));

/* What became of it. True: it has ended and is reaped. */
bool spawn_ended(int pid, int *ret_exit_status, int *ret_signal);

#endif
