/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "agent/agent.h"
#include "agent/node.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "sys/clock.h"
#include "sys/logger.h"

enum { HELP_CAP = 64 * 1024, SEEN_MS = 10 * 1000 };

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

/*
 * A kubelet starts the main container of a pod once it has seen the sidecar run, and it looks each second, later on a busy
 * node. A sidecar that had always ended by then would keep Flink from starting for as long as it fails.
 */
static void be_seen(struct mono since)
{
	const char *pod = getenv("BANKFULL_POD");
	uint64_t left_ms = mono_ms_until(clock_mono(), mono_add_ms(since, SEEN_MS));
	struct timespec wait = { .tv_sec = (time_t)(left_ms / 1000), .tv_nsec = (long)(left_ms % 1000) * 1000000 };
	sigset_t asked;
	if (!pod || !left_ms)
		return;
	(void)sigemptyset(&asked);
	(void)sigaddset(&asked, SIGTERM);
	(void)sigaddset(&asked, SIGINT);
	/* As the first process of its container it would not end by them. */
	(void)sigprocmask(SIG_BLOCK, &asked, NULL);
	(void)sigtimedwait(&asked, NULL, &wait);
}

static int fail(const char *command, const struct err *err, struct mono since)
{
	int status = command_error(command, err);
	be_seen(since);
	return status;
}

int cmd_agent(int argc, char **argv)
{
	struct err err = { 0 };
	struct mono since = clock_mono();
	auto_free struct agentconf *conf = calloc(1, sizeof *conf);
	if (!conf) {
		(void)err_set(&err, ERR_NOMEM, "no memory");
		return fail(argv[0], &err, since);
	}
	if (agentconf_parse(argc, argv, environ, conf, &err) < 0)
		return fail(argv[0], &err, since);
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
	int status = rc < 0 ? fail(argv[0], &err, since) : EXIT_OK;
	agentconf_done(conf);
	return status;
}
