/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/cmdline.h"

#include <strings.h>

#include "jvm/option.h"

#define REDACTED "<redacted>"

/* --- shapes: what an open value may look like ------------------------------------------------- */

static const char digits[] = "0123456789";
static const char lower[] = "abcdefghijklmnopqrstuvwxyz";
static const char upper[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/* 1 to `max` bytes, all alphanumeric or of `extra`. */
static bool is_word(struct str text, const char *extra, size_t max)
{
	if (text.len == 0 || text.len > max)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (c == '\0' || (!strchr(digits, c) && !strchr(lower, c) && !strchr(upper, c) && !strchr(extra, c)))
			return false;
	}
	return true;
}

static bool starts_with_digit(struct str text)
{
	return text.len && text.ptr[0] >= '0' && text.ptr[0] <= '9';
}

/* 42, 0.1, 536870912b, 1728 mb, 9249-9260, -1 */
static bool is_amount(struct str text)
{
	struct str unsigned_part = text;
	(void)str_take(&unsigned_part, STR("-"));
	return starts_with_digit(unsigned_part) && is_word(text, ".- ,", 40);
}

static bool is_class(struct str text)
{
	return is_word(text, "_$./-", 160) && !starts_with_digit(text) && text.ptr[0] != '-' && text.ptr[0] != '/' &&
	       !str_has(text, STR("//"));
}

static bool is_path(struct str text)
{
	return is_word(text, "_./+~-", 256);
}

static bool is_loopback(struct str text)
{
	return str_eq(text, STR("localhost")) || str_eq(text, STR("::1")) ||
	       (str_starts(text, STR("127.")) && is_word(text, ".", 15));
}

static bool is_boolean(struct str text)
{
	return str_eq(text, STR("true")) || str_eq(text, STR("false"));
}

static struct str basename_of(struct str path)
{
	for (size_t i = path.len; i > 0; i--)
		if (path.ptr[i - 1] == '/')
			return str_skip(path, i);
	return path;
}

/* --- properties ------------------------------------------------------------------------------- */

enum shape { SHAPE_AMOUNT, SHAPE_LIST, SHAPE_WORD, SHAPE_CLASS, SHAPE_LOOPBACK };

/*
 * Open keys. `*` stands for one or more bytes. Flink's keys are those that decide memory (facts of its
 * TaskExecutorProcessUtils and RocksDBOptions) or where to ask; the rest are the JVM's and Netty's own.
 */
static const struct {
	const char *key;
	enum shape shape;
} open_keys[] = {
	{ "taskmanager.memory.managed.consumer-weights", SHAPE_LIST },
	{ "taskmanager.memory.*", SHAPE_AMOUNT },
	{ "jobmanager.memory.*", SHAPE_AMOUNT },
	{ "taskmanager.numberOfTaskSlots", SHAPE_AMOUNT },
	{ "taskmanager.cpu.cores", SHAPE_AMOUNT },
	{ "state.backend", SHAPE_WORD },
	{ "state.backend.*", SHAPE_WORD },
	{ "execution.runtime-mode", SHAPE_WORD },
	{ "metrics.reporters", SHAPE_LIST },
	{ "metrics.reporter.*.port", SHAPE_AMOUNT },
	{ "metrics.reporter.*.factory.class", SHAPE_CLASS },
	{ "metrics.reporter.*.class", SHAPE_CLASS },
	{ "rest.port", SHAPE_AMOUNT },
	{ "rest.bind-port", SHAPE_AMOUNT },
	{ "rest.address", SHAPE_LOOPBACK },
	{ "kubernetes.*.limit-factor", SHAPE_AMOUNT },
	{ "com.sun.management.jmxremote.port", SHAPE_AMOUNT },
	{ "jolokia.port", SHAPE_AMOUNT },
	{ "io.netty.*", SHAPE_AMOUNT },
	{ "*.io.netty.*", SHAPE_AMOUNT }, /* shaded, as in Flink */
	{ "jdk.nio.maxCachedBufferSize", SHAPE_AMOUNT },
};

