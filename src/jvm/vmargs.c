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

/* "75", "75.0", "37.25": basis points, cut after the second decimal. 0 if it is none, or over 100 %. */
static uint32_t parse_percentage(struct str text)
{
	uint64_t whole, points;
	if (!str_u64(&text, &whole) || whole > 100)
		return 0;
	points = whole * 100;
	if (str_take(&text, STR("."))) {
		for (unsigned unit = 10; text.len; unit /= 10, text = str_skip(text, 1)) {
			if (text.ptr[0] < '0' || text.ptr[0] > '9')
				return 0;
			points += unit * (unsigned)(text.ptr[0] - '0');
		}
	}
	return text.len == 0 && points <= 10000 ? (uint32_t)points : 0;
}

/* One JVM option. */
static void apply(struct str option, struct vmargs *args)
{
	struct str rest = option;
	if (str_take(&rest, STR("-XX:MaxRAMPercentage=")))
		args->max_ram_bp = parse_percentage(rest);
	else
		(void)option_apply(option, &args->flags);
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
			apply(argument, &args);
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
