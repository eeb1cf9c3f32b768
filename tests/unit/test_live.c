/* SPDX-License-Identifier: Apache-2.0 */
/* Viewers without sockets: frames are given and taken by hand, the time is what the test says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "collector/live_parts.h"
#include "support/fleetfill.h"

static const struct wall t0 = { INT64_C(1764489600000) };

struct stand {
	struct fleet *fleet;
	struct live *live;
	struct mono now;
	struct wall wall;
	struct buf frame;
	struct js *root;
};

static void connect_one(struct stand *s, unsigned n)
{
	struct wire_hello hello;
	struct err err;
	char id[24];
	fleetfill_hello(&hello, n);
	(void)snprintf(id, sizeof id, "uid-%u", n);
	assert_int_equal(fleet_connected(s->fleet, n + 1, id, &hello, 0, s->wall, &err), 0);
}

/* One sample; `freeboard` of a limit of 1,000,000. */
static void feed(struct stand *s, unsigned n, int64_t freeboard)
{
	struct wire_sample sample;
	fleetfill_sample(&sample, n);
	sample.limit = limit_set(1000000);
	sample.freeboard_bytes = (struct signed_qty){ freeboard, true };
	fleet_sample(s->fleet, n + 1, &sample, s->wall);
}

static void stand_init(struct stand *s, unsigned pods, const struct live_options *options)
{
	static const struct live_options none;
	struct err err;
	*s = (struct stand){ .now = { UINT64_C(1000000000) }, .wall = t0, .frame.cap = 8 << 20 };
	assert_int_equal(fleet_new(&s->fleet, &err), 0);
	assert_int_equal(live_new(NULL, options ? options : &none, s->fleet, NULL, NULL, NULL, &s->live, &err), 0);
	for (unsigned n = 0; n < pods; n++) {
		connect_one(s, n);
		feed(s, n, 1000 * (int64_t)n);
	}
	(void)live_tick(s->live, s->now, s->wall);
}

static void stand_done(struct stand *s)
{
	live_free(s->live);
	fleet_free(s->fleet);
	buf_done(&s->frame);
	js_free(s->root);
}

static uint64_t pass(struct stand *s, uint64_t ms)
{
	s->now = mono_add_ms(s->now, ms);
	s->wall.ms += (int64_t)ms;
	return live_tick(s->live, s->now, s->wall);
}

static struct live_viewer *viewer_of(struct stand *s, const char *namespace_)
{
	struct auth_viewer who = { .role = AUTH_VIEWER, .name = "ann" };
	struct server_reply reply = { .body.cap = 1000 };
	if (namespace_) {
		str_copy(who.namespaces[0], sizeof who.namespaces[0], str_of(namespace_));
		who.n_namespaces = 1;
	}
	struct live_viewer *viewer = live_open(s->live, &who, "127.0.0.1", &reply);
	assert_non_null(viewer);
	return viewer;
}

static void ask(struct live_viewer *viewer, const char *text)
{
	live_frame(viewer, str_of(text));
}

/* The next frame of this type; its members are in s->root until the one after. */
static const struct js *hear_at(struct stand *s, struct live_viewer *viewer, const char *type, int line)
{
	struct err err;
	struct str is = { 0 };
	buf_clear(&s->frame);
	js_free(s->root);
	s->root = NULL;
	if (!live_writable(viewer, &s->frame))
		fail_msg("line %d: nothing to hear, where a frame %s was due", line, type);
	if (js_parse(buf_str(&s->frame), s->frame.cap, &s->root, &err) < 0)
		fail_msg("%s: %s", err.message, s->frame.ptr);
	assert_true(js_str(js_get(s->root, "type"), &is));
	if (!str_eq(is, str_of(type)))
		fail_msg("line %d: %.200s, where a frame %s was due", line, s->frame.ptr, type);
	return s->root;
}

#define hear(stand, viewer, type) hear_at(stand, viewer, type, __LINE__)

static void silent(struct stand *s, struct live_viewer *viewer)
{
	buf_clear(&s->frame);
	if (live_writable(viewer, &s->frame))
		fail_msg("%.300s, where nothing was due", s->frame.ptr);
}

static uint64_t number(const struct js *root, const char *path)
{
	uint64_t n = UINT64_MAX;
	if (!js_u64(js_path(root, path), &n))
		fail_msg("%s is no number", path);
	return n;
}

