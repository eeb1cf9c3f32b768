/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/catalogue.h"

#include <stdio.h>

#include "base/date.h"
#include "data/js.h"
#include "rules/collector_rules.h"

/* The columns of a level: where its name starts, the side and level of raising, that of clearing, of what. */
enum { AT_NAME = 4, AT_RAISED = 20, AT_CLEARED = 37, AT_OF = 49 };

static const char *side_of(const struct threshold_info *info)
{
	return info->side == RAISED_ABOVE ? "above" : "below";
}

const char *catalogue_raised(char dest[CATALOGUE_TEXT_CAP], const struct ruleconf *conf, enum threshold threshold)
{
	const struct threshold_info *info = &threshold_table[threshold];
	char level[THRESHOLD_TEXT_CAP];
	(void)snprintf(dest, CATALOGUE_TEXT_CAP, "%s %s%s%s", side_of(info),
		       thresholds_format(level, info->kind, conf->thresholds.raise[threshold]), info->of ? " " : "",
		       info->of ? info->of : "");
	return dest;
}

bool catalogue_changed(const struct ruleconf *conf, enum threshold threshold)
{
	return conf->thresholds.raise[threshold] != threshold_table[threshold].raise ||
	       conf->thresholds.clear[threshold] != threshold_table[threshold].clear;
}

const struct rule_silence *catalogue_silence(const struct ruleconf *conf, const char *rule)
{
	for (size_t i = 0; i < conf->silences.n; i++)
		if (strcmp(conf->silences.items[i].rule, rule) == 0)
			return &conf->silences.items[i];
	return NULL;
}

static void level_line(struct paint *p, const struct threshold_info *info, const char *name, uint64_t raise,
		       uint64_t clear, const char *of)
{
	char level[THRESHOLD_TEXT_CAP], raised[48];
	(void)snprintf(raised, sizeof raised, "%s %s", side_of(info), thresholds_format(level, info->kind, raise));
	(void)buf_printf(p->out, "%-*s%-*s%-*s", AT_RAISED - AT_NAME, name, AT_CLEARED - AT_RAISED, raised,
			 of[0] ? AT_OF - AT_CLEARED : 0, thresholds_format(level, info->kind, clear));
	paint_wrapped(p, AT_OF, AT_OF, of);
}

/* What is in force, and below it what would be without the configuration. */
static void level(struct paint *p, const struct ruleconf *conf, enum threshold threshold)
{
	const struct threshold_info *info = &threshold_table[threshold];
	bool changed = catalogue_changed(conf, threshold);
	if (changed)
		paint_tone(p, TONE_YELLOW);
	(void)buf_puts(p->out, changed ? "  * " : "    ");
	level_line(p, info, info->name, conf->thresholds.raise[threshold], conf->thresholds.clear[threshold],
		   info->of ? info->of : "");
	if (!changed)
		return;
	(void)buf_puts(p->out, "    ");
	level_line(p, info, "  (default)", info->raise, info->clear, "");
	paint_tone(p, TONE_PLAIN);
}

static void rule_lines(struct paint *p, const struct ruleconf *conf, const struct rule *rule)
{
	const struct rule_silence *silence = catalogue_silence(conf, rule->name);
	char text[SILENCE_REASON_CAP + 64], until[DATE_TEXT_CAP];
	(void)buf_putc(p->out, '\n');
	paint_text(p, TONE_BOLD, rule->name);
	(void)buf_puts(p->out, ": ");
	paint_wrapped(p, 2, (unsigned)strlen(rule->name) + 2, rule->meaning);
	(void)buf_puts(p->out, "  needs ");
	paint_wrapped(p, 8, 8, rule->inputs);
	if (rule->needs_history)
		(void)buf_puts(p->out, "  judged by an agent alone: one reading has no history\n");
	for (unsigned i = 0; i < THRESHOLD_COUNT; i++)
		if (strcmp(threshold_table[i].rule, rule->name) == 0)
			level(p, conf, (enum threshold)i);
	if (!silence)
		return;
	(void)snprintf(text, sizeof text, "silenced until %s: %s", date_format(until, silence->until.ms),
		       silence->reason);
	paint_tone(p, TONE_YELLOW);
	(void)buf_puts(p->out, "  * ");
	paint_wrapped(p, 4, 4, text);
	paint_tone(p, TONE_PLAIN);
}

static void collector_rule_lines(struct paint *p, const struct collector_rule *rule)
{
	(void)buf_putc(p->out, '\n');
	paint_text(p, TONE_BOLD, rule->name);
	(void)buf_puts(p->out, ": ");
	paint_wrapped(p, 2, (unsigned)strlen(rule->name) + 2, rule->meaning);
	(void)buf_puts(p->out, "  judged by the collector, needs ");
	paint_wrapped(p, 8, 32, rule->inputs);
}

