/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The right size from what was measured: reports of one configuration (docs/report.schema.json), each budget's use over
 * them, and what to change, one change at a time, what carries least risk first. PURE but for memory.
 *
 * A step changes one budget and the process size by as much, so that everything else stays as it was, to the byte. What
 * is lowered keeps a head-room above the highest that was seen and never falls below its floor; with fewer than
 * RESIZE_READINGS_LEAST readings nothing is lowered at all, and direct memory, which jumps while a job restores, only by
 * readings over a day with a restore in them.
 */
#ifndef PLAN_RESIZE_H
#define PLAN_RESIZE_H

#include "bankfull/books.h"
#include "base/buf.h"
#include "data/js.h"

enum {
	RESIZE_REPORTS_MAX = 512,
	RESIZE_READINGS_MAX = 32768, /* 64 pods of a collector, RESIZE_REPORTS_MAX each */
	RESIZE_READINGS_LEAST = 3,
	RESIZE_DAY_MS = 24 * 3600 * 1000,
	RESIZE_TEXT_CAP = 600,
};

enum resize_budget {
	RESIZE_OVERHEAD = 0,
	RESIZE_METASPACE,
	RESIZE_DIRECT,
	RESIZE_MANAGED,
	RESIZE_HEAP,
	RESIZE_BUDGET_COUNT
};
extern const char *const resize_budget_names[RESIZE_BUDGET_COUNT]; /* as a report's budgets */

/* One report, or a stretch of a collector's history, as far as it matters here. */
struct resize_reading {
	uint32_t pod;      /* readings of one pod stand together, in the order of time */
	struct wall taken; /* 0: not known */
	bool restored;     /* since the reading before: a job or its process started again */
	enum engine kind;
	struct engine_facts facts;
	struct qty set[RESIZE_BUDGET_COUNT], used[RESIZE_BUDGET_COUNT];
	struct qty floor_bytes;
	struct limit limit;
	bool heap_pressure; /* its finding of that name is open */
	/* Of Kafka Streams. */
	struct qty cache_bytes, memtables_bytes, readers_bytes;
	struct limit cache_bound;
};

/* MALFORMED: no report of Bankfull. UNSUPPORTED: of something that has no budgets, and is no Kafka Streams. */
int resize_read(const struct js *report, const char *name, struct resize_reading *ret_reading, struct err *err)
	__attribute__((warn_unused_result));

/* How the parts of a TaskManager's direct budget are known. */
enum direct_source {
	DIRECT_UNREAD = 0,
	DIRECT_CONFIGURED, /* the process was started with them */
	DIRECT_MEASURED, /* the network's are its buffers, by Flink's metrics; the framework has Flink's own 128m, tasks the rest */
	DIRECT_INFERRED, /* from the sum: the network has Flink's own tenth, the framework its 128m, tasks the rest */
	DIRECT_SOURCE_COUNT
};
extern const char *const direct_source_names[DIRECT_SOURCE_COUNT]; /* "unread", "configured", "measured", "inferred" */

struct direct_split {
	enum direct_source source;
	uint64_t network, framework, task;
};

struct resize_row {
	bool known, set_known; /* its use was read; so was what is set aside */
	uint64_t set_bytes, p50_bytes, p99_bytes, max_bytes;
	uint64_t proposed_bytes; /* as set_bytes: it stays */
	char why[160];
};

struct resize_step {
	enum resize_budget budget;
	bool raises;
	uint64_t from_bytes, to_bytes, process_bytes; /* of the process once it is made, with those before it */
	uint64_t limit_bytes;                         /* that it needs; 0: none was read, or the one there is will do */
	char title[160];
	char fragment[RESIZE_TEXT_CAP]; /* of config.yaml */
	char steady[RESIZE_TEXT_CAP], restore[RESIZE_TEXT_CAP];
};

struct resize {
	enum engine kind;
	size_t n_readings;
	uint64_t span_ms; /* from the first reading of a pod to its last */
	bool restored;    /* a restore is among them */
	struct resize_row rows[RESIZE_BUDGET_COUNT];
	uint64_t process_bytes;     /* as it is */
	struct limit limit;         /* of the last reading */
	struct direct_split direct; /* as it is; of a JobManager unread, which has no parts */
	struct resize_row floor;    /* set_bytes: the limit; proposed_bytes: a limit for what all steps make */
	struct resize_step steps[RESIZE_BUDGET_COUNT]; /* what carries least risk first */
	size_t n_steps;
	bool too_few; /* to lower anything */
};

/* USAGE: they are of two roles or configurations, with both figures. `names`: of the readings, for that. */
int resize_run(const struct resize_reading *readings, const char *const *names, size_t n, struct resize *ret_resize,
	       struct err *err) __attribute__((warn_unused_result));

#endif
