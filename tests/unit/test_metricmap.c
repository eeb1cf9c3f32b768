/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>

#include "engine/metricmap.h"
#include "support/tight.h"

#define RDB "flink_taskmanager_job_task_operator_"

static struct engine_notes notes;

static bool noted(const char *text)
{
	for (size_t i = 0; i < notes.n; i++)
		if (strstr(notes.items[i].reason, text))
			return true;
	return false;
}

/* Read one page into a fresh state of this kind. */
static struct engine_state read_page(struct str text, const struct engine_state *known)
{
	struct engine_state state = *known;
	struct str page = tight_of(text);
	const char *what = "http/metrics.0";
	struct err err = { 0 };
	memset(&notes, 0, sizeof notes);
	if (metricmap_read(&page, &what, 1, &state, &notes, &err) != 0)
		fail_msg("%s", err.message);
	tight_free(page);
	return state;
}

static struct engine_state read_text(const char *text, const struct engine_state *known)
{
	return read_page(str_of(text), known);
}

static const struct engine_state taskmanager = { .kind = ENGINE_FLINK_TASKMANAGER };
static const struct engine_state streams = { .kind = ENGINE_KAFKA_STREAMS };

static void real_flink(void **state)
{
	(void)state;
	static const struct {
		const char *file;
		uint64_t usage, memtables, heap;
	} cases[] = {
		{ "tests/fixtures/engine/flink120.prom", 126619496, 41967560, 135229440 },
		{ "tests/fixtures/engine/flink2.prom", 39218752, 25174016, 234428280 },
	};
	struct engine_state known = taskmanager;
	known.flink.managed_bytes = qty_measured(536870920);
	known.flink.n_slots = count_of(1);
	for (size_t i = 0; i < 2; i++) {
		struct str page = tight_read(cases[i].file);
		struct engine_state s = read_page(page, &known);
		tight_free(page);
		assert_int_equal(s.gauges.heap_used_bytes.bytes, cases[i].heap);
		assert_int_equal(s.gauges.heap_used_bytes.state, QTY_MEASURED);
		assert_int_equal(s.gauges.managed_used_bytes.bytes, 536870920);
		assert_int_equal(s.gauges.network_total_bytes.bytes, 134217728);
		assert_int_equal(s.gauges.threads.n, 60);
		assert_false(qty_known(s.gauges.code_cache_used_bytes));
		/* Four states of one operator, one cache. */
		assert_int_equal(s.rocksdb.sharing, ROCKSDB_PER_SLOT);
		assert_true(s.rocksdb.memtables_in_cache);
		assert_int_equal(s.rocksdb.n_stores.n, 4);
		assert_int_equal(s.rocksdb.n_caches.n, 1);
		assert_true(s.rocksdb.n_caches_certain);
		assert_int_equal(s.rocksdb.cache_usage_bytes.bytes, cases[i].usage);
		assert_int_equal(s.rocksdb.cache_capacity_bytes.bytes, 447392433);
		assert_int_equal(s.rocksdb.memtables_bytes.bytes, cases[i].memtables);
		assert_string_equal(s.rocksdb.largest_store, "grow/history #0");
		assert_int_equal(notes.n, 0);
	}
}

static void real_streams(void **state)
{
	(void)state;
	static const struct {
		const char *file;
		enum rocksdb_sharing sharing;
		uint64_t stores, caches, instances, capacity;
		bool in_cache;
	} cases[] = {
		{ "tests/fixtures/engine/streams-jmx.prom", ROCKSDB_PER_STORE, 6, 6, 6, 314572800, false },
		/* Caches that are empty alike (88 bytes each) are still one each. */
		{ "tests/fixtures/engine/streams-windowed.prom", ROCKSDB_PER_STORE, 2, 2, 6, 314572800, false },
		/* One cache, read six times within one scrape: 65.3 to 66.6 MB. */
		{ "tests/fixtures/engine/streams-bounded.prom", ROCKSDB_PER_PROCESS, 6, 1, 6, 67108864, true },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct str page = tight_read(cases[i].file);
		struct engine_state s = read_page(page, &streams);
		tight_free(page);
		assert_int_equal(s.rocksdb.sharing, cases[i].sharing);
		assert_int_equal(s.rocksdb.n_stores.n, cases[i].stores);
		assert_int_equal(s.rocksdb.n_caches.n, cases[i].caches);
		assert_int_equal(s.rocksdb.cache_capacity_bytes.bytes, cases[i].capacity);
		assert_int_equal(s.rocksdb.memtables_in_cache, cases[i].in_cache);
		assert_int_equal(s.streams.n_instances.n, cases[i].instances);
		assert_int_equal(s.streams.n_threads.n, 2);
		assert_true(qty_known(s.gauges.heap_used_bytes) && qty_known(s.gauges.metaspace_used_bytes));
		assert_true(qty_known(s.gauges.code_cache_used_bytes) && qty_known(s.gauges.direct_used_bytes));
		assert_int_equal(notes.n, 0);
	}
}

