/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/context.h"

#include <math.h>

/* Just after a rebalance tasks are still moved and stores opened; a page is read every 15 s by default. */
enum { REBALANCE_RECENT_S = 60 };

#define N(literal)                             \
	{                                      \
		(literal), sizeof(literal) - 1 \
	}

static const struct {
	struct str name;
	enum context_field field;
} names[] = {
	{ N("flink_taskmanager_job_task_backPressuredTimeMsPerSecond"), CONTEXT_BACKPRESSURED },
	{ N("flink_taskmanager_job_task_busyTimeMsPerSecond"), CONTEXT_BUSY },
	{ N("flink_taskmanager_job_task_operator_KafkaSourceReader_KafkaConsumer_records_lag_max"), CONTEXT_LAG_MAX },
	{ N("flink_jobmanager_job_numRestarts"), CONTEXT_RESTARTS },
	{ N("flink_jobmanager_job_fullRestarts"), CONTEXT_RESTARTS },
	{ N("flink_jobmanager_job_numberOfInProgressCheckpoints"), CONTEXT_CHECKPOINTS },
	{ N("kafka_streams_stream_metrics_client_state"), CONTEXT_CLIENT_STATE },
	{ N("kafka_stream_client_state"), CONTEXT_CLIENT_STATE },
	{ N("kafka_streams_stream_task_metrics_restore_remaining_records_total"), CONTEXT_RESTORING },
	{ N("kafka_stream_task_restore_remaining_records_total"), CONTEXT_RESTORING },
	{ N("kafka_streams_stream_state_updater_metrics_active_restoring_tasks"), CONTEXT_RESTORING },
	{ N("kafka_stream_state_updater_active_restoring_tasks"), CONTEXT_RESTORING },
	{ N("kafka_consumer_consumer_coordinator_metrics_last_rebalance_seconds_ago"), CONTEXT_LAST_REBALANCE },
	{ N("kafka_consumer_coordinator_last_rebalance_seconds_ago"), CONTEXT_LAST_REBALANCE },
	{ N("kafka_consumer_consumer_fetch_manager_metrics_records_lag_max"), CONTEXT_LAG_MAX },
	{ N("kafka_consumer_fetch_manager_records_lag_max"), CONTEXT_LAG_MAX },
	{ N("kafka_streams_stream_state_metrics_block_cache_index_hit_ratio"), CONTEXT_METADATA_HITS },
	{ N("kafka_streams_stream_state_metrics_block_cache_filter_hit_ratio"), CONTEXT_METADATA_HITS },
	{ N("kafka_stream_state_block_cache_index_hit_ratio"), CONTEXT_METADATA_HITS },
	{ N("kafka_stream_state_block_cache_filter_hit_ratio"), CONTEXT_METADATA_HITS },
};

/* JobStatusMetrics: one gauge a state, by the state's name, 1 for the one the job is in. */
static const struct str job_state_mark = N("flink_jobmanager_job_");
static const struct str job_states[] = { N("initializing"), N("created"),    N("running"),     N("failing"),
					 N("failed"),       N("cancelling"), N("canceled"),    N("finished"),
					 N("restarting"),   N("suspended"),  N("reconciling"), N("deploying") };

/* KafkaStreams.State, by ordinal. */
static const char *const client_states[] = { "created",     "rebalancing",   "running", "pending-shutdown",
					     "not-running", "pending-error", "error" };

static struct str job_state_of(struct str name)
{
	struct str none = { "", 0 };
	if (!str_take(&name, job_state_mark) || !str_ends(name, STR("State")))
		return none;
	name.len -= STR("State").len;
	for (size_t i = 0; i < sizeof job_states / sizeof *job_states; i++)
		if (str_eq(name, job_states[i]))
			return job_states[i];
	return none;
}

enum context_field context_find(struct str name)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_eq(names[i].name, name))
			return names[i].field;
	return job_state_of(name).len ? CONTEXT_JOB_STATE : CONTEXT_NONE;
}

bool context_is_part(const struct prom_sample *sample)
{
	struct str value;
	return prom_label(sample, STR("partition"), &value) || prom_label(sample, STR("topic"), &value);
}

static void add_attempt(struct context_page *page, const struct prom_sample *sample)
{
	struct str value;
	double attempt;
	bool is_u64;
	uint64_t u64;
	page->has_tasks = true;
	if (!prom_label(sample, STR("task_attempt_num"), &value) || !prom_number(value, &attempt, &is_u64, &u64) ||
	    !is_u64)
		return;
	page->attempt = !page->has_attempt || attempt > page->attempt ? attempt : page->attempt;
	page->has_attempt = true;
}

void context_note(struct context_page *page, enum context_field field, double value)
{
	if (!page->seen[field] || value > page->most[field])
		page->most[field] = value;
	if (!page->seen[field] || value < page->least[field])
		page->least[field] = value;
	page->seen[field] = true;
}

