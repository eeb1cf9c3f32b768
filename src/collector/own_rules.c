/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The state of every rule is what is open in the fleet, which is filled from the store at start: nothing is kept here
 * that a restart would lose, but the pace at which the disk fills.
 */
#include "collector/own_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/auto.h"
#include "collector/fleet_read.h"
#include "collector/fleet_sum.h"
#include "collector/own_parts.h"
#include "collector/store_read.h"
#include "rules/collector_rules.h"
#include "rules/rules.h"
#include "rules/standing.h"
#include "wire/wire.h"

enum {
	SILENT_LEAST_MS = 60000,
	SILENT_INTERVALS = 3,
	/* Agents are back within 120 s of a restart; a jump of the clock makes all of them look silent. */
	HOLD_MS = 180000,
	JUMP_MS = 5000,
	/* What an agent that ended on purpose had found is not true any more; but one that restarts may say it again. */
	AFTER_BYE_MS = 60000,
	/* Several scans, and the first look at JVM and engine: a busy JVM is scanned less often. */
	SCANS_MS = 300000,
	FIRST_SCANS_MS = 60000, /* two of them, and what an agent waits for before the first */
	SWEEP_MS = 24 * 3600 * 1000,
	/* Before the fleet forgets the agent itself. */
	FORGOTTEN_MS = FLEET_FORGET_MS - 60000,
	CHANGES_MAX = 512, /* of one step: the rest is there at the next one */
};

struct change {
	int64_t agent;
	struct wire_finding finding;
};

struct own_rules {
	struct fleet *fleet;
	struct store *store;
	struct mono last, hold_until, sweep_due;
	int64_t sweep_below; /* where the present sweep goes on; 0: from the newest */
	struct wall last_wall;
	bool started;
	struct pace pace;
	struct delivery delivery;
	struct change *changes; /* CHANGES_MAX of them */
	size_t n_changes;
	struct finding whole; /* of the one that is being written */
	struct wire_message message;
	struct buf text;
};

int own_rules_new(struct fleet *fleet, struct store *store, struct own_rules **ret_rules, struct err *err)
{
	struct own_rules *rules = calloc(1, sizeof *rules);
	struct change *changes = calloc(CHANGES_MAX, sizeof *changes);
	if (!rules || !changes) {
		free(rules);
		free(changes);
		return err_set(err, ERR_NOMEM, "no memory for the collector's own rules");
	}
	rules->fleet = fleet;
	rules->store = store;
	rules->changes = changes;
	rules->text.cap = WIRE_FRAME_MAX;
	*ret_rules = rules;
	return 0;
}

void own_rules_free(struct own_rules *rules)
{
	if (!rules)
		return;
	buf_done(&rules->text);
	free(rules->changes);
	free(rules);
}

/* --- changes: gathered while the fleet is looked at, stored in one batch, shown after it --------------------------- */

static struct wire_finding *change(struct own_rules *rules, int64_t agent)
{
	if (rules->n_changes == CHANGES_MAX)
		return NULL;
	struct change *made = &rules->changes[rules->n_changes++];
	*made = (struct change){ .agent = agent, .finding.owner = -1 };
	return &made->finding;
}

/* What is open ends: with its last severity and title. */
static void clear(struct own_rules *rules, int64_t agent, const struct fleet_finding *open)
{
	struct wire_finding *finding = change(rules, agent);
	if (!finding)
		return;
	finding->edge = WIRE_CLEARED;
	finding->severity = open->severity;
	finding->owner = open->owner;
	finding->opened = open->opened;
	str_copy(finding->id, sizeof finding->id, str_of(open->id));
	str_copy(finding->rule, sizeof finding->rule, str_of(open->rule));
	str_copy(finding->title, sizeof finding->title, str_of(open->title));
}

static const struct fleet_finding *find_open(const struct fleet_findings *findings, const char *rule)
{
	for (size_t i = 0; i < findings->n; i++)
		if (strcmp(findings->items[i].rule, rule) == 0)
			return &findings->items[i];
	return NULL;
}

/* Opens `rule` about this agent, or updates what is open. The title is the caller's. */
static struct wire_finding *raise_rule(struct own_rules *rules, int64_t agent, const struct fleet_finding *open,
				       const char *rule, const char *mark, enum severity severity, struct wall now)
{
	struct wire_finding *finding = change(rules, agent);
	if (!finding)
		return NULL;
	finding->edge = open ? WIRE_UPDATED : WIRE_OPENED;
	finding->severity = severity;
	finding->opened = open ? open->opened : now;
	finding->head.wall = now;
	str_copy(finding->rule, sizeof finding->rule, str_of(rule));
	if (open)
		str_copy(finding->id, sizeof finding->id, str_of(open->id));
	else
		(void)snprintf(finding->id, sizeof finding->id, "%s.%s.%" PRId64, rule, mark, now.ms);
	return finding;
}

