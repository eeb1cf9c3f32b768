/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/emit.h"

#include <assert.h>

static struct emit_level *top(struct emit *e)
{
	assert(e->depth > 0);
	return &e->levels[e->depth - 1];
}

static void push(struct emit *e, struct emit_level level)
{
	assert(e->depth < EMIT_DEPTH);
	e->levels[e->depth++] = level;
}

static void spaces(struct emit *e, unsigned n)
{
	while (n--)
		(void)buf_putc(e->out, ' ');
}

static void quoted(struct emit *e, struct str text)
{
	(void)buf_putc(e->out, '"');
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		if (c == '"' || c == '\\')
			(void)buf_printf(e->out, "\\%c", c);
		else if (c == '\n')
			(void)buf_puts(e->out, "\\n");
		else if (c < ' ' || c == 0x7f)
			(void)buf_printf(e->out, "\\u%04x", c);
		else
			(void)buf_putc(e->out, (char)c);
	}
	(void)buf_putc(e->out, '"');
}

/* Up to where the value of an entry stands. */
static void begin(struct emit *e, const char *key)
{
	struct emit_level *level = top(e);
	if (e->style == EMIT_BLOCK) {
		if (level->n || !level->first_inline)
			spaces(e, level->column);
		(void)(key ? buf_printf(e->out, "%s:", key) : buf_putc(e->out, '-'));
	} else {
		if (level->n)
			(void)buf_puts(e->out, e->style == EMIT_LINES ? "," : ", ");
		if (e->style == EMIT_LINES) {
			(void)buf_puts(e->out, e->newline);
			spaces(e, level->column);
		}
		if (key) {
			quoted(e, str_of(key));
			(void)buf_puts(e->out, ": ");
		}
	}
	level->n++;
}

void emit_within(struct emit *e, bool list, unsigned column, unsigned n)
{
	push(e, (struct emit_level){ .list = list, .column = column, .n = n });
}

static void collection(struct emit *e, const char *key, bool list)
{
	begin(e, key);
	unsigned column = top(e)->column + 2;
	if (e->style != EMIT_BLOCK) {
		(void)buf_putc(e->out, list ? '[' : '{');
		push(e, (struct emit_level){ .list = list, .column = column });
		return;
	}
	if (key)
		(void)buf_puts(e->out, e->newline);
	else
		(void)buf_putc(e->out, ' ');
	if (list && key)
		column = column - 2 + e->dash;
	push(e, (struct emit_level){ .list = list, .column = column, .first_inline = !key });
}

void emit_map(struct emit *e, const char *key)
{
	collection(e, key, false);
}

void emit_list(struct emit *e, const char *key)
{
	collection(e, key, true);
}

void emit_end(struct emit *e)
{
	struct emit_level level = *top(e);
	e->depth--;
	if (e->style == EMIT_BLOCK)
		return;
	if (e->style == EMIT_LINES && level.n) {
		(void)buf_puts(e->out, e->newline);
		spaces(e, level.column >= 2 ? level.column - 2 : 0);
	}
	(void)buf_putc(e->out, level.list ? ']' : '}');
}

static void value_end(struct emit *e)
{
	if (e->style == EMIT_BLOCK)
		(void)buf_puts(e->out, e->newline);
}

void emit_word(struct emit *e, const char *key, const char *word)
{
	begin(e, key);
	uint64_t number;
	bool bare = e->style == EMIT_BLOCK || str_is_u64(str_of(word), &number) || strcmp(word, "true") == 0 ||
		    strcmp(word, "false") == 0;
	if (e->style == EMIT_BLOCK)
		(void)buf_putc(e->out, ' ');
	if (bare)
		(void)buf_puts(e->out, word);
	else
		quoted(e, str_of(word)); /* JSON knows no other words */
	value_end(e);
}

void emit_text(struct emit *e, const char *key, struct str text)
{
	begin(e, key);
	if (e->style == EMIT_BLOCK)
		(void)buf_putc(e->out, ' ');
	quoted(e, text);
	value_end(e);
}

void emit_lines(struct emit *e, const char *key, struct str text)
{
	if (e->style != EMIT_BLOCK || text.len < 2 || text.ptr[text.len - 1] != '\n' ||
	    text.ptr[text.len - 2] == '\n' || text.ptr[0] == ' ' || text.ptr[0] == '\n') {
		emit_text(e, key, text);
		return;
	}
	begin(e, key);
	(void)buf_printf(e->out, " |%s", e->newline);
	struct str line;
	while (str_line(&text, &line)) {
		spaces(e, top(e)->column + 2);
		(void)buf_add(e->out, line);
		(void)buf_puts(e->out, e->newline);
	}
}
