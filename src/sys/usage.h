/* SPDX-License-Identifier: Apache-2.0 */
/* What this process itself uses, for its own metrics. A figure that cannot be read is unread. */
#ifndef SYS_USAGE_H
#define SYS_USAGE_H

#include "sys/clock.h"

struct usage {
	struct qty
		resident_bytes; /* /proc/self/statm: may lag by some pages a thread (proc(5)), good enough for a graph */
	uint64_t cpu_ms;        /* user and system, all threads */
	struct count open_fds, max_fds;
};

void usage_read(struct usage *ret_usage);

#endif
