/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A path below a directory that somebody hostile may write to, resolved without ever leaving it. Of use to
 * file.c only: what comes out names a file (O_PATH) and has not opened it.
 */
#ifndef SYS_RESOLVE_H
#define SYS_RESOLVE_H

#include <stdbool.h>

#include "base/err.h"

enum resolve_how {
	RESOLVE_UNDER, /* rootfd is "/": absolute links and ".." stay inside */
	RESOLVE_BELOW, /* absolute paths and links, and ".." above rootfd, are errors */
};

/* GONE, DENIED; UNSUPPORTED for what leaves the root, a magic link, or too many links (40) or levels (64). */
int resolve_open(int rootfd, const char *path, enum resolve_how how, int *ret_path_fd, struct err *err)
	__attribute__((warn_unused_result));

#endif
