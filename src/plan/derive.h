/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flink's own derivation of a process's memory from its configuration, to the byte, by what BashJavaUtils of 1.20 and 2.x
 * runs: ProcessMemoryUtils, TaskExecutorFlinkMemoryUtils, JobManagerFlinkMemoryUtils, and in 1.20
 * MemoryBackwardsCompatibilityUtils. tests/workloads/plan holds it to those classes.
 */
#ifndef PLAN_DERIVE_H
#define PLAN_DERIVE_H

#include "bankfull/engine.h"
#include "plan/declared.h"

enum derive_role { DERIVE_TASKMANAGER = 0, DERIVE_JOBMANAGER };

/* Which of the three ways of sizing decided, in Flink's order. */
enum derive_way { DERIVE_BY_PARTS = 0, DERIVE_BY_FLINK_SIZE, DERIVE_BY_PROCESS_SIZE };
extern const char *const derive_way_names[]; /* "parts", "flink-size", "process-size" */

struct derived {
	enum derive_role role;
	enum derive_way way;
	/* All of it derived. A JobManager's direct_bytes is its off-heap; it has no parts of heap, network or managed. */
	struct flink_budget budget;
	bool direct_limited; /* MaxDirectMemorySize is given: always to a TaskManager */
};

/*
 * USAGE: Flink would refuse the configuration; the message says why, with both numbers and their difference where
 * sizes contradict each other.
 */
int derive(const struct declared *declared, enum derive_role role, struct derived *ret_derived, struct err *err)
	__attribute__((warn_unused_result));

/* "1.0 GiB (1073741824)". Returns dest. */
enum { DERIVE_SIZE_CAP = 56 };
const char *derive_size_text(char dest[DERIVE_SIZE_CAP], uint64_t bytes);

#endif
