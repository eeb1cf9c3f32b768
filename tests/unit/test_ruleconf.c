/* SPDX-License-Identifier: Apache-2.0 */
/* Thresholds and silences from the configuration, by one table: {text, message}. */
#include "config/ruleconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/date.h"
#include "config/levels.h"
#include "support/confyaml.h"

#define GIB           (UINT64_C(1) << 30)
#define NOW           INT64_C(1785542400000) /* 2026-08-01 */

#define RULE(body)    "rules:\n  freeboard-low:\n" body
#define SILENCE(body) "silences:\n  - rule: oom-kill\n" body

static void what_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} table[] = {
		/* shape and names */
		{ "rules: 15%\n", "f:1: rules holds the names of rules" },
		{ "rules: [freeboard-low]\n", "f:1: rules holds the names of rules" },
		{ "rules:\n  freebord-low:\n    warning: 15%\n",
		  "f:3: no rule 'freebord-low': did you mean 'freeboard-low'? (bankfull rules lists them)" },
		{ "rules:\n  freebord-low:\n", "f:2: no rule 'freebord-low'" },
		{ "rules:\n  nothing-like-it: {}\n", "f:2: no rule 'nothing-like-it' (bankfull rules lists them)" },
		{ "rules:\n  freeboard-low: 15%\n", "f:2: freeboard-low holds levels by their names" },
		{ "rules:\n  freeboard-low: [15%]\n", "f:2: freeboard-low holds levels by their names" },
		{ RULE("    wanting: 15%\n"),
		  "f:3: freeboard-low has no threshold 'wanting': it has warning, critical, warning-max, and each with -clear" },
		{ RULE("    -clear: 15%\n"), "f:3: freeboard-low has no threshold '-clear'" },
		{ RULE("    warning-clear-clear: 15%\n"), "has no threshold 'warning-clear-clear'" },
		{ "rules:\n  known-leak:\n    warning: 1%\n", "f:3: known-leak has no thresholds" },
		{ RULE("    warning: [15%]\n"), "f:3: freeboard-low.warning takes one value" },
		{ RULE("    warning: {a: 15%}\n"), "f:3: freeboard-low.warning takes one value" },
		{ RULE("    warning-clear:\n      - 15%\n"), "freeboard-low.warning-clear takes one value" },
		/* values */
		{ RULE("    warning:\n"), "f:3: freeboard-low.warning: no value" },
		{ RULE("    warning: {}\n"), "f:3: freeboard-low.warning: no value" },
		{ RULE("    warning: 15\n"), "f:3: freeboard-low.warning: '15' is no share" },
		{ RULE("    warning: 2GiB\n"),
		  "'2GiB' is no share: write percent with at most two decimals, such as 12.5%" },
		{ RULE("    warning: 12.505%\n"), "'12.505%' is no share" },
		{ RULE("    warning: 12.%\n"), "'12.%' is no share" },
		{ RULE("    warning: .5%\n"), "'.5%' is no share" },
		{ RULE("    warning: -1%\n"), "'-1%' is no share" },
		{ RULE("    warning: 1e1%\n"), "is no share" },
		{ RULE("    warning: 15%%\n"), "is no share" },
		{ RULE("    warning: 1000.01%\n"),
		  "f:3: freeboard-low.warning: '1000.01%' is out of range: at most 1000 %" },
		{ RULE("    warning: 18446744073709551615%\n"), "is out of range" },
		{ RULE("    warning: 99999999999999999999%\n"), "is no share" },
		{ RULE("    warning-max: 15%\n"), "f:3: freeboard-low.warning-max: '15%' is no size" },
		{ RULE("    warning-max: 1.5g\n"), "is no size" },
		{ RULE("    critical: 0%\n"),
		  "f:3: freeboard-low.critical: every pod would be past this level, or none" },
		{ RULE("    warning-max: 0\n"), "to switch the rule off, silence it" },
		{ RULE("    warning: 100%\n"), "every pod would be past this level, or none" },
		{ "rules:\n  heap-pressure:\n    critical: 102%\n", "f:3: heap-pressure.critical: every pod" },
		{ RULE("    warning-max: 1025t\n"), "'1025t' is out of range: at most 1.00 PiB" },
		{ "rules: {oom-kill: {kills: 1%}}\n", "f:1: oom-kill.kills: '1%' is no count: write digits" },
		{ "rules: {oom-kill: {kills: 1000001}}\n", "is out of range: at most 1000000" },
		/* twice */
		{ RULE("    warning: 15%\n    warning: 15%\n"), "f:4: the key 'warning' stands already on line 3" },
		{ RULE("    warning: 15%\nrules.freeboard-low.warning: 15%\n"), "f:4: the key" },
		{ "rules: {}\nrules: {}\n", "f:2: the key 'rules' stands already on line 1" },
		/* levels against each other */
		{ RULE("    warning-clear: 8%\n"),
		  "f:3: freeboard-low.warning-clear is 8 %, where the finding is still raised (below 10 %): set 10 % or more, or leave it out" },
		{ RULE("    warning: 15%\n    warning-clear: 14.99%\n"),
		  "f:4: freeboard-low.warning-clear is 14.99 %" },
		{ "rules: {pressure-stall: {warning-clear: 11%}}\n",
		  "f:1: pressure-stall.warning-clear is 11 %, where the finding is still raised (above 10 %): set 10 % or less, or leave it out" },
		{ RULE("    critical: 10%\n"),
		  "f:3: freeboard-low.critical, 10 %, must be below its warning, 10 %: set both" },
		{ RULE("    critical: 11%\n"), "must be below its warning" },
		{ RULE("    warning: 2%\n"),
		  "f:3: freeboard-low.critical, 3 %, must be below its warning, 2 %: set both" },
		{ "rules: {heap-pressure: {critical: 85%}}\n",
		  "critical, 85 %, must be above its warning, 85 %: set both" },
		{ "rules: {tmpfs-charged: {notice: 15%}}\n",
		  "f:1: tmpfs-charged.warning, 15 %, must be above its notice, 15 %" },
		{ RULE("    warning: 20%\n    critical-clear: 25%\n"),
		  "f:4: freeboard-low.critical-clear, 25 %, must not be above warning-clear, 24 %: it would outlast it" },
		/* silences */
		{ "silences: oom-kill\n", "f:1: silences is a list: each begins with '- rule: '" },
		{ "silences:\n  rule: oom-kill\n", "f:2: silences is a list" },
		{ "silences:\n  - oom-kill\n", "a silence is 'rule:', 'reason:' and 'until:'" },
		{ "silences:\n  - {}\n", "a silence is 'rule:', 'reason:' and 'until:'" },
		{ "silences:\n  - - rule: oom-kill\n", "a silence is 'rule:'" },
		{ SILENCE("    reason: x\n    while: 2026-12-31\n"),
		  "f:4: a silence has no 'while': it has rule, reason and until" },
		{ SILENCE("    until: 2026-12-31\n"), "f:2: the silence of oom-kill has no reason: add" },
		{ SILENCE("    reason: ' '\n    until: 2026-12-31\n"), "f:2: the silence of oom-kill has no reason" },
		{ SILENCE("    reason: x\n"), "f:2: the silence of oom-kill has no end: add 'until: ' and a date" },
		{ SILENCE("    reason: x\n    until:\n"), "f:2: the silence of oom-kill has no end" },
		{ "silences:\n  - reason: x\n    until: 2026-12-31\n", "f:2: a silence without its rule" },
		{ "silences:\n  - rule: oom-kil\n    reason: x\n    until: 2026-12-31\n",
		  "f:2: no rule 'oom-kil': did you mean 'oom-kill'?" },
		{ SILENCE("    reason: x\n    until: 2026-02-31\n"),
		  "f:4: until: '2026-02-31' is no date: write one like" },
		{ SILENCE("    reason: x\n    until: 31.12.2026\n"), "f:4: until: '31.12.2026' is no date" },
		{ SILENCE("    reason: x\n    until: [2026-12-31]\n"), "a silence has no 'until[0]'" },
		{ SILENCE("    reason: x\n    until: 2026-07-31\n"),
		  "f:4: the silence of oom-kill has ended on 2026-07-31: remove it, or look again and set a new date" },
		{ SILENCE("    reason: x\n    until: 2026-08-01\n"), "has ended on 2026-08-01" },
		{ SILENCE("    reason: x\n    until: 2026-08-01T00:00:00Z\n"), "has ended on 2026-08-01T00:00:00Z" },
		{ SILENCE("    reason: x\n    until: 2027-08-03\n"),
		  "f:4: the silence of oom-kill until 2027-08-03 is longer than a year: set a date up to 2027-08-02, and look again then" },
		{ SILENCE("    reason: x\n    until: 9999-12-31\n"), "is longer than a year" },
		{ SILENCE("    reason: x\n    until: 2026-12-31\n  - rule: oom-kill\n    reason: y\n    until: 2026-12-30\n"),
		  "f:5: oom-kill is silenced already on line 2: keep one of the two" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct ruleconf conf, before;
		struct err err;
		memset(&conf, 0xa5, sizeof conf);
		before = conf;
		int rc = confyaml_parse(table[i].text, NOW, &conf, &err);
		if (rc == 0 || !strstr(err.message, table[i].says))
			print_error("%s: %s\n", table[i].text, rc == 0 ? "taken" : err.message);
		assert_true(rc < 0);
		assert_non_null(strstr(err.message, table[i].says));
		assert_true(err.kind == ERR_USAGE || err.kind == ERR_MALFORMED);
		assert_null(strchr(err.message, '\n'));
		assert_true(strlen(err.message) < sizeof err.message - 1); /* nothing was cut */
		assert_memory_equal(&conf, &before, sizeof conf);
	}
}

