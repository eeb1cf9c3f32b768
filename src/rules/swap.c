/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Swap. memory.swap.current counts every swapped page of the container, those that zswap keeps compressed in memory
 * too (cgroup-v2.rst); only the rest is on a disk. Without a cgroup the JVM's VmSwap stands for it.
 */
#include "rules/all.h"
#include "rules/judged.h"
#include "rules/room.h"
#include "rules/text.h"

struct swapped {
	uint64_t bytes, disk_bytes; /* all of it, and what no zswap holds */
	struct qty zswapped, zpool; /* what zswap holds, and what that takes of the container's memory */
	struct qty jvm;             /* VmSwap */
	struct qty heap;            /* of the Java heap */
	bool heap_shares;           /* a mapping holds more than heap: `heap` is then at most so much */
	bool of_process;            /* the JVM's alone */
};

/* Swapped bytes of the mappings in the heap's ranges; unread where ranges or mappings are. */
static void heap_part(const struct snapshot *snapshot, struct swapped *ret)
{
	uint64_t sum = 0;
	if (!snapshot->vmas_read || snapshot->heap.n_ranges == 0)
		return;
	for (size_t i = 0; i < snapshot->vmas.n; i++) {
		const struct vma *vma = &snapshot->vmas.items[i];
		for (size_t r = 0; vma->swap_bytes && r < snapshot->heap.n_ranges; r++) {
			const struct addr_range *range = &snapshot->heap.ranges[r];
			uint64_t start = vma->start > range->start ? vma->start : range->start;
			uint64_t end = vma->end < range->end ? vma->end : range->end;
			if (start >= end)
				continue;
			uint64_t most = vma->swap_bytes < end - start ? vma->swap_bytes : end - start;
			sum = sat_add(sum, most);
			ret->heap_shares |= vma->start < range->start || vma->end > range->end;
		}
	}
	ret->heap = qty_of(sum, ret->heap_shares ? QTY_INFERRED : QTY_DERIVED);
}

static bool take(const struct snapshot *snapshot, struct swapped *ret)
{
	const struct cgroup_memory *cg = &snapshot->cgroup;
	*ret = (struct swapped){ .jvm = snapshot->status.vm_swap_bytes };
	if (qty_known(cg->swap_current_bytes)) {
		ret->bytes = ret->disk_bytes = cg->swap_current_bytes.bytes;
		ret->zswapped = cg->stat.zswapped_bytes;
		ret->zpool = qty_known(cg->zswap_current_bytes) ? cg->zswap_current_bytes : cg->stat.zswap_bytes;
		uint64_t compressed = qty_or(ret->zswapped, 0);
		ret->disk_bytes = ret->bytes > compressed ? ret->bytes - compressed : 0;
	} else if (qty_known(ret->jvm)) {
		ret->bytes = ret->disk_bytes = ret->jvm.bytes;
		ret->of_process = true;
	} else {
		return false;
	}
	heap_part(snapshot, ret);
	return true;
}

static void observe(const struct swapped *s, const struct judged_limit *limit, struct finding *finding)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	const char *whom = s->of_process ? "JVM" : "container";
	if (limit)
		finding_observation(finding, "The kernel has swapped out %s of the %s, whose limit is %s.",
				    units_format(a, s->bytes), whom, units_format(b, limit->bytes));
	else
		finding_observation(finding, "The kernel has swapped out %s of the %s; no limit is known.",
				    units_format(a, s->bytes), whom);
	if (qty_or(s->zswapped, 0)) {
		finding_observation(finding, "zswap keeps %s of it compressed in memory, %s is on a disk.",
				    units_format(a, s->zswapped.bytes), units_format(b, s->disk_bytes));
		if (qty_known(s->zpool))
			finding_observation(finding, "Compressed it takes %s.", units_format(a, s->zpool.bytes));
	}
	if (qty_known(s->heap))
		finding_observation(finding, "Of the Java heap: %s%s.", s->heap_shares ? "at most " : "",
				    units_format(a, s->heap.bytes));
	if (!s->of_process && qty_known(s->jvm)) {
		uint64_t others = s->bytes > s->jvm.bytes ? s->bytes - s->jvm.bytes : 0;
		finding_observation(finding, "Of the JVM: %s; of other processes and files in memory: %s.",
				    units_format(a, s->jvm.bytes), units_format(b, others));
	}
}

