/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/kube_deaths.h"

#include <stdlib.h>

#include "base/esc.h"
#include "collector/kube_alone.h"
#include "collector/store_read.h"
#include "data/js.h"
#include "ledger/death_told.h"
#include "wire/put.h"

enum { LOOK_MS = 5000, LOOKS_AT_ONCE = 64, TEXT_MAX = 8 * 1024 };

struct kube_deaths {
	struct fleet *fleet;
	struct store *store;
	struct logger *log;
	struct mono due;
	struct kube_deaths_counts counts;
	struct wire_message scratch;
	size_t n, next;
	struct kube_end ends[KUBE_ENDS_MAX];
};

int kube_deaths_new(struct fleet *fleet, struct store *store, struct logger *log, struct kube_deaths **ret_deaths,
		    struct err *err)
{
	struct kube_deaths *deaths = calloc(1, sizeof *deaths);
	if (!deaths)
		return err_set(err, ERR_NOMEM, "no memory for what Kubernetes says of deaths");
	deaths->fleet = fleet;
	deaths->store = store;
	deaths->log = log;
	*ret_deaths = deaths;
	return 0;
}

void kube_deaths_free(struct kube_deaths *deaths)
{
	free(deaths);
}

void kube_deaths_count(const struct kube_deaths *deaths, struct kube_deaths_counts *ret_counts)
{
	*ret_counts = deaths->counts;
}

/* --- ends ------------------------------------------------------------------------------------------- */

static void drop(struct kube_deaths *deaths, size_t at)
{
	deaths->n--;
	memmove(&deaths->ends[at], &deaths->ends[at + 1], (deaths->n - at) * sizeof deaths->ends[0]);
}

static void take_one(struct kube_deaths *deaths, const struct pod_seen *pod, const struct pod_end *end, struct mono now,
		     struct wall wall)
{
	struct kube_end *entry = NULL;
	for (size_t i = 0; i < deaths->n && !entry; i++)
		if (strcmp(deaths->ends[i].pod_uid, pod->uid) == 0 &&
		    strcmp(deaths->ends[i].end.container, end->container) == 0 &&
		    deaths->ends[i].end.finished.ms == end->finished.ms)
			entry = &deaths->ends[i];
	if (!entry) {
		if (deaths->n == KUBE_ENDS_MAX)
			drop(deaths, 0);
		entry = &deaths->ends[deaths->n++];
		*entry = (struct kube_end){ .end = *end,
					    .at = end->finished.ms ? end->finished : wall,
					    .until = mono_add_ms(now, KUBE_END_KEPT_MS) };
		memcpy(entry->pod_uid, pod->uid, sizeof entry->pod_uid);
		memcpy(entry->namespace_, pod->namespace_, sizeof entry->namespace_);
		memcpy(entry->name, pod->name, sizeof entry->name);
	}
	memcpy(entry->pod_reason, pod->reason, sizeof entry->pod_reason);
	memcpy(entry->pod_message, pod->message, sizeof entry->pod_message);
	entry->asked_to_stop = pod->asked_to_stop;
}

void kube_deaths_take(struct kube_deaths *deaths, const struct pod_seen *pod, struct mono now, struct wall wall)
{
	const struct pod_end whole = { .exit_code = -1 };
	for (unsigned i = 0; i < pod->n_ends; i++)
		take_one(deaths, pod, &pod->ends[i], now, wall);
	if (pod->n_ends == 0 && strcmp(pod->reason, "Evicted") == 0)
		take_one(deaths, pod, &whole, now, wall);
}

/* --- the post-mortem that it belongs to ------------------------------------------------------------- */

struct match {
	const struct kube_end *end;
	const struct fleet_pod *pod;
	bool any;        /* perhaps one whose first part is still to come */
	int64_t away_ms; /* of the nearest; -1: none yet */
	bool told;
	enum tristate at_limit;
	enum death_cause cause;
	char id[WIRE_ID_CAP];
};

static enum tristate was_at_limit(struct str text)
{
	auto_js struct js *root = NULL;
	uint64_t floor, limit;
	if (!text.len || js_parse(text, WIRE_FRAME_MAX, &root, NULL) < 0 ||
	    !js_u64(js_path(root, "body.floor_bytes"), &floor) || !js_u64(js_path(root, "body.limit_bytes"), &limit))
		return TRISTATE_UNREAD;
	return kube_alone_at_limit(qty_measured(floor), qty_measured(limit));
}

/*
 * One that is inferred has the time of the last that its agent said. Where that never spoke again, and the container went on in the
 * same life, this end is the one that was meant.
 */
