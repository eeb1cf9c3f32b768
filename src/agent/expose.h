/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's /metrics: PURE. What is unread has no series. Of itself it tells what it costs: the time it held the JVM's
 * address space above all. docs/metrics.md names each metric, its unit and the bound of its labels.
 */
#ifndef AGENT_EXPOSE_H
#define AGENT_EXPOSE_H

#include "agent/budget.h"
#include "agent/outbox.h"
#include "agent/slow.h"
#include "ledger/aged.h"
#include "ledger/history.h"
#include "rules/silence.h"
#include "rules/standing.h"
#include "sys/usage.h"

struct expose_input {
	const char *version;
	/* The target; NULL: there is none now. */
	const struct snapshot *snapshot;
	const struct ledger *ledger;
	const struct aged_mark *mark;
	const struct history_view *history;
	const struct standings *standings;
	const struct rule_silences *silences; /* in force, or NULL */
	struct wall now;
	/* The agent itself. */
	bool urgent;
	const struct budget *budget;
	const struct slow_counts *slow;
	const struct outbox_counts *outbox;
	const struct usage *usage;
	uint64_t start_ms; /* since 1970 */
	uint64_t ticks_total, tick_ns_total, longest_tick_ns, lives_total, deaths_total, wakes_total, reopened_total;
	uint64_t log_suppressed_total, policies_refused_total, policy_version;
};

/* False: `out` is full or without memory. */
bool expose_metrics(const struct expose_input *input, struct buf *out);

#endif
