/* SPDX-License-Identifier: Apache-2.0 */
/* Silences and acknowledgements: the list, one of them, what a new one would cover, and the two writes there are. */
#include <inttypes.h>
#include <stdio.h>

#include "collector/api_parts.h"
#include "collector/silence_json.h"
#include "collector/silence_parts.h"
#include "wire/put.h"

/* --- who may ------------------------------------------------------------------------------------------------------ */

/*
 * Whoever is limited to namespaces deals in silences that name one of them, as it is: a pattern, or none, would reach
 * beyond them, and what such a one of somebody else says is not theirs to read. Beside a finding that it covers it is.
 */
static bool is_theirs(const struct api_call *call, const struct silence_matchers *m)
{
	const unsigned bit = 1U << SILENCE_NAMESPACE;
	return call->viewer.n_namespaces == 0 ||
	       ((m->given & bit) && !(m->patterns & bit) && auth_sees(&call->viewer, m->text[SILENCE_NAMESPACE]));
}

static struct deed deed_of(const struct api_call *call, char who[96])
{
	/* Nobody had to say who he is: then from where is all there is to know. */
	if (call->api->web && call->api->web->open)
		(void)snprintf(who, 96, "open@%s", call->request->peer);
	else
		(void)snprintf(who, 96, "%s", call->viewer.name);
	return (struct deed){ .who = who, .peer = call->request->peer, .at = call->now };
}

static bool are_there(struct api_call *call)
{
	if (call->api->silences)
		return true;
	api_not_found(call);
	return false;
}

/* --- reading -------------------------------------------------------------------------------------------------- */

enum { LOOKS_MAX = 2000 }; /* of one request: each is JSON that is read */

struct listing {
	struct api_call *call;
	size_t shown, looks;
	int64_t last; /* that was looked at */
	bool more;
};

static bool list_one(void *context, const struct silence *silence)
{
	struct listing *list = context;
	if (list->shown == list->call->query.limit || list->looks == LOOKS_MAX) {
		list->more = true;
		return false;
	}
	list->last = silence->id;
	list->looks++;
	if (!is_theirs(list->call, &silence->matchers))
		return true;
	silence_put(&list->call->out, silence, list->call->now);
	list->shown++;
	return true;
}

void api_silences(struct api_call *call)
{
	const struct api_query *q = &call->query;
	struct listing list = { .call = call };
	enum silences_of which = !q->has_active ? SILENCES_ALL : q->active ? SILENCES_ACTIVE : SILENCES_ENDED;
	int64_t below = 0;
	struct err err;
	if (!are_there(call))
		return;
	if (!api_cursor_row(call, &below))
		return;
	api_list_start(call);
	if (silences_each(call->api->silences, which, call->now, below, list_one, &list, &err) < 0) {
		api_failed(call->reply, &err);
		return;
	}
	api_list_end_row(call, list.more ? list.last : 0);
}

/* The one of this id that this viewer may know of; false: the reply says that there is none. */
static bool read_one(struct api_call *call, struct str id, struct silence *ret)
{
	struct err err;
	int64_t row;
	if (!api_row(id, &row) || !call->api->silences) {
		api_not_found(call);
		return false;
	}
	int rc = silences_read(call->api->silences, row, ret, &err);
	if (rc < 0 && err.kind != ERR_GONE)
		api_failed(call->reply, &err);
	else if (rc < 0 || !is_theirs(call, &ret->matchers))
		api_not_found(call);
	else
		return true;
	return false;
}

void api_silence(struct api_call *call, struct str id)
{
	struct silence silence;
	if (!read_one(call, id, &silence))
		return;
	silence_put(&call->out, &silence, call->now);
	api_end(call);
}

/* --- writing --------------------------------------------------------------------------------------------------- */

static void refuse_body(struct api_call *call, const struct err *err)
{
	if (err->kind == ERR_NOMEM)
		api_failed(call->reply, err);
	else
		api_error(call->reply, 400, "bad-body", "%s", err->message);
}

/* An alert is of one cluster, and there is but one here. */
static void fill_cluster(const struct api_call *call, struct silence *s)
{
	if (s->kind != SILENCE_ACKNOWLEDGEMENT || s->matchers.given & 1U << SILENCE_CLUSTER)
		return;
	str_copy(s->matchers.text[SILENCE_CLUSTER], sizeof s->matchers.text[SILENCE_CLUSTER],
		 str_of(call->api->cluster ? call->api->cluster : ""));
	s->matchers.given |= 1U << SILENCE_CLUSTER;
}

static bool may_silence(struct api_call *call, const struct silence *s)
{
	if (is_theirs(call, &s->matchers))
		return true;
	api_error(
		call->reply, 403, "not-your-namespace",
		"matchers.namespace: it must be one of the namespaces that your token is for, as it is written there");
	return false;
}

static void not_written(struct api_call *call, const struct err *err)
{
	call->reply->retry_after_s = 5;
	api_error(call->reply, 503, "unavailable", "nothing can be stored at the moment: %s", err->message);
}

