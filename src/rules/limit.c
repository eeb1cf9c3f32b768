/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the container's limit: room left, room wanted, room planned. */
#include <stdio.h>
#include <string.h>

#include "rules/all.h"
#include "rules/blame.h"
#include "rules/growing.h"
#include "rules/judged.h"
#include "rules/room.h"
#include "rules/text.h"

enum { MIB = 1 << 20 };

/* Where native-other is named: the lines with a budget of their own that stand in it because they are unread. */
static void observe_unread(const struct rule_input *input, struct finding *finding)
{
	static const enum owner owners[] = { OWNER_DIRECT_BUFFERS, OWNER_ROCKSDB_BLOCK_CACHE, OWNER_ROCKSDB_MEMTABLES,
					     OWNER_ROCKSDB_TABLE_READERS };
	if (finding->owner != OWNER_NATIVE_OTHER)
		return;
	char names[128] = "";
	for (size_t i = 0; i < sizeof owners / sizeof owners[0]; i++) {
		bool in_cache =
			owners[i] == OWNER_ROCKSDB_MEMTABLES && input->snapshot->engine.rocksdb.memtables_in_cache;
		if (!input->ledger->listed[owners[i]] || qty_known(input->ledger->lines[owners[i]].bytes) || in_cache)
			continue;
		size_t used = strlen(names);
		(void)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
			       owner_table[owners[i]].name);
	}
	if (names[0])
		finding_observation(finding, "It may be what stands in it unread: %s.", names);
}

/* One sentence on the overrun budget, if there is one. */
static void observe_overrun(const struct ledger *ledger, struct finding *finding)
{
	const struct ledger_budget *budget = blame_budget(ledger);
	if (!budget)
		return;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], owner[64];
	int worst = blame_in_budget(ledger, budget);
	finding_observation(finding, "Over its budget: %s, %s against %s%s%s.", budget->name,
			    units_format(a, budget->actual_bytes.bytes), units_format(b, budget->budget_bytes),
			    worst >= 0 ? ", most of it " : "", worst >= 0 ? owner_text(owner, ledger, worst) : "");
	finding_bytes(finding, "overrun_budget_bytes", budget->budget_bytes);
	finding_bytes(finding, "overrun_actual_bytes", budget->actual_bytes.bytes);
}

/* More room is no remedy for a leak: say so where it could be one. */
static void cause_leak(const struct rule_input *input, struct finding *finding)
{
	if (blame_owner(input) == OWNER_NATIVE_OTHER)
		finding_cause(
			finding,
			"native memory leaks: native-other then grows between two reports, and a higher limit only buys time");
}

/* The pod is short of room, and this container alone would not make it so: none of its owners is to blame. */
static bool others_fill(const struct rule_input *input, const struct judged_limit *judged, uint64_t warning)
{
	uint64_t floor = input->ledger->floor_bytes.bytes;
	return judged->is_pod && qty_known(input->snapshot->pod_others_bytes) &&
	       sat_add(floor, warning) <= judged->bytes;
}

/* Of a limit that is the pod's. */
static void observe_others(const struct rule_input *input, struct finding *finding)
{
	struct qty others = input->snapshot->pod_others_bytes;
	char held[UNITS_TEXT_CAP];
	if (!qty_known(others)) {
		finding_observation(finding,
				    "What the pod's other containers hold is not in sight: this is an upper bound.");
		return;
	}
	finding_observation(finding, "Its other containers hold %s of it, as far as they are in sight.",
			    units_format(held, others.bytes));
	finding_bytes(finding, "pod_others_bytes", others.bytes);
	finding_cause(
		finding,
		"another container of the pod grows: then pod_others_bytes rises and the floor of this one does not");
}

/*
 * A TaskManager that has filled all that Flink shares out stands near nine tenths of its limit, for of the tenth that is
 * its overhead a part is used: by plan. Where an agent sees that nothing grows from there, that expected demand fits,
 * and that half of the reserve is left, that is a notice.
 */
