/* SPDX-License-Identifier: Apache-2.0 */
/* Who holds what: a row an owner, against its budget, its bound, or the limit. */
#include <stdio.h>
#include <string.h>

#include "ledger/figure.h"
#include "rules/growing.h"
#include "watch/layout_parts.h"

enum { NAME = 22, SIZE = 10, GAP = 1, BAR_MOST = 40, NOTE_LEAST = 24 };

/* Which columns there is room for; 0: none. */
struct columns {
	unsigned name, bar, of, start, minute, note;
};

static struct columns columns_for(unsigned wide)
{
	struct columns c = { .name = wide < 44 ? 18 : NAME };
	unsigned left = wide > c.name + GAP + SIZE ? wide - c.name - GAP - SIZE : 0;
	if (left >= SIZE + GAP) {
		c.minute = SIZE;
		left -= SIZE + GAP;
	}
	if (left >= SIZE + GAP) {
		c.start = SIZE;
		left -= SIZE + GAP;
	}
	if (left >= 2 * (SIZE + GAP)) {
		c.of = SIZE;
		left -= SIZE + GAP;
	}
	if (left > 4) {
		c.bar = left - GAP > BAR_MOST ? BAR_MOST : left - GAP;
		left -= c.bar + GAP;
		/* Notes are worth more than a long bar. */
		if (left + c.bar >= NOTE_LEAST + 20 && left < NOTE_LEAST) {
			left += c.bar - 16;
			c.bar = 16;
		}
	}
	if (left > NOTE_LEAST + 2)
		c.note = left - 2;
	return c;
}

static void head(struct area area, const struct columns *c, const struct layout_input *input)
{
	const struct reading *r = input->reading;
	char age[GROWING_TEXT_CAP], name[64];
	(void)snprintf(name, sizeof name, "OWNER (%s old)", growing_time(age, r->books_age_ms / 1000));
	unsigned x = 0;
	(void)area_put(area_part(area, 0, 0, c->name, 1), 0, 0, STYLE_DIM, str_of(name));
	area_right(area, x += c->name + GAP, 0, SIZE, STYLE_DIM, "BYTES");
	x += SIZE + GAP;
	if (c->bar) {
		(void)area_put(area_part(area, x, 0, c->bar, 1), 0, 0, STYLE_DIM, STR("AGAINST"));
		x += c->bar + GAP;
	}
	if (c->of) {
		area_right(area, x, 0, c->of, STYLE_DIM, "MAY HAVE");
		x += c->of + GAP;
	}
	if (c->start) {
		area_right(area, x, 0, c->start, STYLE_DIM, "WATCHED");
		x += c->start + GAP;
	}
	if (c->minute)
		area_right(area, x, 0, c->minute, STYLE_DIM, "MINUTE");
	x += c->minute + 2;
	if (c->note)
		(void)area_put(area, x, 0, STYLE_DIM, STR("NOTE"));
}

/* "+12.0 MiB"; "" where it is not known yet, "=" where it stands still. */
static const char *change_text(char dest[UNITS_TEXT_CAP + 1], struct signed_qty by)
{
	if (!by.known)
		dest[0] = '\0';
	else if (by.bytes == 0)
		memcpy(dest, "=", 2);
	else {
		char size[UNITS_TEXT_CAP];
		(void)snprintf(dest, UNITS_TEXT_CAP + 1, "%s%s", by.bytes > 0 ? "+" : "",
			       units_format_signed(size, by.bytes));
	}
	return dest;
}

static enum style change_style(struct signed_qty by)
{
	return by.known && by.bytes >= 1 << 20 ? STYLE_BOLD : STYLE_PLAIN;
}

/* What a line may grow to: its budget, its bound, or all that there is. */
struct measure {
	uint64_t bytes;
	bool is_limit;
};

static struct measure measure_of(const struct ledger *l, const struct ledger_line *line)
{
	if (qty_known(line->budget_bytes) && line->budget_bytes.bytes)
		return (struct measure){ line->budget_bytes.bytes, false };
	if (line->bound.kind == LIMIT_SET && line->bound.bytes)
		return (struct measure){ line->bound.bytes, false };
	return (struct measure){ l->limit.kind == LIMIT_SET ? l->limit.bytes : 0, true };
}

