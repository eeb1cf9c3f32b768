/* SPDX-License-Identifier: Apache-2.0 */
/* The one file that knows libyaml: its event API, so that nothing is built that we did not ask for. */
#include "data/yml.h"

#include "base/buf.h"
#include "base/limits.h"

#include <stdio.h>
#include <yaml.h>

/* An open collection. */
struct level {
	bool mapping;
	bool have_key; /* a key was read, its value comes next */
	uint32_t id;   /* of this mapping: keys are unique within one */
	size_t n_items;
	size_t path_len; /* of walk.path for the collection itself */
	unsigned line;   /* of the key that holds the collection */
};

/* Entries with offsets, since the arena moves while it grows. */
struct raw_entry {
	size_t key_at, key_len, value_at, value_len;
	unsigned line;
	bool empty, plain;
};

/* Keys as they stand in one mapping. */
struct raw_key {
	uint32_t mapping;
	size_t at, len;
	unsigned line;
};

struct walk {
	const char *name;
	bool spellings; /* of one key may differ */
	struct level levels[LIMIT_YAML_DEPTH];
	unsigned depth;
	uint32_t n_mappings;
	struct buf path, arena;
	struct raw_entry *entries;
	size_t n_entries, room_entries;
	struct raw_key *keys;
	size_t n_keys, room_keys;
	unsigned key_line;
};

static void walk_done(struct walk *walk)
{
	buf_done(&walk->path);
	buf_done(&walk->arena);
	free(walk->entries);
	free(walk->keys);
}

static int no_memory(struct walk *walk, struct err *err)
{
	if (walk->arena.state == BUF_FULL)
		return err_set(err, ERR_LIMIT, "%s: its keys and values pass %d bytes when written out", walk->name,
			       YML_ARENA_MAX);
	return err_set(err, ERR_NOMEM, "%s: no memory", walk->name);
}

static unsigned line_of(yaml_mark_t mark)
{
	return (unsigned)mark.line + 1;
}

static bool grow(void **items, size_t *room, size_t n, size_t size)
{
	if (n < *room)
		return true;
	size_t more = *room ? *room * 2 : 32;
	void *moved = realloc(*items, more * size);
	if (!moved)
		return false;
	*items = moved;
	*room = more;
	return true;
}

static int add_entry(struct walk *walk, struct str value, bool empty, bool plain, unsigned line, struct err *err)
{
	if (!grow((void **)&walk->entries, &walk->room_entries, walk->n_entries, sizeof *walk->entries))
		return no_memory(walk, err);
	struct raw_entry *entry = &walk->entries[walk->n_entries];
	*entry = (struct raw_entry){
		.line = line, .empty = empty, .plain = plain, .key_at = walk->arena.len, .key_len = walk->path.len
	};
	(void)buf_add(&walk->arena, buf_str(&walk->path));
	entry->value_at = walk->arena.len;
	entry->value_len = value.len;
	if (!buf_add(&walk->arena, value))
		return no_memory(walk, err);
	walk->n_entries++;
	return 0;
}

static void cut_path(struct walk *walk, size_t len)
{
	walk->path.len = len;
	if (walk->path.ptr)
		walk->path.ptr[len] = '\0';
}

/* A key of the innermost mapping: onto the path. */
static int take_key(struct walk *walk, struct str key, unsigned line, struct err *err)
{
	struct level *level = &walk->levels[walk->depth - 1];
	if (key.len == 0)
		return err_set(err, ERR_MALFORMED, "%s:%u: an empty key", walk->name, line);
	if (!grow((void **)&walk->keys, &walk->room_keys, walk->n_keys, sizeof *walk->keys))
		return no_memory(walk, err);
	walk->keys[walk->n_keys] = (struct raw_key){ level->id, walk->arena.len, key.len, line };
	if (!buf_add(&walk->arena, key))
		return no_memory(walk, err);
	walk->n_keys++;
	if (walk->path.len)
		(void)buf_putc(&walk->path, '.');
	(void)buf_add(&walk->path, key);
	if (walk->path.state == BUF_NOMEM)
		return no_memory(walk, err);
	if (buf_failed(&walk->path))
		return err_set(err, ERR_LIMIT, "%s:%u: a key longer than %d bytes", walk->name, line, YML_KEY_MAX);
	level->have_key = true;
	level->n_items++;
	walk->key_line = line;
	return 0;
}

