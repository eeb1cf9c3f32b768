/* SPDX-License-Identifier: Apache-2.0 */
/* Classes and threads that are made and never unmade: metaspace-growth, thread-growth. */
#include <stdio.h>

#include "rules/all.h"
#include "rules/grow.h"
#include "rules/growing.h"
#include "rules/text.h"

enum { DAY_S = 86400, DEFAULT_STACK_BYTES = 1 << 20 };

/* What metaspace can still take: its own maximum, or, where that is further, the container's room. */
static bool metaspace_room(const struct rule_input *input, uint64_t *ret_room, bool *ret_own)
{
	const struct qty *most = &input->snapshot->flags.max_metaspace_bytes;
	uint64_t room = 0, now = input->history->metaspace.last_bytes;
	bool known = growing_room(input, &room);
	*ret_own = false;
	if (qty_known(*most)) {
		uint64_t own = most->bytes > now ? most->bytes - now : 0;
		*ret_own = !known || own < room;
		room = *ret_own ? own : room;
		known = true;
	}
	*ret_room = room;
	return known;
}

static void tell_metaspace(const struct rule_input *input, uint64_t left_s, bool own, struct finding *finding)
{
	const struct history_view *history = input->history;
	const struct trend *trend = &history->metaspace;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], span[GROWING_TEXT_CAP], left[GROWING_TEXT_CAP],
		pace[GROWING_TEXT_CAP];
	uint64_t grown = growing_grown(trend), restarts = history->events[EVENT_RESTART];
	finding_title(finding, "metaspace grows steadily, by %s", growing_pace(pace, trend->slope));
	(void)growing_time(span, trend->span_ms / 1000);
	finding_observation(finding, "Class metadata has grown by %s in %s, to %s, and is not unloaded.",
			    units_format(a, grown), span, units_format(b, trend->last_bytes));
	if (left_s != FORECAST_NEVER)
		finding_observation(finding, "At this pace it reaches %s in %s.",
				    own ? "MaxMetaspaceSize" : "the limit", growing_time(left, left_s));
	if (restarts > 0)
		finding_observation(finding, "The job started %llu times meanwhile: about %s each time.",
				    (unsigned long long)restarts, units_format(a, grown / restarts));
	if (history->classes.kind != TREND_TOO_FEW)
		finding_observation(finding, "Loaded classes: %llu, %llu at the start of the window.",
				    (unsigned long long)history->classes.last_bytes,
				    (unsigned long long)history->classes.first_bytes);
	finding_bytes(finding, "metaspace_bytes", trend->last_bytes);
	finding_bytes(finding, "grown_bytes", grown);
	finding_bytes(finding, "bytes_per_day", growing_over(trend->slope, DAY_S));
	finding_bytes(finding, "window_s", trend->span_ms / 1000);
	finding_bytes(finding, "reached_in_s", left_s);
	finding_bytes(finding, "restarts", restarts);
}

static void change_loader(const struct rule_input *input, struct finding *finding)
{
	finding_turn(finding, KNOB_APPLICATION, TURN_SET);
	if (grow_role(input->snapshot))
		finding_change(
			finding,
			"move the libraries of the job's jar that register drivers or start threads (JDBC drivers, cloud clients, loggers) to /opt/flink/lib, one copy for all jobs: what keeps a job's class loader alive then belongs to none");
	else
		finding_change(
			finding,
			"run jcmd <pid> VM.classloader_stats twice, an hour apart, and close or reuse the loader whose number of classes has grown");
}

