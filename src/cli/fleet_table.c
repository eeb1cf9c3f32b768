/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/fleet.h"
#include "rules/growing.h"
#include "watch/glyph.h"

enum {
	SEVERITY_WIDE = 8,
	NAME_LEAST = 12,
	NAME_MOST = 56,
	NAME_SHORT = 28, /* a name gives way to the title of a finding, down to this */
	STATE_WIDE = 9,
	TIME_WIDE = 10,
	SIZE_WIDE = 10,
	SHARE_WIDE = 5,
	OWNER_WIDE = 33, /* "rocksdb-table-readers 1023.9 MiB" */
	TITLE_LEAST = 16,
	TITLE_MOST = 160,
	LINE_LEAST = 40,
	CELL_CAP = 400,
	AFTER = 2, /* blanks between columns */
};

/* How wide each column is; 0: there is no room for it. */
struct widths {
	unsigned name, time, freeboard, share, limit, owner, title;
};

/* --- one cell ----------------------------------------------------------------------------------------------------- */

static void cell(struct paint *p, const struct fleet_face *face, enum tone tone, unsigned wide, bool right,
		 const char *text)
{
	auto_buf struct buf shown = { .cap = 4 * CELL_CAP };
	unsigned used = 0;
	if (!wide)
		return;
	for (struct str rest = str_of(text); rest.len;) {
		struct glyph glyph = glyph_take(&rest, face->utf8);
		if (used + glyph.columns > wide)
			break;
		(void)buf_add(&shown, (struct str){ glyph.text, glyph.len });
		used += glyph.columns;
	}
	if (right)
		(void)buf_printf(p->out, "%*s", (int)(wide - used), "");
	if (tone != TONE_PLAIN)
		paint_tone(p, tone);
	(void)buf_add(p->out, buf_str(&shown));
	if (tone != TONE_PLAIN)
		paint_tone(p, TONE_PLAIN);
	(void)buf_printf(p->out, "%*s", (int)((right ? 0 : wide - used) + AFTER), "");
}

/* Blanks at its end go with the line. */
static void end_line(struct buf *out)
{
	while (out->len && out->ptr[out->len - 1] == ' ')
		out->len--;
	(void)buf_putc(out, '\n');
}

static struct str text_of(const struct js *row, const char *key)
{
	struct str text = STR("");
	(void)js_str(js_path(row, key), &text);
	return text;
}

static bool is(const struct js *row, const char *key, const char *text)
{
	return str_eq(text_of(row, key), str_of(text));
}

static const char *size_text(char dest[CELL_CAP], const struct js *value)
{
	uint64_t bytes;
	int64_t signed_bytes;
	char size[UNITS_TEXT_CAP];
	if (js_u64(value, &bytes))
		(void)snprintf(dest, CELL_CAP, "%s", units_format(size, bytes));
	else if (js_i64(value, &signed_bytes))
		(void)snprintf(dest, CELL_CAP, "%s", units_format_signed(size, signed_bytes));
	else
		(void)snprintf(dest, CELL_CAP, "unread");
	return dest;
}

static const char *limit_text(char dest[CELL_CAP], const struct js *row)
{
	bool none = false;
	return js_bool(js_get(row, "no_limit"), &none) && none ? "none" : size_text(dest, js_get(row, "limit"));
}

static const char *time_text(char dest[CELL_CAP], const struct js *row)
{
	uint64_t likely_s;
	char time[GROWING_TEXT_CAP];
	if (js_u64(js_get(row, "likely_s"), &likely_s))
		(void)snprintf(dest, CELL_CAP, "%s", growing_about(time, likely_s));
	else
		(void)snprintf(dest, CELL_CAP, "-");
	return dest;
}

static enum tone time_tone(const struct js *row)
{
	uint64_t likely_s;
	if (!js_u64(js_get(row, "likely_s"), &likely_s) || likely_s >= 86400)
		return TONE_PLAIN;
	return likely_s < 3600 ? TONE_RED : TONE_YELLOW;
}

