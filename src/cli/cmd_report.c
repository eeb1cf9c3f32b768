/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/build.h"
#include "agent/target.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/report.h"
#include "ledger/reconcile.h"
#include "rules/rules.h"
#include "sys/clock.h"
#include "sys/file.h"

enum { REPORT_CAP = 4 * 1024 * 1024, LIST_CAP = 64 * 1024 };

/* What a report becomes: the text to print (or the picture, with --svg -), and the picture to write. */
struct faces {
	struct buf printed, picture;
};

static bool is_picture_alone(const struct options *options)
{
	return options->svg && strcmp(options->svg, "-") == 0;
}

/* Choose the target if none was given. On failure the JVMs that were seen follow the error on stderr. */
static int choose_target(const char *command, struct options *options, int *ret_status)
{
	if (options->collect.pid)
		return 0;
	struct err err = { 0 };
	auto_buf struct buf list = { .cap = LIST_CAP };
	int rc = target_find(&options->collect.pid, &list, &err);
	if (rc == 0)
		return 0;
	*ret_status = command_error(command, &err);
	if (list.len)
		(void)fprintf(stderr, "%s", list.ptr);
	return rc;
}

/* From evidence to bytes; nothing is printed before all of it is there. */
static int render(const struct options *options, const struct evidence *evidence, struct faces *faces, int *ret_status,
		  struct err *err)
{
	struct snapshot *snapshot = NULL;
	struct ledger *ledger = malloc(sizeof *ledger);
	struct verdict *verdict = malloc(sizeof *verdict);
	int rc = ledger && verdict ? build_run(evidence, &snapshot, err)
				   : err_set(err, ERR_NOMEM, "no memory for a report");
	if (rc == 0) {
		recon_run(snapshot, ledger);
		struct rule_input input = {
			snapshot, ledger, &options->rules.thresholds, &options->rules.silences, NULL, NULL, NULL
		};
		rules_run(&input, verdict);
		if (options->svg)
			rc = report_svg(snapshot, ledger, verdict,
					is_picture_alone(options) ? &faces->printed : &faces->picture, err);
		if (rc == 0 && options->format == FORMAT_JSON)
			rc = report_json(snapshot, ledger, verdict, &faces->printed, err);
		else if (rc == 0 && !is_picture_alone(options))
			rc = report_table(snapshot, ledger, verdict, command_color(options), command_columns(),
					  &faces->printed, err);
		*ret_status = verdict->worst >= SEVERITY_WARNING ? EXIT_FINDING : EXIT_OK;
		if (rc == 0 && snapshot->access == ACCESS_NONE)
			rc = err_set(err, ERR_DENIED, "nothing of process %d could be read", snapshot->process.pid);
	}
	build_free(snapshot);
	free(verdict);
	free(ledger);
	return rc;
}

/* A replay reads nothing of this machine; but a limit may be told to it as to a live report. */
static int replay(const struct options *options, struct evidence *evidence, struct err *err)
{
	const struct collect_options *collect = &options->collect;
	const struct {
		const char *name;
		bool given;
	} live_only[] = {
		{ "pid", collect->pid != 0 },
		{ "cgroup", collect->cgroup_directory != NULL },
		{ "metrics", collect->n_metrics_urls != 0 },
		{ "flink-rest", collect->flink_rest != NULL },
		{ "flink-conf", collect->flink_conf != NULL },
	};
	for (size_t i = 0; i < sizeof live_only / sizeof live_only[0]; i++)
		if (live_only[i].given)
			return err_set(err, ERR_USAGE, "--%s and --capture exclude each other", live_only[i].name);
	int rc = evidence_load(options->capture, evidence, err);
	const struct {
		const char *fact;
		struct limit limit;
	} limits[] = { { "told_limit", collect->limit }, { "pod_limit", collect->pod_limit } };
	for (size_t i = 0; rc == 0 && i < sizeof limits / sizeof limits[0]; i++) {
		if (limits[i].limit.kind != LIMIT_SET)
			continue;
		evidence_fact_drop(evidence, limits[i].fact);
		if (!evidence_fact(evidence, limits[i].fact, "%llu", (unsigned long long)limits[i].limit.bytes))
			rc = err_set(err, ERR_NOMEM, "no memory for a limit");
	}
	return rc;
}

/* What is wrong with where to write is said before anything is read. */
static int check_place(const struct options *options, struct err *err)
{
	struct stat st;
	if (is_picture_alone(options))
		return options->format == FORMAT_JSON
			       ? err_set(err, ERR_USAGE,
					 "--svg - and --format json exclude each other: one standard output")
			       : 0;
	if (options->svg && lstat(options->svg, &st) == 0)
		return err_set(err, ERR_USAGE, "--svg: %s is there already: give a file that does not exist",
			       options->svg);
	return 0;
}

/* Neither keeps the other back: a reader that went away ends the program, and a full disk is no reason to print nothing. */
static int hand_out(const struct options *options, const struct faces *faces, struct err *err)
{
	struct err unprinted = { 0 };
	int rc = faces->picture.len ? file_create_at(AT_FDCWD, options->svg, buf_str(&faces->picture), 0666, err) : 0;
	int printed = command_print(&faces->printed, "the report", &unprinted);
	if (rc == 0 && printed < 0)
		*err = unprinted;
	return rc < 0 ? rc : printed;
}

static void faces_done(struct faces *faces)
{
	buf_done(&faces->printed);
	buf_done(&faces->picture);
}

int cmd_report(int argc, char **argv)
{
	struct options options;
	struct err err = { 0 };
	int status = EXIT_OK;
	if (options_parse(argc, argv, COMMAND_REPORT, clock_wall(), &options, &err) < 0) {
		options_done(&options);
		return command_error(argv[0], &err);
	}
	if (options.help) {
		(void)printf(
			"usage: bankfull report [OPTION]...\nOne reading of one JVM and its container: who owns the memory.\n\n");
		options_help(COMMAND_REPORT);
		(void)printf(
			"\nexit status: 0 nothing at warning or above, 1 something is, 2 usage, 3 could not read\n");
		options_done(&options);
		return EXIT_OK;
	}
	struct evidence *evidence = malloc(sizeof *evidence);
	if (!evidence) {
		(void)err_set(&err, ERR_NOMEM, "no memory");
		options_done(&options);
		return command_error(argv[0], &err);
	}
	evidence_init(evidence);
	auto_(faces_done) struct faces faces = { { .cap = REPORT_CAP }, { .cap = REPORT_CAP } };
	int rc = check_place(&options, &err);
	if (rc == 0 && options.capture)
		rc = replay(&options, evidence, &err);
	else if (rc == 0 && choose_target(argv[0], &options, &status) == 0)
		rc = collect_run(&options.collect, evidence, &err);
	if (rc == 0 && status == EXIT_OK)
		rc = render(&options, evidence, &faces, &status, &err);
	if (rc == 0)
		rc = hand_out(&options, &faces, &err);
	if (rc < 0)
		status = command_error(argv[0], &err);
	evidence_done(evidence);
	free(evidence);
	options_done(&options);
	return status;
}
