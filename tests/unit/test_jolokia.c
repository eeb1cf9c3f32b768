/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/jolokia.h"
#include "support/tight.h"

static struct engine_notes notes;

static struct engine_state read_answers(const struct str *answers, size_t n)
{
	struct engine_state state = { .kind = ENGINE_KAFKA_STREAMS };
	static const char *const whats[] = { "http/jolokia.0", "http/jolokia.1", "http/jolokia.2", "http/jolokia.3" };
	struct err err = { 0 };
	memset(&notes, 0, sizeof notes);
	if (jolokia_read(answers, whats, n, &state, &notes, &err) != 0)
		fail_msg("%s", err.message);
	return state;
}

static void a_real_bounded_application(void **state)
{
	(void)state;
	struct str text = tight_read("tests/fixtures/engine/streams-jolokia.json");
	struct engine_state s = read_answers(&text, 1);
	assert_int_equal(s.rocksdb.sharing, ROCKSDB_PER_PROCESS);
	assert_true(s.rocksdb.memtables_in_cache);
	assert_int_equal(s.rocksdb.n_stores.n, 6);
	assert_int_equal(s.rocksdb.cache_usage_bytes.bytes, 63917912);
	assert_int_equal(s.rocksdb.cache_capacity_bytes.bytes, 67108864);
	assert_int_equal(s.rocksdb.memtables_bytes.bytes, 17862792);
	assert_int_equal(s.streams.n_threads.n, 2);
	assert_string_equal(s.rocksdb.largest_store, "0_1/store-1");
	assert_int_equal(notes.n, 0);
	tight_free(text);
}

/* The shapes Jolokia 2 gives for our requests, as a JDK 17 answered them (cut). */
static const char *const jvm_answers[] = {
	"{\"request\":{\"mbean\":\"java.lang:type=MemoryPool,*\",\"attribute\":\"Usage\",\"type\":\"read\"},\"value\":{"
	"\"java.lang:name=Metaspace,type=MemoryPool\":{\"Usage\":{\"init\":0,\"committed\":15073280,\"max\":-1,\"used\":14841208}},"
	"\"java.lang:name=CodeHeap 'non-nmethods',type=MemoryPool\":{\"Usage\":{\"init\":2555904,\"committed\":2555904,\"max\":5828608,\"used\":1264128}},"
	"\"java.lang:name=CodeHeap 'profiled nmethods',type=MemoryPool\":{\"Usage\":{\"init\":2555904,\"committed\":2883584,\"max\":122912768,\"used\":2823552}}"
	"},\"status\":200,\"timestamp\":1796003586}",
	"{\"request\":{\"mbean\":\"java.nio:type=BufferPool,*\",\"attribute\":[],\"type\":\"read\"},\"value\":{"
	"\"java.nio:name=mapped,type=BufferPool\":{\"TotalCapacity\":0,\"MemoryUsed\":0,\"Count\":0,\"Name\":\"mapped\"},"
	"\"java.nio:name=direct,type=BufferPool\":{\"TotalCapacity\":16384,\"MemoryUsed\":16385,\"Count\":2,\"Name\":\"CANARY\"}"
	"},\"status\":200,\"timestamp\":1796003586}",
	("{\"request\":{\"mbean\":\"java.lang:type=Memory\",\"attribute\":\"HeapMemoryUsage\",\"type\":\"read\"},"
	 "\"value\":{\"init\":398458880,\"committed\":406847488,\"max\":6320816128,\"used\":17142272},\"status\":200}"),
	"{\"request\":{\"mbean\":\"java.lang:type=Threading\",\"attribute\":\"ThreadCount\",\"type\":\"read\"},\"value\":9,\"status\":200}",
};

