/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page cache: what of it can be dropped at once is no danger, whatever memory.current says; what is dirty must be
 * written first, and who allocates at the limit waits for the disk (cgroup-v2.rst, file_dirty, file_writeback).
 */
#include "rules/all.h"
#include "rules/judged.h"
#include "rules/room.h"
#include "rules/text.h"

static struct qty unwritten(const struct cgroup_stat *stat)
{
	return qty_add(stat->file_dirty_bytes, stat->file_writeback_bytes);
}

/* Threads wait for memory now, or did in the last minute as pressure-stall has it. Unread, nobody knows. */
static bool waits(const struct rule_input *input)
{
	const struct cgroup_pressure_line *some = &input->snapshot->cgroup.pressure.some;
	return some->known && (some->avg10_bp > judged_level(input, T_RECLAIM_THRASH_MOVING) ||
			       some->avg60_bp > judged_level(input, T_PRESSURE_STALL_WARNING));
}

/* The charge is at the limit, as near as page cache lets it be, and was pushed back there before. */
static bool at_limit(const struct rule_input *input, const struct judged_limit *limit)
{
	const struct cgroup_memory *cg = &input->snapshot->cgroup;
	if (!qty_known(cg->current_bytes) || !cg->events.max.known || !cg->events.max.n)
		return false;
	uint64_t near = judged_share(input, T_DIRTY_CACHE_NEAR, limit->bytes);
	return cg->current_bytes.bytes >= limit->bytes || limit->bytes - cg->current_bytes.bytes < near;
}

/* Enough is dirty to be told of. */
static bool much_is_dirty(const struct rule_input *input, const struct judged_limit *limit)
{
	struct qty dirty = unwritten(&input->snapshot->cgroup.stat);
	return qty_known(dirty) &&
	       dirty.bytes > judged_both(input, T_DIRTY_CACHE_DIRTY, T_DIRTY_CACHE_BYTES, limit->bytes);
}

static void dirty_texts(const struct rule_input *input, const struct judged_limit *limit, bool grave,
			struct finding *finding)
{
	const struct cgroup_memory *cg = &input->snapshot->cgroup;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], p[THRESHOLD_TEXT_CAP], q[THRESHOLD_TEXT_CAP];
	uint64_t dirty = unwritten(&cg->stat).bytes;
	finding_title(finding, "%s of page cache must be written before it can be reclaimed%s", units_format(a, dirty),
		      grave ? ", and threads wait for that" : "");
	finding_observation(finding, "Dirty %s, in writeback %s: writers outrun the disk.",
			    units_format(a, cg->stat.file_dirty_bytes.bytes),
			    units_format(b, cg->stat.file_writeback_bytes.bytes));
	if (at_limit(input, limit))
		finding_observation(
			finding,
			"The charge is within a tenth of the limit of %s, which has pushed it back %llu times so far: what is dirty must be written to make room.",
			units_format(a, limit->bytes), (unsigned long long)cg->events.max.n);
	if (cg->pressure.some.known)
		finding_observation(finding, "Some threads waited for memory %s of the last 10 s, %s of the last 60 s.",
				    thresholds_format(p, THRESHOLD_SHARE, cg->pressure.some.avg10_bp),
				    thresholds_format(q, THRESHOLD_SHARE, cg->pressure.some.avg60_bp));
	else
		finding_missing(finding, "memory.pressure: whether threads wait for it now");
	finding_observation(finding, "It is no danger of a kill: written pages are dropped.");
	finding_cause(
		finding,
		"a burst of compaction, checkpoint or restore: then it is gone within a minute, and comes back with each");
	finding_cause(
		finding,
		"the disk is slower than the writers (a throttled cloud volume, a shared node disk): then io.pressure is high and the node's iostat shows its queue full");
	finding_cause(
		finding,
		"the node's dirty limits are high (vm.dirty_ratio, vm.dirty_bytes): then all its pods show it under load");
}

enum rule_answer rule_dirty_cache(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	const struct cgroup_memory *cg = &snapshot->cgroup;
	struct qty dirty = unwritten(&cg->stat);
	struct judged_limit limit;
	if (!qty_known(dirty)) {
		finding_missing_file(finding, snapshot, "memory.stat", "no file_dirty and file_writeback in it");
		return RULE_INCONCLUSIVE;
	}
	if (dirty.bytes <= judged_level(input, T_DIRTY_CACHE_BYTES))
		return RULE_SILENT;
	if (!judged_container(input->ledger, &limit)) {
		judged_missing(finding);
		return RULE_INCONCLUSIVE;
	}
	if (!much_is_dirty(input, &limit))
		return RULE_SILENT;
	bool grave = at_limit(input, &limit) && waits(input);
	finding->severity = grave ? SEVERITY_WARNING : SEVERITY_NOTICE;
	finding->owner = OWNER_PAGE_CACHE;
	finding->excess_bytes = dirty.bytes;
	dirty_texts(input, &limit, grave, finding);
	finding_setting_bytes(finding, limit.setting, limit.bytes, limit.where);
	finding_bytes(finding, "file_dirty_bytes", cg->stat.file_dirty_bytes.bytes);
	finding_bytes(finding, "file_writeback_bytes", cg->stat.file_writeback_bytes.bytes);
	finding_bytes(finding, "limit_bytes", limit.bytes);
	if (cg->pressure.some.known)
		finding_figure(finding, "pressure_some_avg10_bp", cg->pressure.some.avg10_bp);
	if (cg->pressure.some.known)
		finding_figure(finding, "pressure_some_avg60_bp", cg->pressure.some.avg60_bp);
	finding_turn(finding, KNOB_FILES, TURN_SET);
	finding_change(
		finding,
		"put the directory that is written (state, io.tmp.dirs, state.dir) on a volume that takes the write rate: find it with pidstat -d and iostat -x on the node");
	finding_validate(
		finding, "steady: file_dirty and file_writeback of memory.stat together stay below %llu MiB",
		(unsigned long long)(judged_both(input, T_DIRTY_CACHE_DIRTY, T_DIRTY_CACHE_BYTES, limit.bytes) >> 20));
	finding_validate(
		finding,
		"restore: some avg10 of memory.pressure stays below 1 %% while a savepoint is restored, when most is written");
	return RULE_FIRED;
}

