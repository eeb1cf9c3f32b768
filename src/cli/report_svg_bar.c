/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/sat.h"
#include "cli/report_svg_parts.h"
#include "ledger/figure.h"

enum { BAR_HEIGHT = 46, STUB = 46, LEGEND_ROW = 18, COLUMN = 390 };

static const struct svg_font small = { 11.5, false, SVG_MUTED, SVG_START };
static const struct svg_font plain = { 12.5, false, SVG_INK, SVG_START };

static const struct svg_font strong = { 12, true, SVG_INK, SVG_START };

static struct svg_font anchored(struct svg_font font, enum svg_anchor anchor)
{
	font.anchor = anchor;
	return font;
}

size_t report_svg_order(const struct ledger *ledger, enum owner ret_order[OWNER_COUNT])
{
	size_t n = 0;
	for (int reclaimable = 0; reclaimable < 2; reclaimable++)
		for (int owner = 0; owner < OWNER_COUNT; owner++)
			if (ledger_bytes(ledger, (enum owner)owner) &&
			    owner_is_reclaimable((enum owner)owner) == reclaimable)
				ret_order[n++] = (enum owner)owner;
	return n;
}

/* Where things stand on the axis of bytes. */
struct axis {
	double per_byte;
	uint64_t sum, end; /* of the owners; of the bar */
	bool has_expected; /* a demand far past all else would make everything else small: it stands in the figures alone */
};

static double x_at(const struct axis *axis, uint64_t bytes)
{
	return PICTURE_LEFT + (double)bytes * axis->per_byte;
}

static struct axis axis_of(const struct ledger *l)
{
	struct axis axis = { 0 };
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		axis.sum = sat_add(axis.sum, ledger_bytes(l, (enum owner)owner));
	axis.end = axis.sum;
	if (l->residual_bytes.known && l->residual_bytes.bytes > 0)
		axis.end = sat_add(axis.end, (uint64_t)l->residual_bytes.bytes);
	/* Whose it is was not read; that it is there was: up to the charge, or at least to the floor. */
	uint64_t known = qty_or(l->charge_bytes, qty_or(l->floor_bytes, 0));
	if (!l->residual_bytes.known && known > axis.sum)
		axis.end = known;
	uint64_t most = axis.end, others[] = { l->limit.kind == LIMIT_SET ? l->limit.bytes : 0,
					       qty_or(l->charge_bytes, 0), qty_or(l->floor_bytes, 0) };
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		most = others[i] > most ? others[i] : most;
	axis.has_expected = qty_known(l->expected.bytes) && (double)l->expected.bytes.bytes <= 1.8 * (double)most;
	if (axis.has_expected && l->expected.bytes.bytes > most)
		most = l->expected.bytes.bytes;
	axis.per_byte = most ? (PICTURE_RIGHT - PICTURE_LEFT) / ((double)most * 1.01) : 0;
	return axis;
}

/* A word at its mark, turned to the side where there is room for it. */
static void mark(struct picture *p, const char *text, double x, double y, double from, double to, const char *colour,
		 bool dashed)
{
	bool left = x > PICTURE_WIDTH / 2;
	struct svg_font font = { 12, true, colour, left ? SVG_END : SVG_START };
	svg_line(p->out, x, from, x, to, colour, 2, dashed);
	svg_text(p->out, left ? x - 4 : x + 4, y, font, text);
}

/* What is above the bar: the limit, and what the configuration may come to need. */
static void marks_above(struct picture *p, const struct axis *axis)
{
	const struct ledger *l = p->ledger;
	char size[UNITS_TEXT_CAP], text[96];
	double bottom = p->y + 2 * 16 + 18 + BAR_HEIGHT;
	if (l->limit.kind == LIMIT_SET) {
		(void)snprintf(text, sizeof text, "limit %s%s", units_format(size, l->limit.bytes),
			       l->limit_told ? " (told)" : "");
		mark(p, text, x_at(axis, l->limit.bytes), p->y + 10, p->y, bottom + 10, SVG_RED, false);
	} else {
		struct svg_font font = { 12, true, SVG_MUTED, SVG_END };
		svg_text(p->out, PICTURE_RIGHT, p->y + 10, font,
			 l->limit.kind == LIMIT_NONE ? "no limit" : "limit unread");
	}
	if (axis->has_expected) {
		(void)snprintf(text, sizeof text, "expected demand %s", units_format(size, l->expected.bytes.bytes));
		double x = x_at(axis, l->expected.bytes.bytes), width = svg_width_of(strong, str_of(text));
		/* The line of the limit may pass behind the words. */
		svg_rect(p->out, x > PICTURE_WIDTH / 2 ? x - 4 - width : x + 4, p->y + 15, width, 14, "#ffffff", NULL);
		mark(p, text, x, p->y + 26, p->y + 16, bottom + 2, SVG_MUTED, true);
	}
	p->y += 2 * 16;
}

