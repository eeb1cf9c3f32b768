/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/build.h"
#include "support/tight.h"

static struct engine_notes notes;

static void a_taskmanager(void **state)
{
	(void)state;
	struct engine_evidence e = {
		.cmdline = tight_read("tests/fixtures/engine/flink2-tm.cmdline"),
		.conf = tight_read("tests/fixtures/engine/flink2-config.yaml"),
		.flink_taskmanager = tight_read("tests/fixtures/engine/flink2-tm.json"),
		.flink_config = tight_read("tests/fixtures/engine/flink2-config.json"),
		.n_pages = 1,
	};
	e.pages[0] = tight_read("tests/fixtures/engine/flink2.prom");
	struct engine_state s;
	struct detection d;
	bool metrics;
	memset(&notes, 0, sizeof notes);
	assert_int_equal(engine_build(&e, &s, &d, &metrics, &notes, NULL), 0);
	assert_true(metrics);
	assert_int_equal(s.kind, ENGINE_FLINK_TASKMANAGER);
	assert_string_equal(s.version, "2.3.0");
	assert_int_equal(s.backend, BACKEND_ROCKSDB);
	assert_int_equal(s.flink.process_bytes.bytes, 1728ull << 20);
	assert_int_equal(s.rocksdb.cache_usage_bytes.bytes, 39218752);
	/* The page is newer than what the JobManager heard last. */
	assert_int_equal(s.gauges.heap_used_bytes.bytes, 234428280);
	assert_string_equal(d.endpoints[0].url, "http://127.0.0.1:26094/metrics");
	assert_int_equal(notes.n, 0);
	/* Without the page, REST's gauges stand in, and no metrics were read. */
	tight_free(e.pages[0]);
	e.n_pages = 0;
	assert_int_equal(engine_build(&e, &s, NULL, &metrics, &notes, NULL), 0);
	assert_false(metrics);
	assert_int_equal(s.gauges.heap_used_bytes.bytes, 42913792);
	assert_false(s.rocksdb.n_stores.known);
	tight_free(e.cmdline);
	tight_free(e.conf);
	tight_free(e.flink_taskmanager);
	tight_free(e.flink_config);
}

static void a_streams_application(void **state)
{
	(void)state;
	struct engine_evidence e = {
		.cmdline = tight_read("tests/fixtures/engine/streams-jolokia.cmdline"),
		.n_jolokia = 1,
		.state_dirs = STR("app/0_0/rocksdb/a/CURRENT\n"),
	};
	e.jolokia[0] = tight_read("tests/fixtures/engine/streams-jolokia.json");
	struct engine_state s;
	bool metrics;
	assert_int_equal(engine_build(&e, &s, NULL, &metrics, &notes, NULL), 0);
	assert_true(metrics);
	assert_int_equal(s.kind, ENGINE_KAFKA_STREAMS);
	assert_int_equal(s.backend, BACKEND_ROCKSDB);
	/* Fewer directories than open stores: the wrong state.dir. */
	assert_int_equal(s.streams.n_instances.n, 6);
	assert_false(s.streams.from_directories);
	assert_true(s.streams.bounded_setter);
	assert_int_equal(s.streams.native_bound_bytes.bytes, 67108864);
	/* Without metrics the directories count. */
	e.n_jolokia = 0;
	assert_int_equal(engine_build(&e, &s, NULL, &metrics, &notes, NULL), 0);
	assert_false(metrics);
	assert_true(s.streams.from_directories);
	assert_int_equal(s.streams.native_bound_bytes.bytes, 102760448);
	tight_free(e.cmdline);
	tight_free(e.jolokia[0]);
}