static bool is_as_planned(const struct rule_input *input, const struct judged_limit *judged, uint64_t warning)
{
	const struct engine_state *engine = &input->snapshot->engine;
	if (!input->history || judged->is_pod || engine->kind != ENGINE_FLINK_TASKMANAGER ||
	    !qty_known(engine->flink.process_bytes) || !qty_known(room_expected(input)) || room_demand_is_over(input))
		return false;
	const struct forecast *forecast = &input->history->forecast;
	bool is_near = forecast->kind == FORECAST_REACHES &&
		       forecast->likely_s < sat_mul(judged_level(input, T_LIMIT_FORECAST_WARNING), 3600);
	return forecast->kind != FORECAST_INCONCLUSIVE && !is_near &&
	       input->ledger->freeboard_bytes.bytes >= (int64_t)(warning / 2);
}

enum rule_answer rule_freeboard_low(const struct rule_input *input, struct finding *finding)
{
	const struct ledger *ledger = input->ledger;
	struct judged_limit judged;
	if (!judged_freeboard(input, &judged))
		judged_missing(finding);
	if (!qty_known(ledger->floor_bytes))
		finding_missing(finding, "floor: neither memory.stat nor smaps could be read");
	if (finding->n_missing == 0 && !ledger->freeboard_bytes.known)
		finding_missing(finding, "freeboard: limit and floor are too far apart to subtract");
	if (finding->n_missing)
		return RULE_INCONCLUSIVE;
	uint64_t limit = judged.bytes, critical, warning = room_levels(input, limit, &critical);
	int64_t freeboard = ledger->freeboard_bytes.bytes;
	if (freeboard >= (int64_t)warning)
		return RULE_SILENT;
	char room[UNITS_TEXT_CAP], of[UNITS_TEXT_CAP], floor[UNITS_TEXT_CAP];
	finding->severity = freeboard < (int64_t)critical            ? SEVERITY_CRITICAL
			    : is_as_planned(input, &judged, warning) ? SEVERITY_NOTICE
								     : SEVERITY_WARNING;
	finding->owner = others_fill(input, &judged, warning) ? -1 : blame_owner(input);
	(void)units_format(of, limit);
	(void)units_format(floor, ledger->floor_bytes.bytes);
	(void)units_format(room, freeboard < 0 ? (uint64_t)0 - (uint64_t)freeboard : (uint64_t)freeboard);
	if (freeboard < 0) {
		finding_title(finding, "the floor is %s past the limit of %s", room, of);
		finding_observation(
			finding,
			"The kernel cannot reclaim %s, %s more than %s of %s: what runs so uses swap, or the limit is not in force.",
			floor, room, judged.name, of);
	} else {
		finding_title(finding, "only %s left below the limit of %s", room, of);
		finding_observation(finding,
				    "The kernel cannot reclaim %s of %s, %s; it can grow %s more before it is killed.",
				    floor, of, judged.name, room);
	}
	if (judged.is_pod)
		observe_others(input, finding);
	if (blame_budget(ledger))
		observe_overrun(ledger, finding);
	else if (finding->owner >= 0)
		blame_observe(input, finding);
	observe_unread(input, finding);
	if (ledger->freeboard_level == FREEBOARD_PROCESSES)
		finding_observation(
			finding,
			"Without the container's cgroup this is an upper bound: other processes and kernel memory are not in it.");
	finding_cause(finding, "the limit is too small for what is configured: then expected demand is above it too");
	finding_cause(
		finding,
		"one owner outgrew its budget: then its line stands above its budget and goes on growing between two reports");
	finding_cause(finding,
		      "a passing peak (checkpoint, restore, restart): then the floor falls again within minutes");
	cause_leak(input, finding);
	finding_setting_bytes(finding, judged.setting, limit, judged.where);
	finding_setting(finding, input->snapshot, "-Xmx");
	finding_bytes(finding, "limit_bytes", limit);
	finding_bytes(finding, "floor_bytes", ledger->floor_bytes.bytes);
	finding_figure(finding, "freeboard_bytes", freeboard);
	finding_bytes(finding, "warning_below_bytes", warning);
	uint64_t held =
		sat_add(ledger->floor_bytes.bytes, judged.is_pod ? qty_or(input->snapshot->pod_others_bytes, 0) : 0);
	room_raise_limit(input, &judged, finding, sat_add(held, sat_add(warning, warning / 4)));
	finding_validate(finding, "steady: freeboard stays above %s over several checkpoint intervals",
			 units_format(room, warning));
	finding_validate(finding,
			 "failure: the same while one TaskManager or instance is killed and its state is restored");
	return RULE_FIRED;
}

