/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/svg.h"

#include <stdio.h>

#include "base/esc.h"

/* Strokes in a square of 8, those of owners.js: canvas, page and picture draw the same. */
#define UP   "M-2 10 10-2M-2 2 2-2M6 10 10 6"
#define DOWN "M-2-2 10 10M-2 6 2 10M6-2 10 2"
static const char *const strokes[] = {
	[HATCH_NONE] = NULL,
	[HATCH_UP] = UP,
	[HATCH_DOWN] = DOWN,
	[HATCH_CROSS] = UP DOWN,
	[HATCH_LINES] = "M0 2H8M0 6H8",
	[HATCH_DASHES] = "M1 2H3M5 6H7",
	[HATCH_UNREAD] = UP,
};
_Static_assert(sizeof strokes / sizeof strokes[0] == HATCH_COUNT, "a stroke a hatch");

/* U+FFFE and U+FFFF are UTF-8 and no characters of XML 1.0 (2.2); controls and marks are escaped before. */
static bool is_noncharacter(const char *p, size_t len)
{
	return len == 3 && memcmp(p, "\xef\xbf", 2) == 0 && (unsigned char)p[2] >= 0xbe;
}

void svg_escaped(struct buf *out, struct str text)
{
	/* What does not fit fails the picture: a text that is cut is none. Ours are far shorter. */
	auto_buf struct buf shown = { .cap = 16 * 1024 };
	if (!esc_add(&shown, text))
		out->state = shown.state;
	for (struct str rest = buf_str(&shown); rest.len;) {
		size_t len = esc_utf8_len(rest);
		static const struct {
			char byte;
			const char *entity;
		} table[] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" } };
		const char *entity = is_noncharacter(rest.ptr, len) ? "\\xef\\xbf" : NULL;
		for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
			if (rest.ptr[0] == table[i].byte)
				entity = table[i].entity;
		(void)(entity ? buf_puts(out, entity) : buf_add(out, (struct str){ rest.ptr, len }));
		rest = str_skip(rest, len);
	}
}

static const char *anchor_name(enum svg_anchor anchor)
{
	return anchor == SVG_END ? "end" : anchor == SVG_MIDDLE ? "middle" : "start";
}

static void text_of(struct buf *out, double x, double y, struct svg_font font, struct str text)
{
	(void)buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\" fill=\"%s\"", x, y, font.size, font.fill);
	if (font.bold)
		(void)buf_puts(out, " font-weight=\"bold\"");
	if (font.anchor != SVG_START)
		(void)buf_printf(out, " text-anchor=\"%s\"", anchor_name(font.anchor));
	(void)buf_putc(out, '>');
	svg_escaped(out, text);
	(void)buf_puts(out, "</text>\n");
}

void svg_text(struct buf *out, double x, double y, struct svg_font font, const char *text)
{
	text_of(out, x, y, font, str_of(text));
}

double svg_width_of(struct svg_font font, struct str text)
{
	/* DejaVu Sans, the widest of the usual ones, has 0.58 em a letter in running text, 0.64 when bold; ideographs have 1. */
	double ems = 0;
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		if ((c & 0xc0) != 0x80)
			ems += c >= 0xe3 ? 1.0 : font.bold ? 0.64 : 0.58;
	}
	return ems * font.size;
}

/* The longest start of `text` that fits: whole words, or as much of one word as there is room for. */
static struct str line_of(struct str text, double width, struct svg_font font)
{
	size_t fits = 0, end = 0;
	while (end < text.len) {
		size_t word = end + 1;
		while (word < text.len && text.ptr[word] != ' ')
			word++;
		if (svg_width_of(font, (struct str){ text.ptr, word }) > width)
			break;
		end = fits = word;
	}
	while (fits == 0 && end < text.len) {
		size_t unit = esc_utf8_len(str_skip(text, end));
		size_t next = end + (unit ? unit : 1);
		if (end && svg_width_of(font, (struct str){ text.ptr, next }) > width)
			break;
		end = next;
	}
	return (struct str){ text.ptr, fits ? fits : end };
}

