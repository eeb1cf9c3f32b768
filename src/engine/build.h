/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All evidence of one engine into one struct engine_state: the pure half of the pipeline, the same live and in
 * replay. Order: which engine (detect), its settings and budget (command line, then configuration, then REST),
 * then its metrics, which need those to count caches once, then bounds. An input that does not parse is noted and
 * left out; it never spoils the others.
 */
#ifndef ENGINE_BUILD_H
#define ENGINE_BUILD_H

#include "engine/detect.h"
#include "engine/notes.h"

enum { ENGINE_PAGES_MAX = 8, ENGINE_ANSWERS_MAX = 16 };

/* Reduced texts, views for the call. An absent one has len 0. */
struct engine_evidence {
	struct str cmdline;                 /* "proc/cmdline", NUL-separated */
	struct str mapped;                  /* names of mapped files, one a line */
	struct str conf;                    /* "conf/flink" */
	const char *conf_name;              /* "config.yaml" or "flink-conf.yaml"; NULL: config.yaml */
	struct str pages[ENGINE_PAGES_MAX]; /* "http/metrics.N" */
	size_t n_pages;
	struct str jolokia[ENGINE_ANSWERS_MAX]; /* "http/jolokia.N" */
	size_t n_jolokia;
	struct str flink_taskmanager; /* "http/flink_taskmanager" */
	struct str flink_config;      /* "http/flink_config" */
	struct str flink_jm_config;   /* "http/flink_jobmanager_config" */
	struct str flink_jobs;        /* "http/flink_jobs" */
	struct str flink_job_metrics; /* "http/flink_job_metrics" */
	struct str state_dirs;        /* "proc/state_dirs" */
};

/*
 * `ret_detection` may be NULL. `*ret_metrics_read`: a page or answer gave at least one number. NOMEM is the only
 * error.
 */
int engine_build(const struct engine_evidence *evidence, struct engine_state *ret_state,
		 struct detection *ret_detection, bool *ret_metrics_read, struct engine_notes *notes, struct err *err)
	__attribute__((warn_unused_result));

#endif
