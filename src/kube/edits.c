/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/edits.h"

#include <stdlib.h>

void edits_done(struct edits *edits)
{
	free(edits->items);
	buf_done(&edits->text);
	*edits = (struct edits){ 0 };
}

static int add(struct edits *edits, struct edit edit, struct str text, struct err *err)
{
	if (edits->n == edits->room) {
		unsigned room = edits->room ? edits->room * 2 : 32;
		void *moved = realloc(edits->items, room * sizeof *edits->items);
		if (!moved)
			return err_set(err, ERR_NOMEM, "no memory");
		edits->items = moved;
		edits->room = room;
	}
	edit.text_at = edits->text.len;
	edit.text_len = text.len;
	edit.order = edits->n;
	if (!buf_add(&edits->text, text))
		return err_set(err, edits->text.state == BUF_FULL ? ERR_LIMIT : ERR_NOMEM,
			       "what is to be inserted does not fit");
	edits->items[edits->n++] = edit;
	return 0;
}

int edits_insert(struct edits *edits, size_t at, unsigned depth, struct str text, struct err *err)
{
	return add(edits, (struct edit){ .at = at, .depth = depth }, text, err);
}

int edits_remove(struct edits *edits, size_t from, size_t to, struct err *err)
{
	return add(edits, (struct edit){ .at = from, .remove = to - from }, STR(""), err);
}

static int compare(const void *left, const void *right)
{
	const struct edit *a = left, *b = right;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	if (a->depth != b->depth)
		return a->depth > b->depth ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

int edits_apply(struct edits *edits, struct str text, struct buf *out, struct err *err)
{
	size_t done = 0;
	if (edits->n)
		qsort(edits->items, edits->n, sizeof *edits->items, compare);
	for (unsigned i = 0; i < edits->n; i++) {
		const struct edit *edit = &edits->items[i];
		if (edit->at > done) {
			(void)buf_add(out, (struct str){ text.ptr + done, edit->at - done });
			done = edit->at;
		}
		(void)buf_add(out, (struct str){ buf_str(&edits->text).ptr + edit->text_at, edit->text_len });
		if (edit->at + edit->remove > done)
			done = edit->at + edit->remove;
	}
	(void)buf_add(out, str_skip(text, done));
	return buf_failed(out) ? err_set(err, out->state == BUF_FULL ? ERR_LIMIT : ERR_NOMEM,
					 "the result does not fit into %zu bytes", out->cap)
			       : 0;
}

size_t line_start(struct str text, size_t at)
{
	while (at > 0 && text.ptr[at - 1] != '\n')
		at--;
	return at;
}

size_t line_after(struct str text, size_t at)
{
	/* What ended with a whole line, as a block scalar does, ends where the next one begins. */
	if (at > 0 && text.ptr[at - 1] == '\n')
		return at;
	while (at < text.len && text.ptr[at] != '\n')
		at++;
	return at < text.len ? at + 1 : at;
}
