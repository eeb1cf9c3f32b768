/* SPDX-License-Identifier: Apache-2.0 */
/* The rules, one function each. Internal to src/rules: the table is the way in. */
#ifndef RULES_ALL_H
#define RULES_ALL_H

#include "rules/rules.h"

rule_fn rule_freeboard_low;            /* limit.c */
rule_fn rule_demand_over_limit;        /* limit.c */
rule_fn rule_limit_below_process_size; /* limit.c */
rule_fn rule_rocksdb_over_budget;      /* rocksdb.c */
rule_fn rule_access_degraded;          /* access.c */

#endif
