/* SPDX-License-Identifier: Apache-2.0 */
/* The body of a post-mortem as JSON. docs/wire.md lists its members. */
#include "agent/postmortem_parts.h"
#include "base/date.h"
#include "wire/put.h"

enum { GROWN_MAX = 10, CHANGED_MAX = 12 };

/*
 * The body is read by whoever reads the frame: past i64 it would be malformed, all of it (data/js.h). A claim comes from
 * a page that the watched program wrote: it may be any number.
 */
static bool fits(uint64_t value)
{
	return value <= INT64_MAX;
}

static void bytes_put(struct js_out *out, const char *key, struct qty qty)
{
	put_qty(out, key, fits(qty.bytes) ? qty : (struct qty){ 0 });
}

static void limit_put(struct js_out *out, const char *key, struct limit limit)
{
	put_limit(out, key, fits(limit.bytes) ? limit : (struct limit){ .kind = LIMIT_NONE });
}

static void count_put(struct js_out *out, const char *key, struct count count)
{
	put_count(out, key, fits(count.n) ? count : (struct count){ 0 });
}

static void put_u64(struct js_out *out, const char *key, uint64_t value)
{
	js_out_key(out, key);
	js_out_u64(out, fits(value) ? value : INT64_MAX);
}

static void put_date(struct js_out *out, const char *key, struct wall at)
{
	char date[DATE_TEXT_CAP];
	put_text(out, key, date_format(date, at.ms));
}

static void put_owner(struct js_out *out, const char *key, int owner)
{
	put_text(out, key, owner >= 0 && owner < OWNER_COUNT ? owner_table[owner].name : NULL);
}

static void put_events(struct js_out *out, const char *key, const struct cgroup_events *events)
{
	js_out_key(out, key);
	if (!events) {
		js_out_null(out);
		return;
	}
	js_out_object(out);
	count_put(out, "high", events->high);
	count_put(out, "max", events->max);
	count_put(out, "oom", events->oom);
	count_put(out, "oom_kill", events->oom_kill);
	count_put(out, "oom_group_kill", events->oom_group_kill);
	js_out_object_end(out);
}

static void put_evidence(struct js_out *out, const struct postmortem_input *in)
{
	const struct death_evidence *e = in->evidence;
	limit_put(out, "limit_bytes", e->limit);
	bytes_put(out, "charge_bytes", e->charge_bytes);
	bytes_put(out, "floor_bytes", e->floor_bytes);
	bytes_put(out, "peak_floor_bytes", e->peak_bytes);
	limit_put(out, "pod_limit_bytes", e->pod_limit);
	bytes_put(out, "pod_charge_bytes", e->pod_charge_bytes);
	bytes_put(out, "survivable_limit_bytes", in->verdict->survivable_limit);
	js_out_key(out, "spike_bytes");
	if (in->spike_bytes && fits(in->spike_bytes))
		js_out_u64(out, in->spike_bytes);
	else
		js_out_null(out);
	put_u64(out, "last_seen_ms", e->last_seen_ms);
	bytes_put(out, "host_available_bytes", e->host_available_bytes);
	bytes_put(out, "host_memory_bytes", e->host_memory_bytes);
	count_put(out, "node_psi_full_avg10_bp", e->node_psi_full_avg10_bp);
	count_put(out, "exit_status", e->exit_status);
	count_put(out, "heap_full_pct", e->heap_full_pct);
	count_put(out, "metaspace_full_pct", e->metaspace_full_pct);
	js_out_key(out, "stop_asked");
	js_out_bool(out, e->stop_asked);
	js_out_key(out, "events");
	js_out_object(out);
	put_events(out, "before", &e->before);
	put_events(out, "after", e->after_read ? &e->after : NULL);
	js_out_object_end(out);
}

