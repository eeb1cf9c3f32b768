/* SPDX-License-Identifier: Apache-2.0 */
/* The command line and --config, by one table: {arguments, status, message}. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/options.h"

enum { ARGS_MAX = 12 };

static int parse(const char *const args[], unsigned command, struct options *options, struct err *err)
{
	char *argv[ARGS_MAX + 1];
	int argc = 0;
	for (; args[argc]; argc++)
		argv[argc] = (char *)(uintptr_t)args[argc];
	argv[argc] = NULL;
	*err = (struct err){ 0 };
	return options_parse(argc, argv, command, (struct wall){ 0 }, options, err);
}

static void what_is_refused(void **state)
{
	(void)state;
	static const struct {
		unsigned command;
		const char *args[ARGS_MAX];
		const char *says;
	} table[] = {
		{ COMMAND_REPORT, { "report", "42" }, "'42' is no option: see bankfull report --help" },
		{ COMMAND_REPORT, { "report", "--" }, "'--' is no option" },
		{ COMMAND_REPORT, { "report", "-x" }, "'-x' is no option" },
		{ COMMAND_REPORT, { "report", "" }, "'' is no option" },
		{ COMMAND_REPORT, { "report", "--nonsense" }, "no option --nonsense: see bankfull report --help" },
		{ COMMAND_REPORT, { "report", "--nonsense=1" }, "no option --nonsense: see" },
		{ COMMAND_REPORT,
		  { "report", "--pi", "1" },
		  "no option --pi: see" }, /* no abbreviations: they change meaning */
		{ COMMAND_REPORT, { "report", "-o", "x" }, "'-o' is no option" },
		{ COMMAND_REPORT, { "report", "--output", "x" }, "no option --output" },
		{ COMMAND_CAPTURE, { "capture", "--capture", "x" }, "no option --capture" },
		{ COMMAND_CAPTURE, { "capture", "--format", "json" }, "no option --format" },
		{ COMMAND_REPORT, { "report", "--interval", "5s" }, "no option --interval" },
		{ COMMAND_WATCH, { "watch", "--format", "json" }, "no option --format" },
		{ COMMAND_WATCH, { "watch", "--capture", "x" }, "no option --capture" },
		{ COMMAND_WATCH, { "watch", "--interval", "5" }, "'5' is not between 1s and 1m" },
		{ COMMAND_WATCH, { "watch", "--interval", "999ms" }, "is not between" },
		{ COMMAND_WATCH, { "watch", "--interval", "61s" }, "is not between" },
		{ COMMAND_REPORT, { "report", "--pid" }, "--pid needs N" },
		{ COMMAND_REPORT, { "report", "--limit" }, "--limit needs SIZE" },
		{ COMMAND_CAPTURE, { "capture", "-o" }, "--output needs DIR" },
		{ COMMAND_REPORT, { "report", "--no-attach=true" }, "--no-attach takes no value" },
		{ COMMAND_REPORT, { "report", "--help=1" }, "--help takes no value" },
		{ COMMAND_REPORT, { "report", "--pid", "0" }, "--pid: '0' is no process id" },
		{ COMMAND_REPORT, { "report", "--pid", "-1" }, "--pid: '-1' is no process id" },
		{ COMMAND_REPORT, { "report", "--pid", "1x" }, "is no process id" },
		{ COMMAND_REPORT, { "report", "--pid", "4194305" }, "is no process id" },
		{ COMMAND_REPORT, { "report", "--pid=" }, "--pid: '' is no process id" },
		{ COMMAND_REPORT,
		  { "report", "--limit", "1.5g" },
		  "--limit: '1.5g' is no size: write digits and a unit" },
		{ COMMAND_REPORT, { "report", "--limit", "-1" }, "--limit: '-1' is no size" },
		{ COMMAND_REPORT, { "report", "--limit", "0" }, "--limit: 0 is no limit" },
		{ COMMAND_REPORT, { "report", "--limit=0k" }, "--limit: 0 is no limit" },
		{ COMMAND_REPORT, { "report", "--pod-limit", "max" }, "--pod-limit: 'max' is no size" },
		{ COMMAND_REPORT, { "report", "--limit=99999999999t" }, "is no size" },
		{ COMMAND_REPORT,
		  { "report", "--http-timeout", "0" },
		  "--http-timeout: '0' is not between 1 and 60000" },
		{ COMMAND_REPORT, { "report", "--http-timeout", "60001" }, "is not between 1 and 60000" },
		{ COMMAND_REPORT, { "report", "--format", "xml" }, "--format: 'xml' is none of table|json" },
		{ COMMAND_REPORT, { "report", "--color", "red" }, "--color: 'red' is none of auto|always|never" },
		{ COMMAND_REPORT, { "report", "--cgroup", "" }, "--cgroup: empty, expected DIR" },
		{ COMMAND_REPORT, { "report", "--metrics=" }, "--metrics: empty, expected URL" },
		{ COMMAND_REPORT, { "report", "--config", "/nonexistent/x" }, "/nonexistent/x" },
		{ COMMAND_EXPLAIN, { "explain", "oom-kill", "x" }, "'x' is no option: see bankfull explain --help" },
		{ COMMAND_EXPLAIN, { "explain", "--format", "json" }, "no option --format" },
		{ COMMAND_RULES, { "rules", "oom-kill" }, "'oom-kill' is no option" },
		{ COMMAND_RULES, { "rules", "--limit", "1g" }, "no option --limit" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct options options;
		struct err err;
		int rc = parse(table[i].args, table[i].command, &options, &err);
		options_done(&options);
		if (rc == 0 || !strstr(err.message, table[i].says))
			print_error("%s %s: %s\n", table[i].args[1], table[i].args[2] ? table[i].args[2] : "",
				    err.message);
		assert_true(rc < 0);
		assert_int_equal(err.kind, ERR_USAGE);
		assert_non_null(strstr(err.message, table[i].says));
		assert_null(strchr(err.message, '\n'));
	}
	const char *many[ARGS_MAX + 1] = { "report" };
	for (int i = 1; i <= COLLECT_URLS_MAX + 1; i++)
		many[i] = "--metrics=http://x";
	struct options options;
	struct err err;
	assert_true(parse(many, COMMAND_REPORT, &options, &err) < 0);
	assert_string_equal(err.message, "--metrics: more than 8");
	options_done(&options);
}

