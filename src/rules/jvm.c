/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/all.h"

enum rule_answer rule_heap_sized_from_host(const struct rule_input *input, struct finding *finding)
{
	(void)input;
	(void)finding;
	return RULE_SILENT;
}

enum rule_answer rule_heap_pressure(const struct rule_input *input, struct finding *finding)
{
	(void)input;
	(void)finding;
	return RULE_SILENT;
}

enum rule_answer rule_metaspace_near_limit(const struct rule_input *input, struct finding *finding)
{
	(void)input;
	(void)finding;
	return RULE_SILENT;
}

enum rule_answer rule_direct_near_limit(const struct rule_input *input, struct finding *finding)
{
	(void)input;
	(void)finding;
	return RULE_SILENT;
}
