/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/sight.h"

#include "ledger/reconcile.h"
#include "rules/grow.h"
#include "rules/text.h"

static void change_metrics(const struct rule_input *input, struct finding *finding)
{
	const struct engine_state *engine = &input->snapshot->engine;
	const char *store = engine->backend == BACKEND_FORST ? "forst" : "rocksdb";
	if (engine->kind == ENGINE_FLINK_TASKMANAGER)
		finding_change(
			finding,
			"set state.backend.%s.metrics.block-cache-usage, state.backend.%s.metrics.size-all-mem-tables and state.backend.%s.metrics.estimate-table-readers-mem to true, with a Prometheus reporter, so that RocksDB's part has a name (these three alone: no ticker such as block-cache-hit)",
			store, store, store);
	else
		finding_change(
			finding,
			"start the JVM with -javaagent:jmx_prometheus_javaagent.jar=9404:config.yaml, so that RocksDB's block-cache-usage, size-all-mem-tables and estimate-table-readers-mem of type=stream-state-metrics can be read");
}

/* One thing at a time, the cheapest sight first: engine metrics, then the JVM's own books, then a profile of malloc. */
void sight_native(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *s = input->snapshot;
	static const char profile[] = "MALLOC_CONF=prof:true,lg_prof_interval:30,prof_prefix:/tmp/jeprof";
	finding_turn(finding, KNOB_SIGHT, TURN_SET);
	if (recon_rocksdb_is_unread(input->snapshot, input->ledger))
		change_metrics(input, finding);
	else if (!s->nmt_read)
		finding_change(
			finding,
			"start the JVM with -XX:NativeMemoryTracking=summary%s%s, to take the JVM's own malloc and Unsafe memory out of the unexplained",
			grow_role(s) ? " (env.java.opts." : "",
			!grow_role(s)                                ? ""
			: s->engine.kind == ENGINE_FLINK_TASKMANAGER ? "taskmanager)"
								     : "jobmanager)");
	else if (s->allocator == ALLOCATOR_JEMALLOC)
		finding_change(
			finding,
			"set %s for one pod and read with jeprof which call stacks hold the memory (jemalloc must be built with --enable-prof)",
			profile);
	else
		finding_change(
			finding,
			"run one pod with LD_PRELOAD=libjemalloc.so.2 and %s, and read with jeprof which call stacks hold the memory (jemalloc must be built with --enable-prof); what malloc had kept is gone with it",
			profile);
}
