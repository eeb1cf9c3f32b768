/* SPDX-License-Identifier: Apache-2.0 */
/* The section `alerts`: what it may say, what it refuses and where, and who is told of what. */
#include "config/alertconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ONE "alerts:\n  receivers:\n    - {name: a, type: webhook, url: 'http://x/y'}\n"
#define TWO ONE "    - {name: b, type: alertmanager, url: 'http://x:9093'}\n"

static int parse(const char *text, const char *short_one, struct alertconf **ret_conf, struct err *err)
{
	auto_yml struct yml yml = { 0 };
	int rc = yml_parse(str_of(text), "f", &yml, err);
	return rc < 0 ? rc : alertconf_parse(&yml, "f", short_one, ret_conf, err);
}

static struct alertconf *must_parse(const char *text, const char *short_one)
{
	struct alertconf *conf = NULL;
	struct err err = { 0 };
	if (parse(text, short_one, &conf, &err) < 0)
		fail_msg("%s", err.message);
	return conf;
}

static uint32_t route_of(const struct alertconf *conf, const char *namespace_, const char *workload, const char *rule,
			 enum severity severity)
{
	const struct alert_subject subject = { "default", namespace_, workload, rule, severity };
	int route;
	return alertconf_route(conf, &subject, &route);
}

static void nothing_configured_is_nobody(void **state)
{
	(void)state;
	struct alertconf *conf = must_parse("", NULL);
	assert_int_equal(conf->n_receivers, 0);
	assert_int_equal(route_of(conf, "n", "w", "oom-kill", SEVERITY_CRITICAL), 0);
	assert_int_equal(alertconf_least(conf), SEVERITY_WARNING);
	assert_int_equal(conf->group_wait_ms, 10000);
	assert_int_equal(conf->hold_ms, 300000);
	assert_int_equal(conf->repeat_ms, 0);
	alertconf_free(conf);
}

static void the_short_way_takes_warnings(void **state)
{
	(void)state;
	struct alertconf *conf = must_parse("alerts: {}\n", "http://127.0.0.1:9093");
	assert_int_equal(conf->n_receivers, 1);
	assert_string_equal(conf->receivers[0].name, "alertmanager");
	assert_true(conf->receivers[0].watchdog);
	assert_true(conf->receivers[0].send_resolved);
	assert_int_equal(route_of(conf, "n", "w", "oom-kill", SEVERITY_WARNING), 1);
	assert_int_equal(route_of(conf, "n", "w", "oom-kill", SEVERITY_NOTICE), 0);
	alertconf_free(conf);
	conf = must_parse(TWO, "https://am/");
	assert_int_equal(route_of(conf, "n", "w", "oom-kill", SEVERITY_WARNING), 7);
	alertconf_free(conf);
	conf = must_parse(TWO "  default: []\n", "https://am/");
	assert_int_equal(route_of(conf, "n", "w", "oom-kill", SEVERITY_WARNING), 4);
	alertconf_free(conf);
}

/* Whoever sees one namespace sees who may be told of it: what a route before decides, none behind it does. */
static void whom_a_namespace_may_reach(void **state)
{
	(void)state;
	static const char text[] = TWO "  routes:\n"
				       "    - {namespace: 'calm-*', severity: critical, receivers: [b]}\n"
				       "    - {namespace: own, receivers: [b]}\n"
				       "    - {namespace: own, severity: critical, receivers: [a]}\n"
				       "    - {namespace: low, severity: notice, receivers: []}\n"
				       "    - {namespace: low, severity: info, receivers: [b]}\n"
				       "    - {namespace: one, rule: oom-kill, severity: info, receivers: []}\n"
				       "  default: [a]\n";
	static const struct {
		const char *namespace_;
		uint32_t told;
	} table[] = { { "calm-1", 3 }, { "own", 2 }, { "low", 2 }, { "one", 1 }, { "other", 1 } };
	struct alertconf *conf = must_parse(text, NULL);
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		assert_int_equal(alertconf_reach(conf, table[i].namespace_), table[i].told);
	alertconf_free(conf);
}