static void check_jvm(const struct engine_state *s)
{
	assert_int_equal(s->gauges.metaspace_used_bytes.bytes, 14841208);
	assert_int_equal(s->gauges.metaspace_committed_bytes.bytes, 15073280);
	assert_false(qty_known(s->gauges.metaspace_max_bytes));
	assert_int_equal(s->gauges.code_cache_used_bytes.bytes, 1264128 + 2823552);
	assert_int_equal(s->gauges.direct_used_bytes.bytes, 16385);
	assert_int_equal(s->gauges.direct_buffers.n, 2);
	assert_int_equal(s->gauges.mapped_used_bytes.bytes, 0);
	assert_true(qty_known(s->gauges.mapped_used_bytes));
	assert_int_equal(s->gauges.heap_used_bytes.bytes, 17142272);
	assert_int_equal(s->gauges.heap_max_bytes.bytes, 6320816128);
	assert_int_equal(s->gauges.threads.n, 9);
}

static void jvm_beans_whole_and_reduced(void **state)
{
	(void)state;
	struct str answers[4], reduced[4];
	struct buf bufs[4] = { { .cap = 65536 }, { .cap = 65536 }, { .cap = 65536 }, { .cap = 65536 } };
	for (size_t i = 0; i < 4; i++) {
		answers[i] = tight_of(str_of(jvm_answers[i]));
		assert_int_equal(jolokia_reduce(answers[i], &bufs[i], NULL), 0);
		reduced[i] = buf_str(&bufs[i]);
		assert_null(strstr(bufs[i].ptr, "CANARY"));
	}
	struct engine_state s = read_answers(answers, 4);
	check_jvm(&s);
	s = read_answers(reduced, 4);
	check_jvm(&s);
	assert_int_equal(notes.n, 0);
	for (size_t i = 0; i < 4; i++) {
		auto_buf struct buf again = { .cap = 65536 };
		assert_int_equal(jolokia_reduce(reduced[i], &again, NULL), 0);
		assert_string_equal(again.ptr, bufs[i].ptr);
		tight_free(answers[i]);
		buf_done(&bufs[i]);
	}
}

static void reduces_secrets_away(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"{\"request\":{\"mbean\":\"CANARY:a=b\",\"path\":\"CANARY\"},\"value\":{\"CANARY:type=x\":{\"CANARY\":1}},\"status\":200}",
		"{\"request\":{\"mbean\":\"x\"},\"status\":404,\"error_type\":\"a.B\",\"error\":\"CANARY\",\"stacktrace\":\"CANARY\"}",
		"{\"request\":{\"mbean\":\"CANARY\"},\"status\":500,\"error_type\":\"CANARY with text\"}",
		"{\"request\":{\"mbean\":\"kafka.streams:type=stream-metrics,*\"},\"value\":{\"kafka.streams:type=stream-metrics,client-id=a\":"
		"{\"version\":\"CANARY\",\"topology-description\":\"CANARY\"}},\"status\":200}",
		"{\"request\":{\"mbean\":\"kafka.streams:type=stream-state-metrics,*\"},\"value\":{\"kafka.streams:type=stream-state-metrics,"
		"rocksdb-state-id=s,secret=CANARY\":{\"block-cache-usage\":\"CANARY\",\"x\":\"CANARY\"}},\"status\":200}",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		auto_buf struct buf out = { .cap = 65536 };
		assert_int_equal(jolokia_reduce(str_of(texts[i]), &out, NULL), 0);
		if (strstr(out.ptr, "CANARY"))
			fail_msg("%s", out.ptr);
	}
}

#define BEAN(domain, keys, attributes)                                                     \
	"{\"request\":{\"mbean\":\"" domain ":" keys ",*\"},\"value\":{\"" domain ":" keys \
	",client-id=a\":{" attributes "}},\"status\":200}"