/* The same thing by jvm_* and by java_lang_* on one page is not added. */
static void families_are_kept_apart(void **state)
{
	(void)state;
	struct engine_state s = read_text(
		"jvm_memory_used_bytes{area=\"heap\"} 10\njava_lang_Memory_HeapMemoryUsage_used 11\n"
		"jvm_memory_pool_used_bytes{pool=\"CodeHeap 'a'\"} 1\njvm_memory_pool_used_bytes{pool=\"CodeHeap 'b'\"} 2\n"
		"java_lang_CodeHeap_a_Usage_used{type=\"MemoryPool\"} 1\n"
		"java_lang_CodeHeap_b_Usage_used{type=\"MemoryPool\"} 2\n",
		&streams);
	assert_int_equal(s.gauges.heap_used_bytes.bytes, 10);
	assert_int_equal(s.gauges.code_cache_used_bytes.bytes, 3);
	assert_int_equal(s.gauges.code_cache_used_bytes.state, QTY_DERIVED);
}

static void other_agents(void **state)
{
	(void)state;
	/* Micrometer: a series a pool. */
	struct engine_state s =
		read_text("jvm_memory_used_bytes{area=\"heap\",id=\"G1 Eden Space\",} 1.0E6\n"
			  "jvm_memory_used_bytes{area=\"heap\",id=\"G1 Old Gen\",} 2.0E6\n"
			  "jvm_memory_max_bytes{area=\"heap\",id=\"G1 Old Gen\",} 9\n"
			  "jvm_memory_used_bytes{area=\"nonheap\",id=\"Metaspace\",} 77\n"
			  "jvm_memory_used_bytes{area=\"nonheap\",id=\"CodeHeap 'non-nmethods'\",} 5\n"
			  "jvm_buffer_memory_used_bytes{id=\"direct\",} 4\njvm_threads_live_threads 12\n",
			  &streams);
	assert_int_equal(s.gauges.heap_used_bytes.bytes, 3000000);
	assert_false(qty_known(s.gauges.heap_max_bytes));
	assert_int_equal(s.gauges.metaspace_used_bytes.bytes, 77);
	assert_int_equal(s.gauges.code_cache_used_bytes.bytes, 5);
	assert_int_equal(s.gauges.direct_used_bytes.bytes, 4);
	assert_int_equal(s.gauges.threads.n, 12);
	/* simpleclient's names, and jmx_exporter with lowercaseOutputName. */
	s = read_text("jvm_memory_bytes_used{area=\"heap\",} 6\njvm_memory_pool_bytes_used{pool=\"Metaspace\",} 7\n"
		      "java_nio_bufferpool_memoryused{name=\"direct\",} 8\njava_lang_threading_threadcount 9\n",
		      &streams);
	assert_int_equal(s.gauges.heap_used_bytes.bytes, 6);
	assert_int_equal(s.gauges.metaspace_used_bytes.bytes, 7);
	assert_int_equal(s.gauges.direct_used_bytes.bytes, 8);
	assert_int_equal(s.gauges.threads.n, 9);
}

static void no_number_is_unread(void **state)
{
	(void)state;
	static const char *const values[] = { "NaN", "+Inf", "-1", "-1.0", "0.5", "1e30", "-9.223372036854775808E18" };
	for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
		char page[400];
		(void)snprintf(page, sizeof page,
			       "flink_taskmanager_Status_JVM_Memory_Heap_Max{tm_id=\"a\",} %s\n" RDB
			       "s_rocksdb_size_all_mem_tables{subtask_index=\"0\"} %s\n" RDB
			       "t_rocksdb_size_all_mem_tables{subtask_index=\"0\"} 5\n",
			       values[i], values[i]);
		struct engine_state s = read_text(page, &taskmanager);
		assert_false(qty_known(s.gauges.heap_max_bytes));
		assert_false(qty_known(s.rocksdb.memtables_bytes));
		assert_int_equal(s.rocksdb.n_stores.n, 2);
	}
}