/* No room for one more in the fleet: it could not be seen to be open, and would be opened at every step. */
static bool is_crowded(const struct fleet_pod *pod)
{
	return pod->findings.n == FLEET_FINDINGS_MAX;
}

/* --- agent-silent -------------------------------------------------------------------------------------------------- */

static uint64_t silence_of(const struct fleet_pod *pod, struct wall now)
{
	return now.ms > pod->heard.ms ? (uint64_t)(now.ms - pod->heard.ms) : 0;
}

static bool is_silent(const struct fleet_pod *pod, struct wall now)
{
	uint64_t most = (uint64_t)SILENT_INTERVALS * pod->latest.interval_ms;
	/* A session's begin and end are no samples, but they are news of the agent. */
	return !fleet_is_over(pod) && silence_of(pod, now) > (most > SILENT_LEAST_MS ? most : SILENT_LEAST_MS);
}

static void judge_silent(struct own_rules *rules, const struct fleet_pod *pod, struct wall now)
{
	const char *rule = collector_rule_table[COLLECTOR_RULE_SILENT].name;
	const struct fleet_finding *open = find_open(&pod->findings, rule);
	if (open && !is_silent(pod, now))
		clear(rules, pod->agent, open);
	if (open || !is_silent(pod, now) || is_crowded(pod))
		return;
	struct wire_finding *finding = raise_rule(rules, pod->agent, NULL, rule, "c", SEVERITY_WARNING, now);
	if (finding)
		(void)snprintf(finding->title, sizeof finding->title, "nothing heard of it for %" PRIu64 " s, %s",
			       silence_of(pod, now) / 1000,
			       pod->sessions > 0 ? "and the connection is there" : "and it did not say goodbye");
}

/* --- agent-access-lost ----------------------------------------------------------------------------------------------- */

/* The id says what was lost, so that a restart of the collector does not forget it. */
static enum access_level access_of_id(const char *id)
{
	struct str rest = str_of(id), part;
	rest = str_skip(rest, str_index(rest, '.') + 1);
	if (!str_split(&rest, '.', &part))
		return ACCESS_NONE;
	for (unsigned i = 0; i < ACCESS_COUNT; i++)
		if (str_eq(part, str_of(access_level_names[i])))
			return (enum access_level)i;
	return ACCESS_NONE;
}

static void judge_access(struct own_rules *rules, const struct fleet_pod *pod, struct wall now)
{
	const char *rule = collector_rule_table[COLLECTOR_RULE_ACCESS].name;
	const struct fleet_finding *open = find_open(&pod->findings, rule);
	enum access_level best = pod->best_access, now_has = pod->latest.access;
	if (pod->latest.pid <= 0)
		return; /* no target, or not known: nothing is lost */
	if (open && access_of_id(open->id) > best)
		best = access_of_id(open->id);
	if (open && now_has >= best)
		clear(rules, pod->agent, open);
	/* A JVM that has just come is not read to the end before its first scan. */
	bool young = pod->alive_since.ms > 0 && now.ms - pod->alive_since.ms < FIRST_SCANS_MS;
	if (open || now_has >= best || young || is_crowded(pod))
		return;
	struct wire_finding *finding =
		raise_rule(rules, pod->agent, NULL, rule, access_level_names[best], SEVERITY_WARNING, now);
	if (finding)
		(void)snprintf(finding->title, sizeof finding->title, "it could read '%s' and reads '%s' now",
			       access_level_names[best], access_level_names[now_has]);
}

/* --- findings that nobody will clear ----------------------------------------------------------------------------------- */

static bool is_own(const char *rule)
{
	return collector_rule_find(str_of(rule)) != NULL;
}

/* Of two of one rule, which came to be first. */
static bool is_older(const struct fleet_finding *one, const struct fleet_finding *other, bool is_before)
{
	if (one->opened.ms != other->opened.ms)
		return one->opened.ms < other->opened.ms;
	return one->updated.ms != other->updated.ms ? one->updated.ms < other->updated.ms : is_before;
}

