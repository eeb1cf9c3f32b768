/* SPDX-License-Identifier: Apache-2.0 */
/* Findings and post-mortems, of the store: newest first. */
#include <inttypes.h>
#include <stdio.h>

#include "collector/api_parts.h"
#include "wire/put.h"

/*
 * Rows that the store is asked for at once, and at most for one request. A filter that hardly anything matches then gives
 * a short page, or none, with a cursor to go on from: no request holds the loop for long.
 */
enum { ROWS_AT_ONCE = 1000, ROWS_MAX = 20000 };

/* --- whom a row is about ----------------------------------------------------------------------------------------- */

/* An agent that the fleet has forgotten is still in the store. `row` holds its strings. */
static bool subject_of(const struct api_call *call, int64_t agent, struct store_agent_row *row,
		       struct subject_view *ret_view)
{
	struct err err;
	const struct fleet_pod *pod = fleet_find(call->api->fleet, agent);
	if (pod) {
		*ret_view = pod->subject;
		return true;
	}
	if (store_agent_read(call->api->store, agent, row, &err) < 0)
		return false;
	subject_view_of(&row->hello.subject, ret_view);
	return true;
}

static const struct subject_view nobody = {
	.cluster = "", .namespace_ = "", .workload = "", .pod = "", .pod_uid = "", .node = "", .container = ""
};

/* May the viewer see what is about this agent, and does it match? agent 0 is the collector itself. */
static bool sees_agent(const struct api_call *call, int64_t agent, struct store_agent_row *row,
		       struct subject_view *ret_view)
{
	if (agent == 0) {
		*ret_view = nobody;
		ret_view->cluster = call->api->cluster ? call->api->cluster : "";
		return call->viewer.n_namespaces == 0 && subject_matches(&call->query.filter, ret_view);
	}
	return subject_of(call, agent, row, ret_view) && api_sees(call, ret_view);
}

/* --- a page of rows ---------------------------------------------------------------------------------------------- */

struct page_of {
	struct api_call *call;
	struct store_filter filter;
	size_t shown, looked_at, in_chunk;
	int64_t last;            /* row that was looked at */
	int64_t last_agent;      /* its neighbours are often of the same one */
	bool last_agent_is_seen; /* with `subject` */
	struct subject_view subject;
	struct store_agent_row agent;
	bool full;
};

static bool page_sees(struct page_of *page, int64_t agent)
{
	if (agent != page->last_agent) {
		page->last_agent_is_seen = sees_agent(page->call, agent, &page->agent, &page->subject);
		page->last_agent = agent;
	}
	return page->last_agent_is_seen;
}

/* Whether to go on to this row. Counts it. */
static bool page_takes(struct page_of *page, int64_t row)
{
	if (page->shown == page->call->query.limit) {
		page->full = true;
		return false;
	}
	page->last = row;
	page->looked_at++;
	page->in_chunk++;
	return true;
}

typedef int page_read_fn(struct page_of *page, struct err *err);

static void page_run(struct api_call *call, page_read_fn *read)
{
	const struct api_query *q = &call->query;
	struct err err;
	auto_free struct page_of *page = calloc(1, sizeof *page);
	if (!page) {
		(void)err_set(&err, ERR_NOMEM, "no memory for a page");
		api_failed(call->reply, &err);
		return;
	}
	page->call = call;
	page->last_agent = -1;
	page->filter = (struct store_filter){ .rule = q->rule,
					      .least = q->least,
					      .open_only = q->open_only,
					      .from = q->from,
					      .to = q->to,
					      .most = ROWS_AT_ONCE };
	if (!api_cursor_row(call, &page->filter.below_row))
		return;
	api_list_start(call);
	int rc = 0;
	do {
		page->in_chunk = 0;
		rc = read(page, &err);
		page->filter.below_row = page->last;
	} while (rc == 0 && !page->full && page->in_chunk == ROWS_AT_ONCE && page->looked_at < ROWS_MAX);
	if (rc < 0) {
		api_failed(call->reply, &err);
		return;
	}
	api_list_end_row(call, page->full || page->in_chunk == ROWS_AT_ONCE ? page->last : 0);
}

