/* SPDX-License-Identifier: Apache-2.0 */
/* One function a command: it gets its own arguments (argv[0] is its name) and returns the exit status. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include <stdbool.h>

extern const char bankfull_version[];

int cmd_report(int argc, char **argv);
int cmd_capture(int argc, char **argv);
int cmd_rules(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_check_config(int argc, char **argv);
int cmd_agent(int argc, char **argv);
int cmd_watch(int argc, char **argv);
int cmd_fleet(int argc, char **argv);
int cmd_inject(int argc, char **argv);
int cmd_debug(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_plan(int argc, char **argv);

/* What they share: command.c. */
struct buf;
struct err;
struct options;

/* A file that is opened must not become the standard output or error that somebody closed. Writing there fails as it did. */
void command_hold_descriptors(void);

/* One line on stderr, escaped: "bankfull report: message". Returns the exit status that fits the error's kind. */
int command_error(const char *command, const struct err *err);

/* All of `out` on the standard output. `what` names it in the message: "the report". */
int command_print(const struct buf *out, const char *what, struct err *err) __attribute__((warn_unused_result));

/* Of the standard output: whether to colour it, and its width (100 where it is no terminal). */
bool command_color(const struct options *options);
unsigned command_columns(void);

#endif