static void duplicates(void **state)
{
	(void)state;
	struct engine_state s = read_text("jvm_threads_current 5\njvm_threads_current 5\n", &streams);
	assert_int_equal(s.gauges.threads.n, 5);
	s = read_text("jvm_threads_current 5\njvm_threads_current 6\n", &streams);
	assert_false(s.gauges.threads.known);
	assert_true(noted("more than once"));
	/* Two TaskManagers on one page: neither's. */
	s = read_text(
		"flink_taskmanager_Status_JVM_Threads_Count{tm_id=\"a\"} 5\nflink_taskmanager_Status_JVM_Threads_Count{tm_id=\"b\"} 6\n",
		&taskmanager);
	assert_false(s.gauges.threads.known);
	/* The same store twice, the labels that told them apart being gone. */
	s = read_text(RDB "s_rocksdb_size_all_mem_tables 5\n" RDB "s_rocksdb_size_all_mem_tables 6\n", &taskmanager);
	assert_true(s.rocksdb.ambiguous);
	assert_false(qty_known(s.rocksdb.memtables_bytes));
	assert_true(noted("no sums"));
}

/* n vertices x m subtasks in so many slots. */
static void slots_and_caches(void **state)
{
	(void)state;
	static const struct {
		const char *page;
		uint64_t slots, caches, usage, low;
		bool certain;
	} cases[] = {
		/* One vertex, two subtasks: two caches, each state of a slot reporting the whole. */
		{ RDB "a_rocksdb_block_cache_usage{task_id=\"v\",subtask_index=\"0\"} 100\n" RDB
		      "b_rocksdb_block_cache_usage{task_id=\"v\",subtask_index=\"0\"} 101\n" RDB
		      "a_rocksdb_block_cache_usage{task_id=\"v\",subtask_index=\"1\"} 200\n",
		  4, 2, 301, 301, true },
		/* Two vertices, the same index, one slot. */
		{ RDB "a_rocksdb_block_cache_usage{task_id=\"v\",subtask_index=\"3\"} 100\n" RDB
		      "a_rocksdb_block_cache_usage{task_id=\"w\",subtask_index=\"3\"} 99\n",
		  1, 1, 100, 100, true },
		/* Two vertices, different indices, two slots: perhaps one cache, perhaps two. */
		{ RDB "a_rocksdb_block_cache_usage{task_id=\"v\",subtask_index=\"0\"} 100\n" RDB
		      "a_rocksdb_block_cache_usage{task_id=\"w\",subtask_index=\"1\"} 90\n",
		  2, 2, 190, 100, false },
		/* Two vertices, the same index, two slots: one by default. */
		{ RDB "a_rocksdb_block_cache_usage{task_id=\"v\",subtask_index=\"0\"} 100\n" RDB
		      "a_rocksdb_block_cache_usage{task_id=\"w\",subtask_index=\"0\"} 90\n",
		  2, 1, 100, 100, false },
		/* No label at all. */
		{ RDB "a_rocksdb_block_cache_usage 100\n" RDB "b_rocksdb_block_cache_usage 100\n", 4, 1, 100, 100,
		  false },
		/* A restart: the attempt differs, the slot's cache does not count twice. */
		{ RDB "a_rocksdb_block_cache_usage{task_id=\"v\",subtask_index=\"0\",task_attempt_num=\"0\"} 100\n" RDB
		      "a_rocksdb_block_cache_usage{task_id=\"v\",subtask_index=\"0\",task_attempt_num=\"1\"} 50\n",
		  1, 1, 100, 100, true },
		/* column-family-as-variable. */
		{ RDB "column_family_rocksdb_block_cache_usage{column_family=\"x\",subtask_index=\"0\"} 7\n" RDB
		      "column_family_rocksdb_block_cache_usage{column_family=\"y\",subtask_index=\"0\"} 8\n",
		  1, 1, 8, 8, true },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct engine_state known = taskmanager;
		known.flink.n_slots = count_of(cases[i].slots);
		struct engine_state s = read_text(cases[i].page, &known);
		const struct rocksdb_claim *c = &s.rocksdb;
		if (c->n_caches.n != cases[i].caches || c->cache_usage_bytes.bytes != cases[i].usage ||
		    c->cache_usage_low_bytes.bytes != cases[i].low || c->n_caches_certain != cases[i].certain)
			fail_msg("case %zu: %" PRIu64 " caches, usage %" PRIu64 ", low %" PRIu64 ", certain %d", i,
				 c->n_caches.n, c->cache_usage_bytes.bytes, c->cache_usage_low_bytes.bytes,
				 c->n_caches_certain);
		assert_false(c->ambiguous);
	}
}

