/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap-pressure: how much of the heap a collection could not free.
 *
 * hsperfdata tells it for the collectors that stop to collect: what lies outside eden right after a pause. A gauge of
 * the heap's use is a sawtooth and tells only the other way: what is in use now is no less than what the last
 * collection left, so a gauge on the quiet side ends the question.
 */
#include <stdio.h>

#include "rules/all.h"
#include "rules/grow.h"
#include "rules/judged.h"
#include "rules/room.h"
#include "rules/text.h"

/* What stayed, and what it may fill. */
struct stayed {
	uint64_t bytes, of_bytes;
	bool is_old; /* of the old generation alone, after a full collection */
};

static enum jvm_gc gc_of(const struct snapshot *snapshot)
{
	return snapshot->gc != GC_UNKNOWN ? snapshot->gc : snapshot->perf.gc;
}

/* The least that any source says is in use now: what the last collection left is no more. */
static struct qty least_used(const struct snapshot *snapshot)
{
	const struct qty words[] = { snapshot->engine.gauges.heap_used_bytes, snapshot->heap.used_bytes,
				     snapshot->perf.heap_used_bytes };
	struct qty least = { 0 };
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (qty_known(words[i]) && (!qty_known(least) || words[i].bytes < least.bytes))
			least = words[i];
	return least;
}

static uint64_t times_10_7(uint64_t bytes)
{
	return bytes > UINT64_MAX / 10 ? UINT64_MAX : bytes * 10 / 7;
}

/* By how much the heap must grow until seven tenths of it hold what stayed; at most to its double. */
static uint64_t more_heap(const struct stayed *stayed, uint64_t max)
{
	uint64_t wanted = times_10_7(stayed->bytes);
	uint64_t more = wanted > stayed->of_bytes ? wanted - stayed->of_bytes : 0;
	if (stayed->is_old) /* the old generation is two thirds of the heap: NewRatio=2 */
		more = sat_add(more, more / 2);
	return room_round_up(more == 0 ? 1 : more < max ? more : max);
}

/* Nothing in the process takes managed memory: no native state, no batch operators, no Python. */
static bool managed_is_idle(const struct engine_state *engine)
{
	return engine->backend == BACKEND_HASHMAP && engine->batch != TRISTATE_TRUE &&
	       engine->python != TRISTATE_TRUE && qty_or(engine->gauges.managed_used_bytes, 0) == 0;
}

/* What of the task's off-heap memory nobody uses: direct buffers have left it, and all native memory that has no owner. */
static uint64_t idle_off_heap(const struct rule_input *input)
{
	const struct flink_budget *flink = &input->snapshot->engine.flink;
	const struct engine_gauges *gauges = &input->snapshot->engine.gauges;
	struct qty direct =
		qty_known(gauges->direct_capacity_bytes) ? gauges->direct_capacity_bytes : gauges->direct_used_bytes;
	struct qty left = qty_min(qty_sub(flink->direct_bytes, direct), flink->task_off_heap_bytes);
	left = qty_sub(left, input->ledger->lines[OWNER_NATIVE_OTHER].bytes);
	return qty_or(left, 0);
}

static bool change_idle_off_heap(const struct rule_input *input, struct finding *finding, uint64_t more)
{
	char idle[UNITS_TEXT_CAP];
	uint64_t task = qty_or(input->snapshot->engine.flink.task_off_heap_bytes, 0), left = idle_off_heap(input);
	if (left < more || task < more)
		return false;
	finding_turn(finding, KNOB_DIRECT, TURN_DOWN);
	finding_turn(finding, KNOB_HEAP, TURN_UP);
	finding_change(
		finding,
		"set taskmanager.memory.task.off-heap.size to %llum (%llum less than now): %s of it is used by nobody, and Flink gives what is freed to the heap",
		(unsigned long long)(task - more) >> 20, grow_mib(more), units_format(idle, left));
	return true;
}

