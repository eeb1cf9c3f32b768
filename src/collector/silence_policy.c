/* SPDX-License-Identifier: Apache-2.0 */
/* Silences on their way to an agent: for its subject, rule by rule, as what it keeps still about. */
#include "base/esc.h"
#include "collector/silence_parts.h"
#include "rules/rules.h"

/* What the configuration has said of this rule stands; of two silences the one that lasts longer. */
static void lay(struct wire_policy *policy, size_t n_own, const char *rule, const struct silence *s, size_t *ret_left)
{
	struct wire_silence *place = NULL;
	for (size_t i = 0; i < policy->n_silences && !place; i++)
		if (strcmp(policy->silences[i].rule, rule) == 0)
			place = &policy->silences[i];
	if (place && ((size_t)(place - policy->silences) < n_own || place->until.ms >= s->until.ms))
		return;
	if (!place && policy->n_silences == WIRE_SILENCES_MAX) {
		++*ret_left;
		return;
	}
	if (!place)
		place = &policy->silences[policy->n_silences++];
	*place = (struct wire_silence){ .until = s->until, .quiet = true };
	str_copy(place->rule, sizeof place->rule, str_of(rule));
	str_copy(place->reason, sizeof place->reason, esc_utf8_cut(str_of(s->reason), sizeof place->reason));
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	while (len--)
		hash = (hash ^ *at++) * 0x100000001b3;
	return hash;
}

/* FNV-1a over what it says, in whatever order: the same is the same after a restart too. 53 bits, as policyconf's; 0 is none. */
static uint64_t version_of(const struct wire_policy *policy)
{
	uint64_t sum = policy->version;
	for (size_t i = 0; i < policy->n_silences; i++) {
		const struct wire_silence *s = &policy->silences[i];
		uint64_t hash = mix(0xcbf29ce484222325, s->rule, strlen(s->rule) + 1);
		hash = mix(hash, s->reason, strlen(s->reason) + 1);
		sum += mix(hash, &s->until.ms, sizeof s->until.ms);
	}
	sum &= (UINT64_C(1) << 53) - 1;
	return sum ? sum : 1;
}

void silences_policy(const struct silences *silences, const struct subject_view *subject, struct wall now,
		     struct wire_policy *policy, size_t *ret_left_out)
{
	const char *values[SILENCE_FIELD_COUNT];
	const size_t n_own = policy->n_silences;
	*ret_left_out = 0;
	silence_values(subject, "", values);
	for (size_t i = 0; i < silences->n_active; i++) {
		const struct silence *s = &silences->active[i]->silence;
		if (s->kind != SILENCE_SILENCE || s->until.ms <= now.ms || s->matchers.severity != SEVERITY_NONE)
			continue;
		/* Most are not about this subject at all. */
		if (!silence_covers(&s->matchers, values, SILENCE_ALL_FIELDS & ~(1U << SILENCE_RULE)))
			continue;
		for (size_t r = 0; r < rule_count; r++) {
			values[SILENCE_RULE] = rule_table[r].name;
			if (silence_covers(&s->matchers, values, 1U << SILENCE_RULE))
				lay(policy, n_own, rule_table[r].name, s, ret_left_out);
		}
	}
	policy->version = version_of(policy);
}