/* What keeps a full container from being harmless: threads that wait, pages that must be written, a pod that is short. */
static bool is_harmed(const struct rule_input *input, const struct judged_limit *limit)
{
	const struct ledger *ledger = input->ledger;
	uint64_t least = judged_share(input, T_PAGE_CACHE_BENIGN_FREEBOARD, limit->bytes);
	return waits(input) || much_is_dirty(input, limit) || !ledger->freeboard_bytes.known ||
	       ledger->freeboard_bytes.bytes < 0 || (uint64_t)ledger->freeboard_bytes.bytes <= least;
}

static void benign_texts(const struct rule_input *input, const struct judged_limit *limit, struct finding *finding)
{
	const struct cgroup_memory *cg = &input->snapshot->cgroup;
	const struct ledger *ledger = input->ledger;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	uint64_t charge = cg->current_bytes.bytes, floor = ledger->floor_bytes.bytes;
	finding_title(finding, "page cache fills the container to %llu %% of its limit, which does no harm",
		      (unsigned long long)(charge / (limit->bytes / 100 + 1)));
	finding_observation(
		finding,
		"memory.current is %s of %s; the kernel cannot reclaim %s of it, the rest it drops when something else needs the room.",
		units_format(a, charge), units_format(b, limit->bytes), units_format(c, floor));
	if (qty_known(cg->stat.inactive_file_bytes) && cg->stat.inactive_file_bytes.bytes <= charge) {
		uint64_t working_set = charge - cg->stat.inactive_file_bytes.bytes;
		finding_observation(
			finding,
			"The working set (memory.current less inactive_file) is %s: active file pages are in it, and the kubelet ranks pods by it when the node is short.",
			units_format(a, working_set));
		finding_bytes(finding, "working_set_bytes", working_set);
	}
	if (!cg->pressure.some.known)
		finding_missing(finding, "memory.pressure: whether threads wait for memory now");
	if (ledger->freeboard_level == FREEBOARD_POD)
		finding_missing(
			finding,
			"what the pod's other containers hold: within the pod's limit the room is an upper bound");
	finding_cause(
		finding,
		"files that are read or written once (SST files, checkpoints, logs): then inactive_file is most of it");
	finding_cause(
		finding,
		"files that are read again and again: then active_file is most of it, and less room makes reads slower, no kill");
}

enum rule_answer rule_page_cache_benign(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	const struct ledger *ledger = input->ledger;
	struct judged_limit limit;
	if (!judged_container(ledger, &limit))
		return RULE_SILENT; /* nothing to be near to */
	if (!qty_known(snapshot->cgroup.current_bytes))
		finding_missing_file(finding, snapshot, "memory.current", "the container's cgroup v2 was not read");
	if (!qty_known(snapshot->cgroup.stat.file_bytes) || !qty_known(ledger->floor_bytes))
		finding_missing_file(finding, snapshot, "memory.stat", "the container's cgroup v2 was not read");
	if (finding->n_missing)
		return RULE_INCONCLUSIVE;
	if (snapshot->cgroup.current_bytes.bytes <= judged_share(input, T_PAGE_CACHE_BENIGN_CHARGE, limit.bytes) ||
	    is_harmed(input, &limit))
		return RULE_SILENT;
	finding->severity = SEVERITY_INFO;
	finding->owner = OWNER_PAGE_CACHE;
	benign_texts(input, &limit, finding);
	finding_setting_bytes(finding, limit.setting, limit.bytes, limit.where);
	finding_bytes(finding, "charge_bytes", snapshot->cgroup.current_bytes.bytes);
	finding_bytes(finding, "floor_bytes", ledger->floor_bytes.bytes);
	finding_figure(finding, "freeboard_bytes", ledger->freeboard_bytes.bytes);
	finding_turn(finding, KNOB_SIGHT, TURN_SET);
	finding_change(
		finding,
		"leave the limit as it is, and let the alert look at freeboard (limit less floor) in place of memory.current or the working set");
	finding_validate(finding, "steady: oom and oom_kill of memory.events stay at 0 with the charge at the limit");
	finding_validate(finding,
			 "restore: freeboard stays above the level of freeboard-low while a savepoint is restored");
	return RULE_FIRED;
}
