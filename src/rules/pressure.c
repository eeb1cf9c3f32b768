/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/all.h"

enum rule_answer rule_swap_in_use(const struct rule_input *input, struct finding *finding)
{
	(void)input;
	(void)finding;
	return RULE_SILENT;
}

enum rule_answer rule_memory_high_throttling(const struct rule_input *input, struct finding *finding)
{
	(void)input;
	(void)finding;
	return RULE_SILENT;
}

enum rule_answer rule_pressure_stall(const struct rule_input *input, struct finding *finding)
{
	(void)input;
	(void)finding;
	return RULE_SILENT;
}

enum rule_answer rule_reclaim_thrash(const struct rule_input *input, struct finding *finding)
{
	(void)input;
	(void)finding;
	return RULE_SILENT;
}
