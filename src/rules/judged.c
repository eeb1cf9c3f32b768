/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/judged.h"

#include "rules/text.h"

bool judged_container(const struct ledger *ledger, struct judged_limit *ret_limit)
{
	bool told = ledger->limit_told;
	*ret_limit =
		(struct judged_limit){ ledger->limit.bytes, "the container's memory limit",
				       told ? "container limit" : "memory.max", told ? "--limit" : "cgroup", false };
	return ledger->limit.kind == LIMIT_SET;
}

bool judged_freeboard(const struct rule_input *input, struct judged_limit *ret_limit)
{
	if (input->ledger->freeboard_level != FREEBOARD_POD)
		return judged_container(input->ledger, ret_limit);
	*ret_limit = (struct judged_limit){ input->snapshot->pod_limit.bytes, "the pod's memory limit", "pod limit",
					    "--pod-limit", true };
	return true;
}

void judged_missing(struct finding *finding)
{
	finding_missing(finding, "memory limit: none in memory.max and none told (--limit SIZE)");
}

uint64_t judged_share(const struct rule_input *input, enum threshold threshold, uint64_t bytes)
{
	return thresholds_share(bytes, input->thresholds->raise[threshold]);
}

uint64_t judged_both(const struct rule_input *input, enum threshold share, enum threshold floor, uint64_t limit)
{
	uint64_t of_limit = judged_share(input, share, limit), bytes = judged_level(input, floor);
	return of_limit > bytes ? of_limit : bytes;
}