static bool key_matches(struct str key, const char *pattern)
{
	const char *star = strchr(pattern, '*');
	if (!star)
		return str_eq(key, str_of(pattern));
	struct str head = { pattern, (size_t)(star - pattern) };
	if (!str_starts(key, head) || key.len == head.len)
		return false;
	key = str_skip(key, head.len + 1); /* the star takes at least one byte */
	struct str tail = str_of(star + 1);
	if (!strchr(star + 1, '*'))
		return str_ends(key, tail);
	for (; key.len; key = str_skip(key, 1))
		if (key_matches(key, star + 1))
			return true;
	return false;
}

static bool shape_fits(enum shape shape, struct str value)
{
	switch (shape) {
	case SHAPE_AMOUNT:
		return is_amount(value) || is_boolean(value);
	case SHAPE_LIST:
		return is_word(value, "_:,.-", 128);
	case SHAPE_WORD:
		return is_word(value, "_.-% ", 64);
	case SHAPE_CLASS:
		return is_class(value);
	case SHAPE_LOOPBACK:
		return is_loopback(value);
	}
	return false;
}

/* The row of a key, or -1. */
static int find_key(struct str key)
{
	for (size_t i = 0; i < sizeof open_keys / sizeof open_keys[0]; i++)
		if (key_matches(key, open_keys[i].key))
			return (int)i;
	return -1;
}

bool cmdline_is_open_key(struct str key)
{
	return is_word(key, "._-", 128) && find_key(key) >= 0;
}

/* key=value of an open key whose value has its shape. */
static bool is_open_pair(struct str pair)
{
	struct str key;
	if (str_index(pair, '=') == pair.len || !str_split(&pair, '=', &key) || !is_word(key, "._-", 128))
		return false;
	int row = find_key(key);
	return row >= 0 && shape_fits(open_keys[row].shape, pair);
}

static void add_property(struct str pair, struct buf *out)
{
	size_t key_len = str_index(pair, '=');
	struct str key = { pair.ptr, key_len };
	if (is_open_pair(pair)) {
		(void)buf_add(out, pair);
	} else if (!is_word(key, "._-", 128)) {
		(void)buf_puts(out, REDACTED);
	} else {
		(void)buf_add(out, key);
		if (key_len < pair.len)
			(void)buf_puts(out, "=" REDACTED);
	}
}

/* --- options with names of files --------------------------------------------------------------- */

static bool is_jar(struct str name)
{
	return is_word(name, "._+-", 128) && str_ends(name, STR(".jar"));
}

/* The jars that tell which engine runs, and its version. */
static bool is_engine_jar(struct str name)
{
	static const char *const prefixes[] = { "flink-", "kafka-", "kafka_", "rocksdbjni", "frocksdbjni", "forstjni" };
	if (!is_jar(name))
		return false;
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
		if (str_starts(name, str_of(prefixes[i])))
			return true;
	return false;
}

static void add_class_path(struct str path, struct buf *out)
{
	struct str part;
	bool any = false;
	while (str_split(&path, ':', &part)) {
		struct str name = basename_of(part);
		if (!is_engine_jar(name))
			continue;
		if (any)
			(void)buf_putc(out, ':');
		(void)buf_add(out, name);
		any = true;
	}
	if (!any)
		(void)buf_puts(out, REDACTED);
}

/* "[HOST:]PORT[:FILE]" as jmx_exporter takes it, "port=PORT,..." as Jolokia does: the port with its "port=", or nothing. */
static struct str agent_port(struct str options)
{
	struct str part, rest = options;
	uint64_t port;
	while (str_split(&rest, ',', &part)) {
		struct str number = part;
		if (str_take(&number, STR("port=")) && str_is_u64(number, &port) && port <= 65535)
			return part;
	}
	for (rest = options; str_split(&rest, ':', &part);)
		if (str_is_u64(part, &port) && port <= 65535)
			return part;
	return (struct str){ "", 0 };
}

