/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "cli/catalogue.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "sys/clock.h"

enum { CATALOGUE_CAP = 1024 * 1024 };

static int render(const struct options *options, struct buf *out, struct err *err)
{
	if (options->format == FORMAT_JSON)
		return catalogue_json(&options->rules, out, err);
	struct paint paint = paint_start(out, command_color(options), command_columns());
	catalogue_table(&options->rules, options->config, &paint);
	return buf_failed(out) ? err_set(err, ERR_NOMEM, "no memory for the rules") : 0;
}

int cmd_rules(int argc, char **argv)
{
	struct options options;
	struct err err = { 0 };
	auto_buf struct buf out = { .cap = CATALOGUE_CAP };
	int rc = options_parse(argc, argv, COMMAND_RULES, clock_wall(), &options, &err);
	if (rc == 0 && options.help) {
		(void)printf(
			"usage: bankfull rules [OPTION]...\nEvery rule: what it means, what it needs, the levels at which it is raised and cleared.\n\n");
		options_help(COMMAND_RULES);
		(void)printf("\nexit status: 0 printed, 2 usage or configuration, 3 could not write\n");
	} else if (rc == 0) {
		rc = render(&options, &out, &err);
		if (rc == 0)
			rc = command_print(&out, "the list of rules", &err);
	}
	options_done(&options);
	return rc < 0 ? command_error(argv[0], &err) : EXIT_OK;
}