/* A number over each part that is wide enough, and its name where there is room for that too. */
static void number(struct picture *p, double x, double width, size_t n, const char *name)
{
	char text[64];
	struct svg_font font = { 11.5, false, SVG_INK, SVG_MIDDLE };
	(void)snprintf(text, sizeof text, "%zu %s", n, name);
	if (svg_width_of(font, str_of(text)) > width)
		(void)snprintf(text, sizeof text, "%zu", n);
	if (width >= svg_width_of(font, str_of(text)))
		svg_text(p->out, x + width / 2, p->y + 13, font, text);
}

static void parts(struct picture *p, const struct axis *axis)
{
	const struct ledger *l = p->ledger;
	enum owner order[OWNER_COUNT];
	char size[UNITS_TEXT_CAP], text[128];
	double x = PICTURE_LEFT, top = p->y + 18;
	size_t n = report_svg_order(l, order);
	for (size_t i = 0; i < n; i++) {
		uint64_t bytes = l->lines[order[i]].bytes.bytes;
		double width = (double)bytes * axis->per_byte;
		(void)snprintf(text, sizeof text, "%s %s", owner_table[order[i]].name, units_format(size, bytes));
		svg_filled(p->out, x, top, width, BAR_HEIGHT, &owner_looks[order[i]], text);
		if (width > 3)
			svg_line(p->out, x, top, x, top + BAR_HEIGHT, "#ffffff", 1, false);
		number(p, x, width, i + 1, owner_table[order[i]].name);
		x += width;
	}
	double rest = (double)(axis->end - axis->sum) * axis->per_byte;
	if (l->residual_bytes.known && rest > 0) {
		(void)snprintf(text, sizeof text, "not attributed %s", units_format(size, axis->end - axis->sum));
		svg_filled(p->out, x, top, rest, BAR_HEIGHT, &owner_look_residual, text);
		number(p, x, rest, n + 1, "not attributed");
	} else if (!l->residual_bytes.known) {
		/* How much is not known; that there is something is. Up to the limit: what passes that has been killed. */
		double limit = l->limit.kind == LIMIT_SET ? x_at(axis, l->limit.bytes) : PICTURE_RIGHT;
		double room = limit > x + 12 ? limit - x : PICTURE_RIGHT - x;
		double width = rest > 0 ? rest : axis->end == 0 || room < STUB ? room : STUB;
		svg_unread(p->out, x, top, width, BAR_HEIGHT);
		if (width > 40)
			svg_text(p->out, x + width / 2, top + BAR_HEIGHT / 2.0 + 4, anchored(small, SVG_MIDDLE),
				 "unread");
	}
	svg_line(p->out, PICTURE_LEFT, top + BAR_HEIGHT, PICTURE_RIGHT, top + BAR_HEIGHT, SVG_MUTED, 1, false);
	p->y = top + BAR_HEIGHT;
}

/* What is below the bar: the floor, and the room between it and the limit. */
static void marks_below(struct picture *p, const struct axis *axis)
{
	const struct ledger *l = p->ledger;
	char size[UNITS_TEXT_CAP], text[128];
	if (!qty_known(l->floor_bytes)) {
		svg_text(p->out, PICTURE_LEFT, p->y + 16, small, "floor unread");
		p->y += 24;
		return;
	}
	double floor = x_at(axis, l->floor_bytes.bytes);
	(void)snprintf(text, sizeof text, "floor %s: what cannot be reclaimed",
		       units_format(size, l->floor_bytes.bytes));
	mark(p, text, floor, p->y + 18, p->y - BAR_HEIGHT - 4, p->y + 34, SVG_INK, false);
	if (l->limit.kind == LIMIT_SET && l->freeboard_bytes.known) {
		double limit = x_at(axis, l->limit.bytes), middle = (floor + limit) / 2;
		const char *at_most = l->freeboard_level == FREEBOARD_PROCESSES ? " at most" : "";
		const char *of_pod = l->freeboard_level == FREEBOARD_POD ? " (the pod's limit)" : "";
		bool past = l->freeboard_bytes.bytes < 0;
		struct svg_font font = { 12.5, true, past ? SVG_RED : SVG_INK, SVG_MIDDLE };
		svg_line(p->out, floor, p->y + 29, limit, p->y + 29, past ? SVG_RED : SVG_INK, 3, false);
		svg_line(p->out, limit, p->y + 10, limit, p->y + 34, SVG_RED, 2, false);
		(void)snprintf(text, sizeof text, "freeboard %s%s%s",
			       units_format_signed(size, l->freeboard_bytes.bytes), at_most, of_pod);
		double half = svg_width_of(font, str_of(text)) / 2;
		middle = middle + half > PICTURE_RIGHT ? PICTURE_RIGHT - half : middle;
		middle = middle - half < PICTURE_LEFT ? PICTURE_LEFT + half : middle;
		svg_text(p->out, middle, p->y + 48, font, text);
		p->y += 20;
	}
	p->y += 40;
}

