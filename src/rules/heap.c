/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about the Java heap: where its size comes from, and how full it is. */
#include "rules/all.h"
#include "rules/grow.h"
#include "rules/judged.h"
#include "rules/room.h"
#include "rules/text.h"

enum { MIB = 1 << 20 };

/* Seven tenths of a heap live: the rest is what a collector needs to work without haste. */
static uint64_t heap_for(uint64_t live)
{
	return live > UINT64_MAX / 10 ? UINT64_MAX : live * 10 / 7;
}

static struct qty max_heap(const struct snapshot *snapshot)
{
	return qty_known(snapshot->flags.max_heap_bytes) ? snapshot->flags.max_heap_bytes
							 : snapshot->perf.heap_max_bytes;
}

static unsigned long long percent(uint64_t part, uint64_t whole)
{
	double share = whole ? (double)part * 100 / (double)whole : 0;
	return share < 1e6 ? (unsigned long long)share : 999999;
}

/* --- heap-sized-from-host -------------------------------------------------------------------------------- */

enum sizer { SIZER_UNKNOWN = 0, SIZER_PERSON, SIZER_JVM };

/* Within 2 %: the JVM aligns its heap to its regions, and a kernel keeps some of the host's memory to itself. */
static bool is_about(uint64_t bytes, uint64_t wanted)
{
	uint64_t apart = bytes > wanted ? bytes - wanted : wanted - bytes;
	return wanted > 0 && apart <= wanted / 50;
}

static uint32_t percentage_bp(const struct jvm_flags *flags)
{
	return flags->max_ram_percentage_bp ? flags->max_ram_percentage_bp : 2500; /* MaxRAMPercentage's default */
}

static bool is_of_host(const struct snapshot *snapshot, uint64_t heap)
{
	return qty_known(snapshot->host_memory_bytes) &&
	       is_about(heap, thresholds_share(snapshot->host_memory_bytes.bytes, percentage_bp(&snapshot->flags)));
}

static enum sizer sizer_of(const struct snapshot *snapshot, uint64_t heap)
{
	const struct qty *flink = &snapshot->engine.flink.heap_bytes;
	if (snapshot->flags.heap_origin == HEAP_ORIGIN_SIZE || (qty_known(*flink) && flink->bytes == heap))
		return SIZER_PERSON; /* Flink's scripts always write -Xmx out */
	if (snapshot->flags.heap_origin != HEAP_ORIGIN_UNREAD || snapshot->flags.container_support_off)
		return SIZER_JVM;
	return is_of_host(snapshot, heap) ? SIZER_JVM : SIZER_UNKNOWN;
}

/* What is left of the limit beside all else that runs in it, and no more than guides allow a heap. */
static uint64_t heap_that_fits(const struct rule_input *input, uint64_t heap, uint64_t limit)
{
	const struct qty *expected = &input->ledger->expected.bytes;
	uint64_t critical, room = room_levels(input, limit, &critical);
	uint64_t others = qty_known(*expected) && expected->bytes > heap ? expected->bytes - heap : limit / 4;
	uint64_t taken = sat_add(others, room), fits = limit > taken ? limit - taken : 0;
	if (fits > limit - limit / 4)
		fits = limit - limit / 4;
	if (fits < limit / 4)
		fits = limit / 4; /* the JVM's own choice for this limit */
	return fits >= 256 * (uint64_t)MIB ? fits / (64 * MIB) * (64 * MIB) : fits / MIB * MIB;
}

static void change_size(const struct rule_input *input, struct finding *finding, uint64_t heap, uint64_t limit)
{
	uint64_t wanted = heap_that_fits(input, heap, limit);
	uint64_t live = room_round_up(heap_for(qty_or(input->snapshot->perf.heap_kept_bytes, 0)));
	static const char how[] = "(on its command line or in JAVA_TOOL_OPTIONS)";
	if (live <= wanted) {
		finding_turn(finding, KNOB_HEAP, TURN_DOWN);
		finding_change(finding, "start the JVM with -Xmx%llum %s, so that its size no longer depends on %s",
			       grow_mib(wanted), how,
			       input->snapshot->flags.heap_origin == HEAP_ORIGIN_SHARE
				       ? "-XX:MaxRAMPercentage"
				       : "what the JVM takes for its memory");
		return;
	}
	/* A heap that the live objects do not fit would end in OutOfMemoryError: then the limit has to give way. */
	if (live > heap)
		live = heap;
	uint64_t others = limit - (wanted < limit ? wanted : limit);
	finding_turn(finding, KNOB_HEAP, live < heap ? TURN_DOWN : TURN_SET);
	finding_turn(finding, KNOB_LIMIT, TURN_UP);
	finding_change(
		finding,
		"start the JVM with -Xmx%llum %s, and raise the container's memory limit to %lluMi: less would not hold what the last collection left",
		grow_mib(live), how, grow_mib(room_round_up(sat_add(live, others))));
}

