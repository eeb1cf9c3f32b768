/* SPDX-License-Identifier: Apache-2.0 */
/* Whom everything is about. */
#ifndef BANKFULL_SUBJECT_H
#define BANKFULL_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>

enum {
	WIRE_NAME_CAP = 254, /* of Kubernetes: 253 at most */
	WIRE_JOBS_MAX = 4,
	WIRE_LABELS_MAX = 8,
};

enum wire_role { ROLE_UNKNOWN = 0, ROLE_TASKMANAGER, ROLE_JOBMANAGER, ROLE_STREAMS, ROLE_JVM, ROLE_COUNT };
extern const char *const wire_role_names[ROLE_COUNT]; /* "unknown", "taskmanager", "jobmanager", "streams", "jvm" */

struct wire_label {
	char key[64], value[64];
};

/*
 * Whom everything is about. History and alerts belong to the workload: pods of native Flink change their names at
 * every attempt. It decorates: who an agent is, its credentials say. "" where not known.
 */
struct wire_subject {
	char cluster[64];
	char namespace_[64]; /* "namespace" on the wire */
	char workload[WIRE_NAME_CAP];
	enum wire_role role;
	char pod[WIRE_NAME_CAP], pod_uid[40], node[WIRE_NAME_CAP], container[64];
	char jobs[WIRE_JOBS_MAX][64];
	size_t n_jobs;
	struct wire_label labels[WIRE_LABELS_MAX];
	size_t n_labels;
	/* Not on the wire, the collector's alone: an agent of another pod says so, and nobody has confirmed it. */
	bool asserted;
};

#endif