static void what_is_taken(void **state)
{
	(void)state;
	static const char *const args[] = { "report",
					    "--pid",
					    "4194304",
					    "--limit=1728m",
					    "--metrics",
					    "http://a",
					    "--metrics=http://b/?a=c",
					    "--no-attach",
					    "--format=json",
					    "--color",
					    "never",
					    NULL };
	struct options o;
	struct err err;
	assert_int_equal(parse(args, COMMAND_REPORT, &o, &err), 0);
	assert_int_equal(o.collect.pid, 4194304);
	assert_int_equal(o.collect.limit.kind, LIMIT_SET);
	assert_int_equal(o.collect.limit.bytes, 1728ull << 20);
	assert_int_equal(o.collect.pod_limit.kind, LIMIT_UNREAD);
	assert_int_equal(o.collect.n_metrics_urls, 2);
	assert_string_equal(o.collect.metrics_urls[1], "http://b/?a=c");
	assert_true(o.collect.no_attach);
	assert_false(o.collect.no_metrics);
	assert_int_equal(o.format, FORMAT_JSON);
	assert_int_equal(o.color, COLOR_NEVER);
	assert_false(o.help);
	options_done(&o);
	static const char *const help[] = { "report", "-h", NULL };
	assert_int_equal(parse(help, COMMAND_REPORT, &o, &err), 0);
	assert_true(o.help);
	options_done(&o);
	static const char *const out[] = { "capture", "-o", "dir", NULL };
	assert_int_equal(parse(out, COMMAND_CAPTURE, &o, &err), 0);
	assert_string_equal(o.output, "dir");
	options_done(&o);
	static const char *const none[] = { "report", NULL };
	assert_int_equal(parse(none, COMMAND_REPORT, &o, &err), 0);
	assert_int_equal(o.collect.pid, 0);
	options_done(&o);
}

static void the_rule_to_explain(void **state)
{
	(void)state;
	static const char *const args[] = { "explain", "--color=never", "oom-kill", NULL }, *const none[] = { "explain",
													      NULL };
	struct options o;
	struct err err;
	assert_int_equal(parse(args, COMMAND_EXPLAIN, &o, &err), 0);
	assert_string_equal(o.rule, "oom-kill");
	assert_int_equal(o.color, COLOR_NEVER);
	options_done(&o);
	assert_int_equal(parse(none, COMMAND_EXPLAIN, &o, &err), 0);
	assert_null(o.rule);
	options_done(&o);
}

static int with_config(const char *text, const char *option, unsigned command, struct options *options, struct err *err)
{
	char path[] = "/tmp/options.XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)close(fd);
	const char *args[] = { "report", "--config", path, option, NULL };
	int rc = parse(args, command, options, err);
	options->config = NULL; /* the path is this function's */
	(void)unlink(path);
	return rc;
}

