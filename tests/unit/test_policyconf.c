/* SPDX-License-Identifier: Apache-2.0 */
/* Policies: as the collector's file says them, for whom they hold, and what an agent makes of them. */
#include "config/policyconf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int parse(const char *text, struct policies *policies, struct err *err)
{
	auto_yml struct yml yml = { 0 };
	int rc = yml_parse(str_of(text), "f", &yml, err);
	return rc < 0 ? rc : policyconf_parse(&yml, "f", policies, err);
}

static const char two[] = "policies:\n"
			  "  - namespace: streaming-*\n"
			  "    interval: 10s\n"
			  "    rules:\n"
			  "      freeboard-low:\n"
			  "        warning: 15%\n"
			  "    silences:\n"
			  "      - rule: page-cache-benign\n"
			  "        reason: known\n"
			  "        until: 2027-01-01\n"
			  "  - workload: fraud-*\n"
			  "    rules: { freeboard-low: { warning: 20% } }\n";

static void all_that_match_apply_in_order(void **state)
{
	(void)state;
	static const struct {
		const char *namespace_, *workload;
		size_t n_levels, n_silences;
		uint64_t warning, interval_ms;
	} table[] = {
		{ "streaming-eu", "clicks", 1, 1, 1500, 10000 },
		{ "streaming-eu", "fraud-7", 1, 1, 2000, 10000 }, /* the later lies over the earlier */
		{ "other", "fraud-7", 1, 0, 2000, 0 },
		{ "other", "clicks", 0, 0, 0, 0 },
	};
	struct policies policies;
	struct err err = { 0 };
	if (parse(two, &policies, &err) < 0)
		fail_msg("%s", err.message);
	assert_int_not_equal(policies.version, 0);
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct wire_policy policy;
		policies_for(&policies, table[i].namespace_, table[i].workload, &policy);
		assert_int_equal(policy.version, policies.version);
		assert_int_equal(policy.n_levels, table[i].n_levels);
		assert_int_equal(policy.n_silences, table[i].n_silences);
		assert_int_equal(policy.interval_ms, table[i].interval_ms);
		if (policy.n_levels) {
			assert_string_equal(policy.levels[0].rule, "freeboard-low");
			assert_string_equal(policy.levels[0].name, "warning");
			assert_int_equal(policy.levels[0].raise, table[i].warning);
		}
	}
	policyconf_done(&policies);
}

static void version_follows_the_words(void **state)
{
	(void)state;
	struct policies a, b, none;
	struct err err = { 0 };
	assert_int_equal(parse(two, &a, &err), 0);
	assert_int_equal(parse("policies:\n  - interval: 11s\n", &b, &err), 0);
	assert_int_equal(parse("policies: []\n", &none, &err), 0);
	assert_int_not_equal(a.version, b.version);
	assert_int_equal(none.version, 0);
	policyconf_done(&a);
	assert_int_equal(parse(two, &a, &err), 0);
	assert_int_not_equal(a.version, b.version);
	policyconf_done(&a);
	policyconf_done(&b);
	policyconf_done(&none);
}

static void what_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} table[] = {
		{ "policies: 3\n", "f:1: policies is a list" },
		{ "policies:\n  - metrics: http://evil/\n",
		  "f:2: a policy has no 'metrics': it has namespace, workload, interval, rules and silences, and sets nothing else" },
		{ "policies:\n  - interval: 100ms\n", "f:2: interval: 1s to 5m" },
		{ "policies:\n  - interval: fast\n", "f:2: 'fast' is no time" },
		{ "policies:\n  - namespace: ''\n", "f:2: namespace: a pattern of" },
		{ "policies:\n  - rules: { freebord-low: { warning: 15% } }\n",
		  "f:2: no rule 'freebord-low': did you mean 'freeboard-low'?" },
		{ "policies:\n  - interval: 5s\n  - rules:\n      freeboard-low:\n        warning: 2GiB\n", "f:5: " },
		{ "policies:\n  - silences:\n      - rule: oom-kill\n", "has no reason" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct policies policies;
		struct err err = { 0 };
		if (parse(table[i].text, &policies, &err) == 0)
			fail_msg("%zu (%s) was taken", i, table[i].says);
		assert_int_equal(err.kind, ERR_USAGE);
		if (!strstr(err.message, table[i].says))
			fail_msg("%zu: '%s', not '%s'", i, err.message, table[i].says);
	}
}