static struct ruleconf taken(const char *text)
{
	struct ruleconf conf;
	struct err err;
	if (confyaml_parse(text, NOW, &conf, &err) < 0)
		fail_msg("%s: %s", text, err.message);
	confyaml_sound(&conf.thresholds);
	return conf;
}

static void nothing_said_is_the_table(void **state)
{
	(void)state;
	static const char *const texts[] = { "",
					     "rules:\n",
					     "rules: {}\nsilences: []\n",
					     "silences:\n",
					     "rules:\n  freeboard-low:\n  known-leak: {}\n",
					     "limit: 2g\nrulesets: 1\n" };
	struct thresholds table;
	thresholds_init(&table);
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
		struct ruleconf conf = taken(texts[i]);
		assert_memory_equal(&conf.thresholds, &table, sizeof table);
		assert_int_equal(conf.silences.n, 0);
	}
}

static void levels_are_taken(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		enum threshold threshold;
		uint64_t raise, clear;
	} table[] = {
		/* what is not said keeps the table's proportion: 12 of 10, 5 of 10, 8 of 10 */
		{ RULE("    warning: 15%\n"), T_FREEBOARD_LOW_WARNING, 1500, 1800 },
		{ RULE("    warning: 15 %\n"), T_FREEBOARD_LOW_WARNING, 1500, 1800 },
		{ RULE("    warning: '12.5%'\n"), T_FREEBOARD_LOW_WARNING, 1250, 1500 },
		{ RULE("    warning: 12.05%\n"), T_FREEBOARD_LOW_WARNING, 1205, 1446 },
		{ RULE("    warning: 12.01%\n"), T_FREEBOARD_LOW_WARNING, 1201,
		  1442 }, /* 1441.2, away from the trouble */
		{ RULE("    warning: 15%\n    warning-clear: 20%\n"), T_FREEBOARD_LOW_WARNING, 1500, 2000 },
		{ RULE("    warning: 15%\n    warning-clear: 15%\n"), T_FREEBOARD_LOW_WARNING, 1500, 1500 },
		{ RULE("    warning-clear: 20%\n"), T_FREEBOARD_LOW_WARNING, 1000, 2000 },
		{ RULE("    warning: 99%\n"), T_FREEBOARD_LOW_WARNING, 9900, 9999 }, /* its clear would be past all */
		{ RULE("    critical: 0.01%\n"), T_FREEBOARD_LOW_CRITICAL, 1, 2 },
		{ RULE("    warning-max: 2GiB\n"), T_FREEBOARD_LOW_WARNING_MAX, 2 * GIB, 2 * (GIB + GIB / 5) },
		{ RULE("    warning-max: 1024t\n"), T_FREEBOARD_LOW_WARNING_MAX, GIB << 20, GIB << 20 },
		{ "rules: {pressure-stall: {warning: 20%}}\n", T_PRESSURE_STALL_WARNING, 2000, 1000 },
		/* of another measure: some threads, all threads */
		{ "rules: {pressure-stall: {critical: 5%}}\n", T_PRESSURE_STALL_CRITICAL, 500, 250 },
		{ "rules: {rocksdb-over-budget: {over: 0.01%}}\n", T_ROCKSDB_OVER_BUDGET_OVER, 1, 0 },
		/* raised at 0 in the table: the difference, which is none */
		{ "rules: {demand-over-limit: {over: 5%}}\n", T_DEMAND_OVER_LIMIT_OVER, 500, 500 },
		{ "rules: {oom-kill: {kills: 2}}\n", T_OOM_KILL_KILLS, 2, 2 },
		/* both graver levels are moved by one: the critical's clear stops at the warning's */
		{ RULE("    warning: 3.5%\n    warning-clear: 3.5%\n"), T_FREEBOARD_LOW_CRITICAL, 300, 350 },
		{ RULE("    warning: 4%\n    critical: 3.9%\n"), T_FREEBOARD_LOW_CRITICAL, 390, 480 },
		{ RULE("    warning: 30%\n    critical: 20%\n"), T_FREEBOARD_LOW_CRITICAL, 2000, 2667 },
		{ "rules.freeboard-low.warning: 15%\n", T_FREEBOARD_LOW_WARNING, 1500, 1800 },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct ruleconf conf = taken(table[i].text);
		if (conf.thresholds.raise[table[i].threshold] != table[i].raise ||
		    conf.thresholds.clear[table[i].threshold] != table[i].clear)
			fail_msg("%s: %llu, %llu", table[i].text,
				 (unsigned long long)conf.thresholds.raise[table[i].threshold],
				 (unsigned long long)conf.thresholds.clear[table[i].threshold]);
	}
	/* Nothing else moves. */
	struct ruleconf conf = taken("rules: {pressure-stall: {warning: 20%}}\n");
	for (int i = 0; i < THRESHOLD_COUNT; i++) {
		bool same = conf.thresholds.raise[i] == threshold_table[i].raise &&
			    conf.thresholds.clear[i] == threshold_table[i].clear;
		assert_int_equal(same, i != T_PRESSURE_STALL_WARNING);
	}
}

