/* SPDX-License-Identifier: Apache-2.0 */
#include "support/judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "base/units.h"

enum rule_answer judge(const char *rule, const struct snapshot *snapshot, const struct ledger *ledger,
		       struct finding *ret)
{
	return judge_over_time(rule, snapshot, ledger, NULL, ret);
}

enum rule_answer judge_over_time(const char *rule, const struct snapshot *snapshot, const struct ledger *ledger,
				 const struct history_view *history, struct finding *ret)
{
	struct thresholds thresholds;
	thresholds_init(&thresholds);
	struct rule_input input = {
		.snapshot = snapshot, .ledger = ledger, .thresholds = &thresholds, .history = history
	};
	for (size_t i = 0; i < rule_count; i++) {
		if (strcmp(rule_table[i].name, rule) != 0)
			continue;
		memset(ret, 0, sizeof *ret);
		ret->rule = rule_table[i].name;
		ret->owner = -1;
		return rule_table[i].eval(&input, ret);
	}
	fail_msg("no rule %s", rule);
	return RULE_SILENT;
}

static void text_whole(const char *text, size_t cap)
{
	if (text[0] == '\0' || strlen(text) >= cap - 1)
		print_error("empty or cut: '%s'\n", text);
	assert_true(text[0] != '\0');
	assert_true(strlen(text) < cap - 1);
}

static bool any_starts(const struct finding *f, const char *first, const char *second)
{
	for (size_t i = 0; i < f->n_validate; i++)
		if (strncmp(f->validate[i], first, strlen(first)) == 0 ||
		    strncmp(f->validate[i], second, strlen(second)) == 0)
			return true;
	return false;
}

void judge_whole(const struct finding *f)
{
	assert_true(f->severity > SEVERITY_NONE && f->severity < SEVERITY_COUNT);
	text_whole(f->title, sizeof f->title);
	text_whole(f->observation, sizeof f->observation);
	assert_int_equal(f->observation[strlen(f->observation) - 1], '.');
	text_whole(f->change, sizeof f->change);
	assert_true(f->n_causes > 0 && f->n_validate > 1 && f->n_evidence > 0);
	for (size_t i = 0; i < f->n_causes; i++)
		text_whole(f->competing_causes[i], sizeof f->competing_causes[i]);
	for (size_t i = 0; i < f->n_validate; i++)
		text_whole(f->validate[i], sizeof f->validate[i]);
	for (size_t i = 0; i < f->n_missing; i++)
		text_whole(f->missing[i], sizeof f->missing[i]);
	for (size_t i = 0; i < f->n_settings; i++) {
		text_whole(f->effective_settings[i].key, sizeof f->effective_settings[i].key);
		text_whole(f->effective_settings[i].where, sizeof f->effective_settings[i].where);
	}
	for (size_t i = 0; i < f->n_evidence; i++)
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(f->evidence[i].name,
						f->evidence[j].name); /* they become keys of one object */
	assert_true(any_starts(f, "steady: ", "steady: "));
	assert_true(any_starts(f, "failure: ", "restore: "));
}

void judge_figure(const struct finding *f, const char *name, uint64_t bytes)
{
	char size[UNITS_TEXT_CAP];
	(void)units_format(size, bytes);
	if (!strstr(f->observation, size) && !strstr(f->title, size))
		fail_msg("%s: no %s in '%s'", name, size, f->observation);
	for (size_t i = 0; i < f->n_evidence; i++) {
		if (strcmp(f->evidence[i].name, name) != 0)
			continue;
		assert_int_equal(f->evidence[i].value, bytes);
		return;
	}
	fail_msg("no evidence %s", name);
}

void judge_holds(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in '%s'", part, text);
}

void judge_missing(const struct finding *f, const char *part)
{
	for (size_t i = 0; i < f->n_missing; i++)
		if (strstr(f->missing[i], part))
			return;
	fail_msg("no missing input names '%s'", part);
}
