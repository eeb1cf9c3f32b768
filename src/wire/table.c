/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages, member by member, in the order in which they are written. docs/wire.md and docs/wire.schema.json say
 * what each means. A row may be added; none may change its key or its kind while an agent of N-2 is served.
 */
#include <stddef.h>

#include "wire/field.h"

#define KEY(text)             .key = { (text), sizeof(text) - 1 }
#define AT(type, member)      .at = offsetof(struct type, member)
#define TEXT_AT(type, member) .kind = FIELD_TEXT, AT(type, member), .size = sizeof(((struct type *)0)->member)
#define NAME_AT(type, member, all) \
	.kind = FIELD_NAME, AT(type, member), .names = (all), .max = sizeof(all) / sizeof(all)[0]
#define LIST_AT(type, member, count)                                                                         \
	AT(type, member), .size = sizeof(((struct type *)0)->member[0]),                                     \
			  .max = sizeof(((struct type *)0)->member) / sizeof(((struct type *)0)->member[0]), \
			  .count_at = offsetof(struct type, count)
#define FIELDS(name, all) static const struct fields name = { (all), sizeof(all) / sizeof(all)[0], false }

/* What every numbered message begins with. */
#define HEAD(type)                                                                                   \
	{ KEY("epoch"), .kind = FIELD_EPOCH, AT(type, head.epoch), .required = true },               \
		{ KEY("seq"), .kind = FIELD_U64, AT(type, head.seq), .required = true, .least = 1 }, \
		{ KEY("mono_ms"), .kind = FIELD_U64, AT(type, head.mono_ms), .required = true },     \
	{                                                                                            \
		KEY("wall_ms"), .kind = FIELD_WALL, AT(type, head.wall), .required = true            \
	}

static const struct field subject_rows[] = {
	{ KEY("cluster"), TEXT_AT(wire_subject, cluster) },
	{ KEY("namespace"), TEXT_AT(wire_subject, namespace_) },
	{ KEY("workload"), TEXT_AT(wire_subject, workload) },
	{ KEY("role"), NAME_AT(wire_subject, role, wire_role_names), .lenient = true },
	{ KEY("pod"), TEXT_AT(wire_subject, pod) },
	{ KEY("pod_uid"), TEXT_AT(wire_subject, pod_uid) },
	{ KEY("node"), TEXT_AT(wire_subject, node) },
	{ KEY("container"), TEXT_AT(wire_subject, container) },
	{ KEY("jobs"), .kind = FIELD_TEXTS, LIST_AT(wire_subject, jobs, n_jobs) },
	{ KEY("labels"), .kind = FIELD_LABELS, LIST_AT(wire_subject, labels, n_labels) },
};
FIELDS(subject_fields, subject_rows);

static const struct field held_rows[] = {
	{ KEY("epoch"), .kind = FIELD_EPOCH, AT(wire_held, epoch), .required = true },
	{ KEY("first"), .kind = FIELD_U64, AT(wire_held, first), .required = true, .least = 1 },
	{ KEY("last"), .kind = FIELD_U64, AT(wire_held, last), .required = true },
};
FIELDS(held_fields, held_rows);

static const struct field hello_rows[] = {
	{ KEY("subject"), .kind = FIELD_OBJECT, AT(wire_hello, subject), .required = true, .fields = &subject_fields },
	{ KEY("program"), TEXT_AT(wire_hello, program) },
	{ KEY("jdk"), TEXT_AT(wire_hello, jdk) },
	{ KEY("engine"), TEXT_AT(wire_hello, engine) },
	{ KEY("mono_ms"), .kind = FIELD_U64, AT(wire_hello, mono_ms), .required = true },
	{ KEY("wall_ms"), .kind = FIELD_WALL, AT(wire_hello, wall), .required = true },
	{ KEY("epochs"), .kind = FIELD_LIST, LIST_AT(wire_hello, epochs, n_epochs), .required = true, .least = 1,
	  .fields = &held_fields },
	{ KEY("node_agent"), .kind = FIELD_TRISTATE, AT(wire_hello, node_agent) },
};
FIELDS(hello_fields, hello_rows);