static void a_windowed_store(void **state)
{
	(void)state;
	struct engine_evidence e = {
		.cmdline = tight_read("tests/fixtures/engine/streams-jmx.cmdline"),
		.n_pages = 1,
		.state_dirs = STR("a/0_0/w/w.0/CURRENT\na/0_0/w/w.1/CURRENT\na/0_0/w/w.2/CURRENT\na/0_1/w/w.0/CURRENT\n"
				  "a/0_1/w/w.1/CURRENT\na/0_1/w/w.2/CURRENT\na/0_2/w/w.2/CURRENT\n"),
	};
	e.pages[0] = tight_read("tests/fixtures/engine/streams-windowed.prom");
	struct engine_state s;
	bool metrics;
	assert_int_equal(engine_build(&e, &s, NULL, &metrics, NULL, NULL), 0);
	assert_int_equal(s.streams.n_instances.n, 7);
	assert_true(s.streams.from_directories);
	tight_free(e.cmdline);
	tight_free(e.pages[0]);
}

/* Each input that cannot be used is noted; the others are used all the same. */
static void garbage_everywhere(void **state)
{
	(void)state;
	struct engine_evidence e = {
		.cmdline = STR(
			"java\0org.apache.flink.runtime.taskexecutor.TaskManagerRunner\0-D\0taskmanager.memory.managed.size=5b\0"),
		.conf = STR("a: 1\na: 2\n"),
		.pages = { STR("<html>\n"), STR("flink_taskmanager_Status_JVM_Threads_Count 9\n") },
		.n_pages = 2,
		.jolokia = { STR("{{{") },
		.n_jolokia = 1,
		.flink_taskmanager = STR("null"),
		.flink_config = STR("\xff"),
		.state_dirs = STR("\0\0"),
	};
	struct engine_state s;
	bool metrics;
	memset(&notes, 0, sizeof notes);
	assert_int_equal(engine_build(&e, &s, NULL, &metrics, &notes, NULL), 0);
	assert_int_equal(s.flink.managed_bytes.bytes, 5);
	assert_int_equal(s.gauges.threads.n, 9);
	assert_true(metrics);
	static const char *const whats[] = { "conf/flink", "http/metrics.0", "http/jolokia.0",
					     "http/flink_taskmanager" };
	for (size_t i = 0; i < sizeof whats / sizeof *whats; i++) {
		bool found = false;
		for (size_t k = 0; k < notes.n; k++)
			found = found || strcmp(notes.items[k].what, whats[i]) == 0;
		if (!found)
			fail_msg("no note of %s", whats[i]);
	}
}

static void nothing_at_all(void **state)
{
	(void)state;
	struct engine_evidence e = { .n_pages = 0 };
	struct engine_state s;
	bool metrics = true;
	assert_int_equal(engine_build(&e, &s, NULL, &metrics, NULL, NULL), 0);
	assert_int_equal(s.kind, ENGINE_UNKNOWN);
	assert_false(metrics);
}

/* A second source of the same stores is never added. */
static void two_sources(void **state)
{
	(void)state;
	struct engine_evidence e = {
		.cmdline = tight_read("tests/fixtures/engine/streams-jolokia.cmdline"),
		.n_pages = 2,
		.n_jolokia = 1,
	};
	e.pages[0] = e.pages[1] = tight_read("tests/fixtures/engine/streams-jmx.prom");
	e.jolokia[0] = tight_read("tests/fixtures/engine/streams-jolokia.json");
	struct engine_state s;
	bool metrics;
	memset(&notes, 0, sizeof notes);
	assert_int_equal(engine_build(&e, &s, NULL, &metrics, &notes, NULL), 0);
	assert_int_equal(s.rocksdb.memtables_bytes.bytes, 100700928);
	assert_int_equal(notes.n, 2);
	tight_free(e.cmdline);
	tight_free(e.pages[0]);
	tight_free(e.jolokia[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_taskmanager),    cmocka_unit_test(a_streams_application),
		cmocka_unit_test(a_windowed_store), cmocka_unit_test(garbage_everywhere),
		cmocka_unit_test(nothing_at_all),   cmocka_unit_test(two_sources),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
