/* SPDX-License-Identifier: Apache-2.0 */
/* What viewers look at: what of it has changed since the last look. */
#include "collector/live_parts.h"

#include <stdlib.h>

#include "collector/api_parts.h"
#include "collector/fleet_load.h"

enum { MINUTE_MS = 60000 };

/* --- who looks at what ------------------------------------------------------------------------------------------- */

static uint64_t add_hash(uint64_t hash, const void *bytes, size_t len)
{
	/* FNV-1a: a thousand viewers at most, who gain nothing by a slow list. */
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(1099511628211);
	return hash;
}

static uint64_t hash_of(const struct live_request *request, const struct auth_viewer *viewer)
{
	uint64_t hash = add_hash(UINT64_C(14695981039346656037), request, sizeof *request);
	for (size_t i = 0; i < viewer->n_namespaces; i++)
		hash = add_hash(hash, viewer->namespaces[i], strlen(viewer->namespaces[i]) + 1);
	return hash;
}

bool live_same_sight(const struct auth_viewer *a, const struct auth_viewer *b)
{
	bool same = a->n_namespaces == b->n_namespaces;
	for (size_t i = 0; same && i < a->n_namespaces; i++)
		same = strcmp(a->namespaces[i], b->namespaces[i]) == 0;
	return same;
}

static struct topic *find(const struct live *live, const struct live_request *request, const struct auth_viewer *viewer,
			  uint64_t hash)
{
	for (struct topic *topic = live->topics; topic; topic = topic->next) {
		if (topic->hash != hash || !live_same_sight(&topic->sight, viewer))
			continue;
		/* Cleared, filled and copied whole (live_request.h). Were two equal ones not the same, they would not share. */
		/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
		if (memcmp(&topic->request, request, sizeof *request) == 0)
			return topic;
	}
	return NULL;
}

static struct topic *make(struct live *live, const struct live_request *request, const struct auth_viewer *viewer,
			  uint64_t hash)
{
	struct topic *topic = calloc(1, sizeof *topic);
	if (!topic)
		return NULL;
	topic->live = live;
	memcpy(&topic->request, request, sizeof *request);
	topic->sight = *viewer;
	topic->hash = hash;
	topic->rows.cap = topic->whole.cap = topic->step.cap = topic->facets.cap = LIVE_BODY_CAP;
	topic->next = live->topics;
	if (topic->next)
		topic->next->prev = topic;
	live->topics = topic;
	live->counts.topics++;
	return topic;
}

struct topic *topic_join(struct live *live, struct live_viewer *viewer, const struct live_request *request)
{
	uint64_t hash = hash_of(request, &viewer->viewer);
	struct topic *topic = find(live, request, &viewer->viewer, hash);
	if (!topic)
		topic = make(live, request, &viewer->viewer, hash);
	if (!topic)
		return NULL;
	viewer->topic = topic;
	viewer->seen = viewer->facets_seen = 0;
	viewer->topic_prev = NULL;
	viewer->topic_next = topic->viewers;
	if (topic->viewers)
		topic->viewers->topic_prev = viewer;
	topic->viewers = viewer;
	topic->due = true;
	return topic;
}

static void topic_free(struct topic *topic)
{
	struct live *live = topic->live;
	if (live->cursor == topic)
		live->cursor = topic->next;
	if (topic->prev)
		topic->prev->next = topic->next;
	else
		live->topics = topic->next;
	if (topic->next)
		topic->next->prev = topic->prev;
	live->counts.topics--;
	buf_done(&topic->rows);
	buf_done(&topic->whole);
	buf_done(&topic->step);
	buf_done(&topic->facets);
	free(topic);
}

void topic_leave(struct live_viewer *viewer)
{
	struct topic *topic = viewer->topic;
	if (!topic)
		return;
	if (viewer->topic_prev)
		viewer->topic_prev->topic_next = viewer->topic_next;
	else
		topic->viewers = viewer->topic_next;
	if (viewer->topic_next)
		viewer->topic_next->topic_prev = viewer->topic_prev;
	viewer->topic = NULL;
	viewer->topic_next = viewer->topic_prev = NULL;
	if (!topic->viewers)
		topic_free(topic);
}

/* --- rows -------------------------------------------------------------------------------------------------------- */

bool live_end_members(struct buf *buf, size_t from, struct js_out *out)
{
	js_out_object_end(out);
	if (js_out_end(out, NULL) < 0 || buf->len < from + 2)
		return false;
	memmove(buf->ptr + from, buf->ptr + from + 1, buf->len - from - 2);
	buf->len -= 2;
	buf->ptr[buf->len] = '\0';
	return true;
}