static enum tone severity_tone(const struct js *row)
{
	bool silenced = false;
	(void)js_bool(js_get(row, "silenced"), &silenced);
	if (silenced)
		return TONE_DIM;
	return is(row, "severity", "critical") ? TONE_RED : is(row, "severity", "warning") ? TONE_YELLOW : TONE_PLAIN;
}

static void severity_text(char dest[CELL_CAP], const struct js *row)
{
	bool silenced = false;
	struct str severity = text_of(row, "severity");
	(void)js_bool(js_get(row, "silenced"), &silenced);
	if (silenced)
		(void)snprintf(dest, CELL_CAP, "silenced");
	else
		(void)snprintf(dest, CELL_CAP, "%.*s", severity.len ? (int)severity.len : 1,
			       severity.len ? severity.ptr : "-");
}

static const char *share_text(char dest[CELL_CAP], const struct js *row)
{
	int64_t bp;
	if (js_i64(js_get(row, "freeboard_bp"), &bp))
		(void)snprintf(dest, CELL_CAP, "%" PRId64 "%%", bp / 100);
	else
		dest[0] = '\0';
	return dest;
}

static void owner_text_of(char dest[CELL_CAP], const struct js *row)
{
	char size[CELL_CAP];
	struct str owner = text_of(row, "owner");
	(void)snprintf(dest, CELL_CAP, "%.*s %.24s", (int)owner.len, owner.ptr,
		       owner.len ? size_text(size, js_get(row, "owner_bytes")) : "");
}

static void name_text(char dest[CELL_CAP], const struct js *row, bool pods)
{
	struct str space = text_of(row, "namespace"), name = text_of(row, pods ? "pod" : "workload");
	if (!name.len && !pods)
		name = STR("(no workload)");
	char agent[CELL_CAP];
	if (!name.len) {
		struct str id = text_of(row, "id");
		(void)snprintf(agent, sizeof agent, "agent %.*s", (int)(id.len > 63 ? 63 : id.len), id.ptr);
		name = str_of(agent);
	}
	bool asserted = false;
	(void)js_bool(js_get(row, "asserted"), &asserted);
	(void)snprintf(dest, CELL_CAP, "%.*s%s%.*s%s", (int)(space.len > 63 ? 63 : space.len), space.ptr,
		       space.len ? "/" : "", (int)(name.len > 255 ? 255 : name.len), name.ptr,
		       asserted ? " (asserted)" : "");
}

/* Pods: "stale"; workloads: how many of its pods are heard, "29/30". */
static enum tone state_text(char dest[CELL_CAP], const struct js *row, bool pods)
{
	uint64_t n = 0, connected = 0;
	struct str state = text_of(row, "state");
	if (pods) {
		(void)snprintf(dest, CELL_CAP, "%.*s", (int)(state.len > 20 ? 20 : state.len), state.ptr);
		return is(row, "state", "connected") ? TONE_PLAIN : TONE_DIM;
	}
	(void)js_u64(js_get(row, "pods"), &n);
	(void)js_u64(js_get(row, "connected"), &connected);
	(void)snprintf(dest, CELL_CAP, "%" PRIu64 "/%" PRIu64, connected, n);
	return connected < n ? TONE_YELLOW : TONE_PLAIN;
}

/* --- the lines ---------------------------------------------------------------------------------------------------- */

static bool give(unsigned *left, unsigned *column, unsigned wide)
{
	if (*left < wide + AFTER)
		return false;
	*column = wide;
	*left -= wide + AFTER;
	return true;
}

static unsigned widest_name(const struct fleet_answer *answer, const struct fleet_face *face)
{
	unsigned widest = NAME_LEAST;
	char text[CELL_CAP];
	size_t page = 0, at = 0;
	for (const struct js *row; (row = fleet_row_at(answer, &page, &at));) {
		name_text(text, row, face->pods);
		unsigned wide = (unsigned)glyph_columns(str_of(text), face->utf8);
		widest = wide > widest ? wide : widest;
	}
	return widest > NAME_MOST ? NAME_MOST : widest;
}

