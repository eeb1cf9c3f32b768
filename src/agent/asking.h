/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the JVM's own word (NMT, GC.heap_info) is to be asked for anew: PURE.
 *
 * Between two answers it is taken for what still holds. A JVM of three seconds has 10 MiB of metaspace, the same
 * TaskManager half a minute later 48: five minutes with the first answer would book the rest as native-other.
 */
#ifndef AGENT_ASKING_H
#define AGENT_ASKING_H

#include "bankfull/quantity.h"

enum { ASKING_CLOSEST_MS = 30000, ASKING_GROWN_MS = 60000 };

/* Until the next time: as long as the JVM has lived, for that long it may take to change as much again. */
uint64_t asking_interval_ms(uint64_t interval_ms, uint64_t age_ms);

/* Its anonymous memory was `then` at the last answer, `since_ms` ago: has it grown past what that could tell of? */
bool asking_outgrown(struct qty then, struct qty now, uint64_t since_ms);

#endif
