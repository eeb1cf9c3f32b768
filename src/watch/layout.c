/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/layout.h"

#include <stdio.h>

#include "watch/layout_parts.h"

enum {
	SMALL_COLUMNS = 40, /* below: nothing but what matters most */
	SMALL_ROWS = 11,
	BESIDE_COLUMNS = 170, /* from here on owners to the left, findings and events to the right */
	BELOW_ROWS = 36,      /* of the body; from here on all three below each other */
};

static const char *const help_text[][2] = {
	{ "q", "quit" },
	{ "Tab", "owners, findings, events" },
	{ "up down", "choose a finding, or scroll; also j k, PgUp, PgDn, Home, End" },
	{ "Enter 1..9", "open a finding: evidence, change, how to validate it; Esc goes back" },
	{ "s", "sort owners by bytes, growth, name" },
	{ "p", "pause: the picture stands still, reading goes on" },
	{ "r", "read again now: mappings as soon as the stall budget allows, JVM and engine at once" },
	{ "?", "this text, and back" },
	{ "", "" },
	{ "floor", "what the kernel cannot take back; freeboard is the limit less the floor" },
	{ "WATCHED", "by how much an owner has moved since this JVM is watched; MINUTE: lately" },
	{ "MAY HAVE", "its budget, else its bound, else (limit), and the bar against it; ! is past it" },
};

static unsigned draw_help(struct area area, unsigned skip)
{
	unsigned n = sizeof help_text / sizeof help_text[0], at = 0;
	for (unsigned i = 0; i < n; i++) {
		if (at >= skip)
			(void)area_put(area, 0, at - skip, STYLE_BOLD, str_of(help_text[i][0]));
		unsigned lines = area_wrap(area_part(area, 12, 0, area.columns, area.rows), (int)at - (int)skip,
					   STYLE_PLAIN, str_of(help_text[i][1]));
		at += lines ? lines : 1;
	}
	return at;
}

static void draw_tabs(struct area area, const struct layout_input *input)
{
	const struct reading *r = input->reading;
	size_t counts[PANE_COUNT] = { 0, r && r->has_target ? r->verdict.n_findings : 0, input->story->n_events };
	unsigned x = 0;
	for (unsigned i = 0; i < PANE_COUNT; i++) {
		bool here = i == input->view->pane;
		x = area_printf(area, x, 0, here ? STYLE_BOLD : STYLE_DIM, here ? "[%s" : " %s", pane_names[i]);
		if (i != PANE_OWNERS)
			x = area_printf(area, x, 0, here ? STYLE_BOLD : STYLE_DIM, " %zu", counts[i]);
		x = area_put(area, x, 0, here ? STYLE_BOLD : STYLE_DIM, here ? STR("]") : STR(" "));
		x++;
	}
	if (input->view->pane == PANE_OWNERS)
		(void)area_printf(area, x + 2, 0, STYLE_DIM, "by %s", sort_names[input->view->sort]);
}

static struct layout_extent draw_pane(struct area area, const struct layout_input *input, enum pane pane)
{
	unsigned skip = pane == input->view->pane ? input->view->scroll : 0;
	if (pane == PANE_OWNERS)
		return (struct layout_extent){ layout_owners(area, input, skip), area.rows };
	if (pane == PANE_FINDINGS)
		return (struct layout_extent){ layout_findings(area, input, pane == input->view->pane), area.rows };
	return (struct layout_extent){ layout_events(area, input, skip), area.rows };
}

static struct layout_extent titled(struct area area, const struct layout_input *input, enum pane pane)
{
	bool here = input->view->pane == pane;
	(void)area_printf(area, 0, 0, here ? STYLE_BOLD : STYLE_DIM, "%s%s%s", here ? "[" : " ", pane_names[pane],
			  here ? "]" : "");
	return draw_pane(area_part(area, 0, 1, area.columns, area.rows - 1), input, pane);
}

