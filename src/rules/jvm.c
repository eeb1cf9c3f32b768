/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the JVM's own limits: metaspace, class space, direct buffers. Past them comes OutOfMemoryError, not a kill. */
#include "rules/all.h"
#include "rules/grow.h"
#include "rules/judged.h"
#include "rules/room.h"
#include "rules/text.h"

/* No MaxMetaspaceSize: HotSpot's default is the end of size_t, some tools write a few TiB. */
#define UNLIMITED ((uint64_t)1 << 40)

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* --- metaspace-near-limit -------------------------------------------------------------------------------- */

/* Something with a limit of its own, and how much of it is in use. */
struct filled {
	const char *name, *flag, *source;
	struct qty used, max;
	bool is_class_space;
};

struct word {
	struct qty bytes;
	const char *source;
};

static struct word first_known(const struct word *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (qty_known(words[i].bytes))
			return words[i];
	return (struct word){ { 0 }, "none" };
}

/* Freshest first: hsperfdata is as old as the last collection. What is mapped is near what is in use. */
static struct filled metaspace_of(const struct rule_input *input)
{
	const struct snapshot *s = input->snapshot;
	const struct ledger_line *line = &input->ledger->lines[OWNER_METASPACE];
	const struct word words[] = {
		{ qty_add(s->nmt.metadata_used_bytes, s->nmt.class_space_used_bytes), "NMT" },
		{ s->engine.gauges.metaspace_used_bytes, "metrics" },
		{ s->heap.metaspace_used_bytes, "GC.heap_info" },
		{ s->perf.metaspace_used_bytes, "hsperfdata, as of the last collection" },
		{ input->ledger->listed[OWNER_METASPACE] ? line->bytes : (struct qty){ 0 }, "smaps" },
	};
	struct word used = first_known(words, sizeof words / sizeof words[0]);
	struct qty max = qty_known(s->flags.max_metaspace_bytes) ? s->flags.max_metaspace_bytes
								 : s->engine.gauges.metaspace_max_bytes;
	return (struct filled){ "metaspace", "-XX:MaxMetaspaceSize", used.source, used.bytes, max, false };
}

/* The compressed class space is inside metaspace and has a size of its own: what is reserved, or what the option says. */
static struct filled class_space_of(const struct snapshot *s)
{
	const struct word used[] = { { s->nmt.class_space_used_bytes, "NMT" },
				     { s->heap.class_space_used_bytes, "GC.heap_info" },
				     { s->perf.class_space_used_bytes, "hsperfdata, as of the last collection" } };
	const struct word max[] = { { s->nmt.class_space_reserved_bytes, "NMT" },
				    { s->heap.class_space_reserved_bytes, "GC.heap_info" },
				    { s->flags.compressed_class_space_bytes, "VM.flags" } };
	struct word is = first_known(used, 3), most = first_known(max, 3);
	return (struct filled){
		"compressed class space", "-XX:CompressedClassSpaceSize", is.source, is.bytes, most.bytes, true
	};
}

static bool is_bounded(const struct filled *filled)
{
	return qty_known(filled->max) && filled->max.bytes < UNLIMITED;
}

/* HotSpot checks what is committed (MetaspaceGC::can_expand): the last chunk is refused while a little is still unused. */
static bool is_full(const struct rule_input *input, const struct filled *filled)
{
	const struct snapshot *s = input->snapshot;
	struct qty committed = qty_add(s->nmt.metadata_committed_bytes, s->nmt.class_space_committed_bytes);
	if (!qty_known(committed))
		committed = s->engine.gauges.metaspace_committed_bytes;
	uint64_t critical = judged_share(input, T_METASPACE_NEAR_LIMIT_CRITICAL, filled->max.bytes);
	return filled->used.bytes > critical ||
	       (!filled->is_class_space && qty_known(committed) && committed.bytes >= filled->max.bytes);
}

