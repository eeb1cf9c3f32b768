/* SPDX-License-Identifier: Apache-2.0 */
/* The readings of a plan from a collector's history. Internal to src/cli. */
#ifndef CLI_PLAN_COLLECTOR_H
#define CLI_PLAN_COLLECTOR_H

#include "cli/plan.h"

/* Readings, and the name of the pod of each. Owned: plan_source_done(). */
struct plan_source {
	struct resize_reading *readings;
	const char **names;
	size_t n;
	struct resize_pod *pods;    /* the names are theirs; NULL: of files */
	size_t n_pods;              /* that were read; 0: of files */
	size_t n_pods_left_out;     /* without budgets */
	uint64_t n_points_left_out; /* of another limit */
	char left_out[200];         /* why the first of them was */
};
void plan_source_done(struct plan_source *source);
#define auto_plan_source auto_(plan_source_done)

/* The pods that match, and what the collector holds of each. USAGE: none does, or too many. */
int plan_collector(const struct plan_options *options, struct plan_source *ret_source, struct err *err)
	__attribute__((warn_unused_result));

#endif
