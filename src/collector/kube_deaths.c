/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/kube_deaths.h"

#include <stdlib.h>

#include "base/esc.h"
#include "collector/store_read.h"
#include "data/js.h"
#include "ledger/death_told.h"
#include "wire/put.h"

enum { LOOK_MS = 5000, LOOKS_AT_ONCE = 64, TEXT_MAX = 8 * 1024, AT_LIMIT_PCT = 95 };

struct end {
	char pod_uid[40], namespace_[64], name[WIRE_NAME_CAP], pod_reason[64], pod_message[256];
	struct pod_end end; /* container "": the pod's as a whole */
	struct wall at;     /* when it ended, or was heard of */
	struct mono until;
};

struct kube_deaths {
	const struct fleet *fleet;
	struct store *store;
	struct logger *log;
	struct mono due;
	uint64_t told_total;
	size_t n, next;
	struct end ends[KUBE_ENDS_MAX];
};

int kube_deaths_new(const struct fleet *fleet, struct store *store, struct logger *log, struct kube_deaths **ret_deaths,
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

uint64_t kube_deaths_told(const struct kube_deaths *deaths)
{
	return deaths->told_total;
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
	struct end *entry = NULL;
	for (size_t i = 0; i < deaths->n && !entry; i++)
		if (strcmp(deaths->ends[i].pod_uid, pod->uid) == 0 &&
		    strcmp(deaths->ends[i].end.container, end->container) == 0 &&
		    deaths->ends[i].end.finished.ms == end->finished.ms)
			entry = &deaths->ends[i];
	if (!entry) {
		if (deaths->n == KUBE_ENDS_MAX)
			drop(deaths, 0);
		entry = &deaths->ends[deaths->n++];
		*entry = (struct end){ .end = *end,
				       .at = end->finished.ms ? end->finished : wall,
				       .until = mono_add_ms(now, KUBE_END_KEPT_MS) };
		memcpy(entry->pod_uid, pod->uid, sizeof entry->pod_uid);
		memcpy(entry->namespace_, pod->namespace_, sizeof entry->namespace_);
		memcpy(entry->name, pod->name, sizeof entry->name);
	}
	memcpy(entry->pod_reason, pod->reason, sizeof entry->pod_reason);
	memcpy(entry->pod_message, pod->message, sizeof entry->pod_message);
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
	const struct end *end;
	int64_t away_ms; /* of the nearest; -1: none yet */
	bool told, at_limit;
	enum death_cause cause;
	char id[WIRE_ID_CAP];
};

static bool was_at_limit(struct str text)
{
	auto_js struct js *root = NULL;
	uint64_t floor, limit;
	if (!text.len || js_parse(text, WIRE_FRAME_MAX, &root, NULL) < 0)
		return false;
	return js_u64(js_path(root, "body.floor_bytes"), &floor) && js_u64(js_path(root, "body.limit_bytes"), &limit) &&
	       limit > 0 && floor / AT_LIMIT_PCT >= limit / 100;
}

static bool nearest(void *context, const struct store_postmortem_row *row)
{
	struct match *match = context;
	int64_t away = row->died.ms - match->end->at.ms;
	away = away < 0 ? -away : away;
	if (!row->text.len || away > STORE_SAME_DEATH_MS || (match->away_ms >= 0 && away >= match->away_ms))
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
	const struct end *end = match->end;
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

static int put_down(struct kube_deaths *deaths, int64_t agent, const struct match *match, struct err *err)
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
	if (rc == 0)
		rc = store_begin(deaths->store, err);
	if (rc < 0)
		return rc;
	rc = store_postmortem_told(deaths->store, agent, match->id, verdict.cause, buf_str(&text), err);
	if (rc == 0)
		rc = store_commit(deaths->store, err);
	if (rc < 0)
		store_rollback(deaths->store);
	else
		deaths->told_total++;
	return rc;
}

static int look_at(struct kube_deaths *deaths, const struct end *end, const struct fleet_pod *pod, struct err *err)
{
	struct match match = { .end = end, .away_ms = -1 };
	const struct store_filter filter = { .agent = pod->agent,
					     .from = { end->at.ms - STORE_SAME_DEATH_MS },
					     .to = { end->at.ms + STORE_SAME_DEATH_MS + 1 },
					     .most = 16,
					     .with_text = true };
	int rc = store_each_postmortem(deaths->store, &filter, nearest, &match, err);
	if (rc < 0 || match.away_ms < 0 || match.told)
		return rc;
	return put_down(deaths, pod->agent, &match, err);
}

/* Who says to be a pod of another namespace is shown nothing of it. */
static bool is_of(const struct end *end, const struct fleet_pod *pod)
{
	const char *container = pod->subject.container;
	return strcmp(end->pod_uid, pod->subject.pod_uid) == 0 &&
	       strcmp(end->namespace_, pod->subject.namespace_) == 0 && strcmp(end->name, pod->subject.pod) == 0 &&
	       (!container[0] || !end->end.container[0] || strcmp(container, end->end.container) == 0);
}

static void look(struct kube_deaths *deaths, const struct end *end)
{
	const struct fleet_pod *const *pods;
	size_t n = fleet_pods(deaths->fleet, &pods);
	struct err err;
	char shown[2 * sizeof err.message];
	for (size_t i = 0; i < n; i++)
		if (is_of(end, pods[i]) && look_at(deaths, end, pods[i], &err) < 0)
			logger_say(deaths->log, SAY_WARNING, "kube-death-not-kept", "%s",
				   esc_copy(shown, sizeof shown, str_of(err.message)));
}

void kube_deaths_step(struct kube_deaths *deaths, struct mono now)
{
	if (mono_ms_until(now, deaths->due))
		return;
	deaths->due = mono_add_ms(now, LOOK_MS);
	while (deaths->n && mono_ms_until(now, deaths->ends[0].until) == 0)
		drop(deaths, 0);
	for (size_t i = 0; i < LOOKS_AT_ONCE && i < deaths->n; i++) {
		deaths->next = deaths->next < deaths->n ? deaths->next : 0;
		look(deaths, &deaths->ends[deaths->next++]);
	}
}
