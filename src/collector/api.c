/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/api.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/esc.h"
#include "collector/api_parts.h"
#include "collector/metrics_page.h"

enum { CAP = 16 << 20 };

/* --- replies ----------------------------------------------------------------------------------------------------- */

void api_error(struct server_reply *reply, unsigned status, const char *code, const char *format, ...)
{
	char message[512];
	struct js_out out;
	va_list args;
	va_start(args, format);
	(void)vsnprintf(message, sizeof message, format, args);
	va_end(args);
	buf_clear(&reply->body);
	reply->body.state = BUF_OK;
	reply->status = status;
	reply->content_type = "application/json";
	js_out_start(&out, &reply->body, 0);
	js_out_object(&out);
	js_out_key(&out, "error");
	js_out_object(&out);
	api_put_u64(&out, "status", status);
	js_out_key(&out, "code");
	js_out_text(&out, code);
	js_out_key(&out, "message");
	js_out_text(&out, message);
	js_out_object_end(&out);
	js_out_object_end(&out);
	if (js_out_end(&out, NULL) < 0)
		buf_clear(&reply->body);
}

void api_failed(struct server_reply *reply, const struct err *err)
{
	if (err->kind == ERR_LIMIT) {
		api_error(reply, 400, "too-large", "%s: ask for less with limit, from, to or step", err->message);
		return;
	}
	reply->retry_after_s = 5;
	api_error(reply, 503, "unavailable", "%s", err->message);
}

void api_not_found(struct api_call *call)
{
	char path[160];
	api_error(call->reply, 404, "not-found", "nothing at %s", esc_copy(path, sizeof path, call->request->path));
}

bool api_row(struct str text, int64_t *ret_row)
{
	uint64_t row;
	if (!str_is_u64(text, &row) || row == 0 || row > INT64_MAX || text.ptr[0] == '0')
		return false;
	*ret_row = (int64_t)row;
	return true;
}

bool api_cursor_row(struct api_call *call, int64_t *ret_row)
{
	const char *cursor = call->query.cursor;
	bool good = !cursor || api_row(str_of(cursor), ret_row);
	if (!good)
		api_error(call->reply, 400, "bad-parameter", "cursor: none of ours");
	return good;
}

bool api_sees(const struct api_call *call, const struct subject_view *subject)
{
	return auth_sees(&call->viewer, subject->namespace_) && subject_matches(&call->query.filter, subject);
}

void api_list_start(struct api_call *call)
{
	js_out_object(&call->out);
	js_out_key(&call->out, "items");
	js_out_array(&call->out);
}

void api_list_end(struct api_call *call, const char *next)
{
	js_out_array_end(&call->out);
	js_out_key(&call->out, "next");
	js_out_text(&call->out, next);
	js_out_object_end(&call->out);
	api_end(call);
}

void api_list_end_row(struct api_call *call, int64_t next)
{
	char text[24];
	(void)snprintf(text, sizeof text, "%" PRId64, next);
	api_list_end(call, next ? text : NULL);
}

void api_end(struct api_call *call)
{
	struct err err;
	if (js_out_end(&call->out, &err) < 0)
		api_failed(call->reply, &err);
}

bool api_unchanged(struct api_call *call, const char *etag)
{
	struct str given = server_header(call->request, "if-none-match");
	(void)snprintf(call->reply->extra, sizeof call->reply->extra, "ETag: \"%s\"\r\nCache-Control: no-cache\r\n",
		       etag);
	if (!str_has(given, str_of(etag)) && !str_eq(str_trim(given), STR("*")))
		return false;
	call->reply->status = 304;
	return true;
}

/* --- what is no API ---------------------------------------------------------------------------------------------- */

static void text_reply(struct server_reply *reply, unsigned status, const char *text)
{
	reply->status = status;
	reply->content_type = "text/plain; charset=utf-8";
	(void)buf_puts(&reply->body, text);
	(void)buf_putc(&reply->body, '\n');
}

static void healthz(struct api_call *call)
{
	text_reply(call->reply, 200, "ok");
}

/* No pod data and no paths: anybody may ask. */
static void readyz(struct api_call *call)
{
	const struct api *api = call->api;
	if (!api->store)
		text_reply(call->reply, 503, "not ready: the store is not open");
	else if (!api->ready)
		text_reply(call->reply, 503, "not ready: the last commit to the store failed");
	else
		text_reply(call->reply, 200, "ready");
}

static void metrics(struct api_call *call)
{
	struct err err;
	call->reply->content_type = PROM_CONTENT_TYPE;
	if (metrics_page(call->api, &call->viewer, &call->reply->body, &err) < 0)
		api_failed(call->reply, &err);
}