static enum style against(double share)
{
	return share > 1 ? STYLE_CRITICAL : share > 0.9 ? STYLE_WARNING : STYLE_GOOD;
}

static void row(struct area area, unsigned y, const struct columns *c, const struct layout_input *input, int owner)
{
	const struct reading *r = input->reading;
	const struct ledger_line *line = &r->ledger.lines[owner];
	struct measure measure = measure_of(&r->ledger, line);
	double share = measure.bytes ? (double)line->bytes.bytes / (double)measure.bytes : 0;
	char size[UNITS_TEXT_CAP], by[UNITS_TEXT_CAP + 1];
	unsigned x = c->name + GAP;
	(void)area_put(area_part(area, 0, 0, c->name, area.rows), 0, y, STYLE_PLAIN, str_of(owner_table[owner].name));
	area_right(area, x, y, SIZE, STYLE_BOLD, units_format(size, line->bytes.bytes));
	x += SIZE + GAP;
	if (c->bar) {
		if (measure.bytes)
			area_bar(area, x, y, c->bar, measure.is_limit ? STYLE_DIM : against(share), share);
		x += c->bar + GAP;
	}
	if (c->of) {
		area_right(area, x, y, c->of, STYLE_PLAIN,
			   !measure.bytes     ? ""
			   : measure.is_limit ? "(limit)"
					      : units_format(size, measure.bytes));
		x += c->of + GAP;
	}
	struct signed_qty since = story_since_start(input->story, r, (unsigned)owner);
	struct signed_qty minute = story_last_minute(input->story, r, (unsigned)owner);
	if (c->start) {
		area_right(area, x, y, c->start, change_style(since), change_text(by, since));
		x += c->start + GAP;
	}
	if (c->minute)
		area_right(area, x, y, c->minute, change_style(minute), change_text(by, minute));
	x += c->minute + 2;
	if (c->note)
		(void)area_put(area_part(area, x, 0, c->note, area.rows), 0, y, STYLE_DIM, str_of(line->note));
}

/* --- order -------------------------------------------------------------------------------------------------------- */

static int64_t growth_of(const struct layout_input *input, int owner)
{
	struct signed_qty by = story_last_minute(input->story, input->reading, (unsigned)owner);
	if (!by.known)
		by = story_since_start(input->story, input->reading, (unsigned)owner);
	return by.known ? by.bytes : INT64_MIN;
}

static bool before(const struct layout_input *input, int a, int b)
{
	const struct ledger *l = &input->reading->ledger;
	if (input->view->sort == SORT_NAME)
		return strcmp(owner_table[a].name, owner_table[b].name) < 0;
	if (input->view->sort == SORT_GROWTH && growth_of(input, a) != growth_of(input, b))
		return growth_of(input, a) > growth_of(input, b);
	return l->lines[a].bytes.bytes > l->lines[b].bytes.bytes;
}

static size_t sorted(const struct layout_input *input, int owners[OWNER_COUNT])
{
	const struct ledger *l = &input->reading->ledger;
	size_t n = 0;
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		if (!ledger_bytes(l, (enum owner)owner))
			continue;
		size_t at = n++;
		for (; at > 0 && before(input, owner, owners[at - 1]); at--)
			owners[at] = owners[at - 1];
		owners[at] = owner;
	}
	return n;
}

/* --- below them --------------------------------------------------------------------------------------------------- */

static unsigned text_line(struct area area, unsigned at, unsigned skip, enum style style, const char *text)
{
	return at + area_wrap(area, (int)at - (int)skip, style, str_of(text));
}

static unsigned unread(struct area area, const struct ledger *l, unsigned at, unsigned skip)
{
	char line[512];
	int used = snprintf(line, sizeof line, "unread:");
	bool any = false;
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		if (!ledger_is_unread(l, (enum owner)owner) || used >= (int)sizeof line)
			continue;
		used += snprintf(line + used, sizeof line - (size_t)used, "%s %s", any ? "," : "",
				 owner_table[owner].name);
		any = true;
	}
	return any ? text_line(area, at, skip, STYLE_DIM, line) : at;
}

