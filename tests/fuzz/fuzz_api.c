/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The HTTP API: method and surface by the first byte, then path, a line feed, query; or, by a bit of the first byte, a page
 * of ours that sends what follows as a body. Over a small fleet, a real store and its silences.
 * Every reply is whole: a status that we send, JSON where it says so, an error as an error.
 */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collector/api.h"
#include "collector/api_query.h"
#include "collector/silences.h"
#include "collector/web.h"
#include "data/js.h"

enum { AGENTS = 12, BODY_CAP = 4 << 20, METHODS = 7, ONLY_METRICS = 8, FROM_HERE = 16 };

/* Of the wire (RFC 7493): no larger one comes in. */
#define NUMBER_MAX ((UINT64_C(1) << 53) - 1)

static struct api api;
static struct store *store;
static struct silences *silences;
static struct web web = { .open = true };
static char directory[64];

static void clean(void)
{
	static const char *const names[] = { "bankfull.db", "bankfull.db-wal", "bankfull.db-shm", "bankfull.lock" };
	silences_free(silences);
	store_close(store);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char path[128];
		(void)snprintf(path, sizeof path, "%s/%s", directory, names[i]);
		(void)unlink(path);
	}
	(void)rmdir(directory);
}

static void must(int rc)
{
	if (rc < 0)
		abort();
}

static void put_agent(struct fleet *fleet, unsigned n)
{
	static struct wire_hello hello;
	static struct wire_sample sample;
	struct wire_finding finding = { .edge = n % 3 ? WIRE_OPENED : WIRE_CLEARED,
					.rule = "oom-kill",
					.severity = 1 + n % 4,
					.owner = -1,
					.title = "t",
					.opened = { 1 } };
	struct wire_postmortem death = { .parts = 1, .pid = 7, .owner = 0, .died = { 1764489600000 } };
	struct err err;
	char id[16];
	int64_t agent;
	struct wall now = { 1764489600000 };
	(void)snprintf(id, sizeof id, "a-%u", n);
	(void)snprintf(hello.subject.namespace_, sizeof hello.subject.namespace_, "ns-%u", n % 2);
	(void)snprintf(hello.subject.workload, sizeof hello.subject.workload, "w/%u", n % 3);
	(void)snprintf(hello.subject.pod, sizeof hello.subject.pod, "p-%u", n);
	hello.subject.n_labels = 1;
	(void)snprintf(hello.subject.labels[0].key, sizeof hello.subject.labels[0].key, "k");
	must(store_agent(store, id, &hello, now, &agent, &err));
	(void)snprintf(finding.id, sizeof finding.id, "f/%u", n);
	must(store_own_finding(store, agent, &finding, STR("{\"finding\":{\"a\":[1,null]}}"), now, &err));
	(void)snprintf(death.id, sizeof death.id, "d/%u", n);
	must(store_own_postmortem(store, agent, &death, STR("{\"body\":{}}"), now, &err));
	if (n == AGENTS - 1)
		return; /* known to the store alone */
	must(fleet_connected(fleet, agent, id, &hello, 0, now, &err));
	must(fleet_finding(fleet, agent, &finding, now, &err));
	sample.pid = 7;
	sample.has_composition = n % 2;
	sample.owners[OWNER_JAVA_HEAP] = qty_measured(NUMBER_MAX);
	sample.limit = limit_set(n ? NUMBER_MAX / n : 0);
	sample.freeboard_bytes = (struct signed_qty){ n - (int64_t)NUMBER_MAX, true };
	fleet_sample(fleet, agent, &sample, now);
}

