/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ledger/death.h"
#include "support/snap.h"

enum { UNREAD = -1 };

static struct count counted(int n)
{
	return n == UNREAD ? (struct count){ 0 } : count_of((uint64_t)n);
}

/* One row: how the events rose, what was last seen, what is said. */
struct row {
	const char *name;
	int max, oom, kills, group; /* rise; UNREAD: not known */
	bool gone;                  /* the cgroup went too */
	unsigned floor_pct, peak_pct, own_of_pod_pct, others_of_pod_pct, pod_pct, node_free_pct; /* 0: not known */
	int psi_bp, status;
	bool java_oom, exits_on_oom;
	enum tristate perf_left;
	unsigned heap_pct, metaspace_pct; /* 0: not known */
	bool stop_asked;
	uint32_t last_seen_ms;
	enum death_cause cause;
	unsigned least_pct, most_pct;
	const char *why, *missing; /* a part of it; missing NULL: nothing is */
};

#define NONE .psi_bp = UNREAD, .status = UNREAD

static const struct row rows[] = {
	/* What the lab measured. */
	{ "own limit, oom.group", 38, 1, 2, 1, NONE, .cause = DEATH_CONTAINER_LIMIT, .least_pct = 99, .most_pct = 99,
	  .why = "one victim counts 2" },
	{ "own limit, no group", 38, 1, 1, 0, NONE, .cause = DEATH_CONTAINER_LIMIT, .least_pct = 90, .most_pct = 98,
	  .why = "limit of 1.00 GiB", .missing = "another process" },
	{ "own limit, no group counter", 38, 1, 2, UNREAD, NONE, .cause = DEATH_CONTAINER_LIMIT, .least_pct = 90,
	  .most_pct = 98, .why = "oom_kill by 2", .missing = "oom.group" },
	{ "pod limit, nothing told", 0, 0, 2, 1, NONE, .cause = DEATH_OUTSIDE, .least_pct = 80, .most_pct = 95,
	  .why = "oom did not", .missing = "the pod's limit" },
	{ "pod limit, told and full", 0, 0, 2, 1, .pod_pct = 97, NONE, .cause = DEATH_POD_LIMIT, .least_pct = 80,
	  .most_pct = 90, .why = "at 97 % of its limit", .missing = "memory.events of the pod" },
	{ "pod limit just under", 0, 0, 1, 0, .pod_pct = 94, NONE, .cause = DEATH_OUTSIDE, .least_pct = 80,
	  .most_pct = 95, .why = "oom did not", .missing = "memory.events of the pod" },
	{ "node, by what was free", 0, 0, 2, 1, .node_free_pct = 2, NONE, .cause = DEATH_NODE, .least_pct = 70,
	  .most_pct = 80, .why = "node was out of memory", .missing = "CONSTRAINT_NONE" },
	{ "node, by stalls", 0, 0, 2, 1, .psi_bp = 4000, .status = UNREAD, .cause = DEATH_NODE, .least_pct = 70,
	  .most_pct = 80, .why = "node was out of memory", .missing = "CONSTRAINT_NONE" },
	{ "node with room", 0, 0, 2, 1, .node_free_pct = 50, .psi_bp = 100, .status = UNREAD, .cause = DEATH_OUTSIDE,
	  .least_pct = 80, .most_pct = 95, .why = "oom did not", .missing = "kernel log" },
	{ "pod full and node low", 0, 0, 2, 1, .pod_pct = 99, .node_free_pct = 2, NONE, .cause = DEATH_POD_LIMIT,
	  .least_pct = 50, .most_pct = 65, .why = "at 99 %", .missing = "node was short" },
	{ "pod full long before", 0, 0, 2, 1, .pod_pct = 99, NONE, .last_seen_ms = 60000, .cause = DEATH_POD_LIMIT,
	  .least_pct = 50, .most_pct = 60, .why = "at 99 %", .missing = "memory.events" },
	{ "oom counter missing", 0, UNREAD, 2, 1, NONE, .cause = DEATH_OUTSIDE, .least_pct = 50, .most_pct = 95,
	  .why = "oom is not known", .missing = "own limit is not excluded" },
	{ "oom counter missing, at its limit", 0, UNREAD, 2, 1, .floor_pct = 99, NONE, .cause = DEATH_CONTAINER_LIMIT,
	  .least_pct = 60, .most_pct = 75, .why = "oom is not known", .missing = "own limit is not excluded" },
	{ "pod limit, full of what is in sight", 0, 0, 1, 0, .own_of_pod_pct = 50, .others_of_pod_pct = 46, NONE,
	  .cause = DEATH_POD_LIMIT, .least_pct = 80, .most_pct = 90, .why = "at no less than 96 %",
	  .missing = "memory.events of the pod" },
	{ "pod limit, what is in sight does not fill it", 0, 0, 1, 0, .own_of_pod_pct = 50, .others_of_pod_pct = 40,
	  NONE, .cause = DEATH_OUTSIDE, .least_pct = 80, .most_pct = 95, .why = "oom did not",
	  .missing = "memory.events of the pod" },
	{ "pod limit, full of this container alone", 0, 0, 1, 0, .own_of_pod_pct = 96, NONE, .cause = DEATH_POD_LIMIT,
	  .least_pct = 80, .most_pct = 90, .why = "at no less than 96 %", .missing = "memory.events of the pod" },
	{ "SIGKILL", 0, 0, 0, 0, NONE, .cause = DEATH_SIGKILL, .least_pct = 50, .most_pct = 60, .why = "no OOM kill",
	  .missing = "exit status" },
	{ "SIGKILL, at its limit without a kill", 40, 0, 0, 0, .floor_pct = 99, NONE, .cause = DEATH_SIGKILL,
	  .least_pct = 50, .most_pct = 60, .why = "no OOM kill", .missing = "exit status" },
	{ "SIGKILL, status", 0, 0, 0, 0, .psi_bp = UNREAD, .status = 137, .cause = DEATH_SIGKILL, .least_pct = 85,
	  .most_pct = 95, .why = "137", .missing = "who sent it" },
	/* What the JVM left of its own, where no status is known. */
	{ "hsperfdata gone", 0, 0, 0, 0, NONE, .perf_left = TRISTATE_FALSE, .cause = DEATH_EXIT, .least_pct = 80,
	  .most_pct = 90, .why = "took its hsperfdata file away", .missing = "exit status" },
	{ "past a limit that was told: another is in force", UNREAD, UNREAD, UNREAD, UNREAD, .gone = true,
	  .floor_pct = 160, .peak_pct = 160, NONE, .cause = DEATH_UNKNOWN, .least_pct = 0, .most_pct = 0,
	  .why = "nothing was near its limit", .missing = "the limit in force" },
	{ "at a limit that was told", UNREAD, UNREAD, UNREAD, UNREAD, .gone = true, .floor_pct = 104, NONE,
	  .cause = DEATH_CONTAINER_LIMIT, .least_pct = 70, .most_pct = 80, .why = "over 95 %",
	  .missing = "memory.events" },
	{ "hsperfdata left", 0, 0, 0, 0, NONE, .perf_left = TRISTATE_TRUE, .cause = DEATH_SIGKILL, .least_pct = 75,
	  .most_pct = 85, .why = "left its hsperfdata file", .missing = "who sent it" },
	{ "hsperfdata left, may be ExitOnOutOfMemoryError", 0, 0, 0, 0, NONE, .perf_left = TRISTATE_TRUE,
	  .exits_on_oom = true, .cause = DEATH_SIGKILL, .least_pct = 55, .most_pct = 65, .why = "which it runs with",
	  .missing = "3 is ExitOnOutOfMemoryError" },
	{ "hsperfdata gone, and an OOM kill of another process", 9, 1, 1, 0, NONE, .perf_left = TRISTATE_FALSE,
	  .cause = DEATH_EXIT, .least_pct = 60, .most_pct = 75, .why = "ended by itself",
	  .missing = "which process was killed" },
	{ "gone at its limit, hsperfdata gone", .gone = true, .floor_pct = 99, NONE, .perf_left = TRISTATE_FALSE,
	  .cause = DEATH_EXIT, .least_pct = 70, .most_pct = 80, .why = "took its hsperfdata file away",
	  .missing = "exit status" },
	{ "gone at its limit, hsperfdata left", .gone = true, .floor_pct = 99, NONE, .perf_left = TRISTATE_TRUE,
	  .cause = DEATH_CONTAINER_LIMIT, .least_pct = 70, .most_pct = 80, .why = "over 95 %",
	  .missing = "memory.events" },
	{ "gone, hsperfdata left", .gone = true, .floor_pct = 50, NONE, .perf_left = TRISTATE_TRUE,
	  .cause = DEATH_SIGKILL, .least_pct = 55, .most_pct = 65, .why = "OOM killer is not excluded",
	  .missing = "memory.events" },
	/* The heap tells what no exit status does. */
	{ "ExitOnOutOfMemoryError, and the heap was full", 0, 0, 0, 0, NONE, .perf_left = TRISTATE_TRUE,
	  .exits_on_oom = true, .heap_pct = 97, .cause = DEATH_JAVA_OOM, .least_pct = 70, .most_pct = 79,
	  .why = "its heap was 97 % full", .missing = "137 SIGKILL" },
	{ "ExitOnOutOfMemoryError, and the metaspace was full", 0, 0, 0, 0, NONE, .perf_left = TRISTATE_TRUE,
	  .exits_on_oom = true, .heap_pct = 40, .metaspace_pct = 100, .cause = DEATH_JAVA_OOM, .least_pct = 70,
	  .most_pct = 79, .why = "its metaspace was 100 % full", .missing = "137 SIGKILL" },
	{ "ExitOnOutOfMemoryError, and the heap was not full", 0, 0, 0, 0, NONE, .perf_left = TRISTATE_TRUE,
	  .exits_on_oom = true, .heap_pct = 94, .cause = DEATH_SIGKILL, .least_pct = 55, .most_pct = 65,
	  .why = "which it runs with", .missing = "3 is ExitOnOutOfMemoryError" },
	{ "a full heap does not end a JVM at once without that option", 0, 0, 0, 0, NONE, .perf_left = TRISTATE_TRUE,
	  .heap_pct = 99, .cause = DEATH_SIGKILL, .least_pct = 75, .most_pct = 85, .why = "SIGKILL",
	  .missing = "who sent it" },
	{ "exit with a full heap", 0, 0, 0, 0, NONE, .perf_left = TRISTATE_FALSE, .heap_pct = 98,
	  .cause = DEATH_JAVA_OOM, .least_pct = 55, .most_pct = 65, .why = "98 % full", .missing = "239" },
	{ "killed at its limit with a full heap", 9, 1, 2, 1, NONE, .perf_left = TRISTATE_TRUE, .exits_on_oom = true,
	  .heap_pct = 99, .cause = DEATH_CONTAINER_LIMIT, .least_pct = 99, .most_pct = 99, .why = "own limit" },
	/* The pod is stopped: the agent was asked to end as well. */
	{ "evicted", 0, 0, 0, 0, .node_free_pct = 2, NONE, .perf_left = TRISTATE_FALSE, .stop_asked = true,
	  .cause = DEATH_EXIT, .least_pct = 85, .most_pct = 95, .why = "which is when kubelet evicts",
	  .missing = "eviction" },
	{ "stopped with its pod", 0, 0, 0, 0, .node_free_pct = 50, NONE, .perf_left = TRISTATE_FALSE,
	  .stop_asked = true, .heap_pct = 99, .cause = DEATH_EXIT, .least_pct = 85, .most_pct = 95,
	  .why = "the pod was being stopped", .missing = "a rollout" },
	{ "stopped with its pod, too slowly", 0, 0, 0, 0, NONE, .perf_left = TRISTATE_TRUE, .stop_asked = true,
	  .cause = DEATH_SIGKILL, .least_pct = 75, .most_pct = 85, .why = "did not end within the grace period",
	  .missing = "who sent it" },
	{ "killed at its limit as its pod was stopped", 9, 1, 2, 1, NONE, .perf_left = TRISTATE_TRUE,
	  .stop_asked = true, .cause = DEATH_CONTAINER_LIMIT, .least_pct = 99, .most_pct = 99, .why = "own limit" },
	/* Exits of a JVM. */
	{ "OutOfMemoryError seen", 0, 0, 0, 0, NONE, .java_oom = true, .cause = DEATH_JAVA_OOM, .least_pct = 90,
	  .most_pct = 99, .why = "OutOfMemoryError" },
	{ "ExitOnOutOfMemoryError", 0, 0, 0, 0, .psi_bp = UNREAD, .status = 3, .cause = DEATH_JAVA_OOM, .least_pct = 85,
	  .most_pct = 95, .why = "exit status 3", .missing = "which OutOfMemoryError" },
	{ "abort", 0, 0, 0, 0, .psi_bp = UNREAD, .status = 134, .cause = DEATH_EXIT, .least_pct = 75, .most_pct = 85,
	  .why = "134", .missing = "hs_err" },
	{ "abort with OutOfMemoryError", 0, 0, 0, 0, .psi_bp = UNREAD, .status = 134, .java_oom = true,
	  .cause = DEATH_JAVA_OOM, .least_pct = 90, .most_pct = 99, .why = "OutOfMemoryError" },
	{ "crash", 0, 0, 0, 0, .psi_bp = UNREAD, .status = 139, .cause = DEATH_EXIT, .least_pct = 75, .most_pct = 85,
	  .why = "SIGSEGV", .missing = "hs_err" },
	{ "stopped", 0, 0, 0, 0, .psi_bp = UNREAD, .status = 143, .cause = DEATH_EXIT, .least_pct = 95, .most_pct = 95,
	  .why = "SIGTERM" },
	{ "Flink's fatal exit", 0, 0, 0, 0, .psi_bp = UNREAD, .status = 239, .cause = DEATH_EXIT, .least_pct = 80,
	  .most_pct = 90, .why = "Flink ended itself", .missing = "log" },
	{ "exit 0", 0, 0, 0, 0, .psi_bp = UNREAD, .status = 0, .cause = DEATH_EXIT, .least_pct = 90, .most_pct = 90,
	  .why = "exit status 0" },
	{ "exit 1", 0, 0, 0, 0, .psi_bp = UNREAD, .status = 1, .cause = DEATH_EXIT, .least_pct = 90, .most_pct = 90,
	  .why = "exit status 1" },
	/* A kill counts more than what the JVM wrote before it. */
	{ "OutOfMemoryError, then killed", 9, 1, 2, 1, NONE, .java_oom = true, .cause = DEATH_CONTAINER_LIMIT,
	  .least_pct = 99, .most_pct = 99, .why = "own limit" },
	/* The cgroup is gone: native Flink deletes the pod. */
	{ "gone, at its limit", .gone = true, .floor_pct = 96, NONE, .cause = DEATH_CONTAINER_LIMIT, .least_pct = 70,
	  .most_pct = 80, .why = "over 95 %", .missing = "memory.events" },
	{ "gone, at its limit long before", .gone = true, .floor_pct = 96, NONE, .last_seen_ms = 60000,
	  .cause = DEATH_CONTAINER_LIMIT, .least_pct = 40, .most_pct = 55, .why = "a while before",
	  .missing = "memory.events" },
	{ "gone, once at its limit", .gone = true, .floor_pct = 40, .peak_pct = 97, NONE,
	  .cause = DEATH_CONTAINER_LIMIT, .least_pct = 30, .most_pct = 45, .why = "at its highest",
	  .missing = "memory.events" },
	{ "gone, once at its limit, pod full now", .gone = true, .floor_pct = 40, .peak_pct = 97, .pod_pct = 98, NONE,
	  .cause = DEATH_POD_LIMIT, .least_pct = 50, .most_pct = 60, .why = "the pod was over",
	  .missing = "memory.events" },
	{ "gone, 137 at its limit", .gone = true, .floor_pct = 96, .psi_bp = UNREAD, .status = 137,
	  .cause = DEATH_CONTAINER_LIMIT, .least_pct = 70, .most_pct = 80, .why = "over 95 %",
	  .missing = "memory.events" },
	{ "gone, 137 far from it", .gone = true, .floor_pct = 40, .psi_bp = UNREAD, .status = 137,
	  .cause = DEATH_SIGKILL, .least_pct = 55, .most_pct = 65, .why = "137", .missing = "who sent it" },
	{ "gone, exit 1 at its limit", .gone = true, .floor_pct = 96, .psi_bp = UNREAD, .status = 1,
	  .cause = DEATH_EXIT, .least_pct = 80, .most_pct = 95, .why = "exit status 1", .missing = "memory.events" },
	{ "gone, pod full", .gone = true, .pod_pct = 98, NONE, .cause = DEATH_POD_LIMIT, .least_pct = 50,
	  .most_pct = 60, .why = "the pod was over", .missing = "memory.events" },
	{ "gone, node low", .gone = true, .node_free_pct = 1, NONE, .cause = DEATH_NODE, .least_pct = 45,
	  .most_pct = 55, .why = "node was out of memory", .missing = "memory.events" },
	{ "gone, OutOfMemoryError", .gone = true, .floor_pct = 99, NONE, .java_oom = true, .cause = DEATH_JAVA_OOM,
	  .least_pct = 80, .most_pct = 90, .why = "OutOfMemoryError", .missing = "memory.events" },
	{ "gone, nothing near", .gone = true, .floor_pct = 50, .pod_pct = 50, .node_free_pct = 50, NONE,
	  .cause = DEATH_UNKNOWN, .why = "nothing was near", .missing = "memory.events" },
	{ "gone, nothing known", .gone = true, NONE, .cause = DEATH_UNKNOWN, .why = "nothing was near",
	  .missing = "memory.events" },
};

