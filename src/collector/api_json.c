/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "collector/api_parts.h"
#include "collector/fleet_sum.h"
#include "wire/put.h"

void api_put_u64(struct js_out *out, const char *key, uint64_t value)
{
	js_out_key(out, key);
	js_out_u64(out, value);
}

static void put_i64(struct js_out *out, const char *key, int64_t value)
{
	js_out_key(out, key);
	js_out_i64(out, value);
}

void api_put_bool(struct js_out *out, const char *key, bool value)
{
	js_out_key(out, key);
	js_out_bool(out, value);
}

void api_put_wall(struct js_out *out, const char *key, struct wall wall)
{
	js_out_key(out, key);
	if (wall.ms)
		js_out_i64(out, wall.ms);
	else
		js_out_null(out);
}

void api_put_id(struct js_out *out, const char *key, int64_t row)
{
	char text[24];
	(void)snprintf(text, sizeof text, "%" PRId64, row);
	js_out_key(out, key);
	js_out_text(out, text);
}

void api_put_owner(struct js_out *out, const char *key, int owner)
{
	put_text(out, key, owner >= 0 && owner < OWNER_COUNT ? owner_table[owner].name : NULL);
}

void api_put_subject(struct js_out *out, const struct subject_view *subject)
{
	js_out_key(out, "subject");
	js_out_object(out);
	put_text(out, "cluster", subject->cluster);
	put_text(out, "namespace", subject->namespace_);
	put_text(out, "workload", subject->workload);
	put_text(out, "role", wire_role_names[subject->role]);
	put_text(out, "pod", subject->pod);
	put_text(out, "pod_uid", subject->pod_uid);
	put_text(out, "node", subject->node);
	put_text(out, "container", subject->container);
	put_texts(out, "jobs", subject->jobs, subject->n_jobs);
	api_put_bool(out, "asserted", subject->asserted);
	js_out_key(out, "labels");
	js_out_object(out);
	for (size_t i = 0; i < subject->n_labels; i++) {
		js_out_key(out, subject->labels[i].key);
		js_out_text(out, subject->labels[i].value);
	}
	js_out_object_end(out);
	js_out_object_end(out);
}

void api_put_workload_id(struct js_out *out, const char *key, const struct subject_view *subject)
{
	auto_buf struct buf id = { .cap = API_CURSOR_CAP };
	js_out_key(out, key);
	if (api_workload_id(&id, subject->cluster, subject->namespace_, subject->workload))
		js_out_str(out, buf_str(&id));
	else
		js_out_null(out);
}

void api_put_groups(struct js_out *out, const char *key, const struct qty groups[GROUP_COUNT])
{
	js_out_key(out, key);
	js_out_object(out);
	for (unsigned i = 0; i < GROUP_COUNT; i++)
		put_qty(out, ledger_group_names[i], groups[i]);
	js_out_object_end(out);
}

static void put_composition(struct js_out *out, const struct fleet_composition *composition, struct wall now)
{
	js_out_key(out, "composition");
	if (!composition->known) {
		js_out_null(out);
		return;
	}
	js_out_object(out);
	put_i64(out, "age_ms", now.ms > composition->taken.ms ? now.ms - composition->taken.ms : 0);
	put_signed(out, "residual_bytes", composition->residual_bytes);
	js_out_key(out, "owners");
	js_out_array(out);
	for (unsigned i = 0; i < OWNER_COUNT; i++) {
		struct qty qty = fleet_owner(composition, (enum owner)i);
		if (!qty_known(qty))
			continue;
		js_out_object(out);
		put_text(out, "owner", owner_table[i].name);
		put_text(out, "group", ledger_group_names[owner_table[i].group]);
		put_qty(out, "bytes", qty);
		put_text(out, "state", qty_state_names[qty.state]);
		js_out_object_end(out);
	}
	js_out_array_end(out);
	js_out_object_end(out);
}

static void put_forecast(struct js_out *out, const struct wire_forecast *forecast)
{
	js_out_key(out, "forecast");
	if (!forecast->kind[0]) {
		js_out_null(out);
		return;
	}
	js_out_object(out);
	put_text(out, "kind", forecast->kind);
	put_count(out, "earliest_s", forecast->earliest_s);
	put_count(out, "likely_s", forecast->likely_s);
	put_count(out, "latest_s", forecast->latest_s);
	api_put_owner(out, "owner", forecast->owner);
	js_out_object_end(out);
}

static void put_events(struct js_out *out, const struct cgroup_events *events)
{
	js_out_key(out, "events");
	js_out_object(out);
	put_count(out, "high", events->high);
	put_count(out, "max", events->max);
	put_count(out, "oom", events->oom);
	put_count(out, "oom_kill", events->oom_kill);
	put_count(out, "oom_group_kill", events->oom_group_kill);
	js_out_object_end(out);
}