static void change_flink(const struct rule_input *input, struct finding *finding, uint64_t more)
{
	const struct flink_budget *flink = &input->snapshot->engine.flink;
	const char *role = grow_role(input->snapshot);
	uint64_t managed = qty_or(flink->managed_bytes, 0);
	char process[32];
	if (managed >= more && managed_is_idle(&input->snapshot->engine)) {
		finding_turn(finding, KNOB_MANAGED, TURN_DOWN);
		finding_turn(finding, KNOB_HEAP, TURN_UP);
		finding_change(
			finding,
			"set taskmanager.memory.managed.size to %llum (%llum less than now): no operator uses managed memory with the HashMap state backend, and Flink gives what is freed to the heap",
			(unsigned long long)(managed - more) >> 20, grow_mib(more));
		return;
	}
	if (change_idle_off_heap(input, finding, more))
		return;
	finding_turn(finding, KNOB_HEAP, TURN_UP);
	finding_turn(finding, KNOB_PROCESS_SIZE, TURN_UP);
	finding_turn(finding, KNOB_LIMIT, TURN_UP);
	if (managed) /* the default fractions give a tenth to overhead and a tenth of the rest to the network */
		more = room_round_up(sat_add(more, more / 4));
	if (qty_known(flink->process_bytes))
		(void)snprintf(process, sizeof process, "to %llum",
			       grow_mib(sat_add(flink->process_bytes.bytes, more)));
	else
		(void)snprintf(process, sizeof process, "by %llum", grow_mib(more));
	if (managed)
		finding_change(
			finding,
			"raise %s.memory.process.size %s, and the container's memory limit by the same %llum, with %s.memory.managed.size set to %llum, what it is now, so that most of it goes to the heap",
			role, process, grow_mib(more), role, (unsigned long long)managed >> 20);
	else
		finding_change(
			finding,
			"raise %s.memory.process.size %s, and the container's memory limit by the same %llum, so that most of it goes to the heap",
			role, process, grow_mib(more));
}

static void change_heap(const struct rule_input *input, struct finding *finding, const struct stayed *stayed,
			uint64_t max)
{
	uint64_t more = more_heap(stayed, max);
	static const struct grow_part xmx = { NULL, "-Xmx", KNOB_HEAP };
	if (grow_role(input->snapshot))
		change_flink(input, finding, more); /* -Xmx alone would break the sum of the parts */
	else
		grow_part(input, finding, &xmx, max, more);
}

static void explain_pressure(const struct snapshot *snapshot, struct finding *finding, const struct stayed *stayed)
{
	finding_cause(
		finding,
		"state, timers or caches on the heap grow with the keys: the figure then rises from report to report at the same input rate, and a class histogram names them");
	finding_cause(
		finding,
		"a catch-up after downtime: records-lag-max is high, and the figure falls by itself once the lag is gone");
	finding_cause(
		finding,
		"a leak of objects (metrics, reporters, listeners of replaced threads or finished jobs): it rises with each restart and never falls");
	if (!stayed->is_old && !snapshot->perf.full_was_last)
		finding_cause(
			finding,
			"garbage in the old generation: the last collection was not a full one; G1 means to reclaim it before 85 %% of the heap, so little of it is left after the next mixed collections");
}

static enum rule_answer fire(const struct rule_input *input, struct finding *finding, const struct stayed *stayed,
			     uint64_t max)
{
	const struct snapshot *snapshot = input->snapshot;
	uint64_t warning = judged_share(input, T_HEAP_PRESSURE_WARNING, stayed->of_bytes);
	bool critical = stayed->bytes > judged_share(input, T_HEAP_PRESSURE_CRITICAL, stayed->of_bytes);
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	finding->severity = critical ? SEVERITY_CRITICAL : SEVERITY_WARNING;
	finding->owner = OWNER_JAVA_HEAP;
	finding->excess_bytes = stayed->bytes - warning;
	finding_title(finding, "the %s holds %s of %s right after a %scollection",
		      stayed->is_old ? "old generation" : "heap", units_format(a, stayed->bytes),
		      units_format(b, stayed->of_bytes), stayed->is_old ? "full " : "");
	finding_observation(finding, "The last %scollection left %s in the %s, which can hold %s%s%s.",
			    stayed->is_old ? "full " : "", a, stayed->is_old ? "old generation" : "heap", b,
			    stayed->is_old ? " of -Xmx " : "", stayed->is_old ? units_format(c, max) : "");
	finding_observation(
		finding,
		"What follows is collection upon collection and java.lang.OutOfMemoryError, not a kill by the kernel: memory.events does not move for it.");
	finding_setting(finding, snapshot, "-Xmx");
	finding_setting(finding, snapshot, "taskmanager.memory.task.heap.size");
	finding_setting(finding, snapshot, "taskmanager.memory.managed.size");
	finding_bytes(finding, stayed->is_old ? "old_used_bytes" : "heap_kept_bytes", stayed->bytes);
	finding_bytes(finding, stayed->is_old ? "old_max_bytes" : "max_heap_bytes", stayed->of_bytes);
	if (snapshot->perf.gc_count.known && snapshot->perf.gc_count.n <= INT64_MAX)
		finding_figure(finding, "collections", (int64_t)snapshot->perf.gc_count.n);
	explain_pressure(snapshot, finding, stayed);
	change_heap(input, finding, stayed, max);
	finding_validate(finding,
			 "steady: what a collection leaves stays below 80 %% of the heap through a full day's peak");
	finding_validate(
		finding,
		"restore: the same while a restore, rebalance or catch-up runs, and no java.lang.OutOfMemoryError in the log");
	return RULE_FIRED;
}

