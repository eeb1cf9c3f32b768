/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/reading.h"

#include <stdio.h>

#include "rules/growing.h"

static void take_target(struct reading *r, const struct snapshot *s)
{
	r->process = s->process;
	r->engine = s->engine.kind;
	r->gc = s->gc;
	r->allocator = s->allocator;
	str_copy(r->version, sizeof r->version, str_of(s->engine.version));
	str_copy(r->jdk, sizeof r->jdk, str_of(s->jdk));
	str_copy(r->container_id, sizeof r->container_id, str_of(s->container_id));
	_Static_assert(sizeof r->jobs == sizeof s->engine.jobs, "the same names");
	memcpy(r->jobs, s->engine.jobs, sizeof r->jobs);
	r->n_jobs = s->engine.n_jobs;
	r->books_age_ms = s->age_ms;
	r->events = s->cgroup.events;
	r->high = s->cgroup.high;
	r->stall_bp = s->cgroup.pressure.full.known ? count_of(s->cgroup.pressure.full.avg10_bp) : (struct count){ 0 };
	const struct gap *gap = snapshot_gap(s, "proc/smaps");
	str_copy(r->no_books, sizeof r->no_books, str_of(gap ? gap->reason : ""));
}

static void take_verdict(struct reading *r, const struct verdict *v)
{
	r->verdict = *v;
	for (size_t i = 0; i < v->n_silenced; i++) {
		str_copy(r->reasons[i], sizeof r->reasons[i], str_of(v->silenced[i].reason));
		r->verdict.silenced[i].reason = NULL;
	}
}

void reading_take(struct reading *r, const struct agent_sight *sight, struct mono now)
{
	memset(r, 0, sizeof *r);
	r->at = sight->at;
	r->read = now;
	r->interval_ms = sight->interval_ms;
	r->asking = sight->asking;
	r->urgent = sight->urgent;
	r->lives_total = sight->lives_total;
	r->died = sight->died;
	str_copy(r->death, sizeof r->death, str_of(sight->death));
	str_copy(r->waiting, sizeof r->waiting, str_of(sight->waiting));
	r->walks_total = sight->budget->walks_total;
	r->walk_ns_total = sight->budget->walk_ns_total;
	r->share_bp = sight->budget->share_bp;
	r->skipped = sight->budget->last_skip;
	r->has_target = sight->snapshot != NULL;
	if (!r->has_target)
		return;
	take_target(r, sight->snapshot);
	take_verdict(r, sight->verdict);
	r->ledger = *sight->ledger;
	r->has_books = sight->has_books;
	r->scanned = sight->scanned;
	r->forecast = sight->history->forecast;
	r->history_ms = sight->history->span_ms;
	r->settling_s = sight->history->settling_s;
}

static const char *who_grows(const struct forecast *forecast)
{
	return forecast->owner >= 0 ? owner_table[forecast->owner].name : "what it holds";
}

void reading_when(const struct reading *r, char *dest, size_t cap)
{
	const struct forecast *f = &r->forecast;
	char time[GROWING_TEXT_CAP];
	const struct signed_qty *left = &r->ledger.freeboard_bytes;
	if (!r->has_target)
		(void)snprintf(dest, cap, "no JVM");
	else if (left->known && left->bytes <= 0)
		(void)snprintf(dest, cap, "now: the floor is at the limit");
	else if (r->ledger.limit.kind == LIMIT_NONE)
		(void)snprintf(dest, cap, "never: there is no limit");
	else if (r->ledger.limit.kind == LIMIT_UNREAD)
		(void)snprintf(dest, cap, "unread: no limit is known");
	else if (f->kind == FORECAST_REACHES)
		(void)snprintf(dest, cap, "in about %s if %s goes on growing", growing_about(time, f->likely_s),
			       who_grows(f));
	else if (f->kind == FORECAST_DECELERATING)
		(void)snprintf(dest, cap, "not at this pace: %s grows, and ever slower", who_grows(f));
	else if (f->kind == FORECAST_NOT_GROWING)
		(void)snprintf(dest, cap, "not growing towards it");
	else if (r->settling_s || r->history_ms < 1000)
		(void)snprintf(dest, cap, "not known yet: what has just started must settle");
	else
		(void)snprintf(dest, cap, "not known yet: %s seen", growing_time(time, r->history_ms / 1000));
}

int reading_largest(const struct reading *r)
{
	int largest = -1;
	for (int i = 0; r->has_target && i < OWNER_COUNT; i++) {
		uint64_t bytes = ledger_bytes(&r->ledger, (enum owner)i);
		if (bytes && !owner_is_reclaimable((enum owner)i) &&
		    (largest < 0 || bytes > ledger_bytes(&r->ledger, (enum owner)largest)))
			largest = i;
	}
	return largest;
}
