/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/paint.h"

#include "base/esc.h"

struct paint paint_start(struct buf *out, bool color, unsigned columns)
{
	if (columns < PAINT_COLUMNS_MIN)
		columns = PAINT_COLUMNS_MIN;
	if (columns > PAINT_COLUMNS_MAX)
		columns = PAINT_COLUMNS_MAX;
	return (struct paint){ out, color, columns };
}

void paint_tone(struct paint *p, enum tone tone)
{
	static const char *const codes[] = { "\033[0m", "\033[1m", "\033[2m", "\033[31m", "\033[33m", "\033[32m" };
	if (p->color)
		(void)buf_puts(p->out, codes[tone]);
}

void paint_text(struct paint *p, enum tone tone, const char *text)
{
	paint_tone(p, tone);
	(void)esc_add(p->out, str_of(text));
	paint_tone(p, TONE_PLAIN);
}

/* As many whole characters of `*word` as fit into `room` columns; at least one. A word may be longer than a line: a path, a URL. */
static struct str take_piece(struct str *word, size_t room)
{
	size_t len = 0;
	while (len < word->len) {
		size_t unit = esc_utf8_len(str_skip(*word, len));
		unit = unit ? unit : 1;
		if (len && len + unit > room)
			break;
		len += unit;
	}
	struct str piece = { word->ptr, len };
	*word = str_skip(*word, len);
	return piece;
}

void paint_wrapped(struct paint *p, unsigned indent, unsigned at, const char *text)
{
	char shown[2 * FINDING_TEXT_CAP];
	struct str rest = str_of(esc_copy(shown, sizeof shown, str_of(text))), word;
	unsigned column = at;
	bool first = true;
	while (str_split(&rest, ' ', &word)) {
		if (word.len == 0)
			continue;
		if (!first && column + 1 + word.len > p->columns) {
			(void)buf_printf(p->out, "\n%*s", (int)indent, "");
			column = indent;
			first = true;
		}
		if (!first) {
			(void)buf_putc(p->out, ' ');
			column++;
		}
		while (column + word.len > p->columns && word.len) {
			struct str piece = take_piece(&word, p->columns > column ? p->columns - column : 1);
			(void)buf_add(p->out, piece);
			column += (unsigned)piece.len;
			if (word.len == 0)
				break;
			(void)buf_printf(p->out, "\n%*s", (int)indent, "");
			column = indent;
		}
		(void)buf_add(p->out, word);
		column += (unsigned)word.len;
		first = false;
	}
	(void)buf_putc(p->out, '\n');
}
