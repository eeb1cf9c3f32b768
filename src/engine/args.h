/* SPDX-License-Identifier: Apache-2.0 */
/* Walking a command line as /proc has it: arguments with a NUL after each, the last one's may be missing. Pure. */
#ifndef ENGINE_ARGS_H
#define ENGINE_ARGS_H

#include "base/str.h"

/* Take the next argument, which may be empty. False at the end. */
static inline bool args_next(struct str *rest, struct str *ret_argument)
{
	return str_split(rest, '\0', ret_argument);
}

/* The part after the last '/'. */
struct str path_base(struct str path);

/*
 * The arguments after the JVM's own options: from the main class (or jar) on, the class itself first. Empty if no
 * class is found; then `ret_class` is empty.
 */
struct str args_program(struct str cmdline, struct str *ret_class);

#endif
