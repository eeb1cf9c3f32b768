/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "engine/flinkbudget.h"
#include "engine/rocksdb.h"
#include "support/tight.h"

#define TM                                                                                                     \
	"java\0-Xmx536870902\0-XX:MaxDirectMemorySize=268435458\0-XX:MaxMetaspaceSize=268435456\0-cp\0x.jar\0" \
	"org.apache.flink.runtime.taskexecutor.TaskManagerRunner\0--configDir\0/conf\0"

static bool noted(const struct engine_notes *notes, const char *text)
{
	for (size_t i = 0; i < notes->n; i++)
		if (strstr(notes->items[i].reason, text))
			return true;
	return false;
}

static void real_taskmanagers(void **state)
{
	(void)state;
	static const char *const files[] = { "tests/fixtures/engine/flink120-tm.cmdline",
					     "tests/fixtures/engine/flink2-tm.cmdline" };
	for (size_t i = 0; i < 2; i++) {
		struct str cmdline = tight_read(files[i]);
		struct flink_budget b;
		static struct engine_notes notes;
		memset(&notes, 0, sizeof notes);
		flinkbudget_read(cmdline, NULL, ENGINE_FLINK_TASKMANAGER, &b, &notes);
		/* What Flink derives of process.size 1728m. */
		assert_int_equal(b.framework_heap_bytes.bytes, 134217728);
		assert_int_equal(b.task_heap_bytes.bytes, 402653174);
		assert_int_equal(b.framework_off_heap_bytes.bytes, 134217728);
		assert_int_equal(b.task_off_heap_bytes.bytes, 0);
		assert_int_equal(b.task_off_heap_bytes.state, QTY_MEASURED);
		assert_int_equal(b.network_bytes.bytes, 134217730);
		assert_int_equal(b.managed_bytes.bytes, 536870920);
		assert_int_equal(b.metaspace_bytes.bytes, 268435456);
		assert_int_equal(b.overhead_bytes.bytes, 201326592);
		assert_int_equal(b.heap_bytes.bytes, 536870902);
		assert_int_equal(b.direct_bytes.bytes, 268435458);
		assert_int_equal(b.flink_bytes.bytes, 1342177280);
		assert_int_equal(b.process_bytes.bytes, 1728ull << 20);
		assert_int_equal(b.process_bytes.state, QTY_DERIVED);
		assert_true(b.n_slots.known && b.n_slots.n == 1);
		assert_int_equal(notes.n, 0);
		assert_true(notes.n_settings >= 10);
		tight_free(cmdline);
	}
}

static void real_jobmanager(void **state)
{
	(void)state;
	struct str cmdline = tight_read("tests/fixtures/engine/flink120-jm.cmdline");
	struct flink_budget b;
	static struct engine_notes notes;
	flinkbudget_read(cmdline, NULL, ENGINE_FLINK_JOBMANAGER, &b, &notes);
	assert_int_equal(b.heap_bytes.bytes, 230686720);
	assert_int_equal(b.direct_bytes.bytes, 134217728);
	assert_int_equal(b.metaspace_bytes.bytes, 167772160);
	assert_int_equal(b.overhead_bytes.bytes, 201326592);
	assert_int_equal(b.process_bytes.bytes, 700ull << 20);
	assert_false(qty_known(b.managed_bytes));
	assert_int_equal(notes.n, 0);
	tight_free(cmdline);
}

static void missing_and_wrong(void **state)
{
	(void)state;
	struct flink_budget b;
	static struct engine_notes notes;
	memset(&notes, 0, sizeof notes);
	flinkbudget_read(
		STR(TM
		    "-D\0taskmanager.memory.managed.size=1.5g\0-D\0taskmanager.memory.task.heap.size=-1\0"
		    "-D\0taskmanager.memory.network.min=64m\0-D\0taskmanager.memory.network.max=1g\0"
		    "-D\0taskmanager.numberOfTaskSlots=0\0-D\0taskmanager.memory.framework.heap.size=99999999999999999999b\0"),
		NULL, ENGINE_FLINK_TASKMANAGER, &b, &notes);
	assert_false(qty_known(b.managed_bytes));
	assert_false(qty_known(b.task_heap_bytes));
	assert_false(qty_known(b.framework_heap_bytes));
	assert_false(qty_known(b.network_bytes));
	assert_false(qty_known(b.process_bytes));
	assert_false(b.n_slots.known);
	assert_true(noted(&notes, "'1.5g' is no size"));
	assert_true(noted(&notes, "'-1' is no size"));
	assert_true(noted(&notes, "a range, no budget"));
	assert_true(noted(&notes, "'0' is no count"));
	flinkbudget_read(STR(""), NULL, ENGINE_FLINK_TASKMANAGER, &b, NULL);
	assert_false(qty_known(b.process_bytes));
	flinkbudget_read(STR(TM), NULL, ENGINE_KAFKA_STREAMS, &b, NULL);
	assert_false(qty_known(b.heap_bytes));
}

