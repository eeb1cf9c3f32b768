/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/flinkrest.h"
#include "support/tight.h"

static const char list[] =
	"{\"taskmanagers\":["
	"{\"id\":\"10.0.0.1:41000-aaa111\",\"path\":\"pekko.tcp://flink@10.0.0.1:41000/user/rpc/taskmanager_0\",\"dataPort\":1},"
	"{\"id\":\"10.0.0.2:41000-bbb222\",\"path\":\"akka.tcp://flink@10.0.0.2:41000/user/rpc/taskmanager_0\",\"dataPort\":1},"
	"{\"id\":\"10.0.0.2:42000-ccc333\",\"path\":\"akka.tcp://flink@10.0.0.2:42000/user/rpc/taskmanager_0\",\"dataPort\":2}]}";

static void finds_itself(void **state)
{
	(void)state;
	static const struct {
		struct flinkrest_self self;
		const char *id; /* NULL: refused */
		enum err_kind kind;
	} cases[] = {
		/* The reporter's label has other bytes than the id. */
		{ { .tm_id = STR("10_0_0_2:41000_bbb222") }, "10.0.0.2:41000-bbb222", ERR_NONE },
		{ { .tm_id = STR("10.0.0.2:42000-ccc333") }, "10.0.0.2:42000-ccc333", ERR_NONE },
		{ { .host = STR("10.0.0.1") }, "10.0.0.1:41000-aaa111", ERR_NONE },
		{ { .host = STR("10.0.0.2"), .data_port = 2 }, "10.0.0.2:42000-ccc333", ERR_NONE },
		{ { .host = STR("10.0.0.2") }, NULL, ERR_USAGE },
		{ { .data_port = 0 }, NULL, ERR_USAGE },
		{ { .host = STR("10.0.0.9") }, NULL, ERR_GONE },
		{ { .tm_id = STR("x") }, NULL, ERR_GONE },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char id[FLINKREST_ID_CAP] = "before";
		struct err err = { 0 };
		int status = flinkrest_find(str_of(list), &cases[i].self, id, &err);
		assert_int_equal(status < 0, !cases[i].id);
		assert_string_equal(id, cases[i].id ? cases[i].id : "before");
		assert_int_equal(err.kind, cases[i].kind);
	}
	char id[FLINKREST_ID_CAP];
	struct str real = tight_read("tests/fixtures/engine/flink2-tms.json");
	assert_int_equal(flinkrest_find(real, &(struct flinkrest_self){ .data_port = 0 }, id, NULL), 0);
	assert_string_equal(id, "127.0.0.1:42547-a62462");
	tight_free(real);
	assert_true(flinkrest_find(STR("{\"errors\":[\"x\"]}"), &cases[0].self, id, NULL) < 0);
	assert_true(flinkrest_find(STR("{\"taskmanagers\":7}"), &cases[0].self, id, NULL) < 0);
	assert_true(flinkrest_find(STR("[]"), &cases[0].self, id, NULL) < 0);
}

