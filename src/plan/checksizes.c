/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes that Flink accepts and that will hurt: each with a number and its reason. */
#include <stdio.h>

#include "base/sat.h"
#include "plan/checks.h"
#include "plan/flinkkeys.h"
#include "plan/quantity.h"
#include "rules/text.h"

enum {
	MIB = 1 << 20,
	/* JobManagerOptions.MIN_JVM_HEAP_SIZE: below it Flink itself warns. */
	JM_HEAP_LEAST = 128 * MIB,
	/* The default of 1.10 that was too small for many jobs (FLINK-16406). */
	METASPACE_LEAST = 96 * MIB,
	/* Trouble is reported of the default, 128 MiB, with more than three slots (hesse#11): 128 / 3, rounded up. */
	DIRECT_LEAST_A_SLOT = 43 * MIB,
	DIRECT_FEW_SLOTS = 3,
};

static const char *role_name(const struct flinkplan_ask *ask)
{
	return ask->role == DERIVE_JOBMANAGER ? "jobmanager" : "taskmanager";
}

static void check_heap(const struct flinkplan_ask *ask, const struct flinkplan *plan)
{
	char a[UNITS_TEXT_CAP];
	uint64_t heap = plan->derived.budget.heap_bytes.bytes;
	bool is_jobmanager = ask->role == DERIVE_JOBMANAGER;
	uint64_t task = qty_or(plan->derived.budget.task_heap_bytes, 0);
	if (is_jobmanager ? heap >= JM_HEAP_LEAST : task >= 64ull * MIB)
		return;
	struct finding *finding = checks_new(plan->verdict, "heap-small", SEVERITY_WARNING);
	if (!finding)
		return;
	finding->owner = OWNER_JAVA_HEAP;
	finding_turn(finding, KNOB_PROCESS_SIZE, TURN_UP);
	finding_title(finding, "only %s of heap is left for %s", units_format(a, is_jobmanager ? heap : task),
		      is_jobmanager ? "the JobManager" : "the tasks");
	finding_observation(
		finding,
		is_jobmanager
			? "Flink warns of less than 128.0 MiB. What was set aside first took the rest."
			: "Framework, managed and network memory were set aside first. Operators, user code and state on the heap live in what is left.");
	finding_change(finding, "raise %s.memory.process.size, or set aside less", role_name(ask));
}

static void check_metaspace(const struct flinkplan_ask *ask, const struct flinkplan *plan)
{
	char a[UNITS_TEXT_CAP], key[64];
	uint64_t metaspace = plan->derived.budget.metaspace_bytes.bytes;
	if (metaspace > METASPACE_LEAST)
		return;
	struct finding *finding = checks_new(plan->verdict, "metaspace-small", SEVERITY_WARNING);
	if (!finding)
		return;
	(void)snprintf(key, sizeof key, "%s.memory.jvm-metaspace.size", role_name(ask));
	finding->owner = OWNER_METASPACE;
	finding_turn(finding, KNOB_METASPACE, TURN_UP);
	finding_title(finding, "%s of metaspace is less than Flink and a job with its libraries load",
		      units_format(a, metaspace));
	finding_observation(
		finding,
		"Flink raised its default from 96m to 256m, for jobs ended with OutOfMemoryError: Metaspace (FLINK-16406).");
	finding_setting_bytes(finding, key, metaspace, "planned");
	finding_change(finding, "set %s: 256m and raise %s.memory.process.size by %llum", key, role_name(ask),
		       (unsigned long long)((256ull * MIB - metaspace) / MIB));
}

/* More off the heap than on it, by a task.off-heap.size that somebody wrote. */
static void check_split(const struct flinkplan_ask *ask, const struct flinkplan *plan)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	const struct flink_budget *budget = &plan->derived.budget;
	uint64_t off_heap = qty_or(budget->task_off_heap_bytes, 0);
	if (ask->role != DERIVE_TASKMANAGER || off_heap < 256ull * MIB || off_heap <= budget->heap_bytes.bytes)
		return;
	struct finding *finding = checks_new(plan->verdict, "split-lopsided", SEVERITY_WARNING);
	if (!finding)
		return;
	finding->owner = OWNER_DIRECT_BUFFERS;
	finding_turn(finding, KNOB_DIRECT, TURN_DOWN);
	finding_title(finding, "%s off the heap for tasks leave %s of heap", units_format(a, off_heap),
		      units_format(b, budget->heap_bytes.bytes));
	finding_observation(
		finding,
		"taskmanager.memory.task.off-heap.size takes %llu %% of Flink's %s. It bounds direct buffers and what user code allocates natively; objects do not live there.",
		(unsigned long long)(off_heap / (budget->flink_bytes.bytes / 100 + 1)),
		units_format(c, budget->flink_bytes.bytes));
	finding_cause(
		finding,
		"an out-of-memory error of the heap was met with off-heap memory: then the heap is what was short");
	finding_change(
		finding,
		"set taskmanager.memory.task.off-heap.size to what direct buffers and native code of the job take at most; the rest goes to the heap");
}

