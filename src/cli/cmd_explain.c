/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/date.h"
#include "cli/catalogue.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/page.h"
#include "rules/collector_rules.h"
#include "rules/pages.h"
#include "sys/clock.h"

enum { PAGE_CAP = 1024 * 1024 };

static int unknown_rule(const char *said, struct err *err)
{
	char hint[TYPO_HINT_CAP];
	return err_set(err, ERR_USAGE, "no rule '%.60s'%s (bankfull rules lists them)", said,
		       ruleconf_rule_hint(str_of(said), hint));
}

/* The page has the levels of the table: say where the configuration departs from it. */
static void departures(struct paint *p, const struct options *options, const char *rule)
{
	auto_buf struct buf text = { .cap = PAGE_CAP };
	const struct ruleconf *conf = &options->rules;
	const struct rule_silence *silence = catalogue_silence(conf, rule);
	for (unsigned i = 0; i < THRESHOLD_COUNT; i++) {
		char raised[CATALOGUE_TEXT_CAP], cleared[THRESHOLD_TEXT_CAP];
		if (strcmp(threshold_table[i].rule, rule) != 0 || !catalogue_changed(conf, (enum threshold)i))
			continue;
		(void)buf_printf(&text, "%s %s: %s, cleared at %s", text.len ? ";" : "", threshold_table[i].name,
				 catalogue_raised(raised, conf, (enum threshold)i),
				 thresholds_format(cleared, threshold_table[i].kind, conf->thresholds.clear[i]));
	}
	if (silence) {
		char until[DATE_TEXT_CAP];
		(void)buf_printf(&text, "%s silenced until %s, because: %s", text.len ? ";" : "",
				 date_format(until, silence->until.ms), silence->reason);
	}
	if (buf_failed(&text))
		p->out->state = text.state;
	if (text.len == 0)
		return;
	char line[FINDING_TEXT_CAP];
	(void)snprintf(line, sizeof line, "As %s says,%s", options->config, text.ptr);
	(void)buf_putc(p->out, '\n');
	paint_tone(p, TONE_YELLOW);
	paint_wrapped(p, 0, 0, line);
	paint_tone(p, TONE_PLAIN);
}

static int explain(const struct options *options, struct buf *out, struct err *err)
{
	if (!options->rule)
		return err_set(err, ERR_USAGE, "say which rule: bankfull explain RULE (bankfull rules lists them)");
	if (!rules_find(str_of(options->rule)) && !collector_rule_find(str_of(options->rule)))
		return unknown_rule(options->rule, err);
	const struct page *page = page_find(options->rule);
	if (!page)
		return err_set(err, ERR_UNSUPPORTED, "no page of %s was built in", options->rule);
	struct paint paint = paint_start(out, command_color(options), command_columns());
	page_render(&paint, str_of(page->text));
	departures(&paint, options, options->rule);
	return buf_failed(out) ? err_set(err, ERR_NOMEM, "no memory for the page") : 0;
}

int cmd_explain(int argc, char **argv)
{
	struct options options;
	struct err err = { 0 };
	auto_buf struct buf out = { .cap = PAGE_CAP };
	int rc = options_parse(argc, argv, COMMAND_EXPLAIN, clock_wall(), &options, &err);
	if (rc == 0 && options.help) {
		(void)printf(
			"usage: bankfull explain RULE [OPTION]...\nThe page of a rule: what it means, what it may be mistaken for, what to change, how to validate.\n\n");
		options_help(COMMAND_EXPLAIN);
		(void)printf(
			"\nexit status: 0 printed, 2 usage, an unknown rule or configuration, 3 could not write\n");
	} else if (rc == 0) {
		rc = explain(&options, &out, &err);
		if (rc == 0)
			rc = command_print(&out, "the page", &err);
	}
	options_done(&options);
	return rc < 0 ? command_error(argv[0], &err) : EXIT_OK;
}
