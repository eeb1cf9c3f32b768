/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kill by the kernel, from the counters of memory.events. Who was short of memory follows from where the events
 * were raised: `oom` at the cgroup whose limit was hit, `oom_kill` at the victim's (mm/memcontrol.c, mm/oom_kill.c). So
 * `oom` with `oom_kill` is this container's own limit, `oom_kill` alone a limit above it, or the node. Both count
 * since the cgroup was made, and one victim under memory.oom.group counts twice: they are no number of victims.
 */
#include "rules/all.h"
#include "rules/judged.h"
#include "rules/room.h"
#include "rules/text.h"

enum origin {
	FROM_OWN,     /* this container's limit */
	FROM_BELOW,   /* the limit of a cgroup inside the container */
	FROM_POD,     /* the pod's limit, which what is in sight of the pod nearly fills now */
	FROM_OUTSIDE, /* the pod's limit or the node */
	FROM_UNKNOWN  /* `oom` is unread */
};

static enum origin origin_of(const struct rule_input *input)
{
	const struct cgroup_memory *cg = &input->snapshot->cgroup;
	const struct limit *pod = &input->snapshot->pod_limit;
	uint64_t others = qty_or(input->snapshot->pod_others_bytes, 0);
	if (!cg->events.oom.known)
		return FROM_UNKNOWN;
	if (cg->events.oom.n)
		return cg->events_local.oom.known && cg->events_local.oom.n == 0 ? FROM_BELOW : FROM_OWN;
	if (pod->kind == LIMIT_SET && qty_known(input->ledger->floor_bytes) &&
	    sat_add(input->ledger->floor_bytes.bytes, others) > judged_share(input, T_OOM_KILL_POD, pod->bytes))
		return FROM_POD;
	return FROM_OUTSIDE;
}

/* Whose bytes went with the last kill, where an agent saw it. */
static const struct killed *victim(const struct rule_input *input)
{
	return input->killed && input->killed->known ? input->killed : NULL;
}

static void write_title(const struct rule_input *input, enum origin origin, struct finding *finding)
{
	char a[UNITS_TEXT_CAP];
	struct judged_limit limit;
	static const char killed[] = "the kernel has killed a process of this container";
	switch (origin) {
	case FROM_OWN:
		if (judged_container(input->ledger, &limit))
			finding_title(finding, "%s at the container's own limit, now %s", killed,
				      units_format(a, limit.bytes));
		else
			finding_title(finding, "%s at the container's own limit", killed);
		break;
	case FROM_BELOW:
		finding_title(finding, "%s at the limit of a cgroup inside it", killed);
		break;
	case FROM_POD:
		finding_title(finding, "%s from outside it, most likely at the pod's limit of %s", killed,
			      units_format(a, input->snapshot->pod_limit.bytes));
		break;
	case FROM_OUTSIDE:
		finding_title(finding, "%s from outside it: the pod's limit or the node, not its own limit", killed);
		break;
	case FROM_UNKNOWN:
		finding_title(finding, "%s; at whose limit could not be read", killed);
		break;
	}
}

static void observe(const struct rule_input *input, enum origin origin, struct finding *finding)
{
	const struct cgroup_events *events = &input->snapshot->cgroup.events;
	const struct ledger *ledger = input->ledger;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	if (events->oom.known)
		finding_observation(finding, "memory.events: oom %llu, oom_kill %llu",
				    (unsigned long long)events->oom.n, (unsigned long long)events->oom_kill.n);
	else
		finding_observation(finding, "memory.events: oom_kill %llu", (unsigned long long)events->oom_kill.n);
	finding_observation(
		finding,
		"since the container started, when is not told; it is no number of victims, one can count twice.");
	if (origin == FROM_OWN)
		finding_observation(finding, "What the kernel cannot reclaim had reached the limit itself.");
	if (origin == FROM_POD || origin == FROM_OUTSIDE)
		finding_observation(finding, "oom did not rise here, so this container's own limit was not hit.");
	if (events->oom_group_kill.known && events->oom_group_kill.n)
		finding_observation(
			finding,
			"A whole cgroup was killed at once (oom_group_kill %llu), so this JVM may be a later one.",
			(unsigned long long)events->oom_group_kill.n);
	else
		finding_observation(
			finding,
			"This JVM lives: the victim was another process here, or an earlier JVM that the entrypoint started again.");
	const struct killed *gone = victim(input);
	if (gone)
		finding_observation(finding, "%s had fallen by %s at the scan after it.", owner_table[gone->owner].name,
				    units_format(a, gone->fell_bytes));
	if (ledger->listed[OWNER_OTHER_PROCESSES] && qty_or(ledger->lines[OWNER_OTHER_PROCESSES].bytes, 0))
		finding_observation(finding, "Other processes hold %s now.",
				    units_format(a, ledger->lines[OWNER_OTHER_PROCESSES].bytes.bytes));
	if (ledger->freeboard_bytes.known && qty_known(ledger->floor_bytes))
		finding_observation(finding, "Now the kernel cannot reclaim %s; freeboard %s.",
				    units_format(a, ledger->floor_bytes.bytes),
				    units_format_signed(b, ledger->freeboard_bytes.bytes));
}

