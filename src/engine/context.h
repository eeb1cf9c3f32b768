/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engine was doing, from one metrics page, or from Kafka's MBeans: Flink's tasks and jobs (MetricNames.java, JobStatusMetrics,
 * CheckpointStatsTracker), Kafka Streams' client, tasks and consumers (KIP-444, KIP-869, KIP-1091), each as its
 * reporter, jmx_exporter's default rules and Micrometer name them. Checkpoints and restarts are counted by the
 * JobManager alone; a TaskManager's page has the attempt of each task instead.
 */
#ifndef ENGINE_CONTEXT_H
#define ENGINE_CONTEXT_H

#include "bankfull/engine.h"
#include "data/prom.h"

enum context_field {
	CONTEXT_NONE = 0,
	CONTEXT_BACKPRESSURED, /* milliseconds a second */
	CONTEXT_BUSY,
	CONTEXT_RESTARTS,
	CONTEXT_CHECKPOINTS, /* in progress */
	CONTEXT_JOB_STATE,   /* 1: the job is in the state of the metric's name */
	CONTEXT_CLIENT_STATE,
	CONTEXT_RESTORING, /* tasks, or records left */
	CONTEXT_LAST_REBALANCE,
	CONTEXT_LAG_MAX,
	CONTEXT_METADATA_HITS, /* a ratio */
	CONTEXT_FIELD_COUNT
};

/* The field that this name is, whatever its labels. */
enum context_field context_find(struct str name);

/* A series of one topic or partition: the client's own is the maximum of them, and there can be thousands. */
bool context_is_part(const struct prom_sample *sample);

/* What one page says. {0} is empty. */
struct context_page {
	double most[CONTEXT_FIELD_COUNT], least[CONTEXT_FIELD_COUNT];
	bool seen[CONTEXT_FIELD_COUNT];
	double attempt; /* the highest task_attempt_num */
	bool has_tasks, has_attempt;
	char job_state[24];
};

void context_add(struct context_page *page, const struct prom_sample *sample);

/* The same of an MBean of Kafka: the field that its attribute is, and one value of it. */
enum context_field context_of_mbean(struct str domain, struct str type, struct str attribute);
void context_note(struct context_page *page, enum context_field field, double value);
/* KafkaStreams.State by its name, as its number; false: none that we know. */
bool context_client_state(struct str name, double *ret_ordinal);

/* Into state->context and state->rocksdb.metadata_hit_bp what they do not have yet. */
void context_put(const struct context_page *page, struct engine_state *state);

#endif
