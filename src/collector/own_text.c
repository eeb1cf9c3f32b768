/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "base/sat.h"
#include "base/units.h"
#include "collector/own_parts.h"
#include "rules/collector_rules.h"

#define MIB ((uint64_t)1 << 20)

enum { DAY_S = 86400 };

/* Reasons stand on the page, docs/rules/store-filling.md. */
static const struct level {
	enum severity severity;
	uint64_t raise_pct, clear_pct, raise_bytes, clear_bytes;
} levels[] = {
	{ SEVERITY_CRITICAL, 3, 5, 64 * MIB, 96 * MIB },
	{ SEVERITY_WARNING, 10, 15, 256 * MIB, 384 * MIB },
};
enum { FULL_IN_S = DAY_S, FULL_IN_CLEAR_S = 36 * 3600 };

/* --- pace -------------------------------------------------------------------------------------------------------- */

void pace_push(struct pace *pace, struct mono now, uint64_t used_bytes, uint64_t shed_total)
{
	if (pace->n && mono_ms_until(pace->points[pace->n - 1].at, now) < PACE_EVERY_MS)
		return;
	if (pace->n == PACE_POINTS)
		memmove(pace->points, pace->points + 1, --pace->n * sizeof pace->points[0]);
	pace->points[pace->n++] = (struct pace_point){ now, used_bytes, shed_total };
}

uint64_t pace_per_day(const struct pace *pace)
{
	if (pace->n < 2)
		return 0;
	const struct pace_point *first = &pace->points[0], *last = &pace->points[pace->n - 1];
	uint64_t ms = mono_ms_until(first->at, last->at);
	if (ms < PACE_LEAST_MS || last->used_bytes <= first->used_bytes)
		return 0;
	return sat_mul(last->used_bytes - first->used_bytes, DAY_S) / (ms / 1000);
}

uint64_t pace_shed(const struct pace *pace)
{
	return pace->n ? pace->points[pace->n - 1].shed - pace->points[0].shed : 0;
}

/* --- store-filling ------------------------------------------------------------------------------------------------ */

static enum severity by_room(uint64_t used, uint64_t room, enum severity open)
{
	for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
		bool is_open = open >= levels[i].severity;
		uint64_t pct = is_open ? levels[i].clear_pct : levels[i].raise_pct;
		uint64_t bytes = is_open ? levels[i].clear_bytes : levels[i].raise_bytes;
		if (room < bytes || sat_mul(room, 100) < sat_mul(sat_add(used, room), pct))
			return levels[i].severity;
	}
	return SEVERITY_NONE;
}

void filling_judge(const struct store_counts *counts, const struct pace *pace, enum severity open,
		   struct filling *ret_filling)
{
	char text[UNITS_TEXT_CAP], cap[UNITS_TEXT_CAP];
	uint64_t used = counts->file_bytes + counts->wal_bytes, room = counts->disk_free_bytes;
	uint64_t per_day = pace_per_day(pace);
	/* A cap is kept by giving up what is oldest: then the disk is not what ends it. */
	bool capped = counts->disk_cap_bytes && counts->disk_cap_bytes < sat_add(used, room);
	uint64_t full_in_s = per_day && !capped ? sat_mul(room, DAY_S) / per_day : UINT64_MAX;
	struct filling filling = { .severity = by_room(used, room, open) };
	if (filling.severity != SEVERITY_NONE) {
		(void)snprintf(filling.title, sizeof filling.title, "%s are left on the disk of the store",
			       units_format(text, room));
	} else if (full_in_s < (open ? FULL_IN_CLEAR_S : FULL_IN_S)) {
		filling.severity = SEVERITY_WARNING;
		(void)snprintf(filling.title, sizeof filling.title,
			       "at the pace of the last hour the store's disk is full in %" PRIu64 " h",
			       full_in_s / 3600);
	} else if (pace_shed(pace) > 0) {
		filling.severity = SEVERITY_WARNING;
		(void)snprintf(filling.title, sizeof filling.title,
			       "the cap of %s does not hold what retention asks for: the oldest goes early",
			       units_format(cap, counts->disk_cap_bytes));
	}
	*ret_filling = filling;
}

/* --- words ------------------------------------------------------------------------------------------------------- */

void own_figure(struct finding *whole, const char *name, int64_t value)
{
	whole->evidence[whole->n_evidence++] = (struct evidence_figure){ name, value };
}

