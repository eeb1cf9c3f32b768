/* SPDX-License-Identifier: Apache-2.0 */
/* What agents say: samples, findings, post-mortems. */
#include "collector/fleet_parts.h"
#include "rules/collector_rules.h"
#include "wire/wire.h"

_Static_assert(OWNER_COUNT <= 32 && QTY_STATE_COUNT <= 4, "two bits an owner in one word");

struct qty fleet_owner(const struct fleet_composition *composition, enum owner owner)
{
	uint64_t bit = (uint64_t)1 << owner;
	if (!(composition->known & bit))
		return (struct qty){ 0 };
	int before = __builtin_popcountll(composition->known & (bit - 1));
	return qty_of(composition->bytes[before], (enum qty_state)(composition->states >> (2 * owner) & 3));
}

static void composition_clear(struct fleet_composition *composition)
{
	composition->known = 0;
	composition->residual_bytes = (struct signed_qty){ 0 };
}

/* Without memory for it there is no composition: an old one would be shown as new. */
static void composition_set(struct fleet_composition *composition, const struct wire_sample *sample,
			    struct wall received)
{
	uint64_t known = 0, states = 0;
	size_t n = 0;
	for (unsigned i = 0; i < OWNER_COUNT; i++)
		if (qty_known(sample->owners[i])) {
			known |= (uint64_t)1 << i;
			states |= (uint64_t)sample->owners[i].state << (2 * i);
		}
	size_t room = (size_t)__builtin_popcountll(known);
	if (known != composition->known && room > 0) {
		uint64_t *bytes = reallocarray(composition->bytes, room, sizeof *bytes);
		composition->bytes = bytes ? bytes : composition->bytes;
		known = bytes ? known : 0;
	}
	for (unsigned i = 0; i < OWNER_COUNT && known; i++)
		if (known >> i & 1)
			composition->bytes[n++] = sample->owners[i].bytes;
	composition->known = known;
	composition->states = states;
	composition->residual_bytes = sample->residual_bytes;
	composition->taken = (struct wall){ received.ms - sample->composition_age_ms };
}

/* Once, by the offset of the session that brought it: the next one may have another. */
static struct wall corrected(struct wall wall, int64_t offset_ms)
{
	int64_t ms;
	return wall.ms == 0 || __builtin_add_overflow(wall.ms, offset_ms, &ms) ? (struct wall){ 0 }
									       : (struct wall){ ms };
}

static void latest_set(struct fleet_latest *latest, const struct wire_sample *sample, struct wall received)
{
	*latest = (struct fleet_latest){
		.received = received,
		.interval_ms = sample->interval_ms,
		.urgent = sample->urgent,
		.pid = sample->pid,
		.start_ticks = sample->start_ticks,
		.access = sample->access,
		.limit = sample->limit,
		.limit_told = sample->limit_told,
		.charge_bytes = sample->charge_bytes,
		.floor_bytes = sample->floor_bytes,
		.swap_bytes = sample->swap_bytes,
		.expected_bytes = sample->expected_bytes,
		.freeboard_bytes = sample->freeboard_bytes,
		.freeboard_level = sample->freeboard_level,
		.events = sample->events,
		.some_avg10_bp = sample->some_avg10_bp,
		.full_avg10_bp = sample->full_avg10_bp,
		.forecast = sample->forecast,
		.context = sample->context,
	};
	memcpy(latest->groups, sample->groups, sizeof latest->groups);
	memcpy(latest->grown_since_scan, sample->grown_since_scan, sizeof latest->grown_since_scan);
}

void fleet_sample(struct fleet *fleet, int64_t agent, const struct wire_sample *sample, struct wall received)
{
	struct fleet_pod *pod = fleet_pod(fleet, agent);
	if (!pod)
		return;
	/* A composition is of one process: what another one held says nothing of this one. */
	bool other = sample->pid != pod->latest.pid || sample->start_ticks != pod->latest.start_ticks;
	if (other && !sample->has_composition)
		composition_clear(&pod->composition);
	if (other)
		fleet_books_drop(fleet, &pod->composition.books);
	latest_set(&pod->latest, sample, received);
	pod->latest.wall = corrected(sample->head.wall, pod->offset_ms);
	/* What waited in a spool stands where it was taken. */
	bool timed = pod->latest.wall.ms > 0 && pod->latest.wall.ms < received.ms;
	spark_put(&pod->spark, timed ? pod->latest.wall : received, sample->floor_bytes, sample->limit);
	fleet_mark(fleet, pod);
	if (sample->has_composition)
		composition_set(&pod->composition, sample, received);
	if (sample->has_books)
		fleet_books_set(fleet, &pod->composition.books, &sample->books, pod->composition.taken);
	if (sample->pid > 0 && sample->access > pod->best_access)
		pod->best_access = sample->access;
	/* Of a session it is now, even where the clock was set back; what is loaded at the start may be older than a bye. */
	if (received.ms > pod->heard.ms || pod->sessions > 0)
		pod->heard = received;
	/* One JVM may follow another between two samples. */
	if (sample->pid <= 0 || other)
		pod->alive_since.ms = 0;
	if (sample->pid > 0 && pod->alive_since.ms == 0 &&
	    memcmp(&sample->head.epoch, &pod->epoch, sizeof pod->epoch) == 0)
		pod->alive_since = received;
}

