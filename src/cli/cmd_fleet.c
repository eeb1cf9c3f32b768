/* SPDX-License-Identifier: Apache-2.0 */
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/collector_ask.h"
#include "cli/commands.h"
#include "cli/fleet.h"
#include "cli/options.h"
#include "config/settings.h"

enum { OUT_CAP = 256 << 20, HELP_CAP = 64 * 1024 };

struct fleet_options {
	struct fleet_query query;
	const char *format, *color;
	bool help;
	struct settings_text text;
};

#define AT(field) offsetof(struct fleet_options, field)

enum { BY = SETTING_BY_FLAG };

static const struct setting_info table[] = {
	{ "collector", "URL", "where its dashboard is: http://HOST:8481 or https://...", BY, SETTING_TEXT,
	  AT(query.collector), 0, 0, 0, 0 },
	{ "token-file", "FILE", "holds a viewer's token", BY, SETTING_FILE, AT(query.token_file), 0, 0, 0, 0 },
	{ "token", NULL, "secrets come from files, which other processes cannot see: name one with token-file", BY,
	  SETTING_REFUSED, 0, 0, 0, 0, 0 },
	{ "ca-file", "FILE", "certificates of the authorities to trust, and no others", BY, SETTING_FILE,
	  AT(query.ca_file), 0, 0, 0, 0 },
	{ "insecure", "", "send the token over plain http, too", BY, SETTING_SWITCH, AT(query.insecure), 0, 0, 0, 0 },
	{ "view", "workloads|pods", "a line each (workloads)", BY, SETTING_TEXT, AT(query.view), 0, 0, 0, 0 },
	{ "cluster", "NAME", "only of this cluster", BY, SETTING_TEXT, AT(query.cluster), 0, 0, 0, 0 },
	{ "namespace", "NAME", "only of this namespace", BY, SETTING_TEXT, AT(query.namespace_), 0, 0, 0, 0 },
	{ "workload", "NAME", "only of this workload", BY, SETTING_TEXT, AT(query.workload), 0, 0, 0, 0 },
	{ "job", "NAME", "only where this job runs", BY, SETTING_TEXT, AT(query.job), 0, 0, 0, 0 },
	{ "engine", "NAME", "only of this engine: flink, kafka-streams, or with a version", BY, SETTING_TEXT,
	  AT(query.engine), 0, 0, 0, 0 },
	{ "role", "ROLE", "only of this role: taskmanager, jobmanager, streams, jvm", BY, SETTING_TEXT, AT(query.role),
	  0, 0, 0, 0 },
	{ "severity", "LEAST", "only with a finding of this severity or above", BY, SETTING_TEXT, AT(query.severity), 0,
	  0, 0, 0 },
	{ "state", "STATE", "only connected, stale or gone", BY, SETTING_TEXT, AT(query.state), 0, 0, 0, 0 },
	{ "q", "TEXT", "only with this in a name, in any case (also -q TEXT)", BY, SETTING_TEXT, AT(query.q), 0, 0, 0,
	  0 },
	{ "sort", "KEY", "danger, freeboard, severity, name, namespace, charge, heard (danger)", BY, SETTING_TEXT,
	  AT(query.sort), 0, 0, 0, 0 },
	{ "descending", "", "the other way round", BY, SETTING_SWITCH, AT(query.descending), 0, 0, 0, 0 },
	{ "limit", "N", "at most so many lines, 1 to 10000 (100)", BY, SETTING_COUNT, AT(query.limit), 1,
	  FLEET_LIMIT_MAX, 0, 0 },
	{ "timeout", "TIME", "deadline of each request, 100ms to 1m (10s)", BY, SETTING_TIME, AT(query.timeout_ms), 100,
	  60000, 0, 0 },
	{ "format", "table|json", "for people, or as docs/fleet.md says (table)", BY, SETTING_TEXT, AT(format), 0, 0, 0,
	  0 },
	{ "color", "auto|always|never", "colour for people; auto: on a terminal, unless NO_COLOR is set", BY,
	  SETTING_TEXT, AT(color), 0, 0, 0, 0 },
};

static const struct settings_source source = { table, sizeof table / sizeof table[0], NULL, NULL };

