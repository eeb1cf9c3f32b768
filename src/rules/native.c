/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native-unexplained: native memory beyond what any budget or metric explains.
 *
 * native-other is what no metric claims. Some of it is excused: lines that were not read stand in it, up to their bound, and
 * Flink sets room aside for what has no name (DESIGN 3.4). Only what is left after both is unexplained.
 */
#include <stdio.h>

#include "base/sat.h"
#include "ledger/reconcile.h"
#include "rules/all.h"
#include "rules/foreign.h"
#include "rules/grow.h"
#include "rules/judged.h"
#include "rules/retained.h"
#include "rules/room.h"
#include "rules/sight.h"
#include "rules/text.h"

#define UNLIMITED ((uint64_t)1 << 40)

/* What excuses part of native-other. */
struct excuse {
	uint64_t unread;  /* bounds of lines that were not read */
	uint64_t budget;  /* room that the configuration set aside for it */
	uint64_t claimed; /* what RocksDB's caches say beyond their lines: reservations, or blocks that iterators pin */
	bool is_guess;    /* something unread has no bound to excuse it by, or it is not known who uses a budget */
};

/* The JVM's own lines that stand in native-other because their place or size is unread. */
static void excuse_jvm(const struct rule_input *input, struct finding *finding, struct excuse *excuse)
{
	const struct snapshot *s = input->snapshot;
	const struct ledger *ledger = input->ledger;
	const struct qty *metaspace = &s->flags.max_metaspace_bytes;
	if (ledger_is_unread(ledger, OWNER_JAVA_HEAP) && qty_known(s->flags.max_heap_bytes))
		excuse->unread = sat_add(excuse->unread, s->flags.max_heap_bytes.bytes);
	else if (ledger_is_unread(ledger, OWNER_JAVA_HEAP))
		finding_missing(finding, "range and size of the Java heap: GC.heap_info, or -Xmx");
	if (ledger_is_unread(ledger, OWNER_METASPACE) && qty_known(*metaspace) && metaspace->bytes < UNLIMITED)
		excuse->unread = sat_add(excuse->unread, metaspace->bytes);
	if (!ledger_is_unread(ledger, OWNER_DIRECT_BUFFERS))
		return;
	struct qty direct =
		qty_known(s->flags.max_direct_bytes) ? s->flags.max_direct_bytes : s->engine.flink.direct_bytes;
	excuse->unread = sat_add(excuse->unread, qty_or(direct, 0));
	excuse->is_guess |= !qty_known(direct);
}

/* RocksDB's lines, where its metrics were not read: they may be as large as its budget, or, without one, anything. */
static void excuse_rocksdb(const struct rule_input *input, struct finding *finding, struct excuse *excuse)
{
	const struct limit *bound = &input->ledger->lines[OWNER_ROCKSDB_BLOCK_CACHE].bound;
	uint64_t lines = ledger_rocksdb_bytes(input->ledger);
	excuse->claimed = sat_sub(retained_rocksdb_said(input), lines);
	if (!recon_rocksdb_is_unread(input->snapshot, input->ledger))
		return;
	if (bound->kind == LIMIT_SET)
		excuse->unread = sat_add(excuse->unread, sat_sub(bound->bytes, lines));
	else if (input->snapshot->engine.kind == ENGINE_FLINK_TASKMANAGER)
		finding_missing(
			finding,
			"RocksDB's metrics (block-cache-usage, size-all-mem-tables, estimate-table-readers-mem): nothing else bounds it");
	else
		excuse->is_guess = true; /* nobody told of a budget, or of stores, that could excuse it */
}

/* Whether managed memory may stand in native-other for another reason than RocksDB. Where NMT was read, Unsafe memory has lines. */
static bool managed_may_be_inside(const struct rule_input *input)
{
	const struct engine_state *engine = &input->snapshot->engine;
	bool no_store = !input->ledger->listed[OWNER_ROCKSDB_BLOCK_CACHE];
	return engine->python == TRISTATE_TRUE ||
	       (!input->snapshot->nmt_read &&
		(engine->batch == TRISTATE_TRUE || (engine->backend == BACKEND_UNKNOWN && no_store)));
}