enum rule_answer rule_metaspace_growth(const struct rule_input *input, struct finding *finding)
{
	uint64_t room, left_s = FORECAST_NEVER;
	bool own = false;
	if (!input->history || !input->snapshot->is_jvm)
		return RULE_SILENT;
	if (growing_waits(input, T_METASPACE_GROWTH_WINDOW, OWNER_METASPACE, finding))
		return RULE_INCONCLUSIVE;
	const struct trend *trend = &input->history->metaspace;
	if (trend->kind == TREND_TOO_FEW) {
		finding_missing(finding,
				"metaspace in use over time: hsperfdata, NMT, metrics of the JVM, or scans of smaps");
		return RULE_INCONCLUSIVE;
	}
	/* Where the classes are known and do not grow, it is the allocator's chunks, and they are reused. */
	if (trend->kind != TREND_GROWING || !trend_is_steady(trend) ||
	    growing_grown(trend) <= judged_level(input, T_METASPACE_GROWTH_GROWN) ||
	    input->history->classes.kind == TREND_FLAT || input->history->classes.kind == TREND_SHRINKING)
		return RULE_SILENT;
	if (metaspace_room(input, &room, &own))
		left_s = growing_left_s(room, trend->slope);
	if (left_s != FORECAST_NEVER && left_s >= sat_mul(judged_level(input, T_METASPACE_GROWTH_DAYS), DAY_S))
		return RULE_SILENT;
	if (left_s != FORECAST_NEVER &&
	    !growing_reaches(input, T_METASPACE_GROWTH_REACH, trend->span_ms, left_s, finding))
		return RULE_INCONCLUSIVE;
	finding->severity = left_s == FORECAST_NEVER ? SEVERITY_NOTICE : SEVERITY_WARNING;
	finding->owner = OWNER_METASPACE;
	finding->excess_bytes = growing_grown(trend);
	tell_metaspace(input, left_s, own, finding);
	finding_cause(
		finding,
		"a class loader a job that something keeps alive (a thread, a JDBC driver, a thread-local): metaspace steps up with each start of a job");
	finding_cause(
		finding,
		"classes generated without end (scripts, proxies, serializers made anew): it grows with records, not with starts");
	finding_cause(finding, "jobs that differ, each seen for the first time: it stands still once all have run");
	finding_setting(finding, input->snapshot, "-XX:MaxMetaspaceSize");
	change_loader(input, finding);
	finding_validate(finding, "steady: loaded classes stand within 1 %% from one day to the next");
	finding_validate(
		finding,
		"failure: after three restarts of the job and a full collection, metaspace is where it was after the first");
	return RULE_FIRED;
}

enum rule_answer rule_thread_growth(const struct rule_input *input, struct finding *finding)
{
	if (!input->history)
		return RULE_SILENT;
	if (growing_waits(input, T_THREAD_GROWTH_WINDOW, OWNER_THREAD_STACKS, finding))
		return RULE_INCONCLUSIVE;
	const struct trend *trend = &input->history->threads;
	if (trend->kind == TREND_TOO_FEW) {
		growing_missing(input, 0, finding);
		return RULE_INCONCLUSIVE;
	}
	uint64_t grown = growing_grown(trend), now = trend->last_bytes;
	if (trend->kind != TREND_GROWING || grown <= judged_level(input, T_THREAD_GROWTH_GROWN))
		return RULE_SILENT;
	uint64_t stack = qty_or(input->snapshot->flags.thread_stack_bytes, DEFAULT_STACK_BYTES);
	const struct ledger_line *stacks = &input->ledger->lines[OWNER_THREAD_STACKS];
	char a[UNITS_TEXT_CAP], span[GROWING_TEXT_CAP];
	bool grave = now > judged_level(input, T_THREAD_GROWTH_MANY) || growing_is_urgent(input, OWNER_THREAD_STACKS);
	finding->severity = grave ? SEVERITY_WARNING : SEVERITY_NOTICE;
	finding->owner = OWNER_THREAD_STACKS;
	unsigned long long pace = growing_over(trend->slope, 3600);
	finding_title(finding, "the number of threads grows steadily, by about %llu %s", pace < 10 ? pace * 24 : pace,
		      pace < 10 ? "a day" : "an hour");
	finding_observation(finding, "There are %llu threads, %llu more than %s ago, and the pace does not fall.",
			    (unsigned long long)now, (unsigned long long)grown,
			    growing_time(span, trend->span_ms / 1000));
	if (input->ledger->listed[OWNER_THREAD_STACKS] && qty_known(stacks->bytes)) {
		finding_observation(finding, "Their stacks hold %s.", units_format(a, stacks->bytes.bytes));
		finding_bytes(finding, "thread_stacks_bytes", stacks->bytes.bytes);
	}
	finding_observation(
		finding,
		"Each may take up to %s of stack, 16 KiB in the kernel, and an arena of malloc in part; pids are limited, too.",
		units_format(a, stack));
	finding_bytes(finding, "threads", now);
	finding_bytes(finding, "threads_more", grown);
	finding_bytes(finding, "window_s", trend->span_ms / 1000);
	finding_cause(
		finding,
		"a client or executor made for each task, record or restart and never closed: its threads carry its name");
	finding_cause(finding, "a pool without an upper bound under a load that rises: it follows the load down again");
	finding_cause(finding, "more tasks on this pod than before: then the number of slots in use has grown, too");
	finding_turn(finding, KNOB_APPLICATION, TURN_SET);
	finding_change(
		finding,
		"take jcmd <pid> Thread.print twice, an hour apart, and close, or share, what makes the threads whose name is more frequent in the second");
	finding_validate(finding, "steady: the number of threads stands within 5 %% over a day");
	finding_validate(finding, "failure: after three restarts of the job it is what it was after the first");
	return RULE_FIRED;
}
