/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/death_told.h"

#include <stdio.h>

enum { STATUS_KILL = 137, STATUS_JVM_OOM = 3 };

const char *const death_told_effect_names[DEATH_TOLD_COUNT] = { "adds", "confirms", "corrects" };

static enum death_told_effect say(struct death_verdict *v, enum death_cause before, enum death_cause cause,
				  unsigned confidence_pct, const char *why)
{
	v->cause = cause;
	v->confidence_pct = confidence_pct;
	(void)snprintf(v->why, sizeof v->why, "%s", why);
	return cause == before ? DEATH_TOLD_CONFIRMS : DEATH_TOLD_CORRECTS;
}

static bool by_kernel(enum death_cause cause)
{
	return cause == DEATH_CONTAINER_LIMIT || cause == DEATH_POD_LIMIT || cause == DEATH_NODE ||
	       cause == DEATH_OUTSIDE;
}

/* Whose limit it was the kernel's events tell, where somebody read them; else how full this container was. */
static enum death_told_effect killed(enum death_cause before, const struct death_told *told, struct death_verdict *v)
{
	if (by_kernel(before))
		return say(v, before, before, 99, "Kubernetes: OOMKilled");
	if (told->at_limit == TRISTATE_TRUE)
		return say(v, before, DEATH_CONTAINER_LIMIT, 90,
			   "Kubernetes: OOMKilled, and the container was at its limit when last seen");
	if (told->at_limit == TRISTATE_UNREAD && before == DEATH_UNKNOWN) {
		(void)snprintf(
			v->why, sizeof v->why,
			"Kubernetes: OOMKilled; nobody saw how full the container was, so at whose limit is not known");
		return DEATH_TOLD_ADDS;
	}
	return say(v, before, DEATH_OUTSIDE, 50, "Kubernetes: OOMKilled, and the container was not seen at its limit");
}

/* The kubelet's words (pkg/kubelet/eviction/helpers.go): "The node was low on resource: memory. ...". */
static enum death_told_effect evicted(enum death_cause before, const struct death_told *told, struct death_verdict *v)
{
	if (strstr(told->pod_message, "low on resource: memory"))
		return say(v, before, DEATH_NODE, 95, "Kubernetes: evicted, the node was low on memory");
	return say(v, before, DEATH_SIGKILL, 95, "Kubernetes: evicted, for another want than memory");
}

/* It says how the process ended: what was only deduced gives way, what the kernel counted does not. */
static enum death_told_effect exited(enum death_cause before, const struct death_told *told, struct death_verdict *v)
{
	const struct death_evidence evidence = { .exit_status = count_of((uint64_t)told->exit_code) };
	struct death_verdict by_status = { 0 };
	death_judge(&evidence, 0, &by_status);
	if (by_status.cause == DEATH_UNKNOWN || by_kernel(before) ||
	    (before == DEATH_JAVA_OOM && told->exit_code != STATUS_KILL) ||
	    (told->exit_code == STATUS_KILL && before == DEATH_UNKNOWN && told->at_limit == TRISTATE_TRUE))
		return DEATH_TOLD_ADDS;
	char why[sizeof by_status.why];
	(void)snprintf(why, sizeof why, "Kubernetes: exit status %d%s", told->exit_code,
		       told->exit_code == STATUS_KILL      ? ", and not OOMKilled"
		       : told->exit_code == STATUS_JVM_OOM ? ", which -XX:+ExitOnOutOfMemoryError ends with"
							   : "");
	return say(v, before, by_status.cause, by_status.cause == DEATH_SIGKILL ? 80 : 90, why);
}

enum death_told_effect death_hear(enum death_cause before, const struct death_told *told,
				  struct death_verdict *ret_verdict)
{
	struct death_verdict verdict = { .cause = before };
	enum death_told_effect effect = DEATH_TOLD_ADDS;
	/* With another status than SIGKILL's the main process ended by itself, after another one was killed. */
	if (strcmp(told->reason, "OOMKilled") == 0 && (told->exit_code == STATUS_KILL || told->exit_code < 0))
		effect = killed(before, told, &verdict);
	else if (strcmp(told->pod_reason, "Evicted") == 0 && !by_kernel(before))
		effect = evicted(before, told, &verdict);
	else if (told->exit_code >= 0)
		effect = exited(before, told, &verdict);
	if (effect == DEATH_TOLD_ADDS) {
		verdict.cause = before;
		verdict.confidence_pct = 0;
	}
	*ret_verdict = verdict;
	return effect;
}