static void put_composition(struct js_out *out, const struct postmortem_input *in)
{
	js_out_key(out, "composition");
	if (!in->ledger) {
		js_out_null(out);
		return;
	}
	js_out_object(out);
	put_u64(out, "age_ms", in->ledger_age_ms);
	js_out_key(out, "lines");
	js_out_array(out);
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		const struct ledger_line *line = &in->ledger->lines[owner];
		if (!in->ledger->listed[owner] || (qty_known(line->bytes) && line->bytes.bytes == 0))
			continue;
		js_out_object(out);
		put_owner(out, "owner", owner);
		bytes_put(out, "bytes", line->bytes);
		put_text(out, "state", qty_state_names[line->bytes.state]);
		if (qty_known(line->budget_bytes))
			bytes_put(out, "budget_bytes", line->budget_bytes);
		if (line->bound.kind == LIMIT_SET)
			limit_put(out, "bound_bytes", line->bound);
		if (qty_known(line->claim_bytes))
			bytes_put(out, "claim_bytes", line->claim_bytes);
		js_out_object_end(out);
	}
	js_out_array_end(out);
	put_signed(out, "residual_bytes", in->ledger->residual_bytes);
	js_out_object_end(out);
}

static void put_grown(struct js_out *out, const char *key, const char *name, struct qty from, struct qty to)
{
	if (!qty_known(from) || !qty_known(to))
		return;
	js_out_object(out);
	put_text(out, key, name);
	put_u64(out, "from_bytes", from.bytes);
	put_u64(out, "to_bytes", to.bytes);
	js_out_key(out, "grown_bytes");
	js_out_i64(out, death_grown(from, to));
	js_out_object_end(out);
}

/* Largest growth first. */
static void put_grown_owners(struct js_out *out, const struct wire_sample *first, const struct wire_sample *last)
{
	struct qty from[OWNER_COUNT];
	int64_t by[OWNER_COUNT];
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		from[owner] = death_from(first->owners, last->owners, (enum owner)owner);
		by[owner] = death_grown(from[owner], last->owners[owner]);
	}
	for (int n = 0; n < GROWN_MAX; n++) {
		int most = -1;
		for (int owner = 0; owner < OWNER_COUNT; owner++)
			if (by[owner] != 0 && (most < 0 || by[owner] > by[most]))
				most = owner;
		if (most < 0)
			return;
		put_grown(out, "owner", owner_table[most].name, from[most], last->owners[most]);
		by[most] = 0;
	}
}

static void put_growth(struct js_out *out, const struct wire_sample *first, const struct wire_sample *last)
{
	js_out_key(out, "growth");
	if (!first || !last) {
		js_out_null(out);
		return;
	}
	js_out_object(out);
	put_date(out, "from", first->head.wall);
	put_date(out, "to", last->head.wall);
	js_out_key(out, "owners");
	js_out_array(out);
	if (first->has_composition && last->has_composition)
		put_grown_owners(out, first, last);
	js_out_array_end(out);
	js_out_key(out, "groups");
	js_out_array(out);
	for (int group = 0; group < GROUP_COUNT; group++)
		put_grown(out, "group", ledger_group_names[group], first->groups[group], last->groups[group]);
	js_out_array_end(out);
	js_out_object_end(out);
}

/* What the engine was doing, and what had been foretold. */
static void put_last(struct js_out *out, const struct wire_sample *last)
{
	if (!last) {
		js_out_key(out, "context");
		js_out_null(out);
		js_out_key(out, "forecast");
		js_out_null(out);
		return;
	}
	/* Read from the recorder, where no number is past what a reader takes. */
	put_context(out, "context", &last->context);
	js_out_key(out, "forecast");
	js_out_object(out);
	put_text(out, "kind", last->forecast.kind);
	count_put(out, "earliest_s", last->forecast.earliest_s);
	count_put(out, "likely_s", last->forecast.likely_s);
	count_put(out, "latest_s", last->forecast.latest_s);
	put_owner(out, "owner", last->forecast.owner);
	js_out_object_end(out);
}

