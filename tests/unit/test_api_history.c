/* SPDX-License-Identifier: Apache-2.0 */
/* What the pages of a pod and of a workload need: ledger and budgets, events, pods that are gone, outliers. */
#include "collector/api.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <sys/stat.h>

#include "data/js.h"
#include "support/fleetfill.h"
#include "support/sessionkit.h"

enum { CAP = 16 << 20, MIB = 1 << 20 };

/* Pods 0 to 3 are of team-0/job-0, 50 of team-1/job-1. */
struct setup {
	struct rig rig;
	struct loop *loop;
	struct auth *auth;
	struct api api;
};

static int set_up(void **state)
{
	static struct setup s;
	char path[300];
	struct err err;
	rig_init(&s.rig, NULL);
	scratch_file(
		&s.rig.scratch, "viewers",
		"operator olga 0123456789abcdef0\nviewer vera 0123456789abcdef1 team-0\nviewer yann 0123456789abcdef2 team-1\n");
	(void)snprintf(path, sizeof path, "%s/viewers", s.rig.scratch.path);
	assert_int_equal(chmod(path, 0600), 0);
	const struct auth_options options = { .open = true, .viewer_tokens_file = path };
	if (loop_new(LOOP_POLL, NULL, NULL, &s.loop, &err) < 0 ||
	    auth_new(s.loop, &options, s.rig.store, &s.auth, &err) < 0)
		fail_msg("%s", err.message);
	s.api = (struct api){
		.fleet = s.rig.fleet, .store = s.rig.store, .auth = s.auth, .version = "t", .ready = true
	};
	*state = &s;
	return 0;
}

static int tear_down(void **state)
{
	struct setup *s = *state;
	auth_free(s->auth);
	loop_free(s->loop);
	rig_done(&s->rig);
	return 0;
}

static struct session *agent(struct setup *s, unsigned n)
{
	static struct wire_message message;
	char id[32];
	(void)snprintf(id, sizeof id, "uid-%u", n);
	struct session *session = rig_open(&s->rig, id);
	message = (struct wire_message){ .type = WIRE_HELLO };
	fleetfill_hello(&message.hello, n);
	message.hello.wall = s->rig.wall;
	message.hello.epochs[0] = (struct wire_held){ .epoch = storekit_epoch(n + 1), .first = 1 };
	rig_message(session, &message);
	rig_pass(&s->rig, 20);
	return session;
}

static struct wire_message *sample(struct setup *s, unsigned n, uint64_t seq)
{
	static struct wire_message message;
	message = (struct wire_message){ .type = WIRE_SAMPLE };
	fleetfill_sample(&message.sample, n);
	message.sample.composition_age_ms = 0;
	message.sample.head = (struct wire_head){ storekit_epoch(n + 1), seq, seq * 1000, s->rig.wall };
	return &message;
}

static void tell(struct setup *s, struct session *session, const struct wire_message *message)
{
	rig_message(session, message);
	rig_pass(&s->rig, 1000);
}

/* Freed by the caller. NULL: the status is another one. */
static struct js *ask(struct setup *s, const char *token, const char *path, const char *query, unsigned status)
{
	struct js *root = NULL;
	struct err err;
	char bearer[64];
	(void)snprintf(bearer, sizeof bearer, "Bearer 0123456789abcdef%s", token);
	const char *const headers[] = { "authorization", bearer, NULL };
	struct server_request request = {
		.method = STR("GET"), .path = str_of(path), .query = str_of(query), .headers = headers
	};
	struct server_reply reply = { .status = 200, .content_type = "application/json", .body = { .cap = CAP } };
	api_request(&s->api, API_ALL, &request, s->rig.wall, &reply);
	if (reply.status != status)
		fail_msg("%s?%s: %u, not %u: %s", path, query, reply.status, status, reply.body.ptr);
	if (js_parse(buf_str(&reply.body), CAP, &root, &err) < 0)
		fail_msg("%s: %s", path, err.message);
	buf_done(&reply.body);
	return root;
}

static const char *text_of(const struct js *object, const char *path)
{
	static char text[8][128];
	static unsigned turn;
	struct str got;
	char *to = text[turn++ % 8];
	(void)snprintf(to, sizeof text[0], "%s", js_kind(js_path(object, path)) == JS_NULL ? "null" : "?");
	if (js_str(js_path(object, path), &got))
		str_copy(to, sizeof text[0], got);
	return to;
}

static int64_t number(const struct js *object, const char *path)
{
	int64_t got;
	if (!js_i64(js_path(object, path), &got))
		fail_msg("%s is no number", path);
	return got;
}

static bool is_null(const struct js *object, const char *path)
{
	return js_kind(js_path(object, path)) == JS_NULL;
}

