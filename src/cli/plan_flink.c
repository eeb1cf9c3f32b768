/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what a plan of Flink is made of, and prints it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/plan.h"
#include "plan/flinkkeys.h"
#include "plan/quantity.h"
#include "sys/file.h"

enum { OUT_CAP = 4 << 20 };

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* The version that is said, else the one whose file this is: flink-conf.yaml ended with 1.20. */
static int choose_version(const struct plan_options *options, enum flinkconf_format format, unsigned *ret_version,
			  struct err *err)
{
	bool legacy = options->flink_conf && format == FLINKCONF_LEGACY;
	const char *said = options->version ? options->version : legacy ? "1.20" : "2.x";
	int rc = flinkkeys_version_find(str_of(said), ret_version, err);
	if (rc < 0) {
		err_wrap(err, "--version");
		return rc;
	}
	if (legacy && !flinkkeys_is_1x(*ret_version))
		return err_set(
			err, ERR_USAGE,
			"%.200s: Flink %s reads config.yaml alone: flink-conf.yaml is ignored since 2.0 (--version 1.20 reads it)",
			options->flink_conf, flinkkeys_version(*ret_version));
	return 0;
}

static int read_sets(const struct plan_options *options, char slots[48], struct declared *declared, struct err *err)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < options->n_sets; i++)
		rc = declared_set(declared, options->sets[i], err);
	if (rc == 0 && options->slots) {
		(void)snprintf(slots, 48, "taskmanager.numberOfTaskSlots=%llu", (unsigned long long)options->slots);
		rc = declared_set(declared, slots, err);
	}
	return rc;
}

static int show(const struct plan_options *options, const struct flinkplan *plan, struct err *err)
{
	auto_buf struct buf out = { .cap = OUT_CAP };
	const struct plan_face face = { options->colored, command_columns() };
	int rc = options->json ? plan_flink_json(plan, options->flink_conf, &out, err)
			       : plan_flink_table(plan, options->flink_conf, &face, &out, err);
	return rc < 0 ? rc : command_print(&out, "the plan", err);
}

/* A refusal is an answer, too: for programs it stands on the standard output as well. */
static int refuse(const struct plan_options *options, struct err *why)
{
	auto_buf struct buf out = { .cap = OUT_CAP };
	struct err err = { 0 };
	int rc = options->json ? plan_refused_json(why->message, &out, &err) : 0;
	if (rc == 0)
		rc = command_print(&out, "the plan", &err);
	if (rc < 0)
		*why = err;
	else
		err_wrap(why, "Flink refuses it");
	return rc;
}

int plan_flink(const struct plan_options *options, int *ret_status, struct err *err)
{
	auto_buf struct buf text = { .cap = LIMIT_CONFIG_FILE };
	auto_flinkconf struct flinkconf file = { 0 };
	auto_flinkplan struct flinkplan plan = { 0 };
	auto_free struct declared *declared = calloc(1, sizeof *declared);
	struct ruleconf rules = { 0 };
	char slots[48];
	if (!declared)
		return err_set(err, ERR_NOMEM, "no memory for a plan");
	thresholds_init(&rules.thresholds);
	enum flinkconf_format format = FLINKCONF_YAML;
	const char *name = options->flink_conf ? base_of(options->flink_conf) : NULL;
	int rc = 0;
	if (name) {
		format = flinkconf_format_of(str_of(name));
		rc = file_read_named(options->flink_conf, LIMIT_CONFIG_FILE, &text, err);
	}
	if (rc == 0)
		rc = choose_version(options, format, &declared->version, err);
	if (rc == 0 && name)
		rc = flinkconf_parse(buf_str(&text), format, name, &file, err);
	if (rc < 0 && err->kind == ERR_MALFORMED)
		err->kind = ERR_USAGE; /* the configuration is the user's to mend */
	if (rc == 0)
		rc = read_sets(options, slots, declared, err);
	struct flinkplan_ask ask = {
		.declared = declared,
		.file_text = buf_str(&text),
		.file_name = name,
		.role = options->jobmanager ? DERIVE_JOBMANAGER : DERIVE_TASKMANAGER,
		.limit_said = options->limit,
		.n_states = { options->states, options->states > 0 },
		.thresholds = &rules.thresholds,
	};
	if (rc == 0 && options->limit) {
		rc = quantity_parse(str_of(options->limit), &ask.limit.bytes, err);
		ask.limit.kind = LIMIT_SET;
		if (rc < 0)
			err_wrap(err, "--limit");
	}
	if (rc < 0)
		return rc;
	declared->file = name ? &file : NULL;
	rc = flinkplan_run(&ask, &plan, err);
	if (rc < 0) {
		if (err->kind == ERR_USAGE)
			(void)refuse(options, err);
		return rc;
	}
	*ret_status = plan.verdict->worst >= SEVERITY_WARNING ? EXIT_FINDING : EXIT_OK;
	return show(options, &plan, err);
}
