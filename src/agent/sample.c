/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/sample.h"

#include <string.h>

enum {
	LOW_BP = 300,
	LOW_CLEAR_BP = 500,
	CALM_BP = 1000,
	MAX_URGENT_S = 60,
	MAX_QUIET_S = 600, /* a `max` event after so long a silence is news */
};

#define SECONDS(n) ((uint64_t)(n)*1000000000)

static struct count seconds_of(uint64_t seconds)
{
	return seconds == FORECAST_NEVER ? (struct count){ 0 } : count_of(seconds);
}

static void put_forecast(const struct forecast *forecast, struct wire_forecast *ret)
{
	*ret = (struct wire_forecast){ .owner = forecast->owner };
	str_copy(ret->kind, sizeof ret->kind, str_of(forecast_kind_names[forecast->kind]));
	if (forecast->kind != FORECAST_REACHES && forecast->kind != FORECAST_DECELERATING)
		return;
	ret->earliest_s = seconds_of(forecast->earliest_s);
	ret->likely_s = seconds_of(forecast->likely_s);
	ret->latest_s = seconds_of(forecast->latest_s);
}

static struct count pressure_bp(const struct cgroup_pressure_line *line)
{
	return line->known ? count_of(line->avg10_bp) : (struct count){ 0 };
}

/* Budgets, bounds and claims: what the lines are compared with. Of the same scan as they are. */
static void put_books(const struct snapshot *snapshot, const struct ledger *ledger, struct wire_books *ret)
{
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		const struct ledger_line *line = &ledger->lines[owner];
		if (!ledger->listed[owner])
			continue;
		ret->bounds[owner] = line->bound;
		ret->claims[owner] = line->claim_bytes;
		ret->unread |= (uint64_t)!qty_known(line->bytes) << owner;
	}
	ret->legal_bytes = ledger->legal.bytes;
	ret->engine = engine_facts(&snapshot->engine);
	ret->n_budgets = ledger->n_budgets;
	for (size_t i = 0; i < ledger->n_budgets; i++) {
		const struct ledger_budget *from = &ledger->budgets[i];
		struct wire_budget *to = &ret->budgets[i];
		str_copy(to->name, sizeof to->name, str_of(from->name));
		to->bytes = qty_measured(from->budget_bytes);
		to->used_bytes = from->actual_bytes;
		for (int owner = 0; owner < OWNER_COUNT; owner++) /* of those that there are */
			to->owners |= from->owners & (uint64_t)ledger->listed[owner] << owner;
	}
}

void sample_none(uint32_t interval_ms, uint64_t mono_ms, struct wall wall, struct wire_sample *ret_sample)
{
	memset(ret_sample, 0, sizeof *ret_sample);
	ret_sample->head.mono_ms = mono_ms;
	ret_sample->head.wall = wall;
	ret_sample->interval_ms = interval_ms;
	ret_sample->forecast.owner = -1;
}

void sample_make(const struct sample_input *input, struct wire_sample *ret_sample)
{
	const struct snapshot *s = input->snapshot;
	const struct ledger *ledger = input->ledger;
	struct wire_sample *out = ret_sample;
	sample_none(input->interval_ms, input->mono_ms, input->wall, out);
	out->urgent = input->urgent;
	out->pid = s->process.pid;
	out->start_ticks = s->process.start_ticks;
	out->access = s->access;
	out->limit = ledger->limit;
	out->limit_told = ledger->limit_told;
	out->charge_bytes = ledger->charge_bytes;
	out->floor_bytes = ledger->floor_bytes;
	out->swap_bytes = s->cgroup.swap_current_bytes;
	out->expected_bytes = ledger->expected.bytes;
	out->freeboard_bytes = ledger->freeboard_bytes;
	out->freeboard_level = ledger->freeboard_level;
	for (int group = 0; group < GROUP_COUNT; group++)
		out->groups[group] = ledger->groups[group].counter_bytes;
	aged_grown(input->mark, ledger, out->grown_since_scan);
	out->events = s->cgroup.events;
	out->some_avg10_bp = pressure_bp(&s->cgroup.pressure.some);
	out->full_avg10_bp = pressure_bp(&s->cgroup.pressure.full);
	out->refaults_file = s->cgroup.stat.workingset_refault_file;
	out->context = s->engine.context;
	if (input->history)
		put_forecast(&input->history->forecast, &out->forecast);
	if (!input->with_composition || !input->mark->known)
		return;
	out->has_composition = true;
	out->composition_age_ms = input->scan_age_ms < UINT32_MAX ? (uint32_t)input->scan_age_ms : UINT32_MAX;
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		if (ledger->listed[owner])
			out->owners[owner] = ledger->lines[owner].bytes;
	out->residual_bytes = ledger->residual_bytes;
	out->has_books = true;
	put_books(s, ledger, &out->books);
}

