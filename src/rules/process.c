/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other processes in the container: memory.stat anon less the JVM's own, which no budget of Flink or the JVM counts.
 * The exception are PyFlink's workers: managed memory is shared out by weight among OPERATOR, STATE_BACKEND and PYTHON,
 * as far as a slot has such consumers (ManagedMemoryUtils).
 */
#include <stdio.h>
#include <string.h>

#include "rules/all.h"
#include "rules/judged.h"
#include "rules/room.h"
#include "rules/text.h"

enum { WEIGHT_DEFAULT = 70, WEIGHT_PYTHON = 30, WEIGHT_MAX = 1000000 };

static const char weights_key[] = "taskmanager.memory.managed.consumer-weights";

/* PYTHON:30 in "OPERATOR:70,STATE_BACKEND:70,PYTHON:30"; the default where the setting or the word is not there. */
static uint64_t weight(const struct snapshot *snapshot, const char *consumer, uint64_t otherwise)
{
	for (size_t i = 0; i < snapshot->n_settings; i++) {
		if (strcmp(snapshot->settings[i].key, weights_key) != 0)
			continue;
		const char *at = strstr(snapshot->settings[i].value, consumer);
		if (!at)
			return otherwise;
		uint64_t n = 0;
		for (at += strlen(consumer); *at >= '0' && *at <= '9' && n < WEIGHT_MAX; at++)
			n = n * 10 + (uint64_t)(*at - '0');
		return n;
	}
	return otherwise;
}

/* RocksDB on managed memory has its weight; where the backend is not known it is taken to have: Python's share is then the smaller. */
static bool state_on_managed(const struct engine_state *engine)
{
	return engine->backend != BACKEND_HASHMAP && !qty_known(engine->rocksdb_fixed_per_slot_bytes) &&
	       engine->rocksdb_managed != TRISTATE_FALSE;
}

/* What Flink sets aside for Python workers, if there are any: unread where this is no TaskManager with managed memory. */
static struct qty python_share(const struct snapshot *snapshot)
{
	const struct engine_state *engine = &snapshot->engine;
	struct qty managed = engine->flink.managed_bytes;
	if (engine->kind != ENGINE_FLINK_TASKMANAGER || !qty_known(managed))
		return (struct qty){ 0 };
	uint64_t python = weight(snapshot, "PYTHON:", WEIGHT_PYTHON), all = python;
	if (state_on_managed(engine))
		all += weight(snapshot, "STATE_BACKEND:", WEIGHT_DEFAULT);
	if (engine->batch == TRISTATE_TRUE)
		all += weight(snapshot, "OPERATOR:", WEIGHT_DEFAULT);
	return qty_of(all ? (uint64_t)((__uint128_t)managed.bytes * python / all) : 0, QTY_DERIVED);
}

struct others {
	uint64_t held, over; /* over: what no budget counts */
	struct count n;
	struct qty share;  /* of managed memory, for Python workers */
	bool python;       /* they are: PyFlink is certain */
	bool maybe_python; /* they may be, and would then be within their share */
};

/* Nobody knows whether the job is PyFlink; or the configuration shows no other sign of it than Python's weight. */
static bool may_be_python(const struct snapshot *snapshot)
{
	const struct engine_state *engine = &snapshot->engine;
	/* A job brings its own switches: managed memory that no store of RocksDB reserved is reserved by batch or by Python. */
	bool reserved = engine->backend == BACKEND_HASHMAP && qty_or(engine->gauges.managed_used_bytes, 0) > 0 &&
			engine->batch != TRISTATE_TRUE;
	return engine->python == TRISTATE_UNREAD ||
	       (engine->python == TRISTATE_FALSE && (reserved || weight(snapshot, "PYTHON:", 0) > 0));
}

static bool is_member(const struct cgroup_memory *cg)
{
	return cg->target_is_member && cg->n_procs.n > 0;
}