static void start(void)
{
	struct loop *loop;
	struct fleet *fleet;
	struct auth *auth;
	struct err err;
	const char *tmp = getenv("TMPDIR");
	(void)snprintf(directory, sizeof directory, "%.40s/fuzz-api.XXXXXX", tmp && strlen(tmp) <= 40 ? tmp : "/tmp");
	if (!mkdtemp(directory))
		abort();
	must(store_open(directory, &(struct store_options){ 0 }, &store, &err));
	(void)atexit(clean);
	must(loop_new(LOOP_POLL, NULL, NULL, &loop, &err));
	must(fleet_new(&fleet, &err));
	must(auth_new(loop, &(struct auth_options){ .open = true, .open_viewers = true }, store, &auth, &err));
	must(store_begin(store, &err));
	for (unsigned n = 0; n < AGENTS; n++)
		put_agent(fleet, n);
	must(store_commit(store, &err));
	must(silences_new(store, NULL, &silences, &err));
	api = (struct api){ .fleet = fleet,
			    .store = store,
			    .auth = auth,
			    .silences = silences,
			    .web = &web,
			    .version = "v",
			    .cluster = "c",
			    .ready = true };
}

static void check_reply(const struct server_reply *reply)
{
	auto_js struct js *root = NULL;
	struct err err;
	switch (reply->status) {
	case 200:
	case 201:
	case 304:
	case 400:
	case 403:
	case 404:
	case 405:
	case 409:
		break;
	default:
		abort();
	}
	if (buf_failed(&reply->body) || reply->body.len >= BODY_CAP || strstr(reply->extra, "\r\n\r\n"))
		abort();
	if (strcmp(reply->content_type, "application/json") != 0)
		return;
	if (js_parse(buf_str(&reply->body), BODY_CAP, &root, &err) < 0)
		abort();
	bool is_error = js_kind(js_path(root, "error.message")) == JS_STRING;
	if (is_error != (reply->status >= 400) || js_len(js_get(root, "items")) > API_LIMIT_MAX)
		abort();
}

/* An id that was taken apart and put together again is one id, for ever. */
static void check_ids(struct str text)
{
	char cluster[64], namespace_[64], name[WIRE_NAME_CAP], again[3][WIRE_NAME_CAP], id[WIRE_ID_CAP];
	int64_t agent, same;
	auto_buf struct buf out = { .cap = API_CURSOR_CAP };
	if (api_workload_parse(text, cluster, namespace_, name)) {
		if (!api_workload_id(&out, cluster, namespace_, name) ||
		    !api_workload_parse(buf_str(&out), again[0], again[1], again[2]) ||
		    strcmp(again[0], cluster) != 0 || strcmp(again[1], namespace_) != 0 || strcmp(again[2], name) != 0)
			abort();
	}
	buf_clear(&out);
	if (api_finding_parse(text, &agent, id) &&
	    (!api_finding_id(&out, agent, id) || !api_finding_parse(buf_str(&out), &same, again[0]) || same != agent ||
	     strcmp(again[0], id) != 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const methods[] = { "GET", "DELETE", "GET", "HEAD", "POST", "", "get", "OPTIONS" };
	static const char *const ours[] = { "host",         "127.0.0.1:1",      "origin", "http://127.0.0.1:1",
					    "content-type", "application/json", NULL };
	if (!store)
		start();
	if (size == 0 || size > API_QUERY_CAP)
		return 0;
	/* In blocks of their own, as a server that cuts them out of a buffer has them. */
	struct str rest = { (const char *)data + 1, size - 1 };
	size_t end = str_index(rest, '\n');
	struct str query = str_skip(rest, end + 1);
	char *path = malloc(end + 1), *own_query = malloc(query.len + 1);
	if (!path || !own_query)
		abort();
	path[0] = '/';
	memcpy(path + 1, rest.ptr, end);
	memcpy(own_query, query.ptr, query.len);
	for (size_t i = 0; i <= end; i++)
		path[i] = path[i] ? path[i] : 'x'; /* the server takes no NUL */
	struct server_request request = { .method = str_of(methods[data[0] & METHODS]), .path = { path, end + 1 } };
	*(data[0] & FROM_HERE ? &request.body : &request.query) = (struct str){ own_query, query.len };
	if (data[0] & FROM_HERE)
		request.headers = ours;
	struct server_reply reply = { .status = 200, .content_type = "application/json", .body = { .cap = BODY_CAP } };
	api_request(&api, data[0] & ONLY_METRICS ? API_METRICS : API_ALL, &request, (struct wall){ 1764489660000 },
		    &reply);
	check_reply(&reply);
	buf_done(&reply.body);
	check_ids(query);
	free(path);
	free(own_query);
	return 0;
}
