/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/limits.h"
#include "engine/flinkconf.h"
#include "support/tight.h"

static void both_formats(void **state)
{
	(void)state;
	auto_flinkconf struct flinkconf conf = { 0 };
	const struct flinkconf_entry *entry;
	assert_int_equal(flinkconf_format_of(STR("/opt/flink/conf/flink-conf.yaml")), FLINKCONF_LEGACY);
	assert_int_equal(flinkconf_format_of(STR("conf/config.yaml")), FLINKCONF_YAML);
	struct str text = tight_of(STR("taskmanager.memory.process.size: 1728m # note\n"
				       "# a comment: with colon\n"
				       "no pair here\n"
				       "env.java.opts: -Da=b: c\n"
				       "state.backend: rocksdb\n"
				       "taskmanager.numberOfTaskSlots: 1\n"
				       "taskmanager.numberOfTaskSlots: 4\n"
				       "key:without-blank\n"));
	assert_int_equal(flinkconf_parse(text, FLINKCONF_LEGACY, "flink-conf.yaml", &conf, NULL), 0);
	tight_free(text);
	assert_int_equal(conf.n_bad_lines, 2);
	entry = flinkconf_find(&conf, "taskmanager.memory.process.size", NULL);
	assert_true(entry && str_eq(entry->value, STR("1728m")) && entry->line == 1);
	entry = flinkconf_find(&conf, "taskmanager.numberOfTaskSlots", NULL);
	assert_true(entry && str_eq(entry->value, STR("4")) && entry->line == 7);
	entry = flinkconf_find(&conf, "env.java.opts", NULL);
	assert_true(entry && str_eq(entry->value, STR("-Da=b: c")));
	/* Flink 2.0's name finds 1.20's key. */
	entry = flinkconf_find(&conf, "state.backend.type", NULL);
	assert_true(entry && str_eq(entry->value, STR("rocksdb")));
	flinkconf_done(&conf);
	assert_int_equal(flinkconf_parse(STR("taskmanager:\n  memory:\n    process.size: 2g\nempty:\n"), FLINKCONF_YAML,
					 "config.yaml", &conf, NULL),
			 0);
	entry = flinkconf_find(&conf, "taskmanager.memory.process.size", NULL);
	assert_true(entry && str_eq(entry->value, STR("2g")) && entry->line == 3);
	assert_null(flinkconf_find(&conf, "empty", NULL));
	assert_null(flinkconf_find(NULL, "empty", NULL));
}

