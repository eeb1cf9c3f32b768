/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/args.h"

struct str path_base(struct str path)
{
	struct str part = path, rest = path;
	while (str_split(&rest, '/', &part))
		;
	return part;
}

/*
 * Launcher options whose value is the next argument (java(1)); --opt=value forms start with '-' and need nothing.
 */
static bool takes_value(struct str option)
{
	static const char *const options[] = {
		"-cp",
		"-classpath",
		"--class-path",
		"-p",
		"--module-path",
		"--upgrade-module-path",
		"--add-modules",
		"--add-exports",
		"--add-opens",
		"--add-reads",
		"--patch-module",
		"--enable-native-access",
		"--limit-modules",
		"-d",
		"--describe-module",
		"--source",
	};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (str_eq(option, str_of(options[i])))
			return true;
	return false;
}

struct str args_program(struct str cmdline, struct str *ret_class)
{
	struct str rest = cmdline, argument;
	*ret_class = (struct str){ "", 0 };
	if (!args_next(&rest, &argument)) /* the launcher */
		return (struct str){ "", 0 };
	for (;;) {
		struct str here = rest;
		if (!args_next(&rest, &argument))
			return (struct str){ "", 0 };
		if (str_eq(argument, STR("-jar")) || str_eq(argument, STR("-m")) || str_eq(argument, STR("--module"))) {
			here = rest;
			if (!args_next(&rest, &argument))
				return (struct str){ "", 0 };
			*ret_class = argument;
			return here;
		}
		if (takes_value(argument)) {
			(void)args_next(&rest, &argument);
		} else if (str_eq(argument, STR("<redacted>"))) {
			continue; /* the value of an option whose name was taken out; class names are kept */
		} else if (argument.len && argument.ptr[0] != '-' && argument.ptr[0] != '@') {
			*ret_class = argument;
			return here;
		}
	}
}
