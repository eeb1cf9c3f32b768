/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Native memory over time: growth that goes on, and growth by steps.
 *
 * What nobody claims (native-other) grows while caches warm up, too. So growth counts only past what was set aside for
 * it: with no engine metrics that is managed memory, the task's off-heap memory and what is free of the overhead
 * (history_view.native_soft_bound_bytes). Where it comes with restarts or rebalances it is told as that: a leak of one
 * cache a restart shows no slope.
 */
#include <stdio.h>

#include "ledger/reconcile.h"
#include "rules/all.h"
#include "rules/foreign.h"
#include "rules/growing.h"
#include "rules/sight.h"
#include "rules/text.h"

enum { HOUR_S = 3600, DAY_S = 86400 };

static const enum history_event step_kinds[] = { EVENT_RESTART, EVENT_REBALANCE };
enum { STEP_KINDS = 2 };

static const char *event_name(enum history_event kind)
{
	return kind == EVENT_REBALANCE ? "rebalance" : "restart";
}

/* Most of the growth came with events of this kind. */
static bool comes_by_steps(const struct rule_input *input, enum history_event kind)
{
	return input->history->steps[kind].height_bytes > judged_level(input, T_STEP_GROWTH_HEIGHT) &&
	       input->history->steps_share_bp[kind] > judged_level(input, T_STEP_GROWTH_SHARE);
}

/* The steps that explain the growth, or -1. */
static int explaining_steps(const struct rule_input *input)
{
	for (size_t i = 0; i < STEP_KINDS; i++) {
		if (input->history->steps[step_kinds[i]].alike && comes_by_steps(input, step_kinds[i]))
			return (int)step_kinds[i];
	}
	return -1;
}

static uint64_t native_bytes(const struct rule_input *input)
{
	return qty_or(input->ledger->lines[OWNER_NATIVE_OTHER].bytes, 0);
}

/* The growth fits what was set aside: a managed cache that warms up is no leak. A full one is a sixteenth past it. */
static bool warms_up(const struct rule_input *input)
{
	const struct qty *bound = &input->history->native_soft_bound_bytes;
	return qty_known(*bound) && native_bytes(input) < sat_add(bound->bytes, bound->bytes / 16);
}

static void causes(const struct rule_input *input, struct finding *finding)
{
	char names[FOREIGN_TEXT_CAP];
	size_t n = foreign_find(input->snapshot, names);
	finding_cause(
		finding,
		"native code that does not free: JNI libraries, compressors, iterators or options of RocksDB that are not closed; it grows on at idle load%s%s",
		n ? "; loaded are " : "", n ? names : "");
	finding_cause(
		finding,
		"malloc's fragments: the growth comes with savepoints and compactions, and the pace falls from day to day");
	if (recon_rocksdb_is_unread(input->snapshot, input->ledger))
		finding_cause(
			finding,
			"RocksDB's caches, which no metric names here: they end at their capacity, and the pace falls");
	else
		finding_cause(
			finding,
			"more state: then RocksDB's lines and the files on disk grow beside it, at the same times");
}

static bool is_guess(const struct rule_input *input)
{
	return recon_rocksdb_is_unread(input->snapshot, input->ledger) &&
	       !qty_known(input->history->native_soft_bound_bytes);
}