/* In the order of what matters: a name, when, how much room; then what is wrong, whose it is, of how much. */
static struct widths widths_for(const struct fleet_answer *answer, const struct fleet_face *face)
{
	struct widths w = { .name = widest_name(answer, face) };
	unsigned left = face->columns < LINE_LEAST ? LINE_LEAST : face->columns;
	left -= SEVERITY_WIDE + AFTER;
	unsigned least = NAME_LEAST + AFTER + TIME_WIDE + AFTER;
	unsigned beside = STATE_WIDE + TIME_WIDE + SIZE_WIDE + SHARE_WIDE + TITLE_LEAST + 6 * AFTER;
	if (w.name > NAME_SHORT && w.name + beside > left)
		w.name = left > beside + NAME_SHORT ? left - beside : NAME_SHORT;
	if (w.name + least > left)
		w.name = left - least;
	left -= w.name + AFTER;
	(void)give(&left, &w.time, TIME_WIDE);
	if (left < SIZE_WIDE + AFTER + STATE_WIDE + AFTER)
		return w;
	(void)give(&left, &w.freeboard, SIZE_WIDE);
	left -= STATE_WIDE + AFTER;
	(void)give(&left, &w.share, SHARE_WIDE);
	if (left < TITLE_LEAST)
		return w;
	unsigned spare = left - TITLE_LEAST;
	if (spare >= 30)
		(void)give(&left, &w.limit, SIZE_WIDE);
	if (left >= TITLE_LEAST + 20 + OWNER_WIDE)
		(void)give(&left, &w.owner, OWNER_WIDE);
	w.title = left > TITLE_MOST ? TITLE_MOST : left;
	return w;
}

static bool has_state(const struct widths *w)
{
	return w->freeboard != 0;
}

static void head(struct paint *p, const struct fleet_face *face, const struct widths *w)
{
	paint_tone(p, TONE_BOLD);
	cell(p, face, TONE_PLAIN, SEVERITY_WIDE, false, "SEVERITY");
	cell(p, face, TONE_PLAIN, w->name, false, face->pods ? "POD" : "WORKLOAD");
	cell(p, face, TONE_PLAIN, has_state(w) ? STATE_WIDE : 0, false, face->pods ? "STATE" : "HEARD");
	cell(p, face, TONE_PLAIN, w->time, true, "LIMIT IN");
	cell(p, face, TONE_PLAIN, w->freeboard, true, "FREEBOARD");
	cell(p, face, TONE_PLAIN, w->share, true, "");
	cell(p, face, TONE_PLAIN, w->limit, true, "LIMIT");
	cell(p, face, TONE_PLAIN, w->owner, false, "LARGEST OWNER");
	cell(p, face, TONE_PLAIN, w->title, false, "FINDING");
	paint_tone(p, TONE_PLAIN);
	end_line(p->out);
}

static void line(struct paint *p, const struct fleet_face *face, const struct widths *w, const struct js *row)
{
	char text[CELL_CAP];
	severity_text(text, row);
	cell(p, face, severity_tone(row), SEVERITY_WIDE, false, text);
	name_text(text, row, face->pods);
	cell(p, face, TONE_PLAIN, w->name, false, text);
	enum tone tone = state_text(text, row, face->pods);
	cell(p, face, tone, has_state(w) ? STATE_WIDE : 0, false, text);
	cell(p, face, time_tone(row), w->time, true, time_text(text, row));
	cell(p, face, TONE_PLAIN, w->freeboard, true, size_text(text, js_get(row, "freeboard")));
	cell(p, face, TONE_PLAIN, w->share, true, share_text(text, row));
	cell(p, face, TONE_PLAIN, w->limit, true, limit_text(text, row));
	owner_text_of(text, row);
	cell(p, face, TONE_PLAIN, w->owner, false, text);
	struct str title = text_of(row, "finding.title");
	(void)snprintf(text, sizeof text, "%.*s", (int)(title.len > 300 ? 300 : title.len), title.ptr);
	cell(p, face, TONE_PLAIN, w->title, false, text);
	end_line(p->out);
}