static void outside_causes(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	if (snapshot->pod_limit.kind == LIMIT_SET && qty_known(input->ledger->floor_bytes))
		finding_cause(
			finding,
			"the pod's limit: the kernel log then names the pod's cgroup as oom_memcg; this container holds %s of %s now",
			units_format(a, input->ledger->floor_bytes.bytes), units_format(b, snapshot->pod_limit.bytes));
	else
		finding_cause(
			finding,
			"the pod's limit: the kernel log then names the pod's cgroup as oom_memcg (tell it with --pod-limit SIZE)");
	if (qty_known(snapshot->host_available_bytes) && qty_known(snapshot->host_memory_bytes))
		finding_cause(
			finding,
			"the node ran out: the kernel log then says global_oom; the node has %s of %s available now",
			units_format(a, snapshot->host_available_bytes.bytes),
			units_format(b, snapshot->host_memory_bytes.bytes));
	else
		finding_cause(
			finding,
			"the node ran out: the kernel log then says global_oom, and its other pods lost processes too");
}

static void name_causes(const struct rule_input *input, enum origin origin, struct finding *finding)
{
	if (origin != FROM_OWN && origin != FROM_BELOW) {
		outside_causes(input, finding);
	} else {
		finding_cause(
			finding,
			"a peak that passed (restore, checkpoint, compaction, a burst): then there is ample freeboard between peaks");
		finding_cause(
			finding,
			"another process of the container was the eater as well as the victim: then other-processes grows before a kill");
		finding_cause(
			finding,
			"the limit was lowered below what was in use: cgroup v2 kills then, and today's limit is not that of the kill");
	}
	finding_cause(
		finding,
		"another death than the one you look into: exit code 137 is a SIGKILL, and the kernel's only if oom_kill rose; 143 is SIGTERM, 239 Flink's own fatal exit, 3 -XX:+ExitOnOutOfMemoryError, 134 -XX:+CrashOnOutOfMemoryError, 1 a failed start");
}

static void change_for(const struct rule_input *input, enum origin origin, struct finding *finding)
{
	struct judged_limit limit;
	uint64_t critical;
	bool known = judged_container(input->ledger, &limit);
	if (origin == FROM_POD)
		limit = (struct judged_limit){ input->snapshot->pod_limit.bytes, "the pod's memory limit", "pod limit",
					       "--pod-limit", true };
	if (origin == FROM_BELOW) {
		finding_turn(finding, KNOB_LIMIT, TURN_UP);
		finding_change(
			finding,
			"raise memory.max of the cgroup below this container's whose own memory.events.local counts oom");
	} else if (origin == FROM_POD || (origin == FROM_OWN && known)) {
		/* At the kill the floor was the limit: what it takes is that, and the room at which freeboard-low warns. */
		uint64_t room = room_levels(input, limit.bytes, &critical);
		room_raise_limit(input, &limit, finding,
				 sat_add(limit.bytes, origin == FROM_OWN ? sat_add(room, room / 4) : room));
	} else {
		room_raise_request(
			input, finding,
			"the node then keeps that much for it, and the kernel takes pods first that use more than they requested");
	}
	if (known || origin == FROM_POD)
		finding_setting_bytes(finding, limit.setting, limit.bytes, limit.where);
}

static void figures(const struct rule_input *input, struct finding *finding)
{
	const struct cgroup_events *events = &input->snapshot->cgroup.events;
	const struct cgroup_events *local = &input->snapshot->cgroup.events_local;
	const struct {
		const char *name;
		const struct count *count;
	} counts[] = {
		{ "events_oom_kill", &events->oom_kill }, { "events_oom", &events->oom },
		{ "events_max", &events->max },           { "events_oom_group_kill", &events->oom_group_kill },
		{ "events_local_oom", &local->oom },      { "events_local_oom_kill", &local->oom_kill },
	};
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		if (counts[i].count->known)
			finding_bytes(finding, counts[i].name, counts[i].count->n);
	if (qty_known(input->ledger->floor_bytes))
		finding_bytes(finding, "floor_bytes", input->ledger->floor_bytes.bytes);
	if (input->ledger->freeboard_bytes.known)
		finding_figure(finding, "freeboard_bytes", input->ledger->freeboard_bytes.bytes);
}

enum rule_answer rule_oom_kill(const struct rule_input *input, struct finding *finding)
{
	const struct cgroup_events *events = &input->snapshot->cgroup.events;
	if (!events->oom_kill.known) {
		finding_missing_file(finding, input->snapshot, "memory.events",
				     events->max.known ? "no oom_kill in it: the kernel is older than 4.13"
						       : "the container's cgroup v2 was not read");
		return RULE_INCONCLUSIVE;
	}
	if (events->oom_kill.n <= judged_level(input, T_OOM_KILL_KILLS))
		return RULE_SILENT;
	enum origin origin = origin_of(input);
	finding->severity = origin == FROM_OWN && room_is_low(input) ? SEVERITY_CRITICAL : SEVERITY_WARNING;
	write_title(input, origin, finding);
	if (victim(input))
		finding->owner = (int)victim(input)->owner;
	observe(input, origin, finding);
	name_causes(input, origin, finding);
	if (origin == FROM_UNKNOWN)
		finding_missing(finding, "memory.events: no oom in it, which tells the container's own limit");
	finding_missing(finding, "the time of the kill and its victim: the node's kernel log has both (oom-kill:)");
	figures(input, finding);
	change_for(input, origin, finding);
	finding_validate(
		finding,
		"steady: oom_kill of memory.events stays at %llu through a full day's peak, or at 0 in a new container",
		(unsigned long long)events->oom_kill.n);
	finding_validate(finding,
			 "failure: the same while one TaskManager or instance is killed and its state is restored");
	return RULE_FIRED;
}