static void settings_decide(void **state)
{
	(void)state;
	static const char page[] = RDB "a_rocksdb_block_cache_usage{subtask_index=\"0\"} 100\n" RDB
				       "b_rocksdb_block_cache_usage{subtask_index=\"1\"} 100\n" RDB
				       "a_rocksdb_block_cache_capacity{subtask_index=\"0\"} 9000000\n" RDB
				       "b_rocksdb_block_cache_capacity{subtask_index=\"1\"} 9000000\n";
	struct engine_state known = taskmanager;
	known.flink.n_slots = count_of(2);
	known.rocksdb_managed = TRISTATE_FALSE;
	struct engine_state s = read_text(page, &known);
	assert_int_equal(s.rocksdb.sharing, ROCKSDB_PER_STORE);
	assert_int_equal(s.rocksdb.cache_usage_bytes.bytes, 200);
	assert_false(s.rocksdb.memtables_in_cache);
	known.rocksdb_fixed_per_tm_bytes = qty_measured(1 << 30);
	s = read_text(page, &known);
	assert_int_equal(s.rocksdb.sharing, ROCKSDB_PER_PROCESS);
	assert_int_equal(s.rocksdb.cache_usage_bytes.bytes, 100);
	assert_int_equal(s.rocksdb.cache_capacity_bytes.bytes, 9000000);
	known.rocksdb_fixed_per_slot_bytes = qty_measured(1 << 30);
	s = read_text(page, &known);
	assert_int_equal(s.rocksdb.sharing, ROCKSDB_PER_SLOT);
	/* A job that switched managed memory off shows by the default cache of 8 MiB a state. */
	s = read_text(RDB "a_rocksdb_block_cache_usage{subtask_index=\"0\"} 100\n" RDB
			  "b_rocksdb_block_cache_usage{subtask_index=\"0\"} 50\n" RDB
			  "a_rocksdb_block_cache_capacity{subtask_index=\"0\"} 8388608\n" RDB
			  "b_rocksdb_block_cache_capacity{subtask_index=\"0\"} 8388608\n",
		      &taskmanager);
	assert_int_equal(s.rocksdb.sharing, ROCKSDB_PER_STORE);
	assert_int_equal(s.rocksdb.cache_usage_bytes.bytes, 150);
	assert_true(noted("8 MiB"));
	/* Capacities that differ: an estimate, and said so. */
	s = read_text(RDB "a_rocksdb_block_cache_usage{subtask_index=\"0\"} 100\n" RDB
			  "b_rocksdb_block_cache_usage{subtask_index=\"1\"} 50\n" RDB
			  "a_rocksdb_block_cache_capacity{subtask_index=\"0\"} 1000\n" RDB
			  "b_rocksdb_block_cache_capacity{subtask_index=\"1\"} 2000\n",
		      &taskmanager);
	assert_int_equal(s.rocksdb.sharing, ROCKSDB_SHARING_UNKNOWN);
	assert_false(s.rocksdb.n_caches_certain);
}

#define KS "kafka_streams_stream_state_metrics_"

