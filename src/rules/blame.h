/* SPDX-License-Identifier: Apache-2.0 */
/* Whom to name where a container is full. */
#ifndef RULES_BLAME_H
#define RULES_BLAME_H

#include "rules/rules.h"

/* The budget that is overrun by most, or NULL; and the largest owner in one. */
const struct ledger_budget *blame_budget(const struct ledger *ledger);
int blame_in_budget(const struct ledger *ledger, const struct ledger_budget *budget);

/* Who made most of what the floor grew by, -1: nobody did, or nothing is known of the time before. */
int blame_grower(const struct rule_input *input);

/*
 * The owner that fills most of a budget that is overrun; else who made most of the floor's growth, for what stood there
 * all the time did not fill the container; else the largest. Page cache is never blamed: it is not in the floor.
 */
int blame_owner(const struct rule_input *input);

/* One sentence on why `finding->owner` is named. */
void blame_observe(const struct rule_input *input, struct finding *finding);

#endif