static void put_findings(struct js_out *out, const struct postmortem_input *in)
{
	js_out_key(out, "findings");
	js_out_array(out);
	for (size_t i = 0; i < in->n_findings && i < POSTMORTEM_FINDINGS_MAX; i++) {
		const struct postmortem_finding *finding = &in->findings[i];
		js_out_object(out);
		put_text(out, "rule", finding->rule);
		put_text(out, "severity", severity_names[finding->severity]);
		put_owner(out, "owner", finding->owner);
		put_text(out, "title", finding->title);
		put_date(out, "opened", finding->opened);
		js_out_object_end(out);
	}
	js_out_array_end(out);
}

static void put_life(struct js_out *out, const struct postmortem_life *life)
{
	js_out_key(out, "life");
	if (!life->known) {
		js_out_null(out);
		return;
	}
	js_out_object(out);
	limit_put(out, "limit_bytes", life->limit);
	put_text(out, "image", life->image);
	put_text(out, "kernel", life->kernel);
	put_text(out, "jdk", life->jdk);
	put_text(out, "engine", life->engine);
	put_text(out, "thp", life->thp);
	put_strings(out, "jobs", life->jobs[0], sizeof life->jobs[0], life->n_jobs);
	js_out_object_end(out);
}

static void put_changes(struct js_out *out, const struct postmortem_input *in)
{
	struct postmortem_change changes[CHANGED_MAX];
	js_out_key(out, "changed");
	/* null: there is nothing to compare with; []: nothing changed. */
	if (!in->life.known || !in->before.known) {
		js_out_null(out);
		return;
	}
	size_t n = postmortem_changes(&in->before, &in->life, changes, CHANGED_MAX);
	js_out_array(out);
	for (size_t i = 0; i < n; i++) {
		js_out_object(out);
		put_text(out, "what", changes[i].what);
		put_text(out, "before", changes[i].before);
		put_text(out, "now", changes[i].now);
		js_out_object_end(out);
	}
	js_out_array_end(out);
}

/* Written by deep_write(), so it is read for its form alone. */
static void put_deep(struct js_out *out, struct str deep)
{
	struct err ignored;
	struct js *root = NULL;
	js_out_key(out, "deep");
	if (deep.len && js_parse(deep, POSTMORTEM_BODY_MAX, &root, &ignored) == 0)
		js_out_value(out, root);
	else
		js_out_null(out);
	js_free(root);
}

static void put_times(struct js_out *out, const char *key, unsigned times)
{
	js_out_key(out, key);
	if (times)
		js_out_u64(out, times);
	else
		js_out_null(out);
}

int postmortem_write(const struct postmortem_input *in, const struct wire_postmortem *part0, struct buf *body,
		     struct err *err)
{
	struct js_out out;
	js_out_start(&out, body, 0);
	js_out_object(&out);
	put_text(&out, "cause", death_cause_names[in->verdict->cause]);
	put_u64(&out, "confidence_pct", in->verdict->confidence_pct);
	put_text(&out, "why", in->verdict->why);
	put_text(&out, "missing", in->verdict->missing);
	put_owner(&out, "owner", part0->owner);
	put_date(&out, "died", in->died);
	js_out_key(&out, "pid");
	js_out_i64(&out, in->pid);
	put_u64(&out, "start_ticks", in->start_ticks);
	put_times(&out, "deaths", in->deaths);
	put_times(&out, "deaths_same_owner", in->deaths_same_owner);
	put_evidence(&out, in);
	put_composition(&out, in);
	put_growth(&out, in->first, in->last);
	put_last(&out, in->last);
	put_findings(&out, in);
	put_life(&out, &in->life);
	put_changes(&out, in);
	put_deep(&out, in->deep);
	put_text(&out, "access", in->access);
	js_out_object_end(&out);
	return js_out_end(&out, err);
}
