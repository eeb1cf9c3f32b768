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
	{ "from-report", "FILE...|URL",
	  "the right size from reports in JSON, of one configuration, over time; or from a collector's history of pods",
	  BY, SETTING_TEXT, AT(from_report), 0, 0, 0, 0 },
	{ "through-restore", "", "the reports were taken through a restore: direct memory may be lowered", BY,
	  SETTING_SWITCH, AT(through_restore), 0, 0, 0, 0 },
	{ "since", "TIME", "so much of a collector's history, 10m to 90d (7d)", BY, SETTING_TIME, AT(since_ms), 600000,
	  7776000000, 0, 0 },
	{ "cluster", "NAME", "of a collector's pods, those of this cluster", BY, SETTING_TEXT, AT(cluster), 0, 0, 0,
	  0 },
	{ "namespace", "NAME", "of this namespace", BY, SETTING_TEXT, AT(namespace_), 0, 0, 0, 0 },
	{ "workload", "NAME", "of this workload", BY, SETTING_TEXT, AT(workload), 0, 0, 0, 0 },
	{ "pod", "NAME", "of this name", BY, SETTING_TEXT, AT(pod), 0, 0, 0, 0 },
	{ "job", "NAME", "where this job runs", BY, SETTING_TEXT, AT(job), 0, 0, 0, 0 },
	{ "role", "ROLE", "of this role: taskmanager, jobmanager, streams", BY, SETTING_TEXT, AT(role), 0, 0, 0, 0 },
	{ "token-file", "FILE", "holds a viewer's token for the collector", BY, SETTING_FILE, AT(token_file), 0, 0, 0,
	  0 },
	{ "token", NULL, "secrets come from files, which other processes cannot see: name one with token-file", BY,
	  SETTING_REFUSED, 0, 0, 0, 0, 0 },
	{ "ca-file", "FILE", "certificates of the authorities to trust, and no others", BY, SETTING_FILE, AT(ca_file),
	  0, 0, 0, 0 },
	{ "insecure", "", "send the token over plain http, too", BY, SETTING_SWITCH, AT(insecure), 0, 0, 0, 0 },
	{ "timeout", "TIME", "deadline of each request to the collector, 100ms to 1m (10s)", BY, SETTING_TIME,
	  AT(timeout_ms), 100, 60000, 0, 0 },
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
		"       bankfull plan --from-report URL [--workload NAME] [--token-file FILE] [OPTION]...\n"
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
			rc = add(options->reports, &options->n_reports, RESIZE_REPORTS_MAX, argument.ptr, "from-report",
				 err);
		else if (files && is_option && (i + 1 == *argc || argv[i + 1][0] == '-'))
			rc = err_set(err, ERR_USAGE, "--from-report needs FILE..., or the URL of a collector");
		else if (files && !is_option)
			rc = add(options->reports, &options->n_reports, RESIZE_REPORTS_MAX, argv[i], "from-report",
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

/* One address, or files: what chooses pods is of a collector alone. */
static int check_reports(struct plan_options *options, struct err *err)
{
	size_t n_urls = 0;
	for (size_t i = 0; i < options->n_reports; i++)
		n_urls += strstr(options->reports[i], "://") != NULL;
	if (n_urls && options->n_reports > 1)
		return err_set(err, ERR_USAGE, "--from-report: the URL of one collector, or files, not both");
	options->of_collector = n_urls == 1;
	bool chooses = options->cluster || options->namespace_ || options->workload || options->pod || options->job ||
		       options->role || options->token_file || options->ca_file || options->insecure ||
		       options->since_ms || options->timeout_ms;
	if (chooses && !options->of_collector)
		return err_set(
			err, ERR_USAGE,
			"pods, tokens and times are a collector's: give its address, --from-report http://HOST:8481");
	if (options->through_restore && (!options->n_reports || options->of_collector))
		return err_set(err, ERR_USAGE,
			       "--through-restore is of reports in files: a collector knows its restarts by itself");
	return 0;
}

/* What was measured says the sizes: an option that would be passed over in silence is refused. */
static int check_measured(const struct plan_options *options, struct err *err)
{
	const struct {
		const char *option;
		bool said;
	} declared[] = {
		{ "limit", options->limit },       { "heap", options->heap },
		{ "setter", options->setter },     { "topology", options->topology },
		{ "version", options->version },   { "jobmanager", options->jobmanager },
		{ "slots", options->slots },       { "states", options->states },
		{ "stores", options->stores },     { "windowed-stores", options->windowed },
		{ "segments", options->segments }, { "standbys", options->standbys },
		{ "threads", options->threads },
	};
	for (size_t i = 0; i < sizeof declared / sizeof declared[0]; i++)
		if (declared[i].said)
			return err_set(err, ERR_USAGE,
				       "--%s: --from-report goes by what was measured, and does not take it",
				       declared[i].option);
	if (options->partitions && !options->of_collector && !options->instances)
		return err_set(err, ERR_USAGE,
			       "--partitions of reports: say by --instances N how many pods share them, too");
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
	int reports = check_reports(options, err);
	if (reports == 0 && options->n_reports)
		return check_measured(options, err);
	if (reports < 0)
		return reports;
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
