/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/all.h"

enum rule_answer rule_other_process(const struct rule_input *input, struct finding *finding)
{
	(void)input;
	(void)finding;
	return RULE_SILENT;
}
