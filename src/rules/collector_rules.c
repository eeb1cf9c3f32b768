/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/collector_rules.h"

/* In the order of COLLECTOR_RULE_*. */
const struct collector_rule collector_rule_table[COLLECTOR_RULE_COUNT] = {
	{ "agent-silent", "an agent has sent nothing for a while and did not say goodbye",
	  "the time of its last message" },
	{ "agent-access-lost", "an agent can read less of its target than it could before",
	  "the access level in its samples" },
	{ "store-filling", "the store's disk is nearly full or will be within a day, or its cap is too small",
	  "the size of the database, free bytes on its disk, the cap" },
	{ "alert-delivery-failing", "a receiver of alerts is not reached, or would not take one",
	  "the answers of the receivers" },
};

const struct collector_rule *collector_rule_find(struct str name)
{
	for (size_t i = 0; i < COLLECTOR_RULE_COUNT; i++)
		if (str_eq(str_of(collector_rule_table[i].name), name))
			return &collector_rule_table[i];
	return NULL;
}
