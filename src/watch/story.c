/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/story.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "ledger/figure.h"
#include "rules/rules.h"

enum { POINT_APART_MS = 4000, MINUTE_LEAST_MS = 50000, MINUTE_MOST_MS = 90000 };

void story_tell(struct story *story, struct wall at, enum severity severity, const char *format, ...)
{
	struct story_event *event = &story->events[story->next_event];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(event->text, sizeof event->text, format, args);
	va_end(args);
	event->at = at;
	event->severity = severity;
	story->next_event = (story->next_event + 1) % STORY_EVENTS_MAX;
	story->n_events += story->n_events < STORY_EVENTS_MAX;
}

const struct story_event *story_event(const struct story *story, size_t nth)
{
	if (nth >= story->n_events)
		return NULL;
	return &story->events[(story->next_event + 2 * STORY_EVENTS_MAX - 1 - nth) % STORY_EVENTS_MAX];
}

/* --- growth ------------------------------------------------------------------------------------------------------- */

static struct qty bytes_of(const struct reading *r, unsigned what)
{
	if (what == STORY_FLOOR)
		return r->ledger.floor_bytes;
	return r->ledger.listed[what] ? r->ledger.lines[what].bytes : (struct qty){ 0 };
}

static struct story_point point_of(const struct reading *r)
{
	struct story_point point = { .at = r->read };
	for (unsigned i = 0; i <= STORY_FLOOR; i++)
		point.bytes[i] = bytes_of(r, i);
	return point;
}

static uint64_t ms_between(struct mono then, struct mono now)
{
	return now.ns > then.ns ? (now.ns - then.ns) / 1000000 : 0;
}

static void keep_point(struct story *story, const struct reading *r)
{
	struct story_point point = point_of(r);
	/* What is first read late is first read then. */
	for (unsigned i = 0; i <= STORY_FLOOR; i++)
		if (!qty_known(story->first.bytes[i]))
			story->first.bytes[i] = point.bytes[i];
	const struct story_point *last = &story->lately[(story->next_point + STORY_POINTS - 1) % STORY_POINTS];
	if (story->n_points && ms_between(last->at, r->read) < POINT_APART_MS)
		return;
	story->lately[story->next_point] = point;
	story->next_point = (story->next_point + 1) % STORY_POINTS;
	story->n_points += story->n_points < STORY_POINTS;
}

static struct signed_qty difference(struct qty then, struct qty now)
{
	int64_t by;
	if (!qty_known(then) || !qty_known(now))
		return (struct signed_qty){ 0 };
	if (__builtin_sub_overflow(now.bytes, then.bytes, &by))
		return (struct signed_qty){ 0 };
	return (struct signed_qty){ by, true };
}

struct signed_qty story_since_start(const struct story *story, const struct reading *now, unsigned what)
{
	return difference(story->first.bytes[what], bytes_of(now, what));
}

struct signed_qty story_last_minute(const struct story *story, const struct reading *now, unsigned what)
{
	const struct story_point *best = NULL;
	uint64_t best_ms = 0;
	for (size_t i = 0; i < story->n_points; i++) {
		uint64_t ago_ms = ms_between(story->lately[i].at, now->read);
		if (ago_ms < MINUTE_LEAST_MS || ago_ms > MINUTE_MOST_MS)
			continue;
		uint64_t off = ago_ms > STORY_MINUTE_MS ? ago_ms - STORY_MINUTE_MS : STORY_MINUTE_MS - ago_ms;
		if (best && off >= best_ms)
			continue;
		best = &story->lately[i];
		best_ms = off;
	}
	return best ? difference(best->bytes[what], bytes_of(now, what)) : (struct signed_qty){ 0 };
}

/* --- events ------------------------------------------------------------------------------------------------------- */

static bool same_limit(struct limit a, struct limit b)
{
	return a.kind == b.kind && (a.kind != LIMIT_SET || a.bytes == b.bytes);
}

static void note_limit(struct story *story, const struct reading *r)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	const struct limit *limit = &r->ledger.limit;
	/* One that cannot be read now is no resize: the last one that was known stays. */
	if (limit->kind == LIMIT_UNREAD)
		return;
	if (story->limit.kind != LIMIT_UNREAD && !same_limit(story->limit, *limit))
		story_tell(story, r->at, SEVERITY_NOTICE, "the limit was changed from %s to %s",
			   figure_limit(a, story->limit), figure_limit(b, *limit));
	story->limit = *limit;
}

static void note_count(struct story *story, const struct reading *r, struct count *before, struct count now,
		       const char *what)
{
	if (before->known && now.known && now.n > before->n)
		story_tell(story, r->at, SEVERITY_CRITICAL, "%s (%" PRIu64 " to %" PRIu64 ")", what, before->n, now.n);
	if (now.known)
		*before = now;
}

static void note_kills(struct story *story, const struct reading *r)
{
	note_count(story, r, &story->oom_kill, r->events.oom_kill, "the kernel killed here: oom_kill");
	note_count(story, r, &story->oom, r->events.oom, "the container was out of memory: oom");
}

static void note_findings(struct story *story, const struct reading *r)
{
	for (size_t i = 0; i < rule_count && i < FINDINGS_MAX; i++) {
		const struct finding *f = rules_finding(&r->verdict, rule_table[i].name);
		bool open = f && f->severity >= SEVERITY_NOTICE;
		if (open && !story->open[i])
			story_tell(story, r->at, f->severity, "%s: %s", rule_table[i].name, f->title);
		else if (!open && story->open[i])
			story_tell(story, r->at, SEVERITY_NONE, "%s is no longer so", rule_table[i].name);
		story->open[i] = open;
	}
}

static void note_end(struct story *story, const struct reading *r)
{
	bool news = r->died.ms != story->died.ms;
	if (story->has_target || news)
		story_tell(story, r->at, SEVERITY_CRITICAL, "process %d has ended%s%s", story->process.pid,
			   news && r->death[0] ? ": " : "", news ? r->death : "");
	story->died = r->died;
	story->has_target = false;
	memset(story->open, 0, sizeof story->open);
}

static void note_begin(struct story *story, const struct reading *r)
{
	if (story->has_target || r->died.ms != story->died.ms)
		note_end(story, r); /* both between two readings */
	story_tell(story, r->at, SEVERITY_NONE, "%s process %d, %s", story->begun ? "another one:" : "watching",
		   r->process.pid, engine_names[r->engine]);
	story->has_target = true;
	story->process = r->process;
	story->first = (struct story_point){ .at = r->read };
	story->n_points = story->next_point = 0;
	story->oom = story->oom_kill = (struct count){ 0 };
	story->begun = true;
}

void story_feed(struct story *story, const struct reading *r)
{
	if (!r->has_target) {
		if (story->has_target)
			note_end(story, r);
		return;
	}
	if (!story->has_target || story->process.pid != r->process.pid ||
	    story->process.start_ticks != r->process.start_ticks)
		note_begin(story, r);
	note_limit(story, r);
	note_kills(story, r);
	note_findings(story, r);
	keep_point(story, r);
}
