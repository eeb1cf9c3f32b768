/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Managed memory that nobody uses. Flink sets 40 % aside by default for RocksDB, ForSt, batch operators and Python
 * workers (TaskManagerOptions); a streaming job with its state on the heap uses none of it.
 */
#include <string.h>

#include "rules/all.h"
#include "rules/room.h"
#include "rules/text.h"

enum { MIB = 1 << 20 };

/* Silence that is certain, or what is missing. */
static bool is_used(const struct engine_state *engine)
{
	return engine->backend == BACKEND_ROCKSDB || engine->backend == BACKEND_FORST ||
	       engine->batch == TRISTATE_TRUE || engine->python == TRISTATE_TRUE ||
	       (qty_known(engine->gauges.managed_used_bytes) && engine->gauges.managed_used_bytes.bytes > 0);
}

/* With the gauge at 0 nobody uses it now; without it, all that could must be known not to be there. */
static void name_missing(const struct engine_state *engine, struct finding *finding)
{
	if (qty_known(engine->gauges.managed_used_bytes) && engine->backend == BACKEND_HASHMAP)
		return;
	if (engine->backend == BACKEND_UNKNOWN)
		finding_missing(
			finding,
			"the state backend: state.backend.type in the configuration (--flink-conf FILE), as a job may choose its own");
	if (engine->batch == TRISTATE_UNREAD)
		finding_missing(finding, "execution.runtime-mode: a batch job's operators use managed memory");
	if (engine->python == TRISTATE_UNREAD)
		finding_missing(finding, "whether the job is PyFlink: its workers use managed memory");
	if (finding->n_missing)
		finding_missing(finding, "the metric Status.Flink.Memory.Managed.Used, which would tell");
}

/* The size was written by somebody, and not only derived onto the command line. */
static bool size_is_configured(const struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->n_settings; i++)
		if (strcmp(snapshot->settings[i].key, "taskmanager.memory.managed.size") == 0)
			return strcmp(snapshot->settings[i].where, "command line") != 0;
	return false;
}

/* A heap larger by that much would come, and the limit has no room for it. */
static bool would_not_fit(const struct rule_input *input, uint64_t more)
{
	const struct ledger *ledger = input->ledger;
	uint64_t critical;
	if (ledger->limit.kind != LIMIT_SET || !qty_known(ledger->expected.bytes))
		return false;
	uint64_t room = room_levels(input, ledger->limit.bytes, &critical);
	return sat_add(sat_add(ledger->expected.bytes.bytes, more), room) > ledger->limit.bytes;
}

static void change_for(const struct rule_input *input, uint64_t managed, struct finding *finding)
{
	const struct flink_budget *flink = &input->snapshot->engine.flink;
	const char *option = size_is_configured(input->snapshot) ? "size: 0m" : "fraction: 0.0";
	unsigned long long mib = managed / MIB;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	finding_turn(finding, KNOB_MANAGED, TURN_DOWN);
	if (room_is_lacking(input) || would_not_fit(input, managed)) {
		/* A heap that grows into what is free would take it from what is short of room. */
		finding_turn(finding, KNOB_OVERHEAD, TURN_UP);
		if (qty_known(flink->overhead_bytes))
			finding_change(
				finding,
				"set taskmanager.memory.managed.%s and give its %llum to native memory, not to the heap: taskmanager.memory.jvm-overhead.min and .max both to %llum; taskmanager.memory.process.size and the limit stay",
				option, mib, (unsigned long long)(sat_add(flink->overhead_bytes.bytes, managed) / MIB));
		else
			finding_change(
				finding,
				"set taskmanager.memory.managed.%s and give its %llum to native memory, not to the heap: raise taskmanager.memory.jvm-overhead.min and .max by it; taskmanager.memory.process.size and the limit stay",
				option, mib);
		return;
	}
	finding_turn(finding, KNOB_HEAP, TURN_UP);
	if (qty_known(flink->heap_bytes))
		finding_change(
			finding,
			"set taskmanager.memory.managed.%s: within the same taskmanager.memory.process.size the heap grows from %s to %s",
			option, units_format(a, flink->heap_bytes.bytes),
			units_format(b, sat_add(flink->heap_bytes.bytes, managed)));
	else
		finding_change(
			finding,
			"set taskmanager.memory.managed.%s: within the same taskmanager.memory.process.size the heap grows by %llum",
			option, mib);
}

static void explain(const struct rule_input *input, struct finding *finding)
{
	const struct engine_state *engine = &input->snapshot->engine;
	finding_cause(
		finding,
		"the default of 40 %% was left as it is for a job with its state on the heap: Managed.Used then stays 0");
	finding_cause(
		finding,
		"no job runs here yet, or a batch, SQL or Python job comes only at times: Managed.Used then rises with it");
	if (!qty_known(engine->gauges.managed_used_bytes))
		finding_missing(finding, "the metric Status.Flink.Memory.Managed.Used: 0 would confirm it");
	if (engine->batch == TRISTATE_UNREAD || engine->python == TRISTATE_UNREAD)
		finding_missing(finding,
				"whether batch or Python jobs come here (execution.runtime-mode, python.* options)");
	finding_setting(finding, input->snapshot, "state.backend.type");
	finding_setting(finding, input->snapshot, "taskmanager.memory.managed.size");
	finding_setting(finding, input->snapshot, "taskmanager.memory.managed.fraction");
	finding_setting(finding, input->snapshot, "taskmanager.memory.process.size");
	finding_validate(
		finding,
		"steady: after a restart jobs run as before, and collections come less often or freeboard has grown");
	finding_validate(
		finding,
		"restore: a restore from the last checkpoint completes, and no job fails with \"Could not allocate\" of managed memory");
}

enum rule_answer rule_managed_idle(const struct rule_input *input, struct finding *finding)
{
	const struct engine_state *engine = &input->snapshot->engine;
	const struct flink_budget *flink = &engine->flink;
	if (engine->kind != ENGINE_FLINK_TASKMANAGER || is_used(engine))
		return RULE_SILENT; /* a JobManager has none */
	if (!qty_known(flink->managed_bytes) || !qty_known(flink->process_bytes)) {
		finding_missing(
			finding,
			"Flink's budget: its -D options on the command line, or the configuration (--flink-conf FILE)");
		return RULE_INCONCLUSIVE;
	}
	uint64_t managed = flink->managed_bytes.bytes, process = flink->process_bytes.bytes;
	if (managed <= judged_both(input, T_MANAGED_IDLE_IDLE, T_MANAGED_IDLE_IDLE_BYTES, process))
		return RULE_SILENT;
	name_missing(engine, finding);
	if (finding->n_missing)
		return RULE_INCONCLUSIVE;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	finding->severity = SEVERITY_NOTICE;
	finding_title(finding, "%s of managed memory set aside that nothing uses", units_format(a, managed));
	finding_observation(
		finding,
		"Flink sets %s of its %s aside as managed memory; state is on the heap (hashmap), so no state backend takes it.",
		a, units_format(b, process));
	if (qty_known(engine->gauges.managed_used_bytes))
		finding_observation(finding, "Managed.Used is 0.");
	finding_bytes(finding, "managed_bytes", managed);
	finding_bytes(finding, "process_size_bytes", process);
	if (qty_known(engine->gauges.managed_used_bytes))
		finding_bytes(finding, "managed_used_bytes", 0);
	explain(input, finding);
	change_for(input, managed, finding);
	return RULE_FIRED;
}
