/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/fleet_load.h"

#include <stdlib.h>

#include "collector/fleet_parts.h"
#include "wire/wire.h"

enum { LAST_POINT_MS = 10 * 60 * 1000, ROWS_AT_ONCE = 1000 };

struct loading {
	struct fleet *fleet;
	struct wall now;
	struct wire_sample sample; /* large: kept off the stack */
	struct wire_finding finding;
	struct wire_message told; /* what a finding's text says */
	int64_t last_row;         /* of what is read in chunks, newest first */
	size_t in_chunk;
	int rc;
	struct err *err;
};

static bool take_agent(void *context, const struct store_agent_row *row)
{
	struct loading *loading = context;
	/* Newest first: all that follow are as old. */
	if (loading->now.ms - row->last_seen.ms > FLEET_FORGET_MS)
		return false;
	loading->rc = fleet_restored(loading->fleet, row->agent, row->agent_id, &row->hello, row->said_bye,
				     row->last_seen, loading->err);
	return loading->rc == 0;
}

struct last_point {
	struct store_point point;
	bool found;
};

static bool take_point(void *context, const struct store_point *point)
{
	struct last_point *last = context;
	last->point = *point;
	last->found = true;
	return true;
}

static void sample_of(const struct store_point *point, struct wire_sample *sample)
{
	*sample = (struct wire_sample){
		.head.wall = point->wall,
		.pid = -1,
		.limit = store_point_limit(point),
		.charge_bytes = point->charge_bytes,
		.floor_bytes = point->floor_bytes,
		.freeboard_bytes = point->freeboard_bytes,
		.has_composition = point->has_composition,
		.forecast.owner = -1,
	};
	for (unsigned i = 0; i < GROUP_COUNT; i++)
		sample->groups[i] = point->groups[i];
	for (unsigned i = 0; i < OWNER_COUNT; i++)
		sample->owners[i] = point->owners[i];
}

static int load_points(struct loading *loading, struct store *store, struct err *err)
{
	const struct fleet_pod *const *pods;
	size_t n = fleet_pods(loading->fleet, &pods);
	for (size_t i = 0; i < n; i++) {
		struct last_point last = { .found = false };
		struct wall heard = pods[i]->heard, from = { heard.ms - LAST_POINT_MS }, to = { heard.ms + 1 };
		int rc = store_each_point(store, pods[i]->agent, from, to, 0, take_point, &last, err);
		if (rc < 0)
			return rc;
		if (!last.found)
			continue;
		sample_of(&last.point, &loading->sample);
		fleet_sample(loading->fleet, pods[i]->agent, &loading->sample, last.point.received);
	}
	return 0;
}

/* The start of the agent that said so: of two that found the same the living one knows better. Zeros: not known. */
static struct wire_epoch epoch_of(struct loading *loading, struct str text)
{
	enum wire_error_code code;
	struct err ignored;
	if (text.len == 0 || wire_decode(text, &loading->told, &code, &ignored) < 0 ||
	    loading->told.type != WIRE_FINDING)
		return (struct wire_epoch){ 0 };
	return loading->told.finding.head.epoch;
}

static bool take_finding(void *context, const struct store_finding_row *row)
{
	struct loading *loading = context;
	struct wire_finding *finding = &loading->finding;
	loading->last_row = row->row;
	loading->in_chunk++;
	*finding = (struct wire_finding){
		.edge = row->edge, .severity = row->severity, .owner = row->owner, .opened = row->opened
	};
	finding->head.epoch = epoch_of(loading, row->text);
	str_copy(finding->id, sizeof finding->id, str_of(row->id));
	str_copy(finding->rule, sizeof finding->rule, str_of(row->rule));
	str_copy(finding->title, sizeof finding->title, str_of(row->title));
	loading->rc = fleet_finding(loading->fleet, row->agent, finding, row->received, loading->err);
	return loading->rc == 0;
}

static int load_findings(struct loading *loading, struct store *store, struct err *err)
{
	struct store_filter filter = { .open_only = true, .with_text = true, .most = ROWS_AT_ONCE };
	int rc = 0;
	do {
		loading->in_chunk = 0;
		rc = store_each_finding(store, &filter, take_finding, loading, err);
		filter.below_row = loading->last_row;
	} while (rc == 0 && loading->rc == 0 && loading->in_chunk == ROWS_AT_ONCE);
	return rc < 0 ? rc : loading->rc;
}

static bool take_death(void *context, const struct store_postmortem_row *row)
{
	struct loading *loading = context;
	const struct fleet_pod *pod = fleet_find(loading->fleet, row->agent);
	loading->last_row = row->row;
	loading->in_chunk++;
	if (pod && row->received.ms > pod->last_postmortem.ms)
		fleet_postmortem(loading->fleet, row->agent, row->received);
	return true;
}

/* A pod that died lately says so, whoever was told of it by which start of the collector. */
static int load_deaths(struct loading *loading, struct store *store, struct err *err)
{
	struct store_filter filter = { .from = { loading->now.ms - FLEET_FORGET_MS }, .most = ROWS_AT_ONCE };
	int rc = 0;
	do {
		loading->in_chunk = 0;
		rc = store_each_postmortem(store, &filter, take_death, loading, err);
		filter.below_row = loading->last_row;
	} while (rc == 0 && loading->in_chunk == ROWS_AT_ONCE);
	return rc;
}

int fleet_load(struct fleet *fleet, struct store *store, struct wall now, struct err *err)
{
	auto_free struct loading *loading = calloc(1, sizeof *loading);
	if (!loading)
		return err_set(err, ERR_NOMEM, "no memory to load the fleet");
	loading->fleet = fleet;
	loading->now = now;
	loading->err = err;
	int rc = store_each_agent(store, take_agent, loading, err);
	if (rc == 0)
		rc = loading->rc;
	if (rc == 0)
		rc = load_points(loading, store, err);
	if (rc == 0)
		rc = load_findings(loading, store, err);
	return rc < 0 ? rc : load_deaths(loading, store, err);
}

static bool take_spark(void *context, const struct store_point *point)
{
	struct fleet_pod *pod = context;
	struct qty floor = qty_known(point->floor_max_bytes) ? point->floor_max_bytes : point->floor_bytes;
	spark_put(&pod->spark, point->wall.ms ? point->wall : point->received, floor, store_point_limit(point));
	return true;
}

void fleet_load_spark(struct fleet *fleet, struct store *store, int64_t agent, struct wall now)
{
	struct err err;
	struct fleet_pod *pod = fleet_pod(fleet, agent);
	struct wall from = { now.ms - SPARK_MINUTES * INT64_C(60000) };
	if (!pod || pod->spark_loaded)
		return;
	pod->spark_loaded = true;
	if (store_each_point(store, agent, from, now, 0, take_spark, pod, &err) == 0)
		fleet_mark(fleet, pod);
}
