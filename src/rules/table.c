/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/rules.h"

#include <string.h>

#include "rules/all.h"

const char *const severity_names[SEVERITY_COUNT] = { "none", "info", "notice", "warning", "critical" };

const struct rule rule_table[] = {
	{ "freeboard-low", "little room is left between what the kernel cannot reclaim and the limit", "limit, floor",
	  rule_freeboard_low },
	{ "demand-over-limit", "what the pod is configured to need, and will, does not fit its limit",
	  "limit, -Xmx, smaps", rule_demand_over_limit },
	{ "limit-below-process-size", "the container's limit is smaller than the size Flink was told to plan for",
	  "limit, Flink's budget", rule_limit_below_process_size },
	{ "rocksdb-over-budget", "RocksDB holds more than its budget", "RocksDB metrics, its budget",
	  rule_rocksdb_over_budget },
	{ "access-degraded", "something could not be read, and these lines are missing for it", "nothing",
	  rule_access_degraded },
};

const size_t rule_count = sizeof rule_table / sizeof rule_table[0];

static void place(struct verdict *verdict, const struct finding *finding)
{
	size_t at = verdict->n_findings;
	while (at > 0 && verdict->findings[at - 1].severity < finding->severity)
		at--;
	memmove(&verdict->findings[at + 1], &verdict->findings[at], (verdict->n_findings - at) * sizeof *finding);
	verdict->findings[at] = *finding;
	verdict->n_findings++;
}

void rules_run(const struct rule_input *input, struct verdict *ret_verdict)
{
	_Static_assert(sizeof rule_table / sizeof rule_table[0] < FINDINGS_MAX, "room for one finding a rule");
	ret_verdict->n_findings = ret_verdict->n_inconclusive = 0;
	struct finding finding;
	for (size_t i = 0; i < rule_count; i++) {
		memset(&finding, 0, sizeof finding);
		finding.rule = rule_table[i].name;
		finding.owner = -1;
		enum rule_answer answer = rule_table[i].eval(input, &finding);
		if (answer == RULE_FIRED) {
			place(ret_verdict, &finding);
		} else if (answer == RULE_INCONCLUSIVE) {
			struct inconclusive *open = &ret_verdict->inconclusive[ret_verdict->n_inconclusive++];
			open->rule = finding.rule;
			open->n_missing = finding.n_missing;
			memcpy(open->missing, finding.missing, sizeof open->missing);
		}
	}
}