void report_svg_bar(struct picture *p)
{
	struct axis axis = axis_of(p->ledger);
	marks_above(p, &axis);
	parts(p, &axis);
	marks_below(p, &axis);
}

/* One line of the legend: its number on the bar, look, name, bytes, the part of limit or charge, how sure it is. */
static void legend_row(struct picture *p, double x, double y, size_t n, const struct owner_look *look, const char *name,
		       uint64_t bytes, const char *state)
{
	const struct ledger *l = p->ledger;
	char text[UNITS_TEXT_CAP];
	uint64_t whole = l->limit.kind == LIMIT_SET ? l->limit.bytes : qty_or(l->charge_bytes, 0);
	(void)snprintf(text, sizeof text, "%zu", n);
	svg_text(p->out, x + 14, y, anchored(small, SVG_END), text);
	svg_filled(p->out, x + 20, y - 10, 16, 12, look, name);
	svg_text(p->out, x + 42, y, plain, name);
	svg_text(p->out, x + 246, y, anchored(plain, SVG_END), units_format(text, bytes));
	if (whole) {
		(void)snprintf(text, sizeof text, "%.1f %%", (double)bytes * 100 / (double)whole);
		svg_text(p->out, x + 304, y, anchored(plain, SVG_END), text);
	}
	svg_text(p->out, x + 312, y, small, state);
}

static void legend_head(struct picture *p, double x)
{
	const struct ledger *l = p->ledger;
	svg_text(p->out, x + 42, p->y, small, "owner");
	svg_text(p->out, x + 246, p->y, anchored(small, SVG_END), "resident");
	if (l->limit.kind == LIMIT_SET || qty_known(l->charge_bytes))
		svg_text(p->out, x + 304, p->y, anchored(small, SVG_END),
			 l->limit.kind == LIMIT_SET ? "of limit" : "of charge");
}

static void unread_owners(struct picture *p)
{
	auto_buf struct buf text = { .cap = 4096 };
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		if (ledger_is_unread(p->ledger, (enum owner)owner))
			(void)buf_printf(&text, "%s%s",
					 text.len ? ", " : "unread, which is not 0: ", owner_table[owner].name);
	if (buf_failed(&text))
		p->out->state = text.state;
	if (text.len == 0)
		return;
	svg_unread(p->out, PICTURE_LEFT + 20, p->y - 10, 16, 12);
	p->y = svg_wrapped(p->out, PICTURE_LEFT + 42, p->y, PICTURE_RIGHT - PICTURE_LEFT - 42, 4, plain, text.ptr) + 2;
}

/* The sum, for whoever adds up. */
static void sum(struct picture *p, uint64_t owners)
{
	const struct ledger *l = p->ledger;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP], text[200];
	if (l->residual_bytes.known)
		(void)snprintf(text, sizeof text, "owners %s, not attributed %s, charged %s", units_format(a, owners),
			       units_format_signed(b, l->residual_bytes.bytes), figure_qty(c, l->charge_bytes));
	else
		(void)snprintf(text, sizeof text, "owners that were read %s, charged %s", units_format(a, owners),
			       figure_qty(c, l->charge_bytes));
	svg_text(p->out, PICTURE_LEFT + 42, p->y, (struct svg_font){ 12.5, true, SVG_INK, SVG_START }, text);
	p->y += 18;
}

void report_svg_owners(struct picture *p)
{
	const struct ledger *l = p->ledger;
	enum owner order[OWNER_COUNT];
	size_t n = report_svg_order(l, order);
	bool rest = l->residual_bytes.known && l->residual_bytes.bytes > 0;
	size_t rows = (n + rest + 1) / 2;
	uint64_t owners = 0;
	p->y += 12;
	for (int column = 0; column < 2 && (size_t)column < n + rest; column++)
		legend_head(p, PICTURE_LEFT + COLUMN * column);
	p->y += LEGEND_ROW;
	for (size_t i = 0; i < n + rest; i++) {
		double x = i < rows ? PICTURE_LEFT : PICTURE_LEFT + COLUMN,
		       y = p->y + LEGEND_ROW * (double)(i < rows ? i : i - rows);
		if (i == n) {
			legend_row(p, x, y, i + 1, &owner_look_residual, "not attributed",
				   (uint64_t)l->residual_bytes.bytes, "derived");
			continue;
		}
		struct qty bytes = l->lines[order[i]].bytes;
		legend_row(p, x, y, i + 1, &owner_looks[order[i]], owner_table[order[i]].name, bytes.bytes,
			   qty_state_names[bytes.state]);
		owners = sat_add(owners, bytes.bytes);
	}
	p->y += LEGEND_ROW * (double)rows;
	unread_owners(p);
	sum(p, owners);
}
