/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/screen.h"

#include <stdarg.h>
#include <stdio.h>

enum { TEXT_CAP = 1024 };

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

struct area screen_start(struct screen *screen, unsigned columns, unsigned rows, bool utf8)
{
	screen->columns = least(columns, SCREEN_COLUMNS_MAX);
	screen->rows = least(rows, SCREEN_ROWS_MAX);
	screen->utf8 = utf8;
	for (unsigned y = 0; y < screen->rows; y++)
		for (unsigned x = 0; x < screen->columns; x++)
			screen->cells[y][x] = (struct cell){ { ' ' }, 1, STYLE_PLAIN };
	return (struct area){ screen, 0, 0, screen->columns, screen->rows };
}

struct area area_part(struct area area, unsigned x, unsigned y, unsigned columns, unsigned rows)
{
	x = least(x, area.columns);
	y = least(y, area.rows);
	return (struct area){ area.screen, area.x + x, area.y + y, least(columns, area.columns - x),
			      least(rows, area.rows - y) };
}

static void put_glyph(struct area area, unsigned x, unsigned y, enum style style, const struct glyph *glyph)
{
	struct cell *cell = &area.screen->cells[area.y + y][area.x + x];
	bool escape = glyph->columns == glyph->len && glyph->len > 1;
	for (unsigned i = 0; i < glyph->columns; i++, cell++) {
		*cell = (struct cell){ .style = (unsigned char)style };
		if (escape) {
			cell->text[0] = glyph->text[i];
			cell->len = 1;
		} else if (i == 0) {
			memcpy(cell->text, glyph->text, glyph->len);
			cell->len = (unsigned char)glyph->len;
		}
	}
}

unsigned area_put(struct area area, unsigned x, unsigned y, enum style style, struct str text)
{
	while (text.len && y < area.rows && x < area.columns) {
		struct glyph glyph = glyph_take(&text, area.screen->utf8);
		if (glyph.columns > area.columns - x)
			break;
		put_glyph(area, x, y, style, &glyph);
		x += glyph.columns;
	}
	return x;
}

unsigned area_printf(struct area area, unsigned x, unsigned y, enum style style, const char *format, ...)
{
	char text[TEXT_CAP];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);
	va_end(args);
	return area_put(area, x, y, style, str_of(text));
}

void area_right(struct area area, unsigned x, unsigned y, unsigned columns, enum style style, const char *text)
{
	size_t wide = glyph_columns(str_of(text), area.screen->utf8);
	unsigned before = wide < columns ? columns - (unsigned)wide : 0;
	(void)area_put(area_part(area, x, 0, columns, area.rows), before, y, style, str_of(text));
}

void area_style_row(struct area area, unsigned y, enum style style)
{
	for (unsigned x = 0; y < area.rows && x < area.columns; x++)
		area.screen->cells[area.y + y][area.x + x].style = (unsigned char)style;
}

/* The next line of at most `columns`: whole words, a word longer than that cut. Never empty unless the text is. */
static struct str take_line(struct str *rest, unsigned columns, bool utf8)
{
	*rest = str_trim(*rest);
	struct str left = *rest;
	size_t used = 0, word_end = 0;
	while (left.len) {
		if (left.ptr[0] == ' ')
			word_end = (size_t)(left.ptr - rest->ptr);
		struct str after = left;
		used += glyph_take(&after, utf8).columns;
		if (used > columns && left.ptr > rest->ptr) {
			size_t end = word_end ? word_end : (size_t)(left.ptr - rest->ptr);
			struct str line = { rest->ptr, end };
			*rest = str_skip(*rest, end);
			return line;
		}
		left = after;
	}
	struct str line = *rest;
	*rest = str_skip(*rest, rest->len);
	return line;
}

unsigned area_wrap(struct area area, int y, enum style style, struct str text)
{
	unsigned n = 0;
	for (text = str_trim(text); text.len && area.columns; n++) {
		struct str line = take_line(&text, area.columns, area.screen->utf8);
		if (y + (int)n >= 0)
			(void)area_put(area, 0, (unsigned)(y + (int)n), style, line);
		text = str_trim(text);
	}
	return n;
}

void area_bar(struct area area, unsigned x, unsigned y, unsigned columns, enum style style, double share)
{
	bool over = share > 1;
	unsigned filled = share >= 1 ? columns : share > 0 ? (unsigned)(share * columns + 0.5) : 0;
	for (unsigned i = 0; i < columns; i++) {
		bool full = i < filled;
		const char *mark = full && over && i + 1 == columns ? "!"
				   : area.screen->utf8              ? (full ? "\u2588" : "\u2591")
								    : (full ? "#" : ".");
		(void)area_put(area, x + i, y, full ? style : STYLE_DIM, str_of(mark));
	}
}

bool screen_text(const struct screen *screen, struct buf *out)
{
	for (unsigned y = 0; y < screen->rows; y++) {
		unsigned end = screen->columns;
		while (end && screen->cells[y][end - 1].len == 1 && screen->cells[y][end - 1].text[0] == ' ')
			end--;
		for (unsigned x = 0; x < end; x++)
			(void)buf_add(out, (struct str){ screen->cells[y][x].text, screen->cells[y][x].len });
		(void)buf_putc(out, '\n');
	}
	return !buf_failed(out);
}
