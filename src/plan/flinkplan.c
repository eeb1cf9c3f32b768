/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/flinkplan.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/build.h"
#include "ledger/reconcile.h"
#include "plan/checks.h"
#include "plan/flinkkeys.h"

enum { CMDLINE_CAP = 64 * 1024, MIB = 1 << 20 };

void flinkplan_done(struct flinkplan *plan)
{
	free(plan->snapshot);
	free(plan->ledger);
	free(plan->verdict);
	*plan = (struct flinkplan){ 0 };
}

bool flinkplan_flags(const struct derived *derived, struct buf *out)
{
	const struct flink_budget *budget = &derived->budget;
	(void)buf_printf(out, "-Xmx%llu -Xms%llu", (unsigned long long)budget->heap_bytes.bytes,
			 (unsigned long long)budget->heap_bytes.bytes);
	if (derived->direct_limited)
		(void)buf_printf(out, " -XX:MaxDirectMemorySize=%llu", (unsigned long long)budget->direct_bytes.bytes);
	return buf_printf(out, " -XX:MaxMetaspaceSize=%llu", (unsigned long long)budget->metaspace_bytes.bytes);
}

size_t flinkplan_options(const struct derived *derived, struct flinkplan_option ret_options[FLINKPLAN_OPTIONS_MAX])
{
	const struct flink_budget *b = &derived->budget;
	const struct flinkplan_option taskmanager[] = {
		{ "taskmanager.memory.framework.heap.size", b->framework_heap_bytes },
		{ "taskmanager.memory.framework.off-heap.size", b->framework_off_heap_bytes },
		{ "taskmanager.memory.task.heap.size", b->task_heap_bytes },
		{ "taskmanager.memory.task.off-heap.size", b->task_off_heap_bytes },
		{ "taskmanager.memory.network.min", b->network_bytes },
		{ "taskmanager.memory.network.max", b->network_bytes },
		{ "taskmanager.memory.managed.size", b->managed_bytes },
		{ "taskmanager.memory.jvm-metaspace.size", b->metaspace_bytes },
		{ "taskmanager.memory.jvm-overhead.min", b->overhead_bytes },
		{ "taskmanager.memory.jvm-overhead.max", b->overhead_bytes },
	};
	const struct flinkplan_option jobmanager[] = {
		{ "jobmanager.memory.heap.size", b->heap_bytes },
		{ "jobmanager.memory.off-heap.size", b->direct_bytes },
		{ "jobmanager.memory.jvm-metaspace.size", b->metaspace_bytes },
		{ "jobmanager.memory.jvm-overhead.min", b->overhead_bytes },
		{ "jobmanager.memory.jvm-overhead.max", b->overhead_bytes },
	};
	bool is_jobmanager = derived->role == DERIVE_JOBMANAGER;
	size_t n =
		is_jobmanager ? sizeof jobmanager / sizeof jobmanager[0] : sizeof taskmanager / sizeof taskmanager[0];
	memcpy(ret_options, is_jobmanager ? jobmanager : taskmanager, n * sizeof *ret_options);
	return n;
}

/* The command line that Flink's scripts would run, NUL-separated as /proc has it: what a report would read. */
static bool planned_cmdline(const struct flinkplan_ask *ask, const struct derived *derived, struct buf *out)
{
	struct flinkplan_option options[FLINKPLAN_OPTIONS_MAX];
	size_t n = flinkplan_options(derived, options);
	(void)buf_puts(out, "java");
	(void)buf_putc(out, '\0');
	(void)buf_printf(out, "-Xmx%llu", (unsigned long long)derived->budget.heap_bytes.bytes);
	(void)buf_putc(out, '\0');
	(void)buf_puts(out, derived->role == DERIVE_JOBMANAGER
				    ? "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint"
				    : "org.apache.flink.runtime.taskexecutor.TaskManagerRunner");
	(void)buf_putc(out, '\0');
	for (size_t i = 0; i < ask->declared->n_sets; i++) {
		(void)buf_puts(out, "-D");
		(void)buf_add(out, ask->declared->sets[i].said);
		(void)buf_putc(out, '=');
		(void)buf_add(out, ask->declared->sets[i].value);
		(void)buf_putc(out, '\0');
	}
	for (size_t i = 0; i < n; i++) {
		(void)buf_printf(out, "-D%s=%llub", options[i].key, (unsigned long long)options[i].bytes.bytes);
		(void)buf_putc(out, '\0');
	}
	if (derived->role == DERIVE_TASKMANAGER) {
		(void)buf_printf(out, "-Dtaskmanager.numberOfTaskSlots=%llu",
				 (unsigned long long)derived->budget.n_slots.n);
		(void)buf_putc(out, '\0');
	}
	return !buf_failed(out);
}

