/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/all.h"

enum rule_answer rule_tmpfs_charged(const struct rule_input *input, struct finding *finding)
{
	(void)input;
	(void)finding;
	return RULE_SILENT;
}

enum rule_answer rule_dirty_cache(const struct rule_input *input, struct finding *finding)
{
	(void)input;
	(void)finding;
	return RULE_SILENT;
}

enum rule_answer rule_page_cache_benign(const struct rule_input *input, struct finding *finding)
{
	(void)input;
	(void)finding;
	return RULE_SILENT;
}