/* Ids of the rows, with blanks between. */
static const char *ids(const struct js *root)
{
	static char text[4096];
	const struct js *rows = js_get(root, "rows");
	struct str id;
	size_t len = 0;
	text[0] = '\0';
	for (size_t i = 0; i < js_len(rows); i++) {
		const struct js *row = js_at(rows, i);
		if (js_kind(row) == JS_ARRAY)
			row = js_at(row, 1);
		assert_true(js_str(js_get(row, "id"), &id));
		len += (size_t)snprintf(text + len, sizeof text - len, "%s%.*s", i ? " " : "", (int)id.len, id.ptr);
	}
	return text;
}

/* --- a fleet ------------------------------------------------------------------------------------------------------ */

static void what_changes_is_told(void **state)
{
	(void)state;
	struct stand s;
	stand_init(&s, 6, NULL);
	assert_int_equal(live_tick(s.live, s.now, s.wall), 0); /* nobody watches: nothing wakes */
	struct live_viewer *viewer = viewer_of(&s, NULL);
	ask(viewer, "{\"subscribe\":\"fleet\",\"n\":7,\"view\":\"pods\",\"sort\":\"freeboard\",\"count\":3}");
	silent(&s, viewer); /* only what is looked at now */
	assert_int_equal(pass(&s, 10), 200);
	const struct js *root = hear(&s, viewer, "fleet");
	assert_string_equal(ids(root), "1 2 3");
	assert_int_equal(number(root, "n"), 7);
	assert_int_equal(number(root, "total"), 6);
	assert_int_equal(number(root, "matching"), 6);
	assert_int_equal(number(root, "at_ms"), s.wall.ms);
	assert_int_equal(number(root, "summary.pods"), 6);
	assert_int_equal(number(root, "summary.connected"), 6);
	assert_int_equal(js_len(js_path(root, "facets.namespace")), 1);
	assert_int_equal(number(js_at(js_get(root, "rows"), 0), "age_ms"), 10);
	silent(&s, viewer);
	/* Nothing has changed. */
	assert_int_equal(pass(&s, 200), 200);
	silent(&s, viewer);
	/* A row, and its place. */
	feed(&s, 1, 1500);
	feed(&s, 5, 9000); /* out of sight */
	pass(&s, 200);
	root = hear(&s, viewer, "rows");
	assert_string_equal(ids(root), "2");
	uint64_t place = 9;
	assert_true(js_u64(js_at(js_at(js_get(root, "rows"), 0), 0), &place));
	assert_int_equal(place, 1);
	assert_null(js_get(root, "summary"));
	assert_null(js_get(root, "order"));
	silent(&s, viewer);
	/* What stands above the rows. */
	connect_one(&s, 6);
	pass(&s, 200);
	root = hear(&s, viewer, "rows");
	assert_string_equal(ids(root), "");
	assert_int_equal(number(root, "total"), 7);
	assert_int_equal(number(root, "summary.pods"), 7);
	/* Another order is another frame. */
	feed(&s, 2, 100);
	pass(&s, 200);
	root = hear(&s, viewer, "fleet");
	assert_string_equal(ids(root), "1 3 2");
	assert_null(js_get(root, "facets"));
	stand_done(&s);
}

static void moves(void **state)
{
	(void)state;
	struct stand s;
	stand_init(&s, 6, NULL);
	struct live_viewer *viewer = viewer_of(&s, NULL);
	ask(viewer, "{\"subscribe\":\"fleet\",\"view\":\"pods\",\"sort\":\"freeboard\",\"count\":3,\"moves\":true}");
	pass(&s, 1);
	assert_string_equal(ids(hear(&s, viewer, "fleet")), "1 2 3");
	feed(&s, 2, 100); /* 1 3 2 */
	pass(&s, 200);
	const struct js *root = hear(&s, viewer, "rows");
	assert_string_equal(ids(root), "3");
	assert_non_null(strstr(s.frame.ptr, "\"order\":[0,2,1],\"rows\":[[1,{"));
	feed(&s, 5, 50); /* 1 6 3, and 2 is out */
	pass(&s, 200);
	root = hear(&s, viewer, "rows");
	assert_string_equal(ids(root), "6");
	assert_non_null(strstr(s.frame.ptr, "\"order\":[0,null,1],\"rows\":[[1,{"));
	/* A window that shrinks. */
	ask(viewer,
	    "{\"subscribe\":\"fleet\",\"view\":\"pods\",\"sort\":\"name\",\"filter\":{\"severity\":\"warning\"},"
	    "\"moves\":true}");
	struct wire_finding finding;
	struct err err;
	fleetfill_finding(&finding, 1);
	assert_int_equal(fleet_finding(s.fleet, 2, &finding, s.wall, &err), 0);
	pass(&s, 200);
	assert_string_equal(ids(hear(&s, viewer, "fleet")), "2");
	assert_int_equal(number(s.root, "summary.warning"), 1);
	finding.edge = WIRE_CLEARED;
	assert_int_equal(fleet_finding(s.fleet, 2, &finding, s.wall, &err), 0);
	pass(&s, 200);
	hear(&s, viewer, "rows");
	assert_non_null(strstr(s.frame.ptr, "\"matching\":0,"));
	assert_non_null(strstr(s.frame.ptr, "\"order\":[],\"rows\":[]"));
	stand_done(&s);
}

