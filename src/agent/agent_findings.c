/* SPDX-License-Identifier: Apache-2.0 */
/* The rules at each tick, and what becomes of their edges. */
#include <stdio.h>

#include <stdlib.h>

#include "agent/agent_parts.h"
#include "agent/deep.h"
#include "base/esc.h"

/* What carries the deeper reading: it is open whenever the target is near its limit. */
static const char deep_rule[] = "freeboard-low";

/* One episode of one rule at one life of the target: the same in its open edge, its updates and its clear. */
static void name_episode(const struct agent *a, size_t rule, char dest[WIRE_ID_CAP])
{
	(void)snprintf(dest, WIRE_ID_CAP, "%s.%d.%llu.%lld", rule_table[rule].name, a->watch.target.id.pid,
		       (unsigned long long)a->watch.target.id.start_ticks, (long long)a->said[rule].opened.ms);
}

/* Somebody silenced it at the collector, which is told all the same and shows it so. */
static bool is_quiet(const struct agent *a, size_t rule, struct wall wall)
{
	const struct rule_silence *silence = silence_find(&a->rules.silences, rule_table[rule].name, wall);
	return silence && silence->quiet;
}

static void say(const struct agent *a, size_t rule, enum standing_edge edge, const struct wire_finding *finding)
{
	/* One that is cleared and still stands open ends with its JVM: nothing is well again. */
	bool died = edge == EDGE_CLEARED && a->standings.of[rule].open;
	enum log_level level = edge != EDGE_CLEARED && finding->severity >= SEVERITY_WARNING ? SAY_WARNING : SAY_INFO;
	if (edge == EDGE_UPDATED || is_quiet(a, rule, finding->head.wall))
		level = SAY_DEBUG;
	logger_say(a->log, level, edge == EDGE_CLEARED ? "finding-cleared" : "finding-open", "%s, %s: %s%s",
		   rule_table[rule].name, severity_names[finding->severity], finding->title,
		   died ? "; no longer, for its JVM has ended" : "");
}

static void send(struct agent *a, size_t rule, enum standing_edge edge, enum severity severity, struct mono now,
		 struct wall wall)
{
	static const enum wire_edge edges[EDGE_COUNT] = {
		[EDGE_OPENED] = WIRE_OPENED, [EDGE_UPDATED] = WIRE_UPDATED, [EDGE_CLEARED] = WIRE_CLEARED
	};
	const struct finding *whole = rules_finding(a->verdict, rule_table[rule].name);
	struct wire_finding finding = { .edge = edges[edge], .severity = severity, .owner = -1, .whole = whole };
	finding.head.mono_ms = agent_ms_since(a->began, now);
	finding.head.wall = wall;
	finding.opened = a->said[rule].opened;
	name_episode(a, rule, finding.id);
	str_copy(finding.rule, sizeof finding.rule, str_of(rule_table[rule].name));
	if (whole) {
		a->said[rule].owner = whole->owner;
		str_copy(a->said[rule].title, sizeof a->said[rule].title, str_of(whole->title));
	}
	/* One that clears is no longer spoken of: its last words stand. */
	finding.owner = a->said[rule].owner;
	str_copy(finding.title, sizeof finding.title, str_of(a->said[rule].title));
	if (edge != EDGE_CLEARED && whole && strcmp(finding.rule, deep_rule) == 0) {
		finding.deep = buf_str(&a->deep);
		a->deep_due = false;
	}
	say(a, rule, edge, &finding);
	outbox_finding(a->outbox, &finding);
}

void agent_judge(struct agent *a, struct mono now, struct wall wall)
{
	enum severity open[FINDINGS_MAX];
	enum standing_edge edges[FINDINGS_MAX];
	standing_open(&a->standings, open);
	struct rule_input input = { a->snapshot, a->ledger, &a->rules.thresholds, &a->rules.silences,
				    open,        a->view,   &a->life.killed };
	rules_run(&input, a->verdict);
	standing_step(&a->standings, a->verdict, now, edges);
	for (size_t i = 0; i < rule_count; i++) {
		if (edges[i] == EDGE_NONE && a->deep_due && a->standings.of[i].open &&
		    strcmp(rule_table[i].name, deep_rule) == 0)
			edges[i] = EDGE_UPDATED; /* it has more to say */
		if (edges[i] == EDGE_NONE)
			continue;
		if (edges[i] == EDGE_OPENED)
			a->said[i].opened = wall;
		enum severity severity = a->standings.of[i].open;
		send(a, i, edges[i], edges[i] == EDGE_CLEARED ? open[i] : severity, now, wall);
	}
}

/* Near the limit, once an episode: what cannot be asked any more after the death. */
void agent_look_deeper(struct agent *a)
{
	struct err err = { 0 };
	auto_free struct deep_names *names = malloc(sizeof *names);
	a->deep.cap = DEEP_TEXT_CAP;
	bool read = names && deep_threads(a->watch.target.pid_fd, names, &err) == 0;
	a->deep_due = deep_write(a->snapshot, read ? names : NULL, &a->deep, &err) == 0;
	if (!read || !a->deep_due)
		logger_say(a->log, SAY_WARNING, "deeper-reading", "not whole: %s",
			   err.kind != ERR_NONE ? err.message : "no memory");
}

/* Its target is gone, and with it what the findings were about. */
void agent_clear_findings(struct agent *a, struct mono now, struct wall wall)
{
	for (size_t i = 0; i < rule_count; i++)
		if (a->standings.of[i].open)
			send(a, i, EDGE_CLEARED, a->standings.of[i].open, now, wall);
	memset(&a->standings, 0, sizeof a->standings);
	memset(a->said, 0, sizeof a->said);
	a->verdict->n_findings = a->verdict->n_silenced = a->verdict->n_inconclusive = 0;
}

size_t agent_open_findings(const struct agent *a, struct postmortem_finding *ret, size_t room)
{
	size_t n = 0;
	for (size_t i = 0; i < rule_count && n < room; i++) {
		if (!a->standings.of[i].open)
			continue;
		struct postmortem_finding *out = &ret[n++];
		*out = (struct postmortem_finding){ .severity = a->standings.of[i].open,
						    .owner = a->said[i].owner,
						    .opened = a->said[i].opened };
		str_copy(out->rule, sizeof out->rule, str_of(rule_table[i].name));
		str_copy(out->title, sizeof out->title, str_of(a->said[i].title));
	}
	return n;
}
