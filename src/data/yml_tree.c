/* SPDX-License-Identifier: Apache-2.0 */
/* With yml.c the owner of libyaml: its events and their marks, which count characters and not bytes. */
#include "data/yml_tree.h"

#include "base/buf.h"

#include <yaml.h>

struct anchor {
	size_t at, len; /* its name in the arena */
	unsigned node;
};

/* Values are offsets until the arena stands still. */
struct value {
	size_t at, len;
};

struct growing {
	const char *name;
	struct yml_tree tree;
	struct value *values;
	unsigned room, room_documents;
	struct anchor *anchors;
	unsigned n_anchors, room_anchors;
	struct buf arena;
	uint32_t *offsets; /* of each character; NULL where every character is one byte */
	size_t n_characters;
	unsigned open[YML_TREE_DEPTH], depth;
};

static void growing_done(struct growing *g)
{
	yml_tree_done(&g->tree);
	free(g->values);
	free(g->anchors);
	free(g->offsets);
	buf_done(&g->arena);
}

static bool grow(void **items, unsigned *room, unsigned n, size_t size)
{
	if (n < *room)
		return true;
	unsigned more = *room ? *room * 2 : 64;
	void *moved = realloc(*items, more * size);
	if (!moved)
		return false;
	*items = moved;
	*room = more;
	return true;
}

static int no_memory(const struct growing *g, struct err *err)
{
	return err_set(err, ERR_NOMEM, "%s: no memory", g->name);
}

/* The byte at which each character starts: marks count characters. */
static int index_characters(struct growing *g, struct err *err)
{
	struct str text = g->tree.text;
	size_t n = 0;
	for (size_t i = 0; i < text.len; i++)
		n += ((unsigned char)text.ptr[i] & 0xc0) != 0x80;
	g->n_characters = n;
	if (n == text.len)
		return 0;
	g->offsets = malloc((n + 1) * sizeof *g->offsets);
	if (!g->offsets)
		return no_memory(g, err);
	n = 0;
	for (size_t i = 0; i < text.len; i++)
		if (((unsigned char)text.ptr[i] & 0xc0) != 0x80)
			g->offsets[n++] = (uint32_t)i;
	g->offsets[n] = (uint32_t)text.len;
	return 0;
}

static size_t byte_of(const struct growing *g, yaml_mark_t mark)
{
	size_t index = mark.index < g->n_characters ? mark.index : g->n_characters;
	return g->offsets ? g->offsets[index] : index;
}

static int refuse(const struct growing *g, yaml_mark_t mark, enum err_kind kind, const char *what, struct err *err)
{
	return err_set(err, kind, "%s:%zu: %s", g->name, mark.line + 1, what);
}

static bool keep_text(struct growing *g, const unsigned char *text, size_t len, struct value *ret)
{
	*ret = (struct value){ g->arena.len, len };
	return buf_add(&g->arena, (struct str){ (const char *)text, len });
}

static int add_anchor(struct growing *g, const unsigned char *name, unsigned node, struct err *err)
{
	struct value kept;
	/* Each alias is looked for among all anchors before it. */
	if (g->n_anchors == YML_TREE_ANCHORS_MAX)
		return err_set(err, ERR_LIMIT, "%s:%u: more than %d anchors in one document", g->name,
			       g->tree.nodes[node].line, YML_TREE_ANCHORS_MAX);
	if (!grow((void **)&g->anchors, &g->room_anchors, g->n_anchors, sizeof *g->anchors) ||
	    !keep_text(g, name, strlen((const char *)name), &kept))
		return no_memory(g, err);
	g->anchors[g->n_anchors++] = (struct anchor){ kept.at, kept.len, node };
	return 0;
}

/* The last one of that name: YAML lets an anchor be set anew. 0: none. */
static unsigned find_anchor(const struct growing *g, struct str name)
{
	for (unsigned i = g->n_anchors; i-- > 0;)
		if (str_eq((struct str){ g->arena.ptr + g->anchors[i].at, g->anchors[i].len }, name))
			return g->anchors[i].node;
	return 0;
}