static void equal_ones_share(void **state)
{
	(void)state;
	struct stand s;
	struct live_counts counts;
	char first[20000];
	stand_init(&s, 60, NULL);
	struct live_viewer *a = viewer_of(&s, "team-0"), *b = viewer_of(&s, "team-0"), *c = viewer_of(&s, "team-1"),
			   *d = viewer_of(&s, NULL);
	ask(a, "{\"subscribe\":\"fleet\",\"n\":1,\"view\":\"pods\",\"count\":2}");
	ask(b, " {\"count\":2, \"n\":2,\"view\":\"pods\",\"subscribe\":\"fleet\",\"filter\":{\"q\":null}}");
	ask(c, "{\"subscribe\":\"fleet\",\"n\":3,\"view\":\"pods\",\"count\":2}");
	ask(d, "{\"subscribe\":\"fleet\",\"n\":4,\"view\":\"pods\",\"count\":2}");
	live_count(s.live, &counts);
	assert_int_equal(counts.topics, 3);
	pass(&s, 200);
	hear(&s, a, "fleet");
	str_copy(first, sizeof first, buf_str(&s.frame));
	hear(&s, b, "fleet");
	char *n = strstr(first, "\"n\":1,");
	assert_non_null(n);
	n[4] = '2';
	assert_string_equal(first, s.frame.ptr);
	hear(&s, c, "fleet");
	hear(&s, d, "fleet");
	live_count(s.live, &counts);
	assert_int_equal(counts.builds_total, 3);
	assert_int_equal(counts.frames_total, 4);
	/* The last one lets go of it. */
	live_closed(a);
	live_count(s.live, &counts);
	assert_int_equal(counts.topics, 3);
	live_closed(b);
	live_count(s.live, &counts);
	assert_int_equal(counts.topics, 2);
	assert_int_equal(counts.viewers, 2);
	stand_done(&s);
}

