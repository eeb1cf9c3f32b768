/* SPDX-License-Identifier: Apache-2.0 */
#include "support/watchkit.h"

#include <stdlib.h>

#include "rules/rules.h"

struct reading *watchkit_reading(const struct snapshot *s, const struct history_view *h, unsigned second)
{
	static const struct history_view nothing;
	struct reading *reading = calloc(1, sizeof *reading);
	struct verdict *verdict = calloc(1, sizeof *verdict);
	struct ledger *ledger = s ? snap_ledger(s) : NULL;
	struct budget budget = { .share_bp = 20, .walks_total = 3, .walk_ns_total = 7000000 };
	struct thresholds thresholds;
	thresholds_init(&thresholds);
	if (s) {
		struct rule_input input = { .snapshot = s, .ledger = ledger, .thresholds = &thresholds, .history = h };
		rules_run(&input, verdict);
	}
	const struct agent_sight sight = { .at = { 1764489600000 + (int64_t)second * 1000 },
					   .snapshot = s,
					   .ledger = ledger,
					   .verdict = verdict,
					   .history = h ? h : &nothing,
					   .budget = &budget,
					   .waiting = s ? "" : "the JVM has ended; another one is awaited",
					   .has_books = s != NULL,
					   .scanned = true,
					   .interval_ms = 2000,
					   .death = "" };
	reading_take(reading, &sight, (struct mono){ (uint64_t)second * 1000000000 });
	free(ledger);
	free(verdict);
	return reading;
}

struct snapshot *watchkit_crowded(void)
{
	struct snapshot *s = snap_new(&snap_crowded);
	snap_flink(s, 500 * MIB, 300 * MIB, 64 * MIB, 128 * MIB, 192 * MIB, 1728ull * MIB);
	s->cgroup.max = limit_set(1100 * MIB);
	s->cgroup.high = limit_set(1050 * MIB);
	s->status.n_threads = count_of(60);
	return s;
}