static void what_is_public(void **state)
{
	(void)state;
	static const struct {
		const char *key, *value;
		bool public;
	} cases[] = {
		{ "taskmanager.memory.process.size", "1728m", true },
		{ "taskmanager.memory.managed.consumer-weights", "OPERATOR:70,STATE_BACKEND:70", true },
		{ "metrics.reporter.prom.port", "9250-9260", true },
		{ "metrics.reporter.prom.factory.class",
		  "org.apache.flink.metrics.prometheus.PrometheusReporterFactory", true },
		{ "state.backend.rocksdb.memory.managed", "true", true },
		{ "rest.port", "8081", true },
		{ "taskmanager.memory.", "x", false },
		{ "taskmanager.memoryx", "x", false },
		{ "metrics.reporter.a.b.port", "1", false },
		{ "metrics.reporter..port", "1", false },
		{ "metrics.reporter.prom.password", "x", false },
		{ "state.backend.rocksdb.localdir", "/data/x", false },
		{ "rest.port", "user:pass@host", false },
		{ "rest.port", "a\nb", false },
		{ "rest.port", "hunter2", false },
		{ "taskmanager.memory.task.heap.size", "1AKIAIOSFODNN7EXAMPLE", false },
		{ "taskmanager.jvm-exit-on-oom", "secret", false },
		{ "taskmanager.memory.network.max", "1 mebibytes", true },
		{ "s3.secret-key", "x", false },
		{ "env.java.opts", "x", false },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (flinkconf_is_public(str_of(cases[i].key), str_of(cases[i].value)) != cases[i].public)
			fail_msg("%s: %s", cases[i].key, cases[i].value);
	char longer[200];
	memset(longer, 'a', sizeof longer);
	assert_false(flinkconf_is_public(STR("rest.port"), (struct str){ longer, sizeof longer }));
}

/* Canary values everywhere a configuration can hold one. */
static const char yaml_canaries[] = "# CANARY comment\n"
				    "taskmanager.memory.process.size: 1728m # CANARY\n"
				    "\n"
				    "s3:\n"
				    "  access-key: CANARY\n"
				    "  secret-key: 'CANARY'\n"
				    "env.java.opts.all: -Dpassword=CANARY\n"
				    "list: [CANARY, CANARY]\n"
				    "\"CANARY key\": 1\n"
				    "text: |\n"
				    "  CANARY\n"
				    "  CANARY\n"
				    "rest.port: CANARY@x\n"
				    "metrics.reporter.prom.port: 9249\n";

static void redacts_yaml(void **state)
{
	(void)state;
	auto_buf struct buf out = { .cap = 65536 }, again = { .cap = 65536 };
	auto_flinkconf struct flinkconf conf = { 0 };
	struct str text = tight_of(str_of(yaml_canaries));
	assert_int_equal(flinkconf_redact(text, FLINKCONF_YAML, "config.yaml", &out, NULL), 0);
	tight_free(text);
	assert_null(strstr(out.ptr, "CANARY"));
	assert_int_equal(flinkconf_parse(buf_str(&out), FLINKCONF_YAML, "config.yaml", &conf, NULL), 0);
	const struct flinkconf_entry *entry = flinkconf_find(&conf, "taskmanager.memory.process.size", NULL);
	assert_true(entry && !entry->redacted && entry->line == 2 && str_eq(entry->value, STR("1728m")));
	entry = flinkconf_find(&conf, "s3.secret-key", NULL);
	assert_true(entry && entry->redacted && entry->line == 6);
	entry = flinkconf_find(&conf, "metrics.reporter.prom.port", NULL);
	assert_true(entry && entry->line == 14);
	/* What is reduced stays so: a replay reduces nothing more. */
	assert_int_equal(flinkconf_redact(buf_str(&out), FLINKCONF_YAML, "config.yaml", &again, NULL), 0);
	assert_string_equal(out.ptr, again.ptr);
}

static void redacts_flow_style(void **state)
{
	(void)state;
	auto_buf struct buf out = { .cap = 65536 };
	auto_flinkconf struct flinkconf conf = { 0 };
	assert_int_equal(
		flinkconf_redact(STR("{rest: {port: 8081, address: CANARY},\n taskmanager.memory.process.size: 1g}\n"),
				 FLINKCONF_YAML, "config.yaml", &out, NULL),
		0);
	assert_null(strstr(out.ptr, "CANARY"));
	assert_int_equal(flinkconf_parse(buf_str(&out), FLINKCONF_YAML, "config.yaml", &conf, NULL), 0);
	assert_int_equal(conf.n, 3);
	assert_int_equal(flinkconf_find(&conf, "taskmanager.memory.process.size", NULL)->line, 2);
	assert_true(str_eq(flinkconf_find(&conf, "rest.port", NULL)->value, STR("8081")));
}

/* Flink takes the last of two spellings; what is kept of the file says the same, and no secret of either. */
static void redacts_two_spellings(void **state)
{
	(void)state;
	static const struct {
		const char *text, *key, *value;
		unsigned line;
	} table[] = {
		{ "rest:\n  port: 8081\nrest.port: 8082\n", "rest.port", "8082", 3 },
		{ "rest.port: 8082\nrest:\n  port: 8081\n", "rest.port", "8081", 3 },
		{ "\"rest.port\": 8082\nrest: {port: '8083', address: CANARY}\n", "rest.port", "8083", 2 },
		{ "s3:\n  secret-key: CANARY\ns3.secret-key: CANARY2\n", "s3.secret-key", "<redacted>", 3 },
		{ "s3.secret-key: CANARY\n\"s3\": {'secret-key': \"CANARY2\"}\n", "s3.secret-key", "<redacted>", 2 },
		{ "{a: {b: {c: CANARY}}, a.b: {c: CANARY}, a: {b.c: CANARY}}", NULL, NULL, 0 },
		{ "a: {b: {c: CANARY}}\na.b: {c: CANARY}\na.b.c: CANARY\nrest.port: 1\n", "rest.port", "1", 4 },
		{ "rest.port: 8081\nrest: {port: }\n", "rest.port", "8081", 1 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		auto_buf struct buf out = { .cap = 65536 }, again = { .cap = 65536 };
		auto_flinkconf struct flinkconf conf = { 0 }, whole = { 0 };
		struct str text = tight_of(str_of(table[i].text));
		int rc = flinkconf_redact(text, FLINKCONF_YAML, "config.yaml", &out, NULL);
		assert_int_equal(rc == 0, table[i].key != NULL);
		if (rc == 0) {
			assert_null(strstr(out.ptr, "CANARY"));
			assert_int_equal(flinkconf_parse(buf_str(&out), FLINKCONF_YAML, "config.yaml", &conf, NULL), 0);
			const struct flinkconf_entry *entry = flinkconf_find(&conf, table[i].key, NULL);
			assert_non_null(entry);
			assert_true(str_eq(entry->value, str_of(table[i].value)));
			assert_int_equal(entry->line, table[i].line);
			/* The file itself says the same, at the same line. */
			assert_int_equal(flinkconf_parse(text, FLINKCONF_YAML, "config.yaml", &whole, NULL), 0);
			assert_int_equal(flinkconf_find(&whole, table[i].key, NULL)->line, table[i].line);
			assert_int_equal(flinkconf_redact(buf_str(&out), FLINKCONF_YAML, "config.yaml", &again, NULL),
					 0);
			assert_string_equal(out.ptr, again.ptr);
		}
		tight_free(text);
	}
}

static void redacts_legacy(void **state)
{
	(void)state;
	auto_buf struct buf out = { .cap = 65536 };
	auto_flinkconf struct flinkconf conf = { 0 };
	assert_int_equal(flinkconf_redact(STR("a CANARY line\n"
					      "password=CANARY\n"
					      "s3.secret-key: CANARY\n"
					      "state.backend: rocksdb # CANARY\n"
					      "CANARY: CANARY\n"
					      "rest.port: 8081"),
					  FLINKCONF_LEGACY, "flink-conf.yaml", &out, NULL),
			 0);
	assert_null(strstr(out.ptr, "CANARY"));
	assert_int_equal(flinkconf_parse(buf_str(&out), FLINKCONF_LEGACY, "flink-conf.yaml", &conf, NULL), 0);
	assert_int_equal(conf.n, 3);
	assert_int_equal(flinkconf_find(&conf, "state.backend.type", NULL)->line, 4);
	assert_int_equal(flinkconf_find(&conf, "rest.port", NULL)->line, 6);
}

static void refuses(void **state)
{
	(void)state;
	auto_buf struct buf out = { .cap = 65536 };
	struct err err = { 0 };
	(void)buf_puts(&out, "before");
	assert_true(flinkconf_redact(STR("a: 1\na: 2\n"), FLINKCONF_YAML, "config.yaml", &out, &err) < 0);
	assert_string_equal(out.ptr, "before");
	assert_non_null(strstr(err.message, "config.yaml:2:"));
	auto_buf struct buf small = { .cap = 8 };
	assert_true(flinkconf_redact(STR("rest.port: 8081\n"), FLINKCONF_LEGACY, "f", &small, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_int_equal(small.len, 0);
	struct flinkconf conf;
	auto_buf struct buf large = { .cap = LIMIT_CONFIG_FILE + 2 };
	while (buf_putc(&large, '\n'))
		;
	assert_true(flinkconf_parse(buf_str(&large), FLINKCONF_LEGACY, "f", &conf, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
}

static void prefix(struct str text)
{
	for (int format = FLINKCONF_YAML; format <= FLINKCONF_LEGACY; format++) {
		auto_buf struct buf out = { .cap = 1 << 20 };
		auto_flinkconf struct flinkconf conf = { 0 };
		if (flinkconf_redact(text, (enum flinkconf_format)format, "f", &out, NULL) == 0)
			assert_int_equal(flinkconf_parse(buf_str(&out), (enum flinkconf_format)format, "f", &conf,
							 NULL),
					 0);
		assert_true(!out.ptr || !strstr(out.ptr, "CANAR"));
	}
}

static void every_prefix(void **state)
{
	(void)state;
	tight_prefixes(str_of(yaml_canaries), 600, prefix);
	struct str text = tight_read("tests/fixtures/engine/flink120-config.yaml");
	tight_prefixes(text, 200, prefix);
	tight_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_formats),
		cmocka_unit_test(what_is_public),
		cmocka_unit_test(redacts_yaml),
		cmocka_unit_test(redacts_flow_style),
		cmocka_unit_test(redacts_two_spellings),
		cmocka_unit_test(redacts_legacy),
		cmocka_unit_test(refuses),
		cmocka_unit_test(every_prefix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