/* Agents 0 to 49 are in team-0, 50 to 99 in team-1. */
static void another_namespace_is_not_there(void **state)
{
	(void)state;
	struct stand s;
	stand_init(&s, 100, NULL);
	struct live_viewer *viewer = viewer_of(&s, "team-1");
	static const struct {
		const char *ask;
		uint64_t total, matching;
	} cases[] = {
		{ "{\"subscribe\":\"fleet\",\"view\":\"pods\",\"count\":200}", 50, 50 },
		{ "{\"subscribe\":\"fleet\"}", 1, 1 },
		{ "{\"subscribe\":\"fleet\",\"filter\":{\"namespace\":\"team-0\"}}", 1, 0 },
		{ "{\"subscribe\":\"fleet\",\"view\":\"pods\",\"filter\":{\"q\":\"team-0\"}}", 50, 0 },
		{ "{\"subscribe\":\"fleet\",\"view\":\"pods\",\"filter\":{\"q\":\"job-0-\"}}", 50, 0 },
		{ "{\"subscribe\":\"fleet\",\"view\":\"pods\",\"filter\":{\"job\":\"job-0\"}}", 50, 0 },
		{ "{\"subscribe\":\"fleet\",\"view\":\"pods\",\"filter\":{\"workload\":\"job-0\"}}", 50, 0 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		ask(viewer, cases[i].ask);
		pass(&s, 200);
		const struct js *root = hear(&s, viewer, "fleet");
		assert_int_equal(number(root, "total"), cases[i].total);
		assert_int_equal(number(root, "matching"), cases[i].matching);
		assert_int_equal(number(root, "summary.pods"), 50);
		assert_int_equal(number(root, "summary.workloads"), 1);
		assert_null(strstr(s.frame.ptr, "team-0"));
		assert_null(strstr(s.frame.ptr, "job-0"));
	}
	/* A change there is no frame here. */
	feed(&s, 3, 5);
	pass(&s, 200);
	silent(&s, viewer);
	static const char *const hidden[] = { "{\"subscribe\":\"pod\",\"pod\":\"1\"}",
					      "{\"subscribe\":\"pod\",\"pod\":\"99999\"}",
					      "{\"subscribe\":\"workload\",\"workload\":\"prod:team-0:job-0\"}",
					      "{\"subscribe\":\"workload\",\"workload\":\"prod:team-1:nothing\"}" };
	for (size_t i = 0; i < sizeof hidden / sizeof hidden[0]; i++) {
		ask(viewer, hidden[i]);
		pass(&s, 200);
		hear(&s, viewer, "gone");
		feed(&s, 0, (int64_t)i);
		pass(&s, 200);
		silent(&s, viewer);
	}
	stand_done(&s);
}

static void who_does_not_read_is_behind(void **state)
{
	(void)state;
	struct stand s;
	struct live_counts counts;
	stand_init(&s, 3, NULL);
	struct live_viewer *slow = viewer_of(&s, NULL), *quick = viewer_of(&s, NULL);
	static const char *const wanted = "{\"subscribe\":\"fleet\",\"view\":\"pods\",\"sort\":\"name\"}";
	ask(slow, wanted);
	ask(quick, wanted);
	pass(&s, 200);
	hear(&s, slow, "fleet");
	hear(&s, quick, "fleet");
	for (int i = 0; i < 100; i++) { /* less than makes the others stale */
		feed(&s, 1, i);
		pass(&s, 200);
		assert_string_equal(ids(hear(&s, quick, "rows")), "2");
	}
	const struct js *root = hear(&s, slow, "fleet");
	assert_int_equal(number(js_at(js_get(root, "rows"), 1), "freeboard"), 99);
	silent(&s, slow);
	live_count(s.live, &counts);
	assert_int_equal(counts.skipped_total, 99);
	/* And then goes on with the others. */
	feed(&s, 1, 77);
	pass(&s, 200);
	hear(&s, slow, "rows");
	stand_done(&s);
}

/* As where there is no memory: half a frame is none, and it is made again when there is. */
static void half_a_frame_is_none(void **state)
{
	(void)state;
	struct stand s;
	stand_init(&s, 3, NULL);
	struct live_viewer *viewer = viewer_of(&s, NULL);
	ask(viewer, "{\"subscribe\":\"fleet\",\"view\":\"pods\",\"sort\":\"name\"}");
	pass(&s, 200);
	size_t cap = viewer->topic->whole.cap;
	viewer->topic->whole.cap = 300;
	silent(&s, viewer);
	viewer->topic->whole.cap = cap;
	assert_string_equal(ids(hear(&s, viewer, "fleet")), "1 2 3");
	feed(&s, 1, 7);
	pass(&s, 200);
	viewer->topic->step.cap = 20;
	silent(&s, viewer);
	viewer->topic->step.cap = cap;
	assert_string_equal(ids(hear(&s, viewer, "rows")), "2");
	stand_done(&s);
}

static void the_clock_moves_states(void **state)
{
	(void)state;
	struct stand s;
	stand_init(&s, 2, NULL);
	struct live_viewer *viewer = viewer_of(&s, NULL);
	ask(viewer, "{\"subscribe\":\"fleet\",\"view\":\"pods\",\"sort\":\"name\"}");
	pass(&s, 0);
	hear(&s, viewer, "fleet");
	/* A quiet fleet is told from a dead line. */
	for (int i = 0; i < 49; i++) {
		pass(&s, 200);
		silent(&s, viewer);
	}
	pass(&s, 200);
	const struct js *root = hear(&s, viewer, "rows");
	assert_int_equal(js_len(js_get(root, "rows")), 0);
	/* Three intervals of 10 s. */
	pass(&s, 19800);
	hear(&s, viewer, "rows");
	assert_int_equal(js_len(js_get(s.root, "rows")), 0);
	feed(&s, 1, 5);
	pass(&s, 200);
	root = hear(&s, viewer, "rows");
	assert_string_equal(ids(root), "1 2");
	assert_int_equal(number(root, "summary.stale"), 1);
	assert_non_null(strstr(s.frame.ptr, "\"state\":\"stale\""));
	fleet_disconnected(s.fleet, 1, false, s.wall);
	pass(&s, 200);
	hear(&s, viewer, "rows");
	assert_non_null(strstr(s.frame.ptr, "\"state\":\"gone\""));
	/* Its line of the last hour moves on with the clock, for whoever comes; his age is of now. */
	struct live_viewer *late = viewer_of(&s, NULL);
	pass(&s, 3600000);
	ask(late, "{\"subscribe\":\"fleet\",\"view\":\"pods\",\"sort\":\"name\"}");
	pass(&s, 200);
	root = hear(&s, late, "fleet");
	struct str spark;
	assert_true(js_str(js_get(js_at(js_get(root, "rows"), 0), "spark"), &spark));
	assert_int_equal(spark.len, 60);
	assert_int_equal(strspn(spark.ptr, "."), 60);
	assert_int_equal(number(js_at(js_get(root, "rows"), 0), "age_ms"), (uint64_t)(s.wall.ms - t0.ms));
	stand_done(&s);
}

/* --- one pod, one workload ------------------------------------------------------------------------------------------ */

static void one_at_a_time(void **state)
{
	(void)state;
	struct stand s;
	stand_init(&s, 60, NULL);
	struct live_viewer *viewer = viewer_of(&s, NULL);
	ask(viewer, "{\"subscribe\":\"pod\",\"n\":-3,\"pod\":\"12\"}");
	pass(&s, 200);
	const struct js *root = hear(&s, viewer, "pod");
	struct str id;
	assert_true(js_str(js_path(root, "pod.id"), &id));
	assert_true(str_eq(id, STR("12")));
	feed(&s, 12, 1); /* that is another one */
	pass(&s, 200);
	silent(&s, viewer);
	feed(&s, 11, 17);
	pass(&s, 200);
	assert_int_equal(number(hear(&s, viewer, "pod"), "pod.sample.freeboard_bytes"), 17);
	assert_non_null(strstr(s.frame.ptr, "\"n\":-3,"));
	fleet_disconnected(s.fleet, 12, true, s.wall);
	pass(&s, 200);
	hear(&s, viewer, "pod");
	fleet_expire(s.fleet, (struct wall){ s.wall.ms + 10 }, 1);
	pass(&s, 200);
	hear(&s, viewer, "gone");
	pass(&s, 200);
	silent(&s, viewer);
	connect_one(&s, 11);
	pass(&s, 200);
	hear(&s, viewer, "pod");
	pass(&s, 10000); /* ages stand in it */
	hear(&s, viewer, "pod");
	ask(viewer, "{\"subscribe\":\"workload\",\"workload\":\"prod:team-1:job-1\"}");
	pass(&s, 200);
	assert_int_equal(number(hear(&s, viewer, "workload"), "workload.pods"), 10);
	feed(&s, 0, 1);
	pass(&s, 200);
	silent(&s, viewer);
	feed(&s, 55, 1);
	pass(&s, 200);
	hear(&s, viewer, "workload");
	stand_done(&s);
}

/* --- what is no request --------------------------------------------------------------------------------------------- */

static void errors(void **state)
{
	(void)state;
	static const struct {
		const char *ask, *code, *text;
	} cases[] = {
		{ "", "not-json", "" },
		{ "{", "not-json", "" },
		{ "<html>", "not-json", "" },
		{ "{\"subscribe\":\"fleet\",\"subscribe\":\"fleet\"}", "not-json", "" },
		{ "[]", "bad-request", "expected an object" },
		{ "{}", "bad-request", "subscribe: none of fleet" },
		{ "{\"subscribe\":\"everything\"}", "bad-request", "subscribe: none of fleet" },
		{ "{\"subscribe\":7}", "bad-request", "subscribe: none of fleet" },
		{ "{\"subscribe\":\"fleet\",\"n\":\"1\"}", "bad-request", "n: expected a whole number" },
		{ "{\"subscribe\":\"fleet\",\"n\":1.5}", "bad-request", "n: expected a whole number" },
		{ "{\"subscribe\":\"fleet\",\"view\":\"nodes\"}", "bad-request", "view: neither workloads nor pods" },
		{ "{\"subscribe\":\"fleet\",\"sort\":\"age\"}", "bad-request", "sort: none of danger" },
		{ "{\"subscribe\":\"fleet\",\"sort\":null}", "bad-request", "sort: none of danger" },
		{ "{\"subscribe\":\"fleet\",\"count\":201}", "bad-request",
		  "count: expected a whole number up to 200" },
		{ "{\"subscribe\":\"fleet\",\"count\":1000000000}", "bad-request", "count: expected" },
		{ "{\"subscribe\":\"fleet\",\"count\":-1}", "bad-request", "count: expected" },
		{ "{\"subscribe\":\"fleet\",\"from\":1000001}", "bad-request", "from: expected" },
		{ "{\"subscribe\":\"fleet\",\"descending\":1}", "bad-request", "descending: neither true nor false" },
		{ "{\"subscribe\":\"fleet\",\"moves\":\"yes\"}", "bad-request", "moves: neither true nor false" },
		{ "{\"subscribe\":\"fleet\",\"filter\":[]}", "bad-request", "filter: expected an object" },
		{ "{\"subscribe\":\"fleet\",\"filter\":{\"pod\":\"x\"}}", "bad-request", "pod: no such member here" },
		{ "{\"subscribe\":\"fleet\",\"filter\":{\"q\":{}}}", "bad-request", "q: expected a text" },
		{ "{\"subscribe\":\"fleet\",\"filter\":{\"role\":\"king\"}}", "bad-request", "role: none of" },
		{ "{\"subscribe\":\"fleet\",\"filter\":{\"severity\":\"none\"}}", "bad-request", "severity: none of" },
		{ "{\"subscribe\":\"fleet\",\"filter\":{\"state\":\"dead\"}}", "bad-request", "state: none of" },
		{ "{\"subscribe\":\"fleet\",\"filter\":{\"namespace\":"
		  "\"0123456789012345678901234567890123456789012345678901234567890123\"}}",
		  "bad-request", "namespace: longer than any" },
		{ "{\"subscribe\":\"fleet\",\"pod\":\"1\"}", "bad-request", "pod: no such member here" },
		{ "{\"subscribe\":\"fleet\",\"\\u001b[31m\":1}", "bad-request", "\\\\x1b[31m: no such member here" },
		{ "{\"subscribe\":\"pod\"}", "bad-request", "pod is missing" },
		{ "{\"subscribe\":\"pod\",\"pod\":12}", "bad-request", "pod: expected the id of a pod" },
		{ "{\"subscribe\":\"pod\",\"pod\":\"0\"}", "bad-request", "pod: expected the id of a pod" },
		{ "{\"subscribe\":\"pod\",\"pod\":\"1\",\"count\":3}", "bad-request", "count: no such member here" },
		{ "{\"subscribe\":\"workload\"}", "bad-request", "workload is missing" },
		{ "{\"subscribe\":\"workload\",\"workload\":\"a:b\"}", "bad-request", "workload: expected the id" },
		{ "{\"subscribe\":\"workload\",\"workload\":\"a:~zz:c\"}", "bad-request", "workload: expected the id" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct stand s;
		struct str code = { 0 };
		stand_init(&s, 1, NULL);
		struct live_viewer *viewer = viewer_of(&s, NULL);
		ask(viewer, "{\"subscribe\":\"fleet\"}");
		pass(&s, 200);
		hear(&s, viewer, "fleet");
		ask(viewer, cases[i].ask);
		const struct js *root = hear(&s, viewer, "error");
		assert_true(js_str(js_get(root, "code"), &code));
		if (!str_eq(code, str_of(cases[i].code)) || !strstr(s.frame.ptr, cases[i].text))
			fail_msg("%s: %s", cases[i].ask, s.frame.ptr);
		/* What was asked for before is over, and the connection is not. */
		feed(&s, 0, 4);
		pass(&s, 200);
		silent(&s, viewer);
		ask(viewer, "{\"subscribe\":\"fleet\",\"n\":2}");
		pass(&s, 200);
		hear(&s, viewer, "fleet");
		stand_done(&s);
	}
}

static void the_number_is_told_with_the_error(void **state)
{
	(void)state;
	struct stand s;
	stand_init(&s, 1, NULL);
	struct live_viewer *viewer = viewer_of(&s, NULL);
	ask(viewer, "{\"subscribe\":\"fleet\",\"n\":9007199254740993,\"sort\":\"x\"}");
	hear(&s, viewer, "error");
	assert_non_null(strstr(s.frame.ptr, "\"n\":9007199254740993,"));
	stand_done(&s);
}

static void too_fast_and_too_wrong(void **state)
{
	(void)state;
	struct stand s;
	stand_init(&s, 1, NULL);
	struct live_viewer *viewer = viewer_of(&s, NULL);
	for (int i = 0; i < 40; i++)
		ask(viewer, "{\"subscribe\":\"fleet\"}");
	silent(&s, viewer);
	ask(viewer, "{\"subscribe\":\"fleet\"}");
	hear(&s, viewer, "error");
	assert_non_null(strstr(s.frame.ptr, "too-fast"));
	/* What is subscribed stays; after a tenth of a second one more may be asked. */
	pass(&s, 100);
	hear(&s, viewer, "fleet");
	ask(viewer, "{\"subscribe\":\"fleet\",\"n\":5}");
	pass(&s, 100);
	hear(&s, viewer, "fleet");
	/* Twenty errors, and he is sent away: nothing is answered any more. */
	pass(&s, 10000);
	hear(&s, viewer, "rows");
	for (int i = 0; i < 18; i++)
		ask(viewer, "?");
	ask(viewer, "{\"subscribe\":\"fleet\",\"n\":5}");
	pass(&s, 200);
	hear(&s, viewer, "error");
	hear(&s, viewer, "fleet");
	ask(viewer, "?");
	hear(&s, viewer, "error");
	ask(viewer, "{\"subscribe\":\"fleet\",\"n\":5}");
	pass(&s, 10000);
	silent(&s, viewer);
	stand_done(&s);
}

/* --- how many ------------------------------------------------------------------------------------------------------- */

static void caps(void **state)
{
	(void)state;
	struct stand s;
	struct live_counts counts;
	struct auth_viewer who = { .role = AUTH_VIEWER, .way = AUTH_TOKEN, .name = "ann" };
	stand_init(&s, 1, &(struct live_options){ .max_viewers = 5, .max_per_address = 2 });
	static const struct {
		const char *peer, *user; /* user: behind a proxy */
		unsigned status;
		const char *why;
	} cases[] = {
		{ "10.0.0.1", NULL, 0, "" },
		{ "10.0.0.1", NULL, 0, "" },
		{ "10.0.0.1", NULL, 429, "--max-viewers-per-address" },
		{ "10.0.0.2", "bob", 0, "" },
		{ "10.0.0.2", "bob", 0, "" },
		{ "10.0.0.3", "bob", 429, "user" },
		{ "10.0.0.2", "eve", 0, "" },
		{ "10.0.0.9", NULL, 503, "--max-viewers" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct server_reply reply = { .status = 200, .body.cap = 1000 };
		who.way = cases[i].user ? AUTH_PROXY : AUTH_TOKEN;
		str_copy(who.name, sizeof who.name, str_of(cases[i].user ? cases[i].user : "ann"));
		struct live_viewer *viewer = live_open(s.live, &who, cases[i].peer, &reply);
		assert_int_equal(viewer != NULL, cases[i].status == 0);
		if (!viewer) {
			assert_int_equal(reply.status, cases[i].status);
			assert_true(reply.retry_after_s > 0);
			assert_non_null(strstr(reply.body.ptr, cases[i].why));
		}
		buf_done(&reply.body);
	}
	live_count(s.live, &counts);
	assert_int_equal(counts.viewers, 5);
	assert_int_equal(counts.refused_total, 3);
	live_stop(s.live);
	struct server_reply reply = { .body.cap = 1000 };
	assert_null(live_open(s.live, &who, "10.0.0.8", &reply));
	assert_int_equal(reply.status, 503);
	buf_done(&reply.body);
	stand_done(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_changes_is_told),
		cmocka_unit_test(moves),
		cmocka_unit_test(equal_ones_share),
		cmocka_unit_test(another_namespace_is_not_there),
		cmocka_unit_test(who_does_not_read_is_behind),
		cmocka_unit_test(half_a_frame_is_none),
		cmocka_unit_test(the_clock_moves_states),
		cmocka_unit_test(one_at_a_time),
		cmocka_unit_test(errors),
		cmocka_unit_test(the_number_is_told_with_the_error),
		cmocka_unit_test(too_fast_and_too_wrong),
		cmocka_unit_test(caps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