static const struct field event_rows[] = {
	{ KEY("low"), .kind = FIELD_COUNT, AT(cgroup_events, low) },
	{ KEY("high"), .kind = FIELD_COUNT, AT(cgroup_events, high) },
	{ KEY("max"), .kind = FIELD_COUNT, AT(cgroup_events, max) },
	{ KEY("oom"), .kind = FIELD_COUNT, AT(cgroup_events, oom) },
	{ KEY("oom_kill"), .kind = FIELD_COUNT, AT(cgroup_events, oom_kill) },
	{ KEY("oom_group_kill"), .kind = FIELD_COUNT, AT(cgroup_events, oom_group_kill) },
};
FIELDS(event_fields, event_rows);

static const struct field budget_rows[] = {
	{ KEY("budget"), TEXT_AT(wire_budget, name), .required = true },
	{ KEY("bytes"), .kind = FIELD_QTY, AT(wire_budget, bytes) },
	{ KEY("used_bytes"), .kind = FIELD_QTY, AT(wire_budget, used_bytes) },
	{ KEY("owners"), .kind = FIELD_OWNERS, AT(wire_budget, owners) },
	{ KEY("derived"), .kind = FIELD_STATE, .least = QTY_DERIVED },
	{ KEY("inferred"), .kind = FIELD_STATE, .least = QTY_INFERRED },
};
FIELDS(budget_fields, budget_rows);

static const struct field engine_rows[] = {
	{ KEY("state_backend"), NAME_AT(engine_facts, backend, state_backend_names), .lenient = true },
	{ KEY("batch"), .kind = FIELD_TRISTATE, AT(engine_facts, batch) },
	{ KEY("python"), .kind = FIELD_TRISTATE, AT(engine_facts, python) },
	{ KEY("managed_reserved_bytes"), .kind = FIELD_QTY, AT(engine_facts, managed_reserved_bytes) },
	{ KEY("network_bytes"), .kind = FIELD_QTY, AT(engine_facts, network_bytes) },
	{ KEY("framework_off_heap_bytes"), .kind = FIELD_QTY, AT(engine_facts, framework_off_heap_bytes) },
	{ KEY("task_off_heap_bytes"), .kind = FIELD_QTY, AT(engine_facts, task_off_heap_bytes) },
	{ KEY("network_pool_bytes"), .kind = FIELD_QTY, AT(engine_facts, network_pool_bytes) },
	{ KEY("streams_instances"), .kind = FIELD_COUNT, AT(engine_facts, streams_instances) },
	{ KEY("derived"), .kind = FIELD_STATE, .least = QTY_DERIVED },
	{ KEY("inferred"), .kind = FIELD_STATE, .least = QTY_INFERRED },
};
FIELDS(engine_fields, engine_rows);

static const struct field books_rows[] = {
	{ KEY("bounds_bytes"), .kind = FIELD_LIMITS, AT(wire_books, bounds), .of = NAMES_OWNERS },
	{ KEY("claims_bytes"), .kind = FIELD_QTYS, AT(wire_books, claims), .of = NAMES_OWNERS },
	{ KEY("unread"), .kind = FIELD_OWNERS, AT(wire_books, unread) },
	{ KEY("legal_bytes"), .kind = FIELD_QTY, AT(wire_books, legal_bytes) },
	{ KEY("budgets"), .kind = FIELD_LIST, LIST_AT(wire_books, budgets, n_budgets), .fields = &budget_fields },
	{ KEY("engine"), .kind = FIELD_OBJECT, AT(wire_books, engine), .fields = &engine_fields },
	{ KEY("derived"), .kind = FIELD_STATE, .least = QTY_DERIVED },
	{ KEY("inferred"), .kind = FIELD_STATE, .least = QTY_INFERRED },
};
FIELDS(books_fields, books_rows);

