/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/flinkconf.h"

#include "base/limits.h"
#include "data/yml.h"

#include <stdio.h>

/*
 * Keys whose values may be kept. A name that ends in '.' stands for all keys below it; '*' for one part. Those that
 * say how memory is split, what RocksDB may take, and where metrics are served: all the reports speak of.
 */
static const char *const public_keys[] = {
	"taskmanager.memory.",
	"taskmanager.numberOfTaskSlots",
	"taskmanager.cpu.cores",
	"taskmanager.heap.size",
	"taskmanager.heap.mb",
	"taskmanager.network.memory.",
	"taskmanager.jvm-exit-on-oom",
	"taskmanager.data.port",
	"taskmanager.resource-id",
	"jobmanager.memory.",
	"jobmanager.heap.size",
	"jobmanager.heap.mb",
	"kubernetes.taskmanager.memory.limit-factor",
	"kubernetes.jobmanager.memory.limit-factor",
	"state.backend",
	"state.backend.type",
	"state.backend.incremental",
	"state.backend.local-recovery",
	"state.backend.rocksdb.",
	"state.backend.forst.",
	"state.backend.latency-track.",
	"execution.checkpointing.incremental",
	"execution.checkpointing.interval",
	"execution.checkpointing.local-backup.enabled",
	"execution.checkpointing.unaligned",
	"execution.checkpointing.unaligned.enabled",
	"metrics.reporters",
	"metrics.reporter.*.port",
	"metrics.reporter.*.class",
	"metrics.reporter.*.factory.class",
	"metrics.reporter.*.filterLabelValueCharacters",
	"metrics.fetcher.update-interval",
	"rest.port",
	"rest.bind-port",
	"parallelism.default",
};

/* Flink 2.0's new names (facts A.7), and the older network and managed keys of facts A.1. */
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

enum { PUBLIC_VALUE_MAX = 128, PUBLIC_KEY_MAX = 200 };

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

bool flinkconf_is_public(struct str key, struct str value)
{
	if (value.len > PUBLIC_VALUE_MAX || !is_made_of(value, "._-+:,;$ "))
		return str_eq(value, STR(FLINKCONF_REDACTED));
	for (size_t i = 0; i < sizeof public_keys / sizeof *public_keys; i++)
		if (key_matches(str_of(public_keys[i]), key))
			return true;
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
 * One line as Flink's legacy parser sees it (GlobalConfiguration.loadLegacyYAMLResource): the text before the first '#', split at the first ": ".
 * 1: a pair; 0: nothing there; -1: a line Flink warns of.
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

static int add_entry(struct flinkconf *conf, size_t *room, struct str key, struct str value, unsigned line, struct err *err)
{
	if (conf->n == *room) {
		size_t more = *room ? *room * 2 : 64;
		struct flinkconf_entry *items = realloc(conf->items, more * sizeof *items);
		if (!items)
			return err_set(err, ERR_NOMEM, "%s: no memory", conf->name);
		conf->items = items;
		*room = more;
	}
	conf->items[conf->n++] = (struct flinkconf_entry){
		.key = flinkconf_current_key(key),
		.value = value,
		.line = line,
		.redacted = str_eq(value, STR(FLINKCONF_REDACTED)),
	};
	return 0;
}

static int parse_legacy(struct str text, struct flinkconf *conf, struct err *err)
{
	if (text.len > LIMIT_CONFIG_FILE)
		return err_set(err, ERR_LIMIT, "%s: %zu bytes: at most %d are read", conf->name, text.len, LIMIT_CONFIG_FILE);
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
		int status = found > 0 ? add_entry(conf, &room, key, value, number, err) : 0;
		if (status < 0)
			return status;
	}
	return 0;
}

static int parse_yaml(struct str text, struct flinkconf *conf, struct err *err)
{
	auto_yml struct yml yml = { 0 };
	int status = yml_parse(text, conf->name, &yml, err);
	size_t room = 0;
	for (size_t i = 0; status == 0 && i < yml.n; i++)
		if (!yml.items[i].empty)
			status = add_entry(conf, &room, yml.items[i].key, str_trim(yml.items[i].value), yml.items[i].line, err);
	conf->arena = TAKE_PTR(yml.arena);
	return status;
}

int flinkconf_parse(struct str text, enum flinkconf_format format, const char *name, struct flinkconf *ret_conf, struct err *err)
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

const struct flinkconf_entry *flinkconf_find(const struct flinkconf *conf, const char *key)
{
	for (size_t i = conf ? conf->n : 0; i-- > 0;)
		if (str_eq(conf->items[i].key, str_of(key)))
			return &conf->items[i];
	return NULL;
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

/*
 * Every shown entry on its own line again. Two entries can only share a line in flow style, so if any two do, all is
 * written as one flow mapping.
 */
static void redact_yaml(const struct yml *yml, struct buf *out)
{
	bool flow = false, any = false;
	unsigned line = 1;
	for (size_t i = 1; i < yml->n; i++)
		flow = flow || yml->items[i].line <= yml->items[i - 1].line;
	if (flow)
		(void)buf_putc(out, '{');
	for (size_t i = 0; i < yml->n; i++) {
		const struct yml_entry *entry = &yml->items[i];
		if (!key_is_shown(entry->key) || entry->empty)
			continue;
		if (flow && any)
			(void)buf_putc(out, ',');
		for (; line < entry->line; line++)
			(void)buf_putc(out, '\n');
		if (is_made_of(entry->key, "._-"))
			(void)buf_add(out, entry->key);
		else
			quote(out, entry->key);
		(void)buf_puts(out, ": ");
		quote(out, shown_value(entry->key, str_trim(entry->value)));
		any = true;
	}
	if (flow)
		(void)buf_putc(out, '}');
	(void)buf_putc(out, '\n');
}

int flinkconf_redact(struct str text, enum flinkconf_format format, const char *name, struct buf *ret_text, struct err *err)
{
	size_t before = ret_text->len;
	if (text.len > LIMIT_CONFIG_FILE)
		return err_set(err, ERR_LIMIT, "%s: %zu bytes: at most %d are read", name, text.len, LIMIT_CONFIG_FILE);
	if (format == FLINKCONF_LEGACY) {
		redact_legacy(text, ret_text);
	} else {
		auto_yml struct yml yml = { 0 };
		int status = yml_parse(text, name, &yml, err);
		if (status < 0)
			return status;
		redact_yaml(&yml, ret_text);
	}
	if (!buf_failed(ret_text))
		return 0;
	int status = ret_text->state == BUF_NOMEM ? err_set(err, ERR_NOMEM, "%s: no memory", name) :
						    err_set(err, ERR_LIMIT, "%s: larger than its cap when redacted", name);
	if (ret_text->ptr)
		ret_text->ptr[before] = '\0';
	ret_text->len = before;
	return status;
}