static void the_first_route_that_matches_decides(void **state)
{
	(void)state;
	static const char text[] = TWO "  routes:\n"
				       "    - {workload: 'sandbox-*', severity: info, receivers: []}\n"
				       "    - {namespace: 'batch-*', severity: critical, receivers: [b]}\n"
				       "    - {rule: oom-kill, severity: notice, receivers: [a, b]}\n"
				       "  default: [a]\n";
	static const struct {
		const char *namespace_, *workload, *rule;
		enum severity severity;
		uint32_t told;
		int route;
	} table[] = {
		{ "batch-1", "sandbox-x", "oom-kill", SEVERITY_CRITICAL, 0, 0 },
		{ "batch-1", "etl", "oom-kill", SEVERITY_CRITICAL, 2, 1 },
		{ "batch-1", "etl", "oom-kill", SEVERITY_NOTICE, 3, 2 },
		{ "batch-1", "etl", "thread-growth", SEVERITY_WARNING, 1, -1 },
		{ "prod", "etl", "oom-kill", SEVERITY_INFO, 0, -1 },
		{ "prod", "etl", "thread-growth", SEVERITY_NOTICE, 0, -1 },
	};
	struct alertconf *conf = must_parse(text, NULL);
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		const struct alert_subject subject = { "default", table[i].namespace_, table[i].workload, table[i].rule,
						       table[i].severity };
		int route = 99;
		assert_int_equal(alertconf_route(conf, &subject, &route), table[i].told);
		assert_int_equal(route, table[i].route);
	}
	assert_int_equal(alertconf_reach(conf, "batch-1"), 3);
	assert_int_equal(alertconf_reach(conf, "prod"), 3);
	/* A route to nobody asks for nothing. */
	assert_int_equal(alertconf_least(conf), SEVERITY_NOTICE);
	alertconf_free(conf);
}

static void all_that_it_may_say(void **state)
{
	(void)state;
	static const char text[] = "alerts:\n"
				   "  receivers:\n"
				   "    - name: a\n"
				   "      type: webhook\n"
				   "      url: https://hooks.example/x\n"
				   "      token-file: /t\n"
				   "      ca-file: /c\n"
				   "      timeout: 3s\n"
				   "      send-resolved: false\n"
				   "      watchdog: true\n"
				   "  labels: {team: streaming, _x1: 'y z'}\n"
				   "  title: '{{rule}}'\n"
				   "  description: 'x {{worst}}'\n"
				   "  group-wait: 0s\n"
				   "  hold: 1m\n"
				   "  repeat: 12h\n";
	struct alertconf *conf = must_parse(text, NULL);
	const struct alert_receiver *receiver = &conf->receivers[0];
	assert_int_equal(receiver->type, RECEIVER_WEBHOOK);
	assert_string_equal(receiver->token_file, "/t");
	assert_string_equal(receiver->ca_file, "/c");
	assert_int_equal(receiver->timeout_ms, 3000);
	assert_false(receiver->send_resolved);
	assert_true(receiver->watchdog);
	assert_int_equal(conf->n_labels, 2);
	assert_string_equal(conf->labels[1].name, "_x1");
	assert_string_equal(conf->labels[1].value, "y z");
	assert_string_equal(conf->title, "{{rule}}");
	assert_int_equal(conf->group_wait_ms, 0);
	assert_int_equal(conf->hold_ms, 60000);
	assert_int_equal(conf->repeat_ms, 12 * 3600000);
	alertconf_free(conf);
}

