/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/flinkconf.h"

#include "base/limits.h"
#include "data/yml.h"

#include <stdio.h>

/* What a value must look like to be kept. */
enum shape {
	SHAPE_NUMBER, /* sizes, durations, ports and their ranges, ratios: a digit first, few letters */
	SHAPE_SWITCH, /* true or false */
	SHAPE_WORD,   /* names of classes, backends, reporters: no path, no address, no blank */
};

/*
 * Keys whose values may be kept. A name that ends in '.' stands for all keys below it, '*' for one part; the first
 * that fits decides. Those that say how memory is split, what RocksDB may take, and where metrics are served: all
 * the reports speak of.
 */
static const struct {
	const char *key;
	enum shape shape;
} public_keys[] = {
	{ "taskmanager.memory.managed.consumer-weights", SHAPE_WORD },
	{ "taskmanager.memory.managed.consumer-weights.", SHAPE_NUMBER },
	{ "taskmanager.memory.", SHAPE_NUMBER },
	{ "taskmanager.numberOfTaskSlots", SHAPE_NUMBER },
	{ "taskmanager.cpu.cores", SHAPE_NUMBER },
	{ "taskmanager.heap.size", SHAPE_NUMBER },
	{ "taskmanager.heap.mb", SHAPE_NUMBER },
	{ "taskmanager.network.memory.", SHAPE_NUMBER },
	{ "taskmanager.jvm-exit-on-oom", SHAPE_SWITCH },
	{ "taskmanager.data.port", SHAPE_NUMBER },
	{ "taskmanager.resource-id", SHAPE_WORD },
	{ "jobmanager.memory.enable-jvm-direct-memory-limit", SHAPE_SWITCH },
	{ "jobmanager.memory.", SHAPE_NUMBER },
	{ "jobmanager.heap.size", SHAPE_NUMBER },
	{ "jobmanager.heap.mb", SHAPE_NUMBER },
	{ "kubernetes.taskmanager.memory.limit-factor", SHAPE_NUMBER },
	{ "kubernetes.jobmanager.memory.limit-factor", SHAPE_NUMBER },
	{ "state.backend", SHAPE_WORD },
	{ "state.backend.type", SHAPE_WORD },
	{ "state.backend.incremental", SHAPE_SWITCH },
	{ "state.backend.local-recovery", SHAPE_SWITCH },
	{ "state.backend.rocksdb.", SHAPE_WORD },
	{ "state.backend.forst.", SHAPE_WORD },
	{ "execution.runtime-mode", SHAPE_WORD },
	{ "execution.checkpointing.incremental", SHAPE_SWITCH },
	{ "execution.checkpointing.interval", SHAPE_NUMBER },
	{ "execution.checkpointing.local-backup.enabled", SHAPE_SWITCH },
	{ "execution.checkpointing.unaligned", SHAPE_SWITCH },
	{ "execution.checkpointing.unaligned.enabled", SHAPE_SWITCH },
	{ "metrics.reporters", SHAPE_WORD },
	{ "metrics.reporter.*.port", SHAPE_NUMBER },
	{ "metrics.reporter.*.class", SHAPE_WORD },
	{ "metrics.reporter.*.factory.class", SHAPE_WORD },
	{ "metrics.reporter.*.filterLabelValueCharacters", SHAPE_SWITCH },
	{ "metrics.fetcher.update-interval", SHAPE_NUMBER },
	{ "rest.port", SHAPE_NUMBER },
	{ "rest.bind-port", SHAPE_NUMBER },
	{ "parallelism.default", SHAPE_NUMBER },
};

/* Flink 2.0's new names (release notes), and the older names of its network and managed keys. */
static const struct {
	const char *old, *current;
} renamed_keys[] = {
	{ "state.backend", "state.backend.type" },
	{ "state.backend.incremental", "execution.checkpointing.incremental" },
	{ "state.checkpoints.dir", "execution.checkpointing.dir" },
	{ "state.savepoints.dir", "execution.checkpointing.savepoint-dir" },
	{ "state.checkpoints.num-retained", "execution.checkpointing.num-retained" },
	{ "state.checkpoint-storage", "execution.checkpointing.storage" },
	{ "state.backend.local-recovery", "execution.checkpointing.local-backup.enabled" },
	{ "taskmanager.state.local.root-dirs", "execution.checkpointing.local-backup.dirs" },
	{ "state.storage.fs.memory-threshold", "execution.checkpointing.data-inline-threshold" },
	{ "state.storage.fs.write-buffer-size", "execution.checkpointing.write-buffer-size" },
	{ "execution.checkpointing.unaligned", "execution.checkpointing.unaligned.enabled" },
	{ "execution.checkpointing.alignment-timeout", "execution.checkpointing.aligned-checkpoint-timeout" },
	{ "taskmanager.memory.size", "taskmanager.memory.managed.size" },
	{ "taskmanager.network.memory.min", "taskmanager.memory.network.min" },
	{ "taskmanager.network.memory.max", "taskmanager.memory.network.max" },
	{ "taskmanager.network.memory.fraction", "taskmanager.memory.network.fraction" },
};

