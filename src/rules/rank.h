/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to act on first: of the findings that fired, which one explains which, one sentence for a tired person, and
 * one change at a time. PURE.
 */
#ifndef RULES_RANK_H
#define RULES_RANK_H

#include "rules/rules.h"

/*
 * Sets `root` and `when` of each finding, orders them (a root, then what it explains; the gravest family first), and
 * writes headline and worst.
 *
 * A finding has a root when another one that fired can be its cause (the table in rank.c) and is grave enough to be: a
 * warning is never blamed on a notice. Of several, the gravest; of those, the one that accounts for most bytes.
 * Exactly one finding has CHANGE_NOW, or none where nothing is to be done.
 */
void rank_run(const struct rule_input *input, struct verdict *verdict);

/* `a` can be the cause of `b`. */
bool rank_explains(const char *a, const char *b);

/* The two changes turn one knob in opposite directions. */
bool rank_contradicts(const struct finding *a, const struct finding *b);

#endif
