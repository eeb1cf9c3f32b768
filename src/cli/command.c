/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands share. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/esc.h"
#include "cli/commands.h"
#include "cli/options.h"

void command_hold_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!open("/dev/null", O_RDONLY); /* the lowest free number is fd */
}

int command_error(const char *command, const struct err *err)
{
	char message[2 * sizeof err->message];
	(void)fprintf(stderr, "bankfull %s: %s\n", command, esc_copy(message, sizeof message, str_of(err->message)));
	return err->kind == ERR_USAGE ? EXIT_USAGE : EXIT_UNREADABLE;
}

int command_print(const struct buf *out, const char *what, struct err *err)
{
	if (out->len && (fwrite(out->ptr, 1, out->len, stdout) != out->len || fflush(stdout) != 0))
		return err_set(err, ERR_IO, "%s could not be written to standard output", what);
	return 0;
}

bool command_color(const struct options *options)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	if (options->color == COLOR_AUTO)
		return isatty(STDOUT_FILENO) && !(no_color && no_color[0]) && term && strcmp(term, "dumb") != 0;
	return options->color == COLOR_ALWAYS;
}

unsigned command_columns(void)
{
	struct winsize size = { 0 };
	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : 100;
}
