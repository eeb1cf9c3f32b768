/* SPDX-License-Identifier: Apache-2.0 */
/* A series of one pod: its points, and where there are none. */
#include "collector/api_parts.h"
#include "wire/put.h"

enum {
	POINTS_MAX = 5000,
	GAPS_MAX_SHOWN = 1000,
	HOLES_MAX = 1000,
	POINTS_WANTED = 500,
	MINUTE_MS = 60000,
	HOLE_LEAST_MS = 30000, /* as long as until a pod is stale */
};

static const uint64_t step_most_ms = UINT64_C(1) << 42; /* a century: what is added to it does not wrap */

struct hole {
	struct wall from, to;
};

struct series {
	struct api_call *call;
	uint64_t step_ms, interval_ms; /* asked for; between the samples of now */
	uint64_t pace_ms; /* the interval of then, by the two points before: near the limit an agent's is a second */
	size_t n_points, n_holes, n_gaps;
	struct wall from, last, next; /* next: of the first point that was left out; 0: none */
	struct hole holes[HOLES_MAX];
};

static void put_owners(struct js_out *out, const struct store_point *point)
{
	js_out_key(out, "owners");
	if (!point->has_composition) {
		js_out_null(out);
		return;
	}
	js_out_object(out);
	for (unsigned i = 0; i < OWNER_COUNT; i++)
		if (qty_known(point->owners[i]))
			put_qty(out, owner_table[i].name, point->owners[i]);
	js_out_object_end(out);
}

static uint64_t most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/*
 * Points further apart than that have a hole between: three steps or intervals. Points folded into steps of a minute and
 * more begin with their first sample and lie less than two steps apart, unless a whole step had none.
 */
static uint64_t hole_ms(const struct series *series, const struct store_point *point)
{
	uint64_t steps = series->step_ms >= MINUTE_MS ? 2 * series->step_ms + MINUTE_MS : 3 * series->step_ms;
	uint64_t wide = most(most(steps, HOLE_LEAST_MS), 3 * most(series->interval_ms, series->pace_ms));
	/* A minute of the roll-up stands for a minute. */
	return point->n_samples > 1 ? most(wide, 3 * MINUTE_MS) : wide;
}

static void look_for_hole(struct series *series, const struct store_point *point)
{
	int64_t apart = point->received.ms - series->last.ms;
	if (!series->last.ms || apart <= 0)
		return;
	if ((uint64_t)apart <= hole_ms(series, point))
		series->pace_ms = (uint64_t)apart >= 2 * series->step_ms ? (uint64_t)apart : 0;
	else if (series->n_holes < HOLES_MAX)
		series->holes[series->n_holes++] = (struct hole){ series->last, point->received };
}

static bool put_point(void *context, const struct store_point *point)
{
	struct series *series = context;
	struct js_out *out = &series->call->out;
	if (series->n_points == POINTS_MAX) {
		series->next = point->received;
		return false;
	}
	look_for_hole(series, point);
	series->last = point->received;
	series->n_points++;
	js_out_object(out);
	api_put_wall(out, "received_ms", point->received);
	api_put_wall(out, "taken_ms", point->wall);
	api_put_u64(out, "samples", point->n_samples);
	put_limit(out, "limit_bytes", store_point_limit(point));
	api_put_bool(out, "no_limit", point->no_limit);
	put_qty(out, "charge_bytes", point->charge_bytes);
	put_qty(out, "charge_max_bytes", point->charge_max_bytes);
	put_qty(out, "floor_bytes", point->floor_bytes);
	put_qty(out, "floor_max_bytes", point->floor_max_bytes);
	put_signed(out, "freeboard_bytes", point->freeboard_bytes);
	put_signed(out, "freeboard_min_bytes", point->freeboard_min_bytes);
	api_put_groups(out, "groups", point->groups);
	put_owners(out, point);
	js_out_object_end(out);
	return true;
}

static bool put_gap(void *context, const struct store_gap_row *row)
{
	struct series *series = context;
	struct js_out *out = &series->call->out;
	char epoch[WIRE_EPOCH_TEXT_CAP];
	if (row->received.ms < series->from.ms)
		return true;
	if (series->n_gaps++ == GAPS_MAX_SHOWN)
		return false;
	js_out_object(out);
	put_text(out, "epoch", wire_epoch_format(epoch, row->epoch));
	api_put_u64(out, "from_seq", row->from);
	put_count(out, "to_seq", (struct count){ row->to, row->to != UINT64_MAX });
	put_text(out, "reason", row->reason);
	api_put_wall(out, "received_ms", row->received);
	js_out_object_end(out);
	return true;
}

static void put_holes(const struct series *series)
{
	struct js_out *out = &series->call->out;
	js_out_key(out, "holes");
	js_out_array(out);
	for (size_t i = 0; i < series->n_holes; i++) {
		js_out_object(out);
		api_put_wall(out, "from_ms", series->holes[i].from);
		api_put_wall(out, "to_ms", series->holes[i].to);
		js_out_object_end(out);
	}
	js_out_array_end(out);
	api_put_wall(out, "next_ms", series->next);
}

bool api_range(struct api_call *call, struct wall *ret_from, struct wall *ret_to)
{
	enum { HOUR_MS = 3600 * 1000 };
	const struct api_query *q = &call->query;
	struct wall to = q->to.ms ? q->to : (struct wall){ call->now.ms + 1 };
	struct wall from = q->from.ms ? q->from : (struct wall){ to.ms > HOUR_MS ? to.ms - HOUR_MS : 1 };
	if (from.ms >= to.ms) {
		api_error(call->reply, 400, "bad-parameter", "from is not before to");
		return false;
	}
	*ret_from = from;
	*ret_to = to;
	return true;
}

void api_samples(struct api_call *call, struct str id)
{
	const struct api_query *q = &call->query;
	struct js_out *out = &call->out;
	struct err err;
	struct wall from, to;
	int64_t agent;
	if (!api_find_agent(call, id, &agent) || !api_range(call, &from, &to))
		return;
	const struct fleet_pod *pod = fleet_find(call->api->fleet, agent);
	uint64_t step = q->has_step ? q->step_ms : (uint64_t)(to.ms - from.ms) / POINTS_WANTED;
	if (step > step_most_ms)
		step = step_most_ms;
	uint64_t interval = pod && pod->latest.interval_ms ? pod->latest.interval_ms : 10000;
	auto_free struct series *series = calloc(1, sizeof *series);
	if (!series) {
		(void)err_set(&err, ERR_NOMEM, "no memory for a series");
		api_failed(call->reply, &err);
		return;
	}
	series->call = call;
	series->step_ms = step;
	series->interval_ms = interval;
	series->from = from;
	js_out_object(out);
	api_put_id(out, "pod", agent);
	api_put_wall(out, "from_ms", from);
	api_put_wall(out, "to_ms", to);
	api_put_u64(out, "step_ms", step);
	js_out_key(out, "points");
	js_out_array(out);
	int rc = store_each_point(call->api->store, agent, from, to, step, put_point, series, &err);
	js_out_array_end(out);
	js_out_key(out, "gaps");
	js_out_array(out);
	if (rc == 0)
		rc = store_each_gap(call->api->store, agent, put_gap, series, &err);
	js_out_array_end(out);
	put_holes(series);
	js_out_object_end(out);
	if (rc < 0)
		api_failed(call->reply, &err);
	else
		api_end(call);
}
