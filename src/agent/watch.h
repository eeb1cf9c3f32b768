/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One target, kept open: what is read at every tick has its descriptor open and its buffer ready, so that a tick opens and
 * allocates nothing. A process is its pid and its start time; its descriptors outlive it, which is how the container's
 * events are read after its death.
 */
#ifndef AGENT_WATCH_H
#define AGENT_WATCH_H

#include "agent/collect_parts.h"
#include "agent/refresh.h"

enum { WATCH_FILES_MAX = 24 };

struct watch_file {
	char name[EVIDENCE_NAME_CAP];
	int fd; /* -1: could not be opened, `err` says why */
	bool optional;
	struct buf bytes;
	struct err err; /* kind ERR_NONE: read */
};

struct watch {
	struct collect_options options; /* its pid is the target's */
	struct evidence evidence;
	struct collecting target;
	int exit_fd;   /* pidfd: readable when the target has ended; -1: this kernel has none, ticks notice it */
	int cgroup_fd; /* -1: not found; the evidence "cgroup" says why */
	int perf_fd;   /* the directory of its hsperfdata file, from the first scan on: jvm/hsperffile.h; -1: none */
	int events_fd; /* inotify on memory.events: readable when the kernel counted something; -1: none */
	struct watch_file stat; /* who it is, by its number, start and program */
	struct watch_file files[WATCH_FILES_MAX];
	size_t n_files;
	size_t smaps_len;        /* of the last scan's text: the next one has its room at once */
	bool any_fs;             /* for tests: cgroup_directory need not be a cgroup */
	uint64_t reopened_total; /* cgroups that were replaced under the target */
};

/* All descriptors -1: may be closed. */
void watch_init(struct watch *watch);

/* Fails as collect_run() does; what may be missing is missing. `watch` is closed or fresh. */
int watch_open(struct watch *watch, const struct collect_options *options, int pid, struct err *err)
	__attribute__((warn_unused_result));
void watch_close(struct watch *watch);

/* Read all files. GONE: the target has ended, or runs another program; the files were read nevertheless. */
int watch_read(struct watch *watch, struct err *err) __attribute__((warn_unused_result));

/* What watch_read() read, for refresh_run(). Views until the next read. Returns how many. */
size_t watch_texts(const struct watch *watch, struct refresh_text ret_texts[WATCH_FILES_MAX]);

/* The inotify events that made events_fd readable are taken off. */
void watch_events_taken(struct watch *watch);

#endif
