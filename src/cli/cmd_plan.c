/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/plan.h"
#include "config/settings.h"

enum { HELP_CAP = 64 * 1024 };

#define AT(field) offsetof(struct plan_options, field)

enum { BY = SETTING_BY_FLAG };

static const struct setting_info table[] = {
	{ "flink-conf", "FILE", "Flink's config.yaml or flink-conf.yaml", BY, SETTING_TEXT, AT(flink_conf), 0, 0, 0,
	  0 },
	{ "set", "KEY=VALUE", "an option of Flink in place of the file's; may be repeated", BY, SETTING_TEXT, AT(set),
	  0, 0, 0, 0 },
	{ "version", "1.20|2.x", "of Flink: its newest, or 1.20 for a flink-conf.yaml, where it is not said", BY,
	  SETTING_TEXT, AT(version), 0, 0, 0, 0 },
	{ "jobmanager", "", "plan the JobManager, not a TaskManager", BY, SETTING_SWITCH, AT(jobmanager), 0, 0, 0, 0 },
	{ "slots", "N", "taskmanager.numberOfTaskSlots", BY, SETTING_COUNT, AT(slots), 1, 100000, 0, 0 },
	{ "states", "N", "keyed states that the tasks of one slot have, timers included", BY, SETTING_COUNT, AT(states),
	  1, 100000, 0, 0 },
	{ "streams", "", "plan Kafka Streams: its RocksDB instances, with all pods and with one lost", BY,
	  SETTING_SWITCH, AT(streams), 0, 0, 0, 0 },
	{ "topology", "FILE", "what Topology.describe() prints: its sub-topologies and stores", BY, SETTING_TEXT,
	  AT(topology), 0, 0, 0, 0 },
	{ "stores", "N", "key-value stores of a task, where there is no --topology", BY, SETTING_COUNT, AT(stores), 0,
	  10000, 0, 0 },
	{ "windowed-stores", "N", "window and session stores: beside --stores, or of those of --topology", BY,
	  SETTING_COUNT, AT(windowed), 0, 10000, 0, 0 },
	{ "segments", "N", "live segments of a window store (3)", BY, SETTING_COUNT, AT(segments), 1, 1000, 0, 0 },
	{ "partitions", "N", "of the input topics: tasks of each sub-topology", BY, SETTING_COUNT, AT(partitions), 1,
	  100000, 0, 0 },
	{ "instances", "N", "pods that run the application (1)", BY, SETTING_COUNT, AT(instances), 1, 100000, 0, 0 },
	{ "standbys", "N", "num.standby.replicas (0)", BY, SETTING_COUNT, AT(standbys), 0, 100, 0, 0 },
	{ "threads", "N", "num.stream.threads", BY, SETTING_COUNT, AT(threads), 1, 10000, 0, 0 },
	{ "setter", "KEY=VALUE,...",
	  "what rocksdb.config.setter sets: cache, store-cache, write-buffer, write-buffers, manager", BY, SETTING_TEXT,
	  AT(setter), 0, 0, 0, 0 },
	{ "heap", "SIZE", "-Xmx of Kafka Streams (a quarter of the limit)", BY, SETTING_TEXT, AT(heap), 0, 0, 0, 0 },
	{ "from-report", "FILE...", "the right size from reports in JSON, of one configuration, over time", BY,
	  SETTING_TEXT, AT(from_report), 0, 0, 0, 0 },
	{ "limit", "SIZE", "the container's memory limit as its manifest has it: 4Gi, 4G (decimal), 4096m", BY,
	  SETTING_TEXT, AT(limit), 0, 0, 0, 0 },
	{ "format", "table|json", "for people, or as docs/plan.schema.json says (table)", BY, SETTING_TEXT, AT(format),
	  0, 0, 0, 0 },
	{ "color", "auto|always|never", "colour for people; auto: on a terminal, unless NO_COLOR is set", BY,
	  SETTING_TEXT, AT(color), 0, 0, 0, 0 },
};

static const struct settings_source source = { table, sizeof table / sizeof table[0], NULL, NULL };

static int help(void)
{
	struct err err = { 0 };
	auto_buf struct buf out = { .cap = HELP_CAP };
	(void)buf_puts(
		&out,
		"usage: bankfull plan --flink-conf FILE [OPTION]...\n"
		"       bankfull plan --streams --partitions N [OPTION]...\n"
		"       bankfull plan --from-report FILE...\n"
		"The budget before anything runs: what a configuration gives, and whether it fits its limit.\n\n");
	settings_help(&source, &out);
	(void)buf_puts(&out,
		       "\nexit status: 0 nothing at warning or above, 1 something is, 2 usage or a configuration that\n"
		       "Flink refuses, 3 could not read\n");
	return command_print(&out, "the help", &err) < 0 ? command_error("plan", &err) : EXIT_OK;
}