static void explain_metaspace(const struct snapshot *snapshot, struct finding *finding)
{
	bool flink = grow_role(snapshot) != NULL;
	finding_cause(
		finding,
		"classes of finished jobs or old deployments stay loaded (threads or ThreadLocals of a library hold their class loader): classes loaded grow with each submission and never fall%s",
		flink ? "; then put that library into /opt/flink/lib, or give each job a cluster of its own" : "");
	finding_cause(
		finding,
		"the application simply has many classes (a large SQL plan, generated code, many connectors): it then stands still after the start");
	if (snapshot->perf.classes_loaded.known && snapshot->perf.classes_unloaded.known &&
	    snapshot->perf.classes_unloaded.n <= snapshot->perf.classes_loaded.n)
		finding_observation(finding, "%llu classes were loaded, %llu of them unloaded again.",
				    (unsigned long long)snapshot->perf.classes_loaded.n,
				    (unsigned long long)snapshot->perf.classes_unloaded.n);
}

static enum rule_answer fire_metaspace(const struct rule_input *input, struct finding *finding,
				       const struct filled *filled, bool full)
{
	const struct snapshot *snapshot = input->snapshot;
	uint64_t used = filled->used.bytes, max = filled->max.bytes;
	uint64_t warning = judged_share(input, T_METASPACE_NEAR_LIMIT_WARNING, max);
	bool is_class_space = filled->is_class_space;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	finding->severity = full ? SEVERITY_CRITICAL : SEVERITY_WARNING;
	finding->owner = OWNER_METASPACE;
	finding->excess_bytes = used > warning ? used - warning : 0;
	finding_title(finding, "%s holds %s of %s", filled->name, units_format(a, used), units_format(b, max));
	finding_observation(finding, "%s in use is %s of the %s that %s allows (%s).",
			    is_class_space ? "Compressed class space" : "Metaspace", a, b, filled->flag,
			    filled->source);
	finding_observation(
		finding,
		"Where no chunk is left, loading a class collects the whole heap and then throws OutOfMemoryError: Metaspace or Compressed class space. A TaskManager before Flink 1.15 can stay alive after it and do nothing (FLINK-24401).");
	explain_metaspace(snapshot, finding);
	finding_setting(finding, snapshot, "-XX:MaxMetaspaceSize");
	finding_setting(finding, snapshot, "taskmanager.memory.jvm-metaspace.size");
	finding_setting(finding, snapshot, "jobmanager.memory.jvm-metaspace.size");
	finding_bytes(finding, is_class_space ? "class_space_used_bytes" : "metaspace_used_bytes", used);
	finding_bytes(finding, is_class_space ? "class_space_max_bytes" : "max_metaspace_bytes", max);
	if (snapshot->perf.classes_loaded.known && snapshot->perf.classes_loaded.n <= INT64_MAX)
		finding_figure(finding, "classes_loaded", (int64_t)snapshot->perf.classes_loaded.n);
	/* Flink's option sets the class space too: HotSpot cuts it to four fifths of MaxMetaspaceSize. */
	bool by_flag = is_class_space && !is_bounded(&(struct filled){ .max = snapshot->flags.max_metaspace_bytes });
	const struct grow_part part = { by_flag ? NULL : "jvm-metaspace.size",
					by_flag ? "-XX:CompressedClassSpaceSize=" : "-XX:MaxMetaspaceSize=",
					KNOB_METASPACE };
	uint64_t now = is_class_space && !by_flag ? snapshot->flags.max_metaspace_bytes.bytes : max;
	grow_part(input, finding, &part, now, grow_step(now));
	finding_validate(
		finding,
		"steady: it stays below 85 %% of the new maximum through a day in which jobs are submitted or redeployed as usual");
	finding_validate(
		finding,
		"failure: after each of three restarts of the job it stands where it stood after the first one; if it rises by the same step, a class loader leaks");
	return RULE_FIRED;
}

