/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/options.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/limits.h"
#include "base/units.h"
#include "data/yml.h"
#include "net/http.h"
#include "sys/file.h"

enum option_kind {
	OPTION_SWITCH,
	OPTION_TEXT,
	OPTION_SIZE,
	OPTION_PID,
	OPTION_URL,
	OPTION_URLS,
	OPTION_FORMAT,
	OPTION_COLOR,
	OPTION_MS,
	OPTION_INTERVAL
};

struct option_info {
	const char *name, *argument, *help;
	unsigned commands;
	enum option_kind kind;
	size_t offset;
	bool in_config; /* may stand in --config FILE */
};

#define READING (COMMAND_REPORT | COMMAND_CAPTURE | COMMAND_WATCH)
#define JUDGING \
	(COMMAND_REPORT | COMMAND_RULES | COMMAND_EXPLAIN | COMMAND_WATCH) /* they use thresholds and silences */
#define ALL       (READING | JUDGING)
#define AT(field) offsetof(struct options, field)

static const struct option_info table[] = {
	{ "pid", "N", "the JVM to look at; without it, the one JVM here that runs Flink or Kafka Streams", READING,
	  OPTION_PID, AT(collect.pid), false },
	{ "capture", "DIR", "report on what `bankfull capture` wrote, instead of a live process", COMMAND_REPORT,
	  OPTION_TEXT, AT(capture), false },
	{ "output", "DIR", "where to write the capture: a directory that does not exist (also -o DIR)", COMMAND_CAPTURE,
	  OPTION_TEXT, AT(output), false },
	{ "limit", "SIZE", "the container's memory limit, where its cgroup cannot be read (1728m, 4Gi, bytes)", READING,
	  OPTION_SIZE, AT(collect.limit), true },
	{ "pod-limit", "SIZE", "the pod's memory limit, if it has one of its own", READING, OPTION_SIZE,
	  AT(collect.pod_limit), true },
	{ "cgroup", "DIR", "the container's cgroup v2 directory; without it, found through the process", READING,
	  OPTION_TEXT, AT(collect.cgroup_directory), true },
	{ "metrics", "URL", "a metrics page (Prometheus text, or Jolokia if the path has /jolokia); may be repeated",
	  READING, OPTION_URLS, AT(collect), true },
	{ "flink-rest", "URL", "Flink's REST endpoint, such as http://jobmanager:8081", READING, OPTION_URL,
	  AT(collect.flink_rest), true },
	{ "flink-conf", "FILE", "Flink's config.yaml or flink-conf.yaml; without it, the target's own if readable",
	  READING, OPTION_TEXT, AT(collect.flink_conf), true },
	{ "no-attach", NULL, "do not ask the JVM by the attach protocol", READING, OPTION_SWITCH, AT(collect.no_attach),
	  true },
	{ "no-metrics", NULL, "do not fetch any metrics page", READING, OPTION_SWITCH, AT(collect.no_metrics), true },
	{ "http-timeout", "MS", "deadline of one HTTP request in milliseconds (2000)", READING, OPTION_MS,
	  AT(collect.http_timeout_ms), true },
	{ "interval", "TIME", "from one reading to the next, 1s to 1m (2s); mappings are scanned less often",
	  COMMAND_WATCH, OPTION_INTERVAL, AT(interval_ms), false },
	{ "config", "FILE", "a YAML file: options by name (the command line wins), levels of rules, silences", ALL,
	  OPTION_TEXT, AT(config), false },
	{ "format", "table|json", "for people, or as the schemas in docs/ say", COMMAND_REPORT | COMMAND_RULES,
	  OPTION_FORMAT, AT(format), true },
	{ "svg", "FILE", "a picture for a ticket too: a file that does not exist, or - for the picture alone",
	  COMMAND_REPORT, OPTION_TEXT, AT(svg), false },
	{ "color", "auto|always|never", "colour for people; auto: on a terminal, unless NO_COLOR is set", JUDGING,
	  OPTION_COLOR, AT(color), true },
	{ "help", NULL, "this text", ALL, OPTION_SWITCH, AT(help), false },
};

enum { TABLE_LEN = sizeof table / sizeof table[0] };

static int set_word(const struct option_info *info, const char *value, const char *const words[], int *target,
		    struct err *err)
{
	for (int i = 0; words[i]; i++) {
		if (strcmp(words[i], value) != 0)
			continue;
		*target = i;
		return 0;
	}
	return err_set(err, ERR_USAGE, "--%s: '%.40s' is none of %s", info->name, value, info->argument);
}

static int set_size(const struct option_info *info, const char *value, struct limit *limit, struct err *err)
{
	uint64_t bytes;
	int rc = units_parse(str_of(value), &bytes, err);
	if (rc == 0 && bytes == 0)
		rc = err_set(err, ERR_USAGE, "0 is no limit");
	if (rc == 0)
		*limit = limit_set(bytes);
	else
		err_wrap(err, "--%s", info->name);
	return rc;
}

