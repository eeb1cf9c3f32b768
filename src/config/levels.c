/* SPDX-License-Identifier: Apache-2.0 */
#include "config/levels.h"

#include <stdio.h>

#include "base/typo.h"
#include "base/units.h"

enum { SHARE_WHOLE = 10000 };

static const uint64_t level_max[THRESHOLD_KIND_COUNT] = {
	[THRESHOLD_SHARE] = LEVEL_SHARE_MAX,
	[THRESHOLD_BYTES] = LEVEL_BYTES_MAX,
	[THRESHOLD_COUNTED] = LEVEL_COUNT_MAX,
};

/* The largest level that means anything: of a part, less than its whole, but where the table itself goes past it. */
static uint64_t most_of(const struct threshold_info *info)
{
	return info->kind == THRESHOLD_SHARE && info->raise < SHARE_WHOLE ? SHARE_WHOLE - 1 : level_max[info->kind];
}

/* Basis points: digits, at most two decimals, '%'. */
static bool parse_share(struct str text, uint64_t *ret_level)
{
	uint64_t whole, part = 0;
	if (!str_u64(&text, &whole))
		return false;
	whole = whole < UINT32_MAX ? whole : UINT32_MAX; /* out of range all the same */
	if (str_take(&text, STR("."))) {
		size_t before = text.len;
		if (!str_u64(&text, &part) || before - text.len > 2)
			return false;
		if (before - text.len == 1)
			part *= 10;
	}
	str_blanks(&text);
	*ret_level = whole * 100 + part;
	return str_eq(text, STR("%"));
}

int levels_parse(enum threshold_kind kind, struct str text, uint64_t *ret_level, struct err *err)
{
	char shown[40], most[THRESHOLD_TEXT_CAP];
	uint64_t level = 0;
	text = str_trim(text);
	str_copy(shown, sizeof shown, text);
	if (text.len == 0)
		return err_set(err, ERR_USAGE, "no value");
	if (kind == THRESHOLD_SHARE && !parse_share(text, &level))
		return err_set(err, ERR_USAGE,
			       "'%s' is no share: write percent with at most two decimals, such as 12.5%%", shown);
	if (kind == THRESHOLD_COUNTED && !str_is_u64(text, &level))
		return err_set(err, ERR_USAGE, "'%s' is no count: write digits", shown);
	if (kind == THRESHOLD_BYTES) {
		int rc = units_parse(text, &level, err);
		if (rc < 0)
			return rc;
	}
	if (level > level_max[kind])
		return err_set(err, ERR_USAGE, "'%s' is out of range: at most %s", shown,
			       thresholds_format(most, kind, level_max[kind]));
	*ret_level = level;
	return 0;
}

/* -1: none of this name. */
static int find(const char *rule, struct str name)
{
	for (int i = 0; i < THRESHOLD_COUNT; i++)
		if (strcmp(threshold_table[i].rule, rule) == 0 && str_eq(str_of(threshold_table[i].name), name))
			return i;
	return -1;
}

static int unknown(const char *rule, struct str name, struct err *err)
{
	char shown[TYPO_NAME_CAP], names[160] = "";
	int used = 0;
	for (int i = 0; i < THRESHOLD_COUNT && used < (int)sizeof names; i++)
		if (strcmp(threshold_table[i].rule, rule) == 0)
			used += snprintf(names + used, sizeof names - (size_t)used, "%s%s", used ? ", " : "",
					 threshold_table[i].name);
	str_copy(shown, sizeof shown, name);
	if (used == 0)
		return err_set(err, ERR_USAGE, "%s has no thresholds: it can be silenced, not set", rule);
	return err_set(err, ERR_USAGE, "%s has no threshold '%s': it has %s, and each with -clear", rule, shown, names);
}

/* Every pod, or none, is past a level of 0 from below, or of the whole: then the rule never speaks, or never rests. */
static bool can_be_passed(const struct threshold_info *info, uint64_t level)
{
	if (info->side == RAISED_BELOW && level == 0)
		return false;
	return level <= most_of(info);
}

int levels_take(struct thresholds *levels, struct level_lines *lines, const char *rule, struct str key,
		const struct yml_entry *entry, struct err *err)
{
	static const struct str suffix = { "-clear", 6 };
	/* Names hold neither: what follows is a list or a mapping in the place of a value. */
	size_t dot = str_index(key, '.'), bracket = str_index(key, '['), end = dot < bracket ? dot : bracket;
	struct str name = { key.ptr, end };
	bool clear = false;
	int i = find(rule, name);
	if (i < 0 && str_ends(name, suffix)) {
		clear = true;
		i = find(rule, (struct str){ name.ptr, name.len - suffix.len });
	}
	if (i < 0)
		return unknown(rule, name, err);
	const char *threshold = threshold_table[i].name, *tail = clear ? suffix.ptr : "";
	if (end < key.len)
		return err_set(err, ERR_USAGE, "%s.%s%s takes one value", rule, threshold, tail);
	uint64_t *level = clear ? &levels->clear[i] : &levels->raise[i];
	int rc = levels_parse(threshold_table[i].kind, entry->value, level, err);
	if (rc < 0)
		err_wrap(err, "%s.%s%s", rule, threshold, tail);
	else if (!clear && !can_be_passed(&threshold_table[i], *level))
		rc = err_set(
			err, ERR_USAGE,
			"%s.%s: every pod would be past this level, or none: to switch the rule off, silence it (silences)",
			rule, threshold);
	else
		*(clear ? &lines->clear[i] : &lines->raise[i]) = entry->line;
	return rc;
}

