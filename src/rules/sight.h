/* SPDX-License-Identifier: Apache-2.0 */
/* How to see who holds native memory: one answer for every rule that finds some. Internal to src/rules. */
#ifndef RULES_SIGHT_H
#define RULES_SIGHT_H

#include "rules/rules.h"

/* The change that shows more: one thing at a time, the cheapest first. Engine metrics, the JVM's own books, a profile of malloc. */
void sight_native(const struct rule_input *input, struct finding *finding);

#endif