static uint64_t number(const struct js *page, const char *path)
{
	uint64_t n = 0;
	(void)js_u64(js_path(page, path), &n);
	return n;
}

static void summary(struct paint *p, const struct js *page)
{
	char text[320];
	uint64_t critical = number(page, "summary.critical"), warning = number(page, "summary.warning");
	uint64_t pods = number(page, "summary.pods"), workloads = number(page, "summary.workloads");
	(void)snprintf(text, sizeof text,
		       "%" PRIu64 " pod%s of %" PRIu64 " workload%s: %" PRIu64 " connected, %" PRIu64 " stale, %" PRIu64
		       " gone; ",
		       pods, pods == 1 ? "" : "s", workloads, workloads == 1 ? "" : "s",
		       number(page, "summary.connected"), number(page, "summary.stale"), number(page, "summary.gone"));
	paint_text(p, TONE_PLAIN, text);
	(void)snprintf(text, sizeof text, "%" PRIu64 " critical, %" PRIu64 " warning", critical, warning);
	paint_text(p, critical ? TONE_RED : warning ? TONE_YELLOW : TONE_GREEN, text);
	(void)buf_putc(p->out, '\n');
}

int fleet_table(const struct fleet_answer *answer, const struct fleet_face *face, struct buf *out, struct err *err)
{
	struct paint p = { out, face->color, face->columns };
	struct widths w = widths_for(answer, face);
	size_t page = 0, at = 0, n = 0;
	summary(&p, answer->pages[0]);
	if (answer->matching) {
		(void)buf_putc(out, '\n');
		head(&p, face, &w);
	}
	for (const struct js *row; (row = fleet_row_at(answer, &page, &at)); n++)
		line(&p, face, &w, row);
	if (!answer->matching)
		(void)buf_puts(
			out, number(answer->pages[0], "total")
				     ? "nothing matches the filters\n"
				     : "no agent has been heard of yet: bankfull agent --collector tells it of one\n");
	else if (n < answer->matching)
		(void)buf_printf(out, "%" PRIu64 " more match: --limit %" PRIu64 " shows them\n", answer->matching - n,
				 answer->matching < FLEET_LIMIT_MAX ? answer->matching : (uint64_t)FLEET_LIMIT_MAX);
	return buf_failed(out) ? err_set(err, ERR_NOMEM, "no memory for the table") : 0;
}

int fleet_json(const struct fleet_answer *answer, const char *view, struct buf *out, struct err *err)
{
	static const char *const above[] = { "at_ms", "total", "matching", "summary" };
	struct js_out js;
	size_t page = 0, at = 0;
	js_out_start(&js, out, 2);
	js_out_object(&js);
	js_out_key(&js, "version");
	js_out_u64(&js, 1);
	js_out_key(&js, "view");
	js_out_text(&js, view);
	for (size_t i = 0; i < sizeof above / sizeof above[0]; i++) {
		const struct js *value = js_get(answer->pages[0], above[i]);
		js_out_key(&js, above[i]);
		if (value)
			js_out_value(&js, value);
		else
			js_out_null(&js);
	}
	js_out_key(&js, "alarming");
	js_out_bool(&js, answer->alarming);
	js_out_key(&js, "rows");
	js_out_array(&js);
	for (const struct js *row; (row = fleet_row_at(answer, &page, &at));)
		js_out_value(&js, row);
	js_out_array_end(&js);
	js_out_object_end(&js);
	int rc = js_out_end(&js, err);
	if (rc == 0)
		(void)buf_putc(out, '\n');
	return rc;
}
