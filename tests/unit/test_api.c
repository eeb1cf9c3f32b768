/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP API by requests that came by no wire, over a real store in a directory of the test's own. */
#include "collector/api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>

#include "bankfull/finding.h"
#include "data/js.h"
#include "data/prom.h"
#include "support/fleetfill.h"
#include "support/scratch.h"
#include "wire/wire.h"

enum { CAP = 16 << 20 };

static const struct wall t0 = { INT64_C(1764489600000) }; /* 2025-11-30T08:00:00Z */

struct setup {
	struct scratch scratch;
	struct loop *loop;
	struct store *store;
	struct fleet *fleet;
	struct auth *auth;
	struct api api;
	int64_t rows[8]; /* of the agents */
};

static void start(struct setup *s, const char *viewers)
{
	struct err err;
	char path[300];
	*s = (struct setup){ .scratch = scratch_new() };
	struct auth_options options = { .open = true, .open_viewers = !viewers };
	if (viewers) {
		scratch_file(&s->scratch, "viewers", viewers);
		(void)snprintf(path, sizeof path, "%s/viewers", s->scratch.path);
		assert_int_equal(chmod(path, 0600), 0);
		options.viewer_tokens_file = path;
	}
	if (loop_new(LOOP_POLL, NULL, NULL, &s->loop, &err) < 0 ||
	    store_open(s->scratch.path, &(struct store_options){ 0 }, &s->store, &err) < 0 ||
	    fleet_new(&s->fleet, &err) < 0 || auth_new(s->loop, &options, s->store, &s->auth, &err) < 0)
		fail_msg("%s", err.message);
	s->api = (struct api){ .fleet = s->fleet,
			       .store = s->store,
			       .auth = s->auth,
			       .version = "0.1.0-test",
			       .cluster = "prod",
			       .started = t0,
			       .ready = true };
}

static void stop(struct setup *s)
{
	auth_free(s->auth);
	fleet_free(s->fleet);
	store_close(s->store);
	loop_free(s->loop);
	scratch_done(&s->scratch);
}

static struct server_reply ask_as(struct setup *s, enum api_surface surface, const char *method, const char *path,
				  const char *query)
{
	struct server_request request = { .method = str_of(method), .path = str_of(path), .query = str_of(query) };
	struct server_reply reply = { .status = 200, .content_type = "application/json", .body = { .cap = CAP } };
	api_request(&s->api, surface, &request, (struct wall){ t0.ms + 60000 }, &reply);
	assert_false(buf_failed(&reply.body));
	return reply;
}

static struct server_reply ask(struct setup *s, const char *path, const char *query)
{
	return ask_as(s, API_ALL, "GET", path, query);
}

static struct js *json_of(const struct server_reply *reply)
{
	struct js *root = NULL;
	struct err err;
	assert_string_equal(reply->content_type, "application/json");
	if (js_parse(buf_str(&reply->body), CAP, &root, &err) < 0)
		fail_msg("%s: %.200s", err.message, reply->body.ptr);
	return root;
}

/* --- what is in the store ---------------------------------------------------------------------------------------- */

static void do_(int rc, const struct err *err)
{
	if (rc < 0)
		fail_msg("%s", err->message);
}

static void put_finding(struct setup *s, int64_t agent, struct store_epoch *epoch, struct wire_finding *finding,
			uint64_t seq)
{
	static struct finding whole;
	static struct wire_message message;
	struct err err;
	auto_buf struct buf text = { .cap = WIRE_FRAME_MAX };
	whole = (struct finding){ .rule = finding->rule, .severity = finding->severity, .owner = finding->owner };
	(void)snprintf(whole.title, sizeof whole.title, "%s", finding->title);
	(void)snprintf(whole.observation, sizeof whole.observation, "observed \x1b[2J it");
	finding->head.epoch = epoch->epoch;
	finding->head.seq = seq;
	message = (struct wire_message){ .type = WIRE_FINDING, .finding = *finding };
	message.finding.whole = finding->edge == WIRE_CLEARED ? NULL : &whole;
	do_(wire_encode(&message, &text, &err), &err);
	do_(store_finding(s->store, agent, epoch, finding, finding->edge == WIRE_CLEARED ? STR("") : buf_str(&text), t0,
			  &err),
	    &err);
	do_(fleet_finding(s->fleet, agent, finding, t0, &err), &err);
}

static void put_postmortem(struct setup *s, int64_t agent, struct store_epoch *epoch, uint64_t seq, const char *last)
{
	static struct wire_message message;
	struct err err;
	for (unsigned part = 0; part < 2; part++) {
		auto_buf struct buf text = { .cap = WIRE_FRAME_MAX };
		message = (struct wire_message){ .type = WIRE_POSTMORTEM };
		struct wire_postmortem *pm = &message.postmortem;
		pm->head = (struct wire_head){ epoch->epoch, seq + part, 5, t0 };
		(void)snprintf(pm->id, sizeof pm->id, "pm/1");
		pm->part = part;
		pm->parts = 2;
		pm->cause = DEATH_CONTAINER_LIMIT;
		pm->owner = OWNER_NATIVE_OTHER;
		pm->pid = 17;
		pm->died = t0;
		(void)snprintf(pm->title, sizeof pm->title, "killed at its limit");
		pm->body = part ? str_of(last) : STR("{\"verdict\":{\"cause\":\"container-limit\"}}");
		do_(wire_encode(&message, &text, &err), &err);
		do_(store_postmortem(s->store, agent, epoch, pm, buf_str(&text), t0, &err), &err);
	}
	fleet_postmortem(s->fleet, agent, t0);
}