static void paths(void **state)
{
	(void)state;
	char path[80];
	assert_true(flinkrest_path("10.0.0.1:41000-aaa111", path, sizeof path));
	assert_string_equal(path, "/taskmanagers/10.0.0.1:41000-aaa111");
	static const char *const bad[] = { "", ".", "..", "a/b", "a?b", "a b", "a%2f", "a\r\nb", "#" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(flinkrest_path(bad[i], path, sizeof path));
	assert_false(flinkrest_path("abc", path, 10));
}

static void fills_what_is_unknown(void **state)
{
	(void)state;
	static const char *const files[] = { "tests/fixtures/engine/flink120-tm.json",
					     "tests/fixtures/engine/flink2-tm.json" };
	for (size_t i = 0; i < 2; i++) {
		struct str text = tight_read(files[i]);
		struct engine_state s = { .kind = ENGINE_FLINK_TASKMANAGER };
		struct engine_notes notes = { 0 };
		assert_int_equal(flinkrest_read(text, &s, &notes, NULL), 0);
		assert_int_equal(s.flink.process_bytes.bytes, 1728ull << 20);
		assert_int_equal(s.flink.managed_bytes.bytes, 536870920);
		assert_int_equal(s.flink.n_slots.n, 1);
		assert_int_equal(s.gauges.network_total_bytes.bytes, 134217728);
		assert_true(qty_known(s.gauges.heap_used_bytes));
		assert_int_equal(notes.n, 0);
		/* What the process says of itself stays, and the difference is told. */
		s.flink.managed_bytes = qty_measured(1);
		assert_int_equal(flinkrest_read(text, &s, &notes, NULL), 0);
		assert_int_equal(s.flink.managed_bytes.bytes, 1);
		assert_true(notes.n > 0 && strstr(notes.items[0].reason, "managedMemory"));
		tight_free(text);
	}
}

static void local_runs_and_garbage(void **state)
{
	(void)state;
	struct engine_state s = { .kind = ENGINE_FLINK_TASKMANAGER };
	assert_int_equal(
		flinkrest_read(
			STR("{\"id\":\"a\",\"slotsNumber\":-1,\"memoryConfiguration\":{\"taskHeap\":null,\"managedMemory\":-5,"
			    "\"networkMemory\":1.5},\"metrics\":{\"heapUsed\":\"7\"}}"),
			&s, NULL, NULL),
		0);
	assert_false(qty_known(s.flink.task_heap_bytes) || qty_known(s.flink.managed_bytes) ||
		     qty_known(s.flink.network_bytes));
	assert_false(s.flink.n_slots.known);
	assert_false(qty_known(s.gauges.heap_used_bytes));
	assert_true(flinkrest_read(STR("{}"), &s, NULL, NULL) < 0);
	assert_true(flinkrest_read(STR("<html>"), &s, NULL, NULL) < 0);
}

static void versions(void **state)
{
	(void)state;
	char version[32] = "before";
	struct str text = tight_read("tests/fixtures/engine/flink2-config.json");
	assert_true(flinkrest_version(text, version));
	assert_string_equal(version, "2.3.0");
	tight_free(text);
	assert_false(flinkrest_version(STR("{\"flink-version\":\"\\u001b[0m\"}"), version));
	assert_false(flinkrest_version(STR("{}"), version));
	assert_false(flinkrest_version(STR("x"), version));
	assert_string_equal(version, "2.3.0");
}

static void reduces(void **state)
{
	(void)state;
	auto_buf struct buf out = { .cap = 65536 }, again = { .cap = 65536 };
	assert_int_equal(
		flinkrest_reduce(
			STR("{\"id\":\"tm-1\",\"path\":\"pekko.tcp://flink@h:1/x\",\"slotsNumber\":2,\"secret\":\"CANARY\","
			    "\"memoryConfiguration\":{\"taskHeap\":5,\"CANARY\":1,\"managedMemory\":\"CANARY\"},"
			    "\"metrics\":{\"heapUsed\":7,\"garbageCollectors\":[{\"name\":\"CANARY\"}]},"
			    "\"allocatedSlots\":[{\"jobId\":\"CANARY\"}]}"),
			&out, NULL),
		0);
	assert_string_equal(
		out.ptr,
		"{\"id\":\"tm-1\",\"path\":\"pekko.tcp://flink@h:1/x\",\"slotsNumber\":2,"
		"\"memoryConfiguration\":{\"taskHeap\":5,\"managedMemory\":null},\"metrics\":{\"heapUsed\":7}}");
	assert_int_equal(flinkrest_reduce(buf_str(&out), &again, NULL), 0);
	assert_string_equal(out.ptr, again.ptr);
	buf_clear(&out);
	assert_int_equal(flinkrest_reduce(STR("{\"flink-version\":\"2.3.0\",\"flink-revision\":\"CANARY\"}"), &out,
					  NULL),
			 0);
	assert_string_equal(out.ptr, "{\"flink-version\":\"2.3.0\"}");
	buf_clear(&out);
	assert_int_equal(flinkrest_reduce(str_of(list), &out, NULL), 0);
	char id[FLINKREST_ID_CAP];
	assert_int_equal(flinkrest_find(buf_str(&out), &(struct flinkrest_self){ .host = STR("10.0.0.1") }, id, NULL),
			 0);
	buf_clear(&out);
	assert_true(flinkrest_reduce(STR("{\"errors\":[\"CANARY\"]}"), &out, NULL) < 0);
	assert_int_equal(out.len, 0);
}

static void prefix(struct str text)
{
	struct engine_state s = { .kind = ENGINE_FLINK_TASKMANAGER };
	auto_buf struct buf out = { .cap = 65536 };
	char id[FLINKREST_ID_CAP];
	assert_true(flinkrest_read(text, &s, NULL, NULL) <= 0);
	assert_true(flinkrest_reduce(text, &out, NULL) <= 0);
	assert_true(flinkrest_find(text, &(struct flinkrest_self){ .data_port = 0 }, id, NULL) <= 0);
}

static const char jm_config[] =
	"[{\"key\":\"state.backend\",\"value\":\" rocksdb \"},{\"key\":\"s3.secret-key\",\"value\":\"CANARY\"},"
	"{\"key\":\"fs.pass\",\"value\":\"******\"},{\"key\":\"CANARY\",\"value\":\"1\"},"
	"{\"key\":\"rest.port\",\"value\":\"8081\\nCANARY.x: 1\"},{\"key\":\"a.b\\nCANARY: 1\",\"value\":\"2\"},"
	"{\"key\":\"execution.runtime-mode\",\"value\":\"BATCH\"},{\"key\":\"rest.bind-port\",\"value\":7},"
	"{\"value\":\"x\"},null,[],{\"key\":\"parallelism.default\",\"value\":\"\"}]";

static void a_jobmanagers_configuration(void **state)
{
	auto_buf struct buf out = { .cap = 65536 };
	auto_flinkconf struct flinkconf conf = { 0 };
	char where[64];
	(void)state;
	struct str text = tight_of(str_of(jm_config));
	assert_int_equal(flinkrest_config_reduce(text, &out, NULL), 0);
	tight_free(text);
	assert_string_equal(out.ptr, "state.backend: rocksdb\n"
				     "s3.secret-key: <redacted>\n"
				     "fs.pass: <redacted>\n"
				     "rest.port: <redacted>\n"
				     "execution.runtime-mode: BATCH\n");
	assert_int_equal(flinkrest_config_parse(buf_str(&out), &conf, NULL), 0);
	assert_true(str_eq(flinkconf_find(&conf, "state.backend.type", where)->value, STR("rocksdb")));
	assert_string_equal(where, "REST /jobmanager/config");
	assert_true(flinkconf_find(&conf, "rest.port", NULL)->redacted);
	static const char *const bad[] = { "", "{}", "{\"errors\":[\"x\"]}", "[", "<html>", "7" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err err = { 0 };
		out.len = 0;
		assert_true(flinkrest_config_reduce(str_of(bad[i]), &out, &err) < 0);
		assert_int_equal(err.kind, ERR_MALFORMED);
		assert_int_equal(out.len, 0);
	}
	struct buf small = { .cap = 30 };
	struct err err = { 0 };
	assert_true(flinkrest_config_reduce(str_of(jm_config), &small, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_int_equal(small.len, 0);
	buf_done(&small);
}

static void config_prefix(struct str text)
{
	auto_buf struct buf out = { .cap = 65536 };
	assert_true(flinkrest_config_reduce(text, &out, NULL) <= 0);
	assert_false(str_has(buf_str(&out), STR("CANARY")));
}

static void every_prefix_of_a_configuration(void **state)
{
	(void)state;
	tight_prefixes(str_of(jm_config), 1000, config_prefix);
}

static void every_prefix(void **state)
{
	(void)state;
	tight_prefixes(str_of(list), 1000, prefix);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_itself),
		cmocka_unit_test(paths),
		cmocka_unit_test(fills_what_is_unknown),
		cmocka_unit_test(local_runs_and_garbage),
		cmocka_unit_test(versions),
		cmocka_unit_test(reduces),
		cmocka_unit_test(a_jobmanagers_configuration),
		cmocka_unit_test(every_prefix_of_a_configuration),
		cmocka_unit_test(every_prefix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
