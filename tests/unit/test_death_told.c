/* SPDX-License-Identifier: Apache-2.0 */
/* What Kubernetes tells of a death, against what was known of it: DESIGN 3.5 says what may be corrected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "ledger/death_told.h"

#define MEMORY "The node was low on resource: memory. Threshold quantity: 100Mi, available: 56Mi."
#define DISK   "The node was low on resource: ephemeral-storage."

static const struct {
	enum death_cause before;
	const char *reason, *pod_reason, *pod_message;
	int exit_code;
	enum tristate at_limit;
	enum death_told_effect effect;
	enum death_cause cause;
} cases[] = {
	/* The kernel's own counters stand; the kubelet confirms them. */
	{ DEATH_CONTAINER_LIMIT, "OOMKilled", "", "", 137, TRISTATE_TRUE, DEATH_TOLD_CONFIRMS, DEATH_CONTAINER_LIMIT },
	{ DEATH_POD_LIMIT, "OOMKilled", "", "", 137, TRISTATE_TRUE, DEATH_TOLD_CONFIRMS, DEATH_POD_LIMIT },
	{ DEATH_NODE, "OOMKilled", "", "", 137, TRISTATE_FALSE, DEATH_TOLD_CONFIRMS, DEATH_NODE },
	{ DEATH_CONTAINER_LIMIT, "Error", "", "", 1, TRISTATE_FALSE, DEATH_TOLD_ADDS, DEATH_CONTAINER_LIMIT },
	{ DEATH_CONTAINER_LIMIT, "", "Evicted", MEMORY, -1, TRISTATE_FALSE, DEATH_TOLD_ADDS, DEATH_CONTAINER_LIMIT },
	/* OOMKilled does not say at whose limit: that is known only where this container's was full. */
	{ DEATH_UNKNOWN, "OOMKilled", "", "", 137, TRISTATE_TRUE, DEATH_TOLD_CORRECTS, DEATH_CONTAINER_LIMIT },
	{ DEATH_UNKNOWN, "OOMKilled", "", "", 137, TRISTATE_FALSE, DEATH_TOLD_CORRECTS, DEATH_OUTSIDE },
	{ DEATH_UNKNOWN, "OOMKilled", "", "", 137, TRISTATE_UNREAD, DEATH_TOLD_ADDS, DEATH_UNKNOWN },
	{ DEATH_SIGKILL, "OOMKilled", "", "", 137, TRISTATE_UNREAD, DEATH_TOLD_CORRECTS, DEATH_OUTSIDE },
	{ DEATH_SIGKILL, "OOMKilled", "", "", 137, TRISTATE_TRUE, DEATH_TOLD_CORRECTS, DEATH_CONTAINER_LIMIT },
	{ DEATH_EXIT, "OOMKilled", "", "", 137, TRISTATE_FALSE, DEATH_TOLD_CORRECTS, DEATH_OUTSIDE },
	/* Another process of the container was killed. */
	{ DEATH_EXIT, "OOMKilled", "", "", 1, TRISTATE_TRUE, DEATH_TOLD_CONFIRMS, DEATH_EXIT },
	/* Evicted for memory or for something else. */
	{ DEATH_UNKNOWN, "", "Evicted", MEMORY, -1, TRISTATE_TRUE, DEATH_TOLD_CORRECTS, DEATH_NODE },
	{ DEATH_SIGKILL, "Error", "Evicted", MEMORY, 137, TRISTATE_FALSE, DEATH_TOLD_CORRECTS, DEATH_NODE },
	{ DEATH_UNKNOWN, "Error", "Evicted", DISK, 137, TRISTATE_FALSE, DEATH_TOLD_CORRECTS, DEATH_SIGKILL },
	/* Exit statuses. */
	{ DEATH_SIGKILL, "Error", "", "", 137, TRISTATE_FALSE, DEATH_TOLD_CONFIRMS, DEATH_SIGKILL },
	{ DEATH_SIGKILL, "Error", "", "", 143, TRISTATE_FALSE, DEATH_TOLD_CORRECTS, DEATH_EXIT },
	{ DEATH_SIGKILL, "Error", "", "", 3, TRISTATE_FALSE, DEATH_TOLD_CORRECTS, DEATH_JAVA_OOM },
	{ DEATH_EXIT, "Completed", "", "", 0, TRISTATE_FALSE, DEATH_TOLD_CONFIRMS, DEATH_EXIT },
	{ DEATH_UNKNOWN, "Error", "", "", 1, TRISTATE_TRUE, DEATH_TOLD_CORRECTS, DEATH_EXIT },
	{ DEATH_JAVA_OOM, "Error", "", "", 1, TRISTATE_FALSE, DEATH_TOLD_ADDS, DEATH_JAVA_OOM },
	{ DEATH_JAVA_OOM, "Error", "", "", 137, TRISTATE_FALSE, DEATH_TOLD_CORRECTS, DEATH_SIGKILL },
	/* Killed at the limit and not OOMKilled: the kubelet may have missed it, so nothing is known. */
	{ DEATH_UNKNOWN, "Error", "", "", 137, TRISTATE_TRUE, DEATH_TOLD_ADDS, DEATH_UNKNOWN },
	{ DEATH_UNKNOWN, "", "EvictionByEvictionAPI", "", -1, TRISTATE_FALSE, DEATH_TOLD_ADDS, DEATH_UNKNOWN },
};

static void all(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const struct death_told told = { .reason = cases[i].reason,
						 .pod_reason = cases[i].pod_reason,
						 .pod_message = cases[i].pod_message,
						 .exit_code = cases[i].exit_code,
						 .at_limit = cases[i].at_limit };
		struct death_verdict verdict;
		enum death_told_effect effect = death_hear(cases[i].before, &told, &verdict);
		if (effect != cases[i].effect || verdict.cause != cases[i].cause)
			fail_msg("case %zu: %s, %s: %s", i, death_told_effect_names[effect],
				 death_cause_names[verdict.cause], verdict.why);
		assert_true((effect == DEATH_TOLD_ADDS) == (verdict.confidence_pct == 0));
		/* What is said where nothing is changed: why that cannot be told. */
		bool unread = strcmp(cases[i].reason, "OOMKilled") == 0 && cases[i].at_limit == TRISTATE_UNREAD;
		assert_true((effect == DEATH_TOLD_ADDS && !unread) == (verdict.why[0] == '\0'));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(all) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