static void later_wins_and_flags_are_checked(void **state)
{
	(void)state;
	struct flink_budget b;
	static struct engine_notes notes;
	memset(&notes, 0, sizeof notes);
	flinkbudget_read(
		STR("java\0-Xmx1g\0-Xmx512m\0-Dtaskmanager.memory.managed.size=7b\0"
		    "org.apache.flink.runtime.taskexecutor.TaskManagerRunner\0"
		    "-D\0taskmanager.memory.managed.size=1b\0-Dtaskmanager.memory.managed.size=2b\0"
		    "-D\0taskmanager.memory.framework.heap.size=128m\0-D\0taskmanager.memory.task.heap.size=128m"),
		NULL, ENGINE_FLINK_TASKMANAGER, &b, &notes);
	/* The system property before the class is no Flink option. */
	assert_int_equal(b.managed_bytes.bytes, 2);
	assert_int_equal(b.heap_bytes.bytes, 256 << 20);
	assert_true(noted(&notes, "-Xmx is 536870912 but framework + task heap is 268435456"));
}

static void from_the_file(void **state)
{
	(void)state;
	auto_flinkconf struct flinkconf conf = { 0 };
	struct flink_budget b;
	struct str value;
	char where[64];
	assert_int_equal(
		flinkconf_parse(
			STR("taskmanager.memory.managed.size: 1 gb\ntaskmanager.memory.task.heap.size: <redacted>\n"
			    "rest.port: 8081\n"),
			FLINKCONF_LEGACY, "flink-conf.yaml", &conf, NULL),
		0);
	flinkbudget_read(STR(TM), &conf, ENGINE_FLINK_TASKMANAGER, &b, NULL);
	assert_int_equal(b.managed_bytes.bytes, 1 << 30);
	assert_false(qty_known(b.task_heap_bytes));
	assert_true(flink_option(STR(TM), &conf, "rest.port", &value, where));
	assert_string_equal(where, "flink-conf.yaml:3");
	assert_true(flink_option(STR(TM "-D\0rest.port=1\0"), &conf, "rest.port", &value, where));
	assert_string_equal(where, "command line");
	assert_false(flink_option(STR(TM "-D\0rest.port=<redacted>\0"), NULL, "rest.port", &value, where));
}

static void rocksdb_settings(void **state)
{
	(void)state;
	struct engine_state s = { .kind = ENGINE_FLINK_TASKMANAGER };
	static struct engine_notes notes;
	memset(&notes, 0, sizeof notes);
	flink_settings_read(
		STR(TM
		    "-D\0state.backend.rocksdb.memory.managed=false\0-D\0state.backend.rocksdb.memory.fixed-per-tm=1g\0"
		    "-D\0state.backend.rocksdb.memory.write-buffer-ratio=0.25\0"),
		NULL, &s, &notes);
	assert_int_equal(s.rocksdb_managed, TRISTATE_FALSE);
	assert_int_equal(s.rocksdb_fixed_per_tm_bytes.bytes, 1 << 30);
	assert_int_equal(s.write_buffer_ratio_bp, 2500);
	static const struct {
		const char *text;
		uint32_t bp;
	} ratios[] = { { "0.5", 5000 }, { "1", 10000 }, { "0.33333", 3333 }, { "1.5", 0 },
		       { "-0.5", 0 },   { "0", 0 },     { "0.", 0 },         { "NaN", 0 } };
	for (size_t i = 0; i < sizeof ratios / sizeof *ratios; i++) {
		auto_flinkconf struct flinkconf conf = { 0 };
		char text[120];
		(void)snprintf(text, sizeof text, "state.backend.rocksdb.memory.write-buffer-ratio: %s\n",
			       ratios[i].text);
		assert_int_equal(flinkconf_parse(str_of(text), FLINKCONF_LEGACY, "f", &conf, NULL), 0);
		flink_settings_read(STR(TM), &conf, &s, NULL);
		assert_int_equal(s.write_buffer_ratio_bp, ratios[i].bp);
	}
	s.backend = BACKEND_FORST;
	flink_settings_read(STR(TM "-D\0state.backend.forst.memory.fixed-per-slot=2mb\0"), NULL, &s, NULL);
	assert_int_equal(s.rocksdb_fixed_per_slot_bytes.bytes, 2 << 20);
	assert_int_equal(s.rocksdb_managed, TRISTATE_UNREAD);
}

