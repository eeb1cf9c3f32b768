/* SPDX-License-Identifier: Apache-2.0 */
/* What receivers are sent: labels that do not change, texts that are whole, and nothing of what a hostile pod named. */
#include "collector/alert_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "collector/alert_figures.h"
#include "collector/alerts_parts.h"
#include "data/js.h"
#include "support/alertkit.h"

static struct js *parse(const struct buf *body)
{
	struct js *root = NULL;
	struct err err = { 0 };
	if (js_parse(buf_str(body), ALERT_BODY_MAX, &root, &err) < 0)
		fail_msg("%s: %s", err.message, body->ptr);
	return root;
}

static void assert_text(const struct js *root, const char *path, const char *expected)
{
	struct str text = { NULL, 0 };
	if (!js_str(js_path(root, path), &text)) {
		if (expected)
			fail_msg("no %s", path);
		return;
	}
	if (!expected || !str_eq(text, str_of(expected)))
		fail_msg("%s is '%.*s'", path, (int)text.len, text.ptr);
}

static struct alert make_alert(void)
{
	const struct alert_group group = alertkit_group("orders", "freeboard-low", SEVERITY_CRITICAL, 7);
	struct alert alert = { .row = 12, .severity = SEVERITY_CRITICAL, .started = alertkit_wall(0) };
	alert.figures = group.figures;
	str_copy(alert.cluster, sizeof alert.cluster, STR("prod"));
	str_copy(alert.namespace_, sizeof alert.namespace_, STR("shop"));
	str_copy(alert.workload, sizeof alert.workload, STR("orders"));
	str_copy(alert.rule, sizeof alert.rule, STR("freeboard-low"));
	return alert;
}

static void alertmanager_takes_this(void **state)
{
	(void)state;
	auto_buf struct buf body = { .cap = ALERT_BODY_MAX };
	struct alertconf *conf = alertkit_conf("  labels: {team: streaming}\n");
	struct alert alert = make_alert(), over = make_alert();
	struct err err = { 0 };
	const struct alert_origin origin = { conf, "prod", "https://bankfull.example/x/" };
	over.ended = alertkit_wall(60000);
	const struct alert_item items[] = { { .alert = &alert, .edge = ALERT_EDGE_FIRING },
					    { .alert = &over, .edge = ALERT_EDGE_RESOLVED } };
	assert_int_equal(alert_encode_batch(&origin, items, 2, true, alertkit_wall(1000), &body, &err), 0);
	auto_js struct js *root = parse(&body);
	assert_int_equal(js_len(root), 3);
	const struct js *firing = js_at(root, 0), *resolved = js_at(root, 1), *watchdog = js_at(root, 2);
	assert_int_equal(js_len(js_get(firing, "labels")), 7);
	assert_text(firing, "labels.alertname", "BankfullFreeboardLow");
	assert_text(firing, "labels.cluster", "prod");
	assert_text(firing, "labels.namespace", "shop");
	assert_text(firing, "labels.workload", "orders");
	assert_text(firing, "labels.rule", "freeboard-low");
	assert_text(firing, "labels.severity", "critical");
	assert_text(firing, "labels.team", "streaming");
	assert_text(firing, "annotations.title", "critical: freeboard-low at orders, 7 of 7 pods");
	assert_text(firing, "annotations.pods", "7");
	assert_text(
		firing, "annotations.worst_pods",
		"p-0 (critical, freeboard 1000 B), p-1 (critical, freeboard 1000 B), p-2 (critical, freeboard 1000 B), "
		"p-3 (critical, freeboard 1000 B), p-4 (critical, freeboard 1000 B) and 2 more");
	assert_text(firing, "annotations.runbook_url", "https://bankfull.example/x/docs/rules/freeboard-low");
	assert_text(firing, "generatorURL", "https://bankfull.example/x/#/workloads/prod:shop:orders");
	assert_text(firing, "startsAt", "2025-11-30T08:00:00.000Z");
	assert_text(firing, "endsAt", "2025-11-30T08:04:01.000Z");
	assert_text(resolved, "endsAt", "2025-11-30T08:01:00.000Z");
	assert_text(watchdog, "labels.alertname", "BankfullWatchdog");
	assert_text(watchdog, "labels.severity", "none");
	assert_text(watchdog, "labels.team", "streaming");
	alertconf_free(conf);
}

/* No start behind the end, which Alertmanager refuses: the clock was set back since it started. */
static void a_start_in_the_future(void **state)
{
	(void)state;
	auto_buf struct buf body = { .cap = ALERT_BODY_MAX };
	struct alertconf *conf = alertkit_conf("");
	struct alert alert = make_alert();
	struct err err = { 0 };
	const struct alert_origin origin = { conf, "prod", "" };
	const struct alert_item item = { .alert = &alert, .edge = ALERT_EDGE_FIRING };
	assert_int_equal(alert_encode_batch(&origin, &item, 1, false, alertkit_wall(-3600000), &body, &err), 0);
	auto_js struct js *root = parse(&body);
	assert_text(js_at(root, 0), "startsAt", "2025-11-30T07:04:00.000Z");
	assert_text(js_at(root, 0), "endsAt", "2025-11-30T07:04:00.000Z");
	assert_text(js_at(root, 0), "annotations.runbook_url", NULL);
	assert_text(js_at(root, 0), "generatorURL", NULL);
	alertconf_free(conf);
}

