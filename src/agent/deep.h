/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One deeper reading, made once when a target gets near its limit and kept as text: its largest mappings and its threads by
 * name. It leaves before the death in the finding that is open (wire.h), and at the death in the post-mortem.
 */
#ifndef AGENT_DEEP_H
#define AGENT_DEEP_H

#include "bankfull/snapshot.h"
#include "base/buf.h"
#include "base/err.h"

enum {
	DEEP_ROWS = 12,
	DEEP_NAME_CAP = 48,
	DEEP_NAMES_MAX = 256,    /* different names of threads; the others count as "(others)" */
	DEEP_THREADS_MAX = 8192, /* two system calls each: more are not looked at */
	DEEP_TEXT_CAP = 8192,
};

/* Threads by name, without their numbers: "flink-io-thread-17" and "-18" are two of one name. */
struct deep_names {
	struct deep_name {
		char name[DEEP_NAME_CAP];
		uint32_t n;
	} names[DEEP_NAMES_MAX];
	size_t n;
	uint32_t others, threads;
	bool whole; /* all threads were looked at */
};

/* Pure: "C2 CompilerThre\n" of a comm; each run of digits becomes one '#', what a process named is escaped. */
void deep_fold(struct deep_names *names, struct str comm);

/* Reads <pid_fd>/task/<tid>/comm of each. Some microseconds a thread; holds no lock of the target's memory. */
int deep_threads(int pid_fd, struct deep_names *names, struct err *err) __attribute__((warn_unused_result));

/*
 * A JSON object into `out`, cleared before. `names` NULL: the threads are unread. Of a mapped file its last name alone is told.
 * Mappings are the last scan's, `snapshot->age_ms` old. Nothing is written on failure.
 */
int deep_write(const struct snapshot *snapshot, const struct deep_names *names, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));

#endif