static bool take(const struct rule_input *input, struct others *ret)
{
	const struct snapshot *snapshot = input->snapshot;
	const struct ledger_line *line = &input->ledger->lines[OWNER_OTHER_PROCESSES];
	if (!input->ledger->listed[OWNER_OTHER_PROCESSES] || !qty_known(line->bytes))
		return false;
	*ret = (struct others){ .held = line->bytes.bytes, .share = python_share(snapshot) };
	if (snapshot->cgroup.n_procs.known)
		ret->n = count_of(snapshot->cgroup.n_procs.n - (is_member(&snapshot->cgroup) ? 1 : 0));
	ret->python = snapshot->engine.python == TRISTATE_TRUE && qty_known(ret->share);
	ret->maybe_python = may_be_python(snapshot) && qty_known(ret->share) && ret->held <= ret->share.bytes;
	ret->over = ret->held;
	if (ret->python)
		ret->over -= ret->share.bytes < ret->held ? ret->share.bytes : ret->held;
	return true;
}

static void observe(const struct others *o, const struct judged_limit *limit, struct finding *finding)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], who[48] = "other processes";
	if (o->n.known)
		(void)snprintf(who, sizeof who, "%llu other process%s", (unsigned long long)o->n.n,
			       o->n.n == 1 ? "" : "es");
	if (o->python)
		finding_title(finding, "%s in the container hold%s %s against %s that Flink sets aside for Python", who,
			      o->n.known && o->n.n == 1 ? "s" : "", units_format(a, o->held),
			      units_format(b, o->share.bytes));
	else
		finding_title(finding, "%s in the container hold%s %s of the limit of %s", who,
			      o->n.known && o->n.n == 1 ? "s" : "", units_format(a, o->held),
			      units_format(b, limit->bytes));
	finding_observation(finding, "Beside the JVM the container has %s with %s of anonymous memory; %s is %s.", who,
			    units_format(a, o->held), limit->name, units_format(b, limit->bytes));
	if (o->python)
		finding_observation(finding,
				    "Python's share of managed memory, by its weight, is %s: %s is in no budget.",
				    units_format(a, o->share.bytes), units_format(b, o->over));
	else if (o->maybe_python)
		finding_observation(
			finding,
			"If they are PyFlink's workers, managed memory pays for them: by weight their share of it is %s. Otherwise no budget does.",
			units_format(a, o->share.bytes));
	else
		finding_observation(finding, "No budget of the JVM or the engine counts it.");
}

static void name_causes(const struct snapshot *snapshot, const struct others *o, struct finding *finding)
{
	if (o->python || (qty_known(o->share) && may_be_python(snapshot)))
		finding_cause(
			finding,
			"Python workers of PyFlink, one or more a slot: then ps -eo pid,ppid,rss,args --sort=-rss in the container shows python under the JVM, and what they hold grows with bundles, state caches and the job's own objects");
	finding_cause(
		finding,
		"programs beside the JVM (a log shipper, a monitoring agent, an entrypoint that stays): then ps shows them, and they are there from the start");
	finding_cause(
		finding,
		"programs the job starts (ProcessBuilder): then their parent is the JVM and their number changes with the load");
	finding_cause(
		finding,
		"somebody's debugging session (kubectl exec, a heap dump tool): then it is gone when the session ends");
}

/* A worker cannot leave the container of its JVM: it gets a budget. Anything else gets a container of its own. */
static void change_for(const struct rule_input *input, const struct others *o, struct finding *finding)
{
	const struct qty overhead = input->snapshot->engine.flink.overhead_bytes;
	unsigned long long mib = (unsigned long long)(room_round_up(o->over) >> 20);
	if (!o->python) {
		unsigned long long own = (unsigned long long)(room_round_up(sat_add(o->held, o->held / 4)) >> 20);
		finding_turn(finding, KNOB_APPLICATION, TURN_SET);
		finding_change(
			finding,
			o->maybe_python
				? "name them (ps -eo pid,ppid,rss,args --sort=-rss in the container): PyFlink's workers stay, anything else gets a container of its own (a sidecar in the same pod) with resources.limits.memory of %lluMi, what they hold now and a quarter more"
				: "run what ps names in a container of its own (a sidecar in the same pod) with resources.limits.memory of %lluMi, what it holds now and a quarter more; a program that nobody needs here: stop it",
			own);
		return;
	}
	finding_turn(finding, KNOB_OVERHEAD, TURN_UP);
	finding_turn(finding, KNOB_PROCESS_SIZE, TURN_UP);
	finding_turn(finding, KNOB_LIMIT, TURN_UP);
	if (qty_known(overhead))
		finding_change(
			finding,
			"give the workers' excess a budget: set taskmanager.memory.jvm-overhead.min and .max both to %llum (%llum more than now), and raise taskmanager.memory.process.size and the container's limit by the same %llum",
			(unsigned long long)(room_round_up(overhead.bytes) >> 20) + mib,
			(unsigned long long)(room_round_up(overhead.bytes) - overhead.bytes) / (1 << 20) + mib, mib);
	else
		finding_change(
			finding,
			"give the workers' excess a budget: raise taskmanager.memory.jvm-overhead.min and .max, taskmanager.memory.process.size and the container's limit each by %llum",
			mib);
}

