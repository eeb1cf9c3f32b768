/* SPDX-License-Identifier: Apache-2.0 */
/* What to insert into a text and what to leave out of it, by the positions of the text as it was. */
#ifndef KUBE_EDITS_H
#define KUBE_EDITS_H

#include "base/buf.h"
#include "base/err.h"

struct edit {
	size_t at, remove;        /* this many bytes from there on go */
	size_t text_at, text_len; /* what stands there instead */
	unsigned depth, order;
};

/* `{ .text = { .cap = N } }` has none. Owned: edits_done(). */
struct edits {
	struct edit *items;
	unsigned n, room;
	struct buf text;
};

void edits_done(struct edits *edits);
#define auto_edits auto_(edits_done)

/* Several at one place: the deeper ones first, then in the order in which they were asked for. */
int edits_insert(struct edits *edits, size_t at, unsigned depth, struct str text, struct err *err)
	__attribute__((warn_unused_result));
int edits_remove(struct edits *edits, size_t from, size_t to, struct err *err) __attribute__((warn_unused_result));

/* Appends the edited text. Removals that overlap are one. LIMIT past out's cap. */
int edits_apply(struct edits *edits, struct str text, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));

/* Where the line that holds or ends at `at` begins, and where the line after it begins (text.len at the end). */
size_t line_start(struct str text, size_t at);
size_t line_after(struct str text, size_t at);

#endif
