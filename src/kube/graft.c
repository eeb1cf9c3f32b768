/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/graft.h"

#include <stdlib.h>

enum { PIECE_CAP = 256 * 1024, EDITS_CAP = 16 * 1024 * 1024 };

void graft_done(struct graft *graft)
{
	edits_done(&graft->edits);
	buf_done(&graft->piece);
	free(graft->gone);
	*graft = (struct graft){ 0 };
}

/* The first list under a key says how the others should stand. */
static unsigned dash_of(const struct yml_tree *tree)
{
	for (unsigned i = 1; i < tree->n; i++) {
		const struct yml_node *list = yml_at(tree, i), *map = yml_at(tree, list->parent);
		if (list->kind == YML_LIST && !list->flow && list->parent && map->kind == YML_MAP)
			return list->column > yml_at(tree, map->first)->column ? 2 : 0;
	}
	return 0;
}

int graft_start(const struct yml_tree *tree, const char *name, struct graft *ret_graft, struct err *err)
{
	size_t first = str_index(tree->text, '\n');
	struct graft graft = { .tree = tree, .name = name, .newline = "\n", .dash = dash_of(tree) };
	if (first > 0 && first < tree->text.len && tree->text.ptr[first - 1] == '\r')
		graft.newline = "\r\n";
	graft.edits.text.cap = EDITS_CAP;
	graft.piece.cap = PIECE_CAP;
	graft.gone = calloc(tree->n, 1);
	if (!graft.gone)
		return err_set(err, ERR_NOMEM, "%s: no memory", name);
	*ret_graft = graft;
	return 0;
}