/* Netty and the framework's own direct memory grow with the slots, and their budget does not. */
static void check_direct(const struct flinkplan_ask *ask, const struct flinkplan *plan)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	const struct flink_budget *budget = &plan->derived.budget;
	if (ask->role != DERIVE_TASKMANAGER || !budget->n_slots.known || budget->n_slots.n <= DIRECT_FEW_SLOTS)
		return;
	uint64_t slots = budget->n_slots.n;
	uint64_t outside = budget->framework_off_heap_bytes.bytes + budget->task_off_heap_bytes.bytes;
	if (outside / slots >= DIRECT_LEAST_A_SLOT)
		return;
	struct finding *finding = checks_new(plan->verdict, "direct-by-slots", SEVERITY_NOTICE);
	if (!finding)
		return;
	finding->owner = OWNER_DIRECT_BUFFERS;
	finding_turn(finding, KNOB_DIRECT, TURN_UP);
	finding_title(finding, "%llu slots share %s of direct memory beside the network's", (unsigned long long)slots,
		      units_format(a, outside));
	finding_observation(
		finding,
		"Netty, connectors and batch shuffles take direct buffers for each slot; network memory of %s is not theirs. The budget does not grow with the slots.",
		units_format(b, budget->network_bytes.bytes));
	finding_change(
		finding,
		"watch flink_taskmanager_Status_JVM_Memory_Direct_MemoryUsed; at nine tenths of -XX:MaxDirectMemorySize raise taskmanager.memory.framework.off-heap.size");
	finding->when = CHANGE_LATER;
}

/* RocksDB that managed memory does not pay for. */
static void check_rocksdb(const struct flinkplan_ask *ask, const struct flinkplan *plan)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	const struct engine_state *engine = &plan->snapshot->engine;
	if (plan->rocksdb.sharing == ROCKSDB_SHARING_UNKNOWN || plan->rocksdb.within_managed)
		return;
	bool unbounded = plan->rocksdb.sharing == ROCKSDB_PER_STORE;
	const char *options = engine->backend == BACKEND_FORST ? "state.backend.forst" : "state.backend.rocksdb";
	struct finding *finding = checks_new(plan->verdict, unbounded ? "rocksdb-unbounded" : "rocksdb-outside",
					     unbounded ? SEVERITY_WARNING : SEVERITY_NOTICE);
	if (!finding)
		return;
	finding->owner = OWNER_ROCKSDB_BLOCK_CACHE;
	finding_turn(finding, KNOB_ROCKSDB_CACHE, TURN_SET);
	if (!unbounded) {
		finding_title(finding, "RocksDB takes %s outside of Flink's budget",
			      units_format(a, plan->rocksdb_outside_bytes.bytes));
		finding_observation(
			finding,
			"%s.memory.fixed-per-%s is none of Flink's parts, so nothing is set aside for it, and %s of managed memory are not used by it.",
			options, plan->rocksdb.sharing == ROCKSDB_PER_PROCESS ? "tm" : "slot",
			units_format(b, engine->flink.managed_bytes.bytes));
		finding_change(finding, "take %s.memory.fixed-per-%s out, so that managed memory bounds RocksDB",
			       options, plan->rocksdb.sharing == ROCKSDB_PER_PROCESS ? "tm" : "slot");
		return;
	}
	finding_title(finding, "nothing bounds RocksDB's memory");
	finding_observation(
		finding,
		"%s.memory.managed is false and no fixed size is set: each state has a cache and write buffers of its own.",
		options);
	if (plan->states_guessed)
		finding_observation(
			finding,
			"By Flink's rule of thumb %llu states in each of %llu slots take %s in all, %llu bytes each, and more with the data.",
			(unsigned long long)ask->n_states.n, (unsigned long long)engine->flink.n_slots.n,
			units_format(a, plan->rocksdb_outside_bytes.bytes),
			(unsigned long long)(plan->rocksdb_outside_bytes.bytes /
					     sat_mul(ask->n_states.n, engine->flink.n_slots.n)));
	else
		finding_missing(finding, "how many states a slot has: --states N, timers counted too");
	finding_change(finding, "set %s.memory.managed: true", options);
}