static void name_causes(const struct rule_input *input, const struct swapped *s, struct finding *finding)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	const struct snapshot *snapshot = input->snapshot;
	finding_cause(
		finding,
		"pages of start-up that nobody touches again: then pgmajfault and memory.pressure stand still, and no harm is done");
	finding_cause(
		finding,
		"the container is full and the kernel swaps to stay below the limit or memory.high: then freeboard is low, and ends where swap ends");
	if (qty_known(snapshot->host_available_bytes) && qty_known(snapshot->host_memory_bytes))
		finding_cause(
			finding,
			"the node is short and swaps everybody: then freeboard is ample here; the node has %s of %s available",
			units_format(a, snapshot->host_available_bytes.bytes),
			units_format(b, snapshot->host_memory_bytes.bytes));
	else
		finding_cause(finding, "the node is short and swaps everybody: then freeboard is ample here");
	if (!s->of_process)
		finding_cause(
			finding,
			"another process or files in memory, not the JVM: then VmSwap of the JVM is far below memory.swap.current");
}

static void figures(const struct swapped *s, struct finding *finding)
{
	finding_bytes(finding, "swapped_bytes", s->bytes);
	finding_bytes(finding, "swapped_on_disk_bytes", s->disk_bytes);
	if (qty_known(s->zswapped))
		finding_bytes(finding, "zswapped_bytes", s->zswapped.bytes);
	if (qty_known(s->zpool))
		finding_bytes(finding, "zswap_pool_bytes", s->zpool.bytes);
	if (qty_known(s->jvm))
		finding_bytes(finding, "jvm_swapped_bytes", s->jvm.bytes);
	if (qty_known(s->heap))
		finding_bytes(finding, "java_heap_swapped_bytes", s->heap.bytes);
}

static enum rule_answer report(const struct rule_input *input, const struct swapped *s, struct finding *finding)
{
	struct judged_limit limit;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	bool limited = judged_container(input->ledger, &limit);
	bool grave = limited && s->disk_bytes > judged_share(input, T_SWAP_IN_USE_WARNING, limit.bytes);
	finding->severity = grave ? SEVERITY_WARNING : SEVERITY_NOTICE;
	finding->excess_bytes = s->bytes;
	if (qty_known(s->heap) && s->heap.bytes > s->bytes / 2)
		finding->owner = OWNER_JAVA_HEAP;
	const char *whom = s->of_process ? "JVM" : "container";
	if (qty_or(s->heap, 0))
		finding_title(finding, "%s of the %s is swapped out, %s%s of it Java heap", units_format(a, s->bytes),
			      whom, s->heap_shares ? "at most " : "", units_format(b, s->heap.bytes));
	else
		finding_title(finding, "%s of the %s is swapped out", units_format(a, s->bytes), whom);
	observe(s, limited ? &limit : NULL, finding);
	name_causes(input, s, finding);
	if (limited)
		finding_setting_bytes(finding, limit.setting, limit.bytes, limit.where);
	else
		finding_missing(finding, "memory limit: how grave it is cannot be judged without one (--limit SIZE)");
	if (input->snapshot->cgroup.swap_max.kind == LIMIT_SET)
		finding_setting_bytes(finding, "memory.swap.max", input->snapshot->cgroup.swap_max.bytes, "cgroup");
	if (s->of_process)
		finding_missing(
			finding,
			"memory.swap.current of the container: what other processes have swapped is not in sight");
	if (!qty_known(s->heap))
		finding_missing(finding, "how much of it is Java heap: smaps, and the heap's address range");
	figures(s, finding);
	room_end_swap(input, finding, s->bytes);
	finding_validate(
		finding,
		"steady: swapped bytes stay below %s, and freeboard above the level of freeboard-low, through a full day's peak",
		units_format(a, judged_level(input, T_SWAP_IN_USE_NOTICE)));
	finding_validate(
		finding,
		"restore: the longest collection while a savepoint is restored (-Xlog:gc) is as short as in an instance that has nothing swapped");
	return RULE_FIRED;
}

enum rule_answer rule_swap_in_use(const struct rule_input *input, struct finding *finding)
{
	struct swapped s;
	if (!take(input->snapshot, &s)) {
		finding_missing_file(finding, input->snapshot, "memory.swap.current",
				     "not in the cgroup, and no VmSwap in the JVM's status");
		return RULE_INCONCLUSIVE;
	}
	if (s.bytes <= judged_level(input, T_SWAP_IN_USE_NOTICE))
		return RULE_SILENT;
	return report(input, &s, finding);
}
