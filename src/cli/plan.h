/* SPDX-License-Identifier: Apache-2.0 */
/* `bankfull plan`: its options, and plans laid out for people and for programs (docs/plan.md). Internal to src/cli. */
#ifndef CLI_PLAN_H
#define CLI_PLAN_H

#include "cli/paint.h"
#include "plan/flinkplan.h"
#include "plan/resize.h"

enum { PLAN_SETS_MAX = DECLARED_SETS_MAX };

struct plan_options {
	const char *flink_conf, *limit, *version;
	const char *set; /* for the help alone: sets[] has them */
	const char *sets[PLAN_SETS_MAX];
	size_t n_sets;
	uint64_t slots, states; /* 0: not said */
	bool jobmanager;
	bool streams;
	const char *from_report; /* for the help alone: reports[] has them */
	const char *reports[RESIZE_REPORTS_MAX];
	size_t n_reports;
	bool of_collector; /* reports[0] is its URL */
	bool through_restore;
	const char *cluster, *namespace_, *workload, *pod, *job, *role; /* of a collector's pods; NULL: any */
	const char *token_file, *ca_file;
	bool insecure;
	uint64_t since_ms, timeout_ms; /* 0: not said */
	const char *topology, *setter, *heap;
	uint64_t stores, windowed, segments, partitions, instances, standbys, threads; /* 0: not said */
	const char *format, *color;
	bool json, colored, help;
};

struct plan_face {
	bool color;
	unsigned columns;
};

/* A plan of Flink. `file`: the path that was read, NULL: none. */
int plan_flink_table(const struct flinkplan *plan, const char *file, const struct plan_face *face, struct buf *out,
		     struct err *err) __attribute__((warn_unused_result));
int plan_flink_json(const struct flinkplan *plan, const char *file, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));
/* What Flink refuses, for programs. */
int plan_refused_json(const char *why, struct buf *out, struct err *err) __attribute__((warn_unused_result));

/* The same in every plan. */
struct js_out;
void plan_put_demand(struct js_out *out, const char *key, const struct demand *demand);
void plan_put_verdict(struct js_out *out, const struct verdict *verdict);

/* One mode each; they print, and set the exit status. */
int plan_resize(const struct plan_options *options, int *ret_status, struct err *err)
	__attribute__((warn_unused_result));
int plan_streams(const struct plan_options *options, int *ret_status, struct err *err)
	__attribute__((warn_unused_result));
int plan_flink(const struct plan_options *options, int *ret_status, struct err *err)
	__attribute__((warn_unused_result));

#endif