static void streams_rules(void **state)
{
	(void)state;
	/* A setter that gives each store a cache of 1 GiB: usages far apart. */
	struct engine_state s =
		read_text(KS "block_cache_capacity{task_id=\"0_0\",rocksdb_state_id=\"a\"} 1073741824\n" KS
			     "block_cache_capacity{task_id=\"0_0\",rocksdb_state_id=\"b\"} 1073741824\n" KS
			     "block_cache_usage{task_id=\"0_0\",rocksdb_state_id=\"a\"} 500000000\n" KS
			     "block_cache_usage{task_id=\"0_0\",rocksdb_state_id=\"b\"} 20000000\n",
			  &streams);
	assert_int_equal(s.rocksdb.sharing, ROCKSDB_PER_STORE);
	assert_int_equal(s.rocksdb.cache_usage_bytes.bytes, 520000000);
	assert_int_equal(s.rocksdb.cache_usage_low_bytes.bytes, 500000000);
	assert_false(s.rocksdb.n_caches_certain);
	/* A shared cache of 50 MiB: only its equal usage tells. */
	s = read_text(KS "block_cache_capacity{task_id=\"0_0\",rocksdb_state_id=\"a\"} 52428800\n" KS
			 "block_cache_capacity{task_id=\"0_1\",rocksdb_state_id=\"a\"} 52428800\n" KS
			 "block_cache_usage{task_id=\"0_0\",rocksdb_state_id=\"a\"} 50000000\n" KS
			 "block_cache_usage{task_id=\"0_1\",rocksdb_state_id=\"a\"} 50000000\n" KS
			 "size_all_mem_tables{task_id=\"0_0\",rocksdb_state_id=\"a\"} 40000000\n" KS
			 "size_all_mem_tables{task_id=\"0_1\",rocksdb_state_id=\"a\"} 40000000\n",
		      &streams);
	assert_int_equal(s.rocksdb.sharing, ROCKSDB_PER_PROCESS);
	/* It holds less than the memtables: they cannot be charged to it. */
	assert_false(s.rocksdb.memtables_in_cache);
	/* It holds more, but pins next to nothing: without a write buffer manager. */
#define SHARED(pinned)                                                                        \
	KS "block_cache_capacity{task_id=\"0_0\",rocksdb_state_id=\"a\"} 524288000\n" KS      \
	   "block_cache_capacity{task_id=\"0_1\",rocksdb_state_id=\"a\"} 524288000\n" KS      \
	   "block_cache_usage{task_id=\"0_0\",rocksdb_state_id=\"a\"} 200000000\n" KS         \
	   "block_cache_usage{task_id=\"0_1\",rocksdb_state_id=\"a\"} 200000000\n" KS         \
	   "block_cache_pinned_usage{task_id=\"0_0\",rocksdb_state_id=\"a\"} " pinned "\n" KS \
	   "size_all_mem_tables{task_id=\"0_0\",rocksdb_state_id=\"a\"} 40000000\n" KS        \
	   "size_all_mem_tables{task_id=\"0_1\",rocksdb_state_id=\"a\"} 40000000\n"
	s = read_text(SHARED("22408"), &streams);
	assert_int_equal(s.rocksdb.sharing, ROCKSDB_PER_PROCESS);
	assert_false(s.rocksdb.memtables_in_cache);
	s = read_text(SHARED("85000000"), &streams);
	assert_true(s.rocksdb.memtables_in_cache);
#undef SHARED
	/* jmx_exporter's example has no labels. */
	s = read_text("kafka_streams_state_block_cache_usage 5\n", &streams);
	assert_true(s.rocksdb.ambiguous);
	assert_true(noted("without a store label"));
	struct engine_state one = streams;
	one.streams = (struct streams_bound){ .n_instances = count_of(1), .from_directories = true };
	s = read_text("kafka_streams_state_block_cache_usage 5\n", &one);
	assert_false(s.rocksdb.ambiguous);
	assert_int_equal(s.rocksdb.cache_usage_bytes.bytes, 5);
	/* Two naming schemes of the same stores on one page are not added. */
	s = read_text(KS "block_cache_usage{task_id=\"0_0\",rocksdb_state_id=\"a\"} 5\n"
			 "kafka_stream_state_block_cache_usage{task_id=\"0_0\",rocksdb_state_id=\"a\"} 6\n",
		      &streams);
	assert_int_equal(s.rocksdb.cache_usage_bytes.bytes, 5);
	/* Flink's names in a Streams process are not its own. */
	s = read_text(RDB "a_rocksdb_block_cache_usage 5\n", &streams);
	assert_false(s.rocksdb.n_stores.known);
}