/* What is wrong with a URL's text is the user's to mend; whether anything answers there shows later. */
static int check_url(const struct option_info *info, const char *value, struct err *err)
{
	if (value[0] == '\0')
		return err_set(err, ERR_USAGE, "--%s: empty, expected %s", info->name, info->argument);
	int rc = http_url_check(value, false, err);
	if (rc < 0)
		err_wrap(err, "--%s", info->name);
	return rc;
}

static int set_value(struct options *options, const struct option_info *info, const char *value, struct err *err)
{
	static const char *const formats[] = { "table", "json", NULL };
	static const char *const colors[] = { "auto", "always", "never", NULL };
	void *target = (char *)options + info->offset;
	uint64_t number;
	int word = 0, rc = 0;
	switch (info->kind) {
	case OPTION_SWITCH:
		*(bool *)target = true;
		break;
	case OPTION_TEXT:
		if (value[0] == '\0')
			return err_set(err, ERR_USAGE, "--%s: empty, expected %s", info->name, info->argument);
		*(const char **)target = value;
		break;
	case OPTION_SIZE:
		return set_size(info, value, target, err);
	case OPTION_PID:
		if (!str_is_u64(str_of(value), &number) || number == 0 || number > 4194304)
			return err_set(err, ERR_USAGE, "--pid: '%.40s' is no process id", value);
		*(int *)target = (int)number;
		break;
	case OPTION_MS:
		if (!str_is_u64(str_of(value), &number) || number == 0 || number > 60000)
			return err_set(err, ERR_USAGE, "--%s: '%.40s' is not between 1 and 60000", info->name, value);
		*(unsigned *)target = (unsigned)number;
		break;
	case OPTION_INTERVAL:
		if (units_parse_ms(str_of(value), &number, NULL) < 0 || number < 1000 || number > 60000)
			return err_set(err, ERR_USAGE, "--interval: '%.40s' is not between 1s and 1m", value);
		*(uint64_t *)target = number;
		break;
	case OPTION_URL:
		rc = check_url(info, value, err);
		*(const char **)target = value;
		break;
	case OPTION_URLS:
		if (options->collect.n_metrics_urls == COLLECT_URLS_MAX)
			return err_set(err, ERR_USAGE, "--%s: more than %d", info->name, COLLECT_URLS_MAX);
		rc = check_url(info, value, err);
		options->collect.metrics_urls[options->collect.n_metrics_urls++] = value;
		break;
	case OPTION_FORMAT:
		rc = set_word(info, value, formats, &word, err);
		options->format = (enum output_format)word;
		break;
	case OPTION_COLOR:
		rc = set_word(info, value, colors, &word, err);
		*(int *)target = word;
		break;
	}
	return rc;
}

static const struct option_info *find(struct str name, unsigned command)
{
	for (int i = 0; i < TABLE_LEN; i++)
		if ((table[i].commands & command) && str_eq(str_of(table[i].name), name))
			return &table[i];
	return NULL;
}

/* A string of the file that lives as long as the options: the buffer is sized once, so its bytes never move. */
static const char *keep(struct buf *text, struct str value)
{
	const char *at = text->ptr + text->len;
	return buf_add(text, value) && buf_putc(text, '\0') ? at : NULL;
}

static int unknown_key(const char *file, unsigned line, struct str key, struct err *err)
{
	char shown[48], hint[TYPO_HINT_CAP];
	struct typo typo = { .said = key };
	str_copy(shown, sizeof shown, key);
	for (int i = 0; i < TABLE_LEN; i++)
		if (table[i].in_config)
			typo_offer(&typo, table[i].name);
	typo_offer(&typo, "rules");
	typo_offer(&typo, "silences");
	(void)typo_hint(&typo, hint);
	return err_set(err, ERR_USAGE, "%s:%u: unknown key '%s'%s", file, line, shown,
		       hint[0] ? hint : ": keys are the names of options, rules and silences");
}

