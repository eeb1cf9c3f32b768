/* SPDX-License-Identifier: Apache-2.0 */
/* Every rule asked, the silenced ones put aside, the rest ranked. */
#include <stddef.h>
#include <string.h>

#include "base/str.h"
#include "rules/rank.h"
#include "rules/rules.h"

const char *const severity_names[SEVERITY_COUNT] = { "none", "info", "notice", "warning", "critical" };

bool severity_find(struct str name, enum severity *ret_severity)
{
	for (unsigned i = SEVERITY_INFO; i < SEVERITY_COUNT; i++) {
		if (!str_eq(name, str_of(severity_names[i])))
			continue;
		*ret_severity = (enum severity)i;
		return true;
	}
	return false;
}

const struct finding *rules_finding(const struct verdict *verdict, const char *rule)
{
	for (size_t i = 0; i < verdict->n_findings; i++)
		if (strcmp(verdict->findings[i].rule, rule) == 0)
			return &verdict->findings[i];
	return NULL;
}

const struct finding *rules_first_change(const struct verdict *verdict)
{
	for (size_t i = 0; verdict->worst >= SEVERITY_WARNING && i < verdict->n_findings; i++)
		if (verdict->findings[i].when == CHANGE_NOW && verdict->findings[i].change[0])
			return &verdict->findings[i];
	return NULL;
}

static void put_aside(struct verdict *verdict, const struct finding *finding, const struct rule_silence *silence)
{
	struct silenced *silenced = &verdict->silenced[verdict->n_silenced++];
	silenced->rule = finding->rule;
	silenced->severity = finding->severity;
	str_copy(silenced->title, sizeof silenced->title, str_of(finding->title));
	silenced->reason = silence->reason;
	silenced->until = silence->until;
}

static void leave_open(struct verdict *verdict, const struct finding *finding)
{
	struct inconclusive *open = &verdict->inconclusive[verdict->n_inconclusive++];
	open->rule = finding->rule;
	open->n_missing = finding->n_missing;
	memcpy(open->missing, finding->missing, sizeof open->missing);
}

static enum rule_answer ask(const struct rule_input *input, const struct rule *rule, struct finding *finding)
{
	/* Not all of its 12 KiB: lists are as long as their counts say, and texts begin empty. */
	memset(finding, 0, offsetof(struct finding, observation) + 1);
	finding->change[0] = 0;
	finding->n_causes = finding->n_settings = finding->n_turns = 0;
	finding->n_validate = finding->n_evidence = finding->n_missing = 0;
	finding->excess_bytes = 0;
	finding->root = NULL;
	finding->when = CHANGE_NOW;
	finding->rule = rule->name;
	finding->owner = -1;
	return rule->eval(input, finding);
}

/* What is open as `open` and would no longer be raised so: asked again by the levels that clear, but never graver than it is. */
static enum rule_answer hold(const struct rule_input *input, const struct rule *rule, enum severity open,
			     struct finding *finding)
{
	struct thresholds holding = thresholds_holding(input->thresholds);
	struct rule_input held = *input;
	held.thresholds = &holding;
	enum rule_answer answer = ask(&held, rule, finding);
	if (answer == RULE_FIRED && finding->severity > open)
		finding->severity = open;
	return answer;
}

void rules_run(const struct rule_input *input, struct verdict *ret_verdict)
{
	ret_verdict->n_findings = ret_verdict->n_inconclusive = ret_verdict->n_silenced = 0;
	for (size_t i = 0; i < rule_count; i++) {
		if (rule_table[i].needs_history && !input->history)
			continue;
		/* Written in place: a finding is 11 KiB. */
		struct finding *finding = &ret_verdict->findings[ret_verdict->n_findings];
		enum severity open = input->open ? input->open[i] : SEVERITY_NONE;
		enum rule_answer answer = ask(input, &rule_table[i], finding);
		if (open && answer != RULE_INCONCLUSIVE && (answer == RULE_SILENT || finding->severity < open))
			answer = hold(input, &rule_table[i], open, finding);
		const struct rule_silence *silence =
			silence_find(input->silences, finding->rule, input->snapshot->taken);
		if (answer == RULE_INCONCLUSIVE)
			leave_open(ret_verdict, finding);
		else if (answer == RULE_FIRED && silence && !silence->quiet)
			put_aside(ret_verdict, finding, silence);
		else if (answer == RULE_FIRED)
			ret_verdict->n_findings++;
	}
	rank_run(input, ret_verdict);
}