static void waiting_stores(void **state)
{
	(void)state;
	struct engine_state s = read_text(
		RDB
		"a_rocksdb_mem_table_flush_pending{subtask_index=\"0\",operator_id=\"x\",} 1.0\n" RDB
		"b_rocksdb_mem_table_flush_pending{subtask_index=\"0\",operator_id=\"x\",} 0.0\n" RDB
		"column_family_rocksdb_mem_table_flush_pending{subtask_index=\"1\",operator_id=\"x\",column_family=\"a\"} 1\n" RDB
		"a_rocksdb_is_write_stopped{subtask_index=\"0\",operator_id=\"x\"} 0\n" RDB
		"a_rocksdb_actual_delayed_write_rate{subtask_index=\"0\",operator_id=\"x\"} 16777216\n" RDB
		"a_rocksdb_num_immutable_mem_table{subtask_index=\"0\",operator_id=\"x\"} 2\n" RDB
		"b_rocksdb_num_immutable_mem_table{subtask_index=\"0\",operator_id=\"x\"} 3\n" RDB
		"num_open_iterators{subtask_index=\"0\",operator_id=\"x\"} 3\n",
		&taskmanager);
	assert_true(s.rocksdb.n_flush_pending.known && s.rocksdb.n_flush_pending.n == 2);
	assert_true(s.rocksdb.n_write_stopped.known && s.rocksdb.n_write_stopped.n == 0);
	assert_true(s.rocksdb.n_write_delayed.known && s.rocksdb.n_write_delayed.n == 1);
	assert_true(s.rocksdb.n_immutable.known && s.rocksdb.n_immutable.n == 5);
	assert_false(s.rocksdb.n_open_iterators.known);
	assert_false(s.rocksdb.n_ticker_series.known);
	assert_false(s.streams.n_kv.known);
	/* One that gives no number makes the count unread, and so does a sum past u64. */
	s = read_text(RDB "a_rocksdb_is_write_stopped{subtask_index=\"0\"} NaN\n" RDB
			  "b_rocksdb_is_write_stopped{subtask_index=\"0\"} 1\n" RDB
			  "a_rocksdb_num_immutable_mem_table{subtask_index=\"0\"} 18446744073709551615\n" RDB
			  "b_rocksdb_num_immutable_mem_table{subtask_index=\"0\"} 1\n",
		      &taskmanager);
	assert_false(s.rocksdb.n_write_stopped.known);
	assert_false(s.rocksdb.n_immutable.known);
	assert_false(s.rocksdb.n_flush_pending.known);
}

static void ticker_series(void **state)
{
	(void)state;
	struct engine_state s =
		read_text(RDB "rocksdb_block_cache_hit{operator_id=\"x\",subtask_index=\"0\",} 5.0\n" RDB
			      "rocksdb_block_cache_hit{operator_id=\"x\",subtask_index=\"1\",} 5.0\n" RDB
			      "rocksdb_compact_read_bytes{operator_id=\"x\"} NaN\n" RDB "xrocksdb_bytes_read 1\n" RDB
			      "rocksdb_bytes_readx 1\n" RDB "s_rocksdb_block_cache_usage{operator_id=\"x\"} 7\n",
			  &taskmanager);
	assert_true(s.rocksdb.n_ticker_series.known);
	assert_int_equal(s.rocksdb.n_ticker_series.n, 3);
	assert_int_equal(s.rocksdb.n_stores.n, 1);
	s = read_text(RDB "rocksdb_stall_micros{operator_id=\"x\"} 0\n", &taskmanager);
	assert_int_equal(s.rocksdb.n_ticker_series.n, 1);
	assert_false(s.rocksdb.n_stores.known);
	/* A page of the JVM's own agent tells nothing of it, nor do Streams. */
	s = read_text("jvm_threads_current 5\n", &taskmanager);
	assert_false(s.rocksdb.n_ticker_series.known);
	s = read_text(RDB "rocksdb_stall_micros{operator_id=\"x\"} 0\n", &streams);
	assert_false(s.rocksdb.n_ticker_series.known);
}

#define STATE "kafka_streams_stream_state_metrics_"