/* The item of a list whose member is this word. */
static const struct js *which(const struct js *list, const char *key, const char *word)
{
	for (size_t i = 0; i < js_len(list); i++)
		if (strcmp(text_of(js_at(list, i), key), word) == 0)
			return js_at(list, i);
	fail_msg("no %s %s", key, word);
	return NULL;
}

static void a_pod_against_its_budgets(void **state)
{
	struct setup *s = *state;
	struct session *session = agent(s, 0);
	auto_js struct js *none = ask(s, "0", "/api/v1/pods/1", "", 200);
	assert_true(is_null(none, "ledger") && is_null(none, "budgets") && is_null(none, "demand.legal_bytes"));
	assert_true(is_null(none, "books_age_ms"));
	tell(s, session, sample(s, 0, 1));
	auto_js struct js *root = ask(s, "0", "/api/v1/pods/1", "", 200);
	const struct js *ledger = js_get(root, "ledger"), *budgets = js_get(root, "budgets");
	assert_int_equal(js_len(ledger), OWNER_COUNT); /* one of them unread */
	const struct js *line = which(ledger, "owner", "allocator-retained");
	assert_true(is_null(line, "bytes") && is_null(line, "bound_bytes") && is_null(line, "claim_bytes"));
	assert_string_equal(text_of(line, "state"), "unread");
	line = which(ledger, "owner", "java-heap");
	assert_int_equal(number(line, "bytes"), MIB);
	assert_int_equal(number(line, "bound_bytes"), 100 * MIB);
	assert_string_equal(text_of(line, "group"), "anon");
	line = which(ledger, "owner", "metaspace");
	assert_true(is_null(line, "bound_bytes"));
	bool unbounded = false;
	assert_true(js_bool(js_get(line, "unbounded"), &unbounded) && unbounded);
	assert_int_equal(number(line, "claim_bytes"), 200 * MIB);
	assert_int_equal(js_len(budgets), 5);
	const struct js *managed = which(budgets, "budget", "managed");
	assert_int_equal(number(managed, "bytes"), 1228 * (int64_t)MIB);
	assert_int_equal(number(managed, "used_bytes"), (10 + 11 + 12) * MIB);
	assert_int_equal(js_len(js_get(managed, "owners")), 3);
	assert_true(is_null(which(budgets, "budget", "jvm-overhead"), "used_bytes"));
	assert_int_equal(number(root, "demand.legal_bytes"), 4300 * (int64_t)MIB);
	assert_true(is_null(root, "demand.expected_bytes"));
	assert_int_equal(number(root, "books_age_ms"), 1000);
	const struct js *engine = js_get(root, "engine");
	struct str backend = js_text(engine, "state_backend");
	assert_true(str_eq(backend, STR("hashmap")));
	assert_true(is_null(engine, "python") && is_null(engine, "network_pool_bytes"));
	assert_int_equal(number(engine, "managed_reserved_bytes"), 0);
	assert_int_equal(number(engine, "network_bytes"), 344ll << 20);
	auto_js struct js *list = ask(s, "0", "/api/v1/pods", "", 200);
	assert_null(js_get(js_at(js_get(list, "items"), 0), "ledger"));
	session_closed(session, 1000);
}

