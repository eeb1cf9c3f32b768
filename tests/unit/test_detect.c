/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/args.h"
#include "engine/detect.h"
#include "support/tight.h"

#define RUNNER "org.apache.flink.runtime.taskexecutor.TaskManagerRunner\0"
#define PROM   "org.apache.flink.metrics.prometheus.PrometheusReporterFactory"

static void engines(void **state)
{
	(void)state;
	static const struct {
		struct str cmdline, mapped;
		enum engine kind;
		const char *version;
	} cases[] = {
		{ STR("java\0-cp\0/a/flink-dist-1.20.4.jar:/b/x.jar\0" RUNNER), STR(""), ENGINE_FLINK_TASKMANAGER,
		  "1.20.4" },
		{ STR("java\0-classpath\0flink-dist_2.12-1.14.6.jar\0" RUNNER), STR(""), ENGINE_FLINK_TASKMANAGER,
		  "1.14.6" },
		{ STR("/usr/bin/java\0--class-path=lib/flink-runtime-2.3.0.jar\0org.apache.flink.kubernetes.taskmanager.KubernetesTaskExecutorRunner\0"),
		  STR(""), ENGINE_FLINK_TASKMANAGER, "2.3.0" },
		{ STR("java\0org.apache.flink.yarn.YarnTaskExecutorRunner"), STR(""), ENGINE_FLINK_TASKMANAGER, "" },
		{ STR("java\0org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint\0"), STR(""),
		  ENGINE_FLINK_JOBMANAGER, "" },
		{ STR("java\0org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint\0"), STR(""),
		  ENGINE_FLINK_JOBMANAGER, "" },
		{ STR("java\0com.evil.TaskManagerRunner\0"), STR(""), ENGINE_JVM, "" },
		{ STR("java\0-cp\0kafka-streams-4.0.0.jar\0app.Main\0"), STR(""), ENGINE_KAFKA_STREAMS, "4.0.0" },
		{ STR("java\0-jar\0/app/app.jar\0"), STR("/tmp/librocksdbjni123.so\n"), ENGINE_KAFKA_STREAMS, "" },
		{ STR("java\0-cp\0flink-runtime-1.20.0.jar\0app.Main\0"), STR("/tmp/librocksdbjni123.so (deleted)\n"),
		  ENGINE_JVM, "" },
		{ STR("java\0-jar\0/app/app.jar\0"), STR("/lib/libc.so.6\n"), ENGINE_JVM, "" },
		{ STR("java\0-Xmx1g\0"), STR(""), ENGINE_UNKNOWN, "" },
		{ STR("java"), STR(""), ENGINE_UNKNOWN, "" },
		{ STR(""), STR(""), ENGINE_UNKNOWN, "" },
		/* The value of an option whose name was redacted is no class. */
		{ STR("java\0-<redacted>\0<redacted>\0" RUNNER), STR(""), ENGINE_FLINK_TASKMANAGER, "" },
		{ STR("java\0--add-opens\0java.base/x=ALL-UNNAMED\0" RUNNER), STR(""), ENGINE_FLINK_TASKMANAGER, "" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct str cmdline = tight_of(cases[i].cmdline), mapped = tight_of(cases[i].mapped);
		struct detection d;
		detect_engine(cmdline, mapped, NULL, &d);
		if (d.kind != cases[i].kind || strcmp(d.version, cases[i].version) != 0)
			fail_msg("case %zu: %s '%s'", i, engine_names[d.kind], d.version);
		assert_true(d.why[0] != '\0');
		tight_free(cmdline);
		tight_free(mapped);
	}
}

static void real_processes(void **state)
{
	(void)state;
	static const struct {
		const char *file;
		enum engine kind;
		const char *version, *url;
	} cases[] = {
		{ "tests/fixtures/engine/flink120-tm.cmdline", ENGINE_FLINK_TASKMANAGER, "1.20.5",
		  "http://127.0.0.1:9249/metrics" },
		{ "tests/fixtures/engine/flink2-tm.cmdline", ENGINE_FLINK_TASKMANAGER, "2.3.0",
		  "http://127.0.0.1:9249/metrics" },
		{ "tests/fixtures/engine/flink120-jm.cmdline", ENGINE_FLINK_JOBMANAGER, "1.20.5",
		  "http://127.0.0.1:9249/metrics" },
		{ "tests/fixtures/engine/streams-jmx.cmdline", ENGINE_KAFKA_STREAMS, "4.4.0",
		  "http://127.0.0.1:21280/metrics" },
		{ "tests/fixtures/engine/streams-jolokia.cmdline", ENGINE_KAFKA_STREAMS, "4.4.0",
		  "http://127.0.0.1:27995/jolokia" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct str cmdline = tight_read(cases[i].file);
		struct detection d;
		detect_engine(cmdline, STR(""), NULL, &d);
		assert_int_equal(d.kind, cases[i].kind);
		assert_string_equal(d.version, cases[i].version);
		assert_int_equal(d.n_endpoints, 1);
		assert_string_equal(d.endpoints[0].url, cases[i].url);
		assert_int_equal(d.endpoints[0].guessed, i < 3);
		tight_free(cmdline);
	}
}

static void endpoints_of_agents(void **state)
{
	(void)state;
	static const struct {
		struct str cmdline;
		const char *url; /* NULL: none */
	} cases[] = {
		{ STR("java\0-javaagent:/x/jmx_prometheus_javaagent-1.0.1.jar=7071:/cfg.yml\0A\0"),
		  "http://127.0.0.1:7071/metrics" },
		{ STR("java\0-javaagent:jmx_prometheus_javaagent.jar=0.0.0.0:7071:/cfg.yml\0A\0"),
		  "http://127.0.0.1:7071/metrics" },
		{ STR("java\0-javaagent:jmx_prometheus_javaagent.jar=localhost:7071:/cfg.yml\0A\0"),
		  "http://127.0.0.1:7071/metrics" },
		{ STR("java\0-javaagent:jmx_prometheus_javaagent.jar=[::1]:7071:/cfg.yml\0A\0"),
		  "http://[::1]:7071/metrics" },
		{ STR("java\0-javaagent:jmx_prometheus_javaagent.jar=10.1.2.3:7071:/c\0A\0"),
		  "http://10.1.2.3:7071/metrics" },
		{ STR("java\0-javaagent:jmx_prometheus_javaagent.jar=7071\0A\0"), "http://127.0.0.1:7071/metrics" },
		{ STR("java\0-javaagent:jmx_prometheus_javaagent.jar=a@b/c:7071:x\0A\0"), NULL },
		{ STR("java\0-javaagent:jmx_prometheus_javaagent.jar=70710:/c\0A\0"), NULL },
		{ STR("java\0-javaagent:jmx_prometheus_javaagent.jar=0:/c\0A\0"), NULL },
		{ STR("java\0-javaagent:jmx_prometheus_javaagent.jar=[::1\0A\0"), NULL },
		{ STR("java\0-javaagent:jmx_prometheus_javaagent.jar\0A\0"), NULL },
		{ STR("java\0-javaagent:/x/other.jar=7071\0A\0"), NULL },
		{ STR("java\0-javaagent:/x/jolokia-agent-jvm.jar\0A\0"), "http://127.0.0.1:8778/jolokia" },
		{ STR("java\0-javaagent:jolokia.jar=port=9999,host=*,agentContext=/j/\0A\0"),
		  "http://127.0.0.1:9999/j" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct str cmdline = tight_of(cases[i].cmdline);
		struct detection d;
		detect_engine(cmdline, STR(""), NULL, &d);
		if (d.n_endpoints != (cases[i].url ? 1 : 0) ||
		    (cases[i].url && strcmp(d.endpoints[0].url, cases[i].url) != 0))
			fail_msg("case %zu: %s", i, d.endpoints[0].url);
		assert_int_equal(d.no_endpoint[0] != '\0', !cases[i].url);
		tight_free(cmdline);
	}
}

static void endpoints_of_flink(void **state)
{
	(void)state;
	auto_flinkconf struct flinkconf conf = { 0 };
	struct detection d;
	assert_int_equal(
		flinkconf_parse(STR("metrics:\n  reporters: prom\n  reporter:\n    prom:\n      factory.class: " PROM
				    "\n"
				    "      port: 9250-9252\nstate.backend.type: forst\nrest.port: 8081\n"),
				FLINKCONF_YAML, "config.yaml", &conf, NULL),
		0);
	detect_engine(STR("java\0" RUNNER "--configDir\0/opt/flink/conf\0"), STR(""), &conf, &d);
	assert_int_equal(d.n_endpoints, 3);
	assert_string_equal(d.endpoints[2].url, "http://127.0.0.1:9252/metrics");
	assert_string_equal(d.endpoints[0].where, "config.yaml:6");
	assert_int_equal(d.backend, BACKEND_FORST);
	assert_string_equal(d.backend_where, "config.yaml:7");
	assert_string_equal(d.conf_dir, "/opt/flink/conf");
	/* The command line's port wins. REST is only a JobManager's. */
	detect_engine(STR("java\0" RUNNER "-D\0metrics.reporter.prom.port=1234\0-Dstate.backend=rocksdb\0"), STR(""),
		      &conf, &d);
	assert_int_equal(d.n_endpoints, 1);
	assert_string_equal(d.endpoints[0].url, "http://127.0.0.1:1234/metrics");
	assert_int_equal(d.backend, BACKEND_ROCKSDB);
	detect_engine(STR("java\0org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint\0"), STR(""),
		      &conf, &d);
	assert_int_equal(d.n_endpoints, 4);
	assert_int_equal(d.endpoints[3].kind, ENDPOINT_FLINK_REST);
	assert_string_equal(d.endpoints[3].url, "http://127.0.0.1:8081");
	flinkconf_done(&conf);
	/* Class, no port: the default, and its source says so. */
	detect_engine(STR("java\0" RUNNER "-Dmetrics.reporter.p.factory.class=" PROM "\0"), STR(""), NULL, &d);
	assert_string_equal(d.endpoints[0].where, "command line, default port");
	assert_false(d.endpoints[0].guessed);
	/* A configuration with another reporter, or none. */
	assert_int_equal(
		flinkconf_parse(
			STR("metrics.reporter.d.factory.class: org.apache.flink.metrics.datadog.DatadogHttpReporterFactory\n"),
			FLINKCONF_YAML, "config.yaml", &conf, NULL),
		0);
	detect_engine(STR("java\0" RUNNER), STR(""), &conf, &d);
	assert_int_equal(d.n_endpoints, 0);
	assert_non_null(strstr(d.no_endpoint, "not Prometheus"));
	flinkconf_done(&conf);
	assert_int_equal(flinkconf_parse(STR("a: b\n"), FLINKCONF_YAML, "config.yaml", &conf, NULL), 0);
	detect_engine(STR("java\0" RUNNER), STR(""), &conf, &d);
	assert_non_null(strstr(d.no_endpoint, "no metrics reporter"));
}

static void many_ports(void **state)
{
	(void)state;
	struct detection d;
	detect_engine(
		STR("java\0" RUNNER
		    "-Dmetrics.reporter.p.class=x.PrometheusReporter\0-Dmetrics.reporter.p.port=1-18446744073709551615,x,7-,"
		    "99999\0"),
		STR(""), NULL, &d);
	assert_int_equal(d.n_endpoints, ENDPOINTS_MAX);
}

static void prefix(struct str text)
{
	struct detection d;
	detect_engine(text, text, NULL, &d);
}

static void every_prefix(void **state)
{
	(void)state;
	struct str cmdline = tight_read("tests/fixtures/engine/streams-jmx.cmdline");
	tight_prefixes(cmdline, cmdline.len, prefix);
	tight_free(cmdline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(engines),
		cmocka_unit_test(real_processes),
		cmocka_unit_test(endpoints_of_agents),
		cmocka_unit_test(endpoints_of_flink),
		cmocka_unit_test(many_ports),
		cmocka_unit_test(every_prefix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