static int add(const char **list, size_t *n, size_t most, const char *value, const char *option, struct err *err)
{
	if (*n == most)
		return err_set(err, ERR_USAGE, "--%s: more than %zu", option, most);
	list[(*n)++] = value;
	return 0;
}

/* --set and the files of --from-report may be many, which the table of settings has no kind for: they are taken out first. */
static int take_lists(int *argc, char **argv, struct plan_options *options, struct err *err)
{
	int kept = 1, rc = 0;
	bool files = false;
	for (int i = 1; rc == 0 && i < *argc; i++) {
		struct str argument = str_of(argv[i]);
		bool is_option = argument.len > 1 && argument.ptr[0] == '-';
		bool set = str_eq(argument, STR("--set"));
		files = str_eq(argument, STR("--from-report")) || (files && !is_option);
		if (set && i + 1 == *argc)
			rc = err_set(err, ERR_USAGE, "--set needs KEY=VALUE");
		else if (set)
			rc = add(options->sets, &options->n_sets, PLAN_SETS_MAX, argv[++i], "set", err);
		else if (str_take(&argument, STR("--set=")))
			rc = add(options->sets, &options->n_sets, PLAN_SETS_MAX, argument.ptr, "set", err);
		else if (str_take(&argument, STR("--from-report=")))
			rc = add(options->reports, &options->n_reports, RESIZE_READINGS_MAX, argument.ptr,
				 "from-report", err);
		else if (files && is_option && (i + 1 == *argc || argv[i + 1][0] == '-'))
			rc = err_set(err, ERR_USAGE, "--from-report needs FILE...");
		else if (files && !is_option)
			rc = add(options->reports, &options->n_reports, RESIZE_READINGS_MAX, argv[i], "from-report",
				 err);
		else if (!files)
			argv[kept++] = argv[i];
	}
	*argc = kept;
	return rc;
}

/* The place of `value` among `words`, which end with NULL; the first where nothing is said. */
static int word_of(const char *option, const char *value, const char *const words[], const char *all, struct err *err)
{
	for (int i = 0; words[i]; i++)
		if (!value || strcmp(words[i], value) == 0)
			return i;
	return err_set(err, ERR_USAGE, "--%s: '%.40s' is none of %s", option, value, all);
}

static int check_flink(const struct plan_options *options, struct err *err)
{
	if (options->topology || options->setter || options->partitions || options->stores || options->windowed)
		return err_set(err, ERR_USAGE, "stores, partitions and a setter are Kafka Streams': add --streams");
	if (!options->flink_conf && options->n_sets == 0)
		return err_set(
			err, ERR_USAGE,
			"say what to plan: --flink-conf FILE, options of Flink by --set KEY=VALUE, --streams or --from-report");
	return 0;
}

static int check_streams(const struct plan_options *options, struct err *err)
{
	if (options->flink_conf || options->n_sets || options->jobmanager || options->slots || options->states ||
	    options->version)
		return err_set(err, ERR_USAGE, "--streams takes no option of Flink");
	return 0;
}

static int parse(int argc, char **argv, struct plan_options *options, struct settings_text *text, struct err *err)
{
	static const char *const formats[] = { "table", "json", NULL };
	static const char *const colors[] = { "auto", "always", "never", NULL };
	char *const environment[] = { NULL };
	auto_yml struct yml yml = { 0 };
	int rc = take_lists(&argc, argv, options, err);
	if (rc == 0)
		rc = settings_load(&source, argc, argv, environment, options, text, &yml, &options->help, err);
	if (rc < 0 || options->help)
		return rc;
	int json = word_of("format", options->format, formats, "table|json", err);
	int color = json < 0 ? json : word_of("color", options->color, colors, "auto|always|never", err);
	if (color < 0)
		return color;
	const struct options colored = { .color = color == 1 ? COLOR_ALWAYS : color == 2 ? COLOR_NEVER : COLOR_AUTO };
	options->json = json == 1;
	options->colored = command_color(&colored);
	if (options->n_reports && (options->streams || options->flink_conf || options->n_sets))
		return err_set(err, ERR_USAGE, "--from-report, --flink-conf and --streams exclude each other");
	if (options->n_reports)
		return 0;
	return options->streams ? check_streams(options, err) : check_flink(options, err);
}

int cmd_plan(int argc, char **argv)
{
	struct err err = { 0 };
	struct plan_options options = { 0 };
	struct settings_text text = { 0 };
	const char *name = argv[0];
	int status = EXIT_OK;
	int rc = parse(argc, argv, &options, &text, &err);
	if (rc == 0 && options.help)
		status = help();
	else if (rc == 0)
		rc = options.n_reports ? plan_resize(&options, &status, &err)
		     : options.streams ? plan_streams(&options, &status, &err)
				       : plan_flink(&options, &status, &err);
	if (rc < 0)
		status = command_error(name, &err);
	settings_text_done(&text);
	return status;
}
