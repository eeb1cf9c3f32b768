/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/own_death.h"

#include <stdio.h>

#include "base/units.h"
#include "collector/store_read.h"
#include "data/js.h"
#include "wire/wire.h"

enum { TIMELINE_STEP_MS = 15000, TIMELINE_MAX = 64, BODY_MAX = 40 * 1024 };

struct timeline {
	struct js_out *js;
	size_t n;
	bool has_first, has_last;
	struct qty floor_bytes; /* of the point before */
	struct qty first[OWNER_COUNT], last[OWNER_COUNT];
};

/* A point knows no process: what has lost half of its floor at once is another one. */
static void see_owners(struct timeline *timeline, const struct store_point *point)
{
	bool both = qty_known(point->floor_bytes) && qty_known(timeline->floor_bytes);
	if (both && point->floor_bytes.bytes < timeline->floor_bytes.bytes / 2)
		timeline->has_first = timeline->has_last = false;
	if (qty_known(point->floor_bytes))
		timeline->floor_bytes = point->floor_bytes;
	if (!point->has_composition)
		return;
	memcpy(timeline->has_first ? timeline->last : timeline->first, point->owners, sizeof timeline->first);
	timeline->has_last = timeline->has_first;
	timeline->has_first = true;
}

static void put_qty(struct js_out *js, const char *key, struct qty qty)
{
	if (!qty_known(qty))
		return;
	js_out_key(js, key);
	js_out_u64(js, qty.bytes);
}

static bool put_point(void *context, const struct store_point *point)
{
	struct timeline *timeline = context;
	struct js_out *js = timeline->js;
	js_out_object(js);
	js_out_key(js, "wall_ms");
	js_out_i64(js, point->wall.ms);
	put_qty(js, "charge_bytes", point->charge_bytes);
	put_qty(js, "floor_bytes", point->floor_bytes);
	if (point->freeboard_bytes.known) {
		js_out_key(js, "freeboard_bytes");
		js_out_i64(js, point->freeboard_bytes.bytes);
	}
	js_out_object_end(js);
	see_owners(timeline, point);
	return ++timeline->n < TIMELINE_MAX;
}

static void put_owners(struct js_out *js, const struct last_word *last)
{
	if (!last->has_composition)
		return;
	js_out_key(js, "owners");
	js_out_object(js);
	for (int i = 0; i < OWNER_COUNT; i++)
		put_qty(js, owner_table[i].name, last->owners[i]);
	js_out_object_end(js);
}

/* By what is stored, else by what the agent foresaw. */
struct grower {
	int owner;            /* -1: nobody, or not known */
	uint64_t grown_bytes; /* 0: not known */
};

static void put_wall(struct js_out *js, const char *key, struct wall wall)
{
	if (!wall.ms)
		return;
	js_out_key(js, key);
	js_out_i64(js, wall.ms);
}

static void put_timeline(struct js_out *js, struct store *store, const struct own_death *death,
			 struct timeline *timeline)
{
	int64_t since = death->until.ms - OWN_DEATH_BEFORE_MS;
	since = since < death->since.ms ? death->since.ms : since;
	js_out_key(js, "timeline");
	js_out_array(js);
	/* Without them it is still one. */
	if (store_each_point(store, death->agent, (struct wall){ since }, (struct wall){ death->until.ms + 1 },
			     TIMELINE_STEP_MS, put_point, timeline, NULL) < 0)
		timeline->has_last = false;
	js_out_array_end(js);
}

static int put_body(struct store *store, const struct own_death *death, struct buf *body, struct grower *ret_grower,
		    struct err *err)
{
	const struct last_word *last = death->last;
	struct js_out js;
	struct timeline timeline = { .js = &js };
	js_out_start(&js, body, 0);
	js_out_object(&js);
	js_out_key(&js, "inferred");
	js_out_bool(&js, true);
	js_out_key(&js, "cause");
	js_out_text(&js, death_cause_names[death->verdict->cause]);
	js_out_key(&js, "confidence_pct");
	js_out_u64(&js, death->verdict->confidence_pct);
	js_out_key(&js, "why");
	js_out_text(&js, death->why);
	put_wall(&js, "stream_ended_ms", death->stream_ended);
	put_wall(&js, "last_sample_ms", last->head.wall);
	if (last->limit.kind == LIMIT_SET)
		put_qty(&js, "limit_bytes", qty_measured(last->limit.bytes));
	put_qty(&js, "charge_bytes", last->charge_bytes);
	put_qty(&js, "floor_bytes", last->floor_bytes);
	put_qty(&js, "survivable_limit_bytes", death->verdict->survivable_limit);
	put_owners(&js, last);
	put_timeline(&js, store, death, &timeline);
	*ret_grower = (struct grower){ .owner = last->grows >= 0 && last->grows < OWNER_COUNT ? last->grows : -1 };
	uint64_t grown;
	int owner = timeline.has_last ? death_owner(timeline.first, timeline.last, &grown) : -1;
	if (owner >= 0)
		*ret_grower = (struct grower){ owner, grown };
	js_out_object_end(&js);
	return js_out_end(&js, err);
}

const char *own_death_at(const struct last_word *last, char dest[OWN_DEATH_AT_CAP])
{
	bool known = last->limit.kind == LIMIT_SET && qty_known(last->charge_bytes) && last->limit.bytes;
	(void)snprintf(dest, OWN_DEATH_AT_CAP, "near");
	if (known)
		(void)snprintf(dest, OWN_DEATH_AT_CAP, "at %u %% of",
			       (unsigned)((double)last->charge_bytes.bytes / (double)last->limit.bytes * 100));
	return dest;
}

static void fill(const struct own_death *death, const struct grower *grower, struct wire_postmortem *whole)
{
	char bytes[UNITS_TEXT_CAP], grew[96] = "";
	memset(whole, 0, sizeof *whole);
	whole->head = death->last->head;
	if (!whole->head.wall.ms)
		whole->head.wall = death->died;
	memcpy(whole->id, death->id, sizeof whole->id);
	whole->parts = 1;
	whole->cause = death->verdict->cause;
	whole->owner = grower->owner;
	whole->pid = death->last->pid;
	whole->died = death->died;
	if (grower->grown_bytes)
		(void)snprintf(grew, sizeof grew, "; %s had grown by %s", owner_table[grower->owner].name,
			       units_format(bytes, grower->grown_bytes));
	(void)snprintf(whole->title, sizeof whole->title, "%s%s", death->title, grew);
}

int own_death_encode(struct store *store, const struct own_death *death, struct wire_message *ret_message,
		     struct buf *text, struct err *err)
{
	auto_buf struct buf body = { .cap = BODY_MAX };
	struct grower grower;
	int rc = put_body(store, death, &body, &grower, err);
	if (rc < 0)
		return rc;
	ret_message->type = WIRE_POSTMORTEM;
	fill(death, &grower, &ret_message->postmortem);
	ret_message->postmortem.body = buf_str(&body);
	rc = wire_encode(ret_message, text, err);
	ret_message->postmortem.body = (struct str){ "", 0 };
	return rc;
}