/* Its rows stand in the sample's struct. */
static const struct field composition_rows[] = {
	{ KEY("age_ms"), .kind = FIELD_U32, AT(wire_sample, composition_age_ms), .required = true },
	{ KEY("owners_bytes"), .kind = FIELD_QTYS, AT(wire_sample, owners), .of = NAMES_OWNERS },
	{ KEY("residual_bytes"), .kind = FIELD_SIGNED, AT(wire_sample, residual_bytes) },
	{ KEY("derived"), .kind = FIELD_STATE, .least = QTY_DERIVED },
	{ KEY("inferred"), .kind = FIELD_STATE, .least = QTY_INFERRED },
	{ KEY("books"), .kind = FIELD_OBJECT, AT(wire_sample, books), .flagged = true,
	  .count_at = offsetof(struct wire_sample, has_books), .fields = &books_fields },
};
FIELDS(composition_fields, composition_rows);

static const struct field forecast_rows[] = {
	{ KEY("kind"), TEXT_AT(wire_forecast, kind), .required = true },
	{ KEY("earliest_s"), .kind = FIELD_COUNT, AT(wire_forecast, earliest_s) },
	{ KEY("likely_s"), .kind = FIELD_COUNT, AT(wire_forecast, likely_s) },
	{ KEY("latest_s"), .kind = FIELD_COUNT, AT(wire_forecast, latest_s) },
	{ KEY("owner"), .kind = FIELD_OWNER, AT(wire_forecast, owner) },
};
FIELDS(forecast_fields, forecast_rows);

static const struct field context_rows[] = {
	{ KEY("job_state"), TEXT_AT(engine_context, job_state) },
	{ KEY("checkpointing"), .kind = FIELD_TRISTATE, AT(engine_context, checkpointing) },
	{ KEY("restoring"), .kind = FIELD_TRISTATE, AT(engine_context, restoring) },
	{ KEY("rebalancing"), .kind = FIELD_TRISTATE, AT(engine_context, rebalancing) },
	{ KEY("backpressured_bp"), .kind = FIELD_COUNT, AT(engine_context, backpressured_bp) },
	{ KEY("busy_bp"), .kind = FIELD_COUNT, AT(engine_context, busy_bp) },
	{ KEY("records_lag_max"), .kind = FIELD_COUNT, AT(engine_context, records_lag_max) },
	{ KEY("restarts"), .kind = FIELD_COUNT, AT(engine_context, restarts) },
};
FIELDS(context_fields, context_rows);

static const struct field sample_rows[] = {
	HEAD(wire_sample),
	{ KEY("interval_ms"), .kind = FIELD_U32, AT(wire_sample, interval_ms) },
	{ KEY("urgent"), .kind = FIELD_BOOL, AT(wire_sample, urgent) },
	{ KEY("pid"), .kind = FIELD_INT, AT(wire_sample, pid) },
	{ KEY("start_ticks"), .kind = FIELD_U64, AT(wire_sample, start_ticks) },
	{ KEY("access"), NAME_AT(wire_sample, access, access_level_names), .lenient = true },
	{ KEY("limit_bytes"), .kind = FIELD_LIMIT, AT(wire_sample, limit) },
	{ KEY("limit_told"), .kind = FIELD_BOOL, AT(wire_sample, limit_told) },
	{ KEY("charge_bytes"), .kind = FIELD_QTY, AT(wire_sample, charge_bytes) },
	{ KEY("floor_bytes"), .kind = FIELD_QTY, AT(wire_sample, floor_bytes) },
	{ KEY("swap_bytes"), .kind = FIELD_QTY, AT(wire_sample, swap_bytes) },
	{ KEY("expected_bytes"), .kind = FIELD_QTY, AT(wire_sample, expected_bytes) },
	{ KEY("freeboard_bytes"), .kind = FIELD_SIGNED, AT(wire_sample, freeboard_bytes) },
	{ KEY("freeboard_level"), NAME_AT(wire_sample, freeboard_level, freeboard_level_names), .lenient = true },
	{ KEY("groups_bytes"), .kind = FIELD_QTYS, AT(wire_sample, groups), .of = NAMES_GROUPS },
	{ KEY("derived"), .kind = FIELD_STATE, .least = QTY_DERIVED },
	{ KEY("inferred"), .kind = FIELD_STATE, .least = QTY_INFERRED },
	{ KEY("grown_bytes"), .kind = FIELD_SIGNEDS, AT(wire_sample, grown_since_scan), .of = NAMES_GROUPS },
	{ KEY("events"), .kind = FIELD_OBJECT, AT(wire_sample, events), .fields = &event_fields },
	{ KEY("some_avg10_bp"), .kind = FIELD_COUNT, AT(wire_sample, some_avg10_bp) },
	{ KEY("full_avg10_bp"), .kind = FIELD_COUNT, AT(wire_sample, full_avg10_bp) },
	{ KEY("refaults_file"), .kind = FIELD_COUNT, AT(wire_sample, refaults_file) },
	{ KEY("composition"), .kind = FIELD_OBJECT, .flagged = true,
	  .count_at = offsetof(struct wire_sample, has_composition), .fields = &composition_fields },
	{ KEY("forecast"), .kind = FIELD_OBJECT, AT(wire_sample, forecast), .fields = &forecast_fields },
	{ KEY("context"), .kind = FIELD_OBJECT, AT(wire_sample, context), .fields = &context_fields },
};
FIELDS(sample_fields, sample_rows);