/* A new node, hung below what is open. */
static int add_node(struct growing *g, const yaml_event_t *event, struct yml_node node, struct err *err)
{
	struct yml_tree *t = &g->tree;
	if (t->n == YML_TREE_NODES_MAX)
		return refuse(g, event->start_mark, ERR_LIMIT, "more values than are read", err);
	unsigned room = g->room;
	if (!grow((void **)&t->nodes, &g->room, t->n, sizeof *t->nodes) ||
	    !grow((void **)&g->values, &room, t->n, sizeof *g->values))
		return no_memory(g, err);
	node.start = byte_of(g, event->start_mark);
	node.end = byte_of(g, event->end_mark);
	node.line = (unsigned)event->start_mark.line + 1;
	node.column = (unsigned)event->start_mark.column;
	node.parent = g->depth ? g->open[g->depth - 1] : 0;
	t->nodes[t->n] = node;
	g->values[t->n] = (struct value){ 0 };
	if (!node.parent) {
		if (!grow((void **)&t->documents, &g->room_documents, t->n_documents, sizeof *t->documents))
			return no_memory(g, err);
		t->documents[t->n_documents++] = t->n++;
		return 0;
	}
	struct yml_node *parent = &t->nodes[node.parent];
	if (parent->kind == YML_MAP && parent->n % 2 == 0 && node.kind != YML_SCALAR)
		return refuse(g, event->start_mark, ERR_MALFORMED, "a key must be plain text", err);
	if (parent->last)
		t->nodes[parent->last].next = t->n;
	else
		parent->first = t->n;
	parent->last = t->n++;
	parent->n++;
	return 0;
}

static int on_scalar(struct growing *g, const yaml_event_t *event, struct err *err)
{
	yaml_scalar_style_t style = event->data.scalar.style;
	struct yml_node node = { .kind = YML_SCALAR,
				 .plain = style == YAML_PLAIN_SCALAR_STYLE && !event->data.scalar.tag,
				 .block = style == YAML_LITERAL_SCALAR_STYLE || style == YAML_FOLDED_SCALAR_STYLE };
	/* A document of nothing but comments. */
	if (!g->depth && node.plain && !event->data.scalar.length && !event->data.scalar.anchor)
		return 0;
	int rc = add_node(g, event, node, err);
	if (rc < 0)
		return rc;
	if (!keep_text(g, event->data.scalar.value, event->data.scalar.length, &g->values[g->tree.n - 1]))
		return no_memory(g, err);
	return event->data.scalar.anchor ? add_anchor(g, event->data.scalar.anchor, g->tree.n - 1, err) : 0;
}

static int on_start(struct growing *g, const yaml_event_t *event, bool map, bool flow, const unsigned char *anchor,
		    struct err *err)
{
	if (g->depth == YML_TREE_DEPTH)
		return refuse(g, event->start_mark, ERR_LIMIT, "nested too deeply", err);
	int rc = add_node(g, event, (struct yml_node){ .kind = map ? YML_MAP : YML_LIST, .flow = flow }, err);
	if (rc < 0)
		return rc;
	g->open[g->depth++] = g->tree.n - 1;
	return anchor ? add_anchor(g, anchor, g->tree.n - 1, err) : 0;
}

static int check_keys(const struct growing *g, const struct yml_node *map, struct err *err);

static int on_end(struct growing *g, const yaml_event_t *event, struct err *err)
{
	struct yml_node *node = &g->tree.nodes[g->open[--g->depth]];
	if (node->flow)
		node->end = byte_of(g, event->end_mark);
	else if (node->last)
		node->end = g->tree.nodes[node->last].end;
	return node->kind == YML_MAP ? check_keys(g, node, err) : 0;
}