static void silent_words(const struct fleet_pod *pod, struct wall now, struct finding *whole)
{
	uint64_t silent_ms = now.ms > pod->heard.ms ? (uint64_t)(now.ms - pod->heard.ms) : 0;
	OWN_SAY(whole->observation,
		"The collector has heard nothing of this agent for %" PRIu64
		" s; its samples came every %u ms. It did not say goodbye. Nobody watches the pod for the collector now.",
		silent_ms / 1000, pod->latest.interval_ms);
	OWN_SAY(whole->competing_causes[0],
		"The pod or its node is gone: then it is listed no more, or the node is NotReady.");
	OWN_SAY(whole->competing_causes[1],
		"The agent's container ended: then the pod runs, and its sidecar shows restarts or none running.");
	OWN_SAY(whole->competing_causes[2],
		"The network between them: then others of the same node or zone are silent too, and /readyz of the agent says so.");
	whole->n_causes = 3;
	OWN_SAY(whole->change, "Look at the pod first. Where it was removed on purpose, nothing is to be done.");
	OWN_SAY(whole->validate[0],
		"Its next message clears this; a gap in its samples says what was lost, if anything.");
	whole->n_validate = 1;
	own_figure(whole, "silent_ms", (int64_t)silent_ms);
	if (pod->latest.interval_ms)
		own_figure(whole, "interval_ms", pod->latest.interval_ms);
	own_figure(whole, "connected", pod->sessions > 0);
	if (pod->latest.freeboard_bytes.known)
		own_figure(whole, "freeboard_bytes", pod->latest.freeboard_bytes.bytes);
}

static void access_words(const struct fleet_pod *pod, struct finding *whole)
{
	OWN_SAY(whole->observation,
		"This agent could read '%s' of its target and reads '%s' now. What it cannot read is unread from here on; rules "
		"that need it are inconclusive.",
		access_level_names[pod->best_access], access_level_names[pod->latest.access]);
	OWN_SAY(whole->competing_causes[0],
		"The target runs with another uid, gid or more capabilities than before: access-degraded of the same pod names it.");
	OWN_SAY(whole->competing_causes[1],
		"The node or its runtime changed: then other pods of this node lost it too.");
	whole->n_causes = 2;
	OWN_SAY(whole->change, "Do what access-degraded of the same pod says: it names the input that costs most.");
	OWN_SAY(whole->validate[0],
		"The access level of the next sample is what it was, also after a restart of the main container.");
	whole->n_validate = 1;
	own_figure(whole, "access_before", pod->best_access);
	own_figure(whole, "access_now", pod->latest.access);
}

static void store_words(const struct wire_finding *finding, const struct pace *pace, struct finding *whole)
{
	uint64_t per_day = pace_per_day(pace);
	char text[UNITS_TEXT_CAP];
	OWN_SAY(whole->observation,
		"%s. The database grows by %s a day, at the pace of the last hour. When there is no room nothing can be committed: "
		"agents keep what they have seen and send it later.",
		finding->title, per_day ? units_format(text, per_day) : "nothing that was measured");
	OWN_SAY(whole->competing_causes[0],
		"It has not reached its retention yet: then it is younger than 48 h, and the pace falls.");
	OWN_SAY(whole->competing_causes[1], "More agents or shorter intervals: then the rate of samples rose.");
	OWN_SAY(whole->competing_causes[2],
		"Somebody else fills the disk: then it fills faster than the database grows.");
	whole->n_causes = 3;
	OWN_SAY(whole->change, "One of these: a larger volume, or a shorter retention of raw samples.");
	OWN_SAY(whole->validate[0], "The room stays level over a day, and /readyz answers 200 throughout.");
	whole->n_validate = 1;
	if (pace->n)
		own_figure(whole, "used_bytes", (int64_t)pace->points[pace->n - 1].used_bytes);
	own_figure(whole, "growth_bytes_per_day", per_day > INT64_MAX ? INT64_MAX : (int64_t)per_day);
	own_figure(whole, "shed", (int64_t)pace_shed(pace));
}

void own_whole(const struct wire_finding *finding, const struct fleet_pod *pod, const struct own_sight *sight,
	       struct finding *whole)
{
	memset(whole, 0, sizeof *whole);
	whole->owner = -1;
	whole->severity = finding->severity;
	str_copy(whole->title, sizeof whole->title, str_of(finding->title));
	const struct collector_rule *rule = collector_rule_find(str_of(finding->rule));
	whole->rule = rule ? rule->name : "";
	if (rule == &collector_rule_table[COLLECTOR_RULE_DELIVERY])
		delivery_words(finding, sight->delivery, whole);
	else if (!pod)
		store_words(finding, sight->pace, whole);
	else if (rule == &collector_rule_table[COLLECTOR_RULE_SILENT])
		silent_words(pod, sight->now, whole);
	else
		access_words(pod, whole);
}
