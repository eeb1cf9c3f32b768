/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/vmargs.h"

#include "jvm/cmdline.h"
#include "jvm/option.h"

static struct str basename_of(struct str path)
{
	for (size_t i = path.len; i > 0; i--)
		if (path.ptr[i - 1] == '/')
			return str_skip(path, i);
	return path;
}

void vmargs_parse(struct str cmdline, struct vmargs *ret_args)
{
	struct vmargs args = { .args_at = cmdline.len };
	struct str rest = cmdline, argument;

	if (str_split(&rest, '\0', &argument)) {
		str_copy(args.program, sizeof args.program, basename_of(argument));
		args.is_java = str_eq(basename_of(argument), STR("java"));
	}
	while (str_split(&rest, '\0', &argument)) {
		bool is_jar = str_eq(argument, STR("-jar"));
		if (is_jar || str_eq(argument, STR("-m")) || str_eq(argument, STR("--module"))) {
			if (!str_split(&rest, '\0', &argument))
				break;
			args.is_jar = is_jar;
		} else if (cmdline_takes_value(argument)) {
			struct str value;
			(void)str_split(&rest, '\0', &value);
			continue;
		} else if (str_starts(argument, STR("-")) || str_starts(argument, STR("@"))) {
			(void)option_apply(argument, &args.flags);
			continue;
		}
		str_copy(args.main_class, sizeof args.main_class, args.is_jar ? basename_of(argument) : argument);
		args.args_at = cmdline.len - rest.len;
		break;
	}
	*ret_args = args;
}

void vmargs_apply_words(struct str words, struct jvm_flags *flags)
{
	struct str word;
	while (str_split(&words, ' ', &word))
		(void)option_apply(word, flags);
}

void vmargs_apply_all(struct str words, struct jvm_flags *flags)
{
	vmargs_apply_words(words, flags);
	if (flags->heap_origin == HEAP_ORIGIN_UNREAD)
		flags->heap_origin = HEAP_ORIGIN_DEFAULT;
}