static struct death_evidence evidence_of(const struct row *row)
{
	struct death_evidence e = { .limit = limit_set(GIB), .pod_limit = { .kind = LIMIT_UNREAD } };
	/* The container was older than this death: counters do not begin at 0. */
	e.before = (struct cgroup_events){
		.max = count_of(7), .oom = count_of(1), .oom_kill = count_of(2), .oom_group_kill = count_of(1)
	};
	e.after = (struct cgroup_events){ .max = counted(row->max),
					  .oom = counted(row->oom),
					  .oom_kill = counted(row->kills),
					  .oom_group_kill = counted(row->group) };
	e.after.max.n += 7;
	e.after.oom.n += 1;
	e.after.oom_kill.n += 2;
	e.after.oom_group_kill.n += 1;
	e.after_read = !row->gone;
	if (row->floor_pct)
		e.floor_bytes = qty_measured(GIB / 100 * row->floor_pct);
	if (row->peak_pct)
		e.peak_bytes = qty_measured(GIB / 100 * row->peak_pct);
	if (row->own_of_pod_pct) {
		e.pod_limit = limit_set(2 * GIB);
		e.limit = (struct limit){ .kind = LIMIT_NONE };
		e.floor_bytes = qty_measured(2 * GIB / 100 * row->own_of_pod_pct + 100);
	}
	if (row->others_of_pod_pct)
		e.pod_others_bytes = qty_of(2 * GIB / 100 * row->others_of_pod_pct, QTY_INFERRED);
	if (row->pod_pct) {
		e.pod_limit = limit_set(2 * GIB);
		e.pod_charge_bytes = qty_measured(2 * GIB / 100 * row->pod_pct + 100);
	}
	if (row->node_free_pct) {
		e.host_memory_bytes = qty_measured(64 * GIB);
		e.host_available_bytes = qty_measured(64 * GIB / 100 * row->node_free_pct);
	}
	e.node_psi_full_avg10_bp = counted(row->psi_bp);
	e.exit_status = counted(row->status);
	e.java_oom_seen = row->java_oom;
	e.perf_left = row->perf_left;
	e.exits_on_oom = row->exits_on_oom;
	if (row->heap_pct)
		e.heap_full_pct = count_of(row->heap_pct);
	if (row->metaspace_pct)
		e.metaspace_full_pct = count_of(row->metaspace_pct);
	e.stop_asked = row->stop_asked;
	e.last_seen_ms = row->last_seen_ms;
	return e;
}