static void configurations_that_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} table[] = {
		{ "limt: 1g\n", ":1: unknown key 'limt': did you mean 'limit'?" },
		{ "rulez: {}\n", ":1: unknown key 'rulez': did you mean 'rules'?" },
		{ "pids: 1\n", ":1: unknown key 'pids': keys are the names of options, rules and silences" },
		{ "limit: 1g\nrules: {freeboard-low: {warning: x}}\n", ":2: freeboard-low.warning: 'x' is no share" },
		{ "silences: [{rule: oom-kill, reason: x, until: 1970-01-01}]\n",
		  ":1: the silence of oom-kill has ended" },
		{ "# x\n\npid: 42\n", ":3: 'pid' belongs on the command line" }, /* a pid is of one run */
		{ "config: x\n", "'config' belongs on the command line" },
		{ "limit: 1.5g\n", ":1: --limit: '1.5g' is no size" },
		{ "limit: 0\n", "0 is no limit" },
		{ "limit: [1g, 2g]\n", ":1: limit takes one value, not a list" },
		{ "no-attach: yes\n", ":1: no-attach is true or false" },
		{ "no-attach:\n", "no-attach is true or false" },
		{ "format: xml\n", "'xml' is none of" },
		{ "flink-rest:\n", "empty" },
		{ "metrics: ftp://x/\n", ":1: --metrics: a URL with scheme 'ftp'" },
		{ "flink-rest: http://u:p@x/\n", "must not hold a user or password" },
		{ "limit: 1g\nlimit: 2g\n", "2" },
		{ "\tlimit: 1g\n", "1" },
		{ "limit: &a 1g\npod-limit: *a\n", "1" },
		{ "- limit\n", "" },
		{ "limit\n", "" },
		{ "limit: {a: 1}\n", "unknown key 'limit.a'" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct options options;
		struct err err;
		int rc = with_config(table[i].text, NULL, COMMAND_REPORT, &options, &err);
		options_done(&options);
		if (rc == 0 || !strstr(err.message, table[i].says))
			print_error("%s: %s\n", table[i].text, err.message);
		assert_true(rc < 0);
		assert_int_equal(err.kind, ERR_USAGE);
		assert_non_null(strstr(err.message, table[i].says));
		assert_null(strchr(err.message, '\n'));
	}
}

static void configurations_that_are_taken(void **state)
{
	(void)state;
	struct options o;
	struct err err;
	static const char text[] =
		"limit: 1g\npod-limit: 2g\nmetrics: [\"http://a\", \"http://b\"]\nno-attach: true\nno-metrics: false\n"
		"format: json\nflink-rest: http://jm:8081\nhttp-timeout: 500\n";
	assert_int_equal(with_config(text, NULL, COMMAND_REPORT, &o, &err), 0);
	assert_int_equal(o.collect.limit.bytes, 1ull << 30);
	assert_int_equal(o.collect.pod_limit.bytes, 2ull << 30);
	assert_int_equal(o.collect.n_metrics_urls, 2);
	assert_string_equal(o.collect.metrics_urls[0], "http://a");
	assert_string_equal(o.collect.metrics_urls[1], "http://b");
	assert_string_equal(o.collect.flink_rest, "http://jm:8081");
	assert_true(o.collect.no_attach);
	assert_false(o.collect.no_metrics);
	assert_int_equal(o.collect.http_timeout_ms, 500);
	assert_int_equal(o.format, FORMAT_JSON);
	options_done(&o);
	/* The command line wins; a key of the other command is no error. */
	assert_int_equal(with_config(text, "--limit=3g", COMMAND_REPORT, &o, &err), 0);
	assert_int_equal(o.collect.limit.bytes, 3ull << 30);
	options_done(&o);
	assert_int_equal(with_config(text, "--metrics=http://c", COMMAND_REPORT, &o, &err), 0);
	assert_int_equal(o.collect.n_metrics_urls, 1);
	options_done(&o);
	assert_int_equal(with_config(text, "--output=x", COMMAND_CAPTURE, &o, &err), 0);
	options_done(&o);
	assert_int_equal(with_config("", NULL, COMMAND_REPORT, &o, &err), 0);
	assert_int_equal(o.rules.thresholds.raise[T_FREEBOARD_LOW_WARNING], 1000);
	options_done(&o);
	static const char rules[] = "rules:\n  freeboard-low:\n    warning: 15%\nlimit: 1g\n"
				    "silences: [{rule: oom-kill, reason: x, until: 1970-06-01}]\n";
	for (unsigned command = COMMAND_REPORT; command <= COMMAND_EXPLAIN; command <<= 1) {
		assert_int_equal(with_config(rules, NULL, command, &o, &err), 0);
		/* A capture judges nothing: whatever is wrong with levels and silences, it is taken. */
		assert_int_equal(o.rules.silences.n, command == COMMAND_CAPTURE ? 0 : 1);
		assert_int_equal(o.rules.thresholds.raise[T_FREEBOARD_LOW_WARNING],
				 command == COMMAND_CAPTURE ? 1000 : 1500);
		options_done(&o);
	}
	assert_int_equal(with_config("rules: 1\n", "--output=x", COMMAND_CAPTURE, &o, &err), 0);
	options_done(&o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(what_is_taken),
		cmocka_unit_test(the_rule_to_explain),
		cmocka_unit_test(configurations_that_are_refused),
		cmocka_unit_test(configurations_that_are_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
