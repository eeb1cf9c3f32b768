/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/date.h"
#include "base/esc.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "config/agentconf.h"
#include "sys/clock.h"

enum { OUT_CAP = 256 * 1024 };

/* What does not keep the agent from starting, and should be known before it does. */
static void note_file(struct buf *out, const char *setting, const char *path)
{
	char shown[256];
	if (path && access(path, R_OK) != 0)
		(void)buf_printf(out, "note: %s: %s cannot be read here and now\n", setting,
				 esc_copy(shown, sizeof shown, str_of(path)));
}

static void notes(const struct agentconf *conf, struct wall now, struct buf *out)
{
	char day[DATE_TEXT_CAP];
	note_file(out, "token-file", conf->token_file);
	note_file(out, "ca-file", conf->ca_file);
	note_file(out, "cert-file", conf->cert_file);
	note_file(out, "key-file", conf->key_file);
	note_file(out, "flink-conf", conf->flink_conf);
	if (conf->state_dir && access(conf->state_dir, W_OK | X_OK) != 0)
		(void)buf_printf(out, "note: state-dir: not a directory that can be written here and now\n");
	for (size_t i = 0; i < conf->rules.silences.n; i++) {
		const struct rule_silence *silence = &conf->rules.silences.items[i];
		if (silence->until.ms <= now.ms)
			(void)buf_printf(out, "note: line %u: the silence of %s ended on %s and has no effect\n",
					 silence->line, silence->rule, date_format(day, silence->until.ms));
	}
}

static void show(const struct agentconf *conf, struct wall now, struct buf *out)
{
	size_t n_levels = 0;
	for (size_t i = 0; i < THRESHOLD_COUNT; i++)
		n_levels += conf->rules.said.raise[i] || conf->rules.said.clear[i];
	agentconf_show(conf, out);
	if (conf->config)
		(void)buf_printf(out, "  levels of rules: %zu, silences: %zu (bankfull rules --config shows them)\n",
				 n_levels, conf->rules.silences.n);
	notes(conf, now, out);
	(void)buf_printf(out, "bankfull agent would start%s\n", out->len ? "" : ", all by default");
}

static void help(struct buf *out)
{
	(void)buf_puts(out, "usage: bankfull check-config [FILE] [OPTION]...\n"
			    "What bankfull agent would run with: by its flags, BANKFULL_* variables and file.\n\n");
	agentconf_help(out);
	(void)buf_puts(out, "\nexit status: 0 it would start, 2 it would not, 3 could not write\n");
}

int cmd_check_config(int argc, char **argv)
{
	struct err err = { 0 };
	auto_buf struct buf out = { .cap = OUT_CAP };
	auto_free struct agentconf *conf = calloc(1, sizeof *conf);
	auto_free char **args = calloc((size_t)argc + 2, sizeof *args);
	if (!conf || !args) {
		(void)err_set(&err, ERR_NOMEM, "no memory");
		return command_error(argv[0], &err);
	}
	/* FILE is --config FILE. */
	int n = 0;
	args[n++] = argv[0];
	bool positional = argc > 1 && argv[1][0] != '-';
	static char config[] = "--config";
	if (positional)
		args[n++] = config;
	for (int i = 1; i < argc; i++)
		args[n++] = argv[i];
	int rc = agentconf_parse(n, args, environ, conf, &err);
	if (rc == 0 && conf->help)
		help(&out);
	else if (rc == 0)
		show(conf, clock_wall(), &out);
	if (rc == 0)
		rc = command_print(&out, "the settings", &err);
	agentconf_done(conf);
	return rc < 0 ? command_error(argv[0], &err) : EXIT_OK;
}