void catalogue_table(const struct ruleconf *conf, const char *config, struct paint *p)
{
	char text[512];
	bool changed = conf->silences.n > 0;
	paint_tone(p, TONE_BOLD);
	(void)buf_printf(p->out, "    %-*s%-*s%-*s%s\n", AT_RAISED - AT_NAME, "THRESHOLD", AT_CLEARED - AT_RAISED,
			 "RAISED", AT_OF - AT_CLEARED, "CLEARED AT", "OF");
	paint_tone(p, TONE_PLAIN);
	for (size_t i = 0; i < rule_count; i++)
		rule_lines(p, conf, &rule_table[i]);
	for (size_t i = 0; i < COLLECTOR_RULE_COUNT; i++)
		collector_rule_lines(p, &collector_rule_table[i]);
	for (unsigned i = 0; i < THRESHOLD_COUNT; i++)
		changed |= catalogue_changed(conf, (enum threshold)i);
	(void)snprintf(
		text, sizeof text,
		"%s%s%sbankfull explain RULE tells what a rule means and why its levels are what they are; a file given "
		"with --config sets others, and silences (docs/configuration.md).",
		changed && config ? "* as " : "", changed && config ? config : "", changed && config ? " says. " : "");
	(void)buf_putc(p->out, '\n');
	paint_wrapped(p, 0, 0, text);
}

static void put_text(struct js_out *out, const char *key, const char *text)
{
	js_out_key(out, key);
	js_out_text(out, text);
}

static void put_number(struct js_out *out, const char *key, uint64_t number)
{
	js_out_key(out, key);
	js_out_u64(out, number);
}

static void put_threshold(struct js_out *out, const struct ruleconf *conf, enum threshold threshold)
{
	static const char *const units[THRESHOLD_KIND_COUNT] = { "basis_points", "bytes", "count" };
	const struct threshold_info *info = &threshold_table[threshold];
	char raised[CATALOGUE_TEXT_CAP], cleared[THRESHOLD_TEXT_CAP];
	js_out_object(out);
	put_text(out, "name", info->name);
	put_text(out, "unit", units[info->kind]);
	put_text(out, "of", info->of);
	put_text(out, "raised_when", side_of(info));
	put_number(out, "raise", conf->thresholds.raise[threshold]);
	put_number(out, "clear", conf->thresholds.clear[threshold]);
	put_number(out, "default_raise", info->raise);
	put_number(out, "default_clear", info->clear);
	js_out_key(out, "changed");
	js_out_bool(out, catalogue_changed(conf, threshold));
	put_text(out, "raised_text", catalogue_raised(raised, conf, threshold));
	put_text(out, "cleared_text", thresholds_format(cleared, info->kind, conf->thresholds.clear[threshold]));
	put_text(out, "reason", info->reason);
	js_out_object_end(out);
}

static void put_silence(struct js_out *out, const struct rule_silence *silence)
{
	js_out_key(out, "silenced");
	if (!silence) {
		js_out_null(out);
		return;
	}
	js_out_object(out);
	put_text(out, "reason", silence->reason);
	js_out_key(out, "until_ms");
	js_out_i64(out, silence->until.ms);
	js_out_object_end(out);
}

static void put_head(struct js_out *out, const char *name, const char *meaning, const char *inputs,
		     const char *judged_by, bool needs_history)
{
	js_out_object(out);
	put_text(out, "name", name);
	put_text(out, "meaning", meaning);
	put_text(out, "inputs", inputs);
	put_text(out, "judged_by", judged_by);
	js_out_key(out, "needs_history");
	js_out_bool(out, needs_history);
	js_out_key(out, "thresholds");
	js_out_array(out);
}

/* No configuration of an agent moves or silences what the collector judges. */
static void put_collector_rules(struct js_out *out)
{
	for (size_t i = 0; i < COLLECTOR_RULE_COUNT; i++) {
		const struct collector_rule *rule = &collector_rule_table[i];
		put_head(out, rule->name, rule->meaning, rule->inputs, "collector", false);
		js_out_array_end(out);
		put_silence(out, NULL);
		js_out_object_end(out);
	}
}

int catalogue_json(const struct ruleconf *conf, struct buf *buf, struct err *err)
{
	struct js_out out;
	js_out_start(&out, buf, 2);
	js_out_object(&out);
	put_text(&out, "schema", "bankfull.rules.v1");
	js_out_key(&out, "rules");
	js_out_array(&out);
	for (size_t i = 0; i < rule_count; i++) {
		put_head(&out, rule_table[i].name, rule_table[i].meaning, rule_table[i].inputs, "agent",
			 rule_table[i].needs_history);
		for (unsigned t = 0; t < THRESHOLD_COUNT; t++)
			if (strcmp(threshold_table[t].rule, rule_table[i].name) == 0)
				put_threshold(&out, conf, (enum threshold)t);
		js_out_array_end(&out);
		put_silence(&out, catalogue_silence(conf, rule_table[i].name));
		js_out_object_end(&out);
	}
	put_collector_rules(&out);
	js_out_array_end(&out);
	js_out_object_end(&out);
	int rc = js_out_end(&out, err);
	if (rc == 0 && !buf_putc(buf, '\n'))
		rc = err_set(err, ERR_NOMEM, "no memory for the rules");
	return rc;
}