enum { PUBLIC_VALUE_MAX = 128, PUBLIC_KEY_MAX = 200, NUMBER_LETTERS_MAX = 10 /* "kibibytes" */ };

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Every byte is a letter, a digit or one of `others`. */
static bool is_made_of(struct str text, const char *others)
{
	for (size_t i = 0; i < text.len; i++)
		if (!is_alnum(text.ptr[i]) && (text.ptr[i] == '\0' || !strchr(others, text.ptr[i])))
			return false;
	return true;
}

static bool key_matches(struct str pattern, struct str key)
{
	if (pattern.ptr[pattern.len - 1] == '.')
		return str_starts(key, pattern) && key.len > pattern.len;
	size_t star = str_index(pattern, '*');
	if (star == pattern.len)
		return str_eq(pattern, key);
	struct str head = { pattern.ptr, star }, tail = str_skip(pattern, star + 1);
	if (!str_starts(key, head) || !str_ends(key, tail) || key.len <= head.len + tail.len)
		return false;
	struct str middle = { key.ptr + head.len, key.len - head.len - tail.len };
	return str_index(middle, '.') == middle.len;
}

static bool has_shape(struct str value, enum shape shape)
{
	size_t n_letters = 0;
	switch (shape) {
	case SHAPE_SWITCH:
		return str_eq(value, STR("true")) || str_eq(value, STR("false"));
	case SHAPE_WORD:
		return is_made_of(value, "._-+:,;$ ");
	case SHAPE_NUMBER:
		break;
	}
	for (size_t i = 0; i < value.len; i++)
		n_letters += is_alnum(value.ptr[i]) && !(value.ptr[i] >= '0' && value.ptr[i] <= '9');
	return value.len && is_made_of(value, ".-, ") && value.ptr[0] >= '0' && value.ptr[0] <= '9' &&
	       n_letters <= NUMBER_LETTERS_MAX;
}

bool flinkconf_is_public(struct str key, struct str value)
{
	if (str_eq(value, STR(FLINKCONF_REDACTED)))
		return true;
	for (size_t i = 0; i < sizeof public_keys / sizeof *public_keys; i++)
		if (key_matches(str_of(public_keys[i].key), key))
			return value.len <= PUBLIC_VALUE_MAX && has_shape(value, public_keys[i].shape);
	return false;
}

struct str flinkconf_current_key(struct str key)
{
	for (size_t i = 0; i < sizeof renamed_keys / sizeof *renamed_keys; i++)
		if (str_eq(key, str_of(renamed_keys[i].old)))
			return str_of(renamed_keys[i].current);
	return key;
}

enum flinkconf_format flinkconf_format_of(struct str path)
{
	struct str part = path, rest = path;
	while (str_split(&rest, '/', &part))
		;
	return str_eq(part, STR("flink-conf.yaml")) ? FLINKCONF_LEGACY : FLINKCONF_YAML;
}

/*
 * One line as Flink's legacy parser sees it (GlobalConfiguration.loadLegacyYAMLResource): the text before the
 * first '#', split at the first ": ". 1: a pair; 0: nothing there; -1: a line Flink warns of.
 */
static int legacy_line(struct str line, struct str *ret_key, struct str *ret_value)
{
	struct str text = { line.ptr, str_index(line, '#') };
	if (str_trim(text).len == 0)
		return 0;
	size_t at = str_find(text, STR(": "));
	if (at == text.len)
		return -1;
	*ret_key = str_trim((struct str){ text.ptr, at });
	*ret_value = str_trim(str_skip(text, at + 2));
	if (ret_key->len == 0 || ret_value->len == 0 || memchr(ret_value->ptr, '\0', ret_value->len))
		return -1;
	return 1;
}

/* `entry` has what is particular to its format. */
static int add_entry(struct flinkconf *conf, size_t *room, struct flinkconf_entry entry, struct err *err)
{
	if (conf->n == *room) {
		size_t more = *room ? *room * 2 : 64;
		struct flinkconf_entry *items = realloc(conf->items, more * sizeof *items);
		if (!items)
			return err_set(err, ERR_NOMEM, "%s: no memory", conf->name);
		conf->items = items;
		*room = more;
	}
	entry.key = flinkconf_current_key(entry.said);
	entry.value = str_trim(entry.raw);
	entry.redacted = str_eq(entry.value, STR(FLINKCONF_REDACTED));
	conf->items[conf->n++] = entry;
	return 0;
}