static void every_row_of_the_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct row *row = &rows[i];
		struct death_evidence e = evidence_of(row);
		struct death_verdict v;
		death_judge(&e, 0, &v);
		if (v.cause != row->cause || v.confidence_pct < row->least_pct || v.confidence_pct > row->most_pct)
			fail_msg("%s: %s at %u %%", row->name, death_cause_names[v.cause], v.confidence_pct);
		if (!strstr(v.why, row->why))
			fail_msg("%s: %s", row->name, v.why);
		if (row->missing ? !strstr(v.missing, row->missing) : v.missing[0] != '\0')
			fail_msg("%s: missing: %s", row->name, v.missing);
		/* Whole sentences: nothing was cut. */
		assert_true(strlen(v.why) < sizeof v.why - 1 && strlen(v.missing) < sizeof v.missing - 1);
	}
}

/* A counter that went back is another cgroup's: a container of the same pod that started anew. */
static void another_cgroup_is_no_evidence(void **state)
{
	(void)state;
	struct death_evidence e = { .after_read = true, .limit = limit_set(GIB), .floor_bytes = qty_measured(GIB) };
	e.before.oom_kill = e.before.oom = count_of(5);
	e.after.oom_kill = e.after.oom = count_of(0);
	struct death_verdict v;
	death_judge(&e, 0, &v);
	assert_int_equal(v.cause, DEATH_CONTAINER_LIMIT);
	assert_in_range(v.confidence_pct, 70, 80);
	assert_non_null(strstr(v.missing, "a new one"));
}