/* --- findings ---------------------------------------------------------------------------------------------------- */

static void finding_drop(struct fleet *fleet, struct fleet_finding *finding)
{
	intern_drop(&fleet->names, finding->id);
	intern_drop(&fleet->names, finding->rule);
	intern_drop(&fleet->names, finding->title);
}

void fleet_findings_done(struct fleet *fleet, struct fleet_findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		finding_drop(fleet, &findings->items[i]);
	free(findings->items);
	*findings = (struct fleet_findings){ 0 };
}

static int finding_make(struct fleet *fleet, const struct wire_finding *from, struct wall received,
			struct fleet_finding *ret_finding, struct err *err)
{
	struct fleet_finding made = {
		.id = intern_take(&fleet->names, from->id),
		.rule = intern_take(&fleet->names, from->rule),
		.title = intern_take(&fleet->names, from->title),
		.severity = from->severity,
		.owner = from->owner,
		.opened = from->opened,
		.updated = received,
		.epoch = from->head.epoch,
	};
	if (!made.id || !made.rule || !made.title) {
		finding_drop(fleet, &made);
		return err_set(err, ERR_NOMEM, "no memory for a finding");
	}
	*ret_finding = made;
	return 0;
}

static int findings_take(struct fleet *fleet, struct fleet_findings *findings, const struct wire_finding *finding,
			 struct wall received, struct err *err)
{
	struct fleet_finding made;
	size_t at = 0;
	while (at < findings->n && strcmp(findings->items[at].id, finding->id) != 0)
		at++;
	if (finding->edge == WIRE_CLEARED) {
		if (at == findings->n)
			return 0;
		finding_drop(fleet, &findings->items[at]);
		findings->items[at] = findings->items[--findings->n];
		return 0;
	}
	/* An agent that opens too many does not keep the collector from finding that it went silent. */
	bool own = collector_rule_find(str_of(finding->rule)) != NULL;
	if (at == findings->n && at >= FLEET_FINDINGS_MAX - (own ? 0 : COLLECTOR_RULE_COUNT)) {
		findings->left_out++;
		return 0;
	}
	int rc = finding_make(fleet, finding, received, &made, err);
	if (rc < 0)
		return rc;
	if (at < findings->n) {
		finding_drop(fleet, &findings->items[at]);
	} else if (at == findings->room) {
		size_t room = findings->room ? findings->room * 2U : 2;
		struct fleet_finding *items = reallocarray(findings->items, room, sizeof *items);
		if (!items) {
			finding_drop(fleet, &made);
			return err_set(err, ERR_NOMEM, "no memory for a finding");
		}
		findings->items = items;
		findings->room = (uint8_t)room;
	}
	if (at == findings->n)
		findings->n++;
	findings->items[at] = made;
	return 0;
}

int fleet_finding(struct fleet *fleet, int64_t agent, const struct wire_finding *finding, struct wall received,
		  struct err *err)
{
	struct fleet_pod *pod = agent ? fleet_pod(fleet, agent) : NULL;
	if (agent && !pod)
		return 0;
	if (pod)
		fleet_mark(fleet, pod);
	return findings_take(fleet, pod ? &pod->findings : &fleet->own, finding, received, err);
}

bool fleet_of_former(const struct fleet_pod *pod, const struct fleet_finding *finding)
{
	static const struct wire_epoch none;
	if (wire_epoch_same(pod->epoch, none) || wire_epoch_same(finding->epoch, none))
		return finding->updated.ms < pod->epoch_began.ms;
	return !wire_epoch_same(finding->epoch, pod->epoch);
}

void fleet_postmortem(struct fleet *fleet, int64_t agent, struct wall received)
{
	struct fleet_pod *pod = fleet_pod(fleet, agent);
	if (!pod)
		return;
	pod->last_postmortem = received;
	fleet_mark(fleet, pod);
}
