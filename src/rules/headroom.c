/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Room above Flink's plan: the limit is larger than taskmanager.memory.process.size. Operators that give Flink a share
 * of the limit leave it unplanned by accident; kubernetes.taskmanager.memory.limit-factor does so on purpose
 * (KubernetesConfigOptions), and the request then stays the process size.
 */
#include <stdio.h>

#include "rules/all.h"
#include "rules/judged.h"
#include "rules/room.h"
#include "rules/text.h"

enum { MIB = 1 << 20, ROLE_KEY_CAP = 64 };

/* What the room above the plan is found to be. */
enum use {
	USE_WANTED,  /* another finding asks for more room, or the limit was hit */
	USE_UNKNOWN, /* the floor or the demand could not be read */
	USE_TAKEN,   /* the floor is past the plan */
	USE_SPARE,   /* a reserve of ordinary size */
	USE_IDLE
};

static const char *role_of(const struct rule_input *input)
{
	return input->snapshot->engine.kind == ENGINE_FLINK_JOBMANAGER ? "jobmanager" : "taskmanager";
}

/* The smaller of the container's and the pod's limit: what is above the pod's is no room. */
static bool roof_of(const struct rule_input *input, struct judged_limit *ret_roof)
{
	const struct limit *pod = &input->snapshot->pod_limit;
	bool known = judged_container(input->ledger, ret_roof);
	if (pod->kind == LIMIT_SET && (!known || pod->bytes < ret_roof->bytes)) {
		*ret_roof =
			(struct judged_limit){ pod->bytes, "the pod's memory limit", "pod limit", "--pod-limit", true };
		return true;
	}
	return known;
}

/* Floor of the whole container: without its cgroup it is that of one process, and proves no room. */
static bool floor_is_whole(const struct rule_input *input)
{
	return qty_known(input->ledger->floor_bytes) && qty_known(input->snapshot->cgroup.stat.anon_bytes) &&
	       input->ledger->freeboard_level != FREEBOARD_PROCESSES;
}

/* The least limit that Flink's plan, expected demand and freeboard-low all agree to. */
static uint64_t least_limit(const struct rule_input *input, uint64_t limit, uint64_t process)
{
	uint64_t critical, warning = room_levels(input, limit, &critical);
	uint64_t expected = input->ledger->expected.bytes.bytes;
	uint64_t demand = room_round_up(sat_add(expected, expected / 20));
	uint64_t held = room_round_up(sat_add(input->ledger->floor_bytes.bytes, sat_add(warning, warning / 4)));
	uint64_t least = process > UINT64_MAX - MIB ? process : (process + MIB - 1) / MIB * MIB;
	least = demand > least ? demand : least;
	return held > least ? held : least;
}

static enum use use_of(const struct rule_input *input, const struct judged_limit *roof, uint64_t process,
		       uint64_t *ret_least)
{
	const struct ledger *ledger = input->ledger;
	const struct cgroup_events *events = &input->snapshot->cgroup.events;
	/* At an oom of its own limit the floor was the limit, however low it is now. */
	if (room_is_lacking(input) || (events->oom.known && events->oom.n))
		return USE_WANTED;
	if (!floor_is_whole(input))
		return USE_UNKNOWN;
	uint64_t floor = ledger->floor_bytes.bytes;
	if (floor > process)
		return USE_TAKEN;
	if (roof->is_pod || roof->bytes - floor <= judged_share(input, T_LIMIT_ABOVE_PROCESS_SIZE_IDLE, roof->bytes))
		return USE_SPARE;
	if (!qty_known(ledger->expected.bytes))
		return USE_UNKNOWN;
	*ret_least = least_limit(input, roof->bytes, process);
	/* What a lower limit would return must be worth a restart. */
	uint64_t worth = judged_level(input, T_LIMIT_ABOVE_PROCESS_SIZE_ABOVE_BYTES);
	return *ret_least < roof->bytes && roof->bytes - *ret_least > worth ? USE_IDLE : USE_SPARE;
}

static void observe(const struct rule_input *input, enum use use, const struct judged_limit *roof, uint64_t process,
		    struct finding *finding)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	uint64_t above = roof->bytes - process;
	finding_observation(
		finding, "%s may take %s, Flink shares out %s: %s, %llu %% of the limit, belong to no budget of Flink.",
		roof->is_pod ? "The pod" : "The container", units_format(a, roof->bytes), units_format(b, process),
		units_format(c, above), (unsigned long long)((double)above / (double)roof->bytes * 100 + 0.5));
	if (use == USE_WANTED)
		finding_observation(
			finding,
			"It is wanted, as another finding or oom in memory.events shows: nothing of it can be taken away.");
	if (use == USE_UNKNOWN)
		finding_observation(
			finding,
			"Whether something uses it could not be read; heap, network and managed memory do not.");
	if (use == USE_TAKEN)
		finding_observation(
			finding,
			"It is not idle: the kernel cannot reclaim %s, %s more than the plan. A limit lowered to the plan would kill the pod.",
			units_format(a, input->ledger->floor_bytes.bytes),
			units_format(b, input->ledger->floor_bytes.bytes - process));
	if (use == USE_SPARE)
		finding_observation(
			finding,
			"It is a reserve for what Flink does not bound (malloc, RocksDB beyond its budget, files in memory): heap and managed memory never use it.");
	if (use == USE_IDLE)
		finding_observation(
			finding,
			"The kernel cannot reclaim %s now, expected demand is %s: %s of the limit are idle. One report is one moment.",
			units_format(a, input->ledger->floor_bytes.bytes),
			units_format(b, input->ledger->expected.bytes.bytes),
			units_format(c, roof->bytes - input->ledger->floor_bytes.bytes));
}

