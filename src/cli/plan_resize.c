/* SPDX-License-Identifier: Apache-2.0 */
/* The right size from reports: reads them, prints what to change, one change at a time. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/plan.h"
#include "plan/resize.h"
#include "sys/file.h"
#include "wire/put.h"

enum { OUT_CAP = 4 << 20, REPORT_CAP = 4 << 20 };

static void row(struct paint *p, const char *name, const struct resize_row *r, bool set)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP], d[UNITS_TEXT_CAP], e[UNITS_TEXT_CAP];
	if (!set)
		return;
	bool known = r->known;
	(void)buf_printf(p->out, "%-13s %10s %10s %10s %10s %10s  ", name, units_format(a, r->set_bytes),
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

static void step(struct paint *p, size_t number, const struct resize_step *s)
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

static int table(const struct resize *resize, const struct plan_face *face, struct buf *out, struct err *err)
{
	struct paint p = paint_start(out, face->color, face->columns);
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	uint64_t process = resize->n_steps ? resize->steps[resize->n_steps - 1].process_bytes : resize->process_bytes;
	char line[256];
	if (resize->n_steps)
		(void)snprintf(line, sizeof line, "%zu change%s, one at a time: the process goes from %s to %s.",
			       resize->n_steps, resize->n_steps == 1 ? "" : "s", units_format(a, resize->process_bytes),
			       units_format(b, process));
	else
		(void)snprintf(line, sizeof line, "The sizes fit what was measured: nothing to change.");
	paint_text(&p, TONE_BOLD, line);
	(void)buf_printf(out, "\n\n%s, %zu reading%s\n\n", engine_names[resize->kind], resize->n_readings,
			 resize->n_readings == 1 ? "" : "s");
	paint_text(&p, TONE_BOLD, "BUDGET         SET ASIDE        P50        P99    HIGHEST   PROPOSED  WHY");
	(void)buf_putc(out, '\n');
	for (int i = RESIZE_BUDGET_COUNT; i-- > 0;)
		row(&p, resize_budget_names[i], &resize->rows[i], resize->rows[i].set_bytes || resize->rows[i].known);
	row(&p, "limit", &resize->floor, resize->limit.kind == LIMIT_SET);
	if (resize->too_few)
		(void)buf_printf(
			out,
			"\nNothing is lowered by fewer than %d readings: take them over a day, a peak and a restore.\n",
			RESIZE_READINGS_LEAST);
	for (size_t i = 0; i < resize->n_steps; i++)
		step(&p, i + 1, &resize->steps[i]);
	if (resize->n_steps && resize->limit.kind == LIMIT_SET &&
	    resize->floor.proposed_bytes != resize->floor.set_bytes)
		(void)buf_printf(out, "\n%zu. then the container's limit: %s (%lluMi)\n", resize->n_steps + 1,
				 units_format(a, resize->floor.proposed_bytes),
				 (unsigned long long)(resize->floor.proposed_bytes >> 20));
	return buf_failed(out) ? err_set(err, ERR_NOMEM, "no memory for the plan") : 0;
}

static void put_number(struct js_out *out, const char *key, uint64_t number)
{
	js_out_key(out, key);
	js_out_u64(out, number);
}

static void put_row(struct js_out *out, const char *name, const struct resize_row *r)
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

static int json(const struct resize *resize, struct buf *buf, struct err *err)
{
	struct js_out out;
	js_out_start(&out, buf, 2);
	js_out_object(&out);
	put_text(&out, "schema", "bankfull.plan.v1");
	put_text(&out, "kind", "resize");
	put_text(&out, "engine", engine_names[resize->kind]);
	put_number(&out, "readings", resize->n_readings);
	put_number(&out, "process_bytes", resize->process_bytes);
	put_limit(&out, "limit_bytes", resize->limit);
	js_out_key(&out, "budgets");
	js_out_array(&out);
	for (int i = RESIZE_BUDGET_COUNT; i-- > 0;)
		if (resize->rows[i].set_bytes || resize->rows[i].known)
			put_row(&out, resize_budget_names[i], &resize->rows[i]);
	js_out_array_end(&out);
	js_out_key(&out, "limit");
	if (resize->limit.kind == LIMIT_SET)
		put_row(&out, "limit", &resize->floor);
	else
		js_out_null(&out);
	put_steps(&out, resize);
	js_out_object_end(&out);
	int rc = js_out_end(&out, err);
	if (rc == 0 && !buf_putc(buf, '\n'))
		rc = err_set(err, ERR_NOMEM, "no memory for the plan");
	return rc;
}

static int read_report(const char *path, struct resize_reading *reading, struct err *err)
{
	auto_buf struct buf text = { .cap = REPORT_CAP };
	auto_js struct js *report = NULL;
	int rc = file_read_at(AT_FDCWD, path, REPORT_CAP, &text, err);
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

int plan_resize(const struct plan_options *options, int *ret_status, struct err *err)
{
	auto_buf struct buf out = { .cap = OUT_CAP };
	auto_free struct resize_reading *readings = calloc(options->n_reports, sizeof *readings);
	struct resize resize;
	int rc = readings ? 0 : err_set(err, ERR_NOMEM, "no memory for a plan");
	for (size_t i = 0; rc == 0 && i < options->n_reports; i++)
		rc = read_report(options->reports[i], &readings[i], err);
	if (rc == 0)
		rc = resize_run(readings, options->reports, options->n_reports, &resize, err);
	if (rc < 0)
		return rc;
	const struct plan_face face = { options->colored, command_columns() };
	rc = options->json ? json(&resize, &out, err) : table(&resize, &face, &out, err);
	bool raises = false;
	for (size_t i = 0; i < resize.n_steps; i++)
		raises = raises || resize.steps[i].raises;
	/* What is too small is trouble; what is too large costs money. */
	*ret_status = raises ? EXIT_FINDING : EXIT_OK;
	return rc < 0 ? rc : command_print(&out, "the plan", err);
}
