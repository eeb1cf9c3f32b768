/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/esc.h"
#include "cli/paint.h"
#include "cli/report.h"
#include "ledger/figure.h"
#include "rules/rules.h"

enum { BAR_WIDTH = 16, BAR_WIDTH_NARROW = 4, OWNER_WIDTH = 22 };

/* For where there is a better word than "unread". */
static const char *size_or(char dest[UNITS_TEXT_CAP], struct qty qty, const char *otherwise)
{
	return qty_known(qty) ? units_format(dest, qty.bytes) : otherwise;
}

static void head(struct paint *p, const struct snapshot *s)
{
	char line[512], shown[512];
	(void)snprintf(line, sizeof line, "pid %d  %s%s%s  JDK %s  %s  %s", s->process.pid,
		       engine_names[s->engine.kind], s->engine.version[0] ? " " : "", s->engine.version,
		       s->jdk[0] ? s->jdk : "unread", jvm_gc_names[s->gc], allocator_names[s->allocator]);
	paint_tone(p, TONE_BOLD);
	paint_wrapped(p, 2, 0, esc_copy(shown, sizeof shown, str_of(line)));
	paint_tone(p, TONE_PLAIN);
	if (s->container_id[0])
		(void)buf_printf(p->out, "container %.12s\n", s->container_id);
}

static bool is_narrow(const struct paint *p)
{
	return p->columns < 92;
}

static unsigned bar_width(const struct paint *p)
{
	return is_narrow(p) ? BAR_WIDTH_NARROW : BAR_WIDTH;
}

static void room(struct paint *p, const struct snapshot *s, const struct ledger *l, bool low)
{
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP], d[UNITS_TEXT_CAP];
	(void)buf_printf(p->out, "\nlimit %s%s   charged %s   floor %s%s", figure_limit(a, l->limit),
			 l->limit_told ? " (told)" : "", figure_qty(b, l->charge_bytes), figure_qty(c, l->floor_bytes),
			 is_narrow(p) ? "\n" : "   ");
	if (l->freeboard_bytes.known) {
		char line[96];
		(void)snprintf(line, sizeof line, "freeboard %s%s", units_format_signed(d, l->freeboard_bytes.bytes),
			       l->freeboard_level == FREEBOARD_PROCESSES ? " at most" : "");
		paint_text(p, low ? TONE_RED : TONE_GREEN, line);
	} else {
		(void)buf_puts(p->out, "freeboard unread");
	}
	(void)buf_printf(p->out, "\nexpected demand %s   legal demand %s%s\n", figure_qty(a, l->expected.bytes),
			 size_or(b, l->legal.bytes, "unbounded"),
			 l->torn ? "\n(the charge moved while it was read)" : "");
	if (s->cgroup.high.kind != LIMIT_SET || !l->throttle_room_bytes.known)
		return;
	int64_t left = l->throttle_room_bytes.bytes;
	(void)buf_printf(p->out,
			 left < 0 ? "memory.high %s, passed by %s: it throttles\n"
				  : "memory.high %s, throttles in %s\n",
			 units_format(a, s->cgroup.high.bytes),
			 units_format(b, left < 0 ? (uint64_t)0 - (uint64_t)left : (uint64_t)left));
}

/* actual against budget: full at the budget, '!' past it. */
static void bar(struct paint *p, uint64_t actual, uint64_t budget)
{
	bool over = actual > budget;
	double share = budget ? (double)actual / (double)budget : over ? 10 : 0;
	unsigned width = bar_width(p), filled = share >= 1 ? width : (unsigned)(share * width + 0.5);
	(void)buf_putc(p->out, '[');
	paint_tone(p, over ? TONE_RED : share > 0.9 ? TONE_YELLOW : TONE_GREEN);
	for (unsigned i = 0; i < width; i++)
		(void)buf_putc(p->out, i < filled ? (over && i + 1 == filled ? '!' : '#') : '.');
	paint_tone(p, TONE_PLAIN);
	/* A budget that is overrun ten times is overrun; the figure must not push the columns apart. */
	if (share < 9.995)
		(void)buf_printf(p->out, "] %3.0f%%", share * 100);
	else
		(void)buf_puts(p->out, "] >10x");
}

static void budgets(struct paint *p, const struct ledger *l)
{
	if (l->n_budgets == 0)
		return;
	(void)buf_putc(p->out, '\n');
	paint_tone(p, TONE_BOLD);
	(void)buf_printf(p->out, "BUDGET             SET ASIDE      RESIDENT%*sENFORCED BY", (int)bar_width(p) + 10,
			 "");
	paint_tone(p, TONE_PLAIN);
	(void)buf_putc(p->out, '\n');
	for (size_t i = 0; i < l->n_budgets; i++) {
		const struct ledger_budget *b = &l->budgets[i];
		char set[UNITS_TEXT_CAP], actual[UNITS_TEXT_CAP];
		(void)buf_printf(p->out, "%-14s %13s %13s  ", b->name, units_format(set, b->budget_bytes),
				 figure_qty(actual, b->actual_bytes));
		if (qty_known(b->actual_bytes))
			bar(p, b->actual_bytes.bytes, b->budget_bytes);
		else
			(void)buf_printf(p->out, "%*s", (int)bar_width(p) + 7, "");
		(void)buf_printf(p->out, "  %s\n", b->enforced_by ? b->enforced_by : "nothing");
	}
}