static void owners_against_the_others(void **state)
{
	struct setup *s = *state;
	struct session *sessions[5];
	for (unsigned i = 0; i < 4; i++) {
		sessions[i] = agent(s, i);
		struct wire_message *m = sample(s, i, 1);
		m->sample.owners[OWNER_NATIVE_OTHER] = qty_measured((100 + (i == 2 ? 300 : i)) * (uint64_t)MIB);
		m->sample.owners[OWNER_TMPFS] = i < 2 ? qty_measured(i * 500 * (uint64_t)MIB) : (struct qty){ 0 };
		if (i == 3) {
			m->sample.composition_age_ms = 11 * 60 * 1000; /* a scan too long ago says nothing of now */
			m->sample.owners[OWNER_NATIVE_OTHER] = qty_measured(9000 * (uint64_t)MIB);
		}
		tell(s, sessions[i], m);
	}
	auto_js struct js *root = ask(s, "0", "/api/v1/workloads/lab:team-0:job-0/owners", "", 200);
	assert_int_equal(number(root, "pods"), 4);
	assert_int_equal(number(root, "pods_counted"), 3);
	const struct js *owner = which(js_get(root, "owners"), "owner", "native-other");
	assert_int_equal(number(owner, "pods"), 3);
	assert_int_equal(number(owner, "median_bytes"), 101 * MIB);
	assert_int_equal(number(owner, "max_bytes"), 400 * MIB);
	assert_string_equal(text_of(owner, "max_pod"), "3");
	assert_string_equal(text_of(owner, "role"), "taskmanager");
	assert_int_equal(number(owner, "outliers_in_all"), 1);
	const struct js *outlier = js_at(js_get(owner, "outliers"), 0);
	assert_string_equal(text_of(outlier, "pod"), "3");
	assert_string_equal(text_of(outlier, "pod_name"), "job-0-taskmanager-1-2");
	assert_int_equal(number(outlier, "times_median_bp"), 39603);
	owner = which(js_get(root, "owners"), "owner", "tmpfs");
	assert_int_equal(number(owner, "pods"), 2);
	assert_int_equal(js_len(js_get(owner, "outliers")), 0); /* of two nobody can say */
	/* A JobManager of the same workload is compared with no TaskManager. */
	sessions[4] = rig_open(&s->rig, "jm");
	static struct wire_message hello;
	hello = (struct wire_message){ .type = WIRE_HELLO };
	fleetfill_hello(&hello.hello, 4);
	hello.hello.subject.role = ROLE_JOBMANAGER;
	hello.hello.wall = s->rig.wall;
	hello.hello.epochs[0] = (struct wire_held){ .epoch = storekit_epoch(5), .first = 1 };
	tell(s, sessions[4], &hello);
	struct wire_message *m = sample(s, 4, 1);
	m->sample.owners[OWNER_NATIVE_OTHER] = qty_measured(7000 * (uint64_t)MIB);
	tell(s, sessions[4], m);
	auto_js struct js *both = ask(s, "0", "/api/v1/workloads/lab:team-0:job-0/owners", "", 200);
	owner = which(js_get(both, "owners"), "owner", "native-other");
	assert_string_equal(text_of(owner, "role"), "taskmanager");
	assert_int_equal(number(owner, "max_bytes"), 400 * MIB);
	for (unsigned i = 0; i < 5; i++)
		session_closed(sessions[i], 1000);
}

static void pods_that_are_gone(void **state)
{
	struct setup *s = *state;
	struct session *session;
	for (unsigned i = 0; i < 3; i++) {
		session = agent(s, i);
		tell(s, session, sample(s, i, 1));
		session_closed(session, 1006);
	}
	int64_t left = s->rig.wall.ms;
	rig_pass(&s->rig, FLEET_FORGET_MS + 60000);
	fleet_expire(s->rig.fleet, s->rig.wall, FLEET_FORGET_MS);
	struct session *here = agent(s, 3), *other = agent(s, 50);
	const char *path = "/api/v1/workloads/lab:team-0:job-0/pods";
	auto_js struct js *present = ask(s, "0", path, "", 200);
	assert_int_equal(js_len(js_get(present, "items")), 1);
	assert_string_equal(text_of(js_at(js_get(present, "items"), 0), "agent_id"), "uid-3");
	auto_js struct js *all = ask(s, "1", path, "past=true", 200);
	const struct js *items = js_get(all, "items");
	assert_int_equal(js_len(items), 4);
	bool is_present = false;
	assert_true(js_bool(js_get(js_at(items, 0), "present"), &is_present) && is_present);
	assert_true(js_bool(js_get(js_at(items, 1), "present"), &is_present) && !is_present);
	assert_string_equal(text_of(js_at(items, 1), "id"), "3");
	assert_string_equal(text_of(js_at(items, 1), "subject.pod"), "job-0-taskmanager-1-2");
	assert_true(number(js_at(items, 1), "last_seen_ms") <= left);
	assert_null(js_get(js_at(items, 1), "sample"));
	/* A page at a time, and since when. */
	auto_js struct js *first = ask(s, "0", path, "past=true&limit=2", 200);
	assert_int_equal(js_len(js_get(first, "items")), 2);
	assert_string_equal(text_of(first, "next"), "3");
	auto_js struct js *second = ask(s, "0", path, "past=true&limit=2&cursor=3", 200);
	assert_string_equal(text_of(js_at(js_get(second, "items"), 0), "id"), "2");
	assert_int_equal(js_len(js_get(second, "items")), 2);
	assert_true(is_null(second, "next"));
	char query[64];
	(void)snprintf(query, sizeof query, "past=true&from=%lld", (long long)left + 1000);
	auto_js struct js *late = ask(s, "0", path, query, 200);
	assert_int_equal(js_len(js_get(late, "items")), 1);
	/* What it was is told of a pod that is gone, to whom may see it. */
	(void)snprintf(query, sizeof query, "from=1&to=%lld", (long long)s->rig.wall.ms);
	auto_js struct js *series = ask(s, "1", "/api/v1/pods/2/samples", query, 200);
	assert_int_equal(js_len(js_get(series, "points")), 1);
	auto_js struct js *marks = ask(s, "1", "/api/v1/pods/2/events", query, 200);
	assert_string_equal(text_of(js_at(js_get(marks, "items"), 1), "kind"), "agent-lost");
	js_free(ask(s, "1", "/api/v1/pods/2", "", 404)); /* it is not there any more */
	static const char *const hidden[] = { "/api/v1/pods/2/samples", "/api/v1/pods/2/events",
					      "/api/v1/pods/4/events", "/api/v1/workloads/lab:team-0:job-0/pods",
					      "/api/v1/workloads/lab:team-0:job-0/owners" };
	for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++)
		js_free(ask(s, "2", hidden[i], "", 404));
	js_free(ask(s, "2", "/api/v1/pods/5/events", "", 200));
	js_free(ask(s, "0", "/api/v1/pods/77/events", "", 404));
	js_free(ask(s, "0", "/api/v1/workloads/lab:team-0:job-0/pods", "cursor=x", 400));
	js_free(ask(s, "0", "/api/v1/workloads/lab:team-0:job-0/pods", "past=1", 400));
	session_closed(here, 1000);
	session_closed(other, 1000);
}

