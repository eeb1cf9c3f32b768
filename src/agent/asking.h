/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When the JVM's own word (NMT, GC.heap_info) is to be asked for anew, and whether a scan waits for the engine's: PURE.
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

/*
 * A scan that is due, and what the engine says beside it. Figures that are a fetch old make an owner that grows look smaller
 * by what it took since; the next fetch is then made before the scan instead of after it, where it is due by the tick after.
 */
enum asking_stage {
	ASKING_IDLE = 0,
	ASKING_AWAITED, /* a fetch was begun for the scan that waits */
	ASKING_ANSWERED /* it has ended, well or not */
};
struct asking_scan {
	enum asking_stage stage;
	bool tells;               /* the engine's metrics were read the last time */
	bool busy;                /* something is being asked: JVM or engine */
	uint64_t due_ms, tick_ms; /* until the next fetch of the engine; between two ticks */
	uint64_t awaited_ms;      /* AWAITED: for how long */
};
enum asking_step { ASKING_SCAN, ASKING_FETCH, ASKING_WAIT };
enum { ASKING_WAIT_MS = 1000 }; /* at most: a page that hangs delays a scan by this, and no other sample */
enum asking_step asking_step(const struct asking_scan *scan);

#endif
