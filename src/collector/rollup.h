/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many points to one: PURE. Charge, floor, freeboard and groups are the mean of the samples that had them; beside it
 * stand the highest charge and floor and the lowest freeboard; limit, clocks and number are those of the last one, the
 * owners those of the last composition. A mean is as weak as its weakest sample, and unread only if all were.
 */
#ifndef COLLECTOR_ROLLUP_H
#define COLLECTOR_ROLLUP_H

#include "collector/pack.h"

struct rollup {
	struct rollup_mean {
		__int128 sum;
		uint64_t n;
		unsigned state; /* enum qty_state */
	} charge, floor, freeboard, groups[GROUP_COUNT];
	struct pack_point last; /* everything that is no mean, and n_samples of all */
};

static inline bool rollup_is_empty(const struct rollup *rollup)
{
	return rollup->last.point.n_samples == 0;
}

void rollup_add(struct rollup *rollup, const struct pack_point *point);
/* The one point, if there is any; `rollup` is empty again. */
bool rollup_take(struct rollup *rollup, struct pack_point *ret_point);

#endif
