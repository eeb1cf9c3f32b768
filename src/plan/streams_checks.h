/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a plan of Kafka Streams. Internal to src/plan. */
#ifndef PLAN_STREAMS_CHECKS_H
#define PLAN_STREAMS_CHECKS_H

#include "plan/streamsplan.h"

/* Fills plan->verdict, the gravest first, with its headline. */
void streams_checks(const struct streamsplan_ask *ask, struct streamsplan *plan);

#endif
