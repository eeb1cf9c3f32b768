/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules that only a collector can judge, because they are about agents that say nothing and about itself
 * (src/collector/own_rules.c). They look at no snapshot, so they do not stand in rule_table; lists and pages name both.
 */
#ifndef RULES_COLLECTOR_RULES_H
#define RULES_COLLECTOR_RULES_H

#include <stddef.h>

#include "base/str.h"

struct collector_rule {
	const char *name;
	const char *meaning; /* one line */
	const char *inputs;  /* what it needs, in words */
};

enum {
	COLLECTOR_RULE_SILENT = 0,
	COLLECTOR_RULE_ACCESS,
	COLLECTOR_RULE_STORE,
	COLLECTOR_RULE_DELIVERY,
	COLLECTOR_RULE_COUNT
};
extern const struct collector_rule collector_rule_table[COLLECTOR_RULE_COUNT];

/* The row of this name, or NULL. */
const struct collector_rule *collector_rule_find(struct str name);

#endif