/* --- findings ---------------------------------------------------------------------------------------------------- */

/* What covers it, while it is open. */
static const struct silence *silence_of(const struct api_call *call, const struct store_finding_row *row,
					const struct subject_view *subject)
{
	return row->cleared.ms ? NULL : silences_on(call->api->silences, subject, row->rule, row->severity, call->now);
}

/* The members of a finding, without the braces. */
static void put_finding_row(struct api_call *call, const struct store_finding_row *row,
			    const struct subject_view *subject, const struct silence *silence)
{
	struct js_out *out = &call->out;
	api_put_finding_id(out, "id", row->agent, row->id);
	if (row->agent) {
		api_put_id(out, "pod", row->agent);
		api_put_workload_id(out, "workload_id", subject);
	} else {
		put_text(out, "pod", NULL);
		put_text(out, "workload_id", NULL);
	}
	api_put_subject(out, subject);
	put_text(out, "rule", row->rule);
	put_text(out, "severity", severity_names[row->severity]);
	put_text(out, "state", wire_edge_names[row->edge]);
	api_put_bool(out, "open", row->cleared.ms == 0);
	api_put_owner(out, "owner", row->owner);
	put_text(out, "title", row->title);
	api_put_wall(out, "opened_ms", row->opened);
	api_put_wall(out, "updated_ms", row->updated);
	api_put_wall(out, "cleared_ms", row->cleared);
	api_put_u64(out, "updates", row->n_updates);
	char page[80];
	(void)snprintf(page, sizeof page, "/docs/rules/%s", row->rule);
	put_text(out, "runbook", page);
	silence_put_brief(out, "silenced", silence);
}

static bool finding_item(void *context, const struct store_finding_row *row)
{
	struct page_of *page = context;
	if (!page_takes(page, row->row))
		return false;
	if (!page_sees(page, row->agent))
		return true;
	js_out_object(&page->call->out);
	put_finding_row(page->call, row, &page->subject, silence_of(page->call, row, &page->subject));
	js_out_object_end(&page->call->out);
	page->shown++;
	return true;
}

static int read_findings(struct page_of *page, struct err *err)
{
	return store_each_finding(page->call->api->store, &page->filter, finding_item, page, err);
}

void api_findings(struct api_call *call)
{
	page_run(call, read_findings);
}

/* A member of a frame that was stored; null where there is none. Agents wrote it, so it is written anew, escaped. */
static void put_member(struct js_out *out, const char *key, struct str frame, const char *member)
{
	auto_js struct js *root = NULL;
	struct err err;
	js_out_key(out, key);
	if (frame.len && js_parse(frame, WIRE_FRAME_MAX, &root, &err) == 0)
		js_out_value(out, js_get(root, member));
	else
		js_out_null(out);
}

struct one {
	struct api_call *call;
	int64_t agent;
	bool found, unchanged;
};

static bool finding_whole(void *context, const struct store_finding_row *row)
{
	struct one *one = context;
	struct js_out *out = &one->call->out;
	struct store_agent_row agent;
	struct subject_view subject;
	char etag[100];
	if (!sees_agent(one->call, row->agent, &agent, &subject))
		return false;
	one->found = true;
	const struct silence *silence = silence_of(one->call, row, &subject);
	(void)snprintf(etag, sizeof etag, "%" PRId64 "-%" PRId64 "-%" PRIu64 "-%" PRId64, row->row, row->updated.ms,
		       row->n_updates, silence ? silence->id : 0);
	one->unchanged = api_unchanged(one->call, etag);
	if (one->unchanged)
		return false;
	js_out_object(out);
	put_finding_row(one->call, row, &subject, silence);
	put_member(out, "finding", row->text, "finding");
	js_out_object_end(out);
	return false;
}

void api_finding(struct api_call *call, struct str id)
{
	char text[WIRE_ID_CAP];
	struct one one = { .call = call };
	struct err err;
	if (!api_finding_parse(id, &one.agent, text)) {
		api_not_found(call);
		return;
	}
	struct store_filter filter = {
		.agent = one.agent, .agent_is_collector = one.agent == 0, .id = text, .most = 1, .with_text = true
	};
	if (store_each_finding(call->api->store, &filter, finding_whole, &one, &err) < 0)
		api_failed(call->reply, &err);
	else if (!one.found)
		api_not_found(call);
	else if (!one.unchanged)
		api_end(call);
}

