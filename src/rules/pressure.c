/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time lost to memory: threads put to sleep at memory.high, threads that wait (PSI), and a kernel that evicts what the
 * program is about to read. cgroup-v2.rst, accounting/psi.rst; a container in this state is slow long before it is
 * killed.
 */
#include "ledger/figure.h"
#include "rules/all.h"
#include "rules/blame.h"
#include "rules/judged.h"
#include "rules/room.h"
#include "rules/text.h"

static const char *percent(char dest[THRESHOLD_TEXT_CAP], uint64_t bp)
{
	return thresholds_format(dest, THRESHOLD_SHARE, bp);
}

/* memory.high is set below the limit: past the limit it never comes into play. */
static bool high_counts(const struct rule_input *input)
{
	const struct limit *high = &input->snapshot->cgroup.high;
	const struct limit *max = &input->snapshot->cgroup.max;
	return high->kind == LIMIT_SET && (max->kind != LIMIT_SET || high->bytes < max->bytes);
}

/* The charge is at memory.high, and has been pushed back there before. */
static bool at_high(const struct rule_input *input)
{
	const struct cgroup_memory *cg = &input->snapshot->cgroup;
	const struct signed_qty *room = &input->ledger->throttle_room_bytes;
	if (!high_counts(input) || !room->known || !cg->events.high.known || cg->events.high.n == 0)
		return false;
	return room->bytes < 0 ||
	       (uint64_t)room->bytes < judged_share(input, T_MEMORY_HIGH_THROTTLING_NEAR, cg->high.bytes);
}

static bool stalls(const struct rule_input *input)
{
	const struct cgroup_pressure_line *some = &input->snapshot->cgroup.pressure.some;
	return some->known && some->avg60_bp > judged_level(input, T_PRESSURE_STALL_WARNING);
}

static bool missing_high(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	const struct cgroup_memory *cg = &snapshot->cgroup;
	static const char unread[] = "the container's cgroup v2 was not read";
	if (cg->high.kind == LIMIT_UNREAD && !cg->is_root && cg->kind != CGROUP_V1) /* neither of them has one */
		finding_missing_file(finding, snapshot, "memory.high", unread);
	if (!high_counts(input))
		return finding->n_missing > 0;
	if (!cg->events.high.known)
		finding_missing_file(finding, snapshot, "memory.events", unread);
	else if (cg->events.high.n && !input->ledger->throttle_room_bytes.known)
		finding_missing_file(finding, snapshot, "memory.current", unread);
	return finding->n_missing > 0;
}

static void throttle_texts(const struct rule_input *input, bool held, struct finding *finding)
{
	const struct cgroup_memory *cg = &input->snapshot->cgroup;
	const struct ledger *ledger = input->ledger;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[THRESHOLD_TEXT_CAP];
	(void)units_format(a, cg->high.bytes);
	finding_observation(finding,
			    "The charge is %s against memory.high %s, which has pushed it back %llu times so far.",
			    units_format(b, cg->current_bytes.bytes), a, (unsigned long long)cg->events.high.n);
	if (held) {
		finding_title(finding, "memory.high of %s throttles the container: %s cannot be reclaimed", a,
			      units_format(b, ledger->floor_bytes.bytes));
		finding_observation(
			finding,
			"%s of it cannot be reclaimed: the kernel has nothing left to take, so it makes the threads sleep at each allocation.",
			b);
	} else if (stalls(input)) {
		finding_title(finding, "memory.high of %s throttles the container: threads wait %s of the time", a,
			      percent(c, cg->pressure.some.avg60_bp));
		finding_observation(
			finding,
			"Page cache is evicted for it, and read back: some threads waited %s of the last 60 s.", c);
	} else {
		finding_title(finding, "page cache fills the container up to memory.high of %s", a);
		finding_observation(finding, "Page cache is evicted to stay there, which does no harm as long as "
					     "memory.pressure is low.");
	}
	if (qty_known(ledger->floor_bytes))
		finding_bytes(finding, "floor_bytes", ledger->floor_bytes.bytes);
	else
		finding_missing(finding, "floor: how much of the charge cannot be reclaimed (memory.stat)");
	if (cg->pressure.some.known)
		finding_figure(finding, "pressure_some_avg60_bp", cg->pressure.some.avg60_bp);
}