static const struct field finding_rows[] = {
	HEAD(wire_finding),
	{ KEY("id"), TEXT_AT(wire_finding, id), .required = true },
	{ KEY("edge"), NAME_AT(wire_finding, edge, wire_edge_names), .required = true },
	{ KEY("rule"), TEXT_AT(wire_finding, rule), .required = true },
	{ KEY("severity"), NAME_AT(wire_finding, severity, severity_names), .required = true, .least = SEVERITY_INFO },
	{ KEY("owner"), .kind = FIELD_OWNER, AT(wire_finding, owner) },
	{ KEY("title"), TEXT_AT(wire_finding, title) },
	{ KEY("opened_ms"), .kind = FIELD_WALL, AT(wire_finding, opened), .required = true },
	{ KEY("finding"), .kind = FIELD_FINDING, AT(wire_finding, whole) },
	{ KEY("deep"), .kind = FIELD_BODY, AT(wire_finding, deep) },
};
FIELDS(finding_fields, finding_rows);

static const struct field postmortem_rows[] = {
	HEAD(wire_postmortem),
	{ KEY("id"), TEXT_AT(wire_postmortem, id), .required = true },
	{ KEY("part"), .kind = FIELD_U32, AT(wire_postmortem, part), .required = true },
	{ KEY("parts"), .kind = FIELD_U32, AT(wire_postmortem, parts), .required = true, .least = 1 },
	{ KEY("cause"), NAME_AT(wire_postmortem, cause, death_cause_names), .lenient = true },
	{ KEY("owner"), .kind = FIELD_OWNER, AT(wire_postmortem, owner) },
	{ KEY("pid"), .kind = FIELD_INT, AT(wire_postmortem, pid) },
	{ KEY("died_ms"), .kind = FIELD_WALL, AT(wire_postmortem, died) },
	{ KEY("title"), TEXT_AT(wire_postmortem, title) },
	{ KEY("body"), .kind = FIELD_BODY, AT(wire_postmortem, body), .required = true },
};
FIELDS(postmortem_fields, postmortem_rows);

static const struct field gap_rows[] = {
	{ KEY("epoch"), .kind = FIELD_EPOCH, AT(wire_gap, epoch), .required = true },
	{ KEY("from"), .kind = FIELD_U64, AT(wire_gap, from), .required = true, .least = 1 },
	{ KEY("to"), .kind = FIELD_U64, AT(wire_gap, to), .required = true, .least = 1 },
	{ KEY("reason"), TEXT_AT(wire_gap, reason) },
};
FIELDS(gap_fields, gap_rows);

static const struct field bye_rows[] = {
	{ KEY("reason"), TEXT_AT(wire_bye, reason) },
};
FIELDS(bye_fields, bye_rows);

static const struct field position_rows[] = {
	{ KEY("epoch"), .kind = FIELD_EPOCH, AT(wire_position, epoch), .required = true },
	{ KEY("seq"), .kind = FIELD_U64, AT(wire_position, seq), .required = true },
};
FIELDS(position_fields, position_rows);

