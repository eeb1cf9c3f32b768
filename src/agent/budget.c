/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/budget.h"

#include <string.h>

const char *const budget_answer_names[BUDGET_ANSWER_COUNT] = { "go", "not-due", "share", "hold", "quota", "pressure" };

enum {
	/* Nothing measured yet: 6 ms a GiB, as measured on 4 KiB pages (docs/agent.md). */
	NS_PER_MIB_AT_FIRST = 6 * 1000000 / 1024,
	/*
	 * The same where a quota throttles us: a field report's 21 ms a GiB (ncabatoff/process-exporter#246). Too low a guess
	 * costs a hold that is some times longer without a quota, and whole periods with one: on a machine of 40 ms a GiB the
	 * one walk of 512 MiB at 100m stalled the target for 195 ms.
	 */
	NS_PER_MIB_UNDER_QUOTA = 21 * 1000000 / 1024,
	/* A hold of less than this much tells of the machine's noise, not of its page tables. */
	RATE_FROM_BYTES = 64 << 20,
	BACKOFF_MAX = 3, /* eight times the interval */
	SOONEST_MS = 5000,
	FORGET_SHARE = 16,
};

#define MS      ((uint64_t)1000000)
#define NO_TIME UINT64_MAX

void budget_start(struct budget *budget, uint64_t share_bp, uint64_t interval_ms, uint64_t hold_ms, uint64_t quota_ns)
{
	memset(budget, 0, sizeof *budget);
	budget->share_bp = share_bp ? share_bp : 1;
	budget->interval_ns = interval_ms * MS;
	budget->hold_ns_max = hold_ms * MS;
	budget->quota_ns = quota_ns;
}

void budget_forget_target(struct budget *budget)
{
	budget->last_hold_cpu_ns = budget->last_hold_bytes = 0;
	budget->refused = false;
	budget->backoff = 0;
	budget->last_skip = BUDGET_GO;
}

static uint64_t times(uint64_t a, uint64_t b)
{
	uint64_t product;
	return __builtin_mul_overflow(a, b, &product) ? NO_TIME : product;
}

static uint64_t at_first(const struct budget *budget)
{
	return budget->quota_ns ? NS_PER_MIB_UNDER_QUOTA : NS_PER_MIB_AT_FIRST;
}

uint64_t budget_predict_ns(const struct budget *budget, uint64_t largest_bytes)
{
	uint64_t mib = largest_bytes >> 20;
	if (budget->last_hold_bytes < RATE_FROM_BYTES)
		return times(mib, at_first(budget));
	uint64_t per_mib = budget->last_hold_cpu_ns / (budget->last_hold_bytes >> 20);
	return times(mib, per_mib ? per_mib : 1);
}

/* What the last walk must be paid for with. */
static uint64_t pause_ns(const struct budget *budget)
{
	return times(budget->last_ns, 10000) / budget->share_bp;
}

static uint64_t since(struct mono then, struct mono now)
{
	return now.ns > then.ns ? now.ns - then.ns : 0;
}

static enum budget_answer decide(const struct budget *budget, const struct budget_ask *ask)
{
	uint64_t passed = since(budget->ended, ask->now);
	uint64_t wanted = ask->sooner ? SOONEST_MS * MS : budget->interval_ns;
	wanted = times(wanted, UINT64_C(1) << budget->backoff);
	if ((budget->walked && passed < wanted) || (budget->refused && since(budget->refused_at, ask->now) < wanted))
		return BUDGET_NOT_DUE;
	if (budget->walked && passed < pause_ns(budget))
		return ask->sooner ? BUDGET_SHARE : BUDGET_NOT_DUE;
	uint64_t predicted = budget_predict_ns(budget, ask->largest_bytes);
	if (predicted > budget->hold_ns_max)
		return BUDGET_HOLD;
	if (budget->quota_ns && predicted > budget->quota_ns / 2)
		return BUDGET_QUOTA;
	/* Near the end what fills the memory is worth one more hold. */
	if (ask->stalled && !ask->sooner && budget->backoff < BACKOFF_MAX)
		return BUDGET_PRESSURE;
	return BUDGET_GO;
}

/*
 * A rate that was measured once on a bad day must not hold for ever: each refusal forgets a part of what it is above the
 * first one, so that after some twenty intervals it is measured again.
 */
static void forget_some(struct budget *budget)
{
	uint64_t usual = times(budget->last_hold_bytes >> 20, at_first(budget));
	if (budget->last_hold_bytes >= RATE_FROM_BYTES && budget->last_hold_cpu_ns > usual)
		budget->last_hold_cpu_ns -= (budget->last_hold_cpu_ns - usual) / FORGET_SHARE;
}

enum budget_answer budget_ask(struct budget *budget, const struct budget_ask *ask)
{
	enum budget_answer answer = decide(budget, ask);
	if (answer == BUDGET_NOT_DUE)
		return answer;
	budget->last_skip = answer;
	budget->refused = answer != BUDGET_GO;
	budget->refused_at = ask->now;
	budget->skipped_total[answer] += answer != BUDGET_GO;
	budget->backoff += answer == BUDGET_PRESSURE;
	if (answer == BUDGET_HOLD || answer == BUDGET_QUOTA)
		forget_some(budget);
	return answer;
}

void budget_spent(struct budget *budget, const struct budget_walk *walk)
{
	budget->walked = true;
	budget->ended = walk->ended;
	budget->last_ns = walk->inside_ns;
	budget->last_hold_cpu_ns = walk->hold_cpu_ns;
	budget->last_hold_bytes = walk->largest_bytes;
	budget->walks_total++;
	budget->walk_ns_total += walk->inside_ns;
	if (walk->inside_ns > budget->longest_walk_ns)
		budget->longest_walk_ns = walk->inside_ns;
	if (walk->hold_ns > budget->longest_hold_ns)
		budget->longest_hold_ns = walk->hold_ns;
	if (walk->throttled) {
		budget->throttled_total++;
		budget->backoff += budget->backoff < BACKOFF_MAX;
	} else {
		budget->backoff -= budget->backoff > 0;
	}
}