enum rule_answer rule_memory_high_throttling(const struct rule_input *input, struct finding *finding)
{
	const struct cgroup_memory *cg = &input->snapshot->cgroup;
	const struct ledger *ledger = input->ledger;
	if (missing_high(input, finding))
		return RULE_INCONCLUSIVE;
	if (!at_high(input))
		return RULE_SILENT;
	uint64_t most = judged_share(input, T_MEMORY_HIGH_THROTTLING_FLOOR, cg->high.bytes);
	bool held = qty_known(ledger->floor_bytes) && ledger->floor_bytes.bytes > most;
	finding->severity = held || stalls(input) ? SEVERITY_WARNING : SEVERITY_INFO;
	finding_bytes(finding, "memory_high_bytes", cg->high.bytes);
	finding_bytes(finding, "charge_bytes", cg->current_bytes.bytes);
	finding_bytes(finding, "events_high", cg->events.high.n);
	throttle_texts(input, held, finding);
	finding_cause(
		finding,
		"the kubelet's MemoryQoS: memory.high = request + throttling factor (0.9 by default until 1.36) x (limit - request), so a request far below the limit throttles far below it");
	finding_cause(finding, "what holds the memory outgrew its budget: then a line of the ledger stands above it");
	finding_cause(
		finding,
		"page cache alone: then the floor is far below memory.high, and nothing sleeps unless what is evicted is read again");
	finding_setting_bytes(finding, "memory.high", cg->high.bytes, "cgroup");
	if (cg->max.kind == LIMIT_SET)
		finding_setting_bytes(finding, "memory.max", cg->max.bytes, "cgroup");
	if (finding->severity < SEVERITY_WARNING)
		return RULE_FIRED; /* nothing to change */
	if (held) {
		finding->excess_bytes = ledger->floor_bytes.bytes - most;
		finding->owner = blame_owner(input);
		if (finding->owner >= 0)
			blame_observe(input, finding);
	}
	room_lift_high(input, finding);
	finding_validate(
		finding,
		"steady: high of memory.events stands still between two reports under full load, and some avg60 of memory.pressure is near 0");
	finding_validate(finding,
			 "restore: the same while a savepoint is restored, when the floor rises to its highest point");
	return RULE_FIRED;
}

/* Why there is no pressure to judge. A container whose pages were never scanned for reclaim has none. */
static enum rule_answer without_pressure(const struct snapshot *snapshot, struct finding *finding)
{
	if (snapshot->cgroup.stat.pgscan.known && snapshot->cgroup.stat.pgscan.n == 0)
		return RULE_SILENT;
	if (snapshot->cgroup.kind == CGROUP_V2)
		finding_missing(
			finding,
			"memory.pressure: the kernel counts none (it needs CONFIG_PSI, and psi=1 on its command line where that is off by default)");
	else
		finding_missing_file(finding, snapshot, "memory.pressure", "the container's cgroup v2 was not read");
	return RULE_INCONCLUSIVE;
}

/* What the pressure comes with, gravest first: it decides what is advised. */
enum company { WITH_HIGH, WITH_FULL, WITH_SWAP, WITH_CACHE, WITH_NODE };

/* The charge is at the limit, as near as it can be while the kernel reclaims in batches, and has been pushed back. */
static bool at_limit(const struct rule_input *input)
{
	const struct cgroup_memory *cg = &input->snapshot->cgroup;
	if (cg->max.kind != LIMIT_SET || !qty_known(cg->current_bytes) || !cg->events.max.known || !cg->events.max.n)
		return false;
	uint64_t near = judged_share(input, T_MEMORY_HIGH_THROTTLING_NEAR, cg->max.bytes);
	return cg->current_bytes.bytes >= cg->max.bytes || cg->max.bytes - cg->current_bytes.bytes < near;
}

static enum company company_of(const struct rule_input *input)
{
	const struct qty *swap = &input->snapshot->cgroup.swap_current_bytes;
	if (at_high(input))
		return WITH_HIGH;
	if (room_is_low(input))
		return WITH_FULL;
	if (qty_known(*swap) && swap->bytes > judged_level(input, T_SWAP_IN_USE_NOTICE))
		return WITH_SWAP;
	return at_limit(input) ? WITH_CACHE : WITH_NODE;
}