static bool same_size(struct qty a, struct qty b)
{
	return qty_known(a) == qty_known(b) && (!qty_known(a) || a.bytes == b.bytes);
}

/* Of what moves all the time it counts whether it is there. */
static bool same_facts(const struct engine_facts *a, const struct engine_facts *b)
{
	return a->backend == b->backend && a->batch == b->batch && a->python == b->python &&
	       qty_known(a->managed_reserved_bytes) == qty_known(b->managed_reserved_bytes) &&
	       (a->managed_reserved_bytes.bytes > 0) == (b->managed_reserved_bytes.bytes > 0) &&
	       same_size(a->network_bytes, b->network_bytes) &&
	       same_size(a->framework_off_heap_bytes, b->framework_off_heap_bytes) &&
	       same_size(a->task_off_heap_bytes, b->task_off_heap_bytes) &&
	       same_size(a->network_pool_bytes, b->network_pool_bytes) &&
	       a->streams_instances.known == b->streams_instances.known;
}

static bool same_shape(const struct wire_books *a, const struct wire_books *b)
{
	bool same = a->unread == b->unread && a->n_budgets == b->n_budgets && same_facts(&a->engine, &b->engine);
	for (size_t i = 0; same && i < OWNER_COUNT; i++)
		same = a->bounds[i].kind == b->bounds[i].kind;
	for (size_t i = 0; same && i < a->n_budgets; i++)
		same = strcmp(a->budgets[i].name, b->budgets[i].name) == 0 &&
		       a->budgets[i].bytes.bytes == b->budgets[i].bytes.bytes &&
		       a->budgets[i].owners == b->budgets[i].owners;
	return same;
}

void sample_thin(struct books_told *told, bool anew, struct wire_sample *sample)
{
	if (!sample->has_books)
		return;
	uint64_t now = sample->head.mono_ms;
	bool due = anew || !told->told || now < told->mono_ms || now - told->mono_ms >= WIRE_BOOKS_MS ||
		   told->pid != sample->pid || told->start_ticks != sample->start_ticks ||
		   !same_shape(&told->books, &sample->books);
	if (due)
		*told = (struct books_told){ true, now, sample->pid, sample->start_ticks, sample->books };
	else
		memset(&sample->books, 0, sizeof sample->books);
	sample->has_books = due;
}

/* Freeboard in basis points of the limit that it is below: the pod's may be the only one. -1: not known. */
static int64_t freeboard_bp(const struct snapshot *s, const struct ledger *ledger)
{
	const struct limit *limit = ledger->freeboard_level == FREEBOARD_POD ? &s->pod_limit : &ledger->limit;
	if (!ledger->freeboard_bytes.known || limit->kind != LIMIT_SET || limit->bytes < 10000)
		return -1;
	int64_t bytes = ledger->freeboard_bytes.bytes;
	return bytes <= 0 ? 0 : (int64_t)((uint64_t)bytes / (limit->bytes / 10000));
}

static void see_max(struct urgency *u, struct mono now, const struct snapshot *s, int64_t bp)
{
	const struct count *max = &s->cgroup.events.max;
	if (!max->known)
		return;
	bool rose = u->max_known && max->n > u->max_seen;
	/* What was counted before we came is no news. */
	u->max_known = true;
	u->max_seen = max->n;
	if (!rose)
		return;
	bool news = u->max_at.ns == 0 || now.ns - u->max_at.ns > SECONDS(MAX_QUIET_S);
	u->max_seen_total++;
	u->max_at = now;
	if (news || bp < CALM_BP)
		u->until.ns = now.ns + SECONDS(MAX_URGENT_S);
}

bool urgency_step(struct urgency *urgency, struct mono now, const struct snapshot *snapshot,
		  const struct ledger *ledger, bool *ret_first)
{
	int64_t bp = freeboard_bp(snapshot, ledger);
	see_max(urgency, now, snapshot, bp);
	urgency->low = bp >= 0 && bp < (urgency->low ? LOW_CLEAR_BP : LOW_BP);
	bool on = urgency->low || now.ns < urgency->until.ns;
	*ret_first = on && !urgency->on;
	urgency->begun_total += *ret_first;
	urgency->on = on;
	return on;
}