enum rule_answer rule_metaspace_near_limit(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	struct filled both[] = { metaspace_of(input), class_space_of(snapshot) };
	const struct filled *worst = NULL;
	bool full = false;
	if (!snapshot->is_jvm)
		return RULE_SILENT;
	for (size_t i = 0; i < 2; i++) {
		if (!is_bounded(&both[i]) || !qty_known(both[i].used) ||
		    both[i].used.bytes <= judged_share(input, T_METASPACE_NEAR_LIMIT_WARNING, both[i].max.bytes))
			continue;
		full |= is_full(input, &both[i]);
		if (!worst ||
		    share_of(both[i].used.bytes, both[i].max.bytes) > share_of(worst->used.bytes, worst->max.bytes))
			worst = &both[i];
	}
	if (worst)
		return fire_metaspace(input, finding, worst, full);
	/* No MaxMetaspaceSize is the JVM's default, and means none, where its options could be read at all. */
	if (!qty_known(both[0].max) && snapshot->access < ACCESS_PROCESS)
		finding_missing(finding, "MaxMetaspaceSize: neither the command line nor VM.flags was read");
	if (is_bounded(&both[0]) && !qty_known(both[0].used))
		finding_missing(finding, "metaspace in use: neither NMT, metrics, GC.heap_info, hsperfdata nor smaps");
	return finding->n_missing ? RULE_INCONCLUSIVE : RULE_SILENT;
}

/* --- direct-near-limit ----------------------------------------------------------------------------------- */

/* The direct pool: what it holds, what it may hold, and how much of both Flink's network buffers took at the start. */
struct direct {
	uint64_t used, max, network;
	bool by_default; /* no MaxDirectMemorySize: the JDK allows as much as the largest heap (jdk.internal.misc.VM) */
};

/* Flink allocates its network buffers whole at the start (NetworkBufferPool): full from then on, and no reason to worry. */
static uint64_t network_of(const struct engine_state *engine, uint64_t used, uint64_t max)
{
	struct qty network = qty_known(engine->gauges.network_total_bytes) ? engine->gauges.network_total_bytes
									   : engine->flink.network_bytes;
	uint64_t bytes = engine->kind == ENGINE_FLINK_TASKMANAGER ? qty_or(network, 0) : 0;
	return bytes < used && bytes < max ? bytes : 0;
}

/* Beside the network buffers little is left: the first level. Of all that is allowed nearly nothing is left: the second. */
static enum severity severity_of(const struct rule_input *input, const struct direct *direct)
{
	uint64_t beside = judged_share(input, T_DIRECT_NEAR_LIMIT_WARNING, direct->max - direct->network);
	if (direct->used - direct->network <= beside)
		return SEVERITY_NONE;
	bool critical = direct->used > judged_share(input, T_DIRECT_NEAR_LIMIT_CRITICAL, direct->max);
	return critical ? SEVERITY_CRITICAL : SEVERITY_WARNING;
}

static void change_direct(const struct rule_input *input, struct finding *finding, const struct direct *direct)
{
	const struct snapshot *snapshot = input->snapshot;
	const struct flink_budget *flink = &snapshot->engine.flink;
	uint64_t more = grow_step(direct->max - direct->network), now = direct->max;
	struct grow_part part = { NULL, "-XX:MaxDirectMemorySize=", KNOB_DIRECT };
	if (snapshot->engine.kind == ENGINE_FLINK_TASKMANAGER) {
		part.option = "task.off-heap.size";
		now = qty_or(flink->task_off_heap_bytes, 0);
	} else if (snapshot->engine.kind == ENGINE_FLINK_JOBMANAGER && !direct->by_default) {
		part.option = "off-heap.size";
	}
	grow_part(input, finding, &part, now, more);
}

static void explain_direct(const struct snapshot *snapshot, struct finding *finding, const struct direct *direct)
{
	const struct engine_gauges *gauges = &snapshot->engine.gauges;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	if (direct->network)
		finding_observation(finding, "Flink's network buffers are %s of both, allocated at the start%s%s%s.",
				    units_format(a, direct->network), qty_known(gauges->network_used_bytes) ? " (" : "",
				    qty_known(gauges->network_used_bytes)
					    ? units_format(b, gauges->network_used_bytes.bytes)
					    : "",
				    qty_known(gauges->network_used_bytes) ? " of them in use)" : "");
	finding_cause(
		finding,
		"a connector or the user's code keeps direct buffers (file systems, compression, clients with Netty of their own): the number of buffers grows with their size");
	finding_cause(
		finding,
		"many connections or slots: Netty's arenas grow with them up to a plateau, and raising the parallelism made it start");
	if (snapshot->engine.kind == ENGINE_FLINK_TASKMANAGER)
		finding_cause(
			finding,
			"batch shuffle readers (before Flink 1.13 outside any pool, FLINK-20740): it is high only while a batch stage reads, with network buffers mostly unused");
	if (gauges->direct_buffers.known && gauges->direct_buffers.n <= INT64_MAX)
		finding_figure(finding, "direct_buffers", (int64_t)gauges->direct_buffers.n);
}