static void the_table_reads_back(void **state)
{
	(void)state;
	auto_buf struct buf text = { .cap = 64 * 1024 };
	struct thresholds table;
	thresholds_init(&table);
	confyaml_write(&table, &text);
	struct ruleconf conf = taken(text.ptr);
	assert_memory_equal(&conf.thresholds, &table, sizeof table);
}

static void silences_are_taken(void **state)
{
	(void)state;
	struct ruleconf conf = taken("silences:\n"
				     "  - rule: page-cache-benign\n"
				     "    reason: \"the batch jobs fill it every night, known\"\n"
				     "    until: 2026-12-31\n"
				     "  - until: 2026-08-01T00:00:00.001Z\n"
				     "    reason: |\n      a line\n"
				     "    rule: oom-kill\n"
				     "  - {rule: swap-in-use, reason: x, until: 2027-08-02}\n");
	assert_int_equal(conf.silences.n, 3);
	const struct rule_silence *s = conf.silences.items;
	assert_string_equal(s[0].rule, "page-cache-benign");
	assert_ptr_equal(s[0].rule, rules_find(STR("page-cache-benign"))->name);
	assert_string_equal(s[0].reason, "the batch jobs fill it every night, known");
	assert_int_equal(s[0].until.ms, INT64_C(1798675200000)); /* the day itself is no longer silent */
	assert_int_equal(s[0].line, 2);
	assert_string_equal(s[1].rule, "oom-kill");
	assert_string_equal(s[1].reason, "a line");
	assert_int_equal(s[1].until.ms, NOW + 1);
	assert_int_equal(s[1].line, 5);
	assert_int_equal(s[2].until.ms, NOW + 366 * DATE_DAY_MS);
	assert_ptr_equal(silence_find(&conf.silences, "oom-kill", (struct wall){ NOW }), &s[1]);
	assert_null(silence_find(&conf.silences, "oom-kill", (struct wall){ NOW + 1 }));
}