/* Four agents: 0, 1 in team-0/job-0, 2 in team-1/job-1; 3 is known to the store alone, and has a finding. */
static void fill(struct setup *s)
{
	static const unsigned numbers[] = { 0, 1, 50, 51 };
	static struct wire_sample sample;
	static struct wire_hello hello;
	struct err err;
	do_(store_begin(s->store, &err), &err);
	for (unsigned i = 0; i < 4; i++) {
		struct store_epoch epoch;
		struct wire_finding finding;
		struct wire_epoch id = { .bytes = { (uint8_t)(i + 1) } };
		char agent_id[40];
		uint64_t seq = 1;
		(void)snprintf(agent_id, sizeof agent_id, "uid-%u", i);
		fleetfill_hello(&hello, numbers[i]);
		do_(store_agent(s->store, agent_id, &hello, t0, &s->rows[i], &err), &err);
		do_(store_epoch(s->store, s->rows[i], id, t0, &epoch, &err), &err);
		if (i < 3)
			do_(fleet_connected(s->fleet, s->rows[i], agent_id, &hello, 40, t0, &err), &err);
		for (; seq <= 10; seq++) {
			fleetfill_sample(&sample, numbers[i]);
			/* Ten seconds apart, and two minutes missing in the middle. */
			struct wall at = { t0.ms - 300000 + (int64_t)seq * 10000 + (seq > 5 ? 120000 : 0) };
			sample.head = (struct wire_head){ id, seq, seq * 10000, at };
			do_(store_sample(s->store, s->rows[i], &epoch, &sample, at, &err), &err);
			fleet_sample(s->fleet, s->rows[i], &sample, at);
		}
		struct wire_gap gap = { .epoch = id, .from = seq, .to = seq + 4, .reason = "spool-full" };
		do_(store_gap(s->store, s->rows[i], &epoch, &gap, t0, &err), &err);
		seq += 5;
		fleetfill_finding(&finding, i);
		if (i == 1) {
			finding.severity = SEVERITY_CRITICAL;
			(void)snprintf(finding.rule, sizeof finding.rule, "oom-kill");
		}
		put_finding(s, s->rows[i], &epoch, &finding, seq++);
		if (i == 2) {
			finding.edge = WIRE_CLEARED;
			put_finding(s, s->rows[i], &epoch, &finding, seq++);
		}
		if (i == 0)
			put_postmortem(s, s->rows[i], &epoch, seq, "{\"timeline\":[]}");
	}
	do_(store_commit(s->store, &err), &err);
}

/* --- looking into replies ---------------------------------------------------------------------------------------- */

static bool text_is(const struct js *object, const char *path, const char *want)
{
	struct str got;
	return js_str(js_path(object, path), &got) && str_eq(got, str_of(want));
}

static int64_t number(const struct js *object, const char *path)
{
	int64_t got;
	if (!js_i64(js_path(object, path), &got))
		fail_msg("%s is no number", path);
	return got;
}

