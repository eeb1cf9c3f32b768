/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the job was doing, of Flink's REST API: its state (/jobs/overview), and two of its metrics, which a TaskManager's
 * own page does not have (/jobs/:jobid/metrics?get=...; MetricNames.java, CheckpointStatsTracker.java of Flink 1.20 to
 * 2.3). Two small answers, where /jobs/:jobid/checkpoints tells the history of ten. Names of jobs are not kept.
 */
#ifndef ENGINE_FLINKJOBS_H
#define ENGINE_FLINKJOBS_H

#include "bankfull/context.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#define FLINKJOBS_OVERVIEW "/jobs/overview"

enum { FLINKJOBS_PATH_CAP = 128 };

int flinkjobs_reduce(struct str overview, struct buf *ret_overview, struct err *err)
	__attribute__((warn_unused_result));
int flinkjobs_metrics_reduce(struct str metrics, struct buf *ret_metrics, struct err *err)
	__attribute__((warn_unused_result));

/* Where the metrics of the one job are that has not ended. False: there is none, or several: which are ours is not told. */
bool flinkjobs_metrics_path(struct str overview, char ret_path[FLINKJOBS_PATH_CAP]);

/* Into what `context` does not know yet. Either may be empty, or none of ours: then it says nothing. */
void flinkjobs_read(struct str overview, struct str metrics, struct engine_context *context);

#endif