/*
 * The level of clearing that goes with one of raising: in the proportion of the table, or where the table raises at
 * 0, by its difference. Rounded to the quiet side, so never past the level of raising.
 */
static uint64_t clear_with(const struct threshold_info *info, uint64_t raise)
{
	const uint64_t most = most_of(info);
	if (info->raise == 0) /* raised above: the table's clear is 0 too */
		return info->side == RAISED_ABOVE || raise > most - info->clear ? raise : raise + info->clear;
	__uint128_t product = (__uint128_t)raise * info->clear;
	if (info->side == RAISED_BELOW)
		product += info->raise - 1;
	__uint128_t clear = product / info->raise;
	return clear > most ? most : (uint64_t)clear;
}

/* 1 2 3 of notice, warning, critical: levels of one figure that call for more and more. 0: not one of these. */
static int grade_of(enum threshold i)
{
	static const char *const grades[] = { "notice", "warning", "critical" };
	for (int grade = 0; grade < 3; grade++)
		if (strcmp(threshold_table[i].name, grades[grade]) == 0)
			return grade + 1;
	return 0;
}

/* Both judge one figure by one measure, and `strong` is the graver. */
static bool is_graver(enum threshold strong, enum threshold weak)
{
	const struct threshold_info *a = &threshold_table[strong], *b = &threshold_table[weak];
	return grade_of(weak) && grade_of(strong) > grade_of(weak) && strcmp(a->rule, b->rule) == 0 &&
	       a->kind == b->kind && a->side == b->side && strcmp(a->of ? a->of : "", b->of ? b->of : "") == 0;
}

static unsigned later(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

/* Is `level` nearer to the trouble than `other`? */
static bool is_past(const struct threshold_info *info, uint64_t level, uint64_t other)
{
	return info->side == RAISED_ABOVE ? level > other : level < other;
}

static int check_sides(const struct thresholds *levels, const struct level_lines *lines, enum threshold i,
		       const char *name, struct err *err)
{
	const struct threshold_info *info = &threshold_table[i];
	char raise[THRESHOLD_TEXT_CAP], clear[THRESHOLD_TEXT_CAP];
	if (!is_past(info, levels->clear[i], levels->raise[i]))
		return 0;
	(void)thresholds_format(raise, info->kind, levels->raise[i]);
	return err_set(
		err, ERR_USAGE,
		"%s:%u: %s.%s-clear is %s, where the finding is still raised (%s %s): set %s or %s, or leave it out",
		name, later(lines->raise[i], lines->clear[i]), info->rule, info->name,
		thresholds_format(clear, info->kind, levels->clear[i]), info->side == RAISED_ABOVE ? "above" : "below",
		raise, raise, info->side == RAISED_ABOVE ? "less" : "more");
}

static int check_grades(struct thresholds *levels, const struct level_lines *lines, enum threshold strong,
			enum threshold weak, const char *name, struct err *err)
{
	const struct threshold_info *a = &threshold_table[strong], *b = &threshold_table[weak];
	const char *side = a->side == RAISED_ABOVE ? "above" : "below";
	char graver[THRESHOLD_TEXT_CAP], milder[THRESHOLD_TEXT_CAP];
	if (!is_past(a, levels->raise[strong], levels->raise[weak])) {
		(void)thresholds_format(graver, a->kind, levels->raise[strong]);
		return err_set(err, ERR_USAGE, "%s:%u: %s.%s, %s, must be %s its %s, %s: set both", name,
			       later(lines->raise[strong], lines->raise[weak]), a->rule, a->name, graver, side, b->name,
			       thresholds_format(milder, b->kind, levels->raise[weak]));
	}
	if (!is_past(a, levels->clear[weak], levels->clear[strong]))
		return 0;
	/* An open finding would still be the graver where the milder has been cleared. */
	if (lines->clear[strong] == 0) {
		levels->clear[strong] = levels->clear[weak];
		return 0;
	}
	(void)thresholds_format(graver, a->kind, levels->clear[strong]);
	return err_set(err, ERR_USAGE, "%s:%u: %s.%s-clear, %s, must not be %s %s-clear, %s: it would outlast it", name,
		       later(lines->clear[strong], lines->clear[weak]), a->rule, a->name, graver,
		       a->side == RAISED_ABOVE ? "below" : "above", b->name,
		       thresholds_format(milder, b->kind, levels->clear[weak]));
}

int levels_finish(struct thresholds *levels, const struct level_lines *lines, const char *name, struct err *err)
{
	int rc = 0;
	for (unsigned i = 0; i < THRESHOLD_COUNT; i++)
		if (lines->raise[i] && !lines->clear[i])
			levels->clear[i] = clear_with(&threshold_table[i], levels->raise[i]);
	for (unsigned i = 0; i < THRESHOLD_COUNT && rc == 0; i++)
		rc = check_sides(levels, lines, (enum threshold)i, name, err);
	for (unsigned strong = 0; strong < THRESHOLD_COUNT; strong++)
		for (unsigned weak = 0; weak < THRESHOLD_COUNT && rc == 0; weak++)
			if (is_graver((enum threshold)strong, (enum threshold)weak))
				rc = check_grades(levels, lines, (enum threshold)strong, (enum threshold)weak, name,
						  err);
	return rc;
}