static int help(void)
{
	struct err err = { 0 };
	auto_buf struct buf out = { .cap = HELP_CAP };
	(void)buf_puts(&out, "usage: bankfull fleet --collector URL [OPTION]...\n"
			     "What a collector knows of all pods, those in most danger first.\n\n");
	settings_help(&source, &out);
	(void)buf_puts(&out,
		       "\nexit status: 0 nothing at warning or above, 1 something is, 2 usage, 3 could not read\n");
	return command_print(&out, "the help", &err) < 0 ? command_error("fleet", &err) : EXIT_OK;
}

/* The place of `value` among `words`, which end with NULL. */
static int word_of(const char *option, const char *value, const char *const words[], const char *all, struct err *err)
{
	for (int i = 0; words[i]; i++)
		if (!value || strcmp(words[i], value) == 0)
			return i;
	return err_set(err, ERR_USAGE, "--%s: '%.40s' is none of %s", option, value, all);
}

static int parse(int argc, char **argv, struct fleet_options *options, struct err *err)
{
	static char long_q[] = "--q";
	char *const environment[] = { NULL };
	auto_yml struct yml yml = { 0 };
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "-q") == 0)
			argv[i] = long_q;
	int rc = settings_load(&source, argc, argv, environment, options, &options->text, &yml, &options->help, err);
	if (rc < 0 || options->help)
		return rc;
	if (!options->query.collector || !options->query.collector[0])
		return err_set(err, ERR_USAGE, "say which collector: --collector http://HOST:8481");
	if (!options->query.timeout_ms)
		options->query.timeout_ms = COLLECTOR_TIMEOUT_MS;
	if (!options->query.view)
		options->query.view = "workloads";
	return 0;
}

struct face {
	int json, color;
	bool pods;
};

static int face_of(const struct fleet_options *options, struct face *ret_face, struct err *err)
{
	static const char *const formats[] = { "table", "json", NULL }, *const colors[] = { "auto", "always", "never",
											    NULL };
	static const char *const views[] = { "workloads", "pods", NULL };
	int pods = word_of("view", options->query.view, views, "workloads|pods", err);
	ret_face->json = pods < 0 ? pods : word_of("format", options->format, formats, "table|json", err);
	ret_face->color = ret_face->json < 0 ? ret_face->json
					     : word_of("color", options->color, colors, "auto|always|never", err);
	ret_face->pods = pods > 0;
	return ret_face->color < 0 ? ret_face->color : 0;
}

static int ask_and_show(struct fleet_options *options, struct buf *token, int *ret_status, struct err *err)
{
	struct face face;
	int rc = face_of(options, &face, err);
	if (rc == 0)
		rc = collector_read_token(options->query.token_file, token, &options->query.token, err);
	if (rc == 0)
		rc = collector_check_ca(options->query.ca_file, err);
	if (rc < 0)
		return rc;
	auto_(fleet_answer_done) struct fleet_answer answer = { 0 };
	auto_buf struct buf out = { .cap = OUT_CAP };
	rc = fleet_ask(&options->query, &answer, err);
	if (rc < 0)
		return rc;
	const struct options colored = { .color = face.color == 1   ? COLOR_ALWAYS
						  : face.color == 2 ? COLOR_NEVER
								    : COLOR_AUTO };
	const struct fleet_face fleet_face = { .pods = face.pods,
					       .color = command_color(&colored),
					       .utf8 = setlocale(LC_CTYPE, "") &&
						       strcmp(nl_langinfo(CODESET), "UTF-8") == 0,
					       .columns = command_columns() };
	rc = face.json ? fleet_json(&answer, options->query.view, &out, err)
		       : fleet_table(&answer, &fleet_face, &out, err);
	*ret_status = answer.alarming ? EXIT_FINDING : EXIT_OK;
	return rc < 0 ? rc : command_print(&out, "the fleet", err);
}

int cmd_fleet(int argc, char **argv)
{
	struct err err = { 0 };
	struct fleet_options options = { 0 };
	int status = EXIT_OK;
	int rc = parse(argc, argv, &options, &err);
	auto_buf struct buf token = { .cap = COLLECTOR_TOKEN_CAP };
	if (rc == 0 && options.help)
		status = help();
	else if (rc == 0)
		rc = ask_and_show(&options, &token, &status, &err);
	if (token.ptr)
		explicit_bzero(token.ptr, token.room);
	if (rc < 0)
		status = command_error(argv[0], &err);
	settings_text_done(&options.text);
	return status;
}
