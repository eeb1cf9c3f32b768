/* SPDX-License-Identifier: Apache-2.0 */
/* What is proposed, as steps. Internal to src/plan. */
#ifndef PLAN_STREAMS_SIZE_PARTS_H
#define PLAN_STREAMS_SIZE_PARTS_H

#include "plan/streams_size.h"

/* Raising first, then the setter, then what is lowered: cache, heap, the limit last. */
void streams_size_steps(struct streams_size *size);

#endif