/* What was never in sight did not go with the process: the change that gives sight is said instead. */
static void no_cgroup_in_sight(void **state)
{
	(void)state;
	struct death_verdict v;
	struct death_evidence e = { .limit = limit_set(GIB), .floor_bytes = qty_measured(GIB / 2) };
	death_judge(&e, 0, &v);
	assert_int_equal(v.cause, DEATH_UNKNOWN);
	assert_non_null(strstr(v.why, "no cgroup of the container was in sight"));
	assert_non_null(strstr(v.missing, "shareProcessNamespace"));
	assert_non_null(strstr(v.missing, "--cgroup DIR"));
	e.floor_bytes = qty_measured(GIB);
	death_judge(&e, 0, &v);
	assert_int_equal(v.cause, DEATH_CONTAINER_LIMIT);
	assert_non_null(strstr(v.missing, "--cgroup DIR"));
	/* One that was in sight. */
	e.before.oom = e.before.oom_kill = count_of(0);
	death_judge(&e, 0, &v);
	assert_null(strstr(v.missing, "--cgroup"));
	assert_non_null(strstr(v.missing, "its cgroup is gone"));
}

static void limit_that_would_have_survived(void **state)
{
	(void)state;
	struct death_verdict v;
	struct death_evidence e = { .limit = limit_set(GIB) };
	e.before = e.after = (struct cgroup_events){ .oom = count_of(0), .oom_kill = count_of(0) };
	death_judge(&e, 1, &v);
	assert_false(qty_known(v.survivable_limit)); /* no floor is known: unread, not 5 % */

	e.floor_bytes = qty_measured(700 * MIB);
	e.peak_bytes = qty_measured(800 * MIB);
	death_judge(&e, 100 * MIB, &v);
	assert_int_equal(v.survivable_limit.bytes, 945ULL * MIB);
	assert_int_equal(v.survivable_limit.state, QTY_INFERRED);

	/* Against a SIGKILL no limit helps. */
	e.after_read = true;
	death_judge(&e, 100 * MIB, &v);
	assert_int_equal(v.cause, DEATH_SIGKILL);
	assert_false(qty_known(v.survivable_limit));

	/* Killed at 1 GiB: less than that and the spike cannot have been enough. */
	e.after.oom = e.after.oom_kill = count_of(1);
	death_judge(&e, 100 * MIB, &v);
	assert_int_equal(v.cause, DEATH_CONTAINER_LIMIT);
	assert_int_equal(v.survivable_limit.bytes, (GIB + 100 * MIB) + (GIB + 100 * MIB) / 20);

	e.floor_bytes = qty_measured(UINT64_MAX);
	death_judge(&e, UINT64_MAX, &v);
	assert_int_equal(v.survivable_limit.bytes, UINT64_MAX);
}

