/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/evidence.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/esc.h"
#include "base/limits.h"

enum { FACTS_CAP = 32 * 1024 };

void evidence_init(struct evidence *evidence)
{
	memset(evidence, 0, sizeof *evidence);
	evidence->facts.cap = FACTS_CAP;
}

void evidence_done(struct evidence *evidence)
{
	for (size_t i = 0; i < evidence->n; i++)
		buf_done(&evidence->items[i].bytes);
	buf_done(&evidence->facts);
	evidence->n = 0;
}

static struct evidence_item *find(const struct evidence *evidence, const char *name)
{
	for (size_t i = 0; i < evidence->n; i++)
		if (strcmp(evidence->items[i].name, name) == 0)
			return (struct evidence_item *)&evidence->items[i];
	return NULL;
}

const struct evidence_item *evidence_find(const struct evidence *evidence, const char *name)
{
	return find(evidence, name);
}

static struct evidence_item *find_or_add(struct evidence *evidence, const char *name)
{
	struct evidence_item *item = find(evidence, name);
	if (item)
		return item;
	if (evidence->n == EVIDENCE_MAX || strlen(name) >= EVIDENCE_NAME_CAP)
		return NULL;
	item = &evidence->items[evidence->n++];
	str_copy(item->name, sizeof item->name, str_of(name));
	return item;
}

struct buf *evidence_new(struct evidence *evidence, const char *name, size_t cap)
{
	struct evidence_item *item = find_or_add(evidence, name);
	if (!item)
		return NULL;
	buf_done(&item->bytes);
	item->bytes.cap = cap;
	item->err = (struct err){ 0 };
	return &item->bytes;
}

void evidence_fail(struct evidence *evidence, const char *name, const struct err *err)
{
	struct evidence_item *item = find_or_add(evidence, name);
	if (!item)
		return;
	buf_done(&item->bytes);
	/* One line, no control bytes: what was escaped once stays as it is when a capture is read back. */
	item->err = (struct err){ .kind = err->kind == ERR_NONE
						  ? ERR_IO
						  : err->kind }; /* NONE would pass for bytes that were read */
	(void)esc_copy(item->err.message, sizeof item->err.message, str_of(err->message));
}

void evidence_fail_set(struct evidence *evidence, const char *name, enum err_kind kind, const char *message)
{
	struct err err;
	(void)err_set(&err, kind, "%s", message);
	evidence_fail(evidence, name, &err);
}

void evidence_drop(struct evidence *evidence, const char *name)
{
	struct evidence_item *item = find(evidence, name);
	if (!item)
		return;
	buf_done(&item->bytes);
	size_t index = (size_t)(item - evidence->items);
	memmove(item, item + 1, (evidence->n - index - 1) * sizeof *item);
	/* The last slot's bytes are now its neighbour's: the next name must not find them there. */
	evidence->items[--evidence->n] = (struct evidence_item){ 0 };
}

bool evidence_has(const struct evidence *evidence, const char *name)
{
	const struct evidence_item *item = find(evidence, name);
	return item && item->err.kind == ERR_NONE;
}

struct str evidence_text(const struct evidence *evidence, const char *name)
{
	const struct evidence_item *item = find(evidence, name);
	return item && item->err.kind == ERR_NONE ? buf_str(&item->bytes) : STR("");
}

bool evidence_fact(struct evidence *evidence, const char *key, const char *format, ...)
{
	char value[512];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(value, sizeof value, format, args);
	va_end(args);
	return evidence_fact_str(evidence, key, str_of(value));
}

bool evidence_fact_str(struct evidence *evidence, const char *key, struct str value)
{
	struct buf *facts = &evidence->facts;
	size_t before = facts->len;
	if (buf_puts(facts, key) && buf_putc(facts, ' ') && esc_add(facts, value) && buf_putc(facts, '\n'))
		return true;
	/* All of it or nothing: half a number would be another number. */
	facts->len = before;
	if (facts->ptr)
		facts->ptr[before] = '\0';
	return false;
}

void evidence_fact_drop(struct evidence *evidence, const char *key)
{
	struct str value;
	if (!evidence_fact_find(evidence, key, &value))
		return;
	struct buf *facts = &evidence->facts;
	size_t start = (size_t)(value.ptr - facts->ptr) - strlen(key) - 1,
	       end = (size_t)(value.ptr - facts->ptr) + value.len + 1;
	memmove(facts->ptr + start, facts->ptr + end, facts->len - end + 1);
	facts->len -= end - start;
}

bool evidence_fact_find(const struct evidence *evidence, const char *key, struct str *ret_value)
{
	struct str rest = buf_str(&evidence->facts), line, name;
	while (str_line(&rest, &line)) {
		if (!str_split(&line, ' ', &name) || !str_eq(name, str_of(key)))
			continue;
		*ret_value = line;
		return true;
	}
	return false;
}

uint64_t evidence_fact_u64(const struct evidence *evidence, const char *key, uint64_t otherwise)
{
	struct str value;
	uint64_t number;
	return evidence_fact_find(evidence, key, &value) && str_is_u64(value, &number) ? number : otherwise;
}