static enum rule_answer fire_direct(const struct rule_input *input, struct finding *finding,
				    const struct direct *direct)
{
	const struct snapshot *snapshot = input->snapshot;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	finding->severity = severity_of(input, direct);
	finding->owner = OWNER_DIRECT_BUFFERS;
	finding->excess_bytes = direct->used - direct->network -
				judged_share(input, T_DIRECT_NEAR_LIMIT_WARNING, direct->max - direct->network);
	finding_title(finding, "direct buffers hold %s of the %s that the JVM allows", units_format(a, direct->used),
		      units_format(b, direct->max));
	finding_observation(finding, "Direct buffers hold %s; %s allows %s.", a,
			    direct->by_default
				    ? "the JDK, which without -XX:MaxDirectMemorySize takes the largest heap,"
				    : "-XX:MaxDirectMemorySize",
			    b);
	finding_observation(
		finding,
		"At the limit each allocation waits for a collection and then throws OutOfMemoryError: Direct buffer memory.");
	finding_bytes(finding, "direct_used_bytes", direct->used);
	finding_bytes(finding, "max_direct_bytes", direct->max);
	if (direct->network)
		finding_bytes(finding, "network_bytes", direct->network);
	explain_direct(snapshot, finding, direct);
	finding_setting(finding, snapshot, "-XX:MaxDirectMemorySize");
	finding_setting(finding, snapshot, direct->by_default ? "-Xmx" : "taskmanager.memory.network.max");
	finding_setting(finding, snapshot, "taskmanager.memory.framework.off-heap.size");
	finding_setting(finding, snapshot, "taskmanager.memory.task.off-heap.size");
	change_direct(input, finding, direct);
	finding_validate(
		finding,
		"steady: direct buffers stay below 85 %% of the new maximum, network buffers not counted, through a full day's peak");
	finding_validate(
		finding,
		"failure: the same after a restart of the job and at the highest parallelism, when all connections are opened at once");
	return RULE_FIRED;
}

enum rule_answer rule_direct_near_limit(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	const struct engine_gauges *gauges = &snapshot->engine.gauges;
	const struct ledger *ledger = input->ledger;
	bool by_default = !qty_known(snapshot->flags.max_direct_bytes);
	struct qty max = by_default ? snapshot->flags.max_heap_bytes : snapshot->flags.max_direct_bytes;
	/* The JDK counts capacity against the limit (java.nio.Bits.reserveMemory), and metrics may have use alone. */
	bool exact = qty_known(gauges->direct_capacity_bytes) || qty_known(gauges->direct_used_bytes);
	struct qty used =
		qty_known(gauges->direct_capacity_bytes) ? gauges->direct_capacity_bytes : gauges->direct_used_bytes;
	if (!snapshot->is_jvm)
		return RULE_SILENT;
	/* Without a gauge: NMT's Other has Unsafe memory beside it, and where neither is read, it stands in the native pool. */
	if (!exact)
		used = ledger->listed[OWNER_DIRECT_BUFFERS] ? ledger->lines[OWNER_DIRECT_BUFFERS].bytes : used;
	if (!qty_known(used))
		used = ledger->native_pool_bytes;
	if (qty_known(max) && qty_known(used)) {
		struct direct direct = { used.bytes, max.bytes, 0, by_default };
		direct.network = network_of(&snapshot->engine, used.bytes, max.bytes);
		if (severity_of(input, &direct) == SEVERITY_NONE)
			return RULE_SILENT;
		if (exact)
			return fire_direct(input, finding, &direct);
	}
	if (!qty_known(max))
		finding_missing(finding,
				"MaxDirectMemorySize, or the largest heap, which stands for it: both are unread");
	if (!exact)
		finding_missing(
			finding,
			"direct buffers in use: the metric Status.JVM.Memory.Direct.MemoryUsed, or java.nio:type=BufferPool,name=direct (NMT's Other has more than they in it)");
	return RULE_INCONCLUSIVE;
}
