/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/standing.h"

#include <string.h>

#define SECONDS(n) ((uint64_t)(n)*1000000000)

/* Two scrapes of an alerting rule of 30 s, so that what flutters is not told twice. */
const struct mono standing_clear_dwell = { SECONDS(60) };

struct mono standing_dwell(enum severity severity)
{
	/* A checkpoint's peak lasts seconds; a warning that outlasts three ticks of 5 s is none. */
	return (struct mono){ severity >= SEVERITY_CRITICAL  ? 0
			      : severity == SEVERITY_WARNING ? SECONDS(15)
							     : SECONDS(60) };
}

void standing_open(const struct standings *standings, enum severity ret_open[FINDINGS_MAX])
{
	for (size_t i = 0; i < FINDINGS_MAX; i++)
		ret_open[i] = standings->of[i].open;
}

/* FNV-1a. */
static uint64_t hash(uint64_t seed, const char *text)
{
	for (; *text; text++)
		seed = (seed ^ (unsigned char)*text) * 0x100000001b3;
	return seed;
}

static uint64_t words_of(const struct finding *finding)
{
	return finding ? hash(hash(0xcbf29ce484222325, finding->title), finding->change) : 0;
}

/* Not answered, or answered to nobody: neither says that the trouble is over. */
static bool says_nothing(const struct verdict *verdict, const char *rule)
{
	for (size_t i = 0; i < verdict->n_silenced; i++)
		if (strcmp(verdict->silenced[i].rule, rule) == 0)
			return true;
	for (size_t i = 0; i < verdict->n_inconclusive; i++)
		if (strcmp(verdict->inconclusive[i].rule, rule) == 0)
			return true;
	return false;
}

/* A slow rule is believed when it has fired as long as it asks for, and is quiet as long before it clears. */
static bool has_lasted(const struct standing *s, const struct rule *rule, struct mono now)
{
	bool hastes = rule->critical_dwell_s && s->wanted >= SEVERITY_CRITICAL;
	uint64_t needed = hastes                ? SECONDS(rule->critical_dwell_s)
			  : rule->dwell_s       ? SECONDS(rule->dwell_s)
			  : s->wanted > s->open ? standing_dwell(s->wanted).ns
						: standing_clear_dwell.ns;
	return now.ns >= s->since.ns && now.ns - s->since.ns >= needed;
}

static enum standing_edge step(struct standing *s, const struct rule *rule, const struct finding *finding,
			       struct mono now)
{
	enum severity wanted = finding ? finding->severity : SEVERITY_NONE;
	if (wanted != s->wanted) {
		/* On the way up a higher wish goes on counting from the lower one: what grows worse is not made to wait anew. */
		if (!(wanted > s->wanted && s->wanted > s->open))
			s->since = now;
		s->wanted = wanted;
	}
	if (wanted == s->open || !has_lasted(s, rule, now)) {
		if (!s->open || !finding || words_of(finding) == s->words)
			return EDGE_NONE;
		s->words = words_of(finding);
		return EDGE_UPDATED;
	}
	enum severity before = s->open;
	s->open = wanted;
	s->words = words_of(finding);
	if (wanted == SEVERITY_NONE)
		return EDGE_CLEARED;
	if (before != SEVERITY_NONE)
		return EDGE_UPDATED;
	s->opened = now;
	s->openings++;
	return EDGE_OPENED;
}

void standing_step(struct standings *standings, const struct verdict *verdict, struct mono now,
		   enum standing_edge ret_edges[FINDINGS_MAX])
{
	for (size_t i = 0; i < rule_count; i++) {
		const char *rule = rule_table[i].name;
		ret_edges[i] = says_nothing(verdict, rule)
				       ? EDGE_NONE
				       : step(&standings->of[i], &rule_table[i], rules_finding(verdict, rule), now);
	}
}
