/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's settings from flags, variables and file: what is taken, what wins, what is refused. */
#include "config/agentconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "config/setting_value.h"

enum { ARGS_MAX = 16 };

/* `flags` and `variables` are split at blanks; `file` is the text of a file, or NULL. */
struct given {
	const char *flags, *variables, *file;
};

struct split {
	char text[1024];
	char *words[ARGS_MAX + 1];
	int n;
};

static void split_into(struct split *split, const char *first, const char *words)
{
	*split = (struct split){ 0 };
	static char name[] = "agent";
	if (first)
		split->words[split->n++] = name;
	(void)snprintf(split->text, sizeof split->text, "%s", words ? words : "");
	for (char *at = split->text; *at;) {
		while (*at == ' ')
			*at++ = '\0';
		if (*at)
			split->words[split->n++] = at;
		while (*at && *at != ' ')
			at++;
	}
}

static int parse(const struct given *given, struct agentconf *conf, struct err *err)
{
	static struct split flags, variables; /* what is parsed points into them */
	char all[1200], path[] = "/tmp/bankfull-conf.XXXXXX";
	int fd = -1;
	(void)snprintf(all, sizeof all, "%s", given->flags ? given->flags : "");
	if (given->file) {
		fd = mkstemp(path);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, given->file, strlen(given->file)), (ssize_t)strlen(given->file));
		(void)snprintf(all, sizeof all, "--config %s %s", path, given->flags ? given->flags : "");
	}
	split_into(&flags, "agent", all);
	split_into(&variables, NULL, given->variables);
	int rc = agentconf_parse(flags.n, flags.words, variables.words, conf, err);
	if (fd >= 0) {
		close(fd);
		unlink(path);
	}
	return rc;
}

static void defaults_hold_where_nobody_said_otherwise(void **state)
{
	(void)state;
	struct agentconf conf;
	struct err err = { 0 };
	assert_int_equal(parse(&(struct given){ 0 }, &conf, &err), 0);
	assert_int_equal(conf.interval_ms, 5000);
	assert_int_equal(conf.smaps_share_bp, 20);
	assert_int_equal(conf.smaps_hold_ms, 50);
	assert_int_equal(conf.grace_ms, 27000);
	assert_null(conf.collector);
	assert_null(conf.listen);
	assert_int_equal(conf.limit.kind, LIMIT_UNREAD);
	agentconf_done(&conf);
}