void api_silence_create(struct api_call *call)
{
	struct silence silence;
	struct err err;
	char who[96];
	int64_t id, other;
	if (!are_there(call))
		return;
	if (silence_parse(call->request->body, call->now, &silence, &err) < 0) {
		refuse_body(call, &err);
		return;
	}
	fill_cluster(call, &silence);
	if (!may_silence(call, &silence))
		return;
	const struct deed deed = deed_of(call, who);
	if (call->api->ingest)
		ingest_flush(call->api->ingest);
	int rc = silences_add(call->api->silences, &silence, &deed, &id, &other, &err);
	if (rc < 0 && err.kind == ERR_USAGE) {
		api_error(call->reply, 409, other ? "exists" : "too-many", "%s", err.message);
		return;
	}
	if (rc == 0)
		rc = silences_read(call->api->silences, id, &silence, &err);
	if (rc < 0) {
		not_written(call, &err);
		return;
	}
	if (call->api->ingest)
		(void)ingest_policies(call->api->ingest); /* the rest of them follows */
	call->reply->status = 201;
	(void)snprintf(call->reply->extra, sizeof call->reply->extra,
		       "Cache-Control: no-store\r\nLocation: /api/v1/silences/%" PRId64 "\r\n", id);
	silence_put(&call->out, &silence, call->now);
	api_end(call);
}

/* Ended twice is ended. */
void api_silence_end(struct api_call *call, struct str id)
{
	struct silence silence;
	struct err err;
	char who[96];
	if (!read_one(call, id, &silence))
		return;
	const struct deed deed = deed_of(call, who);
	if (call->api->ingest)
		ingest_flush(call->api->ingest);
	int rc = silences_end(call->api->silences, silence.id, &deed, &err);
	if (rc == 0)
		rc = silences_read(call->api->silences, silence.id, &silence, &err);
	if (rc < 0) {
		not_written(call, &err);
		return;
	}
	if (call->api->ingest)
		(void)ingest_policies(call->api->ingest);
	silence_put(&call->out, &silence, call->now);
	api_end(call);
}

/* --- what would it be ------------------------------------------------------------------------------------------ */

struct preview {
	const struct silence_matchers *matchers;
	uint64_t pods, findings, worst[SEVERITY_COUNT];
};

static void look(struct preview *p, const struct subject_view *subject, const struct fleet_findings *findings,
		 bool is_pod)
{
	const char *values[SILENCE_FIELD_COUNT];
	silence_values(subject, "", values);
	if (!silence_covers(p->matchers, values, SILENCE_ALL_FIELDS & ~(1U << SILENCE_RULE)))
		return;
	p->pods += is_pod;
	for (unsigned i = 0; i < findings->n; i++) {
		const struct fleet_finding *f = &findings->items[i];
		values[SILENCE_RULE] = f->rule;
		if ((p->matchers->severity != SEVERITY_NONE && p->matchers->severity != f->severity) ||
		    !silence_covers(p->matchers, values, 1U << SILENCE_RULE))
			continue;
		p->findings++;
		p->worst[f->severity]++;
	}
}

void api_silence_preview(struct api_call *call)
{
	const struct fleet_pod *const *pods;
	struct silence silence;
	struct err err;
	int rc = silence_parse_preview(call->request->body, &silence, &err);
	if (rc < 0 && err.kind != ERR_USAGE) {
		refuse_body(call, &err);
		return;
	}
	/* While somebody types, what is not right yet is an answer like any other. */
	if (rc < 0)
		silence = (struct silence){ 0 };
	fill_cluster(call, &silence);
	struct preview preview = { .matchers = &silence.matchers };
	size_t n = fleet_pods(call->api->fleet, &pods);
	for (size_t i = 0; rc == 0 && i < n; i++)
		if (auth_sees(&call->viewer, pods[i]->subject.namespace_))
			look(&preview, &pods[i]->subject, &pods[i]->findings, true);
	if (rc == 0 && call->viewer.n_namespaces == 0) {
		const struct subject_view nobody = { .cluster = call->api->cluster ? call->api->cluster : "",
						     .namespace_ = "",
						     .workload = "",
						     .pod = "" };
		look(&preview, &nobody, fleet_own_findings(call->api->fleet), false);
	}
	js_out_object(&call->out);
	api_put_u64(&call->out, "pods", preview.pods);
	api_put_u64(&call->out, "findings", preview.findings);
	js_out_key(&call->out, "severities");
	js_out_object(&call->out);
	for (unsigned i = SEVERITY_INFO; i < SEVERITY_COUNT; i++)
		api_put_u64(&call->out, severity_names[i], preview.worst[i]);
	js_out_object_end(&call->out);
	api_put_bool(&call->out, "allowed",
		     rc == 0 && call->viewer.role >= AUTH_OPERATOR && is_theirs(call, &silence.matchers));
	put_text(&call->out, "problem", rc < 0 ? err.message : NULL);
	js_out_object_end(&call->out);
	api_end(call);
}