/* --- routes ------------------------------------------------------------------------------------------------------ */

enum method { METHOD_GET = 0, METHOD_POST, METHOD_DELETE, METHOD_COUNT };

/* A path is `before`, or `before` "/" id `after`. */
static const struct route {
	enum method method; /* GET serves HEAD too */
	struct str before, after;
	unsigned parameters;
	enum auth_role least;
	api_list_fn *list;
	api_item_fn *item;
} routes[] = {
	{ METHOD_GET, STR("/me"), STR(""), 0, AUTH_VIEWER, api_me, NULL },
	{ METHOD_GET, STR("/fleet"), STR(""), API_VIEW | API_TEXT | API_SEVERITY, AUTH_VIEWER, api_fleet, NULL },
	{ METHOD_GET, STR("/workloads"), STR(""), API_SUBJECT | API_PAGE | API_SEVERITY | API_TEXT, AUTH_VIEWER,
	  api_workloads, NULL },
	{ METHOD_GET, STR("/workloads"), STR("/pods"), API_PAGE | API_RANGE | API_PAST, AUTH_VIEWER, NULL,
	  api_workload_pods },
	{ METHOD_GET, STR("/workloads"), STR("/owners"), 0, AUTH_VIEWER, NULL, api_workload_owners },
	{ METHOD_GET, STR("/workloads"), STR(""), 0, AUTH_VIEWER, NULL, api_workload },
	{ METHOD_GET, STR("/pods"), STR(""), API_SUBJECT | API_PAGE | API_SEVERITY | API_CONNECTED | API_TEXT,
	  AUTH_VIEWER, api_pods, NULL },
	{ METHOD_GET, STR("/pods"), STR("/samples"), API_RANGE | API_STEP, AUTH_VIEWER, NULL, api_samples },
	{ METHOD_GET, STR("/pods"), STR("/events"), API_RANGE, AUTH_VIEWER, NULL, api_events },
	{ METHOD_GET, STR("/pods"), STR(""), 0, AUTH_VIEWER, NULL, api_pod },
	{ METHOD_GET, STR("/findings"), STR(""),
	  API_SUBJECT | API_PAGE | API_RULE | API_SEVERITY | API_OPEN | API_RANGE, AUTH_VIEWER, api_findings, NULL },
	{ METHOD_GET, STR("/findings"), STR(""), 0, AUTH_VIEWER, NULL, api_finding },
	{ METHOD_GET, STR("/postmortems"), STR(""), API_SUBJECT | API_PAGE | API_CAUSE | API_RANGE, AUTH_VIEWER,
	  api_postmortems, NULL },
	{ METHOD_GET, STR("/postmortems"), STR(""), 0, AUTH_VIEWER, NULL, api_postmortem },
	{ METHOD_GET, STR("/alerts"), STR(""), API_SUBJECT | API_PAGE | API_RULE | API_SEVERITY | API_ACTIVE,
	  AUTH_VIEWER, api_alerts, NULL },
	{ METHOD_GET, STR("/silences"), STR(""), API_PAGE | API_ACTIVE, AUTH_VIEWER, api_silences, NULL },
	{ METHOD_POST, STR("/silences"), STR(""), 0, AUTH_OPERATOR, api_silence_create, NULL },
	/* A question; it has a body because matchers have. */
	{ METHOD_POST, STR("/silences/preview"), STR(""), 0, AUTH_VIEWER, api_silence_preview, NULL },
	{ METHOD_GET, STR("/silences"), STR(""), 0, AUTH_VIEWER, NULL, api_silence },
	{ METHOD_DELETE, STR("/silences"), STR(""), 0, AUTH_OPERATOR, NULL, api_silence_end },
	{ METHOD_GET, STR("/audit"), STR(""), API_PAGE, AUTH_OPERATOR, api_audit, NULL },
};

/* The id in `path`, if it is one of this route. */
static bool match(const struct route *route, struct str path, struct str *ret_id)
{
	if (!str_take(&path, route->before))
		return false;
	*ret_id = (struct str){ path.ptr, 0 };
	if (route->list)
		return path.len == 0;
	if (!str_take(&path, STR("/")) || !str_ends(path, route->after) || path.len == route->after.len)
		return false;
	*ret_id = (struct str){ path.ptr, path.len - route->after.len };
	return str_index(*ret_id, '/') == ret_id->len;
}

