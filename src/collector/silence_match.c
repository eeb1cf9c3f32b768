/* SPDX-License-Identifier: Apache-2.0 */
/* What a silence covers, and the index that finds it. */
#include "collector/silence_parts.h"

static bool is_given(const struct silence_matchers *m, enum silence_field field)
{
	return m->given & 1U << field;
}

static bool is_name(const struct silence_matchers *m, enum silence_field field)
{
	return is_given(m, field) && !(m->patterns & 1U << field);
}

size_t silence_parts(const struct silence_matchers *m)
{
	size_t n = 0;
	for (unsigned i = 0; i < SILENCE_FIELD_COUNT; i++)
		n += m->patterns & 1U << i ? m->globs[i].n_parts : 0;
	return n;
}

bool silence_covers(const struct silence_matchers *m, const char *const values[SILENCE_FIELD_COUNT], unsigned fields)
{
	for (unsigned i = 0; i < SILENCE_FIELD_COUNT; i++) {
		if (!is_given(m, i) || !(fields & 1U << i))
			continue;
		if (is_name(m, i) ? strcmp(m->text[i], values[i]) != 0
				  : !glob_match(&m->globs[i], m->text[i], str_of(values[i])))
			return false;
	}
	return true;
}

bool silence_same(const struct silence_matchers *a, const struct silence_matchers *b)
{
	bool same = a->given == b->given && a->patterns == b->patterns && a->severity == b->severity;
	for (unsigned i = 0; same && i < SILENCE_FIELD_COUNT; i++)
		same = !is_given(a, i) || strcmp(a->text[i], b->text[i]) == 0;
	return same;
}

void silence_values(const struct subject_view *subject, const char *rule, const char *values[SILENCE_FIELD_COUNT])
{
	values[SILENCE_CLUSTER] = subject->cluster;
	values[SILENCE_NAMESPACE] = subject->namespace_;
	values[SILENCE_WORKLOAD] = subject->workload;
	values[SILENCE_POD] = subject->pod;
	values[SILENCE_RULE] = rule;
}

/* --- the index ---------------------------------------------------------------------------------- */

/* FNV-1a. Who may write silences could as well write a thousand that match. */
static size_t bucket_of(const char *rule, const char *namespace_)
{
	uint32_t hash = 2166136261U;
	for (; *rule; rule++)
		hash = (hash ^ (unsigned char)*rule) * 16777619U;
	hash = (hash ^ '/') * 16777619U;
	for (; *namespace_; namespace_++)
		hash = (hash ^ (unsigned char)*namespace_) * 16777619U;
	return (hash ^ hash >> 16) % SILENCE_BUCKETS;
}

static struct silence_entry **bucket_for(struct silences *silences, const struct silence_matchers *m)
{
	return &silences->buckets[bucket_of(is_name(m, SILENCE_RULE) ? m->text[SILENCE_RULE] : "",
					    is_name(m, SILENCE_NAMESPACE) ? m->text[SILENCE_NAMESPACE] : "")];
}

void silence_index_add(struct silences *silences, struct silence_entry *entry)
{
	struct silence_entry **bucket = bucket_for(silences, &entry->silence.matchers);
	entry->next = *bucket;
	*bucket = entry;
}

void silence_index_remove(struct silences *silences, struct silence_entry *entry)
{
	struct silence_entry **at = bucket_for(silences, &entry->silence.matchers);
	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
}

/* The longest-lived of one bucket, or what was found before. */
static const struct silence *longest(const struct silence_entry *entry, const char *const *values,
				     enum severity severity, enum silence_kind kind, bool whole, struct wall now,
				     const struct silence *found)
{
	for (; entry; entry = entry->next) {
		const struct silence *s = &entry->silence;
		if (s->kind != kind || s->until.ms <= now.ms || (found && s->until.ms <= found->until.ms) ||
		    (whole && is_given(&s->matchers, SILENCE_POD)))
			continue;
		if (s->matchers.severity != SEVERITY_NONE && s->matchers.severity != severity)
			continue;
		if (silence_covers(&s->matchers, values, SILENCE_ALL_FIELDS))
			found = s;
	}
	return found;
}

static const struct silence *find(const struct silences *silences, const char *const *values, enum severity severity,
				  enum silence_kind kind, bool whole, struct wall now)
{
	const char *rules[] = { values[SILENCE_RULE], "" }, *namespaces[] = { values[SILENCE_NAMESPACE], "" };
	const struct silence *found = NULL;
	if (!silences || silences->n_kind[kind] == 0)
		return NULL;
	for (unsigned i = 0; i < 4; i++)
		found = longest(silences->buckets[bucket_of(rules[i / 2], namespaces[i % 2])], values, severity, kind,
				whole, now, found);
	return found;
}

const struct silence *silences_match(const struct silences *silences, const struct subject_view *subject,
				     const char *rule, enum severity severity, enum silence_kind kind, struct wall now)
{
	const char *values[SILENCE_FIELD_COUNT];
	silence_values(subject, rule, values);
	return find(silences, values, severity, kind, false, now);
}

const struct silence *silences_on(const struct silences *silences, const struct subject_view *subject, const char *rule,
				  enum severity severity, struct wall now)
{
	const struct silence *found = silences_match(silences, subject, rule, severity, SILENCE_SILENCE, now);
	return found ? found : silences_match(silences, subject, rule, severity, SILENCE_ACKNOWLEDGEMENT, now);
}

const struct silence *silences_match_alert(const struct silences *silences, const struct silence_alert *alert,
					   enum silence_kind kind, struct wall now)
{
	const char *const values[SILENCE_FIELD_COUNT] = { alert->cluster, alert->namespace_, alert->workload, "",
							  alert->rule };
	return find(silences, values, alert->severity, kind, true, now);
}
