/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/page.h"

#include "base/esc.h"
#include "base/str.h"

enum { COLUMNS_CAP = 8, ROWS_CAP = 64, BLOCK_CAP = 64 * 1024, GAP = 2, CELL_MIN = 8, CODE_INDENT = 4 };

/* A block that is being collected: its lines joined, and what kind it is. */
struct block {
	enum { BLOCK_NONE, BLOCK_TEXT, BLOCK_ITEM, BLOCK_TABLE } kind;
	unsigned indent;  /* of an item's text */
	struct buf text;  /* of a table: its lines, each ended by LF */
	bool any_printed; /* on the page */
};

/* Characters, as a terminal counts ours. */
static unsigned width_of(struct str text)
{
	unsigned n = 0;
	for (size_t i = 0; i < text.len; i++)
		n += (text.ptr[i] & 0xc0) != 0x80;
	return n;
}

/* "[text](address)" at the start of `*rest`. */
static bool take_link(struct str *rest, struct buf *out)
{
	size_t close = str_index(*rest, ']');
	struct str after = str_skip(*rest, close + 1);
	if (rest->len == 0 || rest->ptr[0] != '[' || close == rest->len || !str_take(&after, STR("(")))
		return false;
	size_t end = str_index(after, ')');
	if (end == after.len)
		return false;
	(void)buf_add(out, (struct str){ rest->ptr + 1, close - 1 });
	if (str_starts(after, STR("http"))) {
		(void)buf_puts(out, " (");
		(void)buf_add(out, (struct str){ after.ptr, end });
		(void)buf_puts(out, ")");
	}
	*rest = str_skip(after, end + 1);
	return true;
}

/* An asterisk that touches no word is one: "2 * 3". */
static bool is_mark(struct str text, size_t at)
{
	bool before = at > 0 && text.ptr[at - 1] != ' ', after = at + 1 < text.len && text.ptr[at + 1] != ' ';
	return before || after;
}

/* Text without the marks of emphasis and links; code is taken as it stands. */
static void plain(struct str text, struct buf *out)
{
	bool code = false;
	for (struct str rest = text; rest.len;) {
		size_t at = text.len - rest.len;
		char c = rest.ptr[0];
		if (!code && c == '[' && take_link(&rest, out))
			continue;
		if (c == '`')
			code = !code;
		bool escaped = c == '\\' && rest.len > 1 && (rest.ptr[1] == '|' || (!code && rest.ptr[1] == '*'));
		if (escaped)
			rest = str_skip(rest, 1);
		if (escaped || code || c != '*' || !is_mark(text, at))
			(void)buf_putc(out, rest.ptr[0]);
		rest = str_skip(rest, 1);
	}
}

/* The same of a whole block; a failure is the page's. */
static void plain_block(struct paint *p, struct str text, struct buf *out)
{
	plain(text, out);
	if (buf_failed(out))
		p->out->state = out->state;
}

/* The next line of at most `width` characters off `*rest`: whole words, a word longer than that cut. */
static struct str take_line(struct str *rest, unsigned width)
{
	*rest = str_trim(*rest);
	size_t end = 0;
	unsigned used = 0;
	for (size_t i = 0; i < rest->len; i++) {
		if (rest->ptr[i] == ' ')
			end = i;
		bool starts = (rest->ptr[i] & 0xc0) != 0x80;
		if (starts && used == width && rest->ptr[i] != ' ') {
			end = end ? end : i;
			break;
		}
		if (starts && used == width)
			break;
		used += starts;
		if (i + 1 == rest->len)
			end = rest->len;
	}
	struct str line = { rest->ptr, end };
	*rest = str_skip(*rest, end);
	return str_trim(line);
}

static void wrap(struct paint *p, struct str text, unsigned indent)
{
	unsigned width = p->columns > indent + CELL_MIN ? p->columns - indent : CELL_MIN;
	bool first = true;
	text = str_trim(text);
	while (text.len) {
		if (!first)
			(void)buf_printf(p->out, "%*s", (int)indent, "");
		(void)esc_add(p->out, take_line(&text, width));
		(void)buf_putc(p->out, '\n');
		first = false;
	}
}

/* --- tables --------------------------------------------------------------------------------------------------- */

struct table {
	struct str cells[ROWS_CAP][COLUMNS_CAP]; /* in `text` */
	unsigned widths[COLUMNS_CAP];
	size_t n_rows, n_columns;
	struct buf text;
};

