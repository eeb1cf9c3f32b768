/* SPDX-License-Identifier: Apache-2.0 */
/* The upper rows: who it is, what to act on, how much room there is and until when. */
#include <inttypes.h>
#include <stdio.h>

#include "ledger/figure.h"
#include "rules/growing.h"
#include "rules/rules.h"
#include "watch/layout_parts.h"

enum { LOW_BP = 1000 };

enum style layout_style(enum severity severity)
{
	static const enum style styles[SEVERITY_COUNT] = { STYLE_PLAIN, STYLE_PLAIN, STYLE_NOTICE, STYLE_WARNING,
							   STYLE_CRITICAL };
	return styles[severity];
}

/* Past so many intervals, and some seconds for a scan, a reading is old, and is shown as such. */
static bool is_stale(const struct layout_input *input)
{
	return input->reading && input->age_ms > 3 * (uint64_t)input->reading->interval_ms + 3000;
}

static void state_text(const struct layout_input *input, char *dest, size_t cap)
{
	char age[GROWING_TEXT_CAP];
	if (input->view->paused)
		(void)snprintf(dest, cap, "PAUSED %s", growing_time(age, input->age_ms / 1000));
	else if (is_stale(input))
		(void)snprintf(dest, cap, "STALE %s", growing_time(age, input->age_ms / 1000));
	else if (input->reading && input->reading->asking)
		(void)snprintf(dest, cap, "asking JVM and engine");
	else if (input->reading && input->reading->urgent)
		(void)snprintf(dest, cap, "near the limit: each second");
	else
		(void)snprintf(dest, cap, "live");
}

void layout_title(struct area area, const struct layout_input *input)
{
	const struct reading *r = input->reading;
	char state[80], line[512] = "bankfull watch";
	state_text(input, state, sizeof state);
	if (r && r->has_target) {
		int n = snprintf(line, sizeof line, "pid %d  %s%s%s  JDK %s  %s  %s", r->process.pid,
				 engine_names[r->engine], r->version[0] ? " " : "", r->version,
				 r->jdk[0] ? r->jdk : "unread", jvm_gc_names[r->gc], allocator_names[r->allocator]);
		for (size_t i = 0; i < r->n_jobs && n > 0 && n < (int)sizeof line; i++)
			n += snprintf(line + n, sizeof line - (size_t)n, "%s%s", i ? ", " : "  ", r->jobs[i]);
	}
	area_style_row(area, 0, STYLE_BAR);
	unsigned wide = (unsigned)glyph_columns(str_of(state), area.screen->utf8) + 1;
	unsigned left = area.columns > wide + 10 ? area.columns - wide - 1 : area.columns;
	(void)area_put(area_part(area, 0, 0, left, 1), 1, 0, STYLE_BAR, str_of(line));
	if (left < area.columns)
		area_right(area, left, 0, wide, is_stale(input) ? STYLE_CRITICAL : STYLE_BAR, state);
}

unsigned layout_headline(struct area area, const struct layout_input *input)
{
	const struct reading *r = input->reading;
	unsigned most = area.rows >= 5 ? 3 : area.rows >= 3 ? 2 : 1, used = 0;
	if (input->trouble[0]) {
		used = area_wrap(area_part(area, 0, 0, area.columns, most), 0, STYLE_CRITICAL, str_of(input->trouble));
		used = used > most ? most : used;
		area = area_part(area, 0, used, area.columns, area.rows - used);
	}
	const char *text = !r ? "the first reading is being made" : r->has_target ? r->verdict.headline : r->waiting;
	enum style style = r && r->has_target ? layout_style(r->verdict.worst) : STYLE_BOLD;
	if (style == STYLE_PLAIN)
		style = STYLE_BOLD;
	unsigned lines = area_wrap(area_part(area, 0, 0, area.columns, most), 0, style, str_of(text));
	lines = lines > most ? most : lines;
	const struct finding *f = r && r->has_target ? rules_first_change(&r->verdict) : NULL;
	unsigned room = area.rows > lines ? area.rows - lines : 0;
	if (f && room > 0 && area.columns > 30) {
		(void)area_put(area, 0, lines, STYLE_BOLD, STR("do first"));
		room = room > 2 ? 2 : room;
		unsigned more = area_wrap(area_part(area, 10, lines, area.columns - 10, room), 0, STYLE_PLAIN,
					  str_of(f->change));
		lines += more > room ? room : more;
	}
	return used + lines;
}

