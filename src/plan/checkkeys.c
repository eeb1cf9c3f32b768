/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys that will not do what somebody hoped: unknown to this version, renamed, said under two names, misspelt, or with a
 * value that Flink cannot read. Keys are judged by the table of the published jars; who else reads them nobody here knows,
 * so only what concerns memory is a warning.
 */
#include <stdio.h>

#include "plan/checks.h"
#include "plan/flinkkeys.h"
#include "rules/text.h"

struct keys_look {
	const struct declared *declared;
	struct verdict *verdict;
	const char *version;
};

/* One written key. */
struct written {
	struct str key;
	struct number_text value;
	char where[DECLARED_WHERE_CAP];
	char name[96]; /* the key, to print */
};

static bool concerns_memory(struct str key)
{
	static const char *const families[] = { "taskmanager.memory.",
						"jobmanager.memory.",
						"taskmanager.heap",
						"jobmanager.heap",
						"taskmanager.network.memory",
						"taskmanager.network.numberOf",
						"state.backend.rocksdb.",
						"state.backend.forst.",
						"state.backend",
						"taskmanager.numberOf",
						"kubernetes.taskmanager.memory",
						"kubernetes.jobmanager.memory" };
	for (size_t i = 0; i < sizeof families / sizeof families[0]; i++)
		if (str_starts(key, str_of(families[i])))
			return true;
	return false;
}

static void ignored(const struct keys_look *look, const struct written *written, unsigned other)
{
	bool newer = other > look->declared->version;
	bool memory = concerns_memory(written->key);
	struct finding *finding = checks_new(look->verdict, "key-ignored", memory ? SEVERITY_WARNING : SEVERITY_NOTICE);
	if (!finding)
		return;
	finding_title(finding, "Flink %s does not know %s", look->version, written->name);
	finding_observation(finding, "%s: %s is an option of Flink %s; %s ignores it without a word.", written->where,
			    written->name, flinkkeys_version(other), look->version);
	if (str_starts(written->key, STR("taskmanager.heap")))
		finding_change(
			finding,
			"set taskmanager.memory.flink.size (what 1.20 takes it for) or taskmanager.memory.process.size instead of %s",
			written->name);
	else if (str_starts(written->key, STR("jobmanager.heap")))
		finding_change(finding, "set jobmanager.memory.heap.size instead of %s", written->name);
	else
		finding_change(finding, newer ? "take %s out, or plan with --version %.*s" : "take %s out",
			       written->name, 4, flinkkeys_version(other));
}

/* None of this version's keys, nor of another's. */
static void unknown(const struct keys_look *look, const struct written *written)
{
	char hint[TYPO_HINT_CAP];
	struct typo typo = { .said = written->key };
	flinkkeys_offer(&typo, look->declared->version);
	bool memory = concerns_memory(written->key) || (typo.meant && concerns_memory(str_of(typo.meant)));
	if (!typo.meant && !memory)
		return;
	struct finding *finding = checks_new(look->verdict, typo.meant ? "key-misspelt" : "key-unknown",
					     memory ? SEVERITY_WARNING : SEVERITY_NOTICE);
	if (!finding)
		return;
	finding_title(finding, "Flink %s has no option %s%s", look->version, written->name, typo_hint(&typo, hint));
	finding_observation(finding, "%s: %s is no option of any version from %s to %s, and is ignored without a word.",
			    written->where, written->name, flinkkeys_version(0),
			    flinkkeys_version(flinkkeys_n_versions() - 1));
	if (typo.meant)
		finding_change(finding, "write %s instead of %s", typo.meant, written->name);
	else
		finding_change(finding, "take %s out, or write the option that was meant", written->name);
}

static void renamed(const struct keys_look *look, const struct written *written, const struct flinkkey *row)
{
	struct declared_value value;
	bool shadowed = declared_find(look->declared, row->current, &value) && str_eq(value.said, str_of(row->current));
	struct finding *finding = checks_new(look->verdict, shadowed ? "key-shadowed" : "key-renamed",
					     shadowed ? SEVERITY_WARNING : SEVERITY_INFO);
	if (!finding)
		return;
	if (shadowed) {
		finding_title(finding, "%s is not looked at, for %s is set too", written->name, row->current);
		finding_observation(finding, "%s: the older name gives way to %s (%s), whichever stands last.",
				    written->where, row->current, value.where);
		finding_change(finding, "take %s out", written->name);
	} else {
		finding_title(finding, "%s is the older name of %s", written->name, row->current);
		finding_observation(finding, "%s: Flink %s still takes it.", written->where, look->version);
		finding_change(finding, "write %s instead of %s", row->current, written->name);
	}
}