static void add_agent(struct str agent, struct buf *out)
{
	struct str file;
	if (!str_split(&agent, '=', &file) || !is_jar(basename_of(file))) {
		(void)buf_puts(out, REDACTED);
		return;
	}
	(void)buf_add(out, basename_of(file));
	struct str port = agent_port(agent);
	if (port.len) {
		(void)buf_putc(out, '=');
		(void)buf_add(out, port);
	} else if (agent.len) {
		(void)buf_puts(out, "=" REDACTED);
	}
}

static void add_if(bool open, struct str text, struct buf *out)
{
	(void)buf_add(out, open ? text : STR(REDACTED));
}

/* --- the launcher's own options ------------------------------------------------------------------ */

static bool is_class_path(struct str option)
{
	return str_eq(option, STR("-cp")) || str_eq(option, STR("-classpath")) || str_eq(option, STR("--class-path"));
}

bool cmdline_takes_value(struct str option)
{
	static const char *const names[] = {
		"-p",
		"--module-path",
		"--upgrade-module-path",
		"--add-modules",
		"--limit-modules",
		"--add-exports",
		"--add-opens",
		"--add-reads",
		"--patch-module",
		"--enable-native-access",
		"--source",
		"-d",
		"--describe-module",
	};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (str_eq(option, str_of(names[i])))
			return true;
	return is_class_path(option);
}

/* Options without a value that tell nothing but themselves. */
static bool is_plain(struct str option)
{
	static const char *const names[] = {
		"-server",     "-client",    "-ea",         "-esa",         "-da",
		"-Xint",       "-Xcomp",     "-Xmixed",     "-Xbatch",      "-Xshare:auto",
		"-Xshare:off", "-Xshare:on", "-Xnoclassgc", "-showversion", "--show-version",
		"-verbose:gc",
	};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (str_eq(option, str_of(names[i])))
			return true;
	return false;
}

/* An option of the JVM, which always starts with '-' or '@', before and after. */
static void add_option(struct str option, struct buf *out)
{
	struct str rest = option, name;

	if (is_plain(option) || cmdline_takes_value(option)) {
		(void)buf_add(out, option);
	} else if (str_take(&rest, STR("-D"))) {
		(void)buf_puts(out, "-D");
		add_property(rest, out);
	} else if (str_take(&rest, STR("-javaagent:"))) {
		(void)buf_puts(out, "-javaagent:");
		add_agent(rest, out);
	} else if (str_take(&rest, STR("--class-path="))) {
		(void)buf_puts(out, "--class-path=");
		add_class_path(rest, out);
	} else if (option_keep(option, out)) {
		return;
	} else if (str_take(&rest, STR("-XX:"))) {
		/* The name of a flag is HotSpot's, its value is not. */
		size_t len = str_index(rest, '=');
		bool has_value = len < rest.len;
		name = (struct str){ rest.ptr, len };
		(void)buf_puts(out, "-XX:");
		if (!has_value && (str_starts(name, STR("+")) || str_starts(name, STR("-"))))
			add_if(is_word(str_skip(name, 1), "", 64), name, out);
		else
			add_if(has_value && is_word(name, "", 64), name, out);
		if (has_value)
			(void)buf_puts(out, "=" REDACTED);
	} else {
		(void)buf_putc(out, option.ptr[0]);
		(void)buf_puts(out, REDACTED);
	}
}

/* --- whole command lines ------------------------------------------------------------------------- */

enum place {
	PLACE_PROGRAM,    /* argv[0] */
	PLACE_OPTION,     /* JVM options, or the main class */
	PLACE_CLASS_PATH, /* the value of one */
	PLACE_VALUE,
	PLACE_JAR,
	PLACE_MODULE,
	PLACE_ARGUMENT, /* of the program */
	PLACE_PROPERTY, /* after -D */
	PLACE_CONFIG_DIR,
};

static enum place after_option(struct str option)
{
	if (is_class_path(option))
		return PLACE_CLASS_PATH;
	if (cmdline_takes_value(option))
		return PLACE_VALUE;
	if (str_eq(option, STR("-jar")))
		return PLACE_JAR;
	if (str_eq(option, STR("-m")) || str_eq(option, STR("--module")))
		return PLACE_MODULE;
	if (str_starts(option, STR("-")) || str_starts(option, STR("@")))
		return PLACE_OPTION;
	return PLACE_ARGUMENT; /* it was the main class */
}