/* What Flink sets aside and nobody has taken: of managed memory, of the task's off-heap memory, of the overhead. */
static void excuse_flink(const struct rule_input *input, struct excuse *excuse)
{
	static const enum owner of_overhead[] = { OWNER_CODE_CACHE,  OWNER_JVM_CDS,   OWNER_THREAD_STACKS,
						  OWNER_GC,          OWNER_JVM_OTHER, OWNER_ALLOCATOR_RETAINED,
						  OWNER_LIBRARY_DATA };
	const struct ledger *ledger = input->ledger;
	const struct flink_budget *flink = &input->snapshot->engine.flink;
	uint64_t taken = 0, budget = 0;
	for (size_t i = 0; i < sizeof of_overhead / sizeof of_overhead[0]; i++)
		taken = sat_add(taken, ledger_bytes(ledger, of_overhead[i]));
	budget = sat_sub(qty_or(flink->overhead_bytes, 0), taken);
	if (!ledger_is_unread(ledger, OWNER_DIRECT_BUFFERS)) {
		uint64_t left = sat_sub(qty_or(flink->direct_bytes, 0), ledger_bytes(ledger, OWNER_DIRECT_BUFFERS));
		uint64_t task = qty_or(flink->task_off_heap_bytes, 0);
		budget = sat_add(budget, task < left ? task : left);
	}
	if (managed_may_be_inside(input) && !recon_rocksdb_is_unread(input->snapshot, input->ledger))
		budget = sat_add(budget, sat_sub(qty_or(flink->managed_bytes, 0),
						 sat_add(ledger_rocksdb_bytes(ledger),
							 ledger_bytes(ledger, OWNER_MANAGED_UNSAFE))));
	excuse->budget = budget;
	excuse->is_guess |= managed_may_be_inside(input) && input->snapshot->engine.backend == BACKEND_UNKNOWN;
}

/* The groups that hold the container's memory, so that the one to look at has a name even where little was read. */
static void figure_groups(const struct ledger *ledger, struct finding *finding)
{
	static const enum owner of_jvm[] = { OWNER_METASPACE,     OWNER_CODE_CACHE, OWNER_JVM_CDS,
					     OWNER_THREAD_STACKS, OWNER_GC,         OWNER_JVM_OTHER };
	uint64_t jvm = 0;
	for (size_t i = 0; i < sizeof of_jvm / sizeof of_jvm[0]; i++)
		jvm = sat_add(jvm, ledger_bytes(ledger, of_jvm[i]));
	if (!ledger_is_unread(ledger, OWNER_JAVA_HEAP))
		finding_bytes(finding, "java_heap_bytes",
			      sat_add(ledger_bytes(ledger, OWNER_JAVA_HEAP), ledger_bytes(ledger, OWNER_ZGC_HEAP)));
	finding_bytes(finding, "jvm_bytes", jvm);
	if (qty_known(ledger->native_pool_bytes))
		finding_bytes(finding, "native_pool_bytes", ledger->native_pool_bytes.bytes);
	static const struct {
		enum owner owner;
		const char *name;
	} others[] = { { OWNER_PAGE_CACHE, "page_cache_bytes" }, { OWNER_TMPFS, "tmpfs_bytes" } };
	for (size_t i = 0; i < 2; i++)
		if (ledger->listed[others[i].owner] && qty_known(ledger->lines[others[i].owner].bytes))
			finding_bytes(finding, others[i].name, ledger->lines[others[i].owner].bytes.bytes);
}

static void explain(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *s = input->snapshot;
	finding_cause(
		finding,
		"a native library leaks (compression codecs, file system clients, JNI code): native-other grows between two reports while heap and state stay as they are");
	if (s->allocator == ALLOCATOR_JEMALLOC)
		finding_cause(
			finding,
			"jemalloc's arenas, of which it makes four for each of the host's %u CPUs (FLINK-39924): it then stands still, and MALLOC_CONF=narenas:8 shrinks it",
			s->host_cpus);
	else
		finding_cause(
			finding,
			"malloc keeps what was freed: it rises at savepoints, restores or batches and stands still after them");
	if (recon_rocksdb_is_unread(input->snapshot, input->ledger))
		finding_cause(
			finding,
			"RocksDB holds more than its budget: its metrics are unread, and its excess stands in here");
	if (ledger_is_unread(input->ledger, OWNER_DIRECT_BUFFERS))
		finding_cause(
			finding,
			"direct buffers of Netty or a client: they are unread, and stand in here; java.nio:type=BufferPool,name=direct counts them");
	if (!s->nmt_read)
		finding_cause(
			finding,
			"the JVM's own malloc (compiler, symbols, collector) is in it too: some tens of MiB, seldom more");
}

/* Without a budget to pass, what was not read may be all there is to it: then it is urgent only where it can fill the room. */
static enum severity severity_of(const struct rule_input *input, const struct excuse *excuse, uint64_t unexplained)
{
	const struct ledger *ledger = input->ledger;
	bool planned = qty_known(input->snapshot->engine.flink.overhead_bytes);
	bool guessed = excuse->is_guess || !input->snapshot->nmt_read;
	bool ample = !ledger->freeboard_bytes.known ||
		     (ledger->freeboard_bytes.bytes > 0 && (uint64_t)ledger->freeboard_bytes.bytes > unexplained);
	/* An agent sees whether it fills anything, or will soon: limit-forecast and native-growth tell of it. */
	ample |= input->history && !room_is_low(input);
	return ample && !planned && (guessed || ledger->limit.kind != LIMIT_SET) ? SEVERITY_NOTICE : SEVERITY_WARNING;
}

