/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/lately.h"

#define LATELY_NS ((uint64_t)LATELY_MS * 1000000)

static bool went_back(struct count before, struct count now)
{
	return before.known && now.known && now.n < before.n;
}

void lately_step(struct lately *lately, struct mono now, const struct cgroup_events *events)
{
	if (!events->oom_kill.known)
		return;
	if (!lately->known || went_back(lately->next.oom_kill, events->oom_kill) ||
	    went_back(lately->next.oom, events->oom)) {
		*lately = (struct lately){ .then = *events, .next = *events, .next_at = now, .known = true };
		return;
	}
	if (now.ns < lately->next_at.ns || now.ns - lately->next_at.ns < LATELY_NS)
		return;
	lately->then = lately->next;
	lately->next = *events;
	lately->next_at = now;
}
