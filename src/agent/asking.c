/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/asking.h"

/* One job's classes are 6 to 18 MiB, some of them in pages that others left; a per cent of a large heap that fills is no news. */
#define GROWN_BYTES (UINT64_C(4) << 20)
enum { GROWN_PART = 100 };

uint64_t asking_interval_ms(uint64_t interval_ms, uint64_t age_ms)
{
	uint64_t next = age_ms > ASKING_CLOSEST_MS ? age_ms : ASKING_CLOSEST_MS;
	return next < interval_ms ? next : interval_ms;
}

bool asking_outgrown(struct qty then, struct qty now, uint64_t since_ms)
{
	if (!qty_known(then) || !qty_known(now) || now.bytes < then.bytes || since_ms < ASKING_GROWN_MS)
		return false;
	uint64_t part = then.bytes / GROWN_PART;
	return now.bytes - then.bytes >= (part > GROWN_BYTES ? part : GROWN_BYTES);
}

enum asking_step asking_step(const struct asking_scan *scan)
{
	if (scan->stage == ASKING_AWAITED)
		return scan->awaited_ms < ASKING_WAIT_MS ? ASKING_WAIT : ASKING_SCAN;
	/* Who tells nothing is not waited for. */
	bool worth = scan->stage == ASKING_IDLE && scan->tells && !scan->busy && scan->due_ms <= scan->tick_ms;
	return worth ? ASKING_FETCH : ASKING_SCAN;
}
