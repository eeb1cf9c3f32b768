/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/blame.h"

#include "rules/growing.h"
#include "rules/text.h"

const struct ledger_budget *blame_budget(const struct ledger *ledger)
{
	const struct ledger_budget *worst = NULL;
	uint64_t most = 0;
	for (size_t i = 0; i < ledger->n_budgets; i++) {
		const struct ledger_budget *budget = &ledger->budgets[i];
		if (!qty_known(budget->actual_bytes) || budget->actual_bytes.bytes <= budget->budget_bytes)
			continue;
		uint64_t over = budget->actual_bytes.bytes - budget->budget_bytes;
		if (over > most) {
			most = over;
			worst = budget;
		}
	}
	return worst;
}

int blame_in_budget(const struct ledger *ledger, const struct ledger_budget *budget)
{
	int best = -1;
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		if ((budget->owners >> owner & 1) && ledger->listed[owner] && qty_known(ledger->lines[owner].bytes) &&
		    (best < 0 || ledger->lines[owner].bytes.bytes > ledger->lines[best].bytes.bytes))
			best = owner;
	return best;
}

/* What an owner grew over the window; 0 where it does not, or the kernel takes it back before it kills. */
static uint64_t grown_by(const struct history_view *history, int owner)
{
	const struct trend *trend = &history->owners[owner];
	bool grows = trend->kind == TREND_GROWING || trend->kind == TREND_DECELERATING;
	return grows && !owner_is_reclaimable((enum owner)owner) ? growing_grown(trend) : 0;
}

int blame_grower(const struct rule_input *input)
{
	const struct history_view *history = input->history;
	int best = -1;
	uint64_t most = 0;
	if (!history || (history->floor.kind != TREND_GROWING && history->floor.kind != TREND_DECELERATING))
		return -1;
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		uint64_t grown = grown_by(history, owner);
		/* Unread now, it was seen to grow all the same: a program that is nearly full answers late. */
		if (grown <= most || !input->ledger->listed[owner])
			continue;
		most = grown;
		best = owner;
	}
	return most > growing_grown(&history->floor) / 2 ? best : -1;
}

int blame_owner(const struct rule_input *input)
{
	const struct ledger_budget *budget = blame_budget(input->ledger);
	if (budget)
		return blame_in_budget(input->ledger, budget);
	int grower = blame_grower(input);
	return grower >= 0 ? grower : largest_owner(input->ledger);
}

static uint64_t last_seen(const struct rule_input *input, enum owner owner)
{
	return ledger_is_unread(input->ledger, owner) ? input->history->owners[owner].last_bytes
						      : ledger_bytes(input->ledger, owner);
}

void blame_observe(const struct rule_input *input, struct finding *finding)
{
	char owner[64];
	if (blame_grower(input) != finding->owner) {
		finding_observation(finding, "The largest owner: %s.",
				    owner_text(owner, input->ledger, finding->owner));
		return;
	}
	const struct trend *floor = &input->history->floor;
	char all[UNITS_TEXT_CAP], part[UNITS_TEXT_CAP], now[UNITS_TEXT_CAP], time[GROWING_TEXT_CAP];
	finding_observation(finding, "The floor grew by %s in %s, most of it %s, by %s to %s.",
			    units_format(all, growing_grown(floor)), growing_time(time, floor->span_ms / 1000),
			    owner_table[finding->owner].name,
			    units_format(part, grown_by(input->history, finding->owner)),
			    units_format(now, last_seen(input, (enum owner)finding->owner)));
}