static struct wire_policy one_level(const char *rule, const char *name, uint64_t raise, uint64_t clear)
{
	struct wire_policy policy = { .version = 7, .n_levels = 1 };
	strcpy(policy.levels[0].rule, rule);
	strcpy(policy.levels[0].name, name);
	policy.levels[0].raise = raise;
	policy.levels[0].clear = clear;
	return policy;
}

static void an_agent_applies_it_under_its_own_words(void **state)
{
	(void)state;
	struct ruleconf *own = malloc(sizeof *own), *conf = malloc(sizeof *conf);
	struct err err = { 0 };
	size_t unknown;
	assert_non_null(own);
	assert_non_null(conf);
	ruleconf_init(own);
	struct wire_policy policy = one_level("freeboard-low", "warning", 1500, 1800);
	assert_int_equal(policy_apply(&policy, own, (struct wall){ 0 }, conf, &unknown, &err), 0);
	assert_int_equal(unknown, 0);
	assert_int_equal(conf->thresholds.raise[T_FREEBOARD_LOW_WARNING], 1500);
	assert_int_equal(conf->thresholds.clear[T_FREEBOARD_LOW_WARNING], 1800);
	/* The agent's own file said it: that stays. */
	own->said.raise[T_FREEBOARD_LOW_WARNING] = 3;
	own->thresholds.raise[T_FREEBOARD_LOW_WARNING] = 900;
	own->thresholds.clear[T_FREEBOARD_LOW_WARNING] = 1000;
	assert_int_equal(policy_apply(&policy, own, (struct wall){ 0 }, conf, &unknown, &err), 0);
	assert_int_equal(conf->thresholds.raise[T_FREEBOARD_LOW_WARNING], 900);
	/* A rule of a later version. */
	policy = one_level("no-such-rule", "warning", 1, 1);
	assert_int_equal(policy_apply(&policy, own, (struct wall){ 0 }, conf, &unknown, &err), 0);
	assert_int_equal(unknown, 1);
	free(own);
	free(conf);
}

static void contradictions_refuse_the_whole(void **state)
{
	(void)state;
	struct ruleconf *own = malloc(sizeof *own), *conf = malloc(sizeof *conf);
	struct err err = { 0 };
	size_t unknown;
	assert_non_null(own);
	assert_non_null(conf);
	ruleconf_init(own);
	memset(conf, 0x5a, sizeof *conf);
	struct wire_policy policy = one_level("freeboard-low", "warning", 1500, 1000); /* cleared where it is raised */
	assert_true(policy_apply(&policy, own, (struct wall){ 0 }, conf, &unknown, &err) < 0);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_int_equal(*(unsigned char *)conf, 0x5a);
	free(own);
	free(conf);
}

static void silences_are_added(void **state)
{
	(void)state;
	struct ruleconf *own = malloc(sizeof *own), *conf = malloc(sizeof *conf);
	struct err err = { 0 };
	size_t unknown;
	assert_non_null(own);
	assert_non_null(conf);
	ruleconf_init(own);
	struct wire_policy policy = { .version = 1, .n_silences = 1, .silences[0].quiet = true };
	strcpy(policy.silences[0].rule, "page-cache-benign");
	strcpy(policy.silences[0].reason, "known");
	policy.silences[0].until = (struct wall){ 1000 };
	assert_int_equal(policy_apply(&policy, own, (struct wall){ 10 }, conf, &unknown, &err), 0);
	assert_int_equal(conf->silences.n, 1);
	assert_true(conf->silences.items[0].quiet);
	assert_non_null(silence_find(&conf->silences, "page-cache-benign", (struct wall){ 10 }));
	assert_null(silence_find(&conf->silences, "page-cache-benign", (struct wall){ 1000 }));
	free(own);
	free(conf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_that_match_apply_in_order),
		cmocka_unit_test(version_follows_the_words),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(an_agent_applies_it_under_its_own_words),
		cmocka_unit_test(contradictions_refuse_the_whole),
		cmocka_unit_test(silences_are_added),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