/* An agent's start knows nothing of what the one before it had found: of one rule, what this start says stands. */
static bool is_superseded(const struct fleet_pod *pod, size_t at)
{
	static const struct wire_epoch none;
	const struct fleet_finding *one = &pod->findings.items[at];
	/* Read back from the store: its next hello tells which start lives. */
	bool unknown = wire_epoch_same(pod->epoch, none);
	bool former = fleet_of_former(pod, one);
	for (size_t i = 0; i < pod->findings.n; i++) {
		const struct fleet_finding *other = &pod->findings.items[i];
		if (i == at || strcmp(other->rule, one->rule) != 0 ||
		    (unknown && !wire_epoch_same(one->epoch, other->epoch)))
			continue;
		bool other_former = fleet_of_former(pod, other);
		if (former != other_former ? former : is_older(one, other, at < i))
			return true;
	}
	return false;
}

/* How long this start of the agent has had to find again what the one before it had found. */
static int64_t patience_ms(const char *name)
{
	const struct rule *rule = rules_find(str_of(name));
	int64_t ms = rule ? (int64_t)rule->dwell_s * 1000 : 0, clear_ms = (int64_t)(standing_clear_dwell.ns / 1000000);
	return (ms > clear_ms ? ms : clear_ms) + SCANS_MS;
}

static bool is_unconfirmed(const struct fleet_pod *pod, const struct fleet_finding *finding, struct wall now)
{
	return fleet_of_former(pod, finding) && pod->sessions > 0 && pod->alive_since.ms &&
	       now.ms - pod->alive_since.ms > patience_ms(finding->rule);
}

static void end_unconfirmed(struct own_rules *rules, const struct fleet_pod *pod, const struct fleet_finding *open)
{
	size_t before = rules->n_changes;
	clear(rules, pod->agent, open);
	if (rules->n_changes > before)
		(void)snprintf(rules->changes[before].finding.title, sizeof rules->changes[before].finding.title,
			       "not found again since the agent was restarted; it was: %s", open->title);
}

static void end_stale(struct own_rules *rules, const struct fleet_pod *pod, bool judge, struct wall now)
{
	uint64_t silent = silence_of(pod, now);
	bool gone =
		judge && pod->sessions == 0 && (silent >= FORGOTTEN_MS || (pod->said_bye && silent >= AFTER_BYE_MS));
	for (size_t i = 0; i < pod->findings.n; i++) {
		const struct fleet_finding *open = &pod->findings.items[i];
		bool own = is_own(open->rule);
		if (gone || (!own && is_superseded(pod, i)))
			clear(rules, pod->agent, open);
		else if (judge && !own && is_unconfirmed(pod, open, now))
			end_unconfirmed(rules, pod, open);
	}
}

struct sweep {
	struct own_rules *rules;
	size_t n;
	int64_t last;
};

static bool sweep_one(void *context, const struct store_finding_row *row)
{
	struct sweep *sweep = context;
	struct fleet_finding open = { .id = row->id,
				      .rule = row->rule,
				      .title = row->title,
				      .severity = row->severity,
				      .owner = row->owner,
				      .opened = row->opened };
	sweep->last = row->row;
	sweep->n++;
	if (row->agent && !fleet_find(sweep->rules->fleet, row->agent))
		clear(sweep->rules, row->agent, &open);
	return true;
}

/* At the start and once a day: what is still open of agents that the fleet does not know. A page a step. */
static int sweep(struct own_rules *rules, struct mono now, struct err *err)
{
	struct sweep sweep = { .rules = rules };
	struct store_filter filter = { .open_only = true, .below_row = rules->sweep_below, .most = CHANGES_MAX / 2 };
	if (mono_ms_until(now, rules->sweep_due) > 0)
		return 0;
	int rc = store_each_finding(rules->store, &filter, sweep_one, &sweep, err);
	bool more = rc == 0 && sweep.n == filter.most;
	rules->sweep_below = more ? sweep.last : 0;
	if (rc == 0 && !more)
		rules->sweep_due = mono_add_ms(now, SWEEP_MS);
	return rc;
}

/* --- about the collector itself --- */

/* What is `open` of this rule, or NULL, becomes what was judged. */
static void judged(struct own_rules *rules, const char *rule, const struct fleet_finding *open, enum severity severity,
		   const char *title, struct wall wall)
{
	if (open && severity == SEVERITY_NONE)
		clear(rules, 0, open);
	if (severity == SEVERITY_NONE || (open && open->severity == severity))
		return;
	struct wire_finding *finding = raise_rule(rules, 0, open, rule, "c", severity, wall);
	if (finding)
		str_copy(finding->title, sizeof finding->title, str_of(title));
}

/* --- store-filling ----------------------------------------------------------------------------------------------------- */

