/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>

#include "agent/target.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "sys/clock.h"

enum { LIST_CAP = 64 * 1024 };

static int capture(struct options *options, struct evidence *evidence, struct err *err)
{
	auto_buf struct buf list = { .cap = LIST_CAP };
	if (!options->output)
		return err_set(err, ERR_USAGE, "say where to write: -o DIR");
	options->collect.slim_smaps = true;
	int rc = options->collect.pid ? 0 : target_find(&options->collect.pid, &list, err);
	if (rc < 0 && list.len)
		(void)fprintf(stderr, "%s", list.ptr);
	if (rc == 0)
		rc = collect_run(&options->collect, evidence, err);
	if (rc == 0)
		rc = evidence_write(evidence, options->output, bankfull_version, err);
	return rc;
}

int cmd_capture(int argc, char **argv)
{
	struct options options;
	struct err err = { 0 };
	struct evidence *evidence = NULL;
	int rc = options_parse(argc, argv, COMMAND_CAPTURE, clock_wall(), &options, &err);
	if (rc == 0 && options.help) {
		(void)printf(
			"usage: bankfull capture -o DIR [OPTION]...\nWrites all that a report would read, redacted, as plain text: bankfull report --capture DIR\n\n");
		options_help(COMMAND_CAPTURE);
		(void)printf("\nexit status: 0 written, 2 usage, 3 could not read or write\n");
		options_done(&options);
		return EXIT_OK;
	}
	if (rc == 0) {
		evidence = malloc(sizeof *evidence);
		if (!evidence)
			rc = err_set(&err, ERR_NOMEM, "no memory");
	}
	if (rc == 0) {
		evidence_init(evidence);
		rc = capture(&options, evidence, &err);
		evidence_done(evidence);
	}
	free(evidence);
	int status = rc < 0 ? command_error(argv[0], &err) : EXIT_OK;
	if (rc == 0)
		(void)fprintf(stderr, "bankfull capture: written to %s\n", options.output);
	options_done(&options);
	return status;
}