static void kinds_of_stores(void **state)
{
	(void)state;
	struct engine_state s =
		read_text(STATE "size_all_mem_tables{task_id=\"0_0\",rocksdb_state_id=\"a\"} 1\n" STATE
				"num_open_iterators{task_id=\"0_0\",rocksdb_state_id=\"a\"} 2\n" STATE
				"size_all_mem_tables{task_id=\"0_1\",rocksdb_state_id=\"a\"} 1\n" STATE
				"size_all_mem_tables{task_id=\"0_0\",rocksdb_window_state_id=\"w\"} 1\n" STATE
				"num_open_iterators{task_id=\"0_0\",rocksdb_window_state_id=\"w\"} 5\n" STATE
				"size_all_mem_tables{task_id=\"0_0\",rocksdb_session_state_id=\"s\"} 1\n" STATE
				"num_open_iterators{task_id=\"0_0\",in_memory_state_id=\"m\"} 1000\n" STATE
				"num_open_iterators{task_id=\"0_1\"} 1000\n",
			  &streams);
	assert_true(s.streams.n_kv.known && s.streams.n_window.known && s.streams.n_session.known);
	assert_int_equal(s.streams.n_kv.n, 2);
	assert_int_equal(s.streams.n_window.n, 1);
	assert_int_equal(s.streams.n_session.n, 1);
	assert_int_equal(s.rocksdb.n_stores.n, 4);
	assert_true(s.rocksdb.n_open_iterators.known);
	assert_int_equal(s.rocksdb.n_open_iterators.n, 7);
	assert_false(s.rocksdb.ambiguous);
	/* In memory alone: no RocksDB. */
	s = read_text(STATE "num_open_iterators{task_id=\"0_0\",in_memory_state_id=\"m\"} 1\n", &streams);
	assert_false(s.rocksdb.n_stores.known || s.streams.n_kv.known);
}

static void bad_lines_and_pages(void **state)
{
	(void)state;
	struct engine_state s = read_text("jvm_threads_current 5\nrubbish\njvm_classes_loaded_classes 1", &streams);
	assert_int_equal(s.gauges.threads.n, 5);
	assert_false(s.gauges.classes_loaded.known);
	assert_true(noted("1 lines are no metrics"));
	assert_true(noted("ends inside line 3"));
	struct str html = STR("<html>\n<body>\n");
	const char *what = "http/metrics.0";
	struct err err = { 0 };
	assert_true(metricmap_read(&html, &what, 1, &s, NULL, &err) < 0);
	assert_int_equal(err.kind, ERR_MALFORMED);
}

static void ids(void **state)
{
	(void)state;
	char id[128];
	struct str page = tight_read("tests/fixtures/engine/flink2.prom");
	metricmap_tm_id(page, id);
	assert_string_equal(id, "127_0_0_1:42547_a62462");
	tight_free(page);
	metricmap_tm_id(STR("flink_taskmanager_Status_x{tm_id=\"a\"} 1\nflink_taskmanager_Status_x{tm_id=\"b\"} 1\n"),
			id);
	assert_string_equal(id, "");
	metricmap_tm_id(STR(""), id);
	assert_string_equal(id, "");
}

static void many_stores(void **state)
{
	(void)state;
	auto_buf struct buf page = { .cap = 16 << 20 };
	for (int i = 0; i < 5000; i++)
		(void)buf_printf(&page,
				 KS
				 "size_all_mem_tables{task_id=\"0_%d\",rocksdb_state_id=\"s\",thread_id=\"t%d\"} 3\n",
				 i, i % 7);
	struct engine_state s = read_page(buf_str(&page), &streams);
	assert_int_equal(s.rocksdb.memtables_bytes.bytes, 15000);
	assert_int_equal(s.streams.n_threads.n, 7);
	for (int i = 0; i < 33000; i++)
		(void)buf_printf(&page, KS "size_all_mem_tables{task_id=\"1_%d\",rocksdb_state_id=\"s\"} 3\n", i);
	s = read_page(buf_str(&page), &streams);
	assert_true(s.rocksdb.ambiguous);
	assert_true(noted("more than 32768 stores"));
}

static void prefix(struct str text)
{
	struct engine_state s = taskmanager;
	const char *what = "http/metrics.0";
	struct engine_notes *none = NULL;
	assert_true(metricmap_read(&text, &what, 1, &s, none, NULL) <= 0);
}

static void every_prefix(void **state)
{
	(void)state;
	struct str page = tight_read("tests/fixtures/engine/flink2.prom");
	tight_prefixes(page, 300, prefix);
	tight_free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_flink),
		cmocka_unit_test(real_streams),
		cmocka_unit_test(families_are_kept_apart),
		cmocka_unit_test(other_agents),
		cmocka_unit_test(no_number_is_unread),
		cmocka_unit_test(duplicates),
		cmocka_unit_test(slots_and_caches),
		cmocka_unit_test(settings_decide),
		cmocka_unit_test(streams_rules),
		cmocka_unit_test(waiting_stores),
		cmocka_unit_test(ticker_series),
		cmocka_unit_test(kinds_of_stores),
		cmocka_unit_test(bad_lines_and_pages),
		cmocka_unit_test(ids),
		cmocka_unit_test(many_stores),
		cmocka_unit_test(every_prefix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