static bool is_owner_of(const struct demand_part *part, int owner)
{
	return part->owners >> owner & 1;
}

/* What is still to come of a part: nothing is known of one with an unread line, and of the rest all is there. */
static uint64_t growth_of(const struct ledger *ledger, const struct demand_part *part)
{
	uint64_t resident = 0;
	if (part->unread || is_owner_of(part, OWNER_NATIVE_OTHER))
		return 0;
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		if (!is_owner_of(part, owner) || !ledger->listed[owner])
			continue;
		if (!qty_known(ledger->lines[owner].bytes))
			return 0;
		resident = sat_add(resident, ledger->lines[owner].bytes.bytes);
	}
	return part->bytes > resident ? part->bytes - resident : 0;
}

static const struct demand_part *largest_growth(const struct ledger *ledger, uint64_t *ret_growth)
{
	const struct demand_part *best = NULL;
	*ret_growth = 0;
	for (size_t i = 0; i < ledger->expected.n_parts; i++) {
		uint64_t growth = growth_of(ledger, &ledger->expected.parts[i]);
		if (growth <= *ret_growth)
			continue;
		best = &ledger->expected.parts[i];
		*ret_growth = growth;
	}
	return best;
}

/*
 * Who is to blame for a demand past the limit: who overran a budget; else who grows past it; else who has still to come, if without that it
 * would fit; else who is there.
 */
static int demanding_owner(const struct rule_input *input, const struct demand_part *growing, uint64_t growth,
			   uint64_t excess)
{
	const struct ledger *ledger = input->ledger;
	const struct ledger_budget *budget = blame_budget(ledger);
	if (budget)
		return blame_in_budget(ledger, budget);
	/* What reaches the limit by itself would do so beside a heap that never fills. */
	const struct forecast *forecast = input->history ? &input->history->forecast : NULL;
	if (forecast && forecast->kind == FORECAST_REACHES && forecast->owner >= 0)
		return forecast->owner;
	for (int owner = 0; growing && growth >= excess && owner < OWNER_COUNT; owner++)
		if (is_owner_of(growing, owner) && ledger->listed[owner])
			return owner;
	return largest_owner(ledger);
}

enum rule_answer rule_demand_over_limit(const struct rule_input *input, struct finding *finding)
{
	const struct ledger *ledger = input->ledger;
	struct judged_limit judged;
	if (!judged_container(ledger, &judged))
		judged_missing(finding);
	if (!qty_known(ledger->expected.bytes))
		finding_missing(finding, "expected demand: %s unread",
				ledger->expected.missing ? ledger->expected.missing : "smaps of a JVM");
	if (finding->n_missing)
		return RULE_INCONCLUSIVE;
	uint64_t limit = ledger->limit.bytes, expected = room_expected(input).bytes;
	if (!room_demand_is_over(input))
		return RULE_SILENT;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	char owner[64];
	uint64_t growth;
	const struct demand_part *part = largest_growth(ledger, &growth);
	finding->severity = SEVERITY_WARNING;
	finding->excess_bytes = expected - limit;
	finding->owner = demanding_owner(input, part, growth, expected - limit);
	finding_title(finding, "the pod is set up to need %s against a limit of %s", units_format(a, expected),
		      units_format(b, limit));
	finding_observation(finding, "Configured to take %s in all, %s more than the limit.", units_format(a, expected),
			    units_format(b, expected - limit));
	for (size_t i = 0; i < ledger->expected.n_parts; i++)
		finding_observation(finding, "%s %s%s", ledger->expected.parts[i].what,
				    ledger->expected.parts[i].unread ? "unread, in the rest"
								     : units_format(c, ledger->expected.parts[i].bytes),
				    i + 1 < ledger->expected.n_parts ? ";" : ".");
	if (expected > ledger->expected.bytes.bytes)
		finding_observation(finding, "Everything else has been %s more.",
				    units_format(c, expected - ledger->expected.bytes.bytes));
	observe_overrun(ledger, finding);
	if (part && !blame_budget(ledger))
		finding_observation(finding, "Most still to come: %s, %s.", part->what, units_format(c, growth));
	if (part && growth < expected - limit && finding->owner >= 0 && !blame_budget(ledger))
		finding_observation(finding, "It would not fit without that either. The largest owner: %s.",
				    owner_text(owner, ledger, finding->owner));
	finding_cause(
		finding,
		"the limit was set to the heap, or to Flink's flink.size, without what lives outside it: compare limit and parts");
	finding_cause(finding,
		      "\"everything else\" is unusually large: then its lines, not the settings, are the matter");
	cause_leak(input, finding);
	finding_setting_bytes(finding, judged.setting, limit, judged.where);
	finding_setting(finding, input->snapshot, "-Xmx");
	finding_setting(finding, input->snapshot, "-XX:MaxDirectMemorySize");
	finding_setting(finding, input->snapshot, "taskmanager.memory.managed.size");
	finding_bytes(finding, "limit_bytes", limit);
	finding_bytes(finding, "expected_demand_bytes", expected);
	room_raise_limit(input, &judged, finding, sat_add(expected, expected / 20));
	finding_validate(finding, "steady: expected demand is below the limit in a report taken under full load");
	finding_validate(finding, "restore: freeboard stays positive while state is restored from a savepoint");
	return RULE_FIRED;
}