/* More than one pane, where there is room. Returns the extent of the chosen one. */
static struct layout_extent draw_panes(struct area area, const struct layout_input *input)
{
	struct layout_extent n[PANE_COUNT];
	if (area.columns >= BESIDE_COLUMNS) {
		unsigned left = area.columns * 3 / 5, above = area.rows / 2;
		n[PANE_OWNERS] = titled(area_part(area, 0, 0, left - 2, area.rows), input, PANE_OWNERS);
		struct area right = area_part(area, left, 0, area.columns - left, area.rows);
		n[PANE_FINDINGS] = titled(area_part(right, 0, 0, right.columns, above), input, PANE_FINDINGS);
		n[PANE_EVENTS] = titled(area_part(right, 0, above, right.columns, right.rows), input, PANE_EVENTS);
	} else {
		unsigned owners = area.rows / 2, findings = area.rows / 4;
		n[PANE_OWNERS] = titled(area_part(area, 0, 0, area.columns, owners), input, PANE_OWNERS);
		n[PANE_FINDINGS] = titled(area_part(area, 0, owners, area.columns, findings), input, PANE_FINDINGS);
		n[PANE_EVENTS] =
			titled(area_part(area, 0, owners + findings, area.columns, area.rows), input, PANE_EVENTS);
	}
	return n[input->view->pane];
}

static void draw_keys(struct area area, const struct layout_input *input)
{
	static const char *const texts[] = {
		"q quit  ? help  Tab pane  arrows choose  Enter or 1-9 open  s sort  p pause  r read now",
		"q quit ? help Tab pane Enter open s sort p pause r read", "q quit ? help Tab p r s"
	};
	const struct reading *r = input->reading;
	size_t i = 0;
	while (i < 2 && strlen(texts[i]) + 1 > area.columns)
		i++;
	area_style_row(area, 0, STYLE_BAR);
	unsigned x = area_put(area, 1, 0, STYLE_BAR,
			      str_of(input->view->whole ? "Esc back  q quit  arrows scroll" : texts[i]));
	char cost[80];
	if (!r || !r->walks_total)
		return;
	(void)snprintf(cost, sizeof cost, "%llu scans, %llu ms in the JVM's maps", (unsigned long long)r->walks_total,
		       (unsigned long long)(r->walk_ns_total / 1000000));
	if (x + strlen(cost) + 4 < area.columns)
		area_right(area, x, 0, area.columns - x - 1, STYLE_BAR, cost);
}

static struct layout_extent draw_body(struct area area, const struct layout_input *input)
{
	const struct view *view = input->view;
	if (view->help)
		return (struct layout_extent){ draw_help(area, view->scroll), area.rows };
	if (view->whole && view->pane == PANE_FINDINGS && input->reading && input->reading->has_target)
		return (struct layout_extent){ layout_whole(area, input), area.rows };
	if (area.columns >= BESIDE_COLUMNS || area.rows >= BELOW_ROWS)
		return draw_panes(area, input);
	draw_tabs(area, input);
	return draw_pane(area_part(area, 0, 1, area.columns, area.rows - 1), input, view->pane);
}

struct layout_extent layout_draw(const struct layout_input *input, unsigned columns, unsigned rows, bool utf8,
				 struct screen *screen)
{
	struct area all = screen_start(screen, columns, rows, utf8);
	if (all.columns < SMALL_COLUMNS || all.rows < SMALL_ROWS) {
		layout_tiny(all, input);
		return (struct layout_extent){ 1, 1 };
	}
	unsigned y = 1;
	layout_title(area_part(all, 0, 0, all.columns, 1), input);
	unsigned most = all.rows >= 20 ? 6 : all.rows >= 16 ? 3 : 1;
	y += layout_headline(area_part(all, 0, y, all.columns, most), input);
	if (input->reading && input->reading->has_target)
		y += layout_room(area_part(all, 0, y, all.columns, all.rows - y - 1), input->reading);
	if (all.rows >= 24)
		y++;
	draw_keys(area_part(all, 0, all.rows - 1, all.columns, 1), input);
	struct area body = area_part(all, 0, y, all.columns, all.rows > y + 1 ? all.rows - y - 1 : 0);
	return draw_body(body, input);
}
