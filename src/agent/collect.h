/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reading end of the pipeline: one live target into evidence, everything redacted on the way in.
 *
 * A missing input never ends a reading; it stands in the evidence with its reason. Only a target that is not
 * there, went away meanwhile or is another by now is an error.
 */
#ifndef AGENT_COLLECT_H
#define AGENT_COLLECT_H

#include "bankfull/process.h"
#include "bankfull/quantity.h"
#include "sys/evidence.h"

enum { COLLECT_URLS_MAX = 8 };

struct collect_options {
	int pid;
	const char *cgroup_directory;  /* NULL: found through the target's root */
	struct limit limit, pod_limit; /* what the user says */
	const char *metrics_urls[COLLECT_URLS_MAX];
	size_t n_metrics_urls; /* 0: discovered ones */
	const char *flink_rest, *flink_conf;
	bool no_attach, no_metrics;
	unsigned http_timeout_ms; /* 0: 2000 */
	bool slim_smaps;          /* keep of smaps what our parser reads: for captures */
};

/*
 * ERR_GONE: no such process, or it ended or was replaced while being read. USAGE: it is no JVM, or a file or cgroup that the options
 * name is none. DENIED: it cannot be known whether it is a JVM.
 */
int collect_run(const struct collect_options *options, struct evidence *ret_evidence, struct err *err)
	__attribute__((warn_unused_result));

#endif
