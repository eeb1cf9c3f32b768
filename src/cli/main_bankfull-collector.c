/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/esc.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "collector/app.h"
#include "collector/init_tls.h"
#include "collector/store.h"
#include "sys/clock.h"

static const char usage[] =
	"usage: bankfull-collector --listen ADDRESS:PORT --data DIR [OPTION]...\n"
	"       bankfull-collector backup DIR FILE     the database of DIR, in use or not, to a new FILE\n"
	"       bankfull-collector restore FILE DIR    a backup becomes the database of DIR, which has none\n"
	"       bankfull-collector check DIR           is the database whole, and what it should be\n"
	"       bankfull-collector init-tls SECRET CONFIGMAP     an authority for this installation on Kubernetes, once\n"
	"       bankfull-collector remove-tls SECRET CONFIGMAP   and what it made away again\n"
	"       bankfull-collector --version\n\n";

static int complain(const char *command, const struct err *err)
{
	char message[2 * sizeof err->message];
	(void)fprintf(stderr, "bankfull-collector%s%s: %s\n", command[0] ? " " : "", command,
		      esc_copy(message, sizeof message, str_of(err->message)));
	return err->kind == ERR_USAGE ? EXIT_USAGE : EXIT_UNREADABLE;
}

static int backup(char **argv, struct err *err)
{
	return store_backup(argv[0], argv[1], err);
}

static int restore(char **argv, struct err *err)
{
	return store_restore(argv[0], argv[1], err);
}

static int check(char **argv, struct err *err)
{
	auto_buf struct buf report = { .cap = 1 << 20 };
	struct err second;
	int rc = store_check(argv[0], &report, err);
	if (report.len && command_print(&report, "the report", &second) < 0 && rc == 0) {
		*err = second;
		rc = -EIO;
	}
	return rc;
}

static int authority(char **argv, bool remove, struct err *err)
{
	auto_buf struct buf said = { .cap = 1 << 16 };
	struct err second;
	/* For tests and for whoever runs it outside of a pod. */
	const struct init_tls_options options = { .secret = argv[0],
						  .config_map = argv[1],
						  .remove = remove,
						  .api = getenv("BANKFULL_API_URL"),
						  .api_ca_file = getenv("BANKFULL_API_CA_FILE"),
						  .api_token_file = getenv("BANKFULL_API_TOKEN_FILE"),
						  .namespace_ = getenv("BANKFULL_API_NAMESPACE") };
	int rc = init_tls(&options, clock_wall().ms / 1000, &said, err);
	if (said.len && command_print(&said, "what was done", &second) < 0 && rc == 0) {
		*err = second;
		rc = -EIO;
	}
	return rc;
}

static int init(char **argv, struct err *err)
{
	return authority(argv, false, err);
}

static int remove_tls(char **argv, struct err *err)
{
	return authority(argv, true, err);
}

static const struct {
	const char *name, *arguments;
	int n_arguments;
	int (*run)(char **argv, struct err *err);
} commands[] = { { "backup", "DIR FILE", 2, backup },
		 { "restore", "FILE DIR", 2, restore },
		 { "check", "DIR", 1, check },
		 { "init-tls", "SECRET CONFIGMAP", 2, init },
		 { "remove-tls", "SECRET CONFIGMAP", 2, remove_tls } };

/* -1: it is none of them. */
static int run_command(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof commands[0]; i++) {
		struct err err;
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		if (argc != 2 + commands[i].n_arguments) {
			(void)err_set(&err, ERR_USAGE, "wants %s: see --help", commands[i].arguments);
			return complain(commands[i].name, &err);
		}
		int rc = commands[i].run(argv + 2, &err);
		int status = rc < 0 ? complain(commands[i].name, &err) : EXIT_OK;
		/* A check that found something has done what it was asked to. */
		return rc < 0 && commands[i].run == check && err.kind == ERR_MALFORMED ? EXIT_FINDING : status;
	}
	return -1;
}

static int print_help(void)
{
	auto_buf struct buf text = { .cap = 1 << 16 };
	struct err err;
	(void)buf_puts(&text, usage);
	collectorconf_help(&text);
	(void)buf_puts(
		&text,
		"\nEach option is also a variable: --agent-tokens is BANKFULL_AGENT_TOKENS. It ends by SIGTERM.\n"
		"exit status: 0 asked to end, or done, 1 check found something, 2 usage or configuration,\n"
		"             3 could not run\n");
	return command_print(&text, "the help", &err) < 0 ? complain("", &err) : EXIT_OK;
}

static int serve(int argc, char **argv)
{
	struct collectorconf conf;
	struct logger log;
	struct err err;
	int status = EXIT_OK;
	if (collectorconf_parse(argc, argv, environ, &conf, &err) < 0)
		return complain("", &err);
	logger_init(&log, STDERR_FILENO, conf.log_debug ? SAY_DEBUG : SAY_INFO);
	if (conf.help)
		status = print_help();
	else if (app_run(&conf, bankfull_version, &log, &err) < 0)
		status = complain("", &err);
	collectorconf_done(&conf);
	return status;
}

int main(int argc, char **argv)
{
	/* It holds tokens and everybody's figures. */
	(void)prctl(PR_SET_DUMPABLE, 0);
	/* A limit on the size of files is an error of write(2), which is told, and no reason to die. */
	(void)signal(SIGXFSZ, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	command_hold_descriptors();
	if (argc == 2 && strcmp(argv[1], "--version") == 0) {
		(void)printf("bankfull-collector %s\n", bankfull_version);
		return fflush(stdout) == 0 ? EXIT_OK : EXIT_UNREADABLE;
	}
	if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
		return print_help();
	int status = run_command(argc, argv);
	return status >= 0 ? status : serve(argc, argv);
}
