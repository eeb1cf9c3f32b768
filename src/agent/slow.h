/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sources that may hang: the JVM's attach protocol, the engine's endpoints. Each reading is a child of its own with a
 * deadline, which the event loop never waits for; so a hung endpoint delays no sample, and libcurl and a change of euid
 * never happen in the agent. One reading at a time.
 */
#ifndef AGENT_SLOW_H
#define AGENT_SLOW_H

#include "agent/collect.h"
#include "agent/slowtext.h"
#include "net/loop.h"

enum {
	/* Two rounds of attach (5 s each), eight pages, four REST answers (2 s each): past this somebody is stuck. */
	SLOW_DEADLINE_MS = 40000,
	SLOW_CAP = 16 << 20,
};

struct slow;

/* `what` was read: rc 0 and its text for slowtext_merge(), or why not. The text is gone after the call. */
typedef void slow_done(void *context, unsigned what, int rc, struct str text, const struct err *err);

int slow_new(struct loop *loop, slow_done *done, void *context, struct slow **ret_slow, struct err *err)
	__attribute__((warn_unused_result));
void slow_free(struct slow *slow); /* ends the child, calls nothing; NULL is fine */

/* `options` (its pid is the target's) and `id` are copied by the fork. False: one is running, or none could be started. */
bool slow_start(struct slow *slow, const struct collect_options *options, const struct process_id *id, unsigned what);
bool slow_runs(const struct slow *slow);
void slow_stop(struct slow *slow); /* the target is gone: calls nothing */

struct slow_counts {
	uint64_t started_total, failed_total, killed_total, ms_total;
};
const struct slow_counts *slow_count(const struct slow *slow);

/* What the child does, for tests: reads and writes the text to `out_fd`; an exit status. */
struct slow_work {
	const struct collect_options *options;
	struct process_id id;
	unsigned what;
};
int slow_work(void *work, int out_fd);

#endif
