/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "jvm/cmdline.h"
#include "support/tight.h"

#define R "<redacted>"

/* Arguments are written with '|' where NUL stands. */
static void to_nul(const char *text, struct buf *out)
{
	for (; *text; text++)
		(void)buf_putc(out, *text == '|' ? '\0' : *text);
	(void)buf_putc(out, '\0');
}

static void check(const char *in, const char *wanted)
{
	auto_buf struct buf cmdline = { .cap = 1 << 16 }, out = { .cap = 1 << 16 }, again = { .cap = 1 << 16 },
			    expected = { .cap = 1 << 16 };
	to_nul(in, &cmdline);
	to_nul(wanted, &expected);
	struct str tight = tight_of(buf_str(&cmdline));
	assert_true(cmdline_redact(tight, &out));
	tight_free(tight);
	assert_true(cmdline_redact(buf_str(&out), &again));
	assert_true(str_eq(buf_str(&out), buf_str(&again)));
	if (str_eq(buf_str(&out), buf_str(&expected)))
		return;
	for (size_t i = 0; i < out.len; i++)
		out.ptr[i] = out.ptr[i] ? out.ptr[i] : '|';
	fail_msg("%s\n    is %s\n   not %s", in, out.ptr, wanted);
}

static void flink_taskmanager(void **state)
{
	(void)state;
	check("/opt/java/openjdk/bin/java|-Xmx536870902|-Xms536870902|-XX:MaxDirectMemorySize=268435458|-XX:MaxMetaspaceSize=268435456|"
	      "-Dlog.file=/opt/flink/log/flink--taskexecutor-0-CANARY.log|-classpath|/opt/flink/lib/flink-cep-1.20.1.jar:"
	      "/opt/flink/lib/CANARY.jar:/opt/flink/lib/flink-dist-1.20.1.jar:/usr/lib/frocksdbjni-6.20.3-ververica-2.0.jar|"
	      "org.apache.flink.runtime.taskexecutor.TaskManagerRunner|--configDir|/opt/flink/conf|-D|taskmanager.memory.network.min=134217730b|"
	      "-D|taskmanager.cpu.cores=2.0|-D|taskmanager.memory.task.off-heap.size=0b|-D|s3.secret-key=CANARY|-Djobmanager.rpc.address=CANARY|"
	      "-Dmetrics.reporter.prom.port=9249|state.backend.type=rocksdb|-D|taskmanager.memory.managed.size=CANARY",
	      "java|-Xmx536870902|-Xms536870902|-XX:MaxDirectMemorySize=268435458|-XX:MaxMetaspaceSize=268435456|"
	      "-Dlog.file=" R
	      "|-classpath|flink-cep-1.20.1.jar:flink-dist-1.20.1.jar:frocksdbjni-6.20.3-ververica-2.0.jar|"
	      "org.apache.flink.runtime.taskexecutor.TaskManagerRunner|--configDir|/opt/flink/conf|-D|taskmanager.memory.network.min=134217730b|"
	      "-D|taskmanager.cpu.cores=2.0|-D|taskmanager.memory.task.off-heap.size=0b|-D|s3.secret-key=" R
	      "|-Djobmanager.rpc.address=" R "|"
	      "-Dmetrics.reporter.prom.port=9249|state.backend.type=rocksdb|-D|taskmanager.memory.managed.size=" R);
}

