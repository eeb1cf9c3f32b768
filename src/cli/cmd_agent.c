/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/node.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "sys/logger.h"

enum { HELP_CAP = 64 * 1024 };

static int help(void)
{
	struct err err = { 0 };
	auto_buf struct buf out = { .cap = HELP_CAP };
	(void)buf_puts(
		&out,
		"usage: bankfull agent [OPTION]...\n"
		"Watches one JVM and its container (--node: those of all pods of a node): samples, findings and post-mortems to a collector,\n"
		"/metrics for Prometheus, a log on stderr, post-mortems on stdout.\n\n");
	agentconf_help(&out);
	(void)buf_puts(&out,
		       "\nEach option is also a variable: --state-dir is BANKFULL_STATE_DIR. It ends by SIGTERM.\n"
		       "exit status: 0 asked to end, 2 usage or configuration, 3 could not start\n");
	return command_print(&out, "the help", &err) < 0 ? command_error("agent", &err) : EXIT_OK;
}

int cmd_agent(int argc, char **argv)
{
	struct err err = { 0 };
	auto_free struct agentconf *conf = calloc(1, sizeof *conf);
	if (!conf) {
		(void)err_set(&err, ERR_NOMEM, "no memory");
		return command_error(argv[0], &err);
	}
	if (agentconf_parse(argc, argv, environ, conf, &err) < 0)
		return command_error(argv[0], &err);
	if (conf->help) {
		agentconf_done(conf);
		return help();
	}
	/* A reader of our logs or post-mortems that went away is no reason to go, too. */
	(void)signal(SIGPIPE, SIG_IGN);
	struct logger log;
	logger_init(&log, STDERR_FILENO, conf->log_debug ? SAY_DEBUG : SAY_INFO);
	const struct node_call call = { argc, argv, environ };
	int rc = conf->node ? node_run(conf, &call, &log, bankfull_version, &err)
			    : agent_run(conf, &log, bankfull_version, &err);
	int status = rc < 0 ? command_error(argv[0], &err) : EXIT_OK;
	agentconf_done(conf);
	return status;
}