static enum place add_argument(struct str argument, struct buf *out)
{
	struct str rest = argument;
	if (str_eq(argument, STR("-D"))) {
		(void)buf_puts(out, "-D");
		return PLACE_PROPERTY;
	}
	if (str_eq(argument, STR("--configDir"))) {
		(void)buf_add(out, argument);
		return PLACE_CONFIG_DIR;
	}
	if (str_take(&rest, STR("-D")) && is_word((struct str){ rest.ptr, str_index(rest, '=') }, "._-", 128) &&
	    str_index(rest, '=') < rest.len) {
		(void)buf_puts(out, "-D");
		add_property(rest, out);
	} else {
		add_if(is_open_pair(argument), argument, out);
	}
	return PLACE_ARGUMENT;
}

static enum place add_place(enum place place, struct str argument, struct buf *out)
{
	switch (place) {
	case PLACE_PROGRAM:
		add_if(is_word(basename_of(argument), "_.+-", 64), basename_of(argument), out);
		return PLACE_OPTION;
	case PLACE_CLASS_PATH:
		add_class_path(argument, out);
		return PLACE_OPTION;
	case PLACE_VALUE:
		(void)buf_puts(out, REDACTED);
		return PLACE_OPTION;
	case PLACE_JAR:
		add_if(is_jar(basename_of(argument)), basename_of(argument), out);
		return PLACE_ARGUMENT;
	case PLACE_MODULE:
		add_if(is_class(argument), argument, out);
		return PLACE_ARGUMENT;
	case PLACE_OPTION: {
		enum place next = after_option(argument);
		if (next == PLACE_ARGUMENT)
			add_if(is_class(argument), argument, out);
		else if (next == PLACE_JAR || next == PLACE_MODULE)
			(void)buf_add(out, argument);
		else
			add_option(argument, out);
		return next;
	}
	case PLACE_PROPERTY:
		if (str_index(argument, '=') < argument.len)
			add_property(argument, out);
		else
			(void)buf_puts(out, REDACTED);
		return PLACE_ARGUMENT;
	case PLACE_CONFIG_DIR:
		add_if(is_path(argument), argument, out);
		return PLACE_ARGUMENT;
	case PLACE_ARGUMENT:
		return add_argument(argument, out);
	}
	return PLACE_ARGUMENT;
}

bool cmdline_redact(struct str cmdline, struct buf *out)
{
	enum place place = PLACE_PROGRAM;
	struct str argument;
	while (str_split(&cmdline, '\0', &argument)) {
		place = add_place(place, argument, out);
		(void)buf_putc(out, '\0');
	}
	return !buf_failed(out);
}

bool cmdline_redact_words(struct str words, struct buf *out)
{
	struct str word;
	bool first = true;
	while (str_split(&words, ' ', &word)) {
		struct str pair = word;
		if (word.len == 0)
			continue;
		if (!first)
			(void)buf_putc(out, ' ');
		first = false;
		if (option_keep(word, out) || buf_failed(out))
			continue;
		add_if(is_plain(word) || (str_take(&pair, STR("-D")) && is_open_pair(pair)), word, out);
	}
	return !buf_failed(out);
}

bool cmdline_redact_command(struct str command, struct buf *out)
{
	struct str word, pair;
	if (!str_split(&command, ' ', &word))
		return !buf_failed(out);
	if (is_jar(basename_of(word)))
		(void)buf_add(out, basename_of(word));
	else
		add_if(is_class(word), word, out);
	while (str_split(&command, ' ', &word)) {
		if (word.len == 0)
			continue;
		(void)buf_putc(out, ' ');
		pair = word;
		(void)str_take(&pair, STR("-D"));
		add_if(str_eq(word, STR("-D")) || is_open_pair(pair), word, out);
	}
	return !buf_failed(out);
}