static void options(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "-Xmx1g", "-Xmx1g" },
		{ "-Xmx1.5g", "-" R },
		{ "-Xmx1gCANARY", "-" R },
		{ "-Xrs", "-Xrs" },
		{ "-server", "-server" },
		{ "-Xlog:gc:file=/CANARY", "-" R },
		{ "-XX:+UseG1GC", "-XX:+UseG1GC" },
		{ "-XX:+SomethingNew", "-XX:+SomethingNew" },
		{ "-XX:+CANARY-x", "-XX:" R },
		{ "-XX:OnOutOfMemoryError=curl CANARY", "-XX:OnOutOfMemoryError=" R },
		{ "-XX:HeapDumpPath=/CANARY", "-XX:HeapDumpPath=" R },
		{ "-XX:FlightRecorderOptions=repository=CANARY", "-XX:FlightRecorderOptions=" R },
		{ "-XX:MaxDirectMemorySize=CANARY", "-XX:MaxDirectMemorySize=" R },
		{ "-XX:NativeMemoryTracking=summary", "-XX:NativeMemoryTracking=summary" },
		{ "-XX:NativeMemoryTracking=CANARY", "-XX:NativeMemoryTracking=" R },
		{ "-XX:MaxRAMPercentage=75.0", "-XX:MaxRAMPercentage=75.0" },
		{ "-XX:CANARY", "-XX:" R },
		{ "-XX:", "-XX:" R },
		{ "-javaagent:/opt/CANARY/jmx_prometheus_javaagent-1.0.1.jar=9404:/etc/CANARY.yaml",
		  "-javaagent:jmx_prometheus_javaagent-1.0.1.jar=9404" },
		{ "-javaagent:/opt/jmx.jar=127.0.0.1:9404:/etc/CANARY", "-javaagent:jmx.jar=9404" },
		{ "-javaagent:/opt/jolokia-agent.jar=user=CANARY,password=CANARY,port=8778,host=*",
		  "-javaagent:jolokia-agent.jar=port=8778" },
		{ "-javaagent:/opt/otel.jar=token=CANARY", "-javaagent:otel.jar=" R },
		{ "-javaagent:/opt/otel.jar", "-javaagent:otel.jar" },
		{ "-javaagent:/opt/CANARY agent=9404", "-javaagent:" R },
		{ "-javaagent:/opt/otel.jar=99999", "-javaagent:otel.jar=" R },
		{ "-agentlib:jdwp=CANARY", "-" R },
		{ "-agentpath:/CANARY", "-" R },
		{ "@/CANARY", "@" R },
		{ "-Dkey=CANARY", "-Dkey=" R },
		{ "-Dkey", "-Dkey" },
		{ "-DCANARY key=1", "-D" R },
		{ "-Drest.port=8081", "-Drest.port=8081" },
		{ "-Drest.address=127.0.0.1", "-Drest.address=127.0.0.1" },
		{ "-Drest.address=CANARY.internal", "-Drest.address=" R },
		{ "-Drest.address=127.0.0.1.CANARY", "-Drest.address=" R },
		{ "-Dtaskmanager.memory.process.size=1728 mb", "-Dtaskmanager.memory.process.size=1728 mb" },
		{ "-Dtaskmanager.memory.=1", "-Dtaskmanager.memory.=" R },
		{ "-Dstate.backend=rocksdb", "-Dstate.backend=rocksdb" },
		{ "-Dstate.backend.rocksdb.memory.fixed-per-slot=64mb",
		  "-Dstate.backend.rocksdb.memory.fixed-per-slot=64mb" },
		{ "-Dexecution.runtime-mode=BATCH", "-Dexecution.runtime-mode=BATCH" },
		{ "-Dexecution.runtime-mode=a=CANARY", "-Dexecution.runtime-mode=" R },
		{ "-Dpython.files=/CANARY", "-Dpython.files=" R },
		{ "-XX:-UseContainerSupport", "-XX:-UseContainerSupport" },
		{ "-XX:MaxRAMPercentage=CANARY", "-XX:MaxRAMPercentage=" R },
		{ "-Dstate.backend.rocksdb.localdir=s3://CANARY", "-Dstate.backend.rocksdb.localdir=" R },
		{ "-Dmetrics.reporter.prom.factory.class=org.apache.flink.metrics.prometheus.PrometheusReporterFactory",
		  "-Dmetrics.reporter.prom.factory.class=org.apache.flink.metrics.prometheus.PrometheusReporterFactory" },
		{ "-Dmetrics.reporter.prom.port=9249-9260", "-Dmetrics.reporter.prom.port=9249-9260" },
		{ "-Dmetrics.reporter.prom.password=CANARY", "-Dmetrics.reporter.prom.password=" R },
		{ "-Dkubernetes.taskmanager.memory.limit-factor=1.2",
		  "-Dkubernetes.taskmanager.memory.limit-factor=1.2" },
		{ "-Dorg.apache.flink.shaded.netty4.io.netty.maxDirectMemory=0",
		  "-Dorg.apache.flink.shaded.netty4.io.netty.maxDirectMemory=0" },
		{ "--class-path=/CANARY/kafka-streams-4.0.0.jar", "--class-path=kafka-streams-4.0.0.jar" },
		{ "--patch-module=x=/CANARY", "-" R },
		{ "\x1b[2J", R },
		{ "", R },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char in[256], out[256];
		(void)snprintf(in, sizeof in, "java|%s", cases[i].in);
		(void)snprintf(out, sizeof out, "java|%s", cases[i].out);
		check(in, out);
	}
}