static void put_latest(struct js_out *out, const struct fleet_latest *latest, struct wall now)
{
	js_out_key(out, "sample");
	if (!latest->received.ms) {
		js_out_null(out);
		return;
	}
	js_out_object(out);
	put_i64(out, "age_ms", now.ms > latest->received.ms ? now.ms - latest->received.ms : 0);
	api_put_wall(out, "received_ms", latest->received);
	api_put_wall(out, "taken_ms", latest->wall);
	put_count(out, "interval_ms", (struct count){ latest->interval_ms, latest->interval_ms > 0 });
	api_put_bool(out, "urgent", latest->urgent);
	put_count(out, "pid", (struct count){ (uint64_t)latest->pid, latest->pid > 0 });
	put_text(out, "access", latest->pid > 0 ? access_level_names[latest->access] : NULL);
	put_limit(out, "limit_bytes", latest->limit);
	api_put_bool(out, "no_limit", latest->limit.kind == LIMIT_NONE);
	api_put_bool(out, "limit_told", latest->limit_told);
	put_qty(out, "charge_bytes", latest->charge_bytes);
	put_qty(out, "floor_bytes", latest->floor_bytes);
	put_signed(out, "freeboard_bytes", latest->freeboard_bytes);
	put_signed(out, "freeboard_bp", fleet_freeboard_bp(latest));
	put_text(out, "freeboard_level",
		 latest->freeboard_level == FREEBOARD_UNREAD ? NULL : freeboard_level_names[latest->freeboard_level]);
	put_qty(out, "swap_bytes", latest->swap_bytes);
	put_qty(out, "expected_bytes", latest->expected_bytes);
	api_put_groups(out, "groups", latest->groups);
	js_out_key(out, "grown_since_scan");
	js_out_object(out);
	for (unsigned i = 0; i < GROUP_COUNT; i++)
		put_signed(out, ledger_group_names[i], latest->grown_since_scan[i]);
	js_out_object_end(out);
	put_events(out, &latest->events);
	put_count(out, "pressure_some_avg10_bp", latest->some_avg10_bp);
	put_count(out, "pressure_full_avg10_bp", latest->full_avg10_bp);
	put_forecast(out, &latest->forecast);
	put_context(out, "context", &latest->context);
	js_out_object_end(out);
}

void api_put_finding_id(struct js_out *out, const char *key, int64_t agent, const char *id)
{
	auto_buf struct buf text = { .cap = API_CURSOR_CAP };
	js_out_key(out, key);
	if (api_finding_id(&text, agent, id))
		js_out_str(out, buf_str(&text));
	else
		js_out_null(out);
}

static void put_findings(struct js_out *out, const struct fleet_pod *pod, const struct silences *silences,
			 struct wall now)
{
	const struct fleet_findings *findings = &pod->findings;
	js_out_key(out, "findings");
	js_out_array(out);
	for (size_t i = 0; i < findings->n; i++) {
		const struct fleet_finding *finding = &findings->items[i];
		js_out_object(out);
		api_put_finding_id(out, "id", pod->agent, finding->id);
		put_text(out, "rule", finding->rule);
		put_text(out, "severity", severity_names[finding->severity]);
		put_text(out, "title", finding->title);
		api_put_owner(out, "owner", finding->owner);
		api_put_wall(out, "opened_ms", finding->opened);
		api_put_wall(out, "updated_ms", finding->updated);
		silence_put_brief(out, "silenced",
				  silences_on(silences, &pod->subject, finding->rule, finding->severity, now));
		js_out_object_end(out);
	}
	js_out_array_end(out);
	api_put_u64(out, "findings_left_out", findings->left_out);
}

void api_put_pod_members(struct js_out *out, const struct fleet_pod *pod, const struct silences *silences,
			 struct wall now)
{
	api_put_id(out, "id", pod->agent);
	put_text(out, "agent_id", pod->agent_id);
	api_put_workload_id(out, "workload_id", &pod->subject);
	api_put_subject(out, &pod->subject);
	put_text(out, "agent_version", pod->program);
	put_text(out, "jdk", pod->jdk);
	put_text(out, "engine_version", pod->engine);
	api_put_bool(out, "connected", pod->sessions > 0);
	api_put_bool(out, "said_bye", pod->said_bye);
	api_put_wall(out, "since_ms", pod->since);
	api_put_wall(out, "heard_ms", pod->heard);
	put_signed(out, "clock_offset_ms", (struct signed_qty){ pod->offset_ms, !pod->restored });
	put_latest(out, &pod->latest, now);
	put_composition(out, &pod->composition, now);
	put_findings(out, pod, silences, now);
	api_put_wall(out, "last_postmortem_ms", pod->last_postmortem);
}

void api_put_pod(struct js_out *out, const struct fleet_pod *pod, const struct silences *silences, struct wall now)
{
	js_out_object(out);
	api_put_pod_members(out, pod, silences, now);
	js_out_object_end(out);
}
