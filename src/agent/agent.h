/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon: watches one JVM for as long as both live, through restarts of the JVM. docs/agent.md is its manual.
 *
 * One thread, one loop. At each tick the kept files are read into the same snapshot, the books are aged or, at a scan,
 * closed; rules speak, edges of findings and the sample go to the outbox. What may hang runs in a child (slow.h), what
 * holds up the JVM on a budget (budget.h). In steady state a tick allocates nothing of ours.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "base/err.h"
#include "config/agentconf.h"
#include "ledger/history.h"

struct logger;
struct budget;  /* agent/budget.h */
struct verdict; /* bankfull/finding.h */

/* What there is to see after a tick. Borrowed: all of it ends with the call that shows it. */
struct agent_sight {
	struct wall at;
	const struct snapshot *snapshot; /* NULL: there is no target, and `waiting` says for what */
	const struct ledger *ledger;
	const struct verdict *verdict;
	const struct history_view *history;
	const struct budget *budget;
	const char *waiting;
	bool has_books;       /* the mappings were scanned in this life: owners have their bytes, age_ms old */
	bool scanned;         /* since it was shown last */
	bool asking;          /* JVM or engine are being asked now */
	bool urgent;          /* near the limit: a tick a second */
	uint32_t interval_ms; /* until the next tick */
	uint64_t lives_total;
	struct wall died; /* the last death; 0: none was seen */
	const char *death;
};

enum agent_wish {
	AGENT_GO_ON = 0,
	AGENT_LOOK, /* read now, and scan and ask as soon as the budget allows */
	AGENT_REST, /* nobody looks: no ticks by the clock until AGENT_LOOK */
	AGENT_END
};

/* Somebody in this very process who looks on, as `bankfull watch` does. */
struct agent_onlooker {
	void (*saw)(void *context, const struct agent_sight *sight); /* at the end of each tick */
	int fd;                                                      /* readable: `told` is asked what is wished */
	enum agent_wish (*told)(void *context);
	void *context;
};

/* Runs until SIGTERM or SIGINT. An error means that it could not start at all: no memory, no event loop. */
int agent_run(const struct agentconf *conf, struct logger *log, const char *version, struct err *err)
	__attribute__((warn_unused_result));
/* The same with somebody who looks on; NULL: nobody does. */
int agent_run_seen(const struct agentconf *conf, const struct agent_onlooker *onlooker, struct logger *log,
		   const char *version, struct err *err) __attribute__((warn_unused_result));

#endif
