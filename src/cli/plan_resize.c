/* SPDX-License-Identifier: Apache-2.0 */
/* The right size from reports: reads them, prints what to change, one change at a time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/plan_resize.h"
#include "sys/file.h"
#include "wire/put.h"

enum { OUT_CAP = 4 << 20, REPORT_CAP = 4 << 20 };

void plan_resize_head(struct paint *p)
{
	paint_text(p, TONE_BOLD, "BUDGET         SET ASIDE        P50        P99    HIGHEST   PROPOSED  WHY");
	(void)buf_putc(p->out, '\n');
}

void plan_resize_row(struct paint *p, const char *name, const struct resize_row *r)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP], d[UNITS_TEXT_CAP], e[UNITS_TEXT_CAP];
	bool known = r->known;
	(void)buf_printf(p->out, "%-13s %10s %10s %10s %10s %10s  ", name,
			 r->set_known || r->set_bytes ? units_format(a, r->set_bytes) : "",
			 known ? units_format(b, r->p50_bytes) : "unread", known ? units_format(c, r->p99_bytes) : "",
			 known ? units_format(d, r->max_bytes) : "",
			 r->proposed_bytes == r->set_bytes ? "" : units_format(e, r->proposed_bytes));
	paint_wrapped(p, 70, 70, r->why);
}

static void fragment(struct paint *p, const char *text)
{
	struct str rest = str_of(text), line;
	while (str_line(&rest, &line))
		(void)buf_printf(p->out, "            %.*s\n", (int)line.len, line.ptr);
}

void plan_resize_step(struct paint *p, size_t number, const struct plan_step *s)
{
	char line[200];
	(void)snprintf(line, sizeof line, "%zu. %s", number, s->title);
	(void)buf_putc(p->out, '\n');
	paint_text(p, TONE_BOLD, line);
	(void)buf_putc(p->out, '\n');
	(void)buf_puts(p->out, "  change\n");
	fragment(p, s->fragment);
	if (s->limit_bytes)
		(void)buf_printf(
			p->out,
			"            and with it the container's limit: %lluMi (native Kubernetes sets it itself)\n",
			(unsigned long long)(s->limit_bytes >> 20));
	(void)buf_puts(p->out, "  watch     steady: ");
	paint_wrapped(p, 12, 20, s->steady);
	(void)buf_puts(p->out, "            restore: ");
	paint_wrapped(p, 12, 21, s->restore);
}

/* What was not looked at. */
static void say_left_out(struct paint *p, const struct plan_source *source)
{
	if (source->n_pods)
		(void)buf_printf(p->out, "\nof %zu pod%s", source->n_pods, source->n_pods == 1 ? "" : "s");
	if (source->n_pods_left_out)
		(void)buf_printf(p->out, "; %zu left out: %s", source->n_pods_left_out, source->left_out);
	if (source->n_points_left_out)
		(void)buf_printf(p->out, "; %llu minutes of another limit left out",
				 (unsigned long long)source->n_points_left_out);
	if (source->n_pods)
		(void)buf_putc(p->out, '\n');
}

/* Of what the direct budget is made up, and how that is known. */
static void say_direct(struct paint *p, const struct resize *resize)
{
	static const char *const how[DIRECT_SOURCE_COUNT] = {
		[DIRECT_UNREAD] = "",
		[DIRECT_CONFIGURED] = "as the process was started",
		[DIRECT_MEASURED] =
			"the network's by Flink's metrics of its buffers; the framework's is Flink's default, the rest the tasks'",
		[DIRECT_INFERRED] =
			"inferred from the sum alone: a tenth of Flink's memory, Flink's default, and the rest",
	};
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP], line[400];
	if (resize->kind != ENGINE_FLINK_TASKMANAGER || !resize->rows[RESIZE_DIRECT].set_known)
		return;
	const struct direct_split *split = &resize->direct;
	if (split->source == DIRECT_UNREAD)
		(void)snprintf(line, sizeof line,
			       "direct is of network, framework and tasks: how much of each is not known");
	else
		(void)snprintf(line, sizeof line, "direct is %s of network, %s of framework and %s of tasks: %s",
			       units_format(a, split->network), units_format(b, split->framework),
			       units_format(c, split->task), how[split->source]);
	(void)buf_putc(p->out, '\n');
	paint_wrapped(p, 0, 0, line);
}

