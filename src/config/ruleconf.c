/* SPDX-License-Identifier: Apache-2.0 */
#include "config/ruleconf.h"

#include <stdio.h>

#include "base/date.h"
#include "config/levels.h"

/* To the same day of the next year, be it a leap year: a silence for ever is a rule switched off. */
enum { SILENCE_DAYS_MAX = 366 };

/* A silence while its lines are read. */
struct draft {
	struct rule_silence silence;
	struct str until;
	unsigned line, until_line, reason_line;
};

struct reading {
	const char *name;
	struct wall now;
	bool standing; /* a silence that has ended is none, and no mistake */
	struct ruleconf conf;
	struct draft drafts[SILENCES_MAX];
};

void ruleconf_init(struct ruleconf *ret_conf)
{
	thresholds_init(&ret_conf->thresholds);
	ret_conf->silences.n = 0;
	ret_conf->said = (struct level_lines){ 0 };
}

/* "rules", "rules.x" and "rules[0]" are of the section, "rulesets" is not. */
static bool take_section(struct str key, struct str section, struct str *ret_rest)
{
	if (!str_take(&key, section) || (key.len && key.ptr[0] != '.' && key.ptr[0] != '['))
		return false;
	*ret_rest = key;
	return true;
}

bool ruleconf_is_key(struct str key)
{
	struct str rest;
	return take_section(key, STR("rules"), &rest) || take_section(key, STR("silences"), &rest);
}

const char *ruleconf_rule_hint(struct str said, char dest[TYPO_HINT_CAP])
{
	struct typo typo = { .said = said };
	for (size_t i = 0; i < rule_count; i++)
		typo_offer(&typo, rule_table[i].name);
	return typo_hint(&typo, dest);
}

static int find_rule(struct str said, const struct rule **ret_rule, struct err *err)
{
	char shown[TYPO_NAME_CAP], hint[TYPO_HINT_CAP];
	const struct rule *rule = rules_find(said);
	if (!rule) {
		str_copy(shown, sizeof shown, said);
		return err_set(err, ERR_USAGE, "no rule '%s'%s (bankfull rules lists them)", shown,
			       ruleconf_rule_hint(said, hint));
	}
	*ret_rule = rule;
	return 0;
}

/* Up to the next '.' or '[', which a plain name does not have. */
static struct str take_name(struct str *rest)
{
	size_t dot = str_index(*rest, '.'), bracket = str_index(*rest, '[');
	struct str name = { rest->ptr, dot < bracket ? dot : bracket };
	*rest = str_skip(*rest, name.len);
	return name;
}

/* `rest` is what follows "rules". */
static int take_rule(struct reading *reading, const struct yml_entry *entry, struct str rest, struct err *err)
{
	const struct rule *rule = NULL;
	if (rest.len == 0 && entry->empty)
		return 0;
	if (!str_take(&rest, STR(".")))
		return err_set(err, ERR_USAGE, "rules holds the names of rules, and below each its levels");
	int rc = find_rule(take_name(&rest), &rule, err);
	if (rc < 0 || (rest.len == 0 && entry->empty))
		return rc;
	if (!str_take(&rest, STR(".")))
		return err_set(err, ERR_USAGE, "%s holds levels by their names: see bankfull explain %s", rule->name,
			       rule->name);
	return levels_take(&reading->conf.thresholds, &reading->conf.said, rule->name, rest, entry, err);
}

static int take_silenced_rule(struct reading *reading, struct draft *draft, const struct yml_entry *entry,
			      struct err *err)
{
	const struct rule *rule = NULL;
	int rc = find_rule(str_trim(entry->value), &rule, err);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < SILENCES_MAX; i++)
		if (reading->drafts[i].silence.rule == rule->name)
			return err_set(err, ERR_USAGE, "%s is silenced already on line %u: keep one of the two",
				       rule->name, reading->drafts[i].line);
	draft->silence.rule = rule->name;
	return 0;
}

static int take_reason(struct draft *draft, const struct yml_entry *entry, struct err *err)
{
	struct str reason = str_trim(entry->value);
	if (reason.len >= sizeof draft->silence.reason)
		return err_set(err, ERR_USAGE, "a reason of %zu bytes: say it in %zu", reason.len,
			       sizeof draft->silence.reason - 1);
	str_copy(draft->silence.reason, sizeof draft->silence.reason, reason);
	draft->reason_line = entry->line;
	return 0;
}