/* Concurrent collectors publish what is in use at a pause, garbage included; without hsperfdata there is nothing at all. */
static enum rule_answer judge_gauge(const struct rule_input *input, struct finding *finding, uint64_t max)
{
	struct qty least = least_used(input->snapshot);
	enum jvm_gc gc = gc_of(input->snapshot);
	if (gc == GC_EPSILON || (qty_known(least) && least.bytes <= judged_share(input, T_HEAP_PRESSURE_WARNING, max)))
		return RULE_SILENT;
	if (!input->snapshot->perf_read)
		finding_missing(finding,
				"heap in use after a collection: hsperfdata is unread, and a gauge is not enough");
	else if (gc == GC_Z || gc == GC_SHENANDOAH)
		finding_missing(
			finding,
			"heap in use after a collection: %s publishes what is in use at its pauses, garbage included (its log, -Xlog:gc, tells)",
			jvm_gc_names[gc]);
	else
		finding_missing(finding, "heap in use after a collection: hsperfdata has no figures of this collector");
	return RULE_INCONCLUSIVE;
}

/* Serial and Parallel fill the old generation with garbage until a full collection: only right after one it tells. */
static enum rule_answer judge_old(const struct rule_input *input, struct finding *finding, uint64_t max)
{
	const struct jvm_perf *perf = &input->snapshot->perf;
	struct stayed stayed = { perf->old_used_bytes.bytes, perf->old_max_bytes.bytes, true };
	if (stayed.bytes <= judged_share(input, T_HEAP_PRESSURE_WARNING, stayed.of_bytes))
		return RULE_SILENT;
	if (perf->full_was_last)
		return fire(input, finding, &stayed, max);
	finding_missing(
		finding,
		"the old generation after a full collection: it is nearly full, but the last collection was of the young one and left its garbage (jcmd PID GC.run would tell, at the price of a pause)");
	return RULE_INCONCLUSIVE;
}

enum rule_answer rule_heap_pressure(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	const struct jvm_perf *perf = &snapshot->perf;
	struct qty max =
		qty_known(snapshot->flags.max_heap_bytes) ? snapshot->flags.max_heap_bytes : perf->heap_max_bytes;
	enum jvm_gc gc = gc_of(snapshot);
	bool stops = gc == GC_G1 || gc == GC_SERIAL || gc == GC_PARALLEL;
	if (!snapshot->is_jvm)
		return RULE_SILENT;
	if (!qty_known(max)) {
		finding_missing(finding, "maximum heap: neither VM.flags nor hsperfdata nor the command line says it");
		return RULE_INCONCLUSIVE;
	}
	if (!snapshot->perf_read || !stops || !qty_known(perf->heap_kept_bytes))
		return judge_gauge(input, finding, max.bytes);
	if (perf->gc_count.known && perf->gc_count.n == 0)
		return RULE_SILENT; /* nothing was collected yet: nothing pressed for it */
	if (gc != GC_G1 && qty_known(perf->old_used_bytes) && qty_known(perf->old_max_bytes))
		return judge_old(input, finding, max.bytes);
	struct stayed stayed = { perf->heap_kept_bytes.bytes, max.bytes, false };
	if (stayed.bytes <= judged_share(input, T_HEAP_PRESSURE_WARNING, max.bytes))
		return RULE_SILENT;
	return fire(input, finding, &stayed, max.bytes);
}