/* A post-mortem's title says so: of what the kernel killed it is not said. */
static void stopped_with_its_pod(void **state)
{
	(void)state;
	struct death_verdict v;
	struct death_evidence e = { .limit = limit_set(GIB), .after_read = true, .perf_left = TRISTATE_FALSE };
	e.before = e.after = (struct cgroup_events){ .oom = count_of(0), .oom_kill = count_of(0) };
	death_judge(&e, 0, &v);
	assert_false(v.stopped || v.node_low);
	e.stop_asked = true;
	e.host_memory_bytes = qty_measured(64 * GIB);
	e.host_available_bytes = qty_measured(GIB);
	death_judge(&e, 0, &v);
	assert_true(v.stopped && v.node_low);
	e.after.oom = e.after.oom_kill = count_of(1);
	e.perf_left = TRISTATE_TRUE;
	death_judge(&e, 0, &v);
	assert_false(v.stopped);
}

static void who_grew(void **state)
{
	(void)state;
	struct qty first[OWNER_COUNT] = { 0 }, last[OWNER_COUNT] = { 0 };
	uint64_t grown = 7;
	assert_int_equal(death_owner(first, last, &grown), -1);
	first[OWNER_JAVA_HEAP] = qty_measured(100 * MIB);
	last[OWNER_JAVA_HEAP] = qty_measured(104 * MIB);
	last[OWNER_METASPACE] = qty_measured(GIB); /* not known before, nor is native-other: no growth */
	first[OWNER_PAGE_CACHE] = qty_measured(0);
	last[OWNER_PAGE_CACHE] = qty_measured(GIB); /* taken back before any kill */
	assert_int_equal(death_owner(first, last, &grown), -1);
	assert_int_equal(grown, 7);
	last[OWNER_JAVA_HEAP].bytes++;
	assert_int_equal(death_owner(first, last, &grown), OWNER_JAVA_HEAP);
	assert_int_equal(grown, 4 * MIB + 1);
	first[OWNER_METASPACE] = qty_measured(GIB);
	first[OWNER_NATIVE_OTHER] = qty_measured(0);
	last[OWNER_NATIVE_OTHER] = qty_measured(5 * MIB);
	assert_int_equal(death_owner(first, last, &grown), OWNER_NATIVE_OTHER);
}