static void table(const struct resize *resize, struct paint *p)
{
	struct buf *out = p->out;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	uint64_t process = resize->n_steps ? resize->steps[resize->n_steps - 1].process_bytes : resize->process_bytes;
	char line[256];
	if (resize->n_steps)
		(void)snprintf(line, sizeof line, "%zu change%s, one at a time: the process goes from %s to %s.",
			       resize->n_steps, resize->n_steps == 1 ? "" : "s", units_format(a, resize->process_bytes),
			       units_format(b, process));
	else
		(void)snprintf(line, sizeof line, "The sizes fit what was measured: nothing to change.");
	paint_text(p, TONE_BOLD, line);
	(void)buf_printf(out, "\n\n%s, %zu reading%s\n\n", engine_names[resize->kind], resize->n_readings,
			 resize->n_readings == 1 ? "" : "s");
	plan_resize_head(p);
	for (int i = RESIZE_BUDGET_COUNT; i-- > 0;)
		if (resize->rows[i].set_bytes || resize->rows[i].known)
			plan_resize_row(p, resize_budget_names[i], &resize->rows[i]);
	if (resize->limit.kind == LIMIT_SET)
		plan_resize_row(p, "limit", &resize->floor);
	say_direct(p, resize);
	if (resize->too_few)
		(void)buf_printf(
			out,
			"\nNothing is lowered by fewer than %d readings: take them over a day, a peak and a restore.\n",
			RESIZE_READINGS_LEAST);
	for (size_t i = 0; i < resize->n_steps; i++) {
		const struct resize_step *s = &resize->steps[i];
		const struct plan_step step = { s->title, s->fragment, s->steady, s->restore, s->limit_bytes };
		plan_resize_step(p, i + 1, &step);
	}
	if (resize->n_steps && resize->limit.kind == LIMIT_SET &&
	    resize->floor.proposed_bytes != resize->floor.set_bytes)
		(void)buf_printf(out, "\n%zu. then the container's limit: %s (%lluMi)\n", resize->n_steps + 1,
				 units_format(a, resize->floor.proposed_bytes),
				 (unsigned long long)(resize->floor.proposed_bytes >> 20));
}

static void put_number(struct js_out *out, const char *key, uint64_t number)
{
	js_out_key(out, key);
	js_out_u64(out, number);
}

void plan_resize_row_json(const char *name, const struct resize_row *r, struct js_out *out)
{
	enum qty_state state = r->known ? QTY_DERIVED : QTY_UNREAD;
	js_out_object(out);
	put_text(out, "name", name);
	put_number(out, "set_bytes", r->set_bytes);
	put_qty(out, "p50_bytes", qty_of(r->p50_bytes, state));
	put_qty(out, "p99_bytes", qty_of(r->p99_bytes, state));
	put_qty(out, "max_bytes", qty_of(r->max_bytes, state));
	put_number(out, "proposed_bytes", r->proposed_bytes);
	put_text(out, "why", r->why);
	js_out_object_end(out);
}

static void put_steps(struct js_out *out, const struct resize *resize)
{
	js_out_key(out, "steps");
	js_out_array(out);
	for (size_t i = 0; i < resize->n_steps; i++) {
		const struct resize_step *s = &resize->steps[i];
		js_out_object(out);
		put_text(out, "budget", resize_budget_names[s->budget]);
		put_text(out, "title", s->title);
		put_number(out, "from_bytes", s->from_bytes);
		put_number(out, "to_bytes", s->to_bytes);
		put_number(out, "process_bytes", s->process_bytes);
		put_qty(out, "limit_bytes", qty_of(s->limit_bytes, s->limit_bytes ? QTY_DERIVED : QTY_UNREAD));
		put_text(out, "fragment", s->fragment);
		put_text(out, "watch_steady", s->steady);
		put_text(out, "watch_restore", s->restore);
		js_out_object_end(out);
	}
	js_out_array_end(out);
}

void plan_resize_source_json(const struct plan_source *source, size_t n_readings, uint64_t span_ms, struct js_out *out)
{
	bool of_pods = source->n_pods > 0;
	put_number(out, "readings", n_readings);
	put_number(out, "span_ms", span_ms);
	put_count(out, "pods", (struct count){ source->n_pods, of_pods });
	put_count(out, "pods_left_out", (struct count){ source->n_pods_left_out, of_pods });
	put_count(out, "minutes_left_out", (struct count){ source->n_points_left_out, of_pods });
}

static void put_direct(struct js_out *out, const struct direct_split *split)
{
	js_out_key(out, "direct_parts");
	if (split->source == DIRECT_UNREAD) {
		js_out_null(out);
		return;
	}
	js_out_object(out);
	put_text(out, "source", direct_source_names[split->source]);
	put_number(out, "network_bytes", split->network);
	put_number(out, "framework_bytes", split->framework);
	put_number(out, "task_bytes", split->task);
	js_out_object_end(out);
}

static void json(const struct resize *resize, const struct plan_source *source, struct js_out *out)
{
	put_text(out, "kind", "resize");
	put_text(out, "engine", engine_names[resize->kind]);
	plan_resize_source_json(source, resize->n_readings, resize->span_ms, out);
	js_out_key(out, "restored");
	js_out_bool(out, resize->restored);
	put_number(out, "process_bytes", resize->process_bytes);
	put_limit(out, "limit_bytes", resize->limit);
	put_direct(out, &resize->direct);
	js_out_key(out, "budgets");
	js_out_array(out);
	for (int i = RESIZE_BUDGET_COUNT; i-- > 0;)
		if (resize->rows[i].set_bytes || resize->rows[i].known)
			plan_resize_row_json(resize_budget_names[i], &resize->rows[i], out);
	js_out_array_end(out);
	js_out_key(out, "limit");
	if (resize->limit.kind == LIMIT_SET)
		plan_resize_row_json("limit", &resize->floor, out);
	else
		js_out_null(out);
	put_steps(out, resize);
}