static int on_alias(struct growing *g, const yaml_event_t *event, struct err *err)
{
	unsigned target = find_anchor(g, str_of((const char *)event->data.alias.anchor));
	if (!target)
		return refuse(g, event->start_mark, ERR_MALFORMED, "an alias whose anchor stands nowhere before it",
			      err);
	for (unsigned i = 0; i < g->depth; i++)
		if (g->open[i] == target)
			return refuse(g, event->start_mark, ERR_MALFORMED, "an alias within its own anchor", err);
	g->tree.nodes[target].used = true;
	return add_node(g, event, (struct yml_node){ .kind = YML_ALIAS, .target = target }, err);
}

static int on_event(struct growing *g, const yaml_event_t *event, struct err *err)
{
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return on_scalar(g, event, err);
	case YAML_ALIAS_EVENT:
		return on_alias(g, event, err);
	case YAML_SEQUENCE_START_EVENT:
		return on_start(g, event, false, event->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE,
				event->data.sequence_start.anchor, err);
	case YAML_MAPPING_START_EVENT:
		return on_start(g, event, true, event->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE,
				event->data.mapping_start.anchor, err);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return on_end(g, event, err);
	case YAML_DOCUMENT_START_EVENT:
		g->n_anchors = 0; /* an anchor is its document's */
		return 0;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		break;
	}
	return 0;
}

static struct str raw_text(const struct growing *g, unsigned node)
{
	return (struct str){ g->arena.ptr + g->values[node].at, g->values[node].len };
}

struct key {
	struct str text;
	unsigned line;
};

static int compare_keys(const void *left, const void *right)
{
	const struct key *a = left, *b = right;
	size_t len = a->text.len < b->text.len ? a->text.len : b->text.len;
	int order = len ? memcmp(a->text.ptr, b->text.ptr, len) : 0;
	if (order == 0)
		order = (a->text.len > b->text.len) - (a->text.len < b->text.len);
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

/* Twice the same key: parsers differ in which one holds, so nobody knows what was meant. `<<` may stand twice. */
static int check_keys(const struct growing *g, const struct yml_node *map, struct err *err)
{
	if (map->n < 4)
		return 0;
	auto_free struct key *keys = malloc(map->n / 2 * sizeof *keys);
	if (!keys)
		return no_memory(g, err);
	unsigned n = 0;
	for (unsigned at = map->first; at; at = g->tree.nodes[g->tree.nodes[at].next].next)
		keys[n++] = (struct key){ raw_text(g, at), g->tree.nodes[at].line };
	qsort(keys, n, sizeof *keys, compare_keys);
	for (unsigned i = 1; i < n; i++)
		if (str_eq(keys[i - 1].text, keys[i].text) && !str_eq(keys[i].text, STR("<<")))
			return err_set(err, ERR_MALFORMED, "%s:%u: the key '%.*s' stands already on line %u", g->name,
				       keys[i].line, keys[i].text.len > 60 ? 60 : (int)keys[i].text.len,
				       keys[i].text.ptr, keys[i - 1].line);
	return 0;
}

static int run(struct growing *g, yaml_parser_t *parser, struct err *err)
{
	for (bool more = true; more;) {
		yaml_event_t event;
		if (!yaml_parser_parse(parser, &event))
			return parser->error == YAML_MEMORY_ERROR
				       ? no_memory(g, err)
				       : err_set(err, ERR_MALFORMED, "%s:%zu: %s", g->name,
						 parser->problem_mark.line + 1,
						 parser->problem ? parser->problem : "not YAML");
		more = event.type != YAML_STREAM_END_EVENT;
		int rc = on_event(g, &event, err);
		yaml_event_delete(&event);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int check_text(struct str text, const char *name, struct err *err)
{
	unsigned line = 1;
	if (text.len > YML_TREE_TEXT_MAX)
		return err_set(err, ERR_LIMIT, "%s: %zu bytes: at most %d are read", name, text.len, YML_TREE_TEXT_MAX);
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] == '\r' && (i + 1 == text.len || text.ptr[i + 1] != '\n'))
			return err_set(err, ERR_MALFORMED, "%s:%u: a CR that no LF follows: lines end with LF or CR LF",
				       name, line);
		line += text.ptr[i] == '\n';
	}
	return 0;
}