/* The cells of one line, between bars that are not escaped. */
static size_t split_row(struct str line, struct str cells[COLUMNS_CAP])
{
	size_t n = 0, start = 0;
	line = str_trim(line);
	(void)str_take(&line, STR("|"));
	for (size_t i = 0; i < line.len && n < COLUMNS_CAP; i++) {
		bool bar = line.ptr[i] == '|' && (i == 0 || line.ptr[i - 1] != '\\');
		if (!bar && i + 1 < line.len)
			continue;
		cells[n++] = str_trim((struct str){ line.ptr + start, (bar ? i : i + 1) - start });
		start = i + 1;
	}
	return n;
}

/* "|---|---|" */
static bool is_rule(struct str line)
{
	for (size_t i = 0; i < line.len; i++)
		if (!strchr("|-: ", line.ptr[i]))
			return false;
	return line.len > 0;
}

static void read_table(struct table *table, struct str lines)
{
	struct str line, raw[COLUMNS_CAP];
	while (table->n_rows < ROWS_CAP && str_line(&lines, &line)) {
		if (is_rule(line))
			continue;
		size_t n = split_row(line, raw);
		table->n_columns = n > table->n_columns ? n : table->n_columns;
		for (size_t i = 0; i < n; i++) {
			size_t at = table->text.len;
			plain(raw[i], &table->text);
			/* The buffer was sized for all of it, so its bytes stay where they are. */
			struct str cell = { table->text.ptr + at, table->text.len - at };
			table->cells[table->n_rows][i] = cell;
			unsigned width = width_of(cell);
			table->widths[i] = width > table->widths[i] ? width : table->widths[i];
		}
		table->n_rows++;
	}
}

/* The widest columns give until the lines fit. */
static void fit(struct table *table, unsigned columns)
{
	for (;;) {
		size_t widest = 0;
		unsigned total = 0;
		for (size_t i = 0; i < table->n_columns; i++) {
			total += table->widths[i] + (i ? GAP : 0);
			if (table->widths[i] > table->widths[widest])
				widest = i;
		}
		if (total <= columns || table->widths[widest] <= CELL_MIN)
			return;
		table->widths[widest]--;
	}
}

static void print_row(struct paint *p, const struct table *table, size_t row)
{
	struct str rest[COLUMNS_CAP] = { 0 };
	for (size_t i = 0; i < table->n_columns; i++)
		rest[i] = table->cells[row][i];
	for (bool more = true; more;) {
		unsigned column = 0, want = 0;
		more = false;
		for (size_t i = 0; i < table->n_columns; i++) {
			struct str part = rest[i].len ? take_line(&rest[i], table->widths[i]) : STR("");
			if (part.len) {
				(void)buf_printf(p->out, "%*s", (int)(want - column), "");
				(void)esc_add(p->out, part);
				column = want + width_of(part);
			}
			want += table->widths[i] + GAP;
			more |= rest[i].len > 0;
		}
		(void)buf_putc(p->out, '\n');
	}
}

static void print_table(struct paint *p, struct str lines)
{
	auto_free struct table *table = calloc(1, sizeof *table);
	if (!table) {
		p->out->state = BUF_NOMEM;
		return;
	}
	table->text.cap = lines.len + 1;
	if (buf_grow(&table->text, lines.len + 1))
		read_table(table, lines);
	else
		p->out->state = BUF_NOMEM;
	fit(table, p->columns);
	for (size_t row = 0; row < table->n_rows; row++) {
		if (row == 0)
			paint_tone(p, TONE_BOLD);
		print_row(p, table, row);
		if (row == 0)
			paint_tone(p, TONE_PLAIN);
		for (size_t i = 0; row == 0 && i < table->n_columns; i++) {
			(void)buf_printf(p->out, "%*s", i ? GAP : 0, "");
			for (unsigned n = 0; n < table->widths[i]; n++)
				(void)buf_putc(p->out, '-');
		}
		if (row == 0)
			(void)buf_putc(p->out, '\n');
	}
	buf_done(&table->text);
}

/* --- blocks --------------------------------------------------------------------------------------------------- */