/* As many silences as there are rules fit, and the longest reason; one more of either does not. */
static void caps(void **state)
{
	(void)state;
	char text[16 * 1024], reason[SILENCE_REASON_CAP + 1];
	struct ruleconf conf;
	struct err err;
	assert_true(rule_count <= SILENCES_MAX);
	int used = snprintf(text, sizeof text, "silences:\n");
	for (size_t i = 0; i < rule_count; i++)
		used += snprintf(text + used, sizeof text - (size_t)used,
				 "  - {rule: %s, reason: x, until: 2026-12-31}\n", rule_table[i].name);
	conf = taken(text);
	assert_int_equal(conf.silences.n, rule_count);

	memset(reason, 'x', sizeof reason);
	reason[SILENCE_REASON_CAP - 1] = '\0';
	(void)snprintf(text, sizeof text, SILENCE("    reason: %s\n    until: 2026-12-31\n"), reason);
	conf = taken(text);
	assert_string_equal(conf.silences.items[0].reason, reason);
	(void)snprintf(text, sizeof text, SILENCE("    reason: %sy\n    until: 2026-12-31\n"), reason);
	assert_true(confyaml_parse(text, NOW, &conf, &err) < 0);
	assert_string_equal(err.message, "f:3: a reason of 200 bytes: say it in 199");

	used = snprintf(text, sizeof text, "silences:\n");
	for (size_t i = 0; i <= SILENCES_MAX; i++)
		used += snprintf(text + used, sizeof text - (size_t)used, "  - {reason: x, until: 2026-12-31}\n");
	assert_true(confyaml_parse(text, NOW, &conf, &err) < 0);
	assert_string_equal(err.message, "f:66: more than 64 silences");
}