/* --- the room ----------------------------------------------------------------------------------------------------- */

static enum style freeboard_style(const struct reading *r)
{
	const struct ledger *l = &r->ledger;
	if (!l->freeboard_bytes.known || l->limit.kind != LIMIT_SET)
		return STYLE_PLAIN;
	if (l->freeboard_bytes.bytes <= 0)
		return STYLE_CRITICAL;
	bool low = (uint64_t)l->freeboard_bytes.bytes < l->limit.bytes / (10000 / LOW_BP);
	return low ? STYLE_WARNING : STYLE_GOOD;
}

static enum style when_style(const struct reading *r)
{
	if (r->forecast.kind != FORECAST_REACHES)
		return STYLE_PLAIN;
	return r->forecast.likely_s < 3600    ? STYLE_CRITICAL
	       : r->forecast.likely_s < 86400 ? STYLE_WARNING
					      : STYLE_NOTICE;
}

/* The floor, then what the kernel can take back, then what is free; the limit is the right edge. */
static void room_bar(struct area area, unsigned y, const struct ledger *l)
{
	if (l->limit.kind != LIMIT_SET || !l->limit.bytes || area.columns < 20 || !qty_known(l->floor_bytes))
		return;
	unsigned wide = area.columns - 2;
	double limit = (double)l->limit.bytes, floor = (double)l->floor_bytes.bytes / limit;
	double charge = qty_known(l->charge_bytes) ? (double)l->charge_bytes.bytes / limit : floor;
	unsigned to_floor = (unsigned)((floor < 1 ? floor : 1) * wide + 0.5);
	unsigned to_charge = (unsigned)((charge < 1 ? charge : 1) * wide + 0.5);
	enum style style = floor > 0.97 ? STYLE_CRITICAL : floor > 0.9 ? STYLE_WARNING : STYLE_GOOD;
	(void)area_put(area, 0, y, STYLE_PLAIN, STR("["));
	for (unsigned i = 0; i < wide; i++)
		(void)area_put(area, 1 + i, y, i < to_floor ? style : STYLE_DIM,
			       i < to_floor    ? STR("#")
			       : i < to_charge ? STR("=")
					       : STR("."));
	(void)area_put(area, 1 + wide, y, STYLE_PLAIN, STR("]"));
}

/* Pieces of text behind each other, in as many rows as it takes. */
struct flow {
	struct area area;
	unsigned x, y;
};

static void flow_put(struct flow *flow, const char *label, enum style style, const char *value)
{
	bool utf8 = flow->area.screen->utf8;
	size_t wide = glyph_columns(str_of(label), utf8) + glyph_columns(str_of(value), utf8);
	unsigned gap = flow->x ? 3 : 0;
	if (flow->x && flow->x + gap + wide > flow->area.columns) {
		flow->y++;
		flow->x = gap = 0;
	}
	flow->x = area_put(flow->area, flow->x + gap, flow->y, STYLE_PLAIN, str_of(label));
	flow->x = area_put(flow->area, flow->x, flow->y, style, str_of(value));
}

