/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine was doing, from pages as Flink's reporter, jmx_exporter and Micrometer write them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "engine/metricmap.h"
#include "support/tight.h"

#define TASK "flink_taskmanager_job_task_"

static struct engine_state read_text(enum engine kind, const char *text)
{
	struct engine_state state = { .kind = kind };
	struct engine_notes notes = { 0 };
	auto_buf struct buf reduced = { .cap = 65536 };
	struct err err = { 0 };
	const char *what = "http/metrics.0";
	/* Through the reduction, as an agent reads it: what it drops is not read. */
	assert_int_equal(metrics_reduce(str_of(text), &reduced, &err), 0);
	struct str page = tight_of(buf_str(&reduced));
	assert_int_equal(metricmap_read(&page, &what, 1, &state, &notes, &err), 0);
	tight_free(page);
	return state;
}

static void is(const struct count *count, uint64_t n)
{
	assert_true(count->known);
	assert_int_equal(count->n, n);
}

static void flink_taskmanager(void **state)
{
	(void)state;
	struct engine_state s =
		read_text(ENGINE_FLINK_TASKMANAGER, TASK
			  "backPressuredTimeMsPerSecond{task_attempt_num=\"2\",subtask_index=\"0\"} 10.0\n" TASK
			  "backPressuredTimeMsPerSecond{task_attempt_num=\"3\",subtask_index=\"1\"} 712.0\n" TASK
			  "busyTimeMsPerSecond{task_attempt_num=\"3\",subtask_index=\"1\"} 288.0\n" TASK
			  "busyTimeMsPerSecond{task_attempt_num=\"0\",subtask_index=\"2\"} NaN\n" TASK
			  "operator_KafkaSourceReader_KafkaConsumer_records_lag_max{subtask_index=\"0\"} 1234.0\n" TASK
			  "operator_rocksdb_block_cache_hit{operator_id=\"o\",subtask_index=\"0\"} 70\n" TASK
			  "operator_rocksdb_block_cache_hit{operator_id=\"o\",subtask_index=\"1\"} 30\n" TASK
			  "operator_rocksdb_block_cache_miss{operator_id=\"o\",subtask_index=\"0\"} 5\n");
	is(&s.context.backpressured_bp, 7120);
	is(&s.context.busy_bp, 2880);
	is(&s.context.restarts, 3);
	is(&s.context.records_lag_max, 1234);
	is(&s.rocksdb.cache_hits, 100);
	is(&s.rocksdb.cache_misses, 5);
	assert_string_equal(s.context.job_state, "running");
	assert_int_equal(s.context.checkpointing, TRISTATE_UNREAD); /* the JobManager's */
	assert_int_equal(s.context.rebalancing, TRISTATE_UNREAD);
}

static void jobs_are_named(void **state)
{
	(void)state;
	static const struct {
		enum engine kind;
		const char *page, *want[WIRE_JOBS_MAX];
	} table[] = {
		{ ENGINE_FLINK_TASKMANAGER,
		  TASK "busyTimeMsPerSecond{job_id=\"1\",job_name=\"orders\",subtask_index=\"0\"} 1\n" TASK
		       "busyTimeMsPerSecond{job_id=\"1\",job_name=\"orders\",subtask_index=\"1\"} 1\n" TASK
		       "busyTimeMsPerSecond{job_id=\"2\",job_name=\"back\\\\\\nfill\",subtask_index=\"0\"} 1\n",
		  { "back\\\\x0afill", "orders" } },
		{ ENGINE_FLINK_JOBMANAGER,
		  "flink_jobmanager_job_numRestarts{job_name=\"e\"} 7\n"
		  "flink_jobmanager_job_numRestarts{job_name=\"d\"} 7\nflink_jobmanager_job_numRestarts{job_name=\"c\"} 7\n"
		  "flink_jobmanager_job_numRestarts{job_name=\"b\"} 7\nflink_jobmanager_job_numRestarts{job_name=\"a\"} 7\n",
		  { "b", "c", "d", "e" } },
		{ ENGINE_KAFKA_STREAMS,
		  "kafka_streams_stream_state_metrics_size_all_mem_tables{"
		  "thread_id=\"my-app-6367d77e-ceec-4758-bef6-7bafb2169da3-StreamThread-1\",task_id=\"0_0\",rocksdb_state_id=\"s\"} 1\n"
		  "kafka_stream_client_state{client_id=\"my-app-6367d77e-ceec-4758-bef6-7bafb2169da3\"} 2\n"
		  "kafka_stream_client_state{client_id=\"named-by-hand\"} 2\n",
		  { "my-app" } },
		{ ENGINE_JVM, "flink_jobmanager_job_numRestarts{job_id=\"a\"} 7\n", { NULL } },
	};
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct engine_state s = read_text(table[i].kind, table[i].page);
		size_t n = 0;
		for (; n < WIRE_JOBS_MAX && table[i].want[n]; n++)
			assert_string_equal(s.jobs[n], table[i].want[n]);
		assert_int_equal(s.n_jobs, n);
	}
}

static void flink_without_tasks(void **state)
{
	(void)state;
	struct engine_state s =
		read_text(ENGINE_FLINK_TASKMANAGER, "flink_taskmanager_Status_JVM_Threads_Count{tm_id=\"t\"} 60\n");
	assert_string_equal(s.context.job_state, "");
	assert_false(s.context.restarts.known);
	assert_false(s.context.busy_bp.known);
	assert_false(s.rocksdb.cache_hits.known);
}