/* `rest` is what follows "silences": "[0].rule". */
static int take_silence(struct reading *reading, const struct yml_entry *entry, struct str rest, struct err *err)
{
	uint64_t index;
	char shown[TYPO_NAME_CAP];
	if (rest.len == 0 && entry->empty)
		return 0;
	if (!str_take(&rest, STR("[")) || !str_u64(&rest, &index) || !str_take(&rest, STR("]")))
		return err_set(err, ERR_USAGE, "silences is a list: each begins with '- rule: '");
	if (index >= SILENCES_MAX)
		return err_set(err, ERR_USAGE, "more than %d silences", SILENCES_MAX);
	struct draft *draft = &reading->drafts[index];
	if (draft->line == 0)
		draft->line = draft->silence.line = entry->line;
	if (str_eq(rest, STR(".rule")))
		return take_silenced_rule(reading, draft, entry, err);
	if (str_eq(rest, STR(".reason")))
		return take_reason(draft, entry, err);
	if (str_eq(rest, STR(".until"))) {
		draft->until = str_trim(entry->value);
		draft->until_line = entry->line;
		return 0;
	}
	if (!str_take(&rest, STR(".")))
		return err_set(err, ERR_USAGE, "a silence is 'rule:', 'reason:' and 'until:'");
	str_copy(shown, sizeof shown, rest);
	return err_set(err, ERR_USAGE, "a silence has no '%s': it has rule, reason and until", shown);
}

/* When it ends: later than now, and within a year. */
static int check_until(const struct reading *reading, struct draft *draft, struct err *err)
{
	char shown[40], day[DATE_TEXT_CAP];
	int64_t last;
	str_copy(shown, sizeof shown, draft->until);
	if (!date_parse(draft->until, &draft->silence.until.ms))
		return err_set(err, ERR_USAGE,
			       "until: '%s' is no date: write one like 2026-12-31 or 2026-12-31T08:00:00Z", shown);
	if (reading->standing)
		return 0;
	if (draft->silence.until.ms <= reading->now.ms)
		return err_set(err, ERR_USAGE,
			       "the silence of %s has ended on %s: remove it, or look again and set a new date",
			       draft->silence.rule, shown);
	if (__builtin_add_overflow(reading->now.ms, SILENCE_DAYS_MAX * DATE_DAY_MS, &last) ||
	    draft->silence.until.ms <= last)
		return 0;
	return err_set(err, ERR_USAGE,
		       "the silence of %s until %s is longer than a year: set a date up to %s, and look again then",
		       draft->silence.rule, shown, date_format(day, last - last % DATE_DAY_MS));
}

static int finish_silence(struct reading *reading, struct draft *draft, struct err *err)
{
	unsigned line = draft->line;
	int rc = 0;
	if (!draft->silence.rule)
		rc = err_set(err, ERR_USAGE, "a silence without its rule: add 'rule: NAME'");
	else if (!draft->silence.reason[0])
		rc = err_set(err, ERR_USAGE, "the silence of %s has no reason: add 'reason: why nobody needs to look'",
			     draft->silence.rule);
	else if (!draft->until.len)
		rc = err_set(err, ERR_USAGE, "the silence of %s has no end: add 'until: ' and a date",
			     draft->silence.rule);
	else {
		line = draft->until_line;
		rc = check_until(reading, draft, err);
	}
	if (rc < 0)
		err_wrap(err, "%s:%u", reading->name, line);
	else
		reading->conf.silences.items[reading->conf.silences.n++] = draft->silence;
	return rc;
}

static int read_all(struct reading *reading, const struct yml *yml, struct err *err)
{
	int rc = 0;
	for (size_t i = 0; i < yml->n && rc == 0; i++) {
		const struct yml_entry *entry = &yml->items[i];
		struct str rest;
		if (take_section(entry->key, STR("rules"), &rest))
			rc = take_rule(reading, entry, rest, err);
		else if (take_section(entry->key, STR("silences"), &rest))
			rc = take_silence(reading, entry, rest, err);
		if (rc < 0)
			err_wrap(err, "%s:%u", reading->name, entry->line);
	}
	if (rc == 0)
		rc = levels_finish(&reading->conf.thresholds, &reading->conf.said, reading->name, err);
	for (size_t i = 0; i < SILENCES_MAX && rc == 0; i++)
		if (reading->drafts[i].line)
			rc = finish_silence(reading, &reading->drafts[i], err);
	return rc;
}

static int parse(const struct yml *yml, const char *name, struct wall now, bool standing, struct ruleconf *ret_conf,
		 struct err *err)
{
	/* 35 KiB, mostly reasons: not for a stack. */
	auto_free struct reading *reading = calloc(1, sizeof *reading);
	if (!reading)
		return err_set(err, ERR_NOMEM, "%s: no memory", name);
	reading->name = name;
	reading->now = now;
	reading->standing = standing;
	ruleconf_init(&reading->conf);
	int rc = read_all(reading, yml, err);
	if (rc == 0)
		*ret_conf = reading->conf;
	return rc;
}

int ruleconf_parse(const struct yml *yml, const char *name, struct wall now, struct ruleconf *ret_conf, struct err *err)
{
	return parse(yml, name, now, false, ret_conf, err);
}

int ruleconf_parse_standing(const struct yml *yml, const char *name, struct ruleconf *ret_conf, struct err *err)
{
	return parse(yml, name, (struct wall){ 0 }, true, ret_conf, err);
}
