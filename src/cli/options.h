/* SPDX-License-Identifier: Apache-2.0 */
/* The command line, by one table: it parses, it checks, it is the help text; the same names serve in --config FILE. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "agent/collect.h"
#include "config/ruleconf.h"

/* Exit status of every command, as documented in README.md. */
enum { EXIT_OK = 0, EXIT_FINDING = 1, EXIT_USAGE = 2, EXIT_UNREADABLE = 3 };

enum output_format { FORMAT_TABLE = 0, FORMAT_JSON };

struct options {
	struct collect_options collect;
	const char *capture; /* directory to replay */
	const char *output;  /* directory to write */
	const char *svg;     /* file to write a picture to; "-": standard output, in place of the report */
	const char *config;
	const char *rule; /* the argument of explain */
	enum output_format format;
	enum { COLOR_AUTO = 0, COLOR_ALWAYS, COLOR_NEVER } color;
	bool help;
	uint64_t interval_ms;   /* of watch; 0: its default */
	struct buf config_text; /* strings of the configuration live here */
	struct ruleconf rules;  /* the table's, or as the configuration says */
};

enum {
	COMMAND_REPORT = 1 << 0,
	COMMAND_CAPTURE = 1 << 1,
	COMMAND_RULES = 1 << 2,
	COMMAND_EXPLAIN = 1 << 3,
	COMMAND_WATCH = 1 << 4
};

/*
 * argv[0] is the command's name. USAGE with what is wrong. `command`: which options it takes. `now` judges whether a
 * silence of the configuration has ended.
 */
int options_parse(int argc, char **argv, unsigned command, struct wall now, struct options *ret_options,
		  struct err *err) __attribute__((warn_unused_result));
void options_done(struct options *options);

/* The help text of one command. */
void options_help(unsigned command);

#endif