unsigned layout_room(struct area area, const struct reading *r)
{
	const struct ledger *l = &r->ledger;
	char a[UNITS_TEXT_CAP], text[160];
	struct flow flow = { area, 0, 1 };
	reading_when(r, text, sizeof text);
	unsigned x = area_put(area, 0, 0, STYLE_PLAIN, STR("time to limit "));
	(void)area_put(area, x, 0, when_style(r), str_of(text));
	(void)snprintf(text, sizeof text, "%s%s", figure_signed(a, l->freeboard_bytes),
		       l->freeboard_level == FREEBOARD_PROCESSES ? " at most" : "");
	flow_put(&flow, "freeboard ", freeboard_style(r), text);
	(void)snprintf(text, sizeof text, "%s%s", figure_limit(a, l->limit), l->limit_told ? " (told)" : "");
	flow_put(&flow, "limit ", STYLE_PLAIN, text);
	flow_put(&flow, "charged ", STYLE_PLAIN, figure_qty(a, l->charge_bytes));
	flow_put(&flow, "floor ", STYLE_PLAIN, figure_qty(a, l->floor_bytes));
	if (r->high.kind == LIMIT_SET)
		flow_put(&flow, "high ", STYLE_PLAIN, units_format(a, r->high.bytes));
	if (r->stall_bp.known && r->stall_bp.n >= 100) {
		(void)snprintf(text, sizeof text, "%" PRIu64 " %%", r->stall_bp.n / 100);
		flow_put(&flow, "stalled ", STYLE_WARNING, text);
	}
	room_bar(area, flow.y + 1, l);
	return flow.y + 2;
}

/* reading_when() in twenty columns. */
static void when_short(const struct reading *r, char *dest, size_t cap)
{
	char time[GROWING_TEXT_CAP];
	const struct ledger *l = &r->ledger;
	if (l->freeboard_bytes.known && l->freeboard_bytes.bytes <= 0)
		(void)snprintf(dest, cap, "AT THE LIMIT");
	else if (l->limit.kind != LIMIT_SET)
		(void)snprintf(dest, cap, l->limit.kind == LIMIT_NONE ? "no limit" : "limit unread");
	else if (r->forecast.kind == FORECAST_REACHES)
		(void)snprintf(dest, cap, "limit in %s", growing_about(time, r->forecast.likely_s));
	else if (r->forecast.kind == FORECAST_DECELERATING)
		(void)snprintf(dest, cap, "grows, ever slower");
	else
		(void)snprintf(dest, cap,
			       r->forecast.kind == FORECAST_NOT_GROWING ? "not growing" : "growth not known yet");
}

/* Five rows of twenty columns, or a few more: each row is worth more than the one below it. */
void layout_tiny(struct area area, const struct layout_input *input)
{
	const struct reading *r = input->reading;
	char a[UNITS_TEXT_CAP], text[160];
	unsigned y = 0;
	if (input->trouble[0] || is_stale(input)) {
		state_text(input, text, sizeof text);
		(void)area_put(area, 0, y++, STYLE_CRITICAL, str_of(input->trouble[0] ? input->trouble : text));
	}
	if (!r || !r->has_target) {
		(void)area_wrap(area, (int)y, STYLE_BOLD, str_of(r ? r->waiting : "reading"));
		return;
	}
	when_short(r, text, sizeof text);
	(void)area_put(area, 0, y++, when_style(r), str_of(text));
	(void)area_printf(area, 0, y++, freeboard_style(r), "free %s", figure_signed(a, r->ledger.freeboard_bytes));
	int owner = reading_largest(r);
	if (owner >= 0) {
		const char *size = units_format(a, r->ledger.lines[owner].bytes.bytes);
		unsigned wide = (unsigned)strlen(size);
		unsigned left = area.columns > wide + 1 ? area.columns - wide - 1 : 0;
		(void)area_put(area_part(area, 0, 0, left, area.rows), 0, y, STYLE_PLAIN,
			       str_of(owner_table[owner].name));
		area_right(area, left, y++, wide + 1, STYLE_PLAIN, size);
	} else {
		(void)area_put(area, 0, y++, STYLE_DIM, STR("owners unread yet"));
	}
	if (r->verdict.n_findings && r->verdict.worst >= SEVERITY_NOTICE)
		(void)area_printf(area, 0, y++, layout_style(r->verdict.worst), "! %s", r->verdict.findings[0].rule);
	if (y < area.rows)
		(void)area_put(area, 0, area.rows - 1, STYLE_DIM, STR("q quit  larger: more"));
}