static void tell_growth(const struct rule_input *input, const struct trend *trend, uint64_t left_s,
			struct finding *finding)
{
	const struct history_view *history = input->history;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], pace[GROWING_TEXT_CAP], span[GROWING_TEXT_CAP],
		left[GROWING_TEXT_CAP];
	uint64_t grown = growing_grown(trend);
	finding_title(finding, "native memory grows steadily, by %s", growing_pace(pace, trend->slope));
	(void)growing_time(span, trend->span_ms / 1000);
	finding_observation(
		finding, "Native memory that nobody claims has grown by %s in %s, to %s, and the pace does not fall.",
		units_format(a, grown), span, units_format(b, native_bytes(input)));
	if (qty_known(history->native_soft_bound_bytes))
		finding_observation(finding,
				    "It is past the %s that Flink's budgets or the stores' caches could explain.",
				    units_format(a, history->native_soft_bound_bytes.bytes));
	if (left_s != FORECAST_NEVER)
		finding_observation(finding, "At this pace it fills the room below the limit in %s.",
				    growing_time(left, left_s));
	if (history->events[EVENT_RESTART] + history->events[EVENT_REBALANCE] > 0)
		finding_observation(finding,
				    "In the window: %u restarts, %u rebalances; most of the growth lies between them.",
				    history->events[EVENT_RESTART], history->events[EVENT_REBALANCE]);
	finding_bytes(finding, "native_other_bytes", native_bytes(input));
	finding_bytes(finding, "grown_bytes", grown);
	finding_bytes(finding, "bytes_per_day", growing_over(trend->slope, DAY_S));
	finding_bytes(finding, "window_s", trend->span_ms / 1000);
	finding_bytes(finding, "room_filled_in_s", left_s);
}

static enum rule_answer fire_growth(const struct rule_input *input, const struct trend *trend, uint64_t left_s,
				    struct finding *finding)
{
	/* As limit-forecast: what is days away is worth a look, and nobody's night. */
	bool near = left_s < sat_mul(judged_level(input, T_LIMIT_FORECAST_WARNING), HOUR_S);
	finding->severity = is_guess(input) || !near ? SEVERITY_NOTICE : SEVERITY_WARNING;
	finding->owner = OWNER_NATIVE_OTHER;
	finding->excess_bytes = growing_grown(trend);
	tell_growth(input, trend, left_s, finding);
	causes(input, finding);
	finding_setting(finding, input->snapshot, "taskmanager.memory.managed.size");
	finding_setting(finding, input->snapshot, "taskmanager.memory.jvm-overhead.max");
	sight_native(input, finding);
	finding_validate(
		finding,
		"steady: with what the change shows the growth has an owner; mended, native-other stands within 5 %% from one day to the next");
	finding_validate(finding, "failure: it does not grow faster while the job restarts or is rescaled three times");
	return RULE_FIRED;
}

/* Some steps up, and fewer than tell a rule of three: worth waiting for. */
static bool needs_more_steps(const struct rule_input *input, struct finding *finding)
{
	for (size_t i = 0; i < STEP_KINDS; i++) {
		const struct steps *steps = &input->history->steps[step_kinds[i]];
		if (steps->n == 0 || steps->n >= 3 || !comes_by_steps(input, step_kinds[i]))
			continue;
		finding_missing(finding, "more %ss: %zu of the three that tell steps from chance have been followed",
				event_name(step_kinds[i]), steps->n);
		return true;
	}
	return false;
}

enum rule_answer rule_native_growth(const struct rule_input *input, struct finding *finding)
{
	const struct ledger *ledger = input->ledger;
	uint64_t room;
	if (!input->history || !input->snapshot->is_jvm)
		return RULE_SILENT;
	if (!ledger->listed[OWNER_NATIVE_OTHER] || !qty_known(ledger->lines[OWNER_NATIVE_OTHER].bytes)) {
		finding_missing(finding, "native memory of the process: no scan of smaps yet, or it could not be read");
		return RULE_INCONCLUSIVE;
	}
	if (growing_waits(input, T_NATIVE_GROWTH_WINDOW, OWNER_NATIVE_OTHER, finding))
		return RULE_INCONCLUSIVE;
	const struct trend *trend = &input->history->owners[OWNER_NATIVE_OTHER];
	if (trend->kind == TREND_TOO_FEW) {
		growing_missing(input, 0, finding);
		return RULE_INCONCLUSIVE;
	}
	if (trend->kind != TREND_GROWING || growing_grown(trend) <= judged_level(input, T_NATIVE_GROWTH_GROWN) ||
	    warms_up(input) || explaining_steps(input) >= 0)
		return RULE_SILENT;
	if (needs_more_steps(input, finding))
		return RULE_INCONCLUSIVE;
	uint64_t left_s = growing_room(input, &room) ? growing_left_s(room, trend->slope) : FORECAST_NEVER;
	if (left_s == FORECAST_NEVER)
		return fire_growth(input, trend, left_s, finding);
	if (left_s >= sat_mul(judged_level(input, T_NATIVE_GROWTH_DAYS), DAY_S) || growing_may_end(trend, left_s))
		return RULE_SILENT;
	if (!growing_reaches(input, T_NATIVE_GROWTH_REACH, trend->span_ms, left_s, finding))
		return RULE_INCONCLUSIVE;
	return fire_growth(input, trend, left_s, finding);
}

