/* SPDX-License-Identifier: Apache-2.0 */
/* `bankfull watch` is a program of its own, so that nothing else has to carry ncurses. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "cli/commands.h"
#include "cli/options.h"

static const char program[] = "bankfull-watch";

/* Beside this very program, through links; then as any command. Returns only when there is none. */
static void become(char **argv)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof path);
	char *slash = len > 0 && (size_t)len < sizeof path ? memrchr(path, '/', (size_t)len) : NULL;
	if (slash && (size_t)(slash + 1 - path) + sizeof program <= sizeof path) {
		memcpy(slash + 1, program, sizeof program);
		(void)execv(path, argv);
		if (errno != ENOENT)
			return;
	}
	(void)execvp(program, argv);
}

int cmd_watch(int argc, char **argv)
{
	struct err err = { 0 };
	(void)argc;
	char *name = argv[0];
	become(argv);
	if (errno == ENOENT)
		(void)err_set(
			&err, ERR_USAGE,
			"%s is neither beside this program nor in PATH: it is installed apart; bankfull report needs nothing more",
			program);
	else
		(void)err_sys(&err, errno, "%s", program);
	return command_error(name, &err);
}