static void events_are_cloudevents(void **state)
{
	(void)state;
	struct alertconf *conf = alertkit_conf("  title: '{{severity}}|{{owner}}|{{started}}|{{cluster}}'\n");
	struct alert alert = make_alert();
	struct err err = { 0 };
	const struct alert_origin origin = { conf, "prod eu", "" };
	static const struct {
		enum alert_edge edge;
		bool again;
		const char *id, *type, *state, *time;
	} rows[] = {
		{ ALERT_EDGE_FIRING, false, "1764489600000-12-firing", "io.bankfull.alert.firing", "firing",
		  "2025-11-30T08:00:00.000Z" },
		{ ALERT_EDGE_FIRING, true, "1764489600000-12-firing-3", "io.bankfull.alert.firing", "firing",
		  "2025-11-30T08:01:30.000Z" },
		{ ALERT_EDGE_RESOLVED, false, "1764489600000-12-resolved", "io.bankfull.alert.resolved", "resolved",
		  "2025-11-30T08:01:00.000Z" },
	};
	alert.deliveries[ALERTKIT_HOOK].repeats = 2;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		auto_buf struct buf body = { .cap = ALERT_BODY_MAX };
		const struct alert_item item = { &alert, rows[i].edge, rows[i].again, 0 };
		if (rows[i].edge == ALERT_EDGE_RESOLVED)
			alert.ended = alertkit_wall(60000);
		assert_int_equal(alert_encode_event(&origin, ALERTKIT_HOOK, &item, alertkit_wall(90000), &body, &err),
				 0);
		auto_js struct js *root = parse(&body);
		assert_text(root, "specversion", "1.0");
		assert_text(root, "id", rows[i].id);
		assert_text(root, "source", "/bankfull/prod-eu");
		assert_text(root, "type", rows[i].type);
		assert_text(root, "subject", "shop/orders/freeboard-low");
		assert_text(root, "time", rows[i].time);
		assert_text(root, "datacontenttype", "application/json");
		assert_text(root, "data.state", rows[i].state);
		assert_text(root, "data.labels.workload", "orders");
		assert_text(root, "data.annotations.title", "critical|none|2025-11-30T08:00:00.000Z|prod");
		assert_int_equal(js_len(js_path(root, "data.figures.worst")), 5);
	}
	auto_buf struct buf body = { .cap = ALERT_BODY_MAX };
	assert_int_equal(alert_encode_watchdog(&origin, alertkit_wall(0), &body, &err), 0);
	auto_js struct js *root = parse(&body);
	assert_text(root, "type", "io.bankfull.watchdog");
	alertconf_free(conf);
}

/* The worst that an agent may say: marks that turn a line round, control bytes, no UTF-8, and as long as it can be. */
static void hostile_names(void **state)
{
	(void)state;
	struct alertconf *conf = alertkit_conf("");
	struct alert alert = make_alert();
	struct err err = { 0 };
	const struct alert_origin origin = { conf, "prod", "https://b" };
	str_copy(alert.workload, sizeof alert.workload,
		 STR("a\xe2\x80\xae"
		     "b\x1b[31m\xff<script>{{rule}}"));
	str_copy(alert.rule, sizeof alert.rule, STR("../../x"));
	for (size_t i = 0; i < alert.figures.n_worst; i++)
		memset(alert.figures.worst[i].pod, '\x07', sizeof alert.figures.worst[i].pod - 1);
	memset(alert.figures.title, '\xe2', sizeof alert.figures.title - 1);
	const struct alert_item item = { .alert = &alert, .edge = ALERT_EDGE_FIRING };
	for (int hook = 0; hook < 2; hook++) {
		auto_buf struct buf body = { .cap = ALERT_BODY_MAX };
		int rc = hook ? alert_encode_event(&origin, ALERTKIT_HOOK, &item, alertkit_wall(0), &body, &err)
			      : alert_encode_batch(&origin, &item, 1, false, alertkit_wall(0), &body, &err);
		assert_int_equal(rc, 0);
		for (size_t i = 0; i < body.len; i++)
			assert_in_range((unsigned char)body.ptr[i], 0x20, 0x7e); /* no mark, no control, no bad UTF-8 */
		assert_null(strstr(body.ptr, "\\u")); /* nor one that a reader of JSON would make of it */
		assert_in_range(body.len, 1000, 16384);
		auto_js struct js *root = parse(&body);
		const struct js *said = hook ? js_get(root, "data") : js_at(root, 0);
		assert_text(said, "labels.workload", "a\\xe2\\x80\\xaeb\\x1b[31m\\xff<script>{{rule}}");
		assert_text(said, "annotations.runbook_url", NULL); /* no page of this name */
	}
	alertconf_free(conf);
}