static void what_the_client_was_doing(void **state)
{
	static const struct {
		const char *answers[2];
		const char *job_state;
		enum tristate restoring, rebalancing;
		int64_t lag; /* -1: unread */
	} cases[] = {
		{ { BEAN("kafka.streams", "type=stream-metrics", "\"client-state\":2,\"state\":\"RUNNING\""),
		    BEAN("kafka.consumer", "type=consumer-fetch-manager-metrics", "\"records-lag-max\":1234.0") },
		  "running",
		  TRISTATE_UNREAD,
		  TRISTATE_FALSE,
		  1234 },
		{ { BEAN("kafka.streams", "type=stream-metrics", "\"state\":\"REBALANCING\",\"version\":\"4.4.0\""),
		    BEAN("kafka.streams", "type=stream-state-updater-metrics", "\"active-restoring-tasks\":2") },
		  "rebalancing",
		  TRISTATE_TRUE,
		  TRISTATE_TRUE,
		  -1 },
		{ { BEAN("kafka.consumer", "type=consumer-coordinator-metrics", "\"last-rebalance-seconds-ago\":7.0"),
		    BEAN("kafka.consumer", "type=consumer-fetch-manager-metrics", "\"records-lag-max\":\"NaN\"") },
		  "",
		  TRISTATE_UNREAD,
		  TRISTATE_TRUE,
		  -1 },
		{ { BEAN("kafka.consumer", "type=consumer-coordinator-metrics", "\"last-rebalance-seconds-ago\":-1"),
		    BEAN("kafka.streams", "type=stream-metrics", "\"state\":\"CANARY\",\"client-state\":\"CANARY\"") },
		  "",
		  TRISTATE_UNREAD,
		  TRISTATE_FALSE,
		  -1 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (int reduced = 0; reduced < 2; reduced++) {
			struct buf bufs[2] = { { .cap = 65536 }, { .cap = 65536 } };
			struct str answers[2];
			for (size_t k = 0; k < 2; k++) {
				assert_int_equal(jolokia_reduce(str_of(cases[i].answers[k]), &bufs[k], NULL), 0);
				assert_null(strstr(bufs[k].ptr, "CANARY"));
				answers[k] = reduced ? buf_str(&bufs[k]) : str_of(cases[i].answers[k]);
			}
			struct engine_state s = read_answers(answers, 2);
			if (strcmp(s.context.job_state, cases[i].job_state) != 0)
				fail_msg("case %zu: \"%s\"", i, s.context.job_state);
			assert_int_equal(s.context.restoring, cases[i].restoring);
			assert_int_equal(s.context.rebalancing, cases[i].rebalancing);
			assert_int_equal(s.context.records_lag_max.known, cases[i].lag >= 0);
			if (cases[i].lag >= 0)
				assert_int_equal(s.context.records_lag_max.n, cases[i].lag);
			buf_done(&bufs[0]);
			buf_done(&bufs[1]);
		}
	/* A JVM without consumers is no trouble. */
	struct str none = STR(
		"{\"request\":{\"mbean\":\"kafka.consumer:type=consumer-coordinator-metrics,client-id=*\"},\"error_type\":\"javax.management.InstanceNotFoundException\",\"status\":404}");
	(void)read_answers(&none, 1);
	assert_int_equal(notes.n, 0);
}

static void statuses_and_garbage(void **state)
{
	(void)state;
	struct str answers[] = {
		STR("{\"request\":{\"mbean\":\"kafka.streams:type=stream-metrics,*\"},\"error_type\":\"javax.management.InstanceNotFoundException\",\"status\":404}"),
		STR("<html>"),
		STR("[]"),
		STR("{\"request\":{\"mbean\":\"kafka.streams:type=stream-metrics,*\"},\"value\":{\"kafka.streams:client-id=a,type=stream-metrics\":"
		    "{\"version\":\"4.4.0\"}},\"status\":200}"),
	};
	struct engine_state s = read_answers(answers, 4);
	assert_string_equal(s.version, "4.4.0");
	assert_int_equal(notes.n, 3);
	assert_int_equal(notes.items[0].kind, ERR_UNSUPPORTED);
	assert_int_equal(notes.items[1].kind, ERR_MALFORMED);
	auto_buf struct buf out = { .cap = 65536 };
	assert_true(jolokia_reduce(STR("{}"), &out, NULL) < 0);
	assert_int_equal(out.len, 0);
}

static void names_of_beans(void **state)
{
	(void)state;
	/* Quoted values, any order of keys, keys we do not know; NaN and null are unread; a store twice is ambiguous. */
	struct str text = STR(
		"{\"request\":{\"mbean\":\"kafka.streams:*\"},\"value\":{"
		"\"kafka.streams:task-id=0_0,x=y,rocksdb-window-state-id=\\\"a,b=\\\\\\\"c\\\",type=stream-state-metrics,thread-id=t\":"
		"{\"size-all-mem-tables\":5.0,\"block-cache-usage\":null,\"estimate-table-readers-mem\":\"NaN\"}},\"status\":200}");
	struct engine_state s = read_answers(&text, 1);
	assert_int_equal(s.rocksdb.memtables_bytes.bytes, 5);
	assert_false(qty_known(s.rocksdb.cache_usage_bytes));
	assert_false(qty_known(s.rocksdb.table_readers_bytes));
	assert_int_equal(s.rocksdb.n_stores.n, 1);
	text = STR("{\"request\":{\"mbean\":\"kafka.streams:*\"},\"value\":{"
		   "\"kafka.streams:task-id=0_0,rocksdb-state-id=a,type=stream-state-metrics\":"
		   "{\"num-open-iterators\":3,\"mem-table-flush-pending\":2,\"num-immutable-mem-table\":4},"
		   "\"kafka.streams:task-id=0_0,rocksdb-session-state-id=s,type=stream-state-metrics\":"
		   "{\"num-open-iterators\":1,\"mem-table-flush-pending\":0},"
		   "\"kafka.streams:task-id=0_0,in-memory-state-id=m,type=stream-state-metrics\":"
		   "{\"num-open-iterators\":50}},\"status\":200}");
	auto_buf struct buf reduced = { .cap = 65536 };
	assert_int_equal(jolokia_reduce(text, &reduced, NULL), 0);
	struct str kept = buf_str(&reduced);
	s = read_answers(&kept, 1);
	assert_int_equal(s.rocksdb.n_open_iterators.n, 4);
	assert_int_equal(s.rocksdb.n_flush_pending.n, 1);
	assert_int_equal(s.rocksdb.n_immutable.n, 4);
	assert_true(s.streams.n_kv.known && s.streams.n_window.known && s.streams.n_session.known);
	assert_int_equal(s.streams.n_kv.n * 100 + s.streams.n_window.n * 10 + s.streams.n_session.n, 101);
	struct str twice[] = {
		STR("{\"request\":{\"mbean\":\"kafka.streams:type=stream-state-metrics,task-id=0_0,rocksdb-state-id=a\"},\"value\":{\"block-cache-usage\":5},\"status\":200}"),
		STR("{\"request\":{\"mbean\":\"kafka.streams:type=stream-state-metrics,task-id=0_0,rocksdb-state-id=a\"},\"value\":{\"block-cache-usage\":6},\"status\":200}"),
	};
	s = read_answers(twice, 2);
	assert_true(s.rocksdb.ambiguous);
}

static void prefix(struct str text)
{
	struct engine_state s = { .kind = ENGINE_KAFKA_STREAMS };
	const char *what = "http/jolokia.0";
	auto_buf struct buf out = { .cap = 65536 };
	assert_int_equal(jolokia_read(&text, &what, 1, &s, NULL, NULL), 0);
	assert_true(jolokia_reduce(text, &out, NULL) <= 0);
}

static void every_prefix(void **state)
{
	(void)state;
	tight_prefixes(str_of(jvm_answers[0]), 1000, prefix);
	assert_non_null(jolokia_requests[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_real_bounded_application),
		cmocka_unit_test(jvm_beans_whole_and_reduced),
		cmocka_unit_test(reduces_secrets_away),
		cmocka_unit_test(what_the_client_was_doing),
		cmocka_unit_test(statuses_and_garbage),
		cmocka_unit_test(names_of_beans),
		cmocka_unit_test(every_prefix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