/* The blocks that states hold at least, beside what RocksDB was given. */
static void check_arena(const struct flinkplan_ask *ask, const struct flinkplan *plan)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	const struct flink_budget *budget = &plan->derived.budget;
	if (!ask->n_states.known || !qty_known(plan->arena_bytes) || plan->rocksdb.sharing == ROCKSDB_PER_STORE ||
	    ask->n_states.n > 1000000)
		return;
	uint64_t all = plan->arena_bytes.bytes * ask->n_states.n * budget->n_slots.n;
	if (all <= budget->overhead_bytes.bytes / 2)
		return;
	struct finding *finding = checks_new(plan->verdict, "arena-blocks", SEVERITY_NOTICE);
	if (!finding)
		return;
	finding->owner = OWNER_ROCKSDB_MEMTABLES;
	finding_turn(finding, KNOB_WRITE_BUFFERS, TURN_DOWN);
	finding_title(finding, "the first blocks of all states may pass RocksDB's budget by %s", units_format(a, all));
	finding_observation(
		finding,
		"Each of %llu states in %llu slots may hold a block of %s past the cache's capacity, as Flink's own test allows; %s of overhead is to carry it.",
		(unsigned long long)ask->n_states.n, (unsigned long long)budget->n_slots.n,
		units_format(b, plan->arena_bytes.bytes), units_format(c, budget->overhead_bytes.bytes));
	finding_change(
		finding,
		"set a smaller state.backend.rocksdb.writebuffer.size, or raise taskmanager.memory.jvm-overhead.min");
	finding->when = CHANGE_LATER;
}

static bool has_word(struct str text, struct str word)
{
	return str_has(text, word);
}

/* What somebody gives the JVM by hand stands behind Flink's own flags, and wins. */
static void check_java_options(const struct flinkplan_ask *ask, const struct flinkplan *plan)
{
	static const char *const flags[] = { "-Xmx", "-XX:MaxDirectMemorySize", "-XX:MaxMetaspaceSize",
					     "-XX:MaxRAMPercentage", "-XX:MaxHeapSize" };
	char key[64];
	const char *const keys[] = { "env.java.opts.all", key };
	(void)snprintf(key, sizeof key, "env.java.opts.%s", role_name(ask));
	for (size_t i = 0; i < 2 * sizeof flags / sizeof flags[0]; i++) {
		struct declared_value value;
		const char *flag = flags[i / 2];
		if (!declared_find(ask->declared, keys[i % 2], &value) || !has_word(value.value.text, str_of(flag)))
			continue;
		struct finding *finding = checks_new(plan->verdict, "flag-overridden", SEVERITY_WARNING);
		if (!finding)
			return;
		finding_turn(finding, KNOB_HEAP, TURN_SET);
		finding_title(finding, "%s sets %s over what Flink derives", keys[i % 2], flag);
		finding_observation(
			finding,
			"%s: it stands behind Flink's own flags on the command line, so the JVM takes it, and the plan below is not what will run.",
			value.where);
		finding_change(finding, "take %s out of %s and set the size that Flink derives it from", flag,
			       keys[i % 2]);
	}
}

/* Kubernetes' decimal G beside Flink's binary g. */
static void check_units(const struct flinkplan_ask *ask, const struct flinkplan *plan)
{
	char a[UNITS_TEXT_CAP];
	if (!plan->limit_told || !ask->limit_said || !quantity_is_decimal(str_of(ask->limit_said)))
		return;
	int len = (int)strnlen(ask->limit_said, 24);
	struct finding *finding = checks_new(plan->verdict, "units-decimal", SEVERITY_NOTICE);
	if (!finding)
		return;
	finding_title(finding, "the limit of %.24s is decimal, Flink's units are binary", ask->limit_said);
	finding_observation(finding,
			    "Kubernetes reads %.24s as %llu bytes (%s); %.*si would be binary, as Flink's sizes are.",
			    ask->limit_said, (unsigned long long)plan->ledger->limit.bytes,
			    units_format(a, plan->ledger->limit.bytes), len, ask->limit_said);
	finding_change(finding, "write %.*si in the manifest", len, ask->limit_said);
	finding->when = CHANGE_LATER;
}

/* A tenth of the limit that no budget of Flink's knows of. */
static void check_hidden_room(const struct flinkplan_ask *ask, const struct flinkplan *plan)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	uint64_t limit = plan->ledger->limit.bytes, process = plan->derived.budget.process_bytes.bytes;
	if (!plan->limit_told || limit <= process || limit - process < limit / 20)
		return;
	struct finding *finding = checks_new(plan->verdict, "hidden-headroom", SEVERITY_INFO);
	if (!finding)
		return;
	finding_title(finding, "%s, %llu %% of the limit, are above what Flink plans for",
		      units_format(a, limit - process), (unsigned long long)((limit - process) / (limit / 100)));
	finding_observation(
		finding,
		"%s.memory.process.size comes to %s. Old operators size it as a share of the limit; the rest is a reserve for what Flink does not bound, and heap and managed memory never use it.",
		role_name(ask), units_format(b, process));
}

void checks_sizes(const struct flinkplan_ask *ask, struct flinkplan *plan)
{
	check_heap(ask, plan);
	check_metaspace(ask, plan);
	check_split(ask, plan);
	check_direct(ask, plan);
	check_rocksdb(ask, plan);
	check_arena(ask, plan);
	check_java_options(ask, plan);
	check_units(ask, plan);
	check_hidden_room(ask, plan);
}
