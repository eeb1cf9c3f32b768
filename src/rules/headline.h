/* SPDX-License-Identifier: Apache-2.0 */
/* The first sentence of a report. Internal to src/rules: rank_run() writes it. */
#ifndef RULES_HEADLINE_H
#define RULES_HEADLINE_H

#include "rules/rules.h"

/* At warning or above what the first finding says, and how much room is left; else the room, and what is worth knowing. */
void headline_write(const struct rule_input *input, struct verdict *verdict);

#endif