static void tell_steps(const struct rule_input *input, enum history_event kind, struct finding *finding)
{
	const struct steps *steps = &input->history->steps[kind];
	const char *name = event_name(kind);
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	bool limited = input->ledger->freeboard_bytes.known;
	(void)units_format(a, steps->height_bytes);
	if (limited)
		finding_title(finding, "each %s leaves %s behind: %llu more until the limit", name, a,
			      (unsigned long long)steps->left);
	else
		finding_title(finding, "each %s leaves %s of native memory behind", name, a);
	finding_observation(
		finding,
		"After each of the last %zu %ss native memory stood about %s higher than before it, and stayed there.",
		steps->n, name, a);
	if (limited)
		finding_observation(finding, "The room of %s below the limit holds %llu more.",
				    units_format_signed(b, input->ledger->freeboard_bytes.bytes),
				    (unsigned long long)steps->left);
	if (qty_known(input->ledger->native_pool_bytes)) {
		finding_observation(finding, "Native memory is %s now.",
				    units_format(b, input->ledger->native_pool_bytes.bytes));
		finding_bytes(finding, "native_pool_bytes", input->ledger->native_pool_bytes.bytes);
	}
	finding_bytes(finding, "step_bytes", steps->height_bytes);
	finding_bytes(finding, "steps", steps->n);
	finding_bytes(finding, "steps_left", steps->left);
	finding_figure(finding, "share_of_growth_bp", input->history->steps_share_bp[kind]);
}

enum rule_answer rule_step_growth(const struct rule_input *input, struct finding *finding)
{
	if (!input->history || !input->snapshot->is_jvm)
		return RULE_SILENT;
	int kind = explaining_steps(input);
	if (kind < 0)
		return needs_more_steps(input, finding) ? RULE_INCONCLUSIVE : RULE_SILENT;
	const struct steps *steps = &input->history->steps[kind];
	bool near = input->ledger->freeboard_bytes.known && steps->left < judged_level(input, T_STEP_GROWTH_LEFT);
	finding->severity = near ? SEVERITY_WARNING : SEVERITY_NOTICE;
	finding->owner = OWNER_NATIVE_OTHER;
	finding->excess_bytes = sat_mul(steps->height_bytes, steps->n);
	tell_steps(input, (enum history_event)kind, finding);
	finding_cause(
		finding,
		"a block cache that is kept alive: options of a column family that are never closed (FLINK-39753, KAFKA-20616); the step is then about one cache of a slot or store");
	finding_cause(
		finding,
		"a Statistics object or native buffers of a connector, one each start: the step is some MiB and does not depend on the cache");
	finding_cause(
		finding,
		"more state after each start (a rescale, a larger savepoint): then RocksDB's own lines, not native-other, hold the step");
	sight_native(input, finding);
	finding_validate(finding, "steady: native memory stands within 5 %% from one day to the next without a %s",
			 event_name((enum history_event)kind));
	finding_validate(finding, "failure: after three more %ss it stands where it stood after the first",
			 event_name((enum history_event)kind));
	return RULE_FIRED;
}