/* Seen in the lab: RocksDB's metrics were unread while the TaskManager started, and java-heap was blamed. */
static void who_was_unread_at_first_stood_in_native_other(void **state)
{
	(void)state;
	struct qty first[OWNER_COUNT] = { 0 }, last[OWNER_COUNT] = { 0 };
	uint64_t grown = 0;
	first[OWNER_JAVA_HEAP] = qty_measured(17 * MIB);
	first[OWNER_NATIVE_OTHER] = qty_measured(86 * MIB);
	last[OWNER_JAVA_HEAP] = qty_measured(116 * MIB);
	last[OWNER_NATIVE_OTHER] = qty_measured(0);
	last[OWNER_ROCKSDB_MEMTABLES] = qty_measured(670 * MIB);
	assert_int_equal(death_owner(first, last, &grown), OWNER_ROCKSDB_MEMTABLES);
	assert_int_equal(grown, 584 * MIB);
	/* It may have been all of it. */
	last[OWNER_ROCKSDB_MEMTABLES] = qty_measured(60 * MIB);
	assert_int_equal(death_owner(first, last, &grown), OWNER_JAVA_HEAP);
	/* Of other groups, and with native-other unread as well, nothing is known. */
	last[OWNER_TMPFS] = qty_measured(900 * MIB);
	assert_int_equal(death_owner(first, last, &grown), OWNER_JAVA_HEAP);
	last[OWNER_ROCKSDB_MEMTABLES] = qty_measured(670 * MIB);
	first[OWNER_NATIVE_OTHER] = (struct qty){ 0 };
	assert_int_equal(death_owner(first, last, &grown), OWNER_JAVA_HEAP);
}

static void names_are_all_there(void **state)
{
	(void)state;
	for (int i = 0; i < DEATH_CAUSE_COUNT; i++)
		assert_non_null(death_cause_names[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_of_the_table),
		cmocka_unit_test(another_cgroup_is_no_evidence),
		cmocka_unit_test(no_cgroup_in_sight),
		cmocka_unit_test(limit_that_would_have_survived),
		cmocka_unit_test(stopped_with_its_pod),
		cmocka_unit_test(who_grew),
		cmocka_unit_test(who_was_unread_at_first_stood_in_native_other),
		cmocka_unit_test(names_are_all_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