static bool is_the_guessed(const struct match *match, const struct store_postmortem_row *row)
{
	const struct kube_end *end = match->end;
	return row->inferred && !row->told && row->died.ms <= end->at.ms && end->end.started.ms > 0 &&
	       end->end.started.ms <= row->died.ms && match->pod->latest.wall.ms <= row->died.ms + 1000;
}

static bool nearest(void *context, const struct store_postmortem_row *row)
{
	struct match *match = context;
	int64_t away = row->died.ms - match->end->at.ms;
	away = away < 0 ? -away : away;
	if (away > STORE_SAME_DEATH_MS && !is_the_guessed(match, row))
		return true;
	match->any = true;
	if (!row->text.len || (match->away_ms >= 0 && away >= match->away_ms))
		return true;
	match->away_ms = away;
	match->told = row->told;
	match->cause = row->cause;
	match->at_limit = was_at_limit(row->text);
	memcpy(match->id, row->id, sizeof match->id);
	return true;
}

static int write_text(const struct match *match, const struct death_verdict *verdict, enum death_told_effect effect,
		      struct buf *text, struct err *err)
{
	const struct kube_end *end = match->end;
	struct js_out js;
	js_out_start(&js, text, 0);
	js_out_object(&js);
	js_out_key(&js, "body");
	js_out_object(&js);
	js_out_key(&js, "kubernetes");
	js_out_object(&js);
	put_text(&js, "container", end->end.container);
	put_text(&js, "reason", end->end.reason);
	put_text(&js, "message", end->end.message);
	put_signed(&js, "exit_code", (struct signed_qty){ end->end.exit_code, end->end.exit_code >= 0 });
	put_signed(&js, "signal", (struct signed_qty){ end->end.signal, end->end.signal > 0 });
	put_signed(&js, "finished_ms", (struct signed_qty){ end->end.finished.ms, end->end.finished.ms > 0 });
	put_text(&js, "pod_reason", end->pod_reason);
	put_text(&js, "pod_message", end->pod_message);
	put_text(&js, "effect", death_told_effect_names[effect]);
	put_text(&js, "cause_before", death_cause_names[match->cause]);
	put_text(&js, "why", verdict->why);
	put_count(&js, "confidence_pct", (struct count){ verdict->confidence_pct, effect != DEATH_TOLD_ADDS });
	js_out_object_end(&js);
	js_out_object_end(&js);
	js_out_object_end(&js);
	return js_out_end(&js, err);
}

/* --- into the store ---------------------------------------------------------------------------------- */

/* Inside a batch. */
static int put_down(struct kube_deaths *deaths, const struct match *match, struct err *err)
{
	auto_buf struct buf text = { .cap = TEXT_MAX };
	const struct death_told told = { .reason = match->end->end.reason,
					 .pod_reason = match->end->pod_reason,
					 .pod_message = match->end->pod_message,
					 .exit_code = match->end->end.exit_code,
					 .at_limit = match->at_limit };
	struct death_verdict verdict;
	enum death_told_effect effect = death_hear(match->cause, &told, &verdict);
	int rc = write_text(match, &verdict, effect, &text, err);
	return rc < 0 ? rc
		      : store_postmortem_told(deaths->store, match->pod->agent, match->id, verdict.cause,
					      match->end->end.finished, buf_str(&text), err);
}

static int end_batch(struct kube_deaths *deaths, int rc, struct err *err)
{
	if (rc == 0)
		rc = store_commit(deaths->store, err);
	if (rc < 0)
		store_rollback(deaths->store);
	else
		deaths->counts.told_total++;
	return rc;
}

static int tell(struct kube_deaths *deaths, const struct match *match, struct err *err)
{
	int rc = store_begin(deaths->store, err);
	return rc < 0 ? rc : end_batch(deaths, put_down(deaths, match, err), err);
}

static bool any_row(void *context, const struct store_postmortem_row *row)
{
	(void)row;
	*(bool *)context = true;
	return false;
}

/* An eviction without a time is heard of anew by each watch that begins: its name is what tells. */
static int is_written(struct kube_deaths *deaths, const struct match *match, bool *ret_is, struct err *err)
{
	struct err failure = { 0 };
	*ret_is = false;
	int rc = store_postmortem_parts(deaths->store, match->pod->agent, match->id, any_row, ret_is, &failure);
	return rc == 0 || failure.kind == ERR_GONE ? 0 : err_set(err, failure.kind, "%s", failure.message);
}