enum context_field context_of_mbean(struct str domain, struct str type, struct str attribute)
{
	static const struct {
		const char *domain, *type, *attribute;
		enum context_field field;
	} rows[] = {
		{ "kafka.streams", "stream-metrics", "client-state", CONTEXT_CLIENT_STATE }, /* a number: KIP-1091 */
		{ "kafka.streams", "stream-metrics", "state", CONTEXT_CLIENT_STATE },
		{ "kafka.streams", "stream-state-updater-metrics", "active-restoring-tasks", CONTEXT_RESTORING },
		{ "kafka.consumer", "consumer-coordinator-metrics", "last-rebalance-seconds-ago",
		  CONTEXT_LAST_REBALANCE },
		{ "kafka.consumer", "consumer-fetch-manager-metrics", "records-lag-max", CONTEXT_LAG_MAX },
	};
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (str_eq(domain, str_of(rows[i].domain)) && str_eq(type, str_of(rows[i].type)) &&
		    str_eq(attribute, str_of(rows[i].attribute)))
			return rows[i].field;
	return CONTEXT_NONE;
}

bool context_client_state(struct str name, double *ret_ordinal)
{
	static const char *const states[] = { "CREATED",     "REBALANCING",   "RUNNING", "PENDING_SHUTDOWN",
					      "NOT_RUNNING", "PENDING_ERROR", "ERROR" };
	_Static_assert(sizeof states / sizeof *states == sizeof client_states / sizeof *client_states,
		       "the same states twice");
	for (size_t i = 0; i < sizeof states / sizeof *states; i++)
		if (str_eq(name, str_of(states[i]))) {
			*ret_ordinal = (double)i;
			return true;
		}
	return false;
}

void context_add(struct context_page *page, const struct prom_sample *sample)
{
	enum context_field field = context_find(sample->name);
	if (field == CONTEXT_NONE || context_is_part(sample))
		return;
	if (field == CONTEXT_BACKPRESSURED || field == CONTEXT_BUSY)
		add_attempt(page, sample);
	/* busyTimeMsPerSecond of a source that cannot tell, and a lag of what was never fetched, are NaN. */
	if (!isfinite(sample->value))
		return;
	if (field == CONTEXT_JOB_STATE && sample->value >= 1)
		str_copy(page->job_state, sizeof page->job_state, job_state_of(sample->name));
	context_note(page, field, sample->value);
}

/* `scale` x the value as a whole number within [0, most]. */
static void put_count(struct count *count, bool seen, double value, double scale, double most)
{
	double scaled = value * scale + 0.5;
	if (count->known || !seen || scaled < 0)
		return;
	*count = count_of((uint64_t)(scaled > most ? most : scaled));
}

static void put_truth(enum tristate *truth, bool seen, bool is)
{
	if (*truth == TRISTATE_UNREAD && seen)
		*truth = is ? TRISTATE_TRUE : TRISTATE_FALSE;
}

static void put_state(const struct context_page *page, struct engine_context *context)
{
	static const size_t n_states = sizeof client_states / sizeof *client_states;
	double client = page->most[CONTEXT_CLIENT_STATE];
	const char *state = page->job_state;
	if (page->seen[CONTEXT_CLIENT_STATE] && client >= 0 && client < (double)n_states)
		state = client_states[(size_t)client];
	else if (!state[0] && page->has_tasks)
		state = "running";
	if (!context->job_state[0])
		str_copy(context->job_state, sizeof context->job_state, str_of(state));
}

void context_put(const struct context_page *page, struct engine_state *state)
{
	static const double counts = 9007199254740992.0; /* 2^53: whole numbers are exact up to here */
	struct engine_context *context = &state->context;
	const double *most = page->most;
	const bool *seen = page->seen;
	put_state(page, context);
	put_count(&context->backpressured_bp, seen[CONTEXT_BACKPRESSURED], most[CONTEXT_BACKPRESSURED], 10, 10000);
	put_count(&context->busy_bp, seen[CONTEXT_BUSY], most[CONTEXT_BUSY], 10, 10000);
	put_count(&context->records_lag_max, seen[CONTEXT_LAG_MAX], most[CONTEXT_LAG_MAX], 1, counts);
	put_count(&context->restarts, seen[CONTEXT_RESTARTS], most[CONTEXT_RESTARTS], 1, counts);
	put_count(&context->restarts, page->has_attempt, page->attempt, 1, counts);
	put_count(&state->rocksdb.metadata_hit_bp, seen[CONTEXT_METADATA_HITS], page->least[CONTEXT_METADATA_HITS],
		  10000, 10000);
	put_truth(&context->checkpointing, seen[CONTEXT_CHECKPOINTS], most[CONTEXT_CHECKPOINTS] > 0);
	put_truth(&context->restoring, seen[CONTEXT_RESTORING], most[CONTEXT_RESTORING] > 0);
	put_truth(&context->rebalancing, seen[CONTEXT_CLIENT_STATE], most[CONTEXT_CLIENT_STATE] == 1);
	/* -1: there was none yet. */
	put_truth(&context->rebalancing, seen[CONTEXT_LAST_REBALANCE],
		  page->least[CONTEXT_LAST_REBALANCE] >= 0 && page->least[CONTEXT_LAST_REBALANCE] < REBALANCE_RECENT_S);
}
