/* SPDX-License-Identifier: Apache-2.0 */
/* The first sentence of a report. Internal to src/rules: rank_run() writes it. */
#ifndef RULES_HEADLINE_H
#define RULES_HEADLINE_H

#include "rules/rules.h"

/* What the first finding says, and how much room is left; without a finding at notice or above, who holds most and how much room is left. */
void headline_write(const struct rule_input *input, struct verdict *verdict);

#endif
