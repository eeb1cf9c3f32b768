/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/death.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/sat.h"
#include "base/units.h"
#include "ledger/trend.h"

const char *const death_cause_names[DEATH_CAUSE_COUNT] = { "unknown", "container-limit", "pod-limit", "node",
							   "outside", "sigkill",         "java-oom",  "exit" };

enum {
	NEAR_LIMIT_PCT = 95, /* of a limit that is said to have been full */
	PAST_LIMIT_PCT = 5,  /* by what smaps and status may be wrong, and more */
	NODE_LOW_PCT = 5,    /* of memory available: kubelet evicts at 100 MiB, the kernel kills at none */
	NODE_STALL_BP =
		2000, /* a fifth of the last ten seconds in which nobody on the node could run for want of memory */
	JAVA_FULL_PCT =
		95, /* of the heap: HotSpot gives up only where a full collection finds (next to) nothing to free */
	FRESH_MS = 10000,      /* a last reading older than this says little of the end */
	STATUS_JVM_OOM = 3,    /* HotSpot, report_java_out_of_memory(): os::_exit(3) with ExitOnOutOfMemoryError */
	STATUS_ABORT = 134,    /* 128 + SIGABRT: CrashOnOutOfMemoryError, or a crash of the JVM */
	STATUS_KILL = 137,     /* 128 + SIGKILL */
	STATUS_SEGV = 139,     /* 128 + SIGSEGV, which HotSpot turns into an abort where it can */
	STATUS_TERM = 143,     /* 128 + SIGTERM: HotSpot runs its shutdown hooks and ends so */
	STATUS_FLINK_OOM = 239 /* FatalExitExceptionHandler.EXIT_CODE -17: an error that Flink could not survive */
};

/* By how much a counter rose; unknown where it is not known on both sides, or went back: another cgroup then. */
static struct count rise(struct count before, struct count after)
{
	if (!before.known || !after.known || after.n < before.n)
		return (struct count){ 0 };
	return count_of(after.n - before.n);
}

static bool rose(struct count count)
{
	return count.known && count.n > 0;
}

/* A limit that is told may be the wrong one: the kernel lets nobody past the one in force. */
static bool is_past(struct qty bytes, struct limit limit)
{
	return limit.kind == LIMIT_SET && qty_known(bytes) &&
	       bytes.bytes > sat_add(limit.bytes, limit.bytes / 100 * PAST_LIMIT_PCT);
}

static bool near(struct qty bytes, struct limit limit)
{
	return limit.kind == LIMIT_SET && limit.bytes > 0 && qty_known(bytes) && !is_past(bytes, limit) &&
	       sat_mul(bytes.bytes, 100) / NEAR_LIMIT_PCT >= limit.bytes;
}

bool death_node_is_low(const struct death_evidence *e)
{
	if (qty_known(e->host_available_bytes) && qty_known(e->host_memory_bytes) &&
	    e->host_available_bytes.bytes < e->host_memory_bytes.bytes / 100 * NODE_LOW_PCT)
		return true;
	return e->node_psi_full_avg10_bp.known && e->node_psi_full_avg10_bp.n >= NODE_STALL_BP;
}

/*
 * What is known of the pod's memory: its charge where somebody sees it, else what this container and those others that
 * are in sight hold and the kernel cannot take back. The pod has at least that.
 */
static struct qty pod_bytes(const struct death_evidence *e)
{
	if (qty_known(e->pod_charge_bytes))
		return e->pod_charge_bytes;
	return qty_add(e->floor_bytes, qty_of(qty_or(e->pod_others_bytes, 0), QTY_INFERRED));
}

