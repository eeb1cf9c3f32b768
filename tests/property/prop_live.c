/* SPDX-License-Identifier: Apache-2.0 */
/* time-limit: 300 */
/*
 * Viewers who read now and then, of a fleet that changes: whoever replays the frames has what a look at the fleet shows,
 * row by row, whatever he missed. Equal requests share; some take moves, some do not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "collector/fleet_row.h"
#include "collector/live.h"
#include "data/js.h"
#include "support/fleetfill.h"
#include "support/prng.h"

enum { ROUNDS = 20, STEPS = 120, PODS = 40, VIEWERS = 8, ROW_CAP = 4096 };

static const struct wall t0 = { INT64_C(1764489600000) };

/* --- a viewer who replays ------------------------------------------------------------------------------------------- */

struct replay {
	struct live_viewer *viewer;
	struct auth_viewer who;
	struct live_request request;
	char ask[600];
	bool asked, had_whole;
	size_t n;
	char rows[VIEW_COUNT_MAX][ROW_CAP];
	uint64_t total, matching;
	char summary[512];
};

static char moved[VIEW_COUNT_MAX][ROW_CAP];

/* Ages and the last hour go on by the clock: they are of when the row was sent. */
static void keep_row(char dest[ROW_CAP], struct str text)
{
	assert_true(text.len < ROW_CAP);
	str_copy(dest, ROW_CAP, text);
	char *spark = strstr(dest, "\"spark\":\""), *age = strstr(dest, ",\"age_ms\":");
	assert_non_null(spark);
	memset(spark + 9, '.', SPARK_MINUTES);
	if (age)
		memcpy(age, "}", 2);
}

static void text_of(const struct js *value, struct buf *out)
{
	struct js_out js;
	buf_clear(out);
	js_out_start(&js, out, 0);
	js_out_value(&js, value);
	assert_int_equal(js_out_end(&js, NULL), 0);
}

static void take_above(struct replay *r, const struct js *root)
{
	auto_buf struct buf text = { .cap = 4096 };
	(void)js_u64(js_get(root, "total"), &r->total);
	(void)js_u64(js_get(root, "matching"), &r->matching);
	if (!js_get(root, "summary"))
		return;
	text_of(js_get(root, "summary"), &text);
	str_copy(r->summary, sizeof r->summary, buf_str(&text));
}

static void take_whole(struct replay *r, const struct js *root)
{
	auto_buf struct buf text = { .cap = ROW_CAP };
	const struct js *rows = js_get(root, "rows");
	r->had_whole = true;
	r->n = js_len(rows);
	for (size_t i = 0; i < r->n; i++) {
		text_of(js_at(rows, i), &text);
		keep_row(r->rows[i], buf_str(&text));
	}
}

static void take_order(struct replay *r, const struct js *order)
{
	size_t n = js_len(order);
	assert_true(r->request.moves);
	for (size_t i = 0; i < n; i++) {
		uint64_t from;
		moved[i][0] = '\0';
		if (js_kind(js_at(order, i)) == JS_NULL)
			continue;
		assert_true(js_u64(js_at(order, i), &from) && from < r->n);
		memcpy(moved[i], r->rows[from], ROW_CAP);
	}
	memcpy(r->rows, moved, n * sizeof moved[0]);
	r->n = n;
}

static void take_step(struct replay *r, const struct js *root)
{
	auto_buf struct buf text = { .cap = ROW_CAP };
	const struct js *rows = js_get(root, "rows");
	assert_true(r->had_whole);
	if (js_get(root, "order"))
		take_order(r, js_get(root, "order"));
	for (size_t i = 0; i < js_len(rows); i++) {
		uint64_t at;
		assert_true(js_u64(js_at(js_at(rows, i), 0), &at) && at < r->n);
		text_of(js_at(js_at(rows, i), 1), &text);
		keep_row(r->rows[at], buf_str(&text));
	}
}

