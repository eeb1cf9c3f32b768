/* SPDX-License-Identifier: Apache-2.0 */
/* What could not be read, why, and which lines of the ledger that costs. */
#include <string.h>

#include "base/err.h"
#include "base/str.h"
#include "rules/all.h"
#include "rules/text.h"

struct cost {
	const char *what; /* prefix of the evidence's name */
	const char *lines;
	enum severity severity;
};

/* Of two that are as grave the first one's remedy is the one change that is advised. */
static const struct cost costs[] = {
	{ "proc/status", "everything", SEVERITY_WARNING },
	{ "proc/smaps", "all anonymous lines: no composition at all", SEVERITY_WARNING },
	{ "cgroup/memory.max", "limit and freeboard", SEVERITY_WARNING },
	{ "cgroup/memory.stat", "page-cache, tmpfs, kernel, sockets, other-processes, residual", SEVERITY_WARNING },
	{ "cgroup", "page-cache, tmpfs, kernel, sockets, other-processes, residual; freeboard is an upper bound",
	  SEVERITY_NOTICE },
	{ "jvm/attach", "exact java-heap and code-cache ranges, gc, jvm-other", SEVERITY_NOTICE },
	{ "jvm/heap_info", "exact java-heap range", SEVERITY_NOTICE },
	{ "jvm/nmt", "gc, jvm-other, managed-unsafe: they stand in native-other", SEVERITY_INFO },
	{ "http/flink_jobmanager_config", "settings that only the JobManager tells", SEVERITY_INFO },
	{ "http/", "direct-buffers and rocksdb lines: they stand in native-other", SEVERITY_NOTICE },
	{ "conf/flink", "where settings were read; budgets come from the command line", SEVERITY_INFO },
	{ "proc/pagemap", "mappings that hold several owners are split by size", SEVERITY_INFO },
	{ "jvm/hsperf", "threads and JVM options from the environment", SEVERITY_INFO },
	{ "host/meminfo", "the host's memory and free swap", SEVERITY_INFO },
	{ "host/thp", "the mode of transparent huge pages", SEVERITY_INFO },
	{ "proc/tmpfs", "which tmpfs mounts hold the files in memory", SEVERITY_INFO },
	{ "", "what it would have told", SEVERITY_INFO },
};

static const struct cost *cost_of(const struct gap *gap, size_t *ret_rank)
{
	for (size_t i = 0;; i++) {
		if (str_starts(str_of(gap->what), str_of(costs[i].what))) {
			*ret_rank = i;
			return &costs[i];
		}
	}
}

static void change_for(const struct gap *gap, struct finding *finding)
{
	finding_turn(finding, KNOB_SIGHT, TURN_SET);
	if (gap->kind == ERR_DENIED)
		finding_change(
			finding,
			"run with the JVM's own uid and gid (runAsUser and runAsGroup equal in both containers), and give the JVM no capability that this container lacks");
	else if (strcmp(gap->what, "jvm/nmt") == 0)
		finding_change(
			finding,
			"start the JVM with -XX:NativeMemoryTracking=summary; it costs two words a malloc, measure before a fleet");
	else if (strncmp(gap->what, "http/", 5) == 0)
		finding_change(finding, "name the metrics page with --metrics URL, or switch the engine's reporter on");
	else if (strncmp(gap->what, "cgroup", 6) == 0)
		finding_change(
			finding,
			"run where the container's cgroup v2 directory is visible (same pod, shareProcessNamespace), or name it with --cgroup DIR");
	else
		finding_change(finding, "remove the cause given for %s", gap->what);
}

enum rule_answer rule_access_degraded(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	const struct gap *gravest = NULL;
	size_t best = SIZE_MAX, left_out = 0;
	if (snapshot->n_gaps == 0)
		return RULE_SILENT;
	finding->severity = SEVERITY_INFO;
	for (size_t i = 0; i < snapshot->n_gaps; i++) {
		size_t rank;
		const struct cost *cost = cost_of(&snapshot->gaps[i], &rank);
		if (cost->severity > finding->severity || (cost->severity == finding->severity && rank < best)) {
			finding->severity = cost->severity;
			best = rank;
			gravest = &snapshot->gaps[i];
		}
		if (finding->n_missing == FINDING_LIST_MAX)
			left_out++;
		else
			finding_missing(finding, "%s: %s", snapshot->gaps[i].what, snapshot->gaps[i].reason);
	}
	size_t rank;
	const struct cost *cost = cost_of(gravest, &rank);
	/* An agent that may not scan any more still has its last one. */
	bool aged = snapshot->vmas_read && gravest->kind == ERR_LIMIT && strcmp(gravest->what, "proc/smaps") == 0;
	finding_title(finding, "%zu input%s could not be read", snapshot->n_gaps, snapshot->n_gaps == 1 ? "" : "s");
	finding_observation(
		finding, "%s: %s. It costs: %s.", gravest->what, gravest->reason,
		aged ? "all anonymous lines stay those of the last scan, derived once that is ten minutes old"
		     : cost->lines);
	if (left_out)
		finding_observation(finding, "%zu more %s in access.reasons.", left_out,
				    left_out == 1 ? "stands" : "stand");
	finding_figure(finding, "missing_inputs", (int64_t)snapshot->n_gaps);
	finding_cause(
		finding,
		"what is missing is unread, never zero: lines it would have named stand in native-other or in the residual");
	change_for(gravest, finding);
	finding_validate(finding, "steady: access.level is \"full\" and access.reasons is empty in the next report");
	finding_validate(finding, "failure: the same after a restart of the main container alone");
	return RULE_FIRED;
}
