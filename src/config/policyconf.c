/* SPDX-License-Identifier: Apache-2.0 */
#include "config/policyconf.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"

enum { INTERVAL_LEAST_MS = 1000, INTERVAL_MOST_MS = 300000 };

struct reading {
	const struct yml *yml;
	const char *name;
	struct policy_row *rows;
	size_t n;
};

bool policyconf_is_key(struct str key)
{
	return str_take(&key, STR("policies")) && (key.len == 0 || key.ptr[0] == '[' || key.ptr[0] == '.');
}

/* "policies[3].rules.x" is 3 and "rules.x". */
static bool split(struct str key, uint64_t *ret_index, struct str *ret_rest)
{
	uint64_t index;
	if (!str_take(&key, STR("policies[")) || !str_u64(&key, &index) || !str_take(&key, STR("].")))
		return false;
	*ret_index = index;
	*ret_rest = key;
	return true;
}

static int take_pattern(const char *what, struct str value, char *dest, size_t cap, struct err *err)
{
	if (value.len == 0 || value.len >= cap)
		return err_set(err, ERR_USAGE, "%s: a pattern of 1 to %zu bytes, or leave it out for all", what,
			       cap - 1);
	str_copy(dest, cap, value);
	return 0;
}

static int take_interval(struct str value, struct policy_row *row, struct err *err)
{
	uint64_t ms;
	int rc = units_parse_ms(value, &ms, err);
	if (rc == 0 && (ms < INTERVAL_LEAST_MS || ms > INTERVAL_MOST_MS))
		rc = err_set(err, ERR_USAGE, "interval: 1s to 5m");
	if (rc == 0)
		row->policy.interval_ms = (uint32_t)ms;
	return rc;
}

static int take_key(struct policy_row *row, struct str key, const struct yml_entry *entry, struct err *err)
{
	char shown[48];
	if (ruleconf_is_key(key))
		return 0;
	if (str_eq(key, STR("namespace")))
		return take_pattern("namespace", entry->value, row->namespace_, sizeof row->namespace_, err);
	if (str_eq(key, STR("workload")))
		return take_pattern("workload", entry->value, row->workload, sizeof row->workload, err);
	if (str_eq(key, STR("interval")))
		return take_interval(entry->value, row, err);
	str_copy(shown, sizeof shown, key);
	return err_set(
		err, ERR_USAGE,
		"a policy has no '%s': it has namespace, workload, interval, rules and silences, and sets nothing else",
		shown);
}

static int take_levels(const struct ruleconf *conf, struct wire_policy *policy, struct err *err)
{
	for (size_t i = 0; i < THRESHOLD_COUNT; i++) {
		if (!conf->said.raise[i] && !conf->said.clear[i])
			continue;
		if (policy->n_levels == WIRE_LEVELS_MAX)
			return err_set(err, ERR_USAGE, "a policy of more than %d levels", WIRE_LEVELS_MAX);
		struct wire_level *level = &policy->levels[policy->n_levels++];
		(void)snprintf(level->rule, sizeof level->rule, "%s", threshold_table[i].rule);
		(void)snprintf(level->name, sizeof level->name, "%s", threshold_table[i].name);
		level->raise = conf->thresholds.raise[i];
		level->clear = conf->thresholds.clear[i];
	}
	return 0;
}

static int take_silences(const struct ruleconf *conf, struct wire_policy *policy, struct err *err)
{
	if (conf->silences.n > WIRE_SILENCES_MAX)
		return err_set(err, ERR_USAGE, "a policy of more than %d silences", WIRE_SILENCES_MAX);
	for (size_t i = 0; i < conf->silences.n; i++) {
		struct wire_silence *silence = &policy->silences[policy->n_silences++];
		(void)snprintf(silence->rule, sizeof silence->rule, "%s", conf->silences.items[i].rule);
		(void)snprintf(silence->reason, sizeof silence->reason, "%s", conf->silences.items[i].reason);
		silence->until = conf->silences.items[i].until;
	}
	return 0;
}

/* Rules and silences of one policy are those of an agent's file: the same words, the same checks, the same messages. */
static int read_sections(const struct reading *r, size_t index, struct err *err)
{
	auto_free struct yml_entry *items = calloc(r->yml->n + 1, sizeof *items);
	auto_free struct ruleconf *conf = malloc(sizeof *conf);
	struct yml part = { .items = items };
	uint64_t i;
	if (!items || !conf)
		return err_set(err, ERR_NOMEM, "%s: no memory", r->name);
	for (size_t k = 0; k < r->yml->n; k++) {
		struct yml_entry entry = r->yml->items[k];
		if (split(r->yml->items[k].key, &i, &entry.key) && i == index && ruleconf_is_key(entry.key))
			items[part.n++] = entry;
	}
	int rc = ruleconf_parse_standing(&part, r->name, conf, err);
	if (rc == 0)
		rc = take_levels(conf, &r->rows[index].policy, err);
	if (rc == 0)
		rc = take_silences(conf, &r->rows[index].policy, err);
	return rc;
}

