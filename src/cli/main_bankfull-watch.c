/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "agent/target.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "sys/clock.h"
#include "watch/run.h"

enum {
	LIST_CAP = 64 * 1024,
	INTERVAL_MS = 2000,
	/* Closer than the agent's 30 s, for a person waits: the stall budget of 0.2 % holds all the same. */
	SMAPS_INTERVAL_MS = 10000,
	SCRAPE_INTERVAL_MS = 10000,
	ATTACH_INTERVAL_MS = 60000,
};

static int help(void)
{
	(void)printf(
		"usage: bankfull watch [OPTION]...\n"
		"       bankfull-watch --version\n"
		"The report of one JVM and its container, live. Needs a terminal; keys: ? shows them, q ends it.\n\n");
	options_help(COMMAND_WATCH);
	(void)printf("\nexit status: 0 ended by q or Ctrl-C, 2 usage or no terminal, 3 could not read\n");
	return EXIT_OK;
}

static int choose_target(struct options *options, struct err *err)
{
	if (options->collect.pid)
		return 0;
	auto_buf struct buf list = { .cap = LIST_CAP };
	int rc = target_find(&options->collect.pid, &list, err);
	if (rc < 0 && list.len) {
		/* As `bankfull report` does: what there is to choose from follows the error. */
		(void)command_error("watch", err);
		(void)fprintf(stderr, "%s", list.ptr);
		err->message[0] = '\0';
	}
	return rc;
}

/* An agent with nobody to tell: no collector, no port, no files. */
static int agent_settings(const struct options *options, struct agentconf *conf, struct err *err)
{
	char name[] = "watch";
	char *argv[] = { name, NULL };
	char *const environment[] = { NULL };
	int rc = agentconf_parse(1, argv, environment, conf, err);
	if (rc < 0)
		return rc;
	const struct collect_options *collect = &options->collect;
	conf->pid = collect->pid;
	conf->cgroup_directory = collect->cgroup_directory;
	conf->limit = collect->limit;
	conf->pod_limit = collect->pod_limit;
	_Static_assert((int)COLLECT_URLS_MAX <= (int)AGENT_URLS_MAX, "all URLs of the options are fetched");
	memcpy(conf->metrics_urls, collect->metrics_urls, sizeof collect->metrics_urls);
	conf->n_metrics_urls = collect->n_metrics_urls;
	conf->flink_rest = collect->flink_rest;
	conf->flink_conf = collect->flink_conf;
	conf->no_attach = collect->no_attach;
	conf->no_metrics = collect->no_metrics;
	if (collect->http_timeout_ms)
		conf->http_timeout_ms = collect->http_timeout_ms;
	conf->interval_ms = options->interval_ms ? options->interval_ms : INTERVAL_MS;
	conf->smaps_interval_ms = conf->interval_ms > SMAPS_INTERVAL_MS ? conf->interval_ms : SMAPS_INTERVAL_MS;
	conf->scrape_interval_ms = SCRAPE_INTERVAL_MS;
	conf->attach_interval_ms = ATTACH_INTERVAL_MS;
	conf->listen = "off";
	conf->rules = options->rules;
	return 0;
}

static int watch(struct options *options, int *ret_signal, struct err *err)
{
	/* Before anything is looked for: whoever pipes it wants a report. */
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_set(err, ERR_USAGE, "watch needs a terminal: use bankfull report");
	auto_free struct agentconf *conf = calloc(1, sizeof *conf);
	if (!conf)
		return err_set(err, ERR_NOMEM, "no memory");
	int rc = choose_target(options, err);
	if (rc == 0)
		rc = agent_settings(options, conf, err);
	if (rc < 0)
		return rc;
	const struct run_options run = { conf, bankfull_version, command_color(options) };
	rc = run_watch(&run, ret_signal, err);
	agentconf_done(conf);
	return rc;
}

int main(int argc, char **argv)
{
	struct err err = { 0 };
	static struct options options;
	static char name[] = "watch";
	int number = 0;
	/* As in main_bankfull.c: user code of the JVM has our uid, and a descriptor must not become somebody's stdout. */
	(void)prctl(PR_SET_DUMPABLE, 0);
	command_hold_descriptors();
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		(void)printf("bankfull-watch %s\n", bankfull_version);
		return EXIT_OK;
	}
	if (argc > 0)
		argv[0] = name;
	int rc = options_parse(argc, argv, COMMAND_WATCH, clock_wall(), &options, &err);
	if (rc == 0 && options.help)
		return help();
	if (rc == 0)
		rc = watch(&options, &number, &err);
	options_done(&options);
	if (rc < 0 && !err.message[0])
		return EXIT_USAGE;
	if (rc < 0)
		return command_error("watch", &err);
	if (number) {
		(void)signal(number, SIG_DFL);
		(void)raise(number);
	}
	return EXIT_OK;
}
