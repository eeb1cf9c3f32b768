/* SPDX-License-Identifier: Apache-2.0 */
/* Which process to look at, when nobody said: the one JVM that runs an engine. */
#ifndef AGENT_TARGET_H
#define AGENT_TARGET_H

#include "bankfull/engine.h"
#include "base/buf.h"
#include "base/err.h"
#include "engine/detect.h"
#include "kernel/podpath.h"

/*
 * The pid of the one JVM that runs Flink or Kafka Streams. USAGE: none or several; the message says how many, and
 * `list` holds a line for each JVM seen ("PID ENGINE MAIN-CLASS\n", escaped). Reads nothing but command lines and names
 * of mapped files.
 */
int target_find(int *ret_pid, struct buf *list, struct err *err) __attribute__((warn_unused_result));

/* Whose processes count. */
struct target_scope {
	const char *pod_uid;   /* NULL: all that are seen */
	const char *container; /* its name; "" or NULL: any. With it `logs` must be there to tell names */
	const char *logs;      /* kernel/podlogs.h */
};

/* Is it a JVM, and what does it run? By its command line and mappings alone. */
bool target_look(int proc_fd, int pid, struct detection *ret_detection);
/* Whose pod it is in; false: in none. */
bool target_pod(int pid_fd, struct podpath *ret);

/*
 * For who waits: the first process that runs an engine, by number, and how many others do. GONE: none yet; the message
 * says what is there instead.
 */
int target_first(const struct target_scope *scope, int *ret_pid, size_t *ret_others, struct err *err)
	__attribute__((warn_unused_result));

#endif
