/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of a topic: what viewers share is written once, what is a viewer's own stands around it. */
#include <inttypes.h>

#include "collector/live_parts.h"

static void put_above(const struct topic *topic, struct buf *out)
{
	struct js_out js;
	(void)buf_printf(out, ",\"total\":%" PRIu64 ",\"matching\":%" PRIu64 ",", topic->total, topic->matching);
	size_t from = out->len;
	js_out_start(&js, out, 0);
	js_out_object(&js);
	fleet_put_summary(&js, &topic->summary);
	(void)live_end_members(out, from, &js); /* what failed is told by the buffer */
}

static void put_row(const struct topic *topic, size_t at, struct buf *out)
{
	const struct live_row *row = &topic->shown[at];
	int64_t age_ms = topic->at_ms - row->heard_ms;
	/* Its text ends with a brace, before which goes the age: the text may be older than this frame. */
	(void)buf_add(out, (struct str){ topic->rows.ptr + row->at, row->len - 1 });
	(void)buf_printf(out, ",\"age_ms\":%" PRId64 "}", age_ms > 0 ? age_ms : 0);
}

static void put_whole(const struct topic *topic, struct buf *out)
{
	buf_clear(out);
	(void)buf_printf(out, "\"at_ms\":%" PRId64, topic->at_ms);
	if (topic->request.kind != LIVE_FLEET) {
		if (!topic->gone) {
			(void)buf_putc(out, ',');
			(void)buf_add(out, buf_str(&topic->rows));
		}
		return;
	}
	put_above(topic, out);
	(void)buf_printf(out, ",\"from\":%" PRIu32 ",\"rows\":[", topic->request.query.from);
	for (size_t i = 0; i < topic->n_shown; i++) {
		if (i > 0)
			(void)buf_putc(out, ',');
		put_row(topic, i, out);
	}
	(void)buf_putc(out, ']');
}

static void put_step(const struct topic *topic, struct buf *out)
{
	const struct live_step *step = &topic->last;
	buf_clear(out);
	(void)buf_printf(out, "\"at_ms\":%" PRId64, topic->at_ms);
	if (step->above_changed)
		put_above(topic, out);
	if (step->moved) {
		(void)buf_puts(out, ",\"order\":[");
		for (size_t i = 0; i < topic->n_shown; i++)
			if (step->stood[i] == LIVE_NEW)
				(void)buf_puts(out, i > 0 ? ",null" : "null");
			else
				(void)buf_printf(out, "%s%u", i > 0 ? "," : "", (unsigned)step->stood[i]);
		(void)buf_putc(out, ']');
	}
	(void)buf_puts(out, ",\"rows\":[");
	for (size_t i = 0; i < step->n_changed; i++) {
		(void)buf_printf(out, "%s[%u,", i > 0 ? "," : "", (unsigned)step->changed[i]);
		put_row(topic, step->changed[i], out);
		(void)buf_putc(out, ']');
	}
	(void)buf_putc(out, ']');
}

static const char *type_of(const struct topic *topic, bool step)
{
	if (topic->request.kind == LIVE_FLEET)
		return step ? "rows" : "fleet";
	if (topic->gone)
		return "gone";
	return topic->request.kind == LIVE_POD ? "pod" : "workload";
}

/* Without memory for it nobody is sent half of it: the next who asks has it made again. */
static const struct buf *body_of(struct topic *topic, bool step)
{
	struct buf *body = step ? &topic->step : &topic->whole;
	uint64_t *seq = step ? &topic->step_seq : &topic->whole_seq;
	if (*seq != topic->seq) {
		if (step)
			put_step(topic, body);
		else
			put_whole(topic, body);
		*seq = buf_failed(body) ? 0 : topic->seq;
	}
	return body;
}

bool topic_frame(struct live_viewer *viewer, struct buf *frame)
{
	struct topic *topic = viewer->topic;
	/* Whoever has nothing yet waits for the next look: what is there may be of a minute ago. */
	if (!topic || topic->due || topic->seq == 0 || viewer->seen == topic->seq)
		return false;
	bool step = topic->last.possible && viewer->seen > 0 && viewer->seen == topic->seq - 1;
	const struct buf *body = body_of(topic, step);
	if (buf_failed(body))
		return false;
	(void)buf_printf(frame, "{\"type\":\"%s\",\"n\":%" PRId64 ",", type_of(topic, step), viewer->n);
	(void)buf_add(frame, buf_str(body));
	if (viewer->facets_seen != topic->facets_seq) {
		(void)buf_putc(frame, ',');
		(void)buf_add(frame, buf_str(&topic->facets));
		viewer->facets_seen = topic->facets_seq;
	}
	(void)buf_putc(frame, '}');
	if (viewer->seen > 0)
		viewer->live->counts.skipped_total += topic->seq - viewer->seen - 1;
	viewer->seen = topic->seq;
	return true;
}