static void hear(struct replay *r)
{
	static struct buf frame = { .cap = 8 << 20 };
	struct err err;
	buf_clear(&frame);
	while (live_writable(r->viewer, &frame)) {
		auto_js struct js *root = NULL;
		struct str type;
		if (js_parse(buf_str(&frame), frame.cap, &root, &err) < 0)
			fail_msg("%s: %s", err.message, frame.ptr);
		assert_true(js_str(js_get(root, "type"), &type));
		take_above(r, root);
		if (str_eq(type, STR("fleet")))
			take_whole(r, root);
		else if (str_eq(type, STR("rows")))
			take_step(r, root);
		else
			fail_msg("%s", frame.ptr);
		buf_clear(&frame);
	}
}

static void check_summary(const struct fleet_index *index, const struct replay *r)
{
	auto_buf struct buf text = { .cap = 4096 };
	char wanted[sizeof r->summary + 20];
	struct view_summary summary;
	struct js_out out;
	fleet_view_summary(index, &r->who, &summary);
	js_out_start(&out, &text, 0);
	js_out_object(&out);
	fleet_put_summary(&out, &summary);
	js_out_object_end(&out);
	assert_int_equal(js_out_end(&out, NULL), 0);
	(void)snprintf(wanted, sizeof wanted, "{\"summary\":%s}", r->summary);
	assert_string_equal(wanted, text.ptr);
}

/* What a look at the fleet shows, with nothing kept from before. */
static void check(const struct fleet *fleet, const struct replay *r, struct wall now)
{
	static struct view_window window;
	auto_buf struct buf text = { .cap = ROW_CAP };
	struct view_scratch scratch = { 0 };
	struct fleet_index index;
	struct js_out out;
	struct err err;
	char row[ROW_CAP];
	fleet_index_init(&index, fleet);
	assert_int_equal(fleet_index_refresh(&index, now, &err), 0);
	assert_int_equal(fleet_view(&index, &r->request.query, &r->who, &scratch, &window, &err), 0);
	assert_int_equal(r->total, window.total);
	assert_int_equal(r->matching, window.matching);
	assert_int_equal(r->n, window.n);
	check_summary(&index, r);
	const struct row_context context = { NULL, now };
	for (size_t i = 0; i < window.n; i++) {
		buf_clear(&text);
		js_out_start(&out, &text, 0);
		js_out_object(&out);
		fleet_put_row(&out, &context, r->request.query.kind, &window.rows[i]);
		js_out_object_end(&out);
		assert_int_equal(js_out_end(&out, NULL), 0);
		keep_row(row, buf_str(&text));
		assert_string_equal(r->rows[i], row);
	}
	fleet_index_done(&index);
	view_scratch_done(&scratch);
}

/* --- what happens --------------------------------------------------------------------------------------------------- */

static void happen(struct fleet *fleet, struct prng *prng, struct wall now)
{
	unsigned n = (unsigned)prng_below(prng, PODS);
	const struct fleet_pod *pod = fleet_find(fleet, n + 1);
	struct wire_hello hello;
	struct wire_sample sample;
	struct wire_finding finding;
	struct err err;
	char id[16];
	switch (prng_below(prng, 12)) {
	case 0:
		(void)snprintf(id, sizeof id, "uid-%u", n);
		fleetfill_hello(&hello, n);
		(void)snprintf(hello.subject.workload, sizeof hello.subject.workload, "job-%u", n / 4);
		(void)snprintf(hello.subject.namespace_, sizeof hello.subject.namespace_, "team-%u", n % 2);
		/* Another name now and then, in the same workload. */
		(void)snprintf(hello.subject.pod, sizeof hello.subject.pod, "pod-%u", (unsigned)prng_below(prng, 20));
		if (!pod || pod->sessions < 2)
			assert_int_equal(fleet_connected(fleet, n + 1, id, &hello, 0, now, &err), 0);
		break;
	case 1:
		if (pod && pod->sessions)
			fleet_disconnected(fleet, n + 1, prng_one_in(prng, 2), now);
		break;
	case 2:
		if (prng_one_in(prng, 6))
			fleet_expire(fleet, now, prng_below(prng, 20000));
		break;
	case 3:
		fleetfill_finding(&finding, (unsigned)prng_below(prng, 3));
		finding.severity = (enum severity)(1 + prng_below(prng, 4));
		finding.edge = prng_one_in(prng, 2) ? WIRE_CLEARED : WIRE_OPENED;
		finding.opened.ms += (int64_t)prng_below(prng, 5);
		assert_int_equal(fleet_finding(fleet, n + 1, &finding, now, &err), 0);
		break;
	case 4:
		fleet_postmortem(fleet, n + 1, now);
		break;
	default:
		fleetfill_sample(&sample, n);
		sample.freeboard_bytes.bytes = (int64_t)prng_below(prng, 4000) << 20;
		sample.forecast.likely_s = (struct count){ prng_below(prng, 9), prng_one_in(prng, 2) };
		sample.interval_ms = 3000;
		fleet_sample(fleet, n + 1, &sample, now);
		break;
	}
}

