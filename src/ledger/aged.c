/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/aged.h"

#include <string.h>

#include "ledger/parts.h"

void aged_keep(const struct snapshot *snapshot, const struct ledger *ledger, struct aged_mark *ret_mark)
{
	ret_mark->known = true;
	ret_mark->ledger = *ledger;
	ret_mark->rss_anon_bytes = snapshot->status.rss_anon_bytes;
}

/* RssAnon runs some MiB low on many CPUs, but alike before and after: its difference is good to a page batch a CPU. */
static void move_floor(const struct aged_mark *mark, const struct snapshot *snapshot, struct ledger *ledger)
{
	const struct ledger *old = &mark->ledger;
	struct signed_qty moved = signed_difference(snapshot->status.rss_anon_bytes, mark->rss_anon_bytes);
	int64_t floor;
	if (old->freeboard_level == FREEBOARD_CONTAINER || qty_known(snapshot->cgroup.stat.anon_bytes) ||
	    !moved.known || !qty_known(old->floor_bytes) ||
	    __builtin_add_overflow((int64_t)(old->floor_bytes.bytes & INT64_MAX), moved.bytes, &floor) || floor < 0)
		return;
	struct qty now = qty_of((uint64_t)floor, moved.bytes ? QTY_INFERRED : old->floor_bytes.state);
	/* Every room was computed from the floor of the mappings: it moves by the same. */
	struct signed_qty by = signed_difference(now, ledger->floor_bytes);
	ledger->floor_bytes = now;
	if (by.known && ledger->freeboard_bytes.known &&
	    __builtin_sub_overflow(ledger->freeboard_bytes.bytes, by.bytes, &ledger->freeboard_bytes.bytes))
		ledger->freeboard_bytes = (struct signed_qty){ 0 };
}

void aged_apply(const struct aged_mark *mark, const struct snapshot *snapshot, uint32_t age_ms, struct ledger *ledger)
{
	if (!mark->known)
		return;
	const struct ledger *old = &mark->ledger;
	memcpy(ledger->lines, old->lines, sizeof ledger->lines);
	memcpy(ledger->listed, old->listed, sizeof ledger->listed);
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		struct ledger_line *line = &ledger->lines[owner];
		line->age_ms = age_ms;
		if (age_ms > AGED_DERIVED_MS && line->bytes.state == QTY_MEASURED)
			line->bytes.state = QTY_DERIVED;
	}
	for (int group = 0; group < GROUP_COUNT; group++) {
		ledger->groups[group].owners_bytes = old->groups[group].owners_bytes;
		ledger->groups[group].closed = old->groups[group].closed;
	}
	ledger->residual_bytes = old->residual_bytes;
	ledger->expected = old->expected;
	ledger->legal = old->legal;
	memcpy(ledger->budgets, old->budgets, sizeof ledger->budgets);
	ledger->n_budgets = old->n_budgets;
	ledger->native_pool_bytes = old->native_pool_bytes;
	ledger->pool_minus_claims_bytes = old->pool_minus_claims_bytes;
	ledger->overlap = old->overlap;
	move_floor(mark, snapshot, ledger);
}

void aged_grown(const struct aged_mark *mark, const struct ledger *ledger, struct signed_qty ret_grown[GROUP_COUNT])
{
	for (int group = 0; group < GROUP_COUNT; group++)
		ret_grown[group] = mark->known ? signed_difference(ledger->groups[group].counter_bytes,
								   mark->ledger.groups[group].counter_bytes)
					       : (struct signed_qty){ 0 };
}