static uint64_t excused(const struct excuse *excuse)
{
	return sat_add(sat_add(excuse->unread, excuse->budget), excuse->claimed);
}

static void observe(const struct rule_input *input, struct finding *finding, const struct excuse *excuse,
		    uint64_t unexplained)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], names[FOREIGN_TEXT_CAP];
	uint64_t native = ledger_bytes(input->ledger, OWNER_NATIVE_OTHER);
	size_t n = foreign_find(input->snapshot, names);
	(void)units_format(b, native);
	if (unexplained) {
		finding_title(finding, "no budget and no metric explains %s of native memory",
			      units_format(a, unexplained));
		finding_observation(finding, "Native memory that nobody claims is %s; %s of it is unexplained.", b, a);
	} else {
		finding_title(finding, "native memory holds %s, and nothing read tells who in it", b);
		finding_observation(
			finding,
			"Native memory that nobody claims is %s, the largest owner; Flink's budgets could explain it, if somebody uses them.",
			b);
	}
	if (excuse->unread)
		finding_observation(finding, "Up to %s of it may be lines that were not read.",
				    units_format(a, excuse->unread));
	if (excuse->claimed)
		finding_observation(finding, "RocksDB's caches claim %s more than their lines: reserved, or pinned.",
				    units_format(a, excuse->claimed));
	if (excuse->budget)
		finding_observation(finding, "%s of Flink's budgets for native memory is free to carry it.",
				    units_format(a, excuse->budget));
	finding_observation(finding, "Allocator: %s.", allocator_names[input->snapshot->allocator]);
	if (n)
		finding_observation(finding, "Native libraries that are neither the JDK's nor the system's: %s%s.",
				    names, n > FOREIGN_MAX ? " and more" : "");
	finding_bytes(finding, "native_other_bytes", native);
	finding_bytes(finding, "unexplained_bytes", unexplained);
	finding_bytes(finding, "excused_bytes", excused(excuse));
}

static void fire(const struct rule_input *input, struct finding *finding, const struct excuse *excuse,
		 uint64_t unexplained)
{
	const struct snapshot *s = input->snapshot;
	finding->severity = unexplained ? severity_of(input, excuse, unexplained) : SEVERITY_NOTICE;
	finding->owner = OWNER_NATIVE_OTHER;
	finding->excess_bytes = unexplained ? unexplained : ledger_bytes(input->ledger, OWNER_NATIVE_OTHER);
	observe(input, finding, excuse, unexplained);
	figure_groups(input->ledger, finding);
	explain(input, finding);
	finding_setting(finding, s, "-Xmx");
	finding_setting(finding, s, "taskmanager.memory.managed.size");
	finding_setting(finding, s, "taskmanager.memory.task.off-heap.size");
	finding_setting(finding, s, "taskmanager.memory.jvm-overhead.max");
	sight_native(input, finding);
	finding_validate(
		finding,
		"steady: with what the change shows, native-other has a named owner or stays within the overhead through a full day's peak");
	finding_validate(
		finding,
		"failure: after each of three restarts of the job native-other stands where it stood after the first; if it rises by the same step, something is not closed");
}

enum rule_answer rule_native_unexplained(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *s = input->snapshot;
	const struct ledger *ledger = input->ledger;
	struct excuse excuse = { 0 };
	struct retained retained;
	if (!s->is_jvm)
		return RULE_SILENT;
	if (!s->vmas_read || ledger_is_unread(ledger, OWNER_NATIVE_OTHER)) {
		finding_missing(finding, "native memory of the process: smaps could not be read");
		return RULE_INCONCLUSIVE;
	}
	uint64_t native = ledger_bytes(ledger, OWNER_NATIVE_OTHER);
	uint64_t limit = ledger->limit.kind == LIMIT_SET ? ledger->limit.bytes : 0;
	uint64_t level = judged_both(input, T_NATIVE_UNEXPLAINED_OVER, T_NATIVE_UNEXPLAINED_OVER_BYTES, limit);
	if (native <= level)
		return RULE_SILENT;
	if (grow_role(s))
		excuse_flink(input, &excuse);
	excuse_jvm(input, finding, &excuse);
	excuse_rocksdb(input, finding, &excuse);
	uint64_t unexplained = sat_sub(native, excused(&excuse));
	bool unnamed = grow_role(s) && excuse.is_guess && largest_owner(ledger) == OWNER_NATIVE_OTHER;
	if (unexplained <= level) {
		finding->n_missing = 0; /* whatever else is unread could only excuse more */
		unexplained = 0;
		if (!unnamed)
			return RULE_SILENT;
	}
	if (finding->n_missing)
		return RULE_INCONCLUSIVE;
	/* The same bytes under another name: freed memory that malloc keeps. */
	if (retained_find(input, &retained) && !retained.is_exact)
		return RULE_SILENT;
	fire(input, finding, &excuse, unexplained);
	return RULE_FIRED;
}