int graft_check(const struct graft *graft, unsigned node, struct err *err)
{
	const struct yml_tree *tree = graft->tree;
	if (yml_at(tree, node)->kind == YML_ALIAS)
		return err_set(err, ERR_USAGE, "%s:%u: an alias (*) stands where the sidecar belongs: write it out",
			       graft->name, yml_at(tree, node)->line);
	for (unsigned at = node; at; at = yml_at(tree, at)->parent)
		if (yml_at(tree, at)->used)
			return err_set(
				err, ERR_USAGE,
				"%s:%u: an alias (*) shares what is anchored (&) here, and the sidecar belongs to one of the places alone: write it out",
				graft->name, yml_at(tree, at)->line);
	return 0;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* Behind the last child and the comments below it that stand as deep. */
static size_t behind(const struct graft *graft, size_t end, unsigned column)
{
	struct str text = graft->tree->text;
	size_t at = line_after(text, end);
	while (at < text.len) {
		size_t first = at;
		while (first < text.len && text.ptr[first] == ' ')
			first++;
		if (first == text.len || text.ptr[first] != '#' || first - at < column)
			break;
		at = line_after(text, first);
	}
	return at;
}

static unsigned block_column(const struct yml_tree *tree, const struct yml_node *node)
{
	/* A map's entries stand under its first key; a list's under its first dash, where its own mark is. */
	return node->kind == YML_MAP ? yml_at(tree, node->first)->column : node->column;
}

static int begin_block(struct graft *graft, const struct yml_node *node, struct err *err)
{
	unsigned column = block_column(graft->tree, node);
	if (node->kind == YML_LIST && graft->tree->text.ptr[node->start] != '-')
		return err_set(err, ERR_USAGE, "%s:%u: an anchor or a tag stands before this list: write it without",
			       graft->name, node->line);
	graft->at = behind(graft, node->end, column);
	emit_within(&graft->e, node->kind == YML_LIST, column, node->n);
	return 0;
}

static void begin_flow(struct graft *graft, const struct yml_node *node)
{
	const struct yml_tree *tree = graft->tree;
	const struct yml_node *first = yml_at(tree, node->first);
	bool lines = node->n && first->line != node->line;
	graft->e.style = lines ? EMIT_LINES : EMIT_FLOW;
	graft->at = node->n ? yml_at(tree, node->last)->end : node->end - 1;
	unsigned n = node->kind == YML_MAP ? node->n / 2 : node->n;
	emit_within(&graft->e, node->kind == YML_LIST, lines ? first->column : 0, n);
}

/* `key:`, `key: ~`, `key: []`: the value goes, and lines below the key take its place. */
static int begin_empty(struct graft *graft, const struct yml_node *node, bool list, struct err *err)
{
	const struct yml_tree *tree = graft->tree;
	const struct yml_node *parent = yml_at(tree, node->parent);
	struct str text = tree->text;
	if (parent->kind != YML_MAP || parent->flow) {
		graft->e.style = EMIT_FLOW;
		graft->at = node->end;
		(void)buf_printf(&graft->piece, "%s%s", node->end > node->start ? "" : " ", list ? "[" : "{");
		graft->close = list ? "]" : "}";
		emit_within(&graft->e, list, 0, 0);
		return edits_remove(&graft->edits, node->start, node->end, err);
	}
	size_t from = node->start;
	while (from > 0 && is_blank(text.ptr[from - 1]))
		from--;
	unsigned column = block_column(tree, parent) + (list ? graft->dash : 2);
	graft->at = line_after(text, node->end);
	emit_within(&graft->e, list, column, 0);
	return node->end > node->start ? edits_remove(&graft->edits, from, node->end, err) : 0;
}

int graft_begin(struct graft *graft, unsigned node, bool list, struct emit **ret_emit, struct err *err)
{
	int rc = graft_check(graft, node, err);
	if (rc < 0)
		return rc;
	const struct yml_node *at = yml_at(graft->tree, node);
	bool decorated = at->end > at->start && strchr("&!", graft->tree->text.ptr[at->start]);
	buf_clear(&graft->piece);
	graft->close = NULL;
	graft->e = (struct emit){ .out = &graft->piece, .newline = graft->newline, .dash = graft->dash };
	bool collection = at->kind == (list ? YML_LIST : YML_MAP);
	const struct yml_node *parent = yml_at(graft->tree, at->parent);
	graft->depth = 0;
	for (unsigned up = node; up; up = yml_at(graft->tree, up)->parent)
		graft->depth++;
	if (collection && at->n && !at->flow)
		rc = begin_block(graft, at, err);
	else if (collection && (at->n || decorated || parent->flow || parent->kind != YML_MAP))
		begin_flow(graft, at);
	else if (collection || (yml_is_null(graft->tree, node) && !decorated))
		rc = begin_empty(graft, at, list, err);
	else
		rc = err_set(err, ERR_USAGE, "%s:%u: a %s should stand here", graft->name, at->line,
			     list ? "list" : "map");
	if (rc == 0)
		*ret_emit = &graft->e;
	return rc;
}

int graft_end(struct graft *graft, struct err *err)
{
	struct str text = graft->tree->text;
	if (graft->close)
		(void)buf_puts(&graft->piece, graft->close);
	if (buf_failed(&graft->piece))
		return err_set(err, graft->piece.state == BUF_FULL ? ERR_LIMIT : ERR_NOMEM,
			       "%s: what is to be added does not fit", graft->name);
	struct str piece = buf_str(&graft->piece);
	bool open_end = graft->at == text.len && text.len && text.ptr[text.len - 1] != '\n';
	if (graft->e.style != EMIT_BLOCK || !open_end)
		return edits_insert(&graft->edits, graft->at, graft->depth, piece, err);
	/* The last line has no end: neither has the new one. */
	piece.len -= strlen(graft->newline);
	int rc = edits_insert(&graft->edits, graft->at, graft->depth, str_of(graft->newline), err);
	return rc < 0 ? rc : edits_insert(&graft->edits, graft->at, graft->depth, piece, err);
}

void graft_drop_item(struct graft *graft, unsigned item)
{
	graft->gone[item] = 1;
}

void graft_drop_key(struct graft *graft, unsigned key)
{
	graft->gone[key] = 1;
	graft->gone[yml_at(graft->tree, key)->next] = 1;
}

bool graft_is_bare(const struct graft *graft, unsigned node)
{
	const struct yml_node *at = yml_at(graft->tree, node);
	for (unsigned child = at->first; child; child = yml_at(graft->tree, child)->next)
		if (!graft->gone[child])
			return false;
	return at->n > 0;
}

/* Whole lines. */
static int drop_lines(struct graft *graft, size_t start, size_t end, struct err *err)
{
	struct str text = graft->tree->text;
	size_t from = line_start(text, start), to = line_after(text, end);
	for (size_t i = from; i < start; i++)
		if (!is_blank(text.ptr[i]) && text.ptr[i] != '-')
			return err_set(err, ERR_USAGE, "%s: the sidecar stands in one line with something else",
				       graft->name);
	if (graft->dropped_to != from)
		graft->dropped_from = from;
	graft->dropped_to = to;
	return edits_remove(&graft->edits, from, to, err);
}

/* The text had no end of its last line: what is now the last one has none either. */
static int drop_last_end(struct graft *graft, struct err *err)
{
	struct str text = graft->tree->text;
	size_t from = graft->dropped_from;
	if (graft->dropped_to != text.len || from == 0 || text.ptr[text.len - 1] == '\n')
		return 0;
	return edits_remove(&graft->edits, from - (from > 1 && text.ptr[from - 2] == '\r' ? 2 : 1), from, err);
}

/* In {} and []: with the comma that stood before it, or, where nothing before it stays, the one behind it. */
static int drop_flow(struct graft *graft, unsigned node, size_t end, struct err *err)
{
	const struct yml_tree *tree = graft->tree;
	const struct yml_node *parent = yml_at(tree, yml_at(tree, node)->parent);
	size_t before = 0, next = end;
	for (unsigned at = parent->first; at && at < node; at = yml_at(tree, at)->next)
		before = graft->gone[at] ? before : yml_at(tree, at)->end;
	if (before)
		return edits_remove(&graft->edits, before, end, err);
	for (unsigned at = yml_at(tree, node)->next; at; at = yml_at(tree, at)->next)
		if (yml_at(tree, at)->start >= end) {
			next = yml_at(tree, at)->start;
			break;
		}
	return edits_remove(&graft->edits, yml_at(tree, node)->start, next, err);
}

static int drop_one(struct graft *graft, unsigned node, struct err *err)
{
	const struct yml_tree *tree = graft->tree;
	const struct yml_node *at = yml_at(tree, node), *parent = yml_at(tree, at->parent);
	size_t end = parent->kind == YML_MAP ? yml_at(tree, at->next)->end : at->end;
	if (!parent->flow)
		return drop_lines(graft, at->start, end, err);
	/* A value before it that is an empty word of flow style ends where it stands. */
	return drop_flow(graft, node, end > at->end ? end : at->end, err);
}

/* `key:` with nothing below it would be null. */
static int write_bare(struct graft *graft, unsigned node, struct err *err)
{
	const struct yml_tree *tree = graft->tree;
	const struct yml_node *at = yml_at(tree, node), *parent = yml_at(tree, at->parent);
	if (at->flow || parent->kind != YML_MAP)
		return 0;
	unsigned key = parent->first;
	while (yml_at(tree, key)->next != node)
		key = yml_at(tree, yml_at(tree, key)->next)->next;
	size_t colon = yml_at(tree, key)->end;
	while (colon < at->start && tree->text.ptr[colon] != ':')
		colon++;
	return edits_insert(&graft->edits, colon + 1, 0, at->kind == YML_LIST ? STR(" []") : STR(" {}"), err);
}

int graft_drop(struct graft *graft, struct err *err)
{
	const struct yml_tree *tree = graft->tree;
	int rc = 0;
	for (unsigned i = 1; i < tree->n && rc == 0; i++) {
		unsigned up = yml_at(tree, i)->parent;
		const struct yml_node *parent = yml_at(tree, up);
		while (up && !graft->gone[up])
			up = yml_at(tree, up)->parent;
		if (up)
			continue; /* goes with what it stands in */
		if (!graft->gone[i]) {
			if (yml_at(tree, i)->kind != YML_SCALAR && graft_is_bare(graft, i))
				rc = write_bare(graft, i, err);
			continue;
		}
		bool is_value = false;
		if (parent->kind == YML_MAP)
			for (unsigned key = parent->first; key; key = yml_at(tree, yml_at(tree, key)->next)->next)
				is_value |= yml_at(tree, key)->next == i;
		if (!is_value)
			rc = drop_one(graft, i, err);
	}
	return rc < 0 ? rc : drop_last_end(graft, err);
}
