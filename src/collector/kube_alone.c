/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/kube_alone.h"

#include <inttypes.h>
#include <stdio.h>

#include "collector/own_death.h"
#include "collector/store_read.h"

enum { STATUS_KILL = 137, STATUS_JVM_OOM = 3, AT_LIMIT_PCT = 95, CLOCK_STEP_MS = 1000 /* Kubernetes writes seconds */ };

static bool is_oom_killed(const struct kube_end *end)
{
	return strcmp(end->end.reason, "OOMKilled") == 0;
}

static bool is_evicted(const struct kube_end *end)
{
	return strcmp(end->pod_reason, "Evicted") == 0 && strstr(end->pod_message, "low on resource: memory");
}

/* It was told to stop and did not within its time of grace. */
static bool was_stopped(const struct kube_end *end)
{
	return end->asked_to_stop.ms && end->at.ms + CLOCK_STEP_MS >= end->asked_to_stop.ms;
}

bool kube_alone_is_one(const struct kube_end *end, struct wall now)
{
	if (now.ms - end->at.ms > KUBE_ALONE_OLDEST_MS)
		return false;
	if (is_oom_killed(end) || is_evicted(end) || end->end.exit_code == STATUS_JVM_OOM)
		return true;
	return end->end.exit_code == STATUS_KILL && !was_stopped(end);
}

/* The UID, for an agent's row may be of one pod after another. */
void kube_alone_id(const struct kube_end *end, char dest[WIRE_ID_CAP])
{
	(void)snprintf(dest, WIRE_ID_CAP, "kubernetes-%.36s-%.24s-%" PRId64, end->pod_uid, end->end.container,
		       end->end.finished.ms / 1000);
}

enum tristate kube_alone_at_limit(struct qty floor, struct qty limit)
{
	if (!qty_known(floor) || !qty_known(limit) || !limit.bytes)
		return TRISTATE_UNREAD;
	return floor.bytes / AT_LIMIT_PCT >= limit.bytes / 100 ? TRISTATE_TRUE : TRISTATE_FALSE;
}

/* The last that was seen of the target; samples without one have no floor. */
static bool see(void *context, const struct store_point *point)
{
	struct last_word *last = context;
	if (!qty_known(point->floor_bytes))
		return true;
	last->head.wall = point->wall;
	last->limit = store_point_limit(point);
	last->charge_bytes = point->charge_bytes;
	last->floor_bytes = point->floor_bytes;
	last->freeboard_bytes = point->freeboard_bytes;
	if (!point->has_composition)
		return true;
	last->has_composition = true;
	memcpy(last->owners, point->owners, sizeof last->owners);
	return true;
}

static void how(const struct kube_end *end, char *dest, size_t cap)
{
	if (is_oom_killed(end) || end->end.exit_code < 0)
		(void)snprintf(dest, cap, "%s", is_oom_killed(end) ? "OOMKilled" : "evicted for memory");
	else
		(void)snprintf(dest, cap, "exit status %d%s", end->end.exit_code,
			       is_evicted(end) ? ", evicted for memory" : "");
}

int kube_alone_write(struct store *store, int64_t agent, const struct kube_end *end, struct wire_message *scratch,
		     struct wall received, enum tristate *ret_at_limit, struct err *err)
{
	auto_buf struct buf text = { .cap = WIRE_FRAME_MAX };
	/* The store keeps neither number nor process of a point for us. */
	struct last_word last = { .head.seq = 1, .grows = -1 };
	const struct death_verdict nothing = { .cause = DEATH_UNKNOWN };
	const struct wall until = { end->at.ms + CLOCK_STEP_MS };
	const int64_t earliest = end->at.ms - OWN_DEATH_BEFORE_MS;
	struct own_death death = {
		.agent = agent,
		.last = &last,
		.verdict = &nothing,
		.since = { end->end.started.ms > earliest ? end->end.started.ms : earliest },
		.until = until,
		.died = end->at,
		.why = "Kubernetes tells of this end and no agent does: it died too, or did not run then",
	};
	char said[64], at[OWN_DEATH_AT_CAP], seen[64] = "";
	int rc = store_each_point(store, agent, death.since, until, 0, see, &last, err);
	if (rc < 0)
		return rc;
	how(end, said, sizeof said);
	if (last.head.wall.ms)
		(void)snprintf(seen, sizeof seen, "; last seen %s its limit", own_death_at(&last, at));
	(void)snprintf(death.title, sizeof death.title, "%s, by Kubernetes' word alone: no agent told of it%s", said,
		       seen);
	kube_alone_id(end, death.id);
	struct qty limit = last.limit.kind == LIMIT_SET ? qty_measured(last.limit.bytes) : (struct qty){ 0 };
	*ret_at_limit = kube_alone_at_limit(last.floor_bytes, limit);
	rc = own_death_encode(store, &death, scratch, &text, err);
	return rc < 0 ? rc : store_own_postmortem(store, agent, &scratch->postmortem, buf_str(&text), received, err);
}