static void say(struct death_verdict *v, enum death_cause cause, unsigned confidence_pct, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
static void say(struct death_verdict *v, enum death_cause cause, unsigned confidence_pct, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	v->cause = cause;
	v->confidence_pct = confidence_pct;
	(void)vsnprintf(v->why, sizeof v->why, format, args);
	va_end(args);
}

static void miss(struct death_verdict *v, const char *what)
{
	(void)snprintf(v->missing, sizeof v->missing, "%s", what);
}

/* The kernel killed within the container's own limit: oom and oom_kill rose together. */
static void own_limit(const struct death_evidence *e, struct count oom, struct count kills, struct death_verdict *v)
{
	char limit[UNITS_TEXT_CAP] = "";
	if (e->limit.kind == LIMIT_SET)
		(void)units_format(limit, e->limit.bytes);
	bool group = rose(rise(e->before.oom_group_kill, e->after.oom_group_kill));
	/* A pid that vanished is no victim by that alone: a killed JVM cannot take its file away. */
	bool by_itself = !group && e->perf_left == TRISTATE_FALSE;
	say(v, by_itself ? DEATH_EXIT : DEATH_CONTAINER_LIMIT,
	    group       ? 99
	    : by_itself ? 70
			: 95,
	    "memory.events of the container: oom rose by %llu and oom_kill by %llu%s: the kernel killed at this container's own limit%s%s%s",
	    (unsigned long long)oom.n, (unsigned long long)kills.n,
	    group ? " (under memory.oom.group one victim counts 2)" : "", limit[0] ? " of " : "", limit,
	    by_itself ? ", another process: the JVM took its hsperfdata file away, so it ended by itself" : "");
	if (by_itself)
		miss(v, "which process was killed: the node's kernel log; why the JVM ended: its exit status and log");
	else if (!group)
		miss(v, "without memory.oom.group the victim may have been another process of the container");
}

/* oom_kill alone: killed by the kernel, within a limit above this cgroup or by the node. */
static void from_outside(const struct death_evidence *e, struct count kills, struct death_verdict *v)
{
	unsigned long long n = kills.n;
	bool pod = near(pod_bytes(e), e->pod_limit), node = death_node_is_low(e);
	if (pod) {
		say(v, DEATH_POD_LIMIT, node ? 60 : 85,
		    "memory.events of the container: oom_kill rose by %llu and oom did not, and the pod was %s%llu %% of its limit",
		    n, qty_known(e->pod_charge_bytes) ? "at " : "at no less than ",
		    (unsigned long long)(sat_mul(pod_bytes(e).bytes, 100) / e->pod_limit.bytes));
		miss(v, node ? "the node was short of memory too: memory.events of the pod would tell"
			     : "memory.events of the pod");
	} else if (node) {
		say(v, DEATH_NODE, 75,
		    "memory.events of the container: oom_kill rose by %llu and oom did not, and the node was out of memory",
		    n);
		miss(v, "the node's kernel log (dmesg: constraint=CONSTRAINT_NONE), memory.events of the pod");
	} else {
		say(v, DEATH_OUTSIDE, 90,
		    "memory.events of the container: oom_kill rose by %llu and oom did not: the kernel killed for the pod's limit or the node's want of memory, not for this container's limit",
		    n);
		miss(v, e->pod_limit.kind == LIMIT_SET
				? "memory.events of the pod, the node's kernel log"
				: "the pod's limit and its memory.events, the node's kernel log");
	}
	if (e->last_seen_ms > FRESH_MS && v->confidence_pct > 60)
		v->confidence_pct = v->cause == DEATH_OUTSIDE ? v->confidence_pct : 60;
}

/* The kernel killed, and the counter that tells at whose limit is not there. */
static void killed_somewhere(const struct death_evidence *e, struct count kills, struct death_verdict *v)
{
	bool full = near(e->floor_bytes, e->limit);
	say(v, full ? DEATH_CONTAINER_LIMIT : DEATH_OUTSIDE, full ? 70 : 50,
	    "memory.events of the container: oom_kill rose by %llu, oom is not known, and the container was %s its limit",
	    (unsigned long long)kills.n, full ? "at" : "not seen at");
	miss(v, "the counter oom of memory.events: without it the container's own limit is not excluded");
}

/* What its exit status says, where it has one and nothing else is known to have killed it. False: nothing. */
static bool by_status(const struct death_evidence *e, struct death_verdict *v)
{
	if (!e->exit_status.known)
		return false;
	unsigned long long status = e->exit_status.n;
	switch (status) {
	case STATUS_JVM_OOM:
		say(v, DEATH_JAVA_OOM, 90, "exit status 3: what HotSpot ends with under -XX:+ExitOnOutOfMemoryError");
		miss(v, "which OutOfMemoryError it was: the last lines of the JVM's log");
		return true;
	case STATUS_ABORT:
		say(v, DEATH_EXIT, 80, "exit status 134: the JVM aborted (SIGABRT), which is how it crashes");
		miss(v, "hs_err_pid*.log; with -XX:+CrashOnOutOfMemoryError it names an OutOfMemoryError");
		return true;
	case STATUS_SEGV:
		say(v, DEATH_EXIT, 80, "exit status 139: ended by SIGSEGV, a crash of native code");
		miss(v, "hs_err_pid*.log or a core file");
		return true;
	case STATUS_KILL:
		say(v, DEATH_SIGKILL, 90, "exit status 137 and no oom_kill: SIGKILL from somebody");
		miss(v, "who sent it: events of the pod (eviction, failed liveness probe, grace period over)");
		return true;
	case STATUS_TERM:
		say(v, DEATH_EXIT, 95, "exit status 143: it was asked to stop (SIGTERM) and did");
		return true;
	case STATUS_FLINK_OOM:
		say(v, DEATH_EXIT, 85, "exit status 239: Flink ended itself after a fatal error in one of its threads");
		miss(v, "the last lines of the JVM's log name the error");
		return true;
	default:
		say(v, DEATH_EXIT, 90, "exit status %llu and no oom_kill: it ended by itself", status);
		return true;
	}
}

static const char *full_part(const struct death_evidence *e, unsigned long long *ret_pct)
{
	bool heap = e->heap_full_pct.known && e->heap_full_pct.n >= JAVA_FULL_PCT;
	bool metaspace = e->metaspace_full_pct.known && e->metaspace_full_pct.n >= JAVA_FULL_PCT;
	*ret_pct = heap ? e->heap_full_pct.n : e->metaspace_full_pct.n;
	return heap ? "heap" : metaspace ? "metaspace" : NULL;
}

/* It took its hsperfdata file away. */
static void ended_by_itself(const struct death_evidence *e, struct death_verdict *v)
{
	unsigned long long pct;
	const char *full = full_part(e, &pct);
	const char *events = e->after_read ? "; memory.events of the container shows no oom_kill" : "";
	if (e->stop_asked) {
		say(v, DEATH_EXIT, 90,
		    "the pod was being stopped (SIGTERM came to the agent beside it, too) and the JVM ended by itself, by its hsperfdata file%s%s",
		    events, v->node_low ? "; the node was short of memory, which is when kubelet evicts" : "");
		miss(v, "who stopped the pod: its events (eviction, drain, preemption, a rollout, fewer replicas)");
	} else if (full) {
		say(v, DEATH_JAVA_OOM, 60,
		    "the JVM exited (it took its hsperfdata file away) with its %s %llu %% full after a collection%s",
		    full, pct, events);
		miss(v,
		     "which OutOfMemoryError, if it was one: the last lines of its log; its exit status (Flink's is 239)");
	} else {
		say(v, DEATH_EXIT, e->after_read ? 85 : 75,
		    "the JVM took its hsperfdata file away, as it does when it exits, is asked to stop (SIGTERM) or crashes, and cannot when it is killed%s",
		    events);
		miss(v,
		     "its exit status: 143 is a stop, 134 a crash, 1 often an uncaught error; the last lines of its log");
	}
}

/* It left its hsperfdata file behind. */
static void ended_at_once(const struct death_evidence *e, struct death_verdict *v)
{
	unsigned long long pct;
	const char *full = e->exits_on_oom ? full_part(e, &pct) : NULL;
	const char *events = e->after_read ? "memory.events of the container did not rise" : "";
	if (full) {
		say(v, DEATH_JAVA_OOM, e->after_read ? 75 : 60,
		    "its %s was %llu %% full after a collection, and -XX:+ExitOnOutOfMemoryError ends a JVM at once, as this one ended (it left its hsperfdata file)%s%s",
		    full, pct, events[0] ? "; " : "", events);
		miss(v, "its exit status: 3 is ExitOnOutOfMemoryError, 137 SIGKILL, as of a probe that got no answer");
		return;
	}
	say(v, DEATH_SIGKILL, e->exits_on_oom || !e->after_read ? 60 : 80,
	    "%s, and the JVM left its hsperfdata file behind: SIGKILL (%s%s)%s%s",
	    e->after_read ? events : "nothing was near its limit when last seen",
	    e->after_read ? "" : "the kernel's OOM killer is not excluded; ",
	    e->stop_asked ? "the pod was being stopped, and it did not end within the grace period"
			  : "eviction, a failed probe, a person",
	    e->exits_on_oom ? ", or -XX:+ExitOnOutOfMemoryError, which it runs with and which leaves it too" : "",
	    v->node_low ? "; the node was short of memory" : "");
	if (e->exits_on_oom)
		miss(v, "its exit status: 137 is SIGKILL, 3 is ExitOnOutOfMemoryError");
	else if (e->after_read)
		miss(v, "who sent it: events of the pod (eviction, failed liveness probe, grace period over)");
}

/*
 * One does not see the exit status of somebody else's child, but a JVM that ends by itself takes its hsperfdata file away, and
 * one that is killed cannot: jvm/hsperffile.h has what was tried. False: it is not known.
 */
static bool by_what_it_left(const struct death_evidence *e, struct death_verdict *v)
{
	if (e->perf_left == TRISTATE_FALSE)
		ended_by_itself(e, v);
	else if (e->perf_left == TRISTATE_TRUE)
		ended_at_once(e, v);
	return e->perf_left != TRISTATE_UNREAD;
}

/* The kernel's events say that it was no OOM kill. */
static void not_killed_by_kernel(const struct death_evidence *e, struct death_verdict *v)
{
	if (e->java_oom_seen) {
		say(v, DEATH_JAVA_OOM, 95,
		    "an OutOfMemoryError of Java ended it, by what the JVM left; memory.events of the container shows no oom_kill");
		return;
	}
	if (by_status(e, v))
		return;
	if (by_what_it_left(e, v))
		return;
	/* One does not see the exit status of somebody else's child. */
	say(v, DEATH_SIGKILL, 55,
	    "memory.events of the container did not rise: no OOM kill, so SIGKILL (eviction, a failed probe, a person) or an exit of its own");
	miss(v,
	     "its exit status (kubectl get pod: lastState.terminated): 137 is SIGKILL, 143 a stop, others its own exit");
}

/* The cgroup went with the process, or was never in sight: only what was seen before is left. */
static void by_last_sight(const struct death_evidence *e, struct death_verdict *v)
{
	bool fresh = e->last_seen_ms <= FRESH_MS;
	/* Not read while it lived either: no cgroup went, none was ever in sight. */
	bool never = !e->after_read && !e->before.oom_kill.known;
	const char *how = fresh ? "" : ", though that was a while before";
	if (e->java_oom_seen) {
		say(v, DEATH_JAVA_OOM, 85, "an OutOfMemoryError of Java ended it, by what the JVM left");
	} else if (e->exit_status.known && e->exit_status.n != STATUS_KILL) {
		(void)by_status(e, v);
	} else if (e->perf_left == TRISTATE_FALSE) {
		(void)by_what_it_left(e, v);
	} else if (near(e->floor_bytes, e->limit)) {
		say(v, DEATH_CONTAINER_LIMIT, fresh ? 75 : 50,
		    "what the kernel cannot reclaim was over %d %% of the container's limit when last seen%s",
		    NEAR_LIMIT_PCT, how);
	} else if (near(pod_bytes(e), e->pod_limit)) {
		say(v, DEATH_POD_LIMIT, fresh ? 55 : 40, "the pod was over %d %% of its limit when last seen%s",
		    NEAR_LIMIT_PCT, how);
	} else if (death_node_is_low(e)) {
		say(v, DEATH_NODE, fresh ? 50 : 35, "the node was out of memory when last seen%s", how);
	} else if (!is_past(e->floor_bytes, e->limit) && near(e->peak_bytes, e->limit)) {
		/* It may have peaked once more, unseen; or it was ended long after. */
		say(v, DEATH_CONTAINER_LIMIT, 40,
		    "what the kernel cannot reclaim had been over %d %% of the container's limit at its highest, and was less when last seen",
		    NEAR_LIMIT_PCT);
	} else if (by_status(e, v)) {
		/* 137, far from every limit that is known. */
		v->confidence_pct = 60;
	} else if (by_what_it_left(e, v)) {
		/* Killed, far from every limit that is known. */
	} else {
		say(v, DEATH_UNKNOWN, 0,
		    never ? "nothing was near its limit when last seen, and no cgroup of the container was in sight, before its death or after"
			  : "nothing was near its limit when last seen, and memory.events of the container could not be read after it");
	}
	if (v->missing[0])
		return;
	if (is_past(e->floor_bytes, e->limit) || is_past(e->peak_bytes, e->limit))
		miss(v,
		     "the limit in force: what the kernel cannot reclaim stood past the one that was told (--limit), so it is another");
	else if (never)
		miss(v,
		     "memory.events: no cgroup was in sight; run where the container's cgroup v2 directory is visible (same pod, shareProcessNamespace) or give --cgroup DIR");
	else
		miss(v, "memory.events of the container after the death: its cgroup is gone or a new one");
}

static void survivable(const struct death_evidence *e, uint64_t spike_bytes, struct death_verdict *v)
{
	bool by_limit = v->cause == DEATH_CONTAINER_LIMIT || v->cause == DEATH_POD_LIMIT || v->cause == DEATH_OUTSIDE ||
			v->cause == DEATH_UNKNOWN;
	/* No limit would have helped against a full heap, a node without memory, or a person. */
	if (!by_limit || (!qty_known(e->floor_bytes) && !qty_known(e->peak_bytes)))
		return;
	uint64_t floor = qty_or(e->floor_bytes, 0), peak = qty_or(e->peak_bytes, 0);
	uint64_t need = floor > peak ? floor : peak;
	/* It was killed because it wanted more than this, whatever was seen seconds before. */
	if (v->cause == DEATH_CONTAINER_LIMIT && e->limit.kind == LIMIT_SET && e->limit.bytes > need)
		need = e->limit.bytes;
	need = sat_add(need, spike_bytes);
	v->survivable_limit = qty_of(sat_add(need, need / 20), QTY_INFERRED);
}

void death_judge(const struct death_evidence *evidence, uint64_t spike_bytes, struct death_verdict *ret_verdict)
{
	struct death_verdict v = { .node_low = death_node_is_low(evidence) };
	struct count oom = rise(evidence->before.oom, evidence->after.oom);
	struct count kills = rise(evidence->before.oom_kill, evidence->after.oom_kill);
	if (!evidence->after_read || !kills.known) {
		by_last_sight(evidence, &v);
	} else if (rose(kills) && rose(oom)) {
		own_limit(evidence, oom, kills, &v);
	} else if (rose(kills)) {
		if (oom.known)
			from_outside(evidence, kills, &v);
		else
			killed_somewhere(evidence, kills, &v);
	} else {
		not_killed_by_kernel(evidence, &v);
	}
	v.stopped = evidence->stop_asked && (v.cause == DEATH_EXIT || v.cause == DEATH_SIGKILL);
	survivable(evidence, spike_bytes, &v);
	*ret_verdict = v;
}

int64_t death_grown(struct qty from, struct qty to)
{
	int64_t grown;
	if (!qty_known(from) || !qty_known(to))
		return 0;
	if (__builtin_sub_overflow(to.bytes, from.bytes, &grown))
		return to.bytes > from.bytes ? INT64_MAX : INT64_MIN;
	return grown;
}

struct qty death_from(const struct qty first[OWNER_COUNT], const struct qty last[OWNER_COUNT], enum owner owner)
{
	struct qty other = first[OWNER_NATIVE_OTHER];
	if (qty_known(first[owner]) || owner_table[owner].group != GROUP_ANON || !qty_known(other) ||
	    !qty_known(last[owner]))
		return first[owner];
	return qty_of(other.bytes < last[owner].bytes ? other.bytes : last[owner].bytes, QTY_INFERRED);
}

int death_owner(const struct qty first[OWNER_COUNT], const struct qty last[OWNER_COUNT], uint64_t *ret_grown_bytes)
{
	int most = -1;
	int64_t grown = TREND_NOISE_BYTES;
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		int64_t by = death_grown(death_from(first, last, (enum owner)owner), last[owner]);
		/* What is taken back before a kill may have grown, but it killed nobody. */
		if (by <= grown || owner_is_reclaimable((enum owner)owner))
			continue;
		most = owner;
		grown = by;
	}
	if (most >= 0)
		*ret_grown_bytes = (uint64_t)grown;
	return most;
}