/* Before a value inside a sequence: its index onto the path. */
static int take_index(struct walk *walk, unsigned line, struct err *err)
{
	struct level *level = &walk->levels[walk->depth - 1];
	if (!buf_printf(&walk->path, "[%zu]", level->n_items))
		return walk->path.state == BUF_NOMEM ? no_memory(walk, err)
						     : err_set(err, ERR_LIMIT, "%s:%u: a key longer than %d bytes",
							       walk->name, line, YML_KEY_MAX);
	level->n_items++;
	walk->key_line = line;
	return 0;
}

/* After a value: the path is that of the collection again. */
static void end_value(struct walk *walk)
{
	if (walk->depth == 0)
		return;
	struct level *level = &walk->levels[walk->depth - 1];
	level->have_key = false;
	cut_path(walk, level->path_len);
}

static int on_scalar(struct walk *walk, const yaml_event_t *event, struct err *err)
{
	unsigned line = line_of(event->start_mark);
	struct str text = { (const char *)event->data.scalar.value, event->data.scalar.length };
	if (walk->depth == 0) {
		/* A document of nothing, or of comments only, is one empty scalar. */
		if (text.len == 0 && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
			return 0;
		return err_set(err, ERR_MALFORMED, "%s:%u: the top level must hold 'key: value' lines", walk->name,
			       line);
	}
	if (text.len && memchr(text.ptr, '\0', text.len))
		return err_set(err, ERR_MALFORMED, "%s:%u: a NUL in a value", walk->name, line);
	struct level *level = &walk->levels[walk->depth - 1];
	if (level->mapping && !level->have_key)
		return take_key(walk, text, line, err);
	int status = level->mapping ? 0 : take_index(walk, line, err);
	bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	if (status == 0)
		status = add_entry(walk, text, plain && text.len == 0, plain, walk->key_line, err);
	end_value(walk);
	return status;
}

static int on_start(struct walk *walk, const yaml_event_t *event, bool mapping, struct err *err)
{
	unsigned line = line_of(event->start_mark);
	if (walk->depth == 0 && !mapping)
		return err_set(err, ERR_MALFORMED, "%s:%u: the top level must hold 'key: value' lines, not a list",
			       walk->name, line);
	if (walk->depth == LIMIT_YAML_DEPTH)
		return err_set(err, ERR_LIMIT, "%s:%u: nested deeper than %d levels", walk->name, line,
			       LIMIT_YAML_DEPTH);
	if (walk->depth) {
		struct level *outer = &walk->levels[walk->depth - 1];
		if (outer->mapping && !outer->have_key)
			return err_set(err, ERR_MALFORMED, "%s:%u: a key must be plain text, not a %s", walk->name,
				       line, mapping ? "mapping" : "list");
		int status = outer->mapping ? 0 : take_index(walk, line, err);
		if (status < 0)
			return status;
	}
	walk->levels[walk->depth++] = (struct level){
		.mapping = mapping,
		.id = walk->n_mappings++,
		.path_len = walk->path.len,
		.line = walk->key_line,
	};
	return 0;
}

static int on_end(struct walk *walk, struct err *err)
{
	struct level *level = &walk->levels[walk->depth - 1];
	int status = 0;
	if (level->n_items == 0 && walk->depth > 1)
		status = add_entry(walk, STR(""), true, false, level->line, err);
	walk->depth--;
	end_value(walk);
	return status;
}

static int refuse(struct walk *walk, const yaml_event_t *event, const char *what, struct err *err)
{
	return err_set(err, ERR_MALFORMED, "%s:%u: %s is not accepted: write the value out", walk->name,
		       line_of(event->start_mark), what);
}

/* Anchors, aliases and tags, wherever they stand. */
static int check_decoration(struct walk *walk, const yaml_event_t *event, struct err *err)
{
	switch (event->type) {
	case YAML_ALIAS_EVENT:
		return refuse(walk, event, "an alias (*)", err);
	case YAML_SCALAR_EVENT:
		if (event->data.scalar.anchor)
			return refuse(walk, event, "an anchor (&)", err);
		return event->data.scalar.tag ? refuse(walk, event, "a tag (!)", err) : 0;
	case YAML_SEQUENCE_START_EVENT:
		if (event->data.sequence_start.anchor)
			return refuse(walk, event, "an anchor (&)", err);
		return event->data.sequence_start.tag ? refuse(walk, event, "a tag (!)", err) : 0;
	case YAML_MAPPING_START_EVENT:
		if (event->data.mapping_start.anchor)
			return refuse(walk, event, "an anchor (&)", err);
		return event->data.mapping_start.tag ? refuse(walk, event, "a tag (!)", err) : 0;
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_START_EVENT:
	case YAML_DOCUMENT_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		break;
	}
	return 0;
}

static int on_event(struct walk *walk, const yaml_event_t *event, unsigned *n_documents, struct err *err)
{
	int status = check_decoration(walk, event, err);
	if (status < 0)
		return status;
	switch (event->type) {
	case YAML_DOCUMENT_START_EVENT:
		if ((*n_documents)++)
			return err_set(err, ERR_MALFORMED, "%s:%u: a second document ('---')", walk->name,
				       line_of(event->start_mark));
		break;
	case YAML_SCALAR_EVENT:
		return on_scalar(walk, event, err);
	case YAML_SEQUENCE_START_EVENT:
		return on_start(walk, event, false, err);
	case YAML_MAPPING_START_EVENT:
		return on_start(walk, event, true, err);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		return on_end(walk, err);
	case YAML_NO_EVENT:
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
	case YAML_ALIAS_EVENT:
		break;
	}
	return 0;
}

/* Does this line (from 1) of the text have a tab in its indentation? */
static bool tab_indents(struct str text, size_t line)
{
	struct str one = { 0 };
	while (line && str_line(&text, &one))
		line--;
	for (size_t i = 0; line == 0 && i < one.len && (one.ptr[i] == ' ' || one.ptr[i] == '\t'); i++)
		if (one.ptr[i] == '\t')
			return true;
	return false;
}

static int parser_error(const yaml_parser_t *parser, struct str text, const char *name, struct err *err)
{
	if (parser->error == YAML_MEMORY_ERROR)
		return err_set(err, ERR_NOMEM, "%s: no memory", name);
	if (parser->error == YAML_READER_ERROR) {
		struct str before = { text.ptr, parser->problem_offset < text.len ? parser->problem_offset : text.len };
		unsigned line = 1;
		for (size_t i = 0; i < before.len; i++)
			line += before.ptr[i] == '\n';
		return err_set(err, ERR_MALFORMED, "%s:%u: %s", name, line,
			       parser->problem ? parser->problem : "not text");
	}
	unsigned line = line_of(parser->problem_mark);
	if (tab_indents(text, line))
		return err_set(err, ERR_MALFORMED, "%s:%u: a tab in the indentation: YAML takes spaces only", name,
			       line);
	return err_set(err, ERR_MALFORMED, "%s:%u: %s", name, line, parser->problem ? parser->problem : "not YAML");
}

static int run_parser(yaml_parser_t *parser, struct str text, struct walk *walk, struct err *err)
{
	unsigned n_documents = 0;
	for (bool more = true; more;) {
		yaml_event_t event;
		if (!yaml_parser_parse(parser, &event))
			return parser_error(parser, text, walk->name, err);
		more = event.type != YAML_STREAM_END_EVENT;
		int status = on_event(walk, &event, &n_documents, err);
		yaml_event_delete(&event);
		if (status < 0)
			return status;
	}
	return 0;
}

static int compare_text(struct str a, struct str b)
{
	size_t len = a.len < b.len ? a.len : b.len;
	int order = len ? memcmp(a.ptr, b.ptr, len) : 0;
	return order ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_keys(const void *left, const void *right, void *arena)
{
	const struct raw_key *a = left, *b = right;
	if (a->mapping != b->mapping)
		return a->mapping < b->mapping ? -1 : 1;
	int order = compare_text((struct str){ (const char *)arena + a->at, a->len },
				 (struct str){ (const char *)arena + b->at, b->len });
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

static int compare_entries(const void *left, const void *right)
{
	const struct yml_entry *a = left, *b = right;
	int order = compare_text(a->key, b->key);
	return order ? order : (a->line > b->line) - (a->line < b->line);
}

static int said_twice(const char *name, struct str key, unsigned line, unsigned first, struct err *err)
{
	char shown[80];
	str_copy(shown, sizeof shown, key);
	return err_set(err, ERR_MALFORMED, "%s:%u: the key '%s' stands already on line %u", name, line, shown, first);
}

static int check_duplicates(struct walk *walk, const struct yml *yml, struct err *err)
{
	if (walk->n_keys)
		qsort_r(walk->keys, walk->n_keys, sizeof *walk->keys, compare_keys, yml->arena);
	for (size_t i = 1; i < walk->n_keys; i++) {
		struct raw_key *a = &walk->keys[i - 1], *b = &walk->keys[i];
		struct str key = { yml->arena + b->at, b->len };
		if (a->mapping == b->mapping && str_eq((struct str){ yml->arena + a->at, a->len }, key))
			return said_twice(walk->name, key, b->line, a->line, err);
	}
	if (yml->n == 0 || walk->spellings)
		return 0;
	auto_free struct yml_entry *sorted = malloc(yml->n * sizeof *sorted);
	if (!sorted)
		return err_set(err, ERR_NOMEM, "%s: no memory", walk->name);
	memcpy(sorted, yml->items, yml->n * sizeof *sorted);
	qsort(sorted, yml->n, sizeof *sorted, compare_entries);
	for (size_t i = 1; i < yml->n; i++)
		if (str_eq(sorted[i - 1].key, sorted[i].key))
			return said_twice(walk->name, sorted[i].key, sorted[i].line, sorted[i - 1].line, err);
	return 0;
}

static int finish(struct walk *walk, struct yml *ret_yml, struct err *err)
{
	auto_yml struct yml yml = { 0 };
	yml.items = malloc((walk->n_entries ? walk->n_entries : 1) * sizeof *yml.items);
	if (!yml.items)
		return no_memory(walk, err);
	yml.arena = TAKE_PTR(walk->arena.ptr);
	walk->arena = (struct buf){ 0 };
	for (size_t i = 0; i < walk->n_entries; i++) {
		const struct raw_entry *raw = &walk->entries[i];
		yml.items[yml.n++] = (struct yml_entry){
			.key = { yml.arena + raw->key_at, raw->key_len },
			.value = { yml.arena + raw->value_at, raw->value_len },
			.line = raw->line,
			.empty = raw->empty,
			.plain = raw->plain,
		};
	}
	int status = check_duplicates(walk, &yml, err);
	if (status < 0)
		return status;
	*ret_yml = yml;
	yml = (struct yml){ 0 };
	return 0;
}

static int parse(struct str text, const char *name, bool spellings, struct yml *ret_yml, struct err *err)
{
	if (text.len > LIMIT_CONFIG_FILE)
		return err_set(err, ERR_LIMIT, "%s: %zu bytes: at most %d are read", name, text.len, LIMIT_CONFIG_FILE);
	auto_(walk_done) struct walk walk = {
		.name = name,
		.spellings = spellings,
		.path = { .cap = YML_KEY_MAX },
		.arena = { .cap = YML_ARENA_MAX },
		.key_line = 1,
	};
	yaml_parser_t parser;
	if (!yaml_parser_initialize(&parser))
		return err_set(err, ERR_NOMEM, "%s: no memory", name);
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&parser, (const unsigned char *)(text.len ? text.ptr : ""), text.len);
	int status = run_parser(&parser, text, &walk, err);
	yaml_parser_delete(&parser);
	return status < 0 ? status : finish(&walk, ret_yml, err);
}

int yml_parse(struct str text, const char *name, struct yml *ret_yml, struct err *err)
{
	return parse(text, name, false, ret_yml, err);
}

int yml_parse_spellings(struct str text, const char *name, struct yml *ret_yml, struct err *err)
{
	return parse(text, name, true, ret_yml, err);
}

void yml_done(struct yml *yml)
{
	free(yml->items);
	free(yml->arena);
	*yml = (struct yml){ 0 };
}