static void flink_jobmanager(void **state)
{
	(void)state;
	struct engine_state s = read_text(ENGINE_FLINK_JOBMANAGER,
					  "flink_jobmanager_job_numRestarts{job_id=\"a\"} 7\n"
					  "flink_jobmanager_job_numberOfInProgressCheckpoints{job_id=\"a\"} 1\n"
					  "flink_jobmanager_job_runningState{job_id=\"a\"} 0\n"
					  "flink_jobmanager_job_restartingState{job_id=\"a\"} 1\n"
					  "flink_jobmanager_job_restartingTime{job_id=\"a\"} 500\n");
	is(&s.context.restarts, 7);
	assert_int_equal(s.context.checkpointing, TRISTATE_TRUE);
	assert_string_equal(s.context.job_state, "restarting");
	s = read_text(ENGINE_FLINK_JOBMANAGER, "flink_jobmanager_job_numberOfInProgressCheckpoints 0\n");
	assert_int_equal(s.context.checkpointing, TRISTATE_FALSE);
}

static void kafka_streams(void **state)
{
	(void)state;
	static const struct {
		const char *page, *job_state;
		enum tristate rebalancing, restoring;
		int64_t lag, metadata; /* -1: unread */
	} cases[] = {
		{ "kafka_streams_stream_metrics_client_state{client_id=\"c\"} 1.0\n"
		  "kafka_streams_stream_task_metrics_restore_remaining_records_total{thread_id=\"t\",task_id=\"0_0\"} 0.0\n"
		  "kafka_streams_stream_task_metrics_restore_remaining_records_total{thread_id=\"t\",task_id=\"0_1\"} 12.0\n",
		  "rebalancing", TRISTATE_TRUE, TRISTATE_TRUE, -1, -1 },
		{ "kafka_streams_stream_metrics_client_state{client_id=\"c\"} 2.0\n"
		  "kafka_streams_stream_state_updater_metrics_active_restoring_tasks{thread_id=\"t\"} 0.0\n"
		  "kafka_consumer_consumer_fetch_manager_metrics_records_lag_max{client_id=\"c\"} 17.0\n"
		  "kafka_consumer_consumer_fetch_manager_metrics_records_lag_max{client_id=\"c\",topic=\"x\",partition=\"3\"} 99.0\n",
		  "running", TRISTATE_FALSE, TRISTATE_FALSE, 17, -1 },
		/* Where no client state is exported, the consumer's last rebalance tells. */
		{ "kafka_consumer_consumer_coordinator_metrics_last_rebalance_seconds_ago{client_id=\"c\"} 59.0\n"
		  "kafka_consumer_consumer_fetch_manager_metrics_records_lag_max{client_id=\"c\"} NaN\n",
		  "", TRISTATE_TRUE, TRISTATE_UNREAD, -1, -1 },
		{ "kafka_consumer_coordinator_last_rebalance_seconds_ago{client_id=\"c\"} 60.0\n", "", TRISTATE_FALSE,
		  TRISTATE_UNREAD, -1, -1 },
		{ "kafka_consumer_coordinator_last_rebalance_seconds_ago{client_id=\"c\"} -1.0\n", "", TRISTATE_FALSE,
		  TRISTATE_UNREAD, -1, -1 },
		{ "kafka_stream_client_state 6.0\n"
		  "kafka_stream_state_block_cache_index_hit_ratio{rocksdb_state_id=\"a\"} 0.93\n"
		  "kafka_stream_state_block_cache_filter_hit_ratio{rocksdb_state_id=\"a\"} 0.61\n"
		  "kafka_stream_state_block_cache_filter_hit_ratio{rocksdb_state_id=\"b\"} NaN\n",
		  "error", TRISTATE_FALSE, TRISTATE_UNREAD, -1, 6100 },
		{ "kafka_stream_client_state 7.0\n", "", TRISTATE_FALSE, TRISTATE_UNREAD, -1, -1 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct engine_state s = read_text(ENGINE_KAFKA_STREAMS, cases[i].page);
		print_message("case %zu\n", i);
		assert_string_equal(s.context.job_state, cases[i].job_state);
		assert_int_equal(s.context.rebalancing, cases[i].rebalancing);
		assert_int_equal(s.context.restoring, cases[i].restoring);
		assert_int_equal(s.context.records_lag_max.known, cases[i].lag >= 0);
		assert_int_equal(s.context.records_lag_max.n, cases[i].lag >= 0 ? cases[i].lag : 0);
		assert_int_equal(s.rocksdb.metadata_hit_bp.known, cases[i].metadata >= 0);
		assert_int_equal(s.rocksdb.metadata_hit_bp.n, cases[i].metadata >= 0 ? cases[i].metadata : 0);
	}
}

static void odd_values(void **state)
{
	(void)state;
	struct engine_state s = read_text(ENGINE_FLINK_TASKMANAGER,
					  TASK "busyTimeMsPerSecond{task_attempt_num=\"x\"} 1e300\n" TASK
					       "backPressuredTimeMsPerSecond -5\n" TASK
					       "operator_KafkaSourceReader_KafkaConsumer_records_lag_max +Inf\n");
	is(&s.context.busy_bp, 10000);
	assert_false(s.context.backpressured_bp.known);
	assert_false(s.context.records_lag_max.known);
	assert_false(s.context.restarts.known);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flink_taskmanager), cmocka_unit_test(flink_without_tasks),
		cmocka_unit_test(jobs_are_named),    cmocka_unit_test(flink_jobmanager),
		cmocka_unit_test(kafka_streams),     cmocka_unit_test(odd_values),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