static int parse_legacy(struct str text, struct flinkconf *conf, struct err *err)
{
	if (text.len > LIMIT_CONFIG_FILE)
		return err_set(err, ERR_LIMIT, "%s: %zu bytes: at most %d are read", conf->name, text.len,
			       LIMIT_CONFIG_FILE);
	conf->arena = malloc(text.len ? text.len : 1);
	if (!conf->arena)
		return err_set(err, ERR_NOMEM, "%s: no memory", conf->name);
	if (text.len)
		memcpy(conf->arena, text.ptr, text.len);
	struct str rest = { conf->arena, text.len }, line, key, value;
	size_t room = 0;
	for (unsigned number = 1; str_line(&rest, &line); number++) {
		int found = legacy_line(line, &key, &value);
		conf->n_bad_lines += found < 0;
		const struct flinkconf_entry entry = { .said = key, .raw = value, .line = number };
		int status = found > 0 ? add_entry(conf, &room, entry, err) : 0;
		if (status < 0)
			return status;
	}
	return 0;
}

static int parse_yaml(struct str text, struct flinkconf *conf, struct err *err)
{
	auto_yml struct yml yml = { 0 };
	int status = yml_parse_spellings(text, conf->name, &yml, err);
	size_t room = 0;
	for (size_t i = 0; status == 0 && i < yml.n; i++) {
		const struct yml_entry *item = &yml.items[i];
		const struct flinkconf_entry entry = {
			.said = item->key,
			.raw = item->value,
			.line = item->line,
			.plain = item->plain,
			.empty = item->empty,
		};
		status = add_entry(conf, &room, entry, err);
	}
	conf->arena = TAKE_PTR(yml.arena);
	return status;
}

int flinkconf_parse(struct str text, enum flinkconf_format format, const char *name, struct flinkconf *ret_conf,
		    struct err *err)
{
	auto_flinkconf struct flinkconf conf = { 0 };
	str_copy(conf.name, sizeof conf.name, str_of(name));
	int status = format == FLINKCONF_LEGACY ? parse_legacy(text, &conf, err) : parse_yaml(text, &conf, err);
	if (status < 0)
		return status;
	*ret_conf = conf;
	conf = (struct flinkconf){ 0 };
	return 0;
}

void flinkconf_done(struct flinkconf *conf)
{
	free(conf->items);
	free(conf->arena);
	*conf = (struct flinkconf){ 0 };
}

/* In one source: the last under its current name, else the last under an older one. */
static const struct flinkconf_entry *find_here(const struct flinkconf *conf, struct str key)
{
	const struct flinkconf_entry *older = NULL;
	for (size_t i = conf->n; i-- > 0;) {
		const struct flinkconf_entry *entry = &conf->items[i];
		if (entry->empty || !str_eq(entry->key, key))
			continue;
		if (str_eq(entry->said, key))
			return entry;
		if (!older)
			older = entry;
	}
	return older;
}

const struct flinkconf_entry *flinkconf_find(const struct flinkconf *conf, const char *key, char ret_where[64])
{
	const struct flinkconf_entry *entry = NULL;
	for (; conf; conf = conf->below) {
		entry = find_here(conf, str_of(key));
		if (entry)
			break;
	}
	if (entry && ret_where && entry->line)
		(void)snprintf(ret_where, 64, "%.48s:%u", conf->name, entry->line);
	else if (entry && ret_where)
		str_copy(ret_where, 64, str_of(conf->name));
	return entry;
}

/* A key goes out only if it looks like one: a secret that was pasted where a key belongs does not. */
static bool key_is_shown(struct str key)
{
	return key.len <= PUBLIC_KEY_MAX && is_made_of(key, "._-[]") && str_index(key, '.') < key.len;
}

static struct str shown_value(struct str key, struct str value)
{
	return flinkconf_is_public(key, value) ? value : STR(FLINKCONF_REDACTED);
}

bool flinkconf_shown(struct str key, struct str value, struct str *ret_value)
{
	if (!key_is_shown(key))
		return false;
	*ret_value = shown_value(key, value);
	return true;
}

