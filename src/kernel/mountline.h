/* SPDX-License-Identifier: Apache-2.0 */
/* One line of /proc/<pid>/mountinfo (proc_pid_mountinfo(5)). Of use to the parsers of this folder only. Pure. */
#ifndef KERNEL_MOUNTLINE_H
#define KERNEL_MOUNTLINE_H

#include "base/str.h"

struct mount_line {
	struct str device; /* "8:1", as st_dev tells it too */
	struct str root, point, type, super_options;
};

/* "36 35 98:0 /root /point options [optional...] - type source super". */
bool mountline_split(struct str line, struct mount_line *ret);

/*
 * Blanks, tabs, newlines and backslashes of paths stand as \ooo. False, and nothing to be relied on in dest, if a
 * backslash begins no byte or the path does not fit.
 */
bool mountline_unescape(char *dest, size_t cap, struct str text);

#endif