static int judge_store(struct own_rules *rules, struct mono now, struct wall wall, struct err *err)
{
	const char *rule = collector_rule_table[COLLECTOR_RULE_STORE].name;
	const struct fleet_finding *open = find_open(fleet_own_findings(rules->fleet), rule);
	struct store_counts counts;
	struct filling filling;
	int rc = store_count(rules->store, &counts, err);
	if (rc < 0)
		return rc;
	pace_push(&rules->pace, now, counts.file_bytes + counts.wal_bytes,
		  counts.shed_samples_total + counts.shed_rollups_total + counts.shed_others_total);
	filling_judge(&counts, &rules->pace, open ? open->severity : SEVERITY_NONE, &filling);
	judged(rules, rule, open, filling.severity, filling.title, wall);
	return 0;
}

/* --- alert-delivery-failing ------------------------------------------------------------------------------------------ */

void own_rules_delivery(struct own_rules *rules, const struct alerts_trouble *troubles, size_t n, size_t n_receivers)
{
	rules->delivery.n = n;
	rules->delivery.n_receivers = n_receivers;
	for (size_t i = 0; i < n; i++)
		rules->delivery.troubles[i] = troubles[i];
}

static void judge_delivery(struct own_rules *rules, struct wall wall)
{
	const char *rule = collector_rule_table[COLLECTOR_RULE_DELIVERY].name;
	const struct fleet_finding *open = find_open(fleet_own_findings(rules->fleet), rule);
	struct delivery_verdict verdict;
	delivery_judge(&rules->delivery, &verdict);
	judged(rules, rule, open, verdict.severity, verdict.title, wall);
}

/* --- the step -------------------------------------------------------------------------------------------------------- */

static int store_change(struct own_rules *rules, const struct change *made, struct wall now, struct err *err)
{
	buf_clear(&rules->text);
	/* A clear keeps the text that opened it: the store takes an empty one so. */
	if (made->finding.edge != WIRE_CLEARED) {
		const struct own_sight sight = { &rules->pace, &rules->delivery, now };
		own_whole(&made->finding, fleet_find(rules->fleet, made->agent), &sight, &rules->whole);
		rules->message = (struct wire_message){ .type = WIRE_FINDING, .finding = made->finding };
		rules->message.finding.whole = &rules->whole;
		rules->message.finding.head.seq = 1; /* none is asked for, and a frame must have one */
		int rc = wire_encode(&rules->message, &rules->text, err);
		if (rc < 0)
			return rc;
	}
	return store_own_finding(rules->store, made->agent, &made->finding, buf_str(&rules->text), now, err);
}

static int commit(struct own_rules *rules, struct wall now, struct err *err)
{
	if (rules->n_changes == 0)
		return 0;
	int rc = store_begin(rules->store, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < rules->n_changes; i++)
		rc = store_change(rules, &rules->changes[i], now, err);
	if (rc == 0)
		rc = store_commit(rules->store, err);
	if (rc < 0) {
		store_rollback(rules->store);
		return rc;
	}
	for (size_t i = 0; rc == 0 && i < rules->n_changes; i++)
		rc = fleet_finding(rules->fleet, rules->changes[i].agent, &rules->changes[i].finding, now, err);
	return rc;
}

/* Whether the wall clock may be used to tell silence: not after a start or a jump. */
static bool may_judge_silence(struct own_rules *rules, struct mono now, struct wall wall)
{
	int64_t by_mono = (int64_t)((now.ns - rules->last.ns) / 1000000), by_wall = wall.ms - rules->last_wall.ms;
	if (!rules->started || by_wall - by_mono > JUMP_MS || by_mono - by_wall > JUMP_MS)
		rules->hold_until = mono_add_ms(now, HOLD_MS);
	rules->started = true;
	rules->last = now;
	rules->last_wall = wall;
	return mono_ms_until(now, rules->hold_until) == 0;
}

int own_rules_step(struct own_rules *rules, struct mono now, struct wall wall, struct err *err)
{
	const struct fleet_pod *const *pods;
	size_t n = fleet_pods(rules->fleet, &pods);
	bool judge = may_judge_silence(rules, now, wall);
	rules->n_changes = 0;
	int rc = judge_store(rules, now, wall, err);
	judge_delivery(rules, wall);
	int swept = judge ? sweep(rules, now, err) : 0;
	rc = rc < 0 ? rc : swept;
	for (size_t i = 0; i < n; i++) {
		end_stale(rules, pods[i], judge, wall);
		if (judge && silence_of(pods[i], wall) < FORGOTTEN_MS)
			judge_silent(rules, pods[i], wall);
		judge_access(rules, pods[i], wall);
	}
	int stored = commit(rules, wall, err);
	return stored < 0 ? stored : rc;
}