/* --- post-mortems ------------------------------------------------------------------------------------------------ */

static void put_postmortem_row(struct js_out *out, const struct store_postmortem_row *row,
			       const struct subject_view *subject)
{
	api_put_finding_id(out, "id", row->agent, row->id);
	api_put_id(out, "pod", row->agent);
	api_put_workload_id(out, "workload_id", subject);
	api_put_subject(out, subject);
	put_text(out, "cause", death_cause_names[row->cause]);
	api_put_owner(out, "owner", row->owner);
	put_count(out, "pid", (struct count){ (uint64_t)row->pid, row->pid > 0 });
	put_text(out, "title", row->title);
	api_put_wall(out, "died_ms", row->died);
	api_put_wall(out, "received_ms", row->received);
	api_put_u64(out, "parts", row->parts);
	api_put_u64(out, "parts_here", row->parts_here);
	api_put_bool(out, "whole", row->parts_here >= row->parts);
	api_put_bool(out, "inferred", row->inferred);
}

static bool postmortem_item(void *context, const struct store_postmortem_row *row)
{
	struct page_of *page = context;
	const struct api_query *q = &page->call->query;
	if (!page_takes(page, row->row))
		return false;
	if ((q->has_cause && row->cause != q->cause) || !page_sees(page, row->agent))
		return true;
	js_out_object(&page->call->out);
	put_postmortem_row(&page->call->out, row, &page->subject);
	js_out_object_end(&page->call->out);
	page->shown++;
	return true;
}

static int read_postmortems(struct page_of *page, struct err *err)
{
	return store_each_postmortem(page->call->api->store, &page->filter, postmortem_item, page, err);
}

void api_postmortems(struct api_call *call)
{
	page_run(call, read_postmortems);
}

static bool postmortem_head(void *context, const struct store_postmortem_row *row)
{
	struct one *one = context;
	struct store_agent_row agent;
	struct subject_view subject;
	char etag[64];
	if (!sees_agent(one->call, row->agent, &agent, &subject))
		return false;
	one->found = true;
	(void)snprintf(etag, sizeof etag, "pm-%" PRId64 "-%u%s", row->row, row->parts_here, row->told ? "k" : "");
	one->unchanged = api_unchanged(one->call, etag);
	if (!one->unchanged) {
		js_out_object(&one->call->out);
		put_postmortem_row(&one->call->out, row, &subject);
	}
	return false;
}

/* Part 0's body, then the bodies of the others as they are there. */
static bool postmortem_part(void *context, const struct store_postmortem_row *row)
{
	struct one *one = context;
	auto_js struct js *root = NULL;
	struct err err;
	if (row->text.len && js_parse(row->text, WIRE_FRAME_MAX, &root, &err) == 0)
		js_out_value(&one->call->out, js_get(root, "body"));
	return true;
}

void api_postmortem(struct api_call *call, struct str id)
{
	char text[WIRE_ID_CAP];
	struct one one = { .call = call };
	struct err err;
	if (!api_finding_parse(id, &one.agent, text) || one.agent == 0) {
		api_not_found(call);
		return;
	}
	struct store_filter filter = { .agent = one.agent, .id = text, .most = 1 };
	int rc = store_each_postmortem(call->api->store, &filter, postmortem_head, &one, &err);
	if (rc == 0 && !one.found) {
		api_not_found(call);
		return;
	}
	if (rc == 0 && one.unchanged)
		return;
	if (rc == 0) {
		js_out_key(&call->out, "bodies");
		js_out_array(&call->out);
		rc = store_postmortem_parts(call->api->store, one.agent, text, postmortem_part, &one, &err);
		js_out_array_end(&call->out);
		js_out_object_end(&call->out);
	}
	if (rc < 0)
		api_failed(call->reply, &err);
	else
		api_end(call);
}