static enum method method_of(struct str method)
{
	if (str_eq(method, STR("GET")) || str_eq(method, STR("HEAD")))
		return METHOD_GET;
	if (str_eq(method, STR("POST")))
		return METHOD_POST;
	return str_eq(method, STR("DELETE")) ? METHOD_DELETE : METHOD_COUNT;
}

static void is_too_low(struct api_call *call)
{
	api_error(call->reply, 403, "forbidden", "this needs a token of the role operator, and yours is a viewer's");
}

/* Who may, from a page of ours, and with a body that can be read. False: the reply says what is wrong. */
static bool may_write(struct api_call *call, const struct route *route)
{
	const struct server_request *request = call->request;
	/* A page of another origin must not write with the cookie of whoever looks at it. */
	const struct web *web = call->api->web;
	bool from_here = web && web_host_ok(web, request) && web_origin_ok(web, request);
	if (!from_here)
		api_error(call->reply, 403, "foreign-origin",
			  "writes come from this site's own pages, or with Authorization: Bearer TOKEN from a tool");
	else if (call->viewer.role < route->least)
		is_too_low(call);
	else if (route->method == METHOD_POST && request->body.len > API_BODY_MAX)
		api_error(call->reply, 413, "too-large", "a body of at most %d bytes", API_BODY_MAX);
	else if (route->method == METHOD_POST && !server_body_is(request, "application/json"))
		api_error(call->reply, 415, "no-json", "Content-Type: application/json, and a body to match");
	else
		return true;
	return false;
}

static void run(struct api_call *call, const struct route *route, struct str id)
{
	struct err err;
	if (route->method != METHOD_GET && !may_write(call, route))
		return;
	if (call->viewer.role < route->least) {
		is_too_low(call);
		return;
	}
	if (api_query_parse(call->request->query, route->parameters, &call->query, &err) < 0) {
		api_error(call->reply, 400, "bad-parameter", "%s", err.message);
		return;
	}
	js_out_start(&call->out, &call->reply->body, 0);
	(void)snprintf(call->reply->extra, sizeof call->reply->extra, "Cache-Control: no-store\r\n");
	if (route->list)
		route->list(call);
	else
		route->item(call, id);
}

static void not_allowed(struct server_reply *reply, unsigned methods)
{
	const char *post = methods & 1U << METHOD_POST ? ", POST" : "",
		   *delete = methods & 1U << METHOD_DELETE ? ", DELETE" : "";
	api_error(reply, 405, "method-not-allowed", "only GET%s HEAD%s%s", methods & ~1U ? "," : " and", post, delete);
	(void)snprintf(reply->extra, sizeof reply->extra, "Allow: GET, HEAD%s%s\r\n", post, delete);
}

static void versioned(struct api_call *call, struct str path)
{
	enum method method = method_of(call->request->method);
	unsigned methods = 0; /* that this path has */
	struct str id;
	for (size_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
		if (!match(&routes[i], path, &id))
			continue;
		if (routes[i].method == method) {
			run(call, &routes[i], id);
			return;
		}
		methods |= 1U << routes[i].method;
	}
	if (methods)
		not_allowed(call->reply, methods);
	else
		api_not_found(call);
}

/* Health is anybody's business; a listener of metrics has no others behind it. */
static bool is_open(enum api_surface surface, struct str path)
{
	return str_eq(path, STR("/healthz")) || str_eq(path, STR("/readyz")) ||
	       (surface == API_METRICS && str_eq(path, STR("/metrics")));
}

static void route(struct api_call *call, enum api_surface surface)
{
	struct str path = call->request->path;
	if (str_eq(path, STR("/healthz")))
		healthz(call);
	else if (str_eq(path, STR("/readyz")))
		readyz(call);
	else if (str_eq(path, STR("/metrics")))
		metrics(call);
	else if (surface == API_METRICS)
		api_not_found(call);
	else if (str_take(&path, STR("/api/v1")))
		versioned(call, path);
	else
		api_not_found(call);
}

void api_request(struct api *api, enum api_surface surface, const struct server_request *request, struct wall now,
		 struct server_reply *reply)
{
	struct api_call call = { .api = api, .request = request, .reply = reply, .now = now };
	if (!reply->body.cap)
		reply->body.cap = CAP;
	if (method_of(request->method) != METHOD_GET && !str_starts(request->path, STR("/api/v1/"))) {
		not_allowed(reply, 0);
		return;
	}
	if (!is_open(surface, request->path) && !auth_viewer(api->auth, request, &call.viewer, reply))
		return;
	route(&call, surface);
	if (buf_failed(&reply->body)) {
		struct err err = { .kind = ERR_NOMEM, .message = "no memory for the reply" };
		api_failed(reply, &err);
	}
}
