/* SPDX-License-Identifier: Apache-2.0 */
/* One function a command: it gets its own arguments (argv[0] is its name) and returns the exit status. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

extern const char bankfull_version[];

int cmd_report(int argc, char **argv);
int cmd_capture(int argc, char **argv);

struct err;

/* One line on stderr, escaped: "bankfull report: message". Returns the exit status that fits the error's kind. */
int command_error(const char *command, const struct err *err);

#endif
