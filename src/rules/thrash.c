/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end is often no kill. Where less room is left than the running program's own mapped files take, the kernel
 * evicts code and tables that are read again at once (mm/workingset.c): the container stands still and lives on.
 */
#include "rules/all.h"
#include "rules/judged.h"
#include "rules/room.h"
#include "rules/text.h"

/* The tighter of the two lines at which the kernel reclaims, and what the floor leaves below it. */
struct line {
	struct judged_limit limit;
	int64_t room;
	bool is_high;
};

static bool line_of(const struct rule_input *input, struct line *ret)
{
	const struct ledger *ledger = input->ledger;
	const struct limit *high = &input->snapshot->cgroup.high;
	bool known = ledger->freeboard_bytes.known && judged_freeboard(input, &ret->limit);
	ret->room = ledger->freeboard_bytes.bytes;
	ret->is_high = false;
	if (high->kind != LIMIT_SET || !qty_known(ledger->floor_bytes) || high->bytes > INT64_MAX ||
	    ledger->floor_bytes.bytes > INT64_MAX)
		return known;
	int64_t below_high = (int64_t)high->bytes - (int64_t)ledger->floor_bytes.bytes;
	if (known && below_high >= ret->room)
		return true;
	ret->limit = (struct judged_limit){ high->bytes, "memory.high", "memory.high", "cgroup", false };
	ret->room = below_high;
	ret->is_high = true;
	return true;
}

/* Nothing squeezes this container: no limit of its own, of its pod, or to throttle at. */
static bool nothing_squeezes(const struct rule_input *input)
{
	const struct cgroup_memory *cg = &input->snapshot->cgroup;
	if (cg->is_root)
		return input->ledger->limit.kind != LIMIT_SET && input->snapshot->pod_limit.kind != LIMIT_SET;
	return input->ledger->limit.kind == LIMIT_NONE && input->snapshot->pod_limit.kind != LIMIT_SET &&
	       cg->high.kind == LIMIT_NONE;
}

static bool missing_room(const struct rule_input *input, const struct qty *mapped, struct line *ret_line,
			 struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	if (!line_of(input, ret_line)) {
		if (input->ledger->limit.kind != LIMIT_SET)
			judged_missing(finding);
		else
			finding_missing(finding, "freeboard: the floor, or its distance to the limit, is unread");
	}
	if (!qty_known(*mapped) || !qty_known(snapshot->cgroup.stat.file_mapped_bytes))
		finding_missing_file(finding, snapshot, "memory.stat", "no file_mapped in it");
	return finding->n_missing > 0;
}

/* Refaults a second, as an agent has watched them; unread in a report. */
static const struct count *rate_of(const struct rule_input *input)
{
	static const struct count unread = { 0 };
	return input->history ? &input->history->refaults_per_s : &unread;
}

static void write_texts(const struct rule_input *input, const struct line *line, uint64_t mapped,
			struct finding *finding)
{
	const struct cgroup_memory *cg = &input->snapshot->cgroup;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP], p[THRESHOLD_TEXT_CAP];
	(void)units_format_signed(a, line->room);
	(void)units_format(b, mapped);
	finding_title(finding, "the kernel evicts the running program: %s of room for %s of mapped files", a, b);
	finding_observation(
		finding,
		"What cannot be reclaimed leaves %s below %s of %s; code and other mapped files need %s, and the kernel some more.",
		a, line->limit.name, units_format(c, line->limit.bytes), b);
	if (rate_of(input)->known)
		finding_observation(finding, "Pages evicted and read again: %llu a second over the last minute.",
				    (unsigned long long)rate_of(input)->n);
	else
		finding_observation(
			finding,
			"Pages evicted and read again: %llu since the container started, and threads waited %s of the last 10 s, so it happens now.",
			(unsigned long long)cg->stat.workingset_refault_file.n,
			thresholds_format(p, THRESHOLD_SHARE, cg->pressure.some.avg10_bp));
	finding_observation(finding, "The container gets slower and slower; a kill may never come.");
	finding_cause(finding,
		      "the floor grew up to the limit: then freeboard-low names its owner, and mapped files are small");
	finding_cause(
		finding,
		"large files are mapped on purpose (RocksDB with allow_mmap_reads, Lucene): then mapped-files is large and the floor is within its plan");
	finding_cause(
		finding,
		"memory.high, not the limit, is what squeezes: then high of memory.events rises between two reports and max does not");
	finding_cause(
		finding,
		"page cache that cannot be dropped before it is written (%s dirty or in writeback): then the wait is for the disk",
		qty_known(cg->stat.file_dirty_bytes) && qty_known(cg->stat.file_writeback_bytes)
			? units_format(a, qty_add(cg->stat.file_dirty_bytes, cg->stat.file_writeback_bytes).bytes)
			: "unread");
	finding_setting_bytes(finding, line->limit.setting, line->limit.bytes, line->limit.where);
	finding_figure(finding, "room_bytes", line->room);
	finding_bytes(finding, "mapped_files_bytes", mapped);
	finding_bytes(finding, "floor_bytes", input->ledger->floor_bytes.bytes);
	finding_bytes(finding, "workingset_refault_file", cg->stat.workingset_refault_file.n);
	if (rate_of(input)->known)
		finding_bytes(finding, "refaults_per_s", rate_of(input)->n);
	if (cg->pressure.some.known)
		finding_figure(finding, "pressure_some_avg10_bp", cg->pressure.some.avg10_bp);
}