static void observe_source(const struct snapshot *snapshot, struct finding *finding, uint64_t heap, uint64_t limit)
{
	char host[UNITS_TEXT_CAP];
	uint32_t bp = percentage_bp(&snapshot->flags);
	if (is_about(heap, thresholds_share(limit, bp))) {
		finding_observation(
			finding,
			"That is %u.%02u %% of the limit, as -XX:MaxRAMPercentage says: the JVM knows the limit and leaves too little of it.",
			(unsigned)(bp / 100), (unsigned)(bp % 100));
		return;
	}
	if (snapshot->flags.container_support_off)
		finding_observation(finding, "-XX:-UseContainerSupport makes the JVM look at the host alone.");
	if (is_of_host(snapshot, heap))
		finding_observation(finding, "It is %u.%02u %% of the host's %s: the JVM did not see the limit.",
				    (unsigned)(bp / 100), (unsigned)(bp % 100),
				    units_format(host, snapshot->host_memory_bytes.bytes));
}

static void explain_size(struct finding *finding)
{
	finding_cause(
		finding,
		"the JDK cannot read this container's limit (before 8u191 none; on a host with cgroup v2 before 15, 11.0.16 and 8u372): java -XshowSettings:system -version in the container then shows another memory limit");
	finding_cause(
		finding,
		"the limit was lowered in place while the JVM ran: it reads the limit once, at its start, and a restart alone gives the right size");
	finding_cause(
		finding,
		"-XX:MaxRAMPercentage, MaxRAM or -XX:-UseContainerSupport was set by hand: it stands among the settings, or in JAVA_TOOL_OPTIONS");
	finding_validate(
		finding,
		"steady: -Xmx is the new figure in the next report, and the heap after a collection stays below 70 %% of it through a full day's peak");
	finding_validate(
		finding,
		"restore: no java.lang.OutOfMemoryError while a restore, rebalance or catch-up runs, when most is live");
}

enum rule_answer rule_heap_sized_from_host(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	struct qty heap = max_heap(snapshot);
	struct judged_limit limit;
	enum sizer sizer = qty_known(heap) ? sizer_of(snapshot, heap.bytes) : SIZER_UNKNOWN;
	if (!snapshot->is_jvm || sizer == SIZER_PERSON || input->ledger->limit.kind == LIMIT_NONE)
		return RULE_SILENT; /* a size that somebody chose is demand-over-limit's matter */
	if (!judged_container(input->ledger, &limit))
		judged_missing(finding);
	if (!qty_known(heap))
		finding_missing(finding, "maximum heap: neither VM.flags nor hsperfdata nor the command line says it");
	if (finding->n_missing)
		return RULE_INCONCLUSIVE;
	uint64_t most = judged_share(input, T_HEAP_SIZED_FROM_HOST_HEAP, limit.bytes);
	if (heap.bytes <= most)
		return RULE_SILENT;
	if (sizer == SIZER_UNKNOWN) {
		finding_missing(
			finding,
			"where the maximum heap comes from: the JVM's options (hsperfdata, or its command line) and the host's memory");
		return RULE_INCONCLUSIVE;
	}
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	/* Above the whole limit the kernel comes first: the collector has no cause to work before. */
	finding->severity = heap.bytes > limit.bytes ? SEVERITY_CRITICAL : SEVERITY_WARNING;
	finding->owner = input->ledger->listed[OWNER_ZGC_HEAP] ? OWNER_ZGC_HEAP : OWNER_JAVA_HEAP;
	finding->excess_bytes = heap.bytes - most;
	finding_title(finding, "the JVM chose a maximum heap of %s itself, against a limit of %s",
		      units_format(a, heap.bytes), units_format(b, limit.bytes));
	finding_observation(
		finding,
		"The maximum heap is %s, %llu %% of %s of %s, and no option gives it as a size; the heap may fill all of it before a full collection.",
		a, percent(heap.bytes, limit.bytes), limit.name, b);
	observe_source(snapshot, finding, heap.bytes, limit.bytes);
	explain_size(finding);
	finding_setting_bytes(finding, limit.setting, limit.bytes, limit.where);
	finding_setting(finding, snapshot, "-Xmx");
	finding_setting(finding, snapshot, "-XX:MaxRAMPercentage");
	finding_setting(finding, snapshot, "-XX:UseContainerSupport");
	finding_bytes(finding, "max_heap_bytes", heap.bytes);
	finding_bytes(finding, "limit_bytes", limit.bytes);
	if (qty_known(snapshot->host_memory_bytes))
		finding_bytes(finding, "host_memory_bytes", snapshot->host_memory_bytes.bytes);
	change_size(input, finding, heap.bytes, limit.bytes);
	return RULE_FIRED;
}
