/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a plan: keys that do nothing, sizes that do not fit. Internal to src/plan. */
#ifndef PLAN_CHECKS_H
#define PLAN_CHECKS_H

#include "plan/flinkplan.h"

/* What RocksDB is given, in and outside of managed memory. */
void checks_rocksdb(const struct flinkplan_ask *ask, struct flinkplan *plan);

/* Rules of a report that can be judged, and all checks of the plan's own; ranked, with a headline. */
void checks_run(const struct flinkplan_ask *ask, struct flinkplan *plan);

/* The parts of it. A new finding of the plan's own; NULL: no room for more. */
struct finding *checks_new(struct verdict *verdict, const char *check, enum severity severity);
void checks_keys(const struct flinkplan_ask *ask, struct verdict *verdict);
void checks_sizes(const struct flinkplan_ask *ask, struct flinkplan *plan);

#endif