/* What the option's type cannot be made of: Flink throws where it reads the option, at the latest when a job wants it. */
static bool reads(const struct flinkkey *row, struct number_text value, const char **ret_why)
{
	uint64_t bytes;
	int32_t number;
	double real;
	switch (row->type) {
	case FLINKKEY_MEMORYSIZE:
		return number_size(value, &bytes, ret_why);
	case FLINKKEY_INTEGER:
		return number_int(value, &number, ret_why);
	case FLINKKEY_FLOAT:
		return number_float(value, &real, ret_why);
	case FLINKKEY_DOUBLE:
		return number_double(value, &real, ret_why);
	case FLINKKEY_STRING:
	case FLINKKEY_BOOLEAN:
	case FLINKKEY_DURATION:
	case FLINKKEY_ENUM:
	case FLINKKEY_LIST:
	case FLINKKEY_LONG:
	case FLINKKEY_MAP:
		break;
	}
	return true;
}

static void unreadable(const struct keys_look *look, const struct written *written, const char *why)
{
	char shown[48];
	struct finding *finding = checks_new(look->verdict, "value-unreadable", SEVERITY_WARNING);
	if (!finding)
		return;
	str_copy(shown, sizeof shown, written->value.text);
	finding_title(finding, "Flink cannot read the value of %s", written->name);
	finding_observation(finding, "%s: %s: '%s' %s. What needs the option fails.", written->where, written->name,
			    shown, why);
	finding_change(finding, "write a value of %s that Flink can read", written->name);
}

static void look_at(const struct keys_look *look, const struct written *written)
{
	unsigned version = look->declared->version, other;
	const char *why = NULL;
	const struct flinkkey *row = flinkkeys_find(written->key, version);
	if (!row && flinkkeys_is_open(written->key, version))
		return;
	if (!row && flinkkeys_find_any(written->key, &other))
		ignored(look, written, other);
	else if (!row)
		unknown(look, written);
	else if (row->current)
		renamed(look, written, row);
	if (row && !reads(row, written->value, &why))
		unreadable(look, written, why);
}

static void look_at_entry(const struct keys_look *look, const struct flinkconf_entry *entry, const char *file)
{
	struct written written = { .key = entry->said, .value = { entry->raw, entry->plain } };
	if (entry->empty)
		return;
	str_copy(written.name, sizeof written.name, entry->said);
	if (file)
		(void)snprintf(written.where, sizeof written.where, "%.60s:%u", file, entry->line);
	else
		str_copy(written.where, sizeof written.where, STR("--set"));
	look_at(look, &written);
}

/* A later line with the same name: Flink takes the last, in either format. */
static void twice(const struct keys_look *look, size_t at)
{
	const struct flinkconf *file = look->declared->file;
	const struct flinkconf_entry *entry = &file->items[at];
	size_t last = at;
	for (size_t i = at + 1; i < file->n; i++)
		if (str_eq(file->items[i].said, entry->said))
			last = i;
	if (last == at)
		return;
	struct finding *finding = checks_new(look->verdict, "key-twice", SEVERITY_WARNING);
	char name[96];
	if (!finding)
		return;
	str_copy(name, sizeof name, entry->said);
	finding_title(finding, "%s stands twice", name);
	finding_observation(finding, "%s:%u: Flink takes the last one, on line %u.", file->name, entry->line,
			    file->items[last].line);
	finding_change(finding, "take line %u out", entry->line);
}

static void bad_lines(const struct keys_look *look, const struct flinkconf *file)
{
	struct finding *finding =
		file->n_bad_lines ? checks_new(look->verdict, "line-skipped", SEVERITY_WARNING) : NULL;
	if (!finding)
		return;
	finding_title(finding, "%u line%s of %s %s no 'key: value', and Flink skips %s", file->n_bad_lines,
		      file->n_bad_lines == 1 ? "" : "s", file->name, file->n_bad_lines == 1 ? "is" : "are",
		      file->n_bad_lines == 1 ? "it" : "them");
	finding_observation(finding, "A blank after the colon is missing, or the key, or the value.");
	finding_change(finding, "write each setting of %s as 'key: value' on a line of its own", file->name);
}

void checks_keys(const struct flinkplan_ask *ask, struct verdict *verdict)
{
	const struct declared *declared = ask->declared;
	const struct keys_look look = { declared, verdict, flinkkeys_version(declared->version) };
	const struct flinkconf *file = declared->file;
	for (size_t i = 0; file && i < file->n; i++) {
		look_at_entry(&look, &file->items[i], file->name);
		twice(&look, i);
	}
	if (file)
		bad_lines(&look, file);
	for (size_t i = 0; i < declared->n_sets; i++)
		look_at_entry(&look, &declared->sets[i], NULL);
}