/* Figures of Flink's own tests and logs. */
static void splits(void **state)
{
	(void)state;
	static const struct {
		uint64_t grant;
		uint32_t ratio_bp;
		uint64_t cache, buffers;
	} cases[] = {
		{ 536870920, 5000, 447392433, 178956973 },    { 1438814063, 5000, 1199011719, 479604687 },
		{ 6335076856, 5000, 5279230713, 2111692285 }, { 157286400, 8000, 115343360, 83886080 },
		{ 161061276, 5000, 134217730, 53687092 },     { 0, 5000, 0, 0 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct rocksdb_split split = rocksdb_split(cases[i].grant, cases[i].ratio_bp);
		assert_int_equal(split.cache_bytes, cases[i].cache);
		assert_int_equal(split.write_buffers_bytes, cases[i].buffers);
	}
	(void)rocksdb_split(UINT64_MAX, UINT32_MAX);
}

static void budgets(void **state)
{
	(void)state;
	struct rocksdb_budget b;
	struct engine_state s = { .flink = { .managed_bytes = qty_measured(1000001), .n_slots = count_of(2) } };
	rocksdb_budget(&s, &b);
	assert_int_equal(b.sharing, ROCKSDB_PER_SLOT);
	assert_true(b.within_managed);
	assert_int_equal(b.grant_bytes.bytes, 500000);
	assert_int_equal(b.total_grant_bytes.bytes, 1000000);
	s.flink.n_slots.known = false;
	rocksdb_budget(&s, &b);
	assert_false(qty_known(b.grant_bytes));
	s.rocksdb_managed = TRISTATE_FALSE;
	rocksdb_budget(&s, &b);
	assert_int_equal(b.sharing, ROCKSDB_PER_STORE);
	assert_false(qty_known(b.cache_bytes));
	s.rocksdb_fixed_per_tm_bytes = qty_measured(300);
	rocksdb_budget(&s, &b);
	assert_int_equal(b.sharing, ROCKSDB_PER_PROCESS);
	assert_int_equal(b.total_grant_bytes.bytes, 300);
	assert_false(b.within_managed);
	s.rocksdb_fixed_per_slot_bytes = qty_measured(600);
	s.flink.n_slots = count_of(3);
	rocksdb_budget(&s, &b);
	assert_int_equal(b.sharing, ROCKSDB_PER_SLOT);
	assert_int_equal(b.total_grant_bytes.bytes, 1800);
	assert_int_equal(b.cache_bytes.bytes, 500);
	assert_int_equal(b.write_buffers_bytes.bytes, 200);
}

static void prefix(struct str text)
{
	struct flink_budget b;
	static struct engine_notes notes;
	flinkbudget_read(text, NULL, ENGINE_FLINK_TASKMANAGER, &b, &notes);
	flinkbudget_read(text, NULL, ENGINE_FLINK_JOBMANAGER, &b, &notes);
}

static void every_prefix(void **state)
{
	(void)state;
	struct str cmdline = tight_read("tests/fixtures/engine/flink2-tm.cmdline");
	tight_prefixes(cmdline, cmdline.len, prefix);
	tight_free(cmdline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_taskmanagers),
		cmocka_unit_test(real_jobmanager),
		cmocka_unit_test(missing_and_wrong),
		cmocka_unit_test(later_wins_and_flags_are_checked),
		cmocka_unit_test(from_the_file),
		cmocka_unit_test(rocksdb_settings),
		cmocka_unit_test(splits),
		cmocka_unit_test(budgets),
		cmocka_unit_test(every_prefix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