static void put_setting(struct snapshot *snapshot, const char *key, uint64_t bytes, const char *where)
{
	if (snapshot->n_settings == SETTINGS_MAX)
		return;
	struct setting *setting = &snapshot->settings[snapshot->n_settings++];
	str_copy(setting->key, sizeof setting->key, str_of(key));
	(void)snprintf(setting->value, sizeof setting->value, "%llu", (unsigned long long)bytes);
	str_copy(setting->where, sizeof setting->where, str_of(where));
}

/* The snapshot that a report of this process would begin with. */
static int plan_engine(const struct flinkplan_ask *ask, struct flinkplan *plan, struct err *err)
{
	auto_buf struct buf cmdline = { .cap = CMDLINE_CAP };
	struct engine_notes notes = { 0 };
	struct snapshot *snapshot = plan->snapshot;
	const struct flink_budget *budget = &plan->derived.budget;
	bool metrics_read;
	if (!planned_cmdline(ask, &plan->derived, &cmdline))
		return err_set(err, ERR_NOMEM, "no memory for the command line that Flink would run");
	const struct engine_evidence evidence = { .cmdline = buf_str(&cmdline),
						  .conf = ask->file_text,
						  .conf_name = ask->file_name };
	int rc = engine_build(&evidence, &snapshot->engine, NULL, &metrics_read, &notes, err);
	if (rc < 0)
		return rc;
	str_copy(snapshot->engine.version, sizeof snapshot->engine.version,
		 str_of(flinkkeys_version(ask->declared->version)));
	snapshot->is_jvm = true;
	snapshot->flags.max_heap_bytes = budget->heap_bytes;
	/* Without the flag the JDK's limit is the largest heap. */
	snapshot->flags.max_direct_bytes = plan->derived.direct_limited ? budget->direct_bytes : budget->heap_bytes;
	snapshot->flags.max_metaspace_bytes = budget->metaspace_bytes;
	put_setting(snapshot, "-Xmx", budget->heap_bytes.bytes, "planned");
	put_setting(snapshot, "-XX:MaxDirectMemorySize", snapshot->flags.max_direct_bytes.bytes,
		    plan->derived.direct_limited ? "planned" : "the JDK's default: -Xmx");
	for (size_t i = 0; i < notes.n_settings && snapshot->n_settings < SETTINGS_MAX; i++)
		snapshot->settings[snapshot->n_settings++] = notes.settings[i];
	return 0;
}

/* What native Kubernetes makes of it (KubernetesUtils.getResourceRequirements): whole MiB, times the factor, truncated. */
static int plan_limit(const struct flinkplan_ask *ask, struct flinkplan *plan, struct err *err)
{
	const char *key = ask->role == DERIVE_JOBMANAGER ? "kubernetes.jobmanager.memory.limit-factor"
							 : "kubernetes.taskmanager.memory.limit-factor";
	char where[DECLARED_WHERE_CAP];
	int rc = declared_double(ask->declared, key, 1, &plan->limit_factor, err);
	if (rc < 0)
		return rc;
	if (!(plan->limit_factor >= 1 && plan->limit_factor <= 1000))
		return err_set(err, ERR_USAGE, "%s: %s is %g: 1 to 1000 is accepted",
			       declared_where(ask->declared, key, where), key, plan->limit_factor);
	uint64_t mib = plan->derived.budget.process_bytes.bytes / MIB;
	/* Flink counts the MiB in 31 bits: past them no pod would be made. */
	if ((double)mib * plan->limit_factor > INT32_MAX)
		mib = 0;
	plan->kubernetes_bytes = (uint64_t)((double)mib * plan->limit_factor) * MIB;
	plan->limit_told = ask->limit.kind == LIMIT_SET;
	/* Less than a MiB that Kubernetes rounds away is no lack of room. */
	uint64_t process = plan->derived.budget.process_bytes.bytes;
	plan->snapshot->told_limit =
		plan->limit_told ? ask->limit
				 : limit_set(plan->kubernetes_bytes > process ? plan->kubernetes_bytes : process);
	return 0;
}

static bool has_rocksdb(const struct engine_state *engine)
{
	return engine->kind == ENGINE_FLINK_TASKMANAGER &&
	       (engine->backend == BACKEND_ROCKSDB || engine->backend == BACKEND_FORST);
}

static void demand_put(struct demand *demand, const char *what, struct qty bytes, uint64_t owners)
{
	if (!qty_known(bytes) || demand->n_parts == DEMAND_PARTS_MAX)
		return;
	demand->parts[demand->n_parts++] = (struct demand_part){ .what = what, .bytes = bytes.bytes, .owners = owners };
	demand->bytes = demand->n_parts == 1 ? bytes : qty_add(demand->bytes, bytes);
}

#define BIT(owner) ((uint64_t)1 << (owner))
#define ROCKSDB_OWNERS \
	(BIT(OWNER_ROCKSDB_BLOCK_CACHE) | BIT(OWNER_ROCKSDB_MEMTABLES) | BIT(OWNER_ROCKSDB_TABLE_READERS))