static void budget_row(struct area area, unsigned y, const struct columns *c, const struct ledger_budget *b)
{
	char size[UNITS_TEXT_CAP], name[40];
	bool known = qty_known(b->actual_bytes);
	unsigned x = c->name + GAP;
	double share = known && b->budget_bytes ? (double)b->actual_bytes.bytes / (double)b->budget_bytes : 0;
	(void)snprintf(name, sizeof name, "budget %s", b->name);
	(void)area_put(area_part(area, 0, 0, c->name, area.rows), 0, y, STYLE_DIM, str_of(name));
	area_right(area, x, y, SIZE, STYLE_PLAIN, figure_qty(size, b->actual_bytes));
	x += SIZE + GAP;
	if (c->bar && known)
		area_bar(area, x, y, c->bar, against(share), share);
	x += c->bar ? c->bar + GAP : 0;
	if (c->of)
		area_right(area, x, y, c->of, STYLE_PLAIN, units_format(size, b->budget_bytes));
	if (c->note)
		(void)area_printf(area_part(area, area.columns - c->note, 0, c->note, area.rows), 0, y, STYLE_DIM,
				  "enforced by %s", b->enforced_by ? b->enforced_by : "nothing");
}

/* What configuration set aside, and what lives on it. */
static unsigned budgets(struct area area, const struct columns *c, const struct ledger *l, unsigned at, unsigned skip)
{
	for (size_t i = 0; i < l->n_budgets; i++, at++)
		if (at >= skip)
			budget_row(area, at - skip, c, &l->budgets[i]);
	return at;
}

static unsigned beside(struct area area, const struct layout_input *input, unsigned at, unsigned skip)
{
	const struct reading *r = input->reading;
	char size[UNITS_TEXT_CAP], line[200], *why = line;
	if (r->ledger.residual_bytes.known) {
		(void)snprintf(line, sizeof line, "residual %s: charge less owners",
			       units_format_signed(size, r->ledger.residual_bytes.bytes));
		at = text_line(area, at, skip, STYLE_DIM, line);
	}
	at = unread(area, &r->ledger, at, skip);
	if (r->skipped != BUDGET_GO && r->skipped != BUDGET_NOT_DUE) {
		(void)snprintf(why, sizeof line, "a scan of the mappings waits: %s",
			       r->skipped == BUDGET_SHARE      ? "the last one is not paid for"
			       : r->skipped == BUDGET_PRESSURE ? "memory is stalling"
							       : "it would hold the JVM up for too long");
		at = text_line(area, at, skip, STYLE_NOTICE, line);
	}
	return at;
}

static unsigned without_books(struct area area, const struct reading *r)
{
	if (r->no_books[0]) {
		unsigned n = area_wrap(area, 0, STYLE_NOTICE, STR("who owns it is not known: no mappings."));
		return n + area_wrap(area, (int)n, STYLE_PLAIN, str_of(r->no_books));
	}
	return area_wrap(area, 0, STYLE_DIM,
			 STR("who owns it is known after the first scan; JVM and engine are asked before it"));
}

unsigned layout_owners(struct area area, const struct layout_input *input, unsigned skip)
{
	const struct reading *r = input->reading;
	int owners[OWNER_COUNT];
	if (!r || !r->has_target)
		return 0;
	size_t n = sorted(input, owners);
	if (!r->has_books && n == 0)
		return without_books(area, r);
	struct columns c = columns_for(area.columns);
	head(area, &c, input);
	area = area_part(area, 0, 1, area.columns, area.rows);
	for (size_t i = skip; i < n && i - skip < area.rows; i++)
		row(area, (unsigned)(i - skip), &c, input, owners[i]);
	unsigned at = (unsigned)n;
	if (!r->has_books && r->no_books[0])
		at = text_line(area, at, skip, STYLE_NOTICE, r->no_books);
	at = budgets(area, &c, &r->ledger, at, skip);
	return 1 + beside(area, input, at, skip);
}