static struct live_row row_of(const struct topic *topic, const struct view_row *row)
{
	const struct index_workload *of = row->workload;
	struct live_row made = { .heard_ms = row->pod->pod->heard.ms };
	if (topic->request.query.kind == VIEW_PODS) {
		made.id = (uint64_t)row->pod->pod->agent;
		made.signature = (uint64_t)row->pod->state;
	} else {
		made.id = of->workload->born;
		made.signature = (uint64_t)of->by_state[POD_CONNECTED] << 32 | of->by_state[POD_STALE];
		made.signature = made.signature * 31 + (uint64_t)row->pod->pod->agent * 4 + (uint64_t)row->pod->state;
	}
	return made;
}

static uint64_t changed_at(const struct topic *topic, const struct view_row *row)
{
	return topic->request.query.kind == VIEW_PODS ? row->pod->pod->changed : row->workload->workload->changed;
}

/* Where this row was shown before; mostly at the same place. */
static const struct live_row *shown_before(const struct topic *topic, size_t at, uint64_t id)
{
	if (at < topic->n_shown && topic->shown[at].id == id)
		return &topic->shown[at];
	for (size_t i = 0; i < topic->n_shown; i++)
		if (topic->shown[i].id == id)
			return &topic->shown[i];
	return NULL;
}

static bool silences_changed(const struct topic *topic)
{
	return topic->live->silences && topic->silences != silences_version(topic->live->silences);
}

/* So long has nothing been said that something is to be. */
static bool is_quiet(const struct topic *topic)
{
	return !mono_ms_until(topic->live->now, mono_add_ms(topic->said, LIVE_QUIET_MS));
}

/* What was put together becomes the topic's; its room is for the next. */
static void keep(struct buf *kept, struct buf *fresh)
{
	struct buf old = *kept;
	*kept = *fresh;
	*fresh = old;
}

static struct str text_of(const struct topic *topic, const struct live_row *row)
{
	return (struct str){ topic->rows.ptr + row->at, row->len };
}

static bool put_row(struct topic *topic, const struct view_row *row, struct live_row *made)
{
	struct live *live = topic->live;
	const struct row_context context = { live->silences, live->wall };
	struct js_out out;
	made->at = live->text.len;
	js_out_start(&out, &live->text, 0);
	js_out_object(&out);
	fleet_put_row(&out, &context, topic->request.query.kind, row);
	js_out_object_end(&out);
	bool good = js_out_end(&out, NULL) == 0;
	made->len = live->text.len - made->at;
	return good;
}

/*
 * The next row into live->text: its old text, or a new one where it may be another; that of the last hour moves with each
 * minute, of which nobody is told until something else does. `*ret_changed`: whoever has the old one needs this one.
 */
static bool take_row(struct topic *topic, size_t at, struct live_row *made, uint8_t *ret_stood, bool *ret_changed)
{
	struct live *live = topic->live;
	const struct view_row *row = &live->window.rows[at];
	*made = row_of(topic, row);
	const struct live_row *before = shown_before(topic, at, made->id);
	*ret_stood = before ? (uint8_t)(before - topic->shown) : LIVE_NEW;
	bool moved = !before || changed_at(topic, row) > topic->generation || before->signature != made->signature ||
		     silences_changed(topic);
	*ret_changed = false;
	if (before && !moved && topic->minute == live->wall.ms / MINUTE_MS) {
		made->at = live->text.len;
		made->len = before->len;
		return buf_add(&live->text, text_of(topic, before));
	}
	if (!put_row(topic, row, made))
		return false;
	struct str text = { live->text.ptr + made->at, made->len };
	*ret_changed = !before || (moved && !str_eq(text, text_of(topic, before)));
	return true;
}

/* --- the fleet ---------------------------------------------------------------------------------------------------- */

/* What the store knows of the last hour of the pods in sight, of which we have not heard ourselves. */
static void load_sparks(struct topic *topic)
{
	struct live *live = topic->live;
	topic->sparks_due = false;
	for (size_t i = 0; i < live->window.n && live->store; i++) {
		const struct fleet_pod *pod = live->window.rows[i].pod->pod;
		if (pod->spark_loaded)
			continue;
		topic->sparks_due = true; /* perhaps there are more of them than there is time for now */
		if (live->loop && mono_ms_until(live->now, clock_mono()) > LIVE_SPARK_MS)
			return;
		fleet_load_spark(live->fleet, live->store, pod->agent, live->wall);
	}
}

static bool take_facets(struct topic *topic)
{
	struct live *live = topic->live;
	auto_buf struct buf text = { .cap = LIVE_BODY_CAP };
	struct js_out out;
	fleet_view_facets(&live->index, &topic->sight, &live->facets);
	js_out_start(&out, &text, 0);
	js_out_object(&out);
	fleet_put_facets(&out, &live->facets);
	if (!live_end_members(&text, 0, &out) || str_eq(buf_str(&text), buf_str(&topic->facets)))
		return false;
	keep(&topic->facets, &text);
	topic->facets_seq++;
	return true;
}

