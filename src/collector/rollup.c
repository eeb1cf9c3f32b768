/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/rollup.h"

#include "base/sat.h"

static void mean_add(struct rollup_mean *mean, __int128 value, unsigned state, uint64_t weight)
{
	if (state == 0)
		return;
	mean->sum += value * weight;
	mean->n += weight;
	if (state > mean->state) /* the states are in order of trust, the best first */
		mean->state = state;
}

static struct qty mean_qty(const struct rollup_mean *mean)
{
	if (mean->n == 0)
		return (struct qty){ 0 };
	return qty_of((uint64_t)(mean->sum / mean->n), (enum qty_state)mean->state);
}

static struct qty highest(struct qty a, struct qty b)
{
	return !qty_known(a) || (qty_known(b) && b.bytes > a.bytes) ? b : a;
}

static struct signed_qty lowest(struct signed_qty a, struct signed_qty b)
{
	return !a.known || (b.known && b.bytes < a.bytes) ? b : a;
}

void rollup_add(struct rollup *rollup, const struct pack_point *point)
{
	const struct store_point *p = &point->point;
	uint64_t weight = p->n_samples ? p->n_samples : 1;
	mean_add(&rollup->charge, p->charge_bytes.bytes, p->charge_bytes.state, weight);
	mean_add(&rollup->floor, p->floor_bytes.bytes, p->floor_bytes.state, weight);
	mean_add(&rollup->freeboard, p->freeboard_bytes.bytes, p->freeboard_bytes.known, weight);
	for (int i = 0; i < GROUP_COUNT; i++)
		mean_add(&rollup->groups[i], p->groups[i].bytes, p->groups[i].state, weight);
	struct store_point before = rollup->last.point;
	rollup->last = *point;
	struct store_point *last = &rollup->last.point;
	last->charge_max_bytes = highest(before.charge_max_bytes, p->charge_max_bytes);
	last->floor_max_bytes = highest(before.floor_max_bytes, p->floor_max_bytes);
	last->freeboard_min_bytes = lowest(before.freeboard_min_bytes, p->freeboard_min_bytes);
	if (!p->has_composition && before.has_composition) {
		last->has_composition = true;
		memcpy(last->owners, before.owners, sizeof last->owners);
	}
	uint64_t n = sat_add(before.n_samples, weight);
	last->n_samples = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
}

bool rollup_take(struct rollup *rollup, struct pack_point *ret_point)
{
	if (rollup_is_empty(rollup))
		return false;
	struct store_point *last = &rollup->last.point;
	last->charge_bytes = mean_qty(&rollup->charge);
	last->floor_bytes = mean_qty(&rollup->floor);
	last->freeboard_bytes = (struct signed_qty){ 0 };
	if (rollup->freeboard.n)
		last->freeboard_bytes =
			(struct signed_qty){ (int64_t)(rollup->freeboard.sum / rollup->freeboard.n), true };
	for (int i = 0; i < GROUP_COUNT; i++)
		last->groups[i] = mean_qty(&rollup->groups[i]);
	*ret_point = rollup->last;
	*rollup = (struct rollup){ 0 };
	return true;
}