static void what_happened(void **state)
{
	struct setup *s = *state;
	int64_t began = s->rig.wall.ms;
	struct session *session = agent(s, 0);
	tell(s, session, sample(s, 0, 1));
	struct wire_message *m = sample(s, 0, 2);
	m->sample.limit = (struct limit){ .kind = LIMIT_NONE };
	m->sample.events.oom_kill = count_of(2);
	m->sample.context.restarts = count_of(4);
	m->sample.context.checkpointing = TRISTATE_TRUE;
	tell(s, session, m);
	m = sample(s, 0, 3);
	m->sample.start_ticks = 5;
	m->sample.context.checkpointing = TRISTATE_FALSE;
	tell(s, session, m);
	static const struct {
		const char *kind;
		int64_t value, before; /* -1: null */
		int64_t at;
	} want[] = {
		{ "agent-start", -1, -1, 0 },         { "limit", -1, INT64_C(4096) << 20, 1020 },
		{ "checkpoint-start", -1, -1, 1020 }, { "restart", 4, 1, 1020 },
		{ "oom-kill", 2, 0, 1020 },           { "jvm-start", 17, -1, 2020 },
		{ "jvm-end", 17, -1, 2020 },          { "limit", INT64_C(4096) << 20, -1, 2020 },
	};
	auto_js struct js *root = ask(s, "0", "/api/v1/pods/1/events", "", 200);
	const struct js *items = js_get(root, "items");
	assert_int_equal(js_len(items), sizeof want / sizeof want[0]);
	for (size_t i = 0; i < js_len(items); i++) {
		const struct js *item = js_at(items, i);
		assert_string_equal(text_of(item, "kind"), want[i].kind);
		assert_int_equal(number(item, "at_ms") - began, want[i].at);
		assert_int_equal(is_null(item, "value") ? -1 : number(item, "value"), want[i].value);
		assert_int_equal(is_null(item, "before") ? -1 : number(item, "before"), want[i].before);
	}
	assert_true(is_null(root, "next_ms"));
	char query[96];
	(void)snprintf(query, sizeof query, "from=%lld&to=%lld", (long long)began + 1, (long long)began + 1021);
	auto_js struct js *some = ask(s, "0", "/api/v1/pods/1/events", query, 200);
	assert_int_equal(js_len(js_get(some, "items")), 4);
	session_closed(session, 1000);
}

/* Who owned what is told of a point that had a composition, and carried over to no other. */
static void no_owners_where_none_were_read(void **state)
{
	struct setup *s = *state;
	struct session *session = agent(s, 0);
	for (uint64_t seq = 1; seq <= 4; seq++) {
		struct wire_message *m = sample(s, 0, seq);
		if (seq != 2) {
			m->sample.has_composition = m->sample.has_books = false;
			memset(m->sample.owners, 0, sizeof m->sample.owners);
			memset(&m->sample.books, 0, sizeof m->sample.books);
		}
		tell(s, session, m);
	}
	auto_js struct js *all = ask(s, "0", "/api/v1/pods/1/samples", "step=0", 200);
	const struct js *points = js_get(all, "points");
	assert_int_equal(js_len(points), 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(js_kind(js_get(js_at(points, i), "owners")), i == 1 ? JS_OBJECT : JS_NULL);
	auto_js struct js *steps = ask(s, "0", "/api/v1/pods/1/samples", "step=2s", 200);
	points = js_get(steps, "points");
	assert_int_equal(js_len(points), 2);
	assert_int_equal(js_kind(js_get(js_at(points, 0), "owners")), JS_OBJECT);
	assert_int_equal(js_kind(js_get(js_at(points, 1), "owners")), JS_NULL);
	session_closed(session, 1000);
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH(a_pod_against_its_budgets),
		WITH(owners_against_the_others),
		WITH(pods_that_are_gone),
		WITH(what_happened),
		WITH(no_owners_where_none_were_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