static void name_company(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	const struct cgroup_memory *cg = &snapshot->cgroup;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	if (high_counts(input))
		finding_cause(
			finding,
			"throttling at memory.high: the charge is %s against %s, and high of memory.events is %llu",
			figure_qty(a, cg->current_bytes), units_format(b, cg->high.bytes),
			(unsigned long long)(cg->events.high.known ? cg->events.high.n : 0));
	finding_cause(
		finding,
		"reclaim at the limit: max of memory.events then rises between two reports; it is %llu%s, freeboard is %s",
		(unsigned long long)(cg->events.max.known ? cg->events.max.n : 0),
		cg->events.max.known ? "" : " (unread)", figure_signed(a, input->ledger->freeboard_bytes));
	finding_cause(finding, "swap: pgmajfault then rises; %s is swapped out", figure_qty(a, cg->swap_current_bytes));
	finding_cause(
		finding,
		"files read again after eviction, or written faster than the disk takes: workingset_refault_file %llu%s, dirty or in writeback %s",
		(unsigned long long)cg->stat.workingset_refault_file.n,
		cg->stat.workingset_refault_file.known ? "" : " (unread)",
		figure_qty(a, qty_add(cg->stat.file_dirty_bytes, cg->stat.file_writeback_bytes)));
	finding_cause(
		finding,
		"the node is short and reclaims from everybody: its /proc/pressure/memory then rises; it has %s of %s available",
		figure_qty(a, snapshot->host_available_bytes), figure_qty(b, snapshot->host_memory_bytes));
}

static void change_for(const struct rule_input *input, struct finding *finding)
{
	const struct cgroup_memory *cg = &input->snapshot->cgroup;
	struct judged_limit limit;
	uint64_t critical, room, held;
	switch (company_of(input)) {
	case WITH_HIGH:
		room_lift_high(input, finding);
		break;
	case WITH_FULL:
		(void)judged_freeboard(input, &limit);
		room = room_levels(input, limit.bytes, &critical);
		held = input->ledger->floor_bytes.bytes;
		room_raise_limit(input, &limit, finding, sat_add(held, sat_add(room, room / 4)));
		break;
	case WITH_SWAP:
		room_end_swap(input, finding, cg->swap_current_bytes.bytes);
		break;
	case WITH_CACHE: /* the files that it reads do not fit beside the rest */
		(void)judged_container(input->ledger, &limit);
		room_raise_limit(input, &limit, finding,
				 sat_add(limit.bytes, room_levels(input, limit.bytes, &critical)));
		break;
	case WITH_NODE:
		room_raise_request(input, finding,
				   "the node then keeps that much for it and takes fewer pods beside it");
		break;
	}
}

enum rule_answer rule_pressure_stall(const struct rule_input *input, struct finding *finding)
{
	const struct cgroup_pressure *p = &input->snapshot->cgroup.pressure;
	char a[THRESHOLD_TEXT_CAP], b[THRESHOLD_TEXT_CAP];
	if (!p->some.known)
		return without_pressure(input->snapshot, finding);
	bool all = p->full.known && p->full.avg60_bp > judged_level(input, T_PRESSURE_STALL_CRITICAL);
	if (!all && !stalls(input))
		return RULE_SILENT;
	finding->severity = all ? SEVERITY_CRITICAL : SEVERITY_WARNING;
	if (all)
		finding_title(finding, "nothing in the container runs for %s of the time: all threads wait for memory",
			      percent(a, p->full.avg60_bp));
	else
		finding_title(finding, "threads wait for memory %s of the time", percent(a, p->some.avg60_bp));
	finding_observation(finding, "Some threads waited for memory %s of the last 60 s, all at once %s of it.",
			    percent(a, p->some.avg60_bp), p->full.known ? percent(b, p->full.avg60_bp) : "unread");
	finding_observation(finding, "Over 10 s %s, over 300 s %s: it is %s.", percent(a, p->some.avg10_bp),
			    percent(b, p->some.avg300_bp),
			    p->some.avg10_bp > p->some.avg300_bp ? "getting worse" : "not getting worse");
	name_company(input, finding);
	finding_figure(finding, "pressure_some_avg60_bp", p->some.avg60_bp);
	if (p->full.known)
		finding_figure(finding, "pressure_full_avg60_bp", p->full.avg60_bp);
	finding_figure(finding, "pressure_some_avg10_bp", p->some.avg10_bp);
	finding_figure(finding, "pressure_some_avg300_bp", p->some.avg300_bp);
	if (input->ledger->freeboard_bytes.known)
		finding_figure(finding, "freeboard_bytes", input->ledger->freeboard_bytes.bytes);
	if (high_counts(input))
		finding_setting_bytes(finding, "memory.high", input->snapshot->cgroup.high.bytes, "cgroup");
	if (input->snapshot->cgroup.max.kind == LIMIT_SET)
		finding_setting_bytes(finding, "memory.max", input->snapshot->cgroup.max.bytes, "cgroup");
	change_for(input, finding);
	finding_validate(finding, "steady: some avg60 of memory.pressure stays below %s through a full day's peak",
			 percent(a, judged_level(input, T_PRESSURE_STALL_WARNING)));
	finding_validate(finding, "restore: full avg60 stays below %s while a savepoint is restored",
			 percent(a, judged_level(input, T_PRESSURE_STALL_CRITICAL)));
	return RULE_FIRED;
}