static int read_rows(struct reading *r, struct err *err)
{
	int rc = 0;
	for (size_t k = 0; k < r->yml->n && rc == 0; k++) {
		const struct yml_entry *entry = &r->yml->items[k];
		struct str rest;
		uint64_t i;
		if (!policyconf_is_key(entry->key) || (entry->empty && str_eq(entry->key, STR("policies"))))
			continue;
		if (!split(entry->key, &i, &rest))
			rc = err_set(err, ERR_USAGE,
				     "policies is a list: each has namespace, workload, interval, rules, silences");
		else if (i >= POLICIES_MAX)
			rc = err_set(err, ERR_USAGE, "more than %d policies", POLICIES_MAX);
		else
			rc = take_key(&r->rows[i], rest, entry, err);
		if (rc < 0)
			err_wrap(err, "%s:%u", r->name, entry->line);
		else if (i + 1 > r->n)
			r->n = i + 1;
	}
	for (size_t i = 0; i < r->n && rc == 0; i++)
		rc = read_sections(r, i, err);
	return rc;
}

/* FNV-1a over the rows: no padding is uninitialised, since they come from calloc. */
static uint64_t version_of(const struct policy_row *rows, size_t n)
{
	const unsigned char *bytes = (const unsigned char *)rows;
	uint64_t hash = 0xcbf29ce484222325;
	for (size_t i = 0; i < n * sizeof *rows; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3;
	/* JSON readers keep 53 bits; 0 means no policy. */
	hash &= (UINT64_C(1) << 53) - 1;
	return n == 0 ? 0 : hash ? hash : 1;
}

int policyconf_parse(const struct yml *yml, const char *name, struct policies *ret_policies, struct err *err)
{
	struct reading r = { .yml = yml, .name = name };
	r.rows = calloc(POLICIES_MAX, sizeof *r.rows);
	if (!r.rows)
		return err_set(err, ERR_NOMEM, "%s: no memory", name);
	int rc = read_rows(&r, err);
	if (rc < 0)
		free(r.rows);
	else
		*ret_policies = (struct policies){ r.rows, r.n, version_of(r.rows, r.n) };
	return rc;
}

void policyconf_done(struct policies *policies)
{
	free(policies->rows);
	*policies = (struct policies){ 0 };
}

static bool matches(const char *pattern, const char *name)
{
	return pattern[0] == '\0' || fnmatch(pattern, name, 0) == 0;
}

static void lay_level(struct wire_policy *policy, const struct wire_level *level)
{
	for (size_t i = 0; i < policy->n_levels; i++) {
		struct wire_level *other = &policy->levels[i];
		if (strcmp(other->rule, level->rule) == 0 && strcmp(other->name, level->name) == 0) {
			*other = *level;
			return;
		}
	}
	if (policy->n_levels < WIRE_LEVELS_MAX)
		policy->levels[policy->n_levels++] = *level;
	else
		policy->n_refused++;
}

static void lay_silence(struct wire_policy *policy, const struct wire_silence *silence)
{
	for (size_t i = 0; i < policy->n_silences; i++) {
		if (strcmp(policy->silences[i].rule, silence->rule) != 0)
			continue;
		policy->silences[i] = *silence;
		return;
	}
	if (policy->n_silences < WIRE_SILENCES_MAX)
		policy->silences[policy->n_silences++] = *silence;
	else
		policy->n_refused++;
}

void policies_for(const struct policies *policies, const char *namespace_, const char *workload,
		  struct wire_policy *ret_policy)
{
	*ret_policy = (struct wire_policy){ .version = policies ? policies->version : 0 };
	for (size_t i = 0; policies && i < policies->n; i++) {
		const struct policy_row *row = &policies->rows[i];
		if (!matches(row->namespace_, namespace_) || !matches(row->workload, workload))
			continue;
		if (row->policy.interval_ms)
			ret_policy->interval_ms = row->policy.interval_ms;
		for (size_t k = 0; k < row->policy.n_levels; k++)
			lay_level(ret_policy, &row->policy.levels[k]);
		for (size_t k = 0; k < row->policy.n_silences; k++)
			lay_silence(ret_policy, &row->policy.silences[k]);
	}
}