static void ledger_line(struct paint *p, const struct ledger_line *line)
{
	char size[UNITS_TEXT_CAP], bound[UNITS_TEXT_CAP], budget[UNITS_TEXT_CAP];
	(void)buf_printf(p->out, "  %-*s %10s  %-8s %10s %10s  ", OWNER_WIDTH, owner_table[line->owner].name,
			 units_format(size, line->bytes.bytes), qty_state_names[line->bytes.state],
			 size_or(budget, line->budget_bytes, ""),
			 line->bound.kind == LIMIT_SET    ? units_format(bound, line->bound.bytes)
			 : line->bound.kind == LIMIT_NONE ? "none"
							  : "");
	/* The note goes on below its own column, or on a narrow terminal below the line. */
	const unsigned beside = 2 + OWNER_WIDTH + 1 + 10 + 2 + 8 + 1 + 10 + 1 + 10 + 2, below = 10;
	bool fits = p->columns == PAINT_COLUMNS_MAX || beside + strlen(line->note) <= p->columns;
	if (!fits)
		(void)buf_printf(p->out, "\n%*s", (int)below, "");
	paint_wrapped(p, fits ? beside : below, fits ? beside : below, line->note);
}

static bool in_group(const struct ledger *l, int owner, int group)
{
	return l->listed[owner] && owner_table[owner].group == (enum ledger_group)group;
}

/* Unread lines of one group that are unread for one reason share one line: the reason is what matters about them. */
static void unread_lines(struct paint *p, const struct ledger *l, int group)
{
	bool done[OWNER_COUNT] = { false };
	for (int first = 0; first < OWNER_COUNT; first++) {
		if (done[first] || !in_group(l, first, group) || qty_known(l->lines[first].bytes))
			continue;
		char line[FINDING_TEXT_CAP];
		int used = snprintf(line, sizeof line, "%s", owner_table[first].name);
		for (int owner = first + 1; owner < OWNER_COUNT && used < (int)sizeof line; owner++) {
			if (!in_group(l, owner, group) || qty_known(l->lines[owner].bytes) ||
			    strcmp(l->lines[owner].note, l->lines[first].note) != 0)
				continue;
			done[owner] = true;
			used += snprintf(line + used, sizeof line - (size_t)used, ", %s", owner_table[owner].name);
		}
		if (used < (int)sizeof line)
			(void)snprintf(line + used, sizeof line - (size_t)used, ": %s", l->lines[first].note);
		paint_tone(p, TONE_DIM);
		(void)buf_puts(p->out, "  unread  ");
		paint_wrapped(p, 10, 10, line);
		paint_tone(p, TONE_PLAIN);
	}
}

static void ledger_groups(struct paint *p, const struct ledger *l)
{
	(void)buf_putc(p->out, '\n');
	paint_text(p, TONE_BOLD, "OWNER                      RESIDENT  STATE        BUDGET      BOUND  NOTE");
	(void)buf_putc(p->out, '\n');
	for (int group = 0; group < GROUP_COUNT; group++) {
		const struct ledger_group_sum *sum = &l->groups[group];
		char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
		bool any = false;
		for (int owner = 0; owner < OWNER_COUNT; owner++)
			any |= in_group(l, owner, group);
		if (!any)
			continue;
		paint_tone(p, TONE_BOLD);
		(void)buf_printf(p->out, "%-*s %10s", OWNER_WIDTH + 2, ledger_group_names[group],
				 figure_qty(a, sum->owners_bytes));
		paint_tone(p, TONE_PLAIN);
		if (qty_known(sum->counter_bytes) && qty_known(sum->owners_bytes)) {
			(void)buf_printf(p->out, "  counted %s: ", units_format(b, sum->counter_bytes.bytes));
			paint_text(p, sum->closed ? TONE_GREEN : TONE_RED, sum->closed ? "closed" : "NOT closed");
		}
		(void)buf_putc(p->out, '\n');
		for (int owner = 0; owner < OWNER_COUNT; owner++)
			if (in_group(l, owner, group) && qty_known(l->lines[owner].bytes) &&
			    (l->lines[owner].bytes.bytes || qty_known(l->lines[owner].claim_bytes)))
				ledger_line(p, &l->lines[owner]);
		unread_lines(p, l, group);
	}
	if (!l->residual_bytes.known)
		return;
	char r[UNITS_TEXT_CAP], t[UNITS_TEXT_CAP], text[160] = "charge less owners";
	(void)buf_printf(p->out, "%-*s %10s  ", OWNER_WIDTH + 2, "residual",
			 units_format_signed(r, l->residual_bytes.bytes));
	if (l->stat_residual_bytes.known)
		(void)snprintf(text, sizeof text, "charge less owners; the kernel's own: %s, tolerance %s",
			       units_format_signed(r, l->stat_residual_bytes.bytes),
			       units_format(t, l->stat_tolerance_bytes));
	const unsigned at = OWNER_WIDTH + 2 + 1 + 10 + 2;
	paint_wrapped(p, at, at, text);
}

int report_table(const struct snapshot *snapshot, const struct ledger *ledger, const struct verdict *verdict,
		 bool color, unsigned columns, struct buf *out, struct err *err)
{
	struct paint p = paint_start(out, color, columns);
	paint_headline(&p, verdict);
	head(&p, snapshot);
	room(&p, snapshot, ledger, rules_finding(verdict, "freeboard-low") != NULL);
	budgets(&p, ledger);
	ledger_groups(&p, ledger);
	paint_verdict(&p, verdict);
	return buf_failed(out) ? err_set(err, ERR_NOMEM, "no memory for the report") : 0;
}
