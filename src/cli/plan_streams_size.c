/* SPDX-License-Identifier: Apache-2.0 */
/* The right size of Kafka Streams, for people and for programs. */
#include <stdio.h>

#include "base/units.h"
#include "cli/plan_resize.h"
#include "wire/put.h"

static void say_instances(struct paint *p, const struct streams_size *size)
{
	char a[UNITS_TEXT_CAP];
	if (!size->instances.known)
		return;
	(void)buf_printf(p->out, "%llu RocksDB instances on a pod", (unsigned long long)size->instances.n);
	if (size->pods > 1)
		(void)buf_printf(p->out, ", %llu with one of %llu pods lost",
				 (unsigned long long)size->instances_lost.n, (unsigned long long)size->pods);
	if (qty_known(size->instance_bytes))
		(void)buf_printf(p->out, ", each up to %s", units_format(a, size->instance_bytes.bytes));
	if (size->limit_holds.known)
		(void)buf_printf(p->out, "; beside heap and the rest the limit holds %llu such",
				 (unsigned long long)size->limit_holds.n);
	(void)buf_putc(p->out, '\n');
	if (size->partitions_hold.known && !size->partitions_hold.n)
		(void)buf_puts(p->out, "the limit does not hold one partition a pod\n");
	else if (size->pods_needed.known)
		(void)buf_printf(
			p->out,
			"the limit holds %llu partitions a pod: %llu pods are needed, of which one may be lost\n",
			(unsigned long long)size->partitions_hold.n, (unsigned long long)size->pods_needed.n);
}

static void say_pods(struct paint *p, const struct streams_size *size)
{
	const struct resize_row *limit = &size->rows[STREAMS_SIZE_LIMIT];
	if (size->pods < 2 || !size->instances.known || !size->limit_holds.known || !size->limit_holds.n ||
	    size->limit_holds.n >= size->instances_lost.n || limit->proposed_bytes <= limit->set_bytes)
		return;
	uint64_t all = size->instances.n * size->pods, holds = size->limit_holds.n;
	(void)buf_printf(p->out, "\ninstead of a higher limit: %llu pods, of which each would hold fewer partitions\n",
			 (unsigned long long)(all / holds + (all % holds != 0) + 1));
}

void plan_streams_size_table(const struct streams_size *size, struct paint *p)
{
	char line[200], a[UNITS_TEXT_CAP];
	if (size->n_steps)
		(void)snprintf(line, sizeof line, "%zu change%s, one at a time: the pod needs %s.", size->n_steps,
			       size->n_steps == 1 ? "" : "s", units_format(a, size->needed_bytes));
	else
		(void)snprintf(line, sizeof line, "The sizes fit what was measured: nothing to change.");
	paint_text(p, TONE_BOLD, line);
	(void)buf_printf(p->out, "\n\nkafka-streams, %zu reading%s\n", size->n_readings,
			 size->n_readings == 1 ? "" : "s");
	say_instances(p, size);
	(void)buf_putc(p->out, '\n');
	plan_resize_head(p);
	for (int i = 0; i < STREAMS_SIZE_ROW_COUNT; i++)
		if (size->rows[i].known || size->rows[i].set_known)
			plan_resize_row(p, streams_size_names[i], &size->rows[i]);
	if (size->pods < 2)
		(void)buf_puts(p->out, "\nNo pod is taken to be lost: say how many there are with --instances N.\n");
	say_pods(p, size);
	for (size_t i = 0; i < size->n_steps; i++) {
		const struct streams_step *s = &size->steps[i];
		const struct plan_step step = { s->title, s->fragment, s->steady, s->restore, 0 };
		plan_resize_step(p, i + 1, &step);
	}
}

void plan_streams_size_json(const struct streams_size *size, const struct plan_source *source, struct js_out *out)
{
	const uint64_t *const setter[] = { &size->cache_bytes, &size->manager_bytes, &size->buffer_bytes };
	static const char *const names[] = { "proposed_cache_bytes", "proposed_manager_bytes",
					     "proposed_write_buffer_bytes" };
	put_text(out, "kind", "resize-streams");
	plan_resize_source_json(source, size->n_readings, size->span_ms, out);
	put_count(out, "pods_told", (struct count){ size->pods, size->pods > 0 });
	put_count(out, "instances", size->instances);
	put_count(out, "instances_one_lost", size->instances_lost);
	put_count(out, "instances_limit_holds", size->limit_holds);
	put_count(out, "partitions_limit_holds", size->partitions_hold);
	put_count(out, "pods_needed", size->pods_needed);
	put_qty(out, "instance_bytes", size->instance_bytes);
	put_qty(out, "needed_bytes", qty_of(size->needed_bytes, QTY_DERIVED));
	for (size_t i = 0; i < 3; i++)
		put_qty(out, names[i], qty_of(*setter[i], *setter[i] ? QTY_DERIVED : QTY_UNREAD));
	js_out_key(out, "rows");
	js_out_array(out);
	for (int i = 0; i < STREAMS_SIZE_ROW_COUNT; i++)
		if (size->rows[i].known || size->rows[i].set_known)
			plan_resize_row_json(streams_size_names[i], &size->rows[i], out);
	js_out_array_end(out);
	js_out_key(out, "steps");
	js_out_array(out);
	for (size_t i = 0; i < size->n_steps; i++) {
		const struct streams_step *s = &size->steps[i];
		js_out_object(out);
		put_text(out, "title", s->title);
		put_text(out, "fragment", s->fragment);
		put_text(out, "watch_steady", s->steady);
		put_text(out, "watch_restore", s->restore);
		js_out_object_end(out);
	}
	js_out_array_end(out);
}
