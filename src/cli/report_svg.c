/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/date.h"
#include "cli/report.h"
#include "cli/report_svg_parts.h"
#include "ledger/figure.h"
#include "rules/rules.h"

enum { BODY_CAP = 256 * 1024, FINDINGS_SHOWN = 4 };

static const struct svg_font plain = { 12.5, false, SVG_INK, SVG_START };
static const struct svg_font small = { 11.5, false, SVG_MUTED, SVG_START };

static const char *colour_of(enum severity severity)
{
	static const char *const colours[SEVERITY_COUNT] = { SVG_INK, SVG_MUTED, "#0f6a80", "#8f5200", SVG_RED };
	return colours[severity];
}

static double width_of_page(void)
{
	return PICTURE_RIGHT - PICTURE_LEFT;
}

static void head(struct picture *p)
{
	const struct snapshot *s = p->snapshot;
	char line[512], date[DATE_TEXT_CAP] = "time unread";
	bool grave = p->verdict->worst >= SEVERITY_WARNING;
	struct svg_font font = { 16, true, grave ? colour_of(p->verdict->worst) : SVG_INK, SVG_START };
	p->y = svg_wrapped(p->out, PICTURE_LEFT, 30, width_of_page(), 8, font, p->verdict->headline);
	if (s->taken.ms > 0)
		(void)date_format(date, s->taken.ms);
	int used = snprintf(line, sizeof line, "%s   pid %d  %s%s%s  JDK %s  %s  %s", date, s->process.pid,
			    engine_names[s->engine.kind], s->engine.version[0] ? " " : "", s->engine.version,
			    s->jdk[0] ? s->jdk : "unread", jvm_gc_names[s->gc], allocator_names[s->allocator]);
	if (s->container_id[0] && used < (int)sizeof line)
		(void)snprintf(line + used, sizeof line - (size_t)used, "  container %.12s", s->container_id);
	p->y = svg_wrapped(p->out, PICTURE_LEFT, p->y, width_of_page(), 3, small, line) + 14;
}

static void figure(struct picture *p, unsigned column, const char *name, const char *value, const char *colour)
{
	const double x = PICTURE_LEFT + column * 152.0;
	svg_text(p->out, x, p->y, small, name);
	svg_text(p->out, x, p->y + 20, (struct svg_font){ 17, true, colour, SVG_START }, value);
}

static void figures(struct picture *p)
{
	const struct ledger *l = p->ledger;
	char size[UNITS_TEXT_CAP];
	figure(p, 0, l->limit_told ? "limit (told)" : "limit", figure_limit(size, l->limit), SVG_INK);
	figure(p, 1, "charged", figure_qty(size, l->charge_bytes), SVG_INK);
	figure(p, 2, "floor", figure_qty(size, l->floor_bytes), SVG_INK);
	bool low = rules_finding(p->verdict, "freeboard-low") != NULL;
	figure(p, 3, l->freeboard_level == FREEBOARD_PROCESSES ? "freeboard, at most" : "freeboard",
	       figure_signed(size, l->freeboard_bytes), low ? SVG_RED : SVG_INK);
	figure(p, 4, "expected demand", figure_qty(size, l->expected.bytes), SVG_INK);
	p->y += 36;
}

/* What is wrong, the gravest first, and the one change to make. */
static void findings(struct picture *p)
{
	const struct verdict *v = p->verdict;
	unsigned shown = 0, left = 0;
	p->y += 16;
	for (size_t i = 0; i < v->n_findings; i++) {
		const struct finding *f = &v->findings[i];
		if (f->severity < SEVERITY_NOTICE)
			continue;
		if (shown == FINDINGS_SHOWN) {
			left++;
			continue;
		}
		struct svg_font font = plain;
		font.fill = colour_of(f->severity);
		font.bold = true;
		svg_text(p->out, PICTURE_LEFT, p->y, font, severity_names[f->severity]);
		char line[320];
		(void)snprintf(line, sizeof line, "%s: %s", f->rule, f->title);
		p->y = svg_wrapped(p->out, PICTURE_LEFT + 62, p->y, width_of_page() - 62, 2, plain, line) + 2;
		shown++;
	}
	if (left) {
		char line[64];
		(void)snprintf(line, sizeof line, "and %u more: bankfull report", left);
		svg_text(p->out, PICTURE_LEFT + 62, p->y, small, line);
		p->y += 18;
	}
	const struct finding *first = rules_first_change(v);
	if (first) {
		svg_text(p->out, PICTURE_LEFT, p->y, (struct svg_font){ 12.5, true, SVG_INK, SVG_START }, "do first");
		p->y = svg_wrapped(p->out, PICTURE_LEFT + 62, p->y, width_of_page() - 62, 6, plain, first->change) + 2;
	}
	if (v->n_silenced) {
		char line[64];
		(void)snprintf(line, sizeof line, "%zu silenced", v->n_silenced);
		svg_text(p->out, PICTURE_LEFT + 62, p->y, small, line);
		p->y += 18;
	}
}

static void foot(struct picture *p)
{
	p->y = svg_wrapped(
		p->out, PICTURE_LEFT, p->y + 4, width_of_page(), 3, small,
		"bankfull report. measured: counted by the kernel or the JVM; derived: exact arithmetic on that; "
		"inferred: attributed by a rule that can err. Sizes are binary.");
}

/* What somebody hears who does not see the picture. */
static void describe(const struct picture *p, struct buf *out)
{
	const struct ledger *l = p->ledger;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP], d[UNITS_TEXT_CAP];
	enum owner order[OWNER_COUNT];
	size_t n = report_svg_order(l, order);
	(void)buf_printf(out, "Limit %s, charged %s, floor %s, freeboard %s.", figure_limit(a, l->limit),
			 figure_qty(b, l->charge_bytes), figure_qty(c, l->floor_bytes),
			 figure_signed(d, l->freeboard_bytes));
	for (size_t i = 0; i < n; i++)
		(void)buf_printf(out, "%s %s %s", i ? "," : " Owners:", owner_table[order[i]].name,
				 units_format(a, l->lines[order[i]].bytes.bytes));
	(void)buf_puts(out, n ? "." : " No owner could be read.");
	for (size_t i = 0; i < l->n_budgets; i++)
		(void)buf_printf(out, "%s %s %s of %s", i ? "," : " Budgets:", l->budgets[i].name,
				 figure_qty(a, l->budgets[i].actual_bytes),
				 units_format(b, l->budgets[i].budget_bytes));
	(void)buf_puts(out, l->n_budgets ? "." : "");
}

int report_svg(const struct snapshot *snapshot, const struct ledger *ledger, const struct verdict *verdict,
	       struct buf *out, struct err *err)
{
	auto_buf struct buf body = { .cap = BODY_CAP };
	auto_buf struct buf description = { .cap = BODY_CAP };
	struct picture p = { snapshot, ledger, verdict, &body, 0 };
	head(&p);
	figures(&p);
	report_svg_bar(&p);
	report_svg_owners(&p);
	report_svg_budgets(&p);
	findings(&p);
	foot(&p);
	p.y += 6;
	svg_rect(&body, 0, 0, 6, p.y, verdict->worst >= SEVERITY_WARNING ? colour_of(verdict->worst) : SVG_LINE, NULL);
	describe(&p, &description);
	if (!buf_failed(&body) && !buf_failed(&description))
		svg_document(out, PICTURE_WIDTH, p.y, verdict->headline, buf_str(&description).ptr, buf_str(&body));
	return buf_failed(&body) || buf_failed(&description) || buf_failed(out)
		       ? err_set(err, ERR_NOMEM, "no memory for the picture")
		       : 0;
}