static void flag_beats_variable_beats_file(void **state)
{
	(void)state;
	static const struct {
		struct given given;
		uint64_t interval_ms;
	} table[] = {
		{ { "", "", "interval: 7s\n" }, 7000 },
		{ { "", "BANKFULL_INTERVAL=8s", "interval: 7s\n" }, 8000 },
		{ { "--interval 9s", "BANKFULL_INTERVAL=8s", "interval: 7s\n" }, 9000 },
		{ { "--interval=9s", "BANKFULL_INTERVAL=8s", NULL }, 9000 },
		{ { "", "BANKFULL_INTERVAL=", "interval: 7s\n" }, 7000 }, /* a chart leaves it empty */
		/* what a Service called bankfull makes Kubernetes set */
		{ { "", "BANKFULL_PORT=tcp://10.0.0.1:80 BANKFULL_SERVICE_HOST=10.0.0.1 BANKFULL_INTERVAL=8s", NULL },
		  8000 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct agentconf conf;
		struct err err = { 0 };
		if (parse(&table[i].given, &conf, &err) < 0)
			fail_msg("%zu: %s", i, err.message);
		assert_int_equal(conf.interval_ms, table[i].interval_ms);
		agentconf_done(&conf);
	}
}

static void every_kind_is_taken(void **state)
{
	(void)state;
	struct agentconf conf;
	struct err err = { 0 };
	struct given given = {
		"--collector ws://127.0.0.1:8480/agent --pid 42 --limit 2Gi --state-dir /var/lib/x --listen [::1]:9482 --interval 5s",
		"BANKFULL_NAMESPACE=streaming BANKFULL_POD=fraud-1 BANKFULL_LABELS=app=fraud,team=risk BANKFULL_NO_ATTACH=true",
		"metrics:\n  - http://127.0.0.1:9249/\n  - http://127.0.0.1:9250/metrics\nsmaps-share: 0.1%\nspool-size: 32Mi\nrules:\n  freeboard-low:\n    warning: 15%\n"
	};
	if (parse(&given, &conf, &err) < 0)
		fail_msg("%s", err.message);
	assert_string_equal(conf.collector, "ws://127.0.0.1:8480/agent");
	assert_int_equal(conf.pid, 42);
	assert_int_equal(conf.limit.bytes, UINT64_C(2) << 30);
	assert_string_equal(conf.state_dir, "/var/lib/x");
	assert_string_equal(conf.listen, "[::1]:9482");
	assert_string_equal(conf.subject.namespace_, "streaming");
	assert_string_equal(conf.subject.pod, "fraud-1");
	assert_int_equal(conf.subject.n_labels, 2);
	assert_string_equal(conf.subject.labels[1].key, "team");
	assert_string_equal(conf.subject.labels[1].value, "risk");
	assert_true(conf.no_attach);
	assert_int_equal(conf.n_metrics_urls, 2);
	assert_string_equal(conf.metrics_urls[1], "http://127.0.0.1:9250/metrics");
	assert_int_equal(conf.smaps_share_bp, 10);
	assert_int_equal(conf.spool_bytes, UINT64_C(32) << 20);
	assert_int_equal(conf.rules.thresholds.raise[T_FREEBOARD_LOW_WARNING], 1500);
	auto_buf struct buf shown = { .cap = 65536 };
	agentconf_show(&conf, &shown);
	assert_non_null(strstr(shown.ptr, "  pid                42  (flag)\n"));
	assert_non_null(strstr(shown.ptr, "  labels             app=fraud, team=risk  (variable)\n"));
	assert_non_null(strstr(shown.ptr, "  smaps-share        0.1 %  (file)\n"));
	assert_null(strstr(shown.ptr, "  grace"));
	agentconf_done(&conf);
}

static void what_is_refused(void **state)
{
	(void)state;
	static const struct {
		struct given given;
		const char *says;
	} table[] = {
		{ { "--intervall 5s", NULL, NULL }, "no option --intervall: did you mean --interval: see --help" },
		{ { "interval", NULL, NULL }, "'interval' is no option" },
		{ { "--interval", NULL, NULL }, "--interval needs TIME" },
		{ { "--interval 5", NULL, NULL }, "--interval: '5' is no time: write digits and a unit" },
		{ { "--interval 0s", NULL, NULL }, "--interval: '0s' is out of range" },
		{ { "--interval 999999999999999999999s", NULL, NULL }, "is no time" },
		{ { "--interval 99999999999999999h", NULL, NULL }, "is no time" },
		{ { "--interval 6m", NULL, NULL }, "is out of range: from one sample to the next, 1s to 5m" },
		{ { "--no-attach=true", NULL, NULL }, "--no-attach takes no value" },
		{ { "--pid 0", NULL, NULL }, "--pid: '0' is no process id" },
		{ { "--pid -1", NULL, NULL }, "--pid: '-1' is no process id" },
		{ { "--limit 0", NULL, NULL }, "--limit: 0 is no limit" },
		{ { "--collector http://x/", NULL, NULL }, "--collector: " },
		{ { "--collector ws://user:pw@x/agent", NULL, NULL }, "--collector: " },
		{ { "--listen 9482", NULL, NULL }, "--listen: '9482' is no address and port" },
		{ { "--listen localhost:9482", NULL, NULL }, "no numeric address" },
		{ { "--listen 127.0.0.1:70000", NULL, NULL }, "is no address and port" },
		{ { "--token abc", NULL, NULL }, "--token: secrets come from files" },
		{ { NULL, "BANKFULL_TOKEN=abc", NULL }, "BANKFULL_TOKEN: secrets come from files" },
		{ { NULL, NULL, "token: abc\n" }, ":1: token: secrets come from files" },
		{ { NULL, NULL, "a: 1\n" }, ":1: unknown key 'a'" },
		{ { NULL, NULL, "interval: 5s\nintervall: 5s\n" },
		  ":2: unknown key 'intervall': did you mean 'interval'?" },
		{ { NULL, NULL, "rulez: {}\n" }, ":1: unknown key 'rulez': did you mean 'rules'?" },
		{ { NULL, NULL, "interval: [5s]\n" }, ":1: interval takes one value, not a list" },
		{ { NULL, NULL, "interval:\n" }, ":1: interval: empty, expected TIME" },
		{ { NULL, NULL, "pid: 42\n" }, ":1: 'pid' belongs on the command line" },
		{ { NULL, NULL, "no-attach: yes\n" }, ":1: no-attach: 'yes': true or false" },
		{ { NULL, NULL, "rules:\n  freebord-low: {}\n" }, ":2: no rule 'freebord-low'" },
		{ { "--config /nonexistent/x", NULL, NULL }, "/nonexistent/x" },
		{ { "--config /", NULL, NULL }, "/" },
		{ { NULL, "BANKFULL_LABELS=app", NULL }, "BANKFULL_LABELS: 'app' is no label" },
		{ { "--labels a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9", NULL, NULL }, "more than 8 labels" },
		{ { "--ca-file x --ca-pem y", NULL, NULL }, "no option --ca-pem" },
		{ { "--ca-file x", "BANKFULL_CA_PEM=y", NULL }, "ca-file and ca-pem are both set" },
		{ { "--cert-file x", NULL, NULL }, "cert-file and key-file go together: key-file is missing" },
		{ { "--token-file x", NULL, NULL }, "nobody to show them to" },
		{ { "--interval 60s", NULL, NULL }, "smaps-interval is shorter than interval" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct agentconf conf;
		struct err err = { 0 };
		if (parse(&table[i].given, &conf, &err) == 0)
			fail_msg("%zu (%s) was taken", i, table[i].says);
		assert_int_equal(err.kind, ERR_USAGE);
		if (!strstr(err.message, table[i].says))
			fail_msg("%zu: '%s', not '%s'", i, err.message, table[i].says);
	}
}

static void a_silence_that_has_ended_keeps_nobody_from_starting(void **state)
{
	(void)state;
	struct agentconf conf;
	struct err err = { 0 };
	struct given given = { .file = "silences:\n  - rule: oom-kill\n    reason: known\n    until: 2020-01-01\n" };
	assert_int_equal(parse(&given, &conf, &err), 0);
	assert_int_equal(conf.rules.silences.n, 1);
	assert_null(silence_find(&conf.rules.silences, "oom-kill", (struct wall){ INT64_C(1785542400000) }));
	agentconf_done(&conf);
}

static void addresses_to_listen_at(void **state)
{
	(void)state;
	static const struct {
		const char *text, *address;
		unsigned port;
	} table[] = {
		{ "127.0.0.1:8480", "127.0.0.1", 8480 },
		{ "[::1]:1", "::1", 1 },
		{ ":9482", "", 9482 },
		{ "*:9482", "", 9482 },
		{ "0.0.0.0:0", "0.0.0.0", 0 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		char address[LISTEN_ADDRESS_CAP];
		uint16_t port;
		struct err err;
		assert_int_equal(setting_listen(table[i].text, address, &port, &err), 0);
		assert_string_equal(address, table[i].address);
		assert_int_equal(port, table[i].port);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_hold_where_nobody_said_otherwise),
		cmocka_unit_test(flag_beats_variable_beats_file),
		cmocka_unit_test(every_kind_is_taken),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(a_silence_that_has_ended_keeps_nobody_from_starting),
		cmocka_unit_test(addresses_to_listen_at),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