int yml_tree_parse(struct str text, const char *name, struct yml_tree *ret_tree, struct err *err)
{
	int rc = check_text(text, name, err);
	if (rc < 0)
		return rc;
	auto_(growing_done) struct growing g = { .name = name,
						 .tree = { .text = text, .n = 1 },
						 .arena = { .cap = 2 * YML_TREE_TEXT_MAX } };
	yaml_parser_t parser;
	if (!grow((void **)&g.tree.nodes, &g.room, 0, sizeof *g.tree.nodes) || !yaml_parser_initialize(&parser))
		return no_memory(&g, err);
	g.values = calloc(g.room, sizeof *g.values);
	g.tree.nodes[0] = (struct yml_node){ .kind = YML_SCALAR };
	rc = g.values ? index_characters(&g, err) : no_memory(&g, err);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)(text.len ? text.ptr : ""), text.len);
	if (rc == 0)
		rc = run(&g, &parser, err);
	yaml_parser_delete(&parser);
	if (rc < 0)
		return rc;
	for (unsigned i = 1; i < g.tree.n; i++)
		if (g.tree.nodes[i].kind == YML_SCALAR)
			g.tree.nodes[i].value = g.values[i].len ? raw_text(&g, i) : STR("");
	g.tree.arena = TAKE_PTR(g.arena.ptr);
	g.arena = (struct buf){ 0 };
	*ret_tree = g.tree;
	g.tree = (struct yml_tree){ 0 };
	return 0;
}

void yml_tree_done(struct yml_tree *tree)
{
	free(tree->nodes);
	free(tree->documents);
	free(tree->arena);
	*tree = (struct yml_tree){ 0 };
}

unsigned yml_follow(const struct yml_tree *tree, unsigned node)
{
	/* An alias of an alias cannot be written. */
	return tree->nodes[node].kind == YML_ALIAS ? tree->nodes[node].target : node;
}

unsigned yml_get(const struct yml_tree *tree, unsigned map, const char *key, unsigned *ret_key)
{
	map = yml_follow(tree, map);
	if (tree->nodes[map].kind != YML_MAP)
		return 0;
	struct str wanted = str_of(key);
	for (unsigned at = tree->nodes[map].first; at;) {
		unsigned value = tree->nodes[at].next;
		if (str_eq(tree->nodes[at].value, wanted)) {
			if (ret_key)
				*ret_key = at;
			return value;
		}
		at = tree->nodes[value].next;
	}
	return 0;
}

/* The first source of a list of them holds. Merged maps may merge others; one merging itself cannot be written. */
static unsigned merged(const struct yml_tree *tree, unsigned map, const char *key, unsigned depth)
{
	unsigned value = yml_get(tree, map, key, NULL);
	if (value || depth == 0)
		return value;
	unsigned source = yml_get(tree, map, "<<", NULL), list = yml_follow(tree, source);
	if (!source)
		return 0;
	if (tree->nodes[list].kind != YML_LIST)
		return merged(tree, source, key, depth - 1);
	for (unsigned at = tree->nodes[list].first; at && !value; at = tree->nodes[at].next)
		value = merged(tree, at, key, depth - 1);
	return value;
}

unsigned yml_tree_merged(const struct yml_tree *tree, unsigned map, const char *key)
{
	return merged(tree, map, key, 8);
}

struct str yml_text(const struct yml_tree *tree, unsigned node)
{
	const struct yml_node *at = &tree->nodes[yml_follow(tree, node)];
	return node && at->kind == YML_SCALAR ? at->value : STR("");
}

bool yml_is_null(const struct yml_tree *tree, unsigned node)
{
	const struct yml_node *at = &tree->nodes[yml_follow(tree, node)];
	return node == 0 || (at->kind == YML_SCALAR && at->plain &&
			     (at->value.len == 0 || str_eq(at->value, STR("~")) || str_eq(at->value, STR("null"))));
}
