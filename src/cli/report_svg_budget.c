/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/sat.h"
#include "cli/report_svg_parts.h"
#include "ledger/figure.h"

enum { ROW = 36, BAR = 16 };

/* A budget ends at the same place in each row: what is past it is seen at once. The track has room for 1.6 times of it. */
static const double TRACK = 124, TRACK_END = 396, AT_BUDGET = 294;

static const struct svg_font plain = { 12.5, false, SVG_INK, SVG_START };
static const struct svg_font strong = { 12.5, true, SVG_INK, SVG_START };
static const struct svg_font small = { 11.5, false, SVG_MUTED, SVG_START };

/* The sum of what its owners can grow to. LIMIT_NONE: one of them has no bound; LIMIT_UNREAD: of one it is not known. */
static struct limit bound_of(const struct ledger *l, const struct ledger_budget *budget)
{
	struct limit sum = limit_set(0);
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		if (!(budget->owners >> owner & 1) || !l->listed[owner])
			continue;
		struct limit one = l->lines[owner].bound;
		if (one.kind == LIMIT_NONE)
			return one;
		if (one.kind == LIMIT_UNREAD || sum.kind == LIMIT_UNREAD ||
		    __builtin_add_overflow(sum.bytes, one.bytes, &sum.bytes))
			sum = (struct limit){ 0, LIMIT_UNREAD };
	}
	return sum.kind == LIMIT_SET && sum.bytes == 0 ? (struct limit){ 0, LIMIT_UNREAD } : sum;
}

static double x_of(const struct ledger_budget *budget, uint64_t bytes)
{
	double x = budget->budget_bytes ? TRACK + (AT_BUDGET - TRACK) * ((double)bytes / (double)budget->budget_bytes)
		   : bytes              ? TRACK_END
					: TRACK;
	return x > TRACK_END ? TRACK_END : x;
}

static void track(struct picture *p, const struct ledger_budget *budget, double y)
{
	char size[UNITS_TEXT_CAP], text[96];
	uint64_t before = 0;
	svg_rect(p->out, TRACK, y, AT_BUDGET - TRACK, BAR, "#ffffff", SVG_MUTED);
	if (!qty_known(budget->actual_bytes)) {
		svg_unread(p->out, TRACK, y, AT_BUDGET - TRACK, BAR);
		svg_text(p->out, TRACK + 8, y + 12, small, "unread");
		return;
	}
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		uint64_t bytes = budget->owners >> owner & 1 ? ledger_bytes(p->ledger, (enum owner)owner) : 0;
		double from = x_of(budget, before), to = x_of(budget, sat_add(before, bytes));
		before = sat_add(before, bytes);
		if (to - from < 0.05)
			continue;
		(void)snprintf(text, sizeof text, "%s %s", owner_table[owner].name, units_format(size, bytes));
		svg_filled(p->out, from, y, to - from, BAR, &owner_looks[owner], text);
	}
	if (budget->actual_bytes.bytes > budget->budget_bytes)
		svg_line(p->out, AT_BUDGET, y - 4, AT_BUDGET, y + BAR + 4, SVG_RED, 2.5, false);
	else
		svg_line(p->out, AT_BUDGET, y - 3, AT_BUDGET, y + BAR + 3, SVG_INK, 1.5, false);
	/* The bar is cut here; the figure says where it ends. */
	if (x_of(budget, budget->actual_bytes.bytes) >= TRACK_END)
		for (int stroke = 0; stroke < 2; stroke++) {
			double x = TRACK_END - 9 + 5 * stroke;
			svg_line(p->out, x, y + BAR + 2, x + 4, y - 2, "#ffffff", 2, false);
		}
}

static void figures(struct picture *p, const struct ledger_budget *budget, double y)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], text[200];
	struct qty actual = budget->actual_bytes;
	bool over = qty_known(actual) && actual.bytes > budget->budget_bytes;
	int used =
		snprintf(text, sizeof text, "%s of %s", figure_qty(a, actual), units_format(b, budget->budget_bytes));
	if (qty_known(actual) && budget->budget_bytes)
		used += snprintf(text + used, sizeof text - (size_t)used, ", %.0f %%",
				 (double)actual.bytes * 100 / (double)budget->budget_bytes);
	if (over)
		(void)snprintf(text + used, sizeof text - (size_t)used, ": over by %s",
			       units_format(a, actual.bytes - budget->budget_bytes));
	svg_text(p->out, TRACK_END + 10, y + 7, over ? (struct svg_font){ 12.5, true, SVG_RED, SVG_START } : plain,
		 text);
	struct limit bound = bound_of(p->ledger, budget);
	const char *enforcer = budget->enforced_by ? budget->enforced_by : "nothing";
	(void)snprintf(text, sizeof text, "%s%s; enforced by %s", bound.kind == LIMIT_NONE ? "no bound" : "bound ",
		       bound.kind == LIMIT_SET      ? units_format(a, bound.bytes)
		       : bound.kind == LIMIT_UNREAD ? "unread"
						    : "",
		       enforcer);
	svg_text(p->out, TRACK_END + 10, y + 21, small, text);
	if (bound.kind == LIMIT_SET && x_of(budget, bound.bytes) < TRACK_END)
		svg_line(p->out, x_of(budget, bound.bytes), y - 3, x_of(budget, bound.bytes), y + BAR + 3, SVG_MUTED,
			 1.5, true);
}

void report_svg_budgets(struct picture *p)
{
	if (p->ledger->n_budgets == 0)
		return;
	p->y += 12;
	svg_text(p->out, PICTURE_LEFT, p->y + 10, (struct svg_font){ 13.5, true, SVG_INK, SVG_START }, "Budgets");
	svg_text(p->out, AT_BUDGET, p->y + 10, (struct svg_font){ 11.5, false, SVG_MUTED, SVG_END }, "set aside |");
	svg_text(p->out, TRACK_END + 10, p->y + 10, small, "resident, of what was set aside");
	p->y += 22;
	for (size_t i = 0; i < p->ledger->n_budgets; i++) {
		const struct ledger_budget *budget = &p->ledger->budgets[i];
		svg_text(p->out, PICTURE_LEFT, p->y + 12, strong, budget->name);
		track(p, budget, p->y);
		figures(p, budget, p->y);
		p->y += ROW;
	}
}