static int read_report(const char *path, struct resize_reading *reading, struct err *err)
{
	auto_buf struct buf text = { .cap = REPORT_CAP };
	auto_js struct js *report = NULL;
	int rc = file_read_named(path, REPORT_CAP, &text, err);
	if (rc < 0)
		return rc;
	rc = js_parse(buf_str(&text), REPORT_CAP, &report, err);
	if (rc < 0)
		err_wrap(err, "%.120s", path);
	else
		rc = resize_read(report, path, reading, err);
	/* What somebody gave is no report: theirs to mend. */
	if (rc < 0 && (err->kind == ERR_MALFORMED || err->kind == ERR_UNSUPPORTED))
		err->kind = ERR_USAGE;
	return rc;
}

/* As they were taken, whatever the order of their names: report-10.json comes before report-9.json. */
static void sort_by_time(struct plan_source *source)
{
	for (size_t i = 1; i < source->n; i++)
		for (size_t j = i; j > 0 && source->readings[j].taken.ms < source->readings[j - 1].taken.ms; j--) {
			struct resize_reading reading = source->readings[j];
			const char *name = source->names[j];
			source->readings[j] = source->readings[j - 1];
			source->names[j] = source->names[j - 1];
			source->readings[j - 1] = reading;
			source->names[j - 1] = name;
		}
}

static int read_files(const struct plan_options *options, struct plan_source *source, struct err *err)
{
	int rc = 0;
	source->readings = calloc(options->n_reports, sizeof *source->readings);
	source->names = calloc(options->n_reports, sizeof *source->names);
	if (!source->readings || !source->names)
		return err_set(err, ERR_NOMEM, "no memory for a plan");
	for (; rc == 0 && source->n < options->n_reports; source->n++) {
		source->names[source->n] = options->reports[source->n];
		rc = read_report(options->reports[source->n], &source->readings[source->n], err);
	}
	sort_by_time(source);
	/* A report does not say whether a restore came before it: who took it does. */
	if (rc == 0)
		source->readings[source->n - 1].restored = options->through_restore;
	return rc;
}

static int size_flink(const struct plan_source *source, struct paint *paint, struct js_out *out, bool *ret_raises,
		      struct err *err)
{
	struct resize resize;
	int rc = resize_run(source->readings, source->names, source->n, &resize, err);
	if (rc < 0)
		return rc;
	if (out)
		json(&resize, source, out);
	else
		table(&resize, paint);
	for (size_t i = 0; i < resize.n_steps; i++)
		*ret_raises = *ret_raises || resize.steps[i].raises;
	return 0;
}

static int size_streams(const struct plan_options *options, const struct plan_source *source, struct paint *paint,
			struct js_out *out, bool *ret_raises, struct err *err)
{
	auto_free struct streams_size *size = calloc(1, sizeof *size);
	uint64_t pods = options->instances ? options->instances : source->n_pods;
	int rc = size ? streams_size_run(source->readings, source->names, source->n, pods, options->partitions, size,
					 err)
		      : err_set(err, ERR_NOMEM, "no memory for a plan");
	if (rc < 0)
		return rc;
	if (out)
		plan_streams_size_json(size, source, out);
	else
		plan_streams_size_table(size, paint);
	*ret_raises = size->raises;
	return 0;
}

int plan_resize(const struct plan_options *options, int *ret_status, struct err *err)
{
	auto_buf struct buf out = { .cap = OUT_CAP };
	auto_plan_source struct plan_source source = { 0 };
	struct js_out js;
	bool raises = false;
	int rc = options->of_collector ? plan_collector(options, &source, err) : read_files(options, &source, err);
	if (rc < 0)
		return rc;
	if ((options->partitions || options->instances) && source.readings[0].kind != ENGINE_KAFKA_STREAMS)
		return err_set(err, ERR_USAGE, "--%s is of Kafka Streams, and these are of a %s",
			       options->partitions ? "partitions" : "instances", engine_names[source.readings[0].kind]);
	struct paint paint = paint_start(&out, options->colored, command_columns());
	js_out_start(&js, &out, 2);
	if (options->json) {
		js_out_object(&js);
		put_text(&js, "schema", "bankfull.plan.v1");
	}
	rc = source.readings[0].kind == ENGINE_KAFKA_STREAMS
		     ? size_streams(options, &source, &paint, options->json ? &js : NULL, &raises, err)
		     : size_flink(&source, &paint, options->json ? &js : NULL, &raises, err);
	if (rc == 0 && options->json) {
		js_out_object_end(&js);
		rc = js_out_end(&js, err);
		(void)buf_putc(&out, '\n');
	} else if (rc == 0) {
		say_left_out(&paint, &source);
	}
	if (rc == 0 && buf_failed(&out))
		rc = err_set(err, ERR_NOMEM, "no memory for the plan");
	/* What is too small is trouble; what is too large costs money. */
	*ret_status = raises ? EXIT_FINDING : EXIT_OK;
	return rc < 0 ? rc : command_print(&out, "the plan", err);
}