static int config_entry(struct options *options, const struct yml_entry *entry, unsigned command, bool given[TABLE_LEN],
			struct err *err)
{
	struct str key = entry->key;
	size_t bracket = str_index(key, '[');
	key.len = bracket; /* metrics[0], metrics[1]: a list */
	char shown[48];
	if (ruleconf_is_key(entry->key))
		return 0;
	str_copy(shown, sizeof shown, key);
	const struct option_info *info = find(key, ALL);
	if (info && !info->in_config)
		return err_set(err, ERR_USAGE, "%s:%u: '%s' belongs on the command line", options->config, entry->line,
			       shown);
	if (!info)
		return unknown_key(options->config, entry->line, key, err);
	if (!(info->commands & command) || given[info - table])
		return 0;
	if (bracket < entry->key.len && info->kind != OPTION_URLS)
		return err_set(err, ERR_USAGE, "%s:%u: %s takes one value, not a list", options->config, entry->line,
			       shown);
	if (info->kind == OPTION_SWITCH) {
		bool on = str_eq(entry->value, STR("true"));
		if (!on && !str_eq(entry->value, STR("false")))
			return err_set(err, ERR_USAGE, "%s:%u: %s is true or false", options->config, entry->line,
				       shown);
		*(bool *)((char *)options + info->offset) = on;
		return 0;
	}
	const char *value = keep(&options->config_text, entry->value);
	if (!value)
		return err_set(err, ERR_NOMEM, "%s: no memory", options->config);
	int rc = set_value(options, info, value, err);
	if (rc < 0)
		err_wrap(err, "%s:%u", options->config, entry->line);
	return rc;
}

/* Options and sections of other commands may stand in the file too, and are not looked at. */
static int read_config(struct options *options, unsigned command, struct wall now, bool given[TABLE_LEN],
		       struct err *err)
{
	auto_buf struct buf text = { .cap = LIMIT_CONFIG_FILE };
	auto_yml struct yml yml = { 0 };
	struct stat st;
	/* A pipe that nobody writes to reads as an empty file: nothing would be moved or silenced, and nobody told. */
	int rc = stat(options->config, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)
			 ? err_set(err, ERR_USAGE, "%s: not a regular file", options->config)
			 : file_read_at(AT_FDCWD, options->config, LIMIT_CONFIG_FILE, &text, err);
	if (rc == 0)
		rc = yml_parse(buf_str(&text), options->config, &yml, err);
	if (rc < 0) {
		if (err)
			err->kind = ERR_USAGE; /* whatever is wrong with the file, it is the caller's to mend */
		return rc;
	}
	size_t room = 1;
	for (size_t i = 0; i < yml.n; i++)
		room += yml.items[i].value.len + 1;
	options->config_text.cap = room;
	if (!buf_grow(&options->config_text, room))
		return err_set(err, ERR_NOMEM, "%s: no memory", options->config);
	for (size_t i = 0; i < yml.n && rc == 0; i++)
		rc = config_entry(options, &yml.items[i], command, given, err);
	if (rc == 0 && (command & JUDGING))
		rc = ruleconf_parse(&yml, options->config, now, &options->rules, err);
	return rc;
}

int options_parse(int argc, char **argv, unsigned command, struct wall now, struct options *ret_options,
		  struct err *err)
{
	bool given[TABLE_LEN] = { false };
	memset(ret_options, 0, sizeof *ret_options);
	ruleconf_init(&ret_options->rules);
	for (int i = 1; i < argc; i++) {
		struct str name = str_of(argv[i]);
		if (str_eq(name, STR("-o")) && (command & COMMAND_CAPTURE))
			name = STR("--output");
		if (str_eq(name, STR("-h")))
			name = STR("--help");
		if (command == COMMAND_EXPLAIN && name.len && name.ptr[0] != '-' && !ret_options->rule) {
			ret_options->rule = argv[i];
			continue;
		}
		if (!str_take(&name, STR("--")) || name.len == 0)
			return err_set(err, ERR_USAGE, "'%.60s' is no option: see bankfull %s --help", argv[i],
				       argv[0]);
		size_t equals = str_index(name, '=');
		const struct option_info *info = find((struct str){ name.ptr, equals }, command);
		if (!info)
			return err_set(err, ERR_USAGE, "no option --%.*s: see bankfull %s --help",
				       (int)(equals > 40 ? 40 : equals), name.ptr, argv[0]);
		const char *value = NULL;
		if (equals < name.len)
			value = name.ptr + equals + 1;
		if (!info->argument && value)
			return err_set(err, ERR_USAGE, "--%s takes no value", info->name);
		if (info->argument && !value) {
			if (++i == argc)
				return err_set(err, ERR_USAGE, "--%s needs %s", info->name, info->argument);
			value = argv[i];
		}
		int rc = set_value(ret_options, info, value, err);
		if (rc < 0)
			return rc;
		given[info - table] = true;
	}
	return ret_options->config ? read_config(ret_options, command, now, given, err) : 0;
}

void options_done(struct options *options)
{
	buf_done(&options->config_text);
}

void options_help(unsigned command)
{
	for (int i = 0; i < TABLE_LEN; i++) {
		if (!(table[i].commands & command))
			continue;
		char left[40];
		(void)snprintf(left, sizeof left, "--%s %s", table[i].name, table[i].argument ? table[i].argument : "");
		(void)printf("  %-26s %s\n", left, table[i].help);
	}
}