/* "**Meaning.** It ..." starts with words that stand out. */
static void print_text(struct paint *p, struct str text)
{
	auto_buf struct buf shown = { .cap = BLOCK_CAP };
	plain_block(p, text, &shown);
	struct str lead = text;
	size_t len = 0;
	if (str_take(&lead, STR("**")))
		len = str_find(lead, STR("**"));
	if (len == 0 || len == lead.len || len > p->columns) {
		wrap(p, buf_str(&shown), 0);
		return;
	}
	/* Printed as one text; only then are the first words given their tone, as nothing else knows where lines end. */
	struct buf *out = p->out;
	auto_buf struct buf plain_lines = { .cap = BLOCK_CAP };
	p->out = &plain_lines;
	wrap(p, buf_str(&shown), 0);
	p->out = out;
	if (buf_failed(&plain_lines))
		out->state = plain_lines.state;
	paint_tone(p, TONE_BOLD);
	(void)buf_add(out, (struct str){ buf_str(&plain_lines).ptr, len < plain_lines.len ? len : plain_lines.len });
	paint_tone(p, TONE_PLAIN);
	(void)buf_add(out, str_skip(buf_str(&plain_lines), len));
}

static void end_block(struct paint *p, struct block *block)
{
	struct str text = buf_str(&block->text);
	if (buf_failed(&block->text))
		p->out->state = block->text.state;
	if (block->kind == BLOCK_TEXT)
		print_text(p, text);
	else if (block->kind == BLOCK_TABLE)
		print_table(p, text);
	else if (block->kind == BLOCK_ITEM) {
		auto_buf struct buf shown = { .cap = BLOCK_CAP };
		plain_block(p, text, &shown);
		wrap(p, buf_str(&shown), block->indent);
	}
	block->any_printed |= block->kind != BLOCK_NONE;
	block->kind = BLOCK_NONE;
	buf_clear(&block->text);
}

static void add_line(struct block *block, struct str line)
{
	if (block->kind == BLOCK_TABLE) {
		(void)buf_add(&block->text, line);
		(void)buf_putc(&block->text, '\n');
		return;
	}
	if (block->text.len)
		(void)buf_putc(&block->text, ' ');
	(void)buf_add(&block->text, str_trim(line));
}

/* How long "- " or "12. " at the start of the line is; 0: no item starts here. */
static size_t item_mark(struct str line)
{
	size_t n = 0;
	while (n < line.len && line.ptr[n] >= '0' && line.ptr[n] <= '9')
		n++;
	if (n > 0)
		return str_starts(str_skip(line, n), STR(". ")) ? n + 2 : 0;
	return str_starts(line, STR("- ")) || str_starts(line, STR("* ")) ? 2 : 0;
}

static bool print_heading(struct paint *p, struct block *block, struct str line)
{
	if (!str_starts(line, STR("#")))
		return false;
	end_block(p, block);
	while (str_take(&line, STR("#")))
		;
	auto_buf struct buf shown = { .cap = BLOCK_CAP };
	plain_block(p, str_trim(line), &shown);
	paint_tone(p, TONE_BOLD);
	wrap(p, buf_str(&shown), 0);
	paint_tone(p, TONE_PLAIN);
	return true;
}

static void take_block_line(struct paint *p, struct block *block, struct str line)
{
	size_t mark = item_mark(line);
	if (str_starts(line, STR("|"))) {
		if (block->kind != BLOCK_TABLE)
			end_block(p, block);
		block->kind = BLOCK_TABLE;
	} else if (mark) {
		end_block(p, block);
		block->kind = BLOCK_ITEM;
		block->indent = (unsigned)mark;
		/* Its mark stays on the first line, and the others stand below its text. */
	} else if (block->kind == BLOCK_NONE || block->kind == BLOCK_TABLE) {
		end_block(p, block);
		block->kind = BLOCK_TEXT;
	}
	add_line(block, line);
}

void page_render(struct paint *p, struct str markdown)
{
	struct block block = { .text = { .cap = BLOCK_CAP } };
	struct str line;
	bool fenced = false, blank = false;
	while (str_line(&markdown, &line)) {
		bool fence = str_starts(line, STR("```"));
		bool code = fenced || (block.kind == BLOCK_NONE && str_starts(line, STR("    ")) && str_trim(line).len);
		if (str_trim(line).len == 0 && !fenced) {
			end_block(p, &block);
			blank = true;
			continue;
		}
		if (blank && block.any_printed)
			(void)buf_putc(p->out, '\n');
		blank = false;
		if (fence || code) {
			end_block(p, &block);
			block.any_printed = true;
			fenced ^= fence;
			if (fence)
				continue;
			(void)buf_printf(p->out, "%*s", fenced && line.len ? CODE_INDENT : 0, "");
			(void)esc_add(p->out, line);
			(void)buf_putc(p->out, '\n');
		} else if (print_heading(p, &block, line)) {
			block.any_printed = true;
		} else {
			take_block_line(p, &block, line);
		}
	}
	end_block(p, &block);
	buf_done(&block.text);
}