static void what_is_wrong_is_said_with_its_line(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} table[] = {
		{ "alerts:\n  - x\n", "f:2: alerts has receivers" },
		{ "alerts: yes\n", "f:1: alerts has receivers" },
		{ "alerts:\n  receiverz: []\n", "f:2: alerts has no 'receiverz': did you mean 'receivers'" },
		{ "alerts:\n  receivers:\n    - {name: a, url: 'http://x'}\n", "f:3: a receiver needs a name, a type" },
		{ "alerts:\n  receivers:\n    - {name: 'a b', type: webhook, url: 'http://x'}\n",
		  "f:3: name: letters" },
		{ "alerts:\n  receivers:\n    - {type: pager}\n", "f:3: type: alertmanager or webhook" },
		{ "alerts:\n  receivers:\n    - {url: 'ftp://x'}\n", "f:3: url: " },
		{ "alerts:\n  receivers:\n    - {url: 'http://u:p@x/'}\n", "f:3: url: " },
		{ "alerts:\n  receivers:\n    - {token: s3cret}\n", "f:3: secrets come from files" },
		{ "alerts:\n  receivers:\n    - {tymeout: 1s}\n", "did you mean 'timeout'" },
		{ "alerts:\n  receivers:\n    - {timeout: 1ms}\n", "f:3: timeout: " },
		{ "alerts:\n  receivers:\n    - {timeout: 61s}\n", "f:3: timeout: 100 ms to 60 s" },
		{ "alerts:\n  receivers: a\n", "f:2: receivers: a list or an object of its own" },
		{ "alerts:\n  receivers:\n    - {name: b, type: alertmanager, url: 'http://x/?y'}\n",
		  "f:3: url: Alertmanager's is its base" },
		{ "alerts:\n  receivers:\n    - {timeout: soon}\n", "f:3: timeout: " },
		{ "alerts:\n  receivers:\n    - {send-resolved: 1}\n", "f:3: send-resolved: true or false" },
		{ ONE "    - {name: a, type: webhook, url: 'http://z'}\n", "f:4: there is a receiver 'a' already" },
		{ ONE "  default: [b]\n", "f:4: there is no receiver 'b'" },
		{ ONE "  default: a\n", "f:4: a list of names" },
		{ ONE "  routes:\n    - {namespace: x}\n", "f:5: a route needs receivers" },
		{ ONE "  routes:\n    - {receivers: [aa]}\n", "f:5: there is no receiver 'aa'" },
		{ ONE "  routes:\n    - {pod: x, receivers: []}\n", "f:5: a route has no 'pod'" },
		{ ONE "  routes:\n    - {rule: oom-kil, receivers: []}\n", "there is no rule 'oom-kil'" },
		{ ONE "  routes:\n    - {severity: fatal, receivers: []}\n", "f:5: severity: info, notice" },
		{ ONE "  labels: {severity: x}\n", "'severity' is one that each alert has" },
		{ ONE "  labels: {a-b: x}\n", "f:4: labels: a name of letters" },
		{ ONE "  title: '{{rul}}'\n", "f:4: title: there is no {{rul}}: did you mean 'rule'" },
		{ ONE "  group-wait: 2h\n", "f:4: group-wait: " },
		{ ONE "  repeat: 1s\n", "f:4: repeat: 300 to 604800 s" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct alertconf *conf = NULL;
		struct err err = { 0 };
		if (parse(table[i].text, NULL, &conf, &err) == 0)
			fail_msg("taken: %s", table[i].text);
		assert_null(conf);
		assert_int_equal(err.kind, ERR_USAGE);
		if (!strstr(err.message, table[i].says) || strstr(err.message, "s3cret"))
			fail_msg("%s says: %s", table[i].text, err.message);
	}
}

static void no_more_than_there_is_room_for(void **state)
{
	(void)state;
	char text[8192] = "alerts:\n  receivers:\n";
	size_t len = strlen(text);
	for (int i = 0; i < ALERT_RECEIVERS_MAX; i++)
		len += (size_t)snprintf(text + len, sizeof text - len,
					"    - {name: r%d, type: webhook, url: 'http://x/%d'}\n", i, i);
	struct alertconf *conf = must_parse(text, NULL);
	assert_int_equal(conf->default_receivers, (1U << ALERT_RECEIVERS_MAX) - 1);
	alertconf_free(conf);
	struct err err = { 0 };
	assert_true(parse(text, "http://am", &conf, &err) < 0);
	(void)snprintf(text + len, sizeof text - len, "    - {name: x, type: webhook, url: 'http://x'}\n");
	assert_true(parse(text, NULL, &conf, &err) < 0);
	assert_non_null(strstr(err.message, "more than 16 receivers"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_configured_is_nobody),
		cmocka_unit_test(the_short_way_takes_warnings),
		cmocka_unit_test(the_first_route_that_matches_decides),
		cmocka_unit_test(whom_a_namespace_may_reach),
		cmocka_unit_test(all_that_it_may_say),
		cmocka_unit_test(what_is_wrong_is_said_with_its_line),
		cmocka_unit_test(no_more_than_there_is_room_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