static void name_missing(const struct rule_input *input, enum use use, struct finding *finding)
{
	if (use == USE_IDLE)
		finding_missing(
			finding,
			"the floor's highest point over a day: memory.peak does not tell it, it includes page cache");
	if (use != USE_UNKNOWN)
		return;
	if (!floor_is_whole(input))
		finding_missing(finding, "floor of the container: memory.stat of its cgroup");
	if (!qty_known(input->ledger->expected.bytes))
		finding_missing(finding, "expected demand: %s unread",
				input->ledger->expected.missing ? input->ledger->expected.missing : "smaps of a JVM");
}

static void name_causes(const struct rule_input *input, struct finding *finding)
{
	const char *role = role_of(input);
	finding_cause(
		finding,
		"an operator or a chart that gives Flink a share of the limit: %s.memory.process.size is then 90 %% or so of it",
		role);
	finding_cause(
		finding,
		"kubernetes.%s.memory.limit-factor above 1, or a limit above the request, on purpose: the request is then the process size, and what lies above it is not reserved on the node",
		role);
	finding_cause(
		finding,
		"the pod was resized after the process had started: then memory.max changed and the command line did not");
}

/* Lower the limit, and not raise the process size: that would be shared out by fractions, and what took the reserve would be killed. */
static void change_for(const struct rule_input *input, uint64_t limit, uint64_t least, uint64_t process,
		       struct finding *finding)
{
	char now[UNITS_TEXT_CAP], then[UNITS_TEXT_CAP];
	const char *role = role_of(input);
	unsigned long long hundredths = room_factor_hundredths(least, process);
	finding_turn(finding, KNOB_LIMIT, TURN_DOWN);
	finding_change(
		finding,
		"lower the container's memory limit from %s to %s (%lluMi) and leave %s.memory.process.size; on native Kubernetes set kubernetes.%s.memory.limit-factor to %llu.%02llu",
		units_format(now, limit), units_format(then, least), (unsigned long long)(least / MIB), role, role,
		hundredths / 100, hundredths % 100);
	finding_validate(finding,
			 "steady: freeboard stays above the level of freeboard-low through a full day under full load");
	finding_validate(
		finding,
		"restore: the same while a savepoint is restored, before the new limit goes to every pod of the job");
}

static enum rule_answer report(const struct rule_input *input, const struct judged_limit *roof, uint64_t process,
			       struct finding *finding)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP], key[ROLE_KEY_CAP];
	uint64_t least = 0;
	enum use use = use_of(input, roof, process, &least);
	finding->severity = use == USE_IDLE ? SEVERITY_NOTICE : SEVERITY_INFO;
	finding_title(finding, "limit %s is %s above Flink's process size %s%s", units_format(a, roof->bytes),
		      units_format(b, roof->bytes - process), units_format(c, process),
		      use == USE_IDLE    ? ", and nothing uses that"
		      : use == USE_TAKEN ? ", and the room is in use"
					 : "");
	observe(input, use, roof, process, finding);
	name_causes(input, finding);
	(void)snprintf(key, sizeof key, "%s.memory.process.size", role_of(input));
	finding_setting_bytes(finding, roof->setting, roof->bytes, roof->where);
	finding_setting_bytes(finding, key, process, "sum of the parts on the command line");
	finding_bytes(finding, "limit_bytes", roof->bytes);
	finding_bytes(finding, "process_size_bytes", process);
	finding_bytes(finding, "above_bytes", roof->bytes - process);
	if (qty_known(input->ledger->floor_bytes))
		finding_bytes(finding, "floor_bytes", input->ledger->floor_bytes.bytes);
	if (qty_known(input->ledger->expected.bytes))
		finding_bytes(finding, "expected_demand_bytes", input->ledger->expected.bytes.bytes);
	name_missing(input, use, finding);
	if (use == USE_IDLE) {
		finding->excess_bytes = roof->bytes - least;
		change_for(input, roof->bytes, least, process, finding);
	}
	return RULE_FIRED;
}

enum rule_answer rule_limit_above_process_size(const struct rule_input *input, struct finding *finding)
{
	const struct engine_state *engine = &input->snapshot->engine;
	if (engine->kind != ENGINE_FLINK_TASKMANAGER && engine->kind != ENGINE_FLINK_JOBMANAGER)
		return RULE_SILENT; /* nobody else plans a process size */
	struct judged_limit roof;
	if (!roof_of(input, &roof))
		judged_missing(finding);
	if (!qty_known(engine->flink.process_bytes) || engine->flink.process_bytes.bytes == 0)
		finding_missing(
			finding,
			"Flink's budget: its -D options on the command line, or the configuration (--flink-conf FILE)");
	if (finding->n_missing)
		return RULE_INCONCLUSIVE;
	uint64_t process = engine->flink.process_bytes.bytes;
	uint64_t allowed =
		judged_both(input, T_LIMIT_ABOVE_PROCESS_SIZE_ABOVE, T_LIMIT_ABOVE_PROCESS_SIZE_ABOVE_BYTES, process);
	if (roof.bytes <= process || roof.bytes - process <= allowed)
		return RULE_SILENT;
	return report(input, &roof, process, finding);
}