/* Nobody else told of it, and nobody will. */
static int write_alone(struct kube_deaths *deaths, const struct kube_end *end, const struct fleet_pod *pod,
		       struct wall wall, struct err *err)
{
	struct match match = { .end = end, .pod = pod, .cause = DEATH_UNKNOWN };
	char shown[2 * WIRE_NAME_CAP];
	bool is = false;
	kube_alone_id(end, match.id);
	int rc = is_written(deaths, &match, &is, err);
	if (rc < 0 || is)
		return rc;
	rc = store_begin(deaths->store, err);
	if (rc < 0)
		return rc;
	rc = kube_alone_write(deaths->store, pod->agent, end, &deaths->scratch, wall, &match.at_limit, err);
	if (rc == 0)
		rc = put_down(deaths, &match, err);
	rc = end_batch(deaths, rc, err);
	if (rc < 0)
		return rc;
	deaths->counts.alone_total++;
	logger_say(deaths->log, SAY_WARNING, "postmortem-inferred",
		   "%s: its container ended by Kubernetes' word alone: its post-mortem is inferred",
		   esc_copy(shown, sizeof shown, str_of(end->name)));
	fleet_postmortem(deaths->fleet, pod->agent, wall);
	return 0;
}

/* --- a look ------------------------------------------------------------------------------------------- */

/* Who says to be a pod of another namespace is shown nothing of it. */
static bool is_of(const struct kube_end *end, const struct fleet_pod *pod)
{
	const char *container = pod->subject.container;
	return strcmp(end->pod_uid, pod->subject.pod_uid) == 0 &&
	       strcmp(end->namespace_, pod->subject.namespace_) == 0 && strcmp(end->name, pod->subject.pod) == 0 &&
	       (!container[0] || !end->end.container[0] || strcmp(container, end->end.container) == 0);
}

/* `*ret_any`: there is a post-mortem. */
static int look_at(struct kube_deaths *deaths, const struct kube_end *end, const struct fleet_pod *pod, bool *ret_any,
		   struct err *err)
{
	struct match match = { .end = end, .pod = pod, .away_ms = -1 };
	int64_t from = end->at.ms - STORE_SAME_DEATH_MS;
	if (pod->latest.wall.ms && pod->latest.wall.ms - 1000 < from)
		from = pod->latest.wall.ms - 1000;
	const struct store_filter filter = { .agent = pod->agent,
					     .from = { from },
					     .to = { end->at.ms + STORE_SAME_DEATH_MS + 1 },
					     .most = 16,
					     .with_text = true };
	int rc = store_each_postmortem(deaths->store, &filter, nearest, &match, err);
	*ret_any = *ret_any || match.any;
	return rc < 0 || match.away_ms < 0 || match.told ? rc : tell(deaths, &match, err);
}

/* Of two agents of one container (a sidecar, and one of the node) the one that was heard last stands for it. */
static const struct fleet_pod *later(const struct fleet_pod *a, const struct fleet_pod *b)
{
	return a && a->heard.ms >= b->heard.ms ? a : b;
}

static int look(struct kube_deaths *deaths, const struct kube_end *end, struct mono now, struct wall wall,
		struct err *err)
{
	const struct fleet_pod *const *pods, *whose = NULL;
	size_t n = fleet_pods(deaths->fleet, &pods);
	bool any = false;
	for (size_t i = 0; i < n; i++) {
		if (!is_of(end, pods[i]))
			continue;
		int rc = look_at(deaths, end, pods[i], &any, err);
		if (rc < 0)
			return rc;
		/* Of an agent that does not say of which container it tells, it is not known whether it is this one. */
		if (pods[i]->subject.container[0] || !end->end.container[0])
			whose = later(whose, pods[i]);
	}
	bool waits = mono_ms_until(now, end->until) > KUBE_END_KEPT_MS - KUBE_ALONE_AFTER_MS;
	if (any || !whose || waits || !kube_alone_is_one(end, wall))
		return 0;
	return write_alone(deaths, end, whose, wall, err);
}

void kube_deaths_step(struct kube_deaths *deaths, struct mono now, struct wall wall)
{
	struct err err;
	char shown[2 * sizeof err.message];
	if (mono_ms_until(now, deaths->due))
		return;
	deaths->due = mono_add_ms(now, LOOK_MS);
	while (deaths->n && mono_ms_until(now, deaths->ends[0].until) == 0)
		drop(deaths, 0);
	for (size_t i = 0; i < LOOKS_AT_ONCE && i < deaths->n; i++) {
		deaths->next = deaths->next < deaths->n ? deaths->next : 0;
		if (look(deaths, &deaths->ends[deaths->next++], now, wall, &err) < 0)
			logger_say(deaths->log, SAY_WARNING, "kube-death-not-kept", "%s",
				   esc_copy(shown, sizeof shown, str_of(err.message)));
	}
}