static void texts_are_cut_between_characters(void **state)
{
	(void)state;
	auto_buf struct buf text = { .cap = 4096 };
	for (int i = 0; i < 100; i++)
		(void)buf_puts(&text, i ? "{{title}}" : "  title: '");
	(void)buf_puts(&text, "'\n");
	struct alertconf *conf = alertkit_conf(text.ptr);
	struct alert alert = make_alert();
	char shown[ALERT_TITLE_MAX] = "";
	auto_buf struct buf body = { .cap = ALERT_BODY_MAX };
	struct err err = { 0 };
	const struct alert_origin origin = { conf, "prod", "" };
	const struct alert_item item = { .alert = &alert, .edge = ALERT_EDGE_FIRING };
	str_copy(alert.figures.title, sizeof alert.figures.title, STR("\xc3\xa9\xc3\xa9\xc3\xa9"));
	assert_int_equal(alert_encode_event(&origin, 0, &item, alertkit_wall(1000), &body, &err), 0);
	auto_js struct js *said = parse(&body);
	for (size_t i = 0; i < 510; i += 2)
		str_copy(shown + i, sizeof shown - i, STR("\xc3\xa9"));
	assert_text(said, "data.annotations.title", shown);
	alertconf_free(conf);
}

static void figures_come_back(void **state)
{
	(void)state;
	auto_buf struct buf text = { .cap = ALERT_FIGURES_TEXT_MAX };
	struct alert alert = make_alert();
	struct alert_figures read;
	struct js_out out;
	alert.figures.owner = OWNER_JAVA_HEAP;
	alert.figures.worst[1].freeboard_bytes.known = false;
	alert.figures.worst[2].freeboard_bp = (struct signed_qty){ -5, true };
	js_out_start(&out, &text, 0);
	js_out_object(&out);
	alert_figures_put(&out, &alert.figures, ALERT_NAMES_RAW);
	js_out_object_end(&out);
	assert_int_equal(js_out_end(&out, NULL), 0);
	auto_js struct js *root = parse(&text);
	alert_figures_read(root, &read);
	assert_int_equal(read.n_pods, 7);
	assert_int_equal(read.owner, OWNER_JAVA_HEAP);
	assert_string_equal(read.title, alert.figures.title);
	assert_int_equal(read.n_worst, 5);
	assert_int_equal(read.worst[0].agent, 1);
	assert_string_equal(read.worst[4].pod, "p-4");
	assert_true(read.worst[0].freeboard_bytes.known);
	assert_false(read.worst[1].freeboard_bytes.known);
	assert_int_equal(read.worst[2].freeboard_bp.bytes, -5);
	alert_figures_read(NULL, &read);
	assert_int_equal(read.n_worst, 0);
	assert_int_equal(read.owner, -1);
}

static void names_and_addresses(void **state)
{
	(void)state;
	char name[ALERT_NAME_CAP + 16], url[ALERT_URL_CAP + 32];
	struct alert_receiver receiver = { .url = "http://am:9093/prefix//" };
	assert_string_equal(alert_name_of(name, "oom-kill"), "BankfullOomKill");
	assert_string_equal(alert_name_of(name, "-x--9y\xc3\xa9"), "BankfullX9y");
	alert_url(&receiver, url, sizeof url);
	assert_string_equal(url, "http://am:9093/prefix/api/v2/alerts");
}

static void paths_of_receivers_are_nobodys(void **state)
{
	(void)state;
	static const struct {
		const char *said, *shown;
	} table[] = {
		{ "http://h:80/x/s3cret: nobody listens there", "http://h:80: nobody listens there" },
		{ "https://h/s3cret answers 500", "https://h answers 500" },
		{ "https://h/s3cret", "https://h" },
		{ "https://h answers 404", "https://h answers 404" },
		{ "a https://h/s3cret: b http://i/s3cret://x c", "a https://h: b http://i c" },
		{ "the token to send with: /etc/t: No such file", "the token to send with: /etc/t: No such file" },
		{ "", "" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		char text[128];
		(void)snprintf(text, sizeof text, "%s", table[i].said);
		alert_hide_path(text);
		assert_string_equal(text, table[i].shown);
	}
}

static void answers(void **state)
{
	(void)state;
	static const struct {
		int rc;
		long status;
		enum alert_outcome outcome;
	} table[] = {
		{ 0, 200, ALERT_TOLD },     { -1, 0, ALERT_FAILED },    { -1, 200, ALERT_TOLD },
		{ -1, 400, ALERT_REFUSED }, { -1, 401, ALERT_FAILED },  { -1, 404, ALERT_FAILED },
		{ -1, 413, ALERT_REFUSED }, { -1, 422, ALERT_REFUSED }, { -1, 429, ALERT_FAILED },
		{ -1, 500, ALERT_FAILED },  { -1, 301, ALERT_FAILED },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		assert_int_equal(alert_outcome_of(table[i].rc, table[i].status), table[i].outcome);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alertmanager_takes_this),
		cmocka_unit_test(a_start_in_the_future),
		cmocka_unit_test(events_are_cloudevents),
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(texts_are_cut_between_characters),
		cmocka_unit_test(figures_come_back),
		cmocka_unit_test(names_and_addresses),
		cmocka_unit_test(paths_of_receivers_are_nobodys),
		cmocka_unit_test(answers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