static enum severity severity_of(const struct rule_input *input, const struct others *o,
				 const struct judged_limit *limit)
{
	bool grave = o->over > judged_share(input, T_OTHER_PROCESS_WARNING, limit->bytes) && !o->maybe_python;
	return grave ? SEVERITY_WARNING : SEVERITY_NOTICE;
}

static void name_missing(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	if (!qty_known(snapshot->cgroup.stat.anon_bytes))
		finding_missing_file(finding, snapshot, "memory.stat", "the container's cgroup v2 was not read");
	if (!snapshot->vmas_read)
		finding_missing(
			finding,
			"smaps of the JVM: what is its own and what is other processes' cannot be told apart (same uid and gid)");
}

/* Alone in its container: there is nobody else to judge, whatever could not be read. */
static bool is_alone(const struct cgroup_memory *cg)
{
	return cg->n_procs.known && cg->n_procs.n <= 1 && cg->target_is_member;
}

enum rule_answer rule_other_process(const struct rule_input *input, struct finding *finding)
{
	struct others o;
	struct judged_limit limit;
	char a[UNITS_TEXT_CAP];
	if (is_alone(&input->snapshot->cgroup))
		return RULE_SILENT;
	if (!take(input, &o)) {
		name_missing(input, finding);
		return RULE_INCONCLUSIVE;
	}
	if (o.over <= judged_level(input, T_OTHER_PROCESS_BYTES))
		return RULE_SILENT;
	if (!judged_container(input->ledger, &limit)) {
		judged_missing(finding);
		return RULE_INCONCLUSIVE;
	}
	if (o.over <= judged_share(input, T_OTHER_PROCESS_NOTICE, limit.bytes))
		return RULE_SILENT;
	finding->severity = severity_of(input, &o, &limit);
	finding->owner = OWNER_OTHER_PROCESSES;
	finding->excess_bytes = o.over;
	observe(&o, &limit, finding);
	name_causes(input->snapshot, &o, finding);
	finding_setting_bytes(finding, limit.setting, limit.bytes, limit.where);
	finding_setting(finding, input->snapshot, weights_key);
	finding_setting(finding, input->snapshot, "taskmanager.memory.managed.size");
	finding_bytes(finding, "other_processes_bytes", o.held);
	finding_bytes(finding, "limit_bytes", limit.bytes);
	if (o.python || o.maybe_python)
		finding_bytes(finding, "python_share_bytes", o.share.bytes);
	if (o.n.known)
		finding_bytes(finding, "other_processes", o.n.n);
	if (o.maybe_python)
		finding_missing(
			finding,
			"whether the job is PyFlink, whose workers live on managed memory: no option python.* in the configuration (--flink-conf FILE) or the job says so");
	change_for(input, &o, finding);
	finding_validate(finding,
			 "steady: the other-processes line of the report stays below %s through a full day's peak",
			 units_format(a, sat_add(o.held - o.over, judged_both(input, T_OTHER_PROCESS_NOTICE,
									      T_OTHER_PROCESS_BYTES, limit.bytes))));
	finding_validate(
		finding,
		"restore: freeboard stays above the level of freeboard-low while a savepoint is restored and all of them run");
	return RULE_FIRED;
}