static const struct field level_rows[] = {
	{ KEY("rule"), TEXT_AT(wire_level, rule), .required = true },
	{ KEY("name"), TEXT_AT(wire_level, name), .required = true },
	{ KEY("raise"), .kind = FIELD_LEVEL, AT(wire_level, raise), .required = true },
	{ KEY("clear"), .kind = FIELD_LEVEL, AT(wire_level, clear), .required = true },
};
static const struct fields level_fields = { level_rows, sizeof level_rows / sizeof level_rows[0], true };

static const struct field silence_rows[] = {
	{ KEY("rule"), TEXT_AT(wire_silence, rule), .required = true },
	{ KEY("reason"), TEXT_AT(wire_silence, reason) },
	{ KEY("until_ms"), .kind = FIELD_WALL, AT(wire_silence, until), .required = true },
	{ KEY("quiet"), .kind = FIELD_BOOL, AT(wire_silence, quiet) },
};
static const struct fields silence_fields = { silence_rows, sizeof silence_rows / sizeof silence_rows[0], true };

static const struct field policy_rows[] = {
	{ KEY("version"), .kind = FIELD_HEX, AT(wire_policy, version), .required = true },
	{ KEY("interval_ms"), .kind = FIELD_U32, AT(wire_policy, interval_ms) },
	{ KEY("levels"), .kind = FIELD_LIST, LIST_AT(wire_policy, levels, n_levels), .fields = &level_fields },
	{ KEY("silences"), .kind = FIELD_LIST, LIST_AT(wire_policy, silences, n_silences), .fields = &silence_fields },
};
static const struct fields policy_fields = { policy_rows, sizeof policy_rows / sizeof policy_rows[0], true };

static const struct field welcome_rows[] = {
	{ KEY("acked"), .kind = FIELD_LIST, LIST_AT(wire_welcome, acked, n_acked), .fields = &position_fields },
	{ KEY("window"), .kind = FIELD_U32, AT(wire_welcome, window), .required = true, .least = 1 },
	{ KEY("min_interval_ms"), .kind = FIELD_U32, AT(wire_welcome, min_interval_ms) },
	{ KEY("max_frame"), .kind = FIELD_U32, AT(wire_welcome, max_frame), .required = true, .least = 1 },
	{ KEY("policy"), .kind = FIELD_OBJECT, AT(wire_welcome, policy), .fields = &policy_fields },
};
FIELDS(welcome_fields, welcome_rows);

static const struct field error_rows[] = {
	/* To an older agent an unknown code says "try again later": the close code and the text say the rest. */
	{ KEY("code"), NAME_AT(wire_error, code, wire_error_names), .required = true, .lenient = true,
	  .otherwise = WIRE_ERR_STORE },
	{ KEY("text"), TEXT_AT(wire_error, text) },
};
FIELDS(error_fields, error_rows);

const struct type_info type_table[WIRE_TYPE_COUNT] = {
	[WIRE_HELLO] = { &hello_fields, sizeof(struct wire_hello) },
	[WIRE_SAMPLE] = { &sample_fields, sizeof(struct wire_sample) },
	[WIRE_FINDING] = { &finding_fields, sizeof(struct wire_finding) },
	[WIRE_POSTMORTEM] = { &postmortem_fields, sizeof(struct wire_postmortem) },
	[WIRE_GAP] = { &gap_fields, sizeof(struct wire_gap) },
	[WIRE_BYE] = { &bye_fields, sizeof(struct wire_bye) },
	[WIRE_WELCOME] = { &welcome_fields, sizeof(struct wire_welcome) },
	[WIRE_ACK] = { &position_fields, sizeof(struct wire_position) },
	[WIRE_ERROR] = { &error_fields, sizeof(struct wire_error) },
};

int field_names(enum names_of of)
{
	return of == NAMES_GROUPS ? (int)GROUP_COUNT : (int)OWNER_COUNT;
}

const char *field_name(enum names_of of, int i)
{
	return of == NAMES_GROUPS ? ledger_group_names[i] : owner_table[i].name;
}

int field_find_name(enum names_of of, struct str text, int after)
{
	int n = field_names(of);
	for (int i = 0; i < n; i++) {
		int name = (after + 1 + i) % n;
		if (str_eq(text, str_of(field_name(of, name))))
			return name;
	}
	return -1;
}
