/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cheap parts of a snapshot, parsed anew in place: cgroup files, status, the host's memory. Pure, and allocates
 * nothing: this runs at every tick. build.c makes the whole of it at a scan.
 */
#ifndef AGENT_REFRESH_H
#define AGENT_REFRESH_H

#include "bankfull/snapshot.h"
#include "base/err.h"
#include "base/str.h"

/* What was read under an evidence name ("cgroup/memory.stat", "proc/status", "host/meminfo"), or why not. */
struct refresh_text {
	const char *name;
	struct str bytes;
	const struct err *err; /* NULL: it was read */
};

/*
 * The texts and their gaps take the place of those before; what was not read this time is unread. `taken` and access follow;
 * everything else stays, and `age_ms` is the caller's to set.
 */
void refresh_run(struct snapshot *snapshot, struct wall taken, const struct refresh_text *texts, size_t n);

/* Shared with build.c: a gap under this name; that --limit contradicts memory.max; how much may be seen. */
void build_gap(struct snapshot *snapshot, const char *what, const struct err *err);
void build_limit_gap(struct snapshot *snapshot);
enum access_level build_access(const struct snapshot *snapshot);

#endif