enum rule_answer rule_limit_below_process_size(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	const struct ledger *ledger = input->ledger;
	if (snapshot->engine.kind != ENGINE_FLINK_TASKMANAGER && snapshot->engine.kind != ENGINE_FLINK_JOBMANAGER)
		return RULE_SILENT; /* nobody else plans a process size */
	struct judged_limit judged;
	if (!judged_container(ledger, &judged))
		judged_missing(finding);
	if (!qty_known(snapshot->engine.flink.process_bytes))
		finding_missing(
			finding,
			"Flink's budget: its -D options on the command line, or the configuration (--flink-conf FILE)");
	if (finding->n_missing)
		return RULE_INCONCLUSIVE;
	uint64_t limit = ledger->limit.bytes, process = snapshot->engine.flink.process_bytes.bytes;
	if (process <= sat_add(limit, judged_level(input, T_LIMIT_BELOW_PROCESS_SIZE_SLACK)))
		return RULE_SILENT;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	const char *role = snapshot->engine.kind == ENGINE_FLINK_JOBMANAGER ? "jobmanager" : "taskmanager";
	finding->severity = SEVERITY_WARNING;
	finding->excess_bytes = process - limit;
	finding_title(finding, "the limit of %s is below Flink's process size of %s", units_format(a, limit),
		      units_format(b, process));
	finding_observation(finding, "Flink shares out %s, the container may take %s: %s of the plan are not there.",
			    units_format(b, process), units_format(a, limit), units_format(c, process - limit));
	if (limit % 1000000 == 0 && limit % (1 << 20) != 0)
		finding_observation(
			finding,
			"The limit is a round decimal number: Kubernetes reads 4G as 4,000,000,000, Flink reads 4g as 4,294,967,296.");
	finding_cause(
		finding,
		"Kubernetes' decimal G or M against Flink's binary g or m: the limit is then a multiple of 1,000,000");
	finding_cause(finding, "a limit written by hand, or by an autoscaler, beside Flink's %s.memory.process.size",
		      role);
	finding_cause(
		finding,
		"the pod was resized after the process had started: then memory.max changed and the command line did not");
	finding_setting_bytes(finding, judged.setting, limit, judged.where);
	char key[64];
	(void)snprintf(key, sizeof key, "%s.memory.process.size", role);
	finding_setting_bytes(finding, key, process, "sum of the parts on the command line");
	finding_bytes(finding, "limit_bytes", limit);
	finding_bytes(finding, "process_size_bytes", process);
	/* What already lacks room must not be told to plan for less, while another finding says to raise the limit. */
	if (room_is_lacking(input)) {
		finding_turn(finding, KNOB_LIMIT, TURN_UP);
		finding_change(finding, "raise the container's memory limit to %s (%lluMi), what Flink shares out",
			       units_format(b, room_round_up(process)),
			       (unsigned long long)(room_round_up(process) / MIB));
	} else {
		finding_turn(finding, KNOB_PROCESS_SIZE, TURN_DOWN);
		finding_change(finding, "set %s.memory.process.size to %llum, what the limit really is", role,
			       (unsigned long long)(limit >> 20));
	}
	finding_validate(finding, "steady: after a restart the report's budgets sum up to no more than the limit");
	finding_validate(finding, "restore: heap and managed memory carry a restore from the last savepoint");
	return RULE_FIRED;
}