#define OVERHEAD_OWNERS                                                                          \
	(BIT(OWNER_CODE_CACHE) | BIT(OWNER_JVM_CDS) | BIT(OWNER_THREAD_STACKS) | BIT(OWNER_GC) | \
	 BIT(OWNER_JVM_OTHER) | BIT(OWNER_ALLOCATOR_RETAINED) | BIT(OWNER_NATIVE_OTHER) | BIT(OWNER_LIBRARY_DATA))

/*
 * Expected: every budget in full but managed memory that nobody takes, and RocksDB where it lives outside of it. Legal: the
 * bounds of the JVM and of RocksDB, as a report has it; no flag bounds the rest, and stacks depend on the job.
 */
static void plan_demand(struct flinkplan *plan)
{
	enum { RESERVED_CODE_CACHE_BYTES = 240 << 20 };
	const struct flink_budget *budget = &plan->derived.budget;
	const struct jvm_flags *flags = &plan->snapshot->flags;
	struct demand *expected = &plan->ledger->expected, *legal = &plan->ledger->legal;
	struct qty managed = plan->managed_used ? budget->managed_bytes : qty_of(0, QTY_DERIVED);
	bool is_task = plan->derived.role == DERIVE_TASKMANAGER;
	*expected = *legal = (struct demand){ 0 };
	demand_put(expected, "-Xmx", budget->heap_bytes, BIT(OWNER_JAVA_HEAP) | BIT(OWNER_ZGC_HEAP));
	demand_put(expected, plan->derived.direct_limited ? "MaxDirectMemorySize" : "off-heap, which no flag enforces",
		   budget->direct_bytes, BIT(OWNER_DIRECT_BUFFERS));
	demand_put(expected, "MaxMetaspaceSize", budget->metaspace_bytes, BIT(OWNER_METASPACE));
	if (is_task)
		demand_put(expected, plan->managed_used ? "managed memory" : "managed memory, which nothing takes",
			   managed, BIT(OWNER_MANAGED_UNSAFE) | (plan->rocksdb.within_managed ? ROCKSDB_OWNERS : 0));
	demand_put(expected,
		   plan->states_guessed ? "RocksDB outside of it, by Flink's rule of thumb" : "RocksDB outside of it",
		   plan->rocksdb_outside_bytes, ROCKSDB_OWNERS);
	demand_put(expected, "JVM overhead", budget->overhead_bytes, OVERHEAD_OWNERS);
	demand_put(legal, "-Xmx", flags->max_heap_bytes, 0);
	demand_put(legal, "MaxDirectMemorySize", flags->max_direct_bytes, 0);
	demand_put(legal, "MaxMetaspaceSize", flags->max_metaspace_bytes, 0);
	demand_put(legal, "ReservedCodeCacheSize", qty_of(RESERVED_CODE_CACHE_BYTES, QTY_INFERRED), 0);
	if (is_task)
		demand_put(legal, "managed memory", budget->managed_bytes, 0);
	demand_put(legal, "RocksDB outside of it", plan->rocksdb_outside_bytes, 0);
}

int flinkplan_run(const struct flinkplan_ask *ask, struct flinkplan *ret_plan, struct err *err)
{
	auto_flinkplan struct flinkplan plan = { 0 };
	int rc = derive(ask->declared, ask->role, &plan.derived, err);
	if (rc < 0)
		return rc;
	plan.snapshot = calloc(1, sizeof *plan.snapshot);
	plan.ledger = calloc(1, sizeof *plan.ledger);
	plan.verdict = calloc(1, sizeof *plan.verdict);
	if (!plan.snapshot || !plan.ledger || !plan.verdict)
		return err_set(err, ERR_NOMEM, "no memory for a plan");
	rc = plan_engine(ask, &plan, err);
	if (rc == 0)
		rc = plan_limit(ask, &plan, err);
	if (rc < 0)
		return rc;
	/* The derivation is the truth of the plan; the readers must have read it back. */
	plan.snapshot->engine.flink = plan.derived.budget;
	recon_run(plan.snapshot, plan.ledger);
	plan.ledger->limit = plan.snapshot->told_limit;
	plan.ledger->limit_told = true;
	if (has_rocksdb(&plan.snapshot->engine))
		checks_rocksdb(ask, &plan);
	plan.managed_used = plan.rocksdb.within_managed || plan.snapshot->engine.batch == TRISTATE_TRUE ||
			    plan.snapshot->engine.python == TRISTATE_TRUE ||
			    plan.snapshot->engine.backend == BACKEND_UNKNOWN;
	plan_demand(&plan);
	checks_run(ask, &plan);
	*ret_plan = plan;
	plan = (struct flinkplan){ 0 };
	return 0;
}
