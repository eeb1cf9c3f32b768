/* SPDX-License-Identifier: Apache-2.0 */
/* The list of rules: all of them, what is in force, what the configuration changed. */
#include "cli/catalogue.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "data/js.h"
#include "rules/collector_rules.h"
#include "support/confyaml.h"

enum { CAP = 256 * 1024 };

static const char changed[] =
	"rules:\n  freeboard-low:\n    warning: 15%\n    warning-max: 2GiB\n"
	"  pressure-stall:\n    critical-clear: 7.5%\n"
	"silences:\n  - rule: oom-kill\n    reason: \"known, \\e[2J see the notes of the team that runs "
	"the batch jobs of the night and fills it\"\n    until: 1970-03-01\n";

static struct ruleconf conf_of(const char *text)
{
	struct ruleconf conf;
	struct err err;
	if (confyaml_parse(text, 0, &conf, &err) < 0)
		fail_msg("%s", err.message);
	return conf;
}

static struct buf table_of(const struct ruleconf *conf, const char *config, unsigned columns)
{
	struct buf out = { .cap = CAP };
	struct paint p = paint_start(&out, false, columns);
	catalogue_table(conf, config, &p);
	assert_false(buf_failed(&out));
	struct str rest = buf_str(&out), line;
	while (str_line(&rest, &line)) {
		if (line.len > columns || str_ends(line, STR(" ")) || str_index(line, '\033') < line.len)
			fail_msg("'%.*s'", (int)line.len, line.ptr);
	}
	return out;
}

static void has(const struct buf *out, const char *part)
{
	if (!strstr(out->ptr, part))
		fail_msg("'%s' is missing in:\n%s", part, out->ptr);
}

static void for_people(void **state)
{
	(void)state;
	struct ruleconf conf = conf_of("");
	for (unsigned columns = PAINT_COLUMNS_MIN; columns <= PAINT_COLUMNS_MAX; columns += 20) {
		auto_buf struct buf out = table_of(&conf, NULL, columns);
		for (size_t i = 0; i < rule_count; i++) {
			char start[80];
			(void)snprintf(start, sizeof start, "\n\n%s: ", rule_table[i].name);
			has(&out, start);
		}
		has(&out, "\n    warning         below 10 %       12 %        of the limit\n");
		has(&out, "\n    warning-max     below 1.00 GiB   1.20 GiB\n");
		assert_null(strchr(out.ptr, '*'));
		assert_null(strstr(out.ptr, "silenced until"));
	}
	conf = conf_of(changed);
	for (unsigned columns = PAINT_COLUMNS_MIN; columns <= PAINT_COLUMNS_MAX; columns += 20) {
		auto_buf struct buf out = table_of(&conf, "my.yaml", columns);
		has(&out, "\n  * warning-max     below 2.00 GiB   2.40 GiB\n"
			  "      (default)     below 1.00 GiB   1.20 GiB\n");
		has(&out, "\n  * warning         below 15 %       18 %        of the limit\n"
			  "      (default)     below 10 %       12 %\n");
		has(&out, "\n    critical        below 3 %        4 %         of the limit\n");
		has(&out, "\n  * critical        above 10 %       7.5 %       of the time, all threads");
		has(&out, "\n  * silenced until 1970-03-01: known, \\x1b[2J see");
		has(&out, "\n* as my.yaml says.");
	}
}

static const struct js *rule_at(const struct js *root, const char *name)
{
	const struct js *rules = js_get(root, "rules");
	assert_int_equal(js_len(rules), rule_count + COLLECTOR_RULE_COUNT);
	for (size_t i = 0; i < js_len(rules); i++) {
		struct str at;
		assert_true(js_str(js_get(js_at(rules, i), "name"), &at));
		if (str_eq(at, str_of(name)))
			return js_at(rules, i);
	}
	fail_msg("no rule %s", name);
	return NULL;
}

static void number_is(const struct js *object, const char *key, uint64_t want)
{
	uint64_t got = ~want;
	assert_true(js_u64(js_get(object, key), &got));
	assert_int_equal(got, want);
}

static void text_is(const struct js *object, const char *key, const char *want)
{
	struct str got;
	assert_true(js_str(js_get(object, key), &got));
	assert_true(str_eq(got, str_of(want)));
}

static void for_machines(void **state)
{
	(void)state;
	struct ruleconf conf = conf_of(changed);
	auto_buf struct buf out = { .cap = CAP };
	struct err err = { 0 };
	auto_js struct js *root = NULL;
	assert_int_equal(catalogue_json(&conf, &out, &err), 0);
	assert_int_equal(js_parse(buf_str(&out), CAP, &root, &err), 0);
	const struct js *rule = rule_at(root, "freeboard-low"), *level = js_at(js_get(rule, "thresholds"), 0);
	assert_int_equal(js_kind(js_get(rule, "silenced")), JS_NULL);
	text_is(level, "name", "warning");
	text_is(level, "unit", "basis_points");
	text_is(level, "of", "of the limit");
	text_is(level, "raised_when", "below");
	number_is(level, "raise", 1500);
	number_is(level, "clear", 1800);
	number_is(level, "default_raise", 1000);
	number_is(level, "default_clear", 1200);
	text_is(level, "raised_text", "below 15 % of the limit");
	text_is(level, "cleared_text", "18 %");
	assert_int_equal(js_kind(js_get(js_at(js_get(rule, "thresholds"), 2), "of")), JS_NULL);
	text_is(rule, "judged_by", "agent");
	rule = rule_at(root, "agent-silent");
	text_is(rule, "judged_by", "collector");
	assert_int_equal(js_len(js_get(rule, "thresholds")), 0);
	rule = rule_at(root, "oom-kill");
	number_is(js_get(rule, "silenced"), "until_ms", UINT64_C(59) * 86400000);
	assert_int_equal(js_len(js_get(rule_at(root, "known-leak"), "thresholds")), 0);
	size_t n = 0;
	for (size_t i = 0; i < rule_count + COLLECTOR_RULE_COUNT; i++)
		n += js_len(js_get(js_at(js_get(root, "rules"), i), "thresholds"));
	assert_int_equal(n, THRESHOLD_COUNT);

	auto_buf struct buf tight = { .cap = 1000 };
	assert_true(catalogue_json(&conf, &tight, &err) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(for_people),
		cmocka_unit_test(for_machines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
