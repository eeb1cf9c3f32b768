/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes YAML: lines in block style at a given column, or JSON where the place is in flow style.
 *
 *     emit_map(e, NULL); emit_text(e, "name", "bankfull"); emit_end(e);
 *
 * A NULL key is an item of a list. What does not fit shows in the buffer (buf_failed).
 */
#ifndef KUBE_EMIT_H
#define KUBE_EMIT_H

#include "base/buf.h"

enum { EMIT_DEPTH = 16 };

enum emit_style {
	EMIT_BLOCK,
	EMIT_FLOW,  /* JSON in one line */
	EMIT_LINES, /* JSON, a line each */
};

struct emit {
	struct buf *out;
	const char *newline;
	enum emit_style style;
	unsigned dash; /* columns by which a list stands in under its key: 0 or 2 */
	unsigned depth;
	struct emit_level {
		bool list;
		bool first_inline; /* its first entry stands behind a dash */
		unsigned column, n;
	} levels[EMIT_DEPTH];
};

/* Go on in a collection that is there, whose entries stand at `column`; it has `n` of them. */
void emit_within(struct emit *e, bool list, unsigned column, unsigned n);

void emit_map(struct emit *e, const char *key);
void emit_list(struct emit *e, const char *key);
void emit_end(struct emit *e);
/* As it stands: numbers, true, false, words that no reader takes for something else. */
void emit_word(struct emit *e, const char *key, const char *word);
/* Always in quotes. */
void emit_text(struct emit *e, const char *key, struct str text);
/* Text of several lines: a literal block where that can be. */
void emit_lines(struct emit *e, const char *key, struct str text);

#endif