static bool take_above(struct topic *topic)
{
	struct live *live = topic->live;
	struct view_summary summary;
	fleet_view_summary(&live->index, &topic->sight, &summary);
	bool same = topic->seq > 0 && topic->total == live->window.total && topic->matching == live->window.matching &&
		    memcmp(&summary, &topic->summary, sizeof summary) == 0;
	topic->total = live->window.total;
	topic->matching = live->window.matching;
	topic->summary = summary;
	return !same;
}

/* False: no memory; nothing of the topic has changed then. */
static bool take_rows(struct topic *topic, struct live_step *step)
{
	struct live *live = topic->live;
	struct live_row fresh[VIEW_COUNT_MAX];
	step->n_changed = 0;
	step->moved = live->window.n != topic->n_shown;
	buf_clear(&live->text);
	for (size_t i = 0; i < live->window.n; i++) {
		bool is_other;
		if (!take_row(topic, i, &fresh[i], &step->stood[i], &is_other))
			return false;
		if (is_other)
			step->changed[step->n_changed++] = (uint8_t)i;
		step->moved = step->moved || step->stood[i] != i;
	}
	keep(&topic->rows, &live->text);
	/* cppcheck-suppress uninitvar ; as many as the loop has taken */
	memcpy(topic->shown, fresh, live->window.n * sizeof fresh[0]);
	topic->n_shown = live->window.n;
	return true;
}

static bool build_fleet(struct topic *topic)
{
	struct live *live = topic->live;
	struct err err;
	if (fleet_view(&live->index, &topic->request.query, &topic->sight, &live->scratch, &live->window, &err) < 0)
		return false;
	topic->due = false;
	load_sparks(topic);
	struct live_step *step = &live->step;
	if (!take_rows(topic, step))
		return false;
	step->above_changed = take_above(topic);
	bool facets = take_facets(topic);
	step->possible = topic->seq > 0 && (!step->moved || topic->request.moves);
	return topic->seq == 0 || step->moved || step->n_changed > 0 || step->above_changed || facets;
}

/* --- one pod, one workload ---------------------------------------------------------------------------------------- */

static bool put_pod(struct topic *topic, struct js_out *out, bool quiet)
{
	const struct live *live = topic->live;
	const struct fleet_pod *pod = fleet_find(live->fleet, topic->request.pod);
	bool was_gone = topic->gone;
	topic->gone = !pod || !auth_sees(&topic->sight, pod->subject.namespace_);
	if (topic->gone)
		return quiet || !was_gone;
	if (!quiet && !was_gone && pod->changed <= topic->generation)
		return false;
	js_out_key(out, "pod");
	api_put_pod_whole(out, pod, live->silences, live->wall);
	return true;
}

static bool put_workload(struct topic *topic, struct js_out *out, bool quiet)
{
	const struct live *live = topic->live;
	const struct live_request *request = &topic->request;
	const struct fleet_workload *const *workloads;
	bool was_gone = topic->gone, there;
	(void)fleet_workloads(live->fleet, &workloads);
	size_t at = fleet_workload_at(live->fleet, request->cluster, request->namespace_, request->name, &there);
	topic->gone = !there || !auth_sees(&topic->sight, request->namespace_);
	if (topic->gone)
		return quiet || !was_gone;
	if (!quiet && !was_gone && workloads[at]->changed <= topic->generation)
		return false;
	js_out_key(out, "workload");
	api_put_workload(out, workloads[at]);
	return true;
}

static bool build_one(struct topic *topic)
{
	struct live *live = topic->live;
	struct js_out out;
	/* Ages stand in it: it is told again when nothing else happens. */
	bool quiet = topic->seq == 0 || is_quiet(topic) || silences_changed(topic);
	topic->due = false;
	buf_clear(&live->text);
	js_out_start(&out, &live->text, 0);
	js_out_object(&out);
	bool told = topic->request.kind == LIVE_POD ? put_pod(topic, &out, quiet) : put_workload(topic, &out, quiet);
	if (!told || !live_end_members(&live->text, 0, &out))
		return false;
	keep(&topic->rows, &live->text);
	live->step.possible = false;
	return true;
}

/* ------------------------------------------------------------------------------------------------------------------ */

bool topic_is_stale(const struct topic *topic)
{
	return topic->due || topic->sparks_due || topic->version != topic->live->index.version ||
	       silences_changed(topic) || is_quiet(topic);
}

bool topic_build(struct topic *topic)
{
	struct live *live = topic->live;
	bool told = topic->request.kind == LIVE_FLEET ? build_fleet(topic) : build_one(topic);
	/* Without memory it is tried again with the next change. */
	topic->generation = live->index.generation;
	topic->version = live->index.version;
	topic->silences = live->silences ? silences_version(live->silences) : 0;
	topic->at_ms = live->wall.ms;
	topic->minute = live->wall.ms / MINUTE_MS;
	if (!told && !is_quiet(topic))
		return false;
	/* Something is said all the same: that nothing has changed. */
	if (!told)
		live->step = (struct live_step){ .possible = topic->seq > 0 };
	topic->last = live->step;
	topic->said = live->now;
	topic->seq++;
	return true;
}
