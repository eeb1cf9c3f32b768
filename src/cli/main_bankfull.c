/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/esc.h"
#include "cli/commands.h"
#include "cli/options.h"

struct command {
	const char *name, *help;
	int (*run)(int argc, char **argv);
};

static const struct command commands[] = {
	{ "report", "who owns the memory of one JVM and its container, and what follows from it", cmd_report },
	{ "watch", "the same live, for whoever has a terminal beside the JVM", cmd_watch },
	{ "agent", "watch one JVM: samples, findings and post-mortems to a collector, /metrics, a log", cmd_agent },
	{ "fleet", "what a collector knows of all pods, those in most danger first", cmd_fleet },
	{ "debug", "the report of a running pod that nobody prepared, by kubectl", cmd_debug },
	{ "doctor", "what keeps an installation or a pod from being watched, and what to do", cmd_doctor },
	{ "inject", "Kubernetes YAML with the agent as a sidecar, all else as it was", cmd_inject },
	{ "plan", "before anything runs: what a configuration gives, and whether it fits its limit", cmd_plan },
	{ "rules", "every rule, what it needs, and the levels at which it speaks", cmd_rules },
	{ "explain", "what a rule means, what it may be mistaken for, what to change", cmd_explain },
	{ "check-config", "what bankfull agent would run with, and what is wrong with it", cmd_check_config },
	{ "capture", "write all that a report would read, for a bug report or a replay", cmd_capture },
};

enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static void usage(FILE *to)
{
	(void)fprintf(to, "usage: bankfull COMMAND [OPTION]...\n\n");
	for (int i = 0; i < COMMAND_COUNT; i++)
		(void)fprintf(to, "  %-13s %s\n", commands[i].name, commands[i].help);
	(void)fprintf(to, "\nbankfull COMMAND --help lists its options; bankfull --version prints the version.\n");
}

static int run(int argc, char **argv)
{
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0) {
		(void)printf("bankfull %s\n", bankfull_version);
		return EXIT_OK;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
		usage(stdout);
		return EXIT_OK;
	}
	for (int i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	char shown[64];
	(void)fprintf(stderr, "bankfull: no command '%s': see bankfull --help\n",
		      esc_copy(shown, sizeof shown, str_of(argv[1])));
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	/* User code of the watched JVM has our uid: without this it could read our memory and descriptors. */
	(void)prctl(PR_SET_DUMPABLE, 0);
	/* A limit on the size of files is an error of write(2), which is told, and no reason to die. */
	(void)signal(SIGXFSZ, SIG_IGN);
	command_hold_descriptors();
	int status = run(argc, argv);
	/* Help and version; a report has looked itself. */
	if (status == EXIT_OK && fflush(stdout) != 0) {
		(void)fprintf(stderr, "bankfull: standard output could not be written: %s\n", strerror(errno));
		status = EXIT_UNREADABLE;
	}
	return status;
}