/* A clock that is wrong must not wrap. */
static void clocks(void **state)
{
	(void)state;
	struct ruleconf conf;
	struct err err;
	const char *text = SILENCE("    reason: x\n    until: 2026-12-31\n");
	assert_true(confyaml_parse(text, INT64_MAX, &conf, &err) < 0);
	assert_non_null(strstr(err.message, "has ended"));
	assert_true(confyaml_parse(text, INT64_MIN, &conf, &err) < 0);
	assert_non_null(strstr(err.message, "is longer than a year"));
	assert_true(confyaml_parse(text, 0, &conf, &err) < 0);
	assert_non_null(strstr(err.message, "set a date up to 1971-01-02"));
	assert_true(confyaml_parse(text, DATE_DAY_MS - 1, &conf, &err) < 0); /* a day, whatever the hour */
	assert_non_null(strstr(err.message, "set a date up to 1971-01-02,"));
}

/* No name of a threshold may read as another's level of clearing. */
static void names_are_clear(void **state)
{
	(void)state;
	for (int i = 0; i < THRESHOLD_COUNT; i++) {
		assert_false(str_ends(str_of(threshold_table[i].name), STR("-clear")));
		assert_null(strpbrk(threshold_table[i].name, ".["));
	}
}

static void keys(void **state)
{
	(void)state;
	assert_true(ruleconf_is_key(STR("rules")));
	assert_true(ruleconf_is_key(STR("rules.x.y")));
	assert_true(ruleconf_is_key(STR("rules[0]")));
	assert_true(ruleconf_is_key(STR("silences")));
	assert_true(ruleconf_is_key(STR("silences[0].rule")));
	assert_false(ruleconf_is_key(STR("rulesets")));
	assert_false(ruleconf_is_key(STR("silence")));
	assert_false(ruleconf_is_key(STR("")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(nothing_said_is_the_table),
		cmocka_unit_test(levels_are_taken),
		cmocka_unit_test(the_table_reads_back),
		cmocka_unit_test(silences_are_taken),
		cmocka_unit_test(caps),
		cmocka_unit_test(clocks),
		cmocka_unit_test(names_are_clear),
		cmocka_unit_test(keys),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
