/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of collect_run(), one file a source. Internal to src/agent. */
#ifndef AGENT_COLLECT_PARTS_H
#define AGENT_COLLECT_PARTS_H

#include "agent/collect.h"
#include "bankfull/snapshot.h"

/* What the parts share while one target is read: for a report once, for an agent as long as the target lives. */
struct collecting {
	const struct collect_options *options;
	struct evidence *evidence;
	int pid_fd, root_fd; /* root_fd -1: the target's root may not be read */
	struct process_id id;
	uint64_t start_stack; /* of the program it runs: kernel/stat.h */
	struct process_status status;
	uint64_t age_ms; /* of the process */
	struct buf maps; /* /proc/<pid>/maps: what is mapped, before the costly reads */
	bool is_jvm;
	char denied[200]; /* why the kernel does not let us look into it; "" where it does */
};

/*
 * collect_begin() opens the target and reads what does not change while it lives: facts, command line, environment, host.
 * collect_same() says whether it still is the same process and program. Both fail as collect_run() does.
 * `c` is { .options, .evidence, .pid_fd = -1, .root_fd = -1, .maps.cap = LIMIT_SMAPS }; collect_end() closes it.
 */
int collect_begin(struct collecting *c, struct err *err) __attribute__((warn_unused_result));
int collect_same(const struct collecting *c, struct err *err) __attribute__((warn_unused_result));
void collect_end(struct collecting *c);
uint64_t collect_age_ms(const struct process_id *id); /* of a process, now */

void collect_perf(struct collecting *c); /* hsperfdata alone: costs next to nothing */
/* What only smaps tells to ask: the ZGC memfd, and pagemap for ranges that share a mapping. */
void collect_beside_smaps(struct collecting *c, const struct snapshot *snapshot);
void collect_host(struct collecting *c);
void collect_tmpfs(struct collecting *c);
void collect_cgroup(struct collecting *c);
void collect_smaps(struct collecting *c);
void collect_jvm(struct collecting *c);
void collect_engine(struct collecting *c);

/* Where a page came from without what may be a secret: no user, no password, no query, no fragment. */
bool collect_url_shown(struct str url, struct buf *out);

/* Of an error that is a refusal, add why it was refused. */
void collect_say_denied(const struct collecting *c, struct err *err);

/* Read `path` below the process's directory into the evidence `name`. */
void collect_file(struct collecting *c, const char *path, const char *name, size_t cap);

#endif
