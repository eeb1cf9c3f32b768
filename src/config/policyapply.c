/* SPDX-License-Identifier: Apache-2.0 */
/* A policy at the agent that it is for. */
#include <stdio.h>
#include <stdlib.h>

#include "config/policyconf.h"

static int find_level(const struct wire_level *level)
{
	for (int i = 0; i < THRESHOLD_COUNT; i++)
		if (strcmp(threshold_table[i].rule, level->rule) == 0 &&
		    strcmp(threshold_table[i].name, level->name) == 0)
			return i;
	return -1;
}

static size_t apply_levels(const struct wire_policy *policy, struct ruleconf *conf)
{
	size_t unknown = 0;
	for (size_t k = 0; k < policy->n_levels; k++) {
		int i = find_level(&policy->levels[k]);
		if (i < 0)
			unknown++;
		if (i < 0 || conf->said.raise[i] || conf->said.clear[i])
			continue;
		conf->thresholds.raise[i] = policy->levels[k].raise;
		conf->thresholds.clear[i] = policy->levels[k].clear;
	}
	return unknown;
}

static size_t apply_silences(const struct wire_policy *policy, struct wall now, struct ruleconf *conf)
{
	size_t unknown = 0;
	for (size_t k = 0; k < policy->n_silences; k++) {
		const struct wire_silence *said = &policy->silences[k];
		const struct rule *rule = rules_find(str_of(said->rule));
		if (!rule)
			unknown++;
		if (!rule || silence_find(&conf->silences, rule->name, now) || conf->silences.n == SILENCES_MAX)
			continue;
		struct rule_silence *silence = &conf->silences.items[conf->silences.n++];
		*silence = (struct rule_silence){ .rule = rule->name, .until = said->until, .quiet = said->quiet };
		(void)snprintf(silence->reason, sizeof silence->reason, "%s", said->reason);
	}
	return unknown;
}

int policy_apply(const struct wire_policy *policy, const struct ruleconf *own, struct wall now,
		 struct ruleconf *ret_conf, size_t *ret_unknown, struct err *err)
{
	auto_free struct ruleconf *conf = malloc(sizeof *conf);
	if (!conf)
		return err_set(err, ERR_NOMEM, "no memory for a policy");
	*conf = *own;
	size_t unknown = apply_levels(policy, conf) + apply_silences(policy, now, conf);
	/* Only the checks: both levels of each are there. */
	struct level_lines none = { 0 };
	int rc = levels_finish(&conf->thresholds, &none, "policy", err);
	if (rc < 0)
		return rc;
	*ret_conf = *conf;
	*ret_unknown = unknown;
	return 0;
}