static enum rule_answer report(const struct rule_input *input, const struct line *line, uint64_t mapped,
			       uint64_t needed, struct finding *finding)
{
	char a[THRESHOLD_TEXT_CAP];
	finding->severity = SEVERITY_CRITICAL;
	finding->owner = mapped > needed / 2 ? OWNER_MAPPED_FILES : -1;
	finding->excess_bytes = line->room < 0 ? needed : needed - (uint64_t)line->room;
	write_texts(input, line, mapped, finding);
	if (line->is_high)
		room_lift_high(input, finding);
	else
		room_raise_limit(input, &line->limit, finding,
				 sat_add(input->ledger->floor_bytes.bytes, sat_add(needed, needed / 4)));
	finding_validate(
		finding,
		"steady: workingset_refault_file stands still between two reports, and some avg10 of memory.pressure stays below %s",
		thresholds_format(a, THRESHOLD_SHARE, judged_level(input, T_RECLAIM_THRASH_MOVING)));
	finding_validate(finding,
			 "restore: the same while a savepoint is restored, which reads files and fills memory at once");
	return RULE_FIRED;
}

enum rule_answer rule_reclaim_thrash(const struct rule_input *input, struct finding *finding)
{
	const struct cgroup_memory *cg = &input->snapshot->cgroup;
	/* Less mapped shared memory, which is in the floor. */
	const struct qty *mapped = &input->ledger->lines[OWNER_MAPPED_FILES].bytes;
	const struct count *refaults = &cg->stat.workingset_refault_file;
	struct line line;
	if (nothing_squeezes(input))
		return RULE_SILENT;
	if (missing_room(input, mapped, &line, finding))
		return RULE_INCONCLUSIVE;
	uint64_t needed = sat_add(mapped->bytes, judged_share(input, T_RECLAIM_THRASH_MARGIN, line.limit.bytes));
	if (line.room >= 0 && (uint64_t)line.room >= needed)
		return RULE_SILENT;
	if (!refaults->known)
		finding_missing_file(finding, input->snapshot, "memory.stat",
				     "no workingset_refault_file in it: the kernel is older than 5.9");
	else if (refaults->n == 0)
		return RULE_SILENT;
	/* Whether it happens now: by their rate, where an agent has seen one, else by the time that threads wait. */
	if (refaults->known && rate_of(input)->known) {
		if (rate_of(input)->n <= judged_level(input, T_RECLAIM_THRASH_REFAULTS))
			return RULE_SILENT;
		return report(input, &line, mapped->bytes, needed, finding);
	}
	if (!cg->pressure.some.known)
		finding_missing(
			finding,
			"memory.pressure: the kernel counts none (CONFIG_PSI, psi=1), so whether it happens now is not known");
	if (finding->n_missing)
		return RULE_INCONCLUSIVE;
	if (cg->pressure.some.avg10_bp <= judged_level(input, T_RECLAIM_THRASH_MOVING))
		return RULE_SILENT;
	return report(input, &line, mapped->bytes, needed, finding);
}