static void lists(void **state)
{
	(void)state;
	struct setup s;
	start(&s, NULL);
	fill(&s);
	static const struct {
		const char *path, *query;
		unsigned items;
	} rows[] = {
		{ "/api/v1/pods", "", 3 },
		{ "/api/v1/pods", "limit=2", 2 },
		{ "/api/v1/pods", "&namespace=team-0&", 2 },
		{ "/api/v1/pods", "namespace=team%2D0&workload=job-0&cluster=prod", 2 },
		{ "/api/v1/pods", "namespace=team-9", 0 },
		{ "/api/v1/pods", "namespace=", 0 },
		{ "/api/v1/pods", "pod=job-0-taskmanager-1-1", 1 },
		{ "/api/v1/pods", "node=node-0.internal", 1 },
		{ "/api/v1/pods", "container=flink-main-container&role=taskmanager&job=job-1", 1 },
		{ "/api/v1/pods", "role=jobmanager", 0 },
		{ "/api/v1/pods", "label.tier=gold", 1 },
		{ "/api/v1/pods", "label.app.kubernetes.io%2Fname=job-0&label.tier=silver", 2 },
		{ "/api/v1/pods", "connected=true", 3 },
		{ "/api/v1/pods", "connected=false", 0 },
		{ "/api/v1/pods", "severity=critical", 1 },
		{ "/api/v1/pods", "severity=warning", 2 },
		{ "/api/v1/workloads", "", 2 },
		{ "/api/v1/workloads", "limit=1", 1 },
		{ "/api/v1/workloads", "namespace=team-1", 1 },
		{ "/api/v1/workloads", "pod=job-0-taskmanager-1-1", 1 },
		{ "/api/v1/workloads", "severity=critical", 1 },
		{ "/api/v1/findings", "", 4 },
		{ "/api/v1/findings", "open=true", 3 },
		{ "/api/v1/findings", "open=true&namespace=team-1", 1 }, /* of the agent that the fleet has not */
		{ "/api/v1/findings", "rule=oom-kill", 1 },
		{ "/api/v1/findings", "severity=critical", 1 },
		{ "/api/v1/findings", "pod=job-0-taskmanager-1-0", 1 },
		{ "/api/v1/findings", "limit=3", 3 },
		{ "/api/v1/findings", "from=2025-11-30T07:00:00Z&to=2025-11-30T09:00:00%2B00:00", 4 },
		{ "/api/v1/findings", "from=2025-11-30T07:00:00Z&to=2025-11-30T09:00:00+00:00", 4 },
		{ "/api/v1/findings", "to=2025-11-30T07:00:00Z", 0 },
		{ "/api/v1/postmortems", "", 1 },
		{ "/api/v1/postmortems", "cause=container-limit", 1 },
		{ "/api/v1/postmortems", "cause=node", 0 },
		{ "/api/v1/postmortems", "namespace=team-1", 0 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct server_reply reply = ask(&s, rows[i].path, rows[i].query);
		auto_js struct js *root = json_of(&reply);
		if (reply.status != 200 || js_len(js_get(root, "items")) != rows[i].items)
			fail_msg("%s?%s: %u, %zu items: %.300s", rows[i].path, rows[i].query, reply.status,
				 js_len(js_get(root, "items")), reply.body.ptr);
		buf_done(&reply.body);
	}
	stop(&s);
}

/* Every item once, whatever the size of a page. */
static void pages(void **state)
{
	(void)state;
	static const char *const paths[] = { "/api/v1/pods", "/api/v1/workloads", "/api/v1/findings" };
	struct setup s;
	start(&s, NULL);
	fill(&s);
	for (size_t i = 0; i < 3; i++)
		for (unsigned limit = 1; limit <= 5; limit++) {
			char query[2048], seen[1024] = "";
			unsigned n = 0, turns = 0;
			(void)snprintf(query, sizeof query, "limit=%u", limit);
			for (bool more = true; more; turns++) {
				struct server_reply reply = ask(&s, paths[i], query);
				auto_js struct js *root = json_of(&reply);
				struct str id, next;
				assert_int_equal(reply.status, 200);
				for (size_t at = 0; at < js_len(js_get(root, "items")); at++, n++) {
					char mark[64];
					assert_true(js_str(js_get(js_at(js_get(root, "items"), at), "id"), &id));
					(void)snprintf(mark, sizeof mark, "<%.*s>", (int)id.len, id.ptr);
					assert_null(strstr(seen, mark));
					(void)strcat(seen, mark);
				}
				more = js_str(js_get(root, "next"), &next);
				if (more)
					(void)snprintf(query, sizeof query, "limit=%u&cursor=%.*s", limit,
						       (int)next.len, next.ptr);
				buf_done(&reply.body);
				assert_true(turns < 10);
			}
			assert_int_equal(n, i == 0 ? 3 : i == 1 ? 2 : 4);
		}
	stop(&s);
}

static void one_of_each(void **state)
{
	(void)state;
	struct setup s;
	char path[128];
	start(&s, NULL);
	fill(&s);
	(void)snprintf(path, sizeof path, "/api/v1/pods/%d", (int)s.rows[1]);
	struct server_reply reply = ask(&s, path, "");
	struct js *root = json_of(&reply);
	assert_true(text_is(root, "subject.pod", "job-0-taskmanager-1-1"));
	assert_true(text_is(root, "workload_id", "prod:team-0:job-0"));
	assert_int_equal(number(root, "sample.age_ms"), 60000 + 80000);
	assert_int_equal(number(root, "sample.taken_ms"), number(root, "sample.received_ms") + 40);
	assert_int_equal(number(root, "sample.limit_bytes"), INT64_C(4096) << 20);
	assert_int_equal(number(root, "sample.freeboard_bytes"), INT64_C(1076) << 20);
	assert_int_equal(number(root, "sample.freeboard_bp"), 10000 * 1076 / 4096);
	assert_int_equal(js_kind(js_path(root, "sample.swap_bytes")), JS_NULL);
	assert_int_equal(js_kind(js_path(root, "sample.context.restoring")), JS_NULL);
	assert_int_equal(number(root, "composition.age_ms"), 60000 + 80000 + 1500);
	assert_int_equal(number(root, "composition.residual_bytes"), -4096);
	assert_int_equal(js_len(js_path(root, "composition.owners")), OWNER_COUNT - 1); /* one is unread */
	assert_int_equal(js_len(js_get(root, "findings")), 1);
	struct str id;
	char finding[128];
	assert_true(js_str(js_get(js_at(js_get(root, "findings"), 0), "id"), &id));
	(void)snprintf(finding, sizeof finding, "/api/v1/findings/%.*s", (int)id.len, id.ptr);
	js_free(root);
	buf_done(&reply.body);

	reply = ask(&s, finding, "");
	root = json_of(&reply);
	assert_true(text_is(root, "rule", "oom-kill"));
	assert_true(text_is(root, "state", "opened"));
	assert_true(text_is(root, "runbook", "/docs/rules/oom-kill"));
	assert_true(text_is(root, "finding.observation", "observed \x1b[2J it"));
	assert_null(strchr(reply.body.ptr, '\x1b')); /* escaped on the way out */
	assert_non_null(strstr(reply.extra, "ETag: \""));
	js_free(root);
	buf_done(&reply.body);

	(void)snprintf(path, sizeof path, "/api/v1/findings/%d:f-2", (int)s.rows[2]);
	reply = ask(&s, path, "");
	root = json_of(&reply);
	assert_true(text_is(root, "state", "cleared"));
	assert_int_equal(js_kind(js_get(root, "open")), JS_BOOL);
	assert_true(text_is(root, "finding.rule", "freeboard-low")); /* the whole is that of before */
	js_free(root);
	buf_done(&reply.body);

	(void)snprintf(path, sizeof path, "/api/v1/postmortems/%d:pm~2f1", (int)s.rows[0]);
	reply = ask(&s, path, "");
	root = json_of(&reply);
	assert_int_equal(js_len(js_get(root, "bodies")), 2);
	assert_true(text_is(js_at(js_get(root, "bodies"), 0), "verdict.cause", "container-limit"));
	assert_true(text_is(root, "cause", "container-limit"));
	js_free(root);
	buf_done(&reply.body);

	reply = ask(&s, "/api/v1/workloads/prod:team-0:job-0", "");
	root = json_of(&reply);
	assert_int_equal(number(root, "pods"), 2);
	assert_int_equal(number(root, "limit.bytes"), INT64_C(8192) << 20);
	assert_int_equal(number(root, "limit.of_pods"), 2);
	assert_int_equal(number(root, "worst_freeboard_bytes"), INT64_C(1076) << 20);
	assert_true(text_is(root, "severity", "critical"));
	assert_int_equal(number(root, "findings.critical"), 1);
	assert_int_equal(number(root, "findings.warning"), 1);
	assert_int_equal(number(root, "last_postmortem_ms"), t0.ms);
	js_free(root);
	buf_done(&reply.body);
	stop(&s);
}

/* "death-PID-TICKS" is unique for one agent alone: pid 1 of two pods that started together is the same one. */
static void one_id_of_two_agents(void **state)
{
	(void)state;
	static struct wire_hello hello;
	struct setup s;
	struct err err;
	start(&s, NULL);
	do_(store_begin(s.store, &err), &err);
	for (unsigned i = 0; i < 2; i++) {
		struct store_epoch epoch;
		fleetfill_hello(&hello, i);
		do_(store_agent(s.store, i ? "b" : "a", &hello, t0, &s.rows[i], &err), &err);
		do_(store_epoch(s.store, s.rows[i], (struct wire_epoch){ .bytes = { 1 + (uint8_t)i } }, t0, &epoch,
				&err),
		    &err);
		put_postmortem(&s, s.rows[i], &epoch, 1, i ? "{\"of\":\"b\"}" : "{\"of\":\"a\"}");
	}
	do_(store_commit(s.store, &err), &err);
	for (unsigned i = 0; i < 2; i++) {
		char path[128];
		(void)snprintf(path, sizeof path, "/api/v1/postmortems/%d:pm~2f1", (int)s.rows[i]);
		struct server_reply reply = ask(&s, path, "");
		struct js *root = json_of(&reply);
		assert_int_equal(js_len(js_get(root, "bodies")), 2);
		assert_true(text_is(js_at(js_get(root, "bodies"), 1), "of", i ? "b" : "a"));
		js_free(root);
		buf_done(&reply.body);
	}
	stop(&s);
}

/* Unread is null, never 0: an agent of which nothing is known but its name. */
static void unread_is_null(void **state)
{
	(void)state;
	struct setup s;
	struct err err;
	static struct wire_hello hello;
	static struct wire_sample sample;
	start(&s, NULL);
	do_(fleet_connected(s.fleet, 1, "bare", &hello, 0, t0, &err), &err);
	struct server_reply reply = ask(&s, "/api/v1/pods/1", "");
	struct js *root = json_of(&reply);
	assert_int_equal(js_kind(js_get(root, "sample")), JS_NULL);
	assert_int_equal(js_kind(js_path(root, "subject.pod")), JS_NULL);
	assert_true(text_is(root, "workload_id", "::"));
	js_free(root);
	buf_done(&reply.body);

	sample.forecast.owner = -1;
	fleet_sample(s.fleet, 1, &sample, t0);
	reply = ask(&s, "/api/v1/pods/1", "");
	root = json_of(&reply);
	struct js_iter iter = { 0 };
	struct str key;
	const struct js *value;
	unsigned nulls = 0;
	while (js_each(js_get(root, "sample"), &iter, &key, &value))
		nulls += js_kind(value) == JS_NULL;
	assert_true(nulls >= 12);
	assert_int_equal(js_kind(js_path(root, "sample.pid")), JS_NULL);
	assert_int_equal(js_kind(js_path(root, "sample.groups.anon")), JS_NULL);
	assert_int_equal(js_kind(js_get(root, "composition")), JS_NULL);
	js_free(root);
	buf_done(&reply.body);

	/* That there is no limit is known; that it was not read is not the same. */
	for (unsigned none = 0; none < 2; none++) {
		bool no_limit;
		sample.limit = (struct limit){ .kind = none ? LIMIT_NONE : LIMIT_UNREAD };
		fleet_sample(s.fleet, 1, &sample, t0);
		static const char *const paths[][2] = { { "/api/v1/pods/1", "sample" }, { "/api/v1/fleet", "rows" } };
		for (unsigned i = 0; i < 2; i++) {
			reply = ask(&s, paths[i][0], "");
			root = json_of(&reply);
			const struct js *row = js_get(root, paths[i][1]);
			if (js_kind(row) == JS_ARRAY)
				row = js_at(row, 0);
			assert_true(js_bool(js_get(row, "no_limit"), &no_limit));
			assert_int_equal(no_limit, none);
			assert_int_equal(js_kind(js_get(row, i ? "limit" : "limit_bytes")), JS_NULL);
			js_free(root);
			buf_done(&reply.body);
		}
	}

	reply = ask(&s, "/api/v1/workloads/::", "");
	root = json_of(&reply);
	assert_int_equal(js_kind(js_path(root, "limit.bytes")), JS_NULL);
	assert_int_equal(number(root, "limit.of_pods"), 0);
	assert_int_equal(js_kind(js_get(root, "worst_freeboard_bytes")), JS_NULL);
	assert_int_equal(js_kind(js_get(root, "severity")), JS_NULL);
	js_free(root);
	buf_done(&reply.body);
	stop(&s);
}

static void series(void **state)
{
	(void)state;
	struct setup s;
	char path[128];
	start(&s, NULL);
	fill(&s);
	(void)snprintf(path, sizeof path, "/api/v1/pods/%d/samples", (int)s.rows[0]);
	struct server_reply reply = ask(&s, path, "from=2025-11-30T07:00:00Z&step=0");
	struct js *root = json_of(&reply);
	if (reply.status != 200 || js_len(js_get(root, "points")) != 10)
		fail_msg("%.400s", reply.body.ptr);
	assert_int_equal(js_len(js_get(root, "holes")), 1);
	const struct js *hole = js_at(js_get(root, "holes"), 0);
	assert_int_equal(number(hole, "to_ms") - number(hole, "from_ms"), 130000);
	assert_int_equal(js_len(js_get(root, "gaps")), 1);
	const struct js *gap = js_at(js_get(root, "gaps"), 0);
	assert_int_equal(number(gap, "from_seq"), 11);
	assert_int_equal(number(gap, "to_seq"), 15);
	assert_true(text_is(gap, "reason", "spool-full"));
	assert_int_equal(js_kind(js_get(root, "next_ms")), JS_NULL);
	const struct js *point = js_at(js_get(root, "points"), 0);
	assert_int_equal(number(point, "limit_bytes"), INT64_C(4096) << 20);
	assert_int_equal(number(point, "samples"), 1);
	assert_int_equal(number(point, "owners.java-heap"), 1 << 20);
	js_free(root);
	buf_done(&reply.body);

	/* Wider steps, and a window without anything: no points, none made up. */
	reply = ask(&s, path, "from=2025-11-30T07:00:00Z&step=60s");
	root = json_of(&reply);
	assert_in_range(js_len(js_get(root, "points")), 2, 5);
	js_free(root);
	buf_done(&reply.body);
	reply = ask(&s, path, "from=2025-11-29T07:00:00Z&to=1764400000000");
	root = json_of(&reply);
	assert_int_equal(reply.status, 200);
	assert_int_equal(js_len(js_get(root, "points")), 0);
	js_free(root);
	buf_done(&reply.body);
	stop(&s);
}

/* Samples each 10 s, then 1 s of an urgent agent, then none for `silent_s`, then one each 10 s again. */
static size_t holes_of(struct setup *s, int64_t silent_s, const char *query)
{
	static struct wire_sample sample;
	static struct wire_hello hello;
	struct store_epoch epoch;
	struct wire_epoch id = { .bytes = { 9 } };
	struct err err;
	int64_t row = 0, at_s = -7000;
	char path[64];
	fleetfill_hello(&hello, 7);
	fleetfill_sample(&sample, 7);
	do_(store_begin(s->store, &err), &err);
	do_(store_agent(s->store, "paced", &hello, t0, &row, &err), &err);
	do_(store_epoch(s->store, row, id, t0, &epoch, &err), &err);
	do_(fleet_connected(s->fleet, row, "paced", &hello, 0, t0, &err), &err);
	for (uint64_t seq = 1; seq <= 400; seq++) {
		struct wall at = { t0.ms + at_s * 1000 };
		sample.interval_ms = seq > 200 && seq < 300 ? 1000 : 10000;
		sample.head = (struct wire_head){ id, seq, seq * 10000, at };
		do_(store_sample(s->store, row, &epoch, &sample, at, &err), &err);
		fleet_sample(s->fleet, row, &sample, at);
		at_s += seq == 350 ? silent_s : sample.interval_ms / 1000;
	}
	sample.interval_ms = 1000; /* urgent now */
	fleet_sample(s->fleet, row, &sample, t0);
	do_(store_commit(s->store, &err), &err);
	(void)snprintf(path, sizeof path, "/api/v1/pods/%d/samples", (int)row);
	struct server_reply reply = ask(s, path, query);
	struct js *root = json_of(&reply);
	assert_int_equal(reply.status, 200);
	size_t n = js_len(js_get(root, "holes"));
	js_free(root);
	buf_done(&reply.body);
	return n;
}

static void a_hole_is_of_the_pace_of_then(void **state)
{
	(void)state;
	static const struct {
		int64_t silent_s;
		const char *query;
		size_t holes;
	} cases[] = {
		{ 10, "from=2025-11-30T05:00:00Z&step=0", 0 },
		{ 40, "from=2025-11-30T05:00:00Z&step=0", 1 },
		{ 10, "from=2025-11-30T05:00:00Z&step=5s", 0 },
		{ 10, "from=2025-11-30T05:00:00Z&step=5m", 0 },
		{ 620, "from=2025-11-30T05:00:00Z&step=5m", 1 },
		{ 700, "from=2025-11-30T05:00:00Z&step=18446744073709551615", 0 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct setup s;
		start(&s, NULL);
		size_t n = holes_of(&s, cases[i].silent_s, cases[i].query);
		if (n != cases[i].holes)
			fail_msg("%lld s of silence, %s: %zu holes", (long long)cases[i].silent_s, cases[i].query, n);
		stop(&s);
	}
}

static void refusals(void **state)
{
	(void)state;
	struct setup s;
	start(&s, NULL);
	fill(&s);
	static const struct {
		const char *method, *path, *query;
		unsigned status;
		const char *message;
	} rows[] = {
		{ "GET", "/api/v1/pods", "limit=0", 400, "limit: '0' is no number from 1 to 1000" },
		{ "GET", "/api/v1/pods", "limit=1001", 400, "limit: '1001' is no number from 1 to 1000" },
		{ "GET", "/api/v1/pods", "limit=1&limit=2", 400, "limit is given twice" },
		{ "GET", "/api/v1/pods", "colour=red", 400, "no parameter 'colour' here" },
		{ "GET", "/api/v1/pods", "%1b[2J=red", 400, "no parameter '%1b[2J' here" },
		{ "GET", "/api/v1/pods", "\x1b[2J=red", 400, "no parameter '\\x1b[2J' here" },
		{ "GET", "/api/v1/pods", "rule=oom-kill", 400, "no parameter 'rule' here" },
		{ "GET", "/api/v1/pods", "label.=x", 400, "no parameter 'label.' here" },
		{ "GET", "/api/v1/pods", "label.a=1&label.b=1&label.c=1&label.d=1&label.e=1", 400, "at most 4 labels" },
		{ "GET", "/api/v1/pods", "namespace=%zz", 400, "namespace: '%zz' is malformed" },
		{ "GET", "/api/v1/pods", "namespace=%00", 400, "namespace: '%00' is malformed" },
		{ "GET", "/api/v1/pods", "namespace=a%2", 400, "namespace: 'a%2' is malformed" },
		{ "GET", "/api/v1/pods", "cursor=abc", 400, "cursor: none of ours" },
		{ "GET", "/api/v1/pods", "cursor=", 400,
		  "cursor: '' is no cursor: give the `next` of the page before" },
		{ "GET", "/api/v1/workloads", "cursor=abc", 400, "cursor: none of ours" },
		{ "GET", "/api/v1/findings", "cursor=-1", 400, "cursor: none of ours" },
		{ "GET", "/api/v1/pods", "role=king", 400,
		  "role: 'king' is none of unknown, taskmanager, jobmanager, streams, jvm" },
		{ "GET", "/api/v1/pods", "connected=1", 400, "connected: '1' is neither true nor false" },
		{ "GET", "/api/v1/findings", "open=yes", 400, "open: 'yes' is neither true nor false" },
		{ "GET", "/api/v1/findings", "severity=none", 400,
		  "severity: 'none' is none of info, notice, warning, critical" },
		{ "GET", "/api/v1/findings", "from=yesterday", 400,
		  "from: 'yesterday' is no time: 2026-12-31T08:00:00Z, or milliseconds since 1970" },
		{ "GET", "/api/v1/findings", "from=20&to=10", 400, "from is not before to" },
		{ "GET", "/api/v1/postmortems", "cause=love", 400, NULL },
		{ "GET", "/api/v1/pods/1/samples", "step=fast", 400, NULL },
		{ "GET", "/api/v1/pods/1/samples", "from=1895000000000", 400, "from is not before to" },
		{ "GET", "/api/v1/pods/1", "limit=1", 400, "no parameter 'limit' here" },
		{ "GET", "/api/v1/pods/99", "", 404, "nothing at /api/v1/pods/99" },
		{ "GET", "/api/v1/pods/01", "", 404, NULL },
		{ "GET", "/api/v1/pods/-1", "", 404, NULL },
		{ "GET", "/api/v1/pods/4", "", 404, NULL }, /* known to the store alone */
		{ "GET", "/api/v1/pods/", "", 404, NULL },
		{ "GET", "/api/v1/pods/1/2/samples", "", 404, NULL },
		{ "GET", "/api/v1/pods//samples", "", 404, NULL },
		{ "GET", "/api/v1/podsx", "", 404, NULL },
		{ "GET", "/api/v1/findings/1", "", 404, NULL },
		{ "GET", "/api/v1/findings/1:", "", 404, NULL },
		{ "GET", "/api/v1/findings/1:f-1~0", "", 404, NULL },
		{ "GET", "/api/v1/findings/1:f-3", "", 404, NULL },
		{ "GET", "/api/v1/postmortems/1:x", "", 404, NULL },
		{ "GET", "/api/v1/postmortems/0:x", "", 404, NULL },
		{ "GET", "/api/v1/workloads/a:b", "", 404, NULL },
		{ "GET", "/api/v1/workloads/prod:team-0:job-1", "", 404, NULL },
		{ "GET", "/api/v1/silences", "", 404, NULL },
		{ "GET", "/api/v1/live", "", 404, NULL },
		{ "GET", "/api/v1", "", 404, NULL },
		{ "GET", "/api/v2/pods", "", 404, NULL },
		{ "GET", "/", "", 404, NULL },
		{ "POST", "/api/v1/pods", "", 405, "only GET and HEAD" },
		{ "DELETE", "/healthz", "", 405, "only GET and HEAD" },
		{ "", "/api/v1/pods", "", 405, NULL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct server_reply reply = ask_as(&s, API_ALL, rows[i].method, rows[i].path, rows[i].query);
		auto_js struct js *root = json_of(&reply);
		if (reply.status != rows[i].status || number(root, "error.status") != rows[i].status ||
		    (rows[i].message && !text_is(root, "error.message", rows[i].message)) || js_len(root) != 1)
			fail_msg("%s %s?%s: %u %s", rows[i].method, rows[i].path, rows[i].query, reply.status,
				 reply.body.ptr);
		assert_null(strchr(reply.body.ptr, '\n'));
		assert_int_equal(strstr(reply.extra, "Allow: GET, HEAD\r\n") != NULL, reply.status == 405);
		buf_done(&reply.body);
	}
	stop(&s);
}

/* A store that fails is an error of its own, whole, and not half a list. */
static void the_store_is_broken(void **state)
{
	(void)state;
	struct setup s;
	char command[400];
	start(&s, NULL);
	fill(&s);
	store_close(s.store);
	(void)snprintf(command, sizeof command, "%s/bankfull.db", s.scratch.path);
	struct err err;
	do_(store_open(s.scratch.path, &(struct store_options){ 0 }, &s.store, &err), &err);
	s.api.store = s.store;
	s.api.ready = false;
	struct server_reply reply = ask(&s, "/readyz", "");
	assert_int_equal(reply.status, 503);
	assert_string_equal(reply.body.ptr, "not ready: the last commit to the store failed\n");
	buf_done(&reply.body);
	/* A body that does not fit is refused, not cut. */
	struct server_request request = { .method = STR("GET"), .path = STR("/api/v1/pods"), .query = STR("") };
	reply = (struct server_reply){ .status = 200, .body = { .cap = 700 } };
	api_request(&s.api, API_ALL, &request, t0, &reply);
	assert_int_equal(reply.status, 400);
	auto_js struct js *root = json_of(&reply);
	assert_true(text_is(root, "error.code", "too-large"));
	buf_done(&reply.body);
	stop(&s);
}

static void health_and_pages(void **state)
{
	(void)state;
	struct setup s;
	start(&s, "viewer ann secret-token-of-ann team-0\n");
	fill(&s);
	static const struct {
		enum api_surface surface;
		const char *path;
		unsigned status;
		const char *part;
	} rows[] = {
		{ API_ALL, "/healthz", 200, "ok\n" },       { API_METRICS, "/healthz", 200, "ok\n" },
		{ API_METRICS, "/readyz", 200, "ready\n" }, { API_METRICS, "/metrics", 200, "bankfull_workload_pods{" },
		{ API_METRICS, "/api/v1/pods", 401, NULL }, { API_METRICS, "/docs/rules/oom-kill", 401, NULL },
		{ API_ALL, "/metrics", 401, NULL },         { API_ALL, "/api/v1/pods", 401, NULL },
		{ API_ALL, "/api/v1/pods/1", 401, NULL },   { API_ALL, "/nothing", 401, NULL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct server_reply reply = ask_as(&s, rows[i].surface, "GET", rows[i].path, "");
		if (reply.status != rows[i].status || (rows[i].part && !strstr(reply.body.ptr, rows[i].part)))
			fail_msg("%s: %u %.200s", rows[i].path, reply.status, reply.body.ptr);
		/* What anybody may read names no pod. */
		if (strcmp(rows[i].path, "/metrics") != 0 && reply.body.len)
			assert_null(strstr(reply.body.ptr, "team-"));
		buf_done(&reply.body);
	}
	s.api.store = NULL;
	struct server_reply reply = ask(&s, "/readyz", "");
	assert_int_equal(reply.status, 503);
	buf_done(&reply.body);
	s.api.store = s.store;
	stop(&s);
}

/* --- metrics ----------------------------------------------------------------------------------------------------- */

static void metrics(void **state)
{
	(void)state;
	struct setup s;
	struct err err;
	start(&s, NULL);
	fill(&s);
	struct server_reply reply = ask(&s, "/metrics", "");
	assert_int_equal(reply.status, 200);
	static const char *const lines[] = {
		"bankfull_collector_build_info{version=\"0.1.0-test\"} 1\n",
		"process_start_time_seconds 1764489600.000\n",
		"bankfull_workload_pods{cluster=\"prod\",namespace=\"team-0\",workload=\"job-0\",state=\"connected\"} 2\n",
		"bankfull_workload_pods_read{cluster=\"prod\",namespace=\"team-0\",workload=\"job-0\",figure=\"floor\"} 2\n",
		"bankfull_workload_limit_bytes{cluster=\"prod\",namespace=\"team-0\",workload=\"job-0\"} 8589934592\n",
		"bankfull_workload_worst_freeboard_ratio{cluster=\"prod\",namespace=\"team-0\",workload=\"job-0\"} 0.2626\n",
		"bankfull_workload_findings{cluster=\"prod\",namespace=\"team-0\",workload=\"job-0\",severity=\"critical\"} 1\n",
		"bankfull_collector_workloads_left_out 0\n",
		"bankfull_collector_store_agents 4\n",
		"bankfull_collector_findings{severity=\"warning\"} 0\n",
	};
	for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
		if (!strstr(reply.body.ptr, lines[i]))
			fail_msg("no line %s in\n%s", lines[i], reply.body.ptr);
	assert_null(strstr(reply.body.ptr, "taskmanager-1")); /* no pod, ever */
	buf_done(&reply.body);

	/* Past the cap: as many series, and a number that says how many are not there. */
	static struct wire_hello hello;
	for (unsigned i = 0; i < 2100; i++) {
		fleetfill_hello(&hello, i * FLEETFILL_PER_WORKLOAD + 10000);
		do_(fleet_connected(s.fleet, 1000 + i, "x", &hello, 0, t0, &err), &err);
	}
	reply = ask(&s, "/metrics", "");
	assert_non_null(strstr(reply.body.ptr, "\nbankfull_collector_workloads 2102\n"));
	assert_non_null(strstr(reply.body.ptr, "\nbankfull_collector_workloads_left_out 102\n"));
	struct prom prom;
	struct prom_sample sample;
	size_t n = 0;
	for (prom_start(&prom, buf_str(&reply.body)); prom_next(&prom, &sample);)
		n += str_eq(sample.name, STR("bankfull_workload_pods"));
	assert_int_equal(n, 2 * 2000);
	assert_int_equal(prom.n_bad, 0);
	buf_done(&reply.body);
	stop(&s);
}

/* A filter that hardly anything matches looks at so many rows a request, and says where to go on. */
static void rare_findings(void **state)
{
	(void)state;
	enum { N = 21500 };
	struct setup s;
	struct err err;
	start(&s, NULL);
	fill(&s);
	do_(store_begin(s.store, &err), &err);
	for (unsigned i = 0; i < N; i++) {
		struct wire_finding finding;
		fleetfill_finding(&finding, 1000 + i);
		do_(store_own_finding(s.store, s.rows[2], &finding, STR(""), t0, &err), &err);
	}
	do_(store_commit(s.store, &err), &err);
	struct server_reply reply = ask(&s, "/api/v1/findings", "namespace=team-0");
	struct js *root = json_of(&reply);
	struct str next;
	char query[80];
	assert_int_equal(reply.status, 200);
	assert_int_equal(js_len(js_get(root, "items")), 0);
	assert_true(js_str(js_get(root, "next"), &next));
	(void)snprintf(query, sizeof query, "namespace=team-0&cursor=%.*s", (int)next.len, next.ptr);
	js_free(root);
	buf_done(&reply.body);
	reply = ask(&s, "/api/v1/findings", query);
	root = json_of(&reply);
	assert_int_equal(js_len(js_get(root, "items")), 2);
	assert_int_equal(js_kind(js_get(root, "next")), JS_NULL);
	js_free(root);
	buf_done(&reply.body);
	/* What the store itself filters is found at once. */
	reply = ask(&s, "/api/v1/findings", "rule=oom-kill");
	root = json_of(&reply);
	assert_int_equal(js_len(js_get(root, "items")), 1);
	js_free(root);
	buf_done(&reply.body);
	stop(&s);
}

/* --- size -------------------------------------------------------------------------------------------------------- */

static void ten_thousand_pods(void **state)
{
	(void)state;
	enum { N = 10000 };
	struct setup s;
	struct err err;
	static struct wire_hello hello;
	static struct wire_sample sample;
	start(&s, NULL);
	for (unsigned i = 0; i < N; i++) {
		fleetfill_hello(&hello, i);
		fleetfill_sample(&sample, i);
		do_(fleet_connected(s.fleet, i + 1, "uid", &hello, 0, t0, &err), &err);
		fleet_sample(s.fleet, i + 1, &sample, t0);
	}
	struct server_reply reply = ask(&s, "/api/v1/pods", "limit=100");
	struct js *root = json_of(&reply);
	assert_int_equal(js_len(js_get(root, "items")), 100);
	js_free(root);
	buf_done(&reply.body);
	/* The largest page is far from the cap of a reply, and the whole list is ten of them. */
	reply = ask(&s, "/api/v1/pods", "limit=1000&cursor=9000");
	assert_int_equal(reply.status, 200);
	assert_true(reply.body.len < CAP / 2);
	assert_non_null(strstr(reply.body.ptr, "\"next\":null}"));
	buf_done(&reply.body);
	reply = ask(&s, "/api/v1/pods", "node=node-399.internal&limit=1000");
	root = json_of(&reply);
	assert_int_equal(js_len(js_get(root, "items")), N / 400);
	js_free(root);
	buf_done(&reply.body);
	reply = ask(&s, "/api/v1/workloads", "limit=1000");
	root = json_of(&reply);
	assert_int_equal(js_len(js_get(root, "items")), N / FLEETFILL_PER_WORKLOAD);
	js_free(root);
	buf_done(&reply.body);
	stop(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
		cmocka_unit_test(pages),
		cmocka_unit_test(one_of_each),
		cmocka_unit_test(one_id_of_two_agents),
		cmocka_unit_test(unread_is_null),
		cmocka_unit_test(series),
		cmocka_unit_test(a_hole_is_of_the_pace_of_then),
		cmocka_unit_test(refusals),
		cmocka_unit_test(the_store_is_broken),
		cmocka_unit_test(health_and_pages),
		cmocka_unit_test(metrics),
		cmocka_unit_test(rare_findings),
		cmocka_unit_test(ten_thousand_pods),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
