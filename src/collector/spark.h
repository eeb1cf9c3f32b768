/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last hour of one pod in 64 bytes: the largest floor of each minute as a part of the limit, for a line as wide as a
 * word. A minute without a sample is a gap. PURE.
 */
#ifndef COLLECTOR_SPARK_H
#define COLLECTOR_SPARK_H

#include "bankfull/quantity.h"

enum { SPARK_MINUTES = 60, SPARK_STEPS = 63 };

struct spark {
	uint32_t minute;           /* the latest in it, since 1970; 0: there is none */
	uint8_t at[SPARK_MINUTES]; /* by minute % SPARK_MINUTES: 0 a gap, else 1 to SPARK_STEPS + 1 */
};

/* Nothing where floor or limit is not known, or where `taken` is an hour before what is in it. */
void spark_put(struct spark *spark, struct wall taken, struct qty floor_bytes, struct limit limit);

/* One character a minute up to that of `now`: 0-9A-Za-z-_ for 0 to 63, '.' for a gap. */
void spark_text(const struct spark *spark, struct wall now, char ret_text[SPARK_MINUTES + 1]);

#endif
