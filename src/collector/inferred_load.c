/* SPDX-License-Identifier: Apache-2.0 */
/* What an earlier run of the collector had to watch, from what it stored. */
#include "collector/fleet_read.h"
#include "collector/inferred.h"
#include "collector/store_read.h"

static bool any(void *context, const struct store_postmortem_row *row)
{
	(void)row;
	*(bool *)context = true;
	return false;
}

/* One is there, its own or inferred. One that cannot be looked for is written: the store drops it where it is known. */
static bool is_told(struct ingest *ingest, const struct fleet_pod *pod)
{
	bool told = false;
	struct err err;
	const struct store_filter filter = { .agent = pod->agent,
					     .from = { pod->latest.wall.ms - STORE_SAME_DEATH_MS },
					     .most = 1 };
	return store_each_postmortem(ingest->store, &filter, any, &told, &err) == 0 && told;
}

static void last_of(const struct fleet_pod *pod, struct last_word *ret_last)
{
	const struct fleet_latest *latest = &pod->latest;
	*ret_last = (struct last_word){
		.head.seq = 1, /* the store keeps neither number nor process of a point for us */
		.head.wall = latest->wall,
		.limit = latest->limit,
		.charge_bytes = latest->charge_bytes,
		.floor_bytes = latest->floor_bytes,
		.freeboard_bytes = latest->freeboard_bytes,
		.residual_bytes = pod->composition.residual_bytes,
		.has_composition = pod->composition.known != 0,
		.grows = -1,
	};
	for (int i = 0; i < OWNER_COUNT; i++)
		ret_last->owners[i] = fleet_owner(&pod->composition, (enum owner)i);
}

static bool may_have_ended(const struct ingest *ingest, const struct fleet_pod *pod)
{
	const struct fleet_latest *latest = &pod->latest;
	return pod->restored && !pod->said_bye && pod->sessions == 0 && latest->received.ms &&
	       ingest->wall.ms - pod->heard.ms <= INFER_LOADED_MS &&
	       inferred_is_near(latest->limit, latest->freeboard_bytes);
}

void inferred_load(struct ingest *ingest)
{
	const struct fleet_pod *const *pods;
	size_t n = fleet_pods(ingest->fleet, &pods);
	for (size_t i = 0; i < n && ingest->n_watches < INFER_MAX; i++) {
		if (!may_have_ended(ingest, pods[i]) || is_told(ingest, pods[i]))
			continue;
		struct watch *watch = calloc(1, sizeof *watch);
		if (!watch)
			return; /* as if it had been forgotten */
		watch->agent = pods[i]->agent;
		str_copy(watch->id, sizeof watch->id, str_of(pods[i]->agent_id));
		last_of(pods[i], &watch->last);
		watch->ended = pods[i]->heard;
		watch->due = mono_add_ms(ingest->now, INFER_AFTER_MS);
		watch->next = ingest->watches;
		ingest->watches = watch;
		ingest->n_watches++;
	}
}