double svg_wrapped(struct buf *out, double x, double y, double width, unsigned lines_max, struct svg_font font,
		   const char *text)
{
	/* Wrapped as it is shown: an escape is longer than its byte. */
	auto_buf struct buf shown = { .cap = 16 * 1024 };
	if (!esc_add(&shown, str_of(text)))
		out->state = shown.state;
	struct str rest = buf_str(&shown);
	for (unsigned line = 1; rest.len && line <= lines_max; line++) {
		struct str part = line_of(rest, width, font);
		rest = str_trim(str_skip(rest, part.len));
		if (rest.len && line == lines_max) {
			char cut[1024];
			(void)snprintf(cut, sizeof cut, "%.*s ...", (int)(part.len > 1000 ? 1000 : part.len), part.ptr);
			text_of(out, x, y, font, str_of(cut));
		} else {
			text_of(out, x, y, font, part);
		}
		y += font.size * 1.35;
	}
	return y;
}

void svg_line(struct buf *out, double x1, double y1, double x2, double y2, const char *stroke, double width,
	      bool dashed)
{
	(void)buf_printf(out, "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"%.1f\"%s/>\n", x1, y1, x2,
			 y2, stroke, width, dashed ? " stroke-dasharray=\"4 3\"" : "");
}

void svg_rect(struct buf *out, double x, double y, double width, double height, const char *fill, const char *stroke)
{
	(void)buf_printf(out, "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\"", x, y, width,
			 height, fill);
	if (stroke)
		(void)buf_printf(out, " stroke=\"%s\"", stroke);
	(void)buf_puts(out, "/>\n");
}

void svg_filled(struct buf *out, double x, double y, double width, double height, const struct owner_look *look,
		const char *name)
{
	(void)buf_puts(out, "<g><title>");
	svg_escaped(out, str_of(name));
	(void)buf_puts(out, "</title>\n");
	svg_rect(out, x, y, width, height, look->fill, NULL);
	if (strokes[look->hatch]) {
		char fill[24];
		(void)snprintf(fill, sizeof fill, "url(#hatch-%d)", (int)look->hatch);
		svg_rect(out, x, y, width, height, fill, NULL);
	}
	(void)buf_puts(out, "</g>\n");
}

void svg_unread(struct buf *out, double x, double y, double width, double height)
{
	char fill[24];
	(void)snprintf(fill, sizeof fill, "url(#hatch-%d)", (int)HATCH_UNREAD);
	(void)buf_printf(out,
			 "<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\" fill=\"%s\" stroke=\"" SVG_MUTED
			 "\" stroke-dasharray=\"3 2\"/>\n",
			 x, y, width, height, fill);
}

void svg_document(struct buf *out, double width, double height, const char *title, const char *description,
		  struct str body)
{
	(void)buf_printf(out,
			 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
			 "width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" role=\"img\" "
			 "aria-labelledby=\"title desc\" font-family=\"system-ui, 'Segoe UI', Roboto, 'Noto Sans', "
			 "'DejaVu Sans', sans-serif\">\n<title id=\"title\">",
			 width, height, width, height);
	svg_escaped(out, str_of(title));
	(void)buf_puts(out, "</title>\n<desc id=\"desc\">");
	svg_escaped(out, str_of(description));
	(void)buf_puts(out, "</desc>\n<defs>\n");
	for (int hatch = 0; hatch < HATCH_COUNT; hatch++)
		if (strokes[hatch])
			(void)buf_printf(
				out,
				"<pattern id=\"hatch-%d\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
				"<path d=\"%s\" stroke=\"%s\"%s/></pattern>\n",
				hatch, strokes[hatch], hatch == HATCH_UNREAD ? SVG_LINE : "#ffffff",
				hatch == HATCH_UNREAD ? "" : " stroke-opacity=\".55\"");
	(void)buf_puts(out, "</defs>\n");
	svg_rect(out, 0, 0, width, height, "#ffffff", NULL);
	(void)buf_add(out, body);
	(void)buf_puts(out, "</svg>\n");
}
