/* SPDX-License-Identifier: Apache-2.0 */
/* limit-changed: the limit is another one than an hour ago. Heap, Flink's budgets and caches do not follow it by themselves. */
#include <stdio.h>

#include "rules/all.h"
#include "rules/grow.h"
#include "rules/growing.h"
#include "rules/room.h"
#include "rules/text.h"

static const char *limit_text(char dest[UNITS_TEXT_CAP], const struct limit *limit)
{
	return limit->kind == LIMIT_SET ? units_format(dest, limit->bytes) : "none";
}

/* The limit of now, written as each configuration wants it. */
static void change_size(const struct rule_input *input, bool lowered, struct finding *finding)
{
	const char *role = grow_role(input->snapshot);
	const struct limit *now = &input->ledger->limit;
	unsigned long long mib = now->bytes >> 20;
	finding_turn(finding, role ? KNOB_PROCESS_SIZE : KNOB_HEAP, TURN_SET);
	if (now->kind != LIMIT_SET)
		finding_change(
			finding,
			"restart the JVM with -Xmx written out, as large as it is now: without a limit, a heap that is a share of it would be sized from the host's memory");
	else if (role)
		finding_change(
			finding,
			"%s restart with %s.memory.process.size: %llum, so that heap and budgets are those of the new limit",
			lowered ? "if the limit stays as it is," : "if Flink is to use the room,", role, mib);
	else
		finding_change(
			finding,
			"%s restart the JVM: a heap that is a share of the limit is sized anew; where -Xmx is written out, plan it for %lluMi",
			lowered ? "if the limit stays as it is," : "if the heap is to use the room,", mib);
}

enum rule_answer rule_limit_changed(const struct rule_input *input, struct finding *finding)
{
	if (!input->history || !input->history->limit_changed_s_ago.known)
		return RULE_SILENT;
	uint64_t ago_s = input->history->limit_changed_s_ago.n;
	const struct limit *before = &input->history->limit_before, *now = &input->ledger->limit;
	if (ago_s >= sat_mul(judged_level(input, T_LIMIT_CHANGED_MINUTES), 60))
		return RULE_SILENT;
	bool lowered = now->kind == LIMIT_SET && (before->kind != LIMIT_SET || now->bytes < before->bytes);
	bool lacking = lowered && room_is_lacking(input);
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], room[UNITS_TEXT_CAP];
	finding->severity = lacking ? SEVERITY_WARNING : lowered ? SEVERITY_NOTICE : SEVERITY_INFO;
	(void)limit_text(b, before);
	finding_title(finding, "the limit was %s from %s to %s while the JVM ran", lowered ? "lowered" : "raised",
		      before->kind == LIMIT_SET ? b : "none", limit_text(a, now));
	finding_observation(
		finding,
		"The container's memory limit changed in place: a heap, Flink's budgets and block caches keep the sizes that they were started with.");
	if (input->ledger->freeboard_bytes.known)
		finding_observation(finding, "What cannot be reclaimed leaves %s below it now.",
				    units_format_signed(room, input->ledger->freeboard_bytes.bytes));
	finding_observation(finding, "Trends and forecasts begin anew with it.");
	finding_cause(finding, "an autoscaler (VPA, an operator) or somebody resized the pod in place");
	finding_cause(finding, "a node agent that writes memory.max itself: then the pod's manifest has another limit");
	if (before->kind == LIMIT_SET)
		finding_bytes(finding, "limit_before_bytes", before->bytes);
	if (now->kind == LIMIT_SET)
		finding_bytes(finding, "limit_bytes", now->bytes);
	finding_bytes(finding, "changed_s_ago",
		      ago_s / 60 * 60); /* by the minute: a finding is not news every second */
	finding_setting(finding, input->snapshot, "-Xmx");
	change_size(input, lowered, finding);
	finding_validate(finding,
			 "steady: freeboard stays above a tenth of the new limit over several checkpoint intervals");
	finding_validate(finding, "restore: the same while state is restored from the last savepoint");
	return RULE_FIRED;
}