static void programs(void **state)
{
	(void)state;
	check("/usr/bin/java|-cp|/CANARY/*|--add-opens|java.base/CANARY=x|com.example.App|CANARY|--password|CANARY|password=CANARY|-c|CANARY",
	      "java|-cp|" R "|--add-opens|" R "|com.example.App|" R "|" R "|" R "|" R "|" R "|" R);
	check("java|-jar|/CANARY/app-1.0.jar|-Xmx1g|-Dkey=CANARY|-D|CANARY",
	      "java|-jar|app-1.0.jar|" R "|-Dkey=" R "|-D|" R);
	check("java|-jar|/x/CANARY?", "java|-jar|" R);
	check("java|-m|mod/com.example.Main|CANARY", "java|-m|mod/com.example.Main|" R);
	check("java|com/CANARY pass|x", "java|" R "|" R);
	check("java|-cp", "java|-cp");
	check("/bin/CANARY sh -c x|-x", R "|-" R);
	check("java|Main|--configDir|/opt/flink conf CANARY", "java|Main|--configDir|" R);
	check("java|Main|--configDir|s3://u:CANARY@h", "java|Main|--configDir|" R);
	check("java|Main||x", "java|Main|" R "|" R);
}

static void keeps_positions(void **state)
{
	(void)state;
	auto_buf struct buf out = { .cap = 1 << 16 };
	assert_true(cmdline_redact((struct str){ "java\0Main\0-D\0a=b", 16 }, &out));
	assert_int_equal(out.len, sizeof "java\0Main\0-D\0a=<redacted>");
	buf_clear(&out);
	assert_true(cmdline_redact(STR(""), &out));
	assert_int_equal(out.len, 0);
}

static void words(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "" },
		{ "-Xmx1g  -XX:+UseZGC", "-Xmx1g -XX:+UseZGC" },
		{ "-Dp=a -Dkey CANARY -DCANARY=1 -XX:CANARY=1 -XX:+CANARY", R " " R " " R " " R " " R " " R },
		{ "-Dtaskmanager.memory.jvm-overhead.min=1b -Dcom.sun.management.jmxremote.port=9999",
		  "-Dtaskmanager.memory.jvm-overhead.min=1b -Dcom.sun.management.jmxremote.port=9999" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		auto_buf struct buf out = { .cap = 1 << 16 };
		struct str tight = tight_of(str_of(cases[i].in));
		assert_true(cmdline_redact_words(tight, &out));
		tight_free(tight);
		if (!str_eq(buf_str(&out), str_of(cases[i].out)))
			fail_msg("%s: %s", cases[i].in, out.ptr);
	}
}

static void commands(void **state)
{
	static const struct {
		const char *in, *out;
	} cases[] = {
		{ "", "" },
		{ "org.apache.flink.runtime.taskexecutor.TaskManagerRunner --configDir /CANARY -D taskmanager.cpu.cores=1.0",
		  "org.apache.flink.runtime.taskexecutor.TaskManagerRunner " R " " R " -D taskmanager.cpu.cores=1.0" },
		{ "/opt/CANARY/app.jar x", "app.jar " R },
		{ "pass=CANARY", R },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		auto_buf struct buf out = { .cap = 1 << 16 };
		struct str tight = tight_of(str_of(cases[i].in));
		assert_true(cmdline_redact_command(tight, &out));
		tight_free(tight);
		if (!str_eq(buf_str(&out), str_of(cases[i].out)))
			fail_msg("%s: %s", cases[i].in, out.ptr);
	}
}

static void open_keys(void **state)
{
	(void)state;
	assert_true(cmdline_is_open_key(STR("taskmanager.memory.managed.size")));
	assert_true(cmdline_is_open_key(STR("metrics.reporter.a.b.port")));
	assert_false(cmdline_is_open_key(STR("metrics.reporter.port")));
	assert_false(cmdline_is_open_key(STR("s3.secret-key")));
	assert_false(cmdline_is_open_key(STR("taskmanager.memory.x y")));
	assert_false(cmdline_is_open_key(STR("")));
}

static void full_output(void **state)
{
	(void)state;
	auto_buf struct buf out = { .cap = 10 };
	assert_false(cmdline_redact((struct str){ "java\0com.example.Main\0", 22 }, &out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flink_taskmanager), cmocka_unit_test(options),     cmocka_unit_test(programs),
		cmocka_unit_test(keeps_positions),   cmocka_unit_test(words),       cmocka_unit_test(commands),
		cmocka_unit_test(open_keys),         cmocka_unit_test(full_output),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