static void ask(struct replay *r, struct prng *prng)
{
	int64_t n;
	struct err err;
	static const char *const filters[] = { "", "\"state\":\"connected\"", "\"severity\":\"warning\"",
					       "\"q\":\"pod-1\"", "\"namespace\":\"team-1\"" };
	(void)snprintf(r->ask, sizeof r->ask,
		       "{\"subscribe\":\"fleet\",\"view\":\"%s\",\"sort\":\"%s\",\"from\":%u,\"count\":%u,\"moves\":%s,"
		       "\"descending\":%s,\"filter\":{%s}}",
		       view_kind_names[prng_below(prng, 2)], view_sort_names[prng_below(prng, VIEW_SORT_COUNT)],
		       (unsigned)prng_below(prng, 3) * 2, (unsigned)prng_below(prng, 3) * 5 + 2,
		       prng_one_in(prng, 3) ? "false" : "true", prng_one_in(prng, 3) ? "true" : "false",
		       filters[prng_below(prng, 5)]);
	assert_int_equal(live_request_parse(str_of(r->ask), &r->request, &n, &err), 0);
	live_frame(r->viewer, str_of(r->ask));
	r->asked = true;
	r->had_whole = false;
	r->n = 0;
}

static void round_of(struct prng *prng)
{
	static struct replay replays[VIEWERS];
	static const struct live_options options;
	struct fleet *fleet = NULL;
	struct live *live = NULL;
	struct err err;
	struct mono now = { UINT64_C(1000000000) };
	struct wall wall = t0;
	assert_int_equal(fleet_new(&fleet, &err), 0);
	assert_int_equal(live_new(NULL, &options, fleet, NULL, NULL, NULL, &live, &err), 0);
	memset(replays, 0, sizeof replays);
	for (size_t i = 0; i < VIEWERS; i++) {
		struct server_reply reply = { .body.cap = 1000 };
		if (i % 3 == 2) {
			replays[i].who.n_namespaces = 1;
			str_copy(replays[i].who.namespaces[0], 64, STR("team-1"));
		}
		replays[i].viewer = live_open(live, &replays[i].who, "::1", &reply);
		assert_non_null(replays[i].viewer);
	}
	for (int step = 0; step < STEPS; step++) {
		uint64_t ms = LIVE_TICK_MS + prng_below(prng, prng_one_in(prng, 10) ? 20000 : 500);
		for (uint64_t i = prng_below(prng, 10); i > 0; i--)
			happen(fleet, prng, wall);
		for (size_t i = 0; i < VIEWERS; i++)
			if (!replays[i].asked || prng_one_in(prng, 60))
				ask(&replays[i], prng);
		now = mono_add_ms(now, ms);
		wall.ms += (int64_t)ms;
		(void)live_tick(live, now, wall);
		for (size_t i = 0; i < VIEWERS; i++)
			if (prng_one_in(prng, i % 4 + 1)) {
				hear(&replays[i]);
				check(fleet, &replays[i], wall);
			}
	}
	live_free(live);
	fleet_free(fleet);
}

static void who_replays_has_the_whole(void **state)
{
	(void)state;
	struct prng prng = prng_start("who_replays_has_the_whole");
	for (int round = 0; round < ROUNDS; round++)
		round_of(&prng);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_replays_has_the_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