static void redact_legacy(struct str text, struct buf *out)
{
	struct str line, key, value;
	while (str_line(&text, &line)) {
		if (legacy_line(line, &key, &value) > 0 && key_is_shown(key)) {
			(void)buf_add(out, key);
			(void)buf_puts(out, ": ");
			(void)buf_add(out, shown_value(key, value));
		}
		(void)buf_putc(out, '\n');
	}
}

static void quote(struct buf *out, struct str text)
{
	/* Neither keys nor values that are shown hold quotes or backslashes. */
	(void)buf_putc(out, '"');
	(void)buf_add(out, text);
	(void)buf_putc(out, '"');
}

static bool is_shown(const struct yml_entry *entry)
{
	return key_is_shown(entry->key) && !entry->empty;
}

/* By key, then as they stand in the file. */
static int compare_keys(const void *left, const void *right)
{
	const struct yml_entry *const *a = left, *const *b = right;
	size_t least = (*a)->key.len < (*b)->key.len ? (*a)->key.len : (*b)->key.len;
	int order = memcmp((*a)->key.ptr, (*b)->key.ptr, least);
	if (order == 0)
		order = ((*a)->key.len > (*b)->key.len) - ((*a)->key.len < (*b)->key.len);
	return order ? order : (*a > *b) - (*a < *b);
}

/*
 * Only what is shown stays, and of a key that has two spellings ("a: {b: 1}" and "a.b: 2") the one that Flink takes, which
 * is the last: as flat keys they would be one key said twice, which no YAML may have.
 */
static int keep_shown(struct yml *yml)
{
	size_t n = 0;
	for (size_t i = 0; i < yml->n; i++)
		if (is_shown(&yml->items[i]))
			yml->items[n++] = yml->items[i];
	yml->n = n;
	auto_free const struct yml_entry **sorted = malloc((n ? n : 1) * sizeof(*sorted));
	if (!sorted)
		return -1;
	for (size_t i = 0; i < n; i++)
		sorted[i] = &yml->items[i];
	qsort(sorted, n, sizeof(*sorted), compare_keys);
	for (size_t i = 1; i < n; i++)
		if (str_eq(sorted[i - 1]->key, sorted[i]->key))
			yml->items[sorted[i - 1] - yml->items].empty = true;
	yml->n = 0;
	for (size_t i = 0; i < n; i++)
		if (!yml->items[i].empty)
			yml->items[yml->n++] = yml->items[i];
	return 0;
}

/*
 * Every entry on its own line again. Two entries can only share a line in flow style, so if any two do, all is written
 * as one flow mapping.
 */
static void redact_yaml(const struct yml *yml, struct buf *out)
{
	bool flow = false;
	unsigned line = 1, last = 0;
	for (size_t i = 0; i < yml->n; i++) {
		flow = flow || yml->items[i].line <= last;
		last = yml->items[i].line;
	}
	if (flow)
		(void)buf_putc(out, '{');
	for (size_t i = 0; i < yml->n; i++) {
		const struct yml_entry *entry = &yml->items[i];
		if (flow && i > 0)
			(void)buf_putc(out, ',');
		for (; line < entry->line; line++)
			(void)buf_putc(out, '\n');
		if (is_made_of(entry->key, "._-"))
			(void)buf_add(out, entry->key);
		else
			quote(out, entry->key);
		(void)buf_puts(out, ": ");
		quote(out, shown_value(entry->key, str_trim(entry->value)));
	}
	if (flow)
		(void)buf_putc(out, '}');
	(void)buf_putc(out, '\n');
}

int flinkconf_redact(struct str text, enum flinkconf_format format, const char *name, struct buf *ret_text,
		     struct err *err)
{
	size_t before = ret_text->len;
	if (text.len > LIMIT_CONFIG_FILE)
		return err_set(err, ERR_LIMIT, "%s: %zu bytes: at most %d are read", name, text.len, LIMIT_CONFIG_FILE);
	if (format == FLINKCONF_LEGACY) {
		redact_legacy(text, ret_text);
	} else {
		auto_yml struct yml yml = { 0 };
		int status = yml_parse_spellings(text, name, &yml, err);
		if (status < 0)
			return status;
		if (keep_shown(&yml) < 0)
			return err_set(err, ERR_NOMEM, "%s: no memory", name);
		redact_yaml(&yml, ret_text);
	}
	if (!buf_failed(ret_text))
		return 0;
	int status = ret_text->state == BUF_NOMEM
			     ? err_set(err, ERR_NOMEM, "%s: no memory", name)
			     : err_set(err, ERR_LIMIT, "%s: larger than its cap when redacted", name);
	if (ret_text->ptr)
		ret_text->ptr[before] = '\0';
	ret_text->len = before;
	return status;
}
