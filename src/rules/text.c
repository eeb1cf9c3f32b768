/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"

void finding_title(struct finding *finding, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	(void)vsnprintf(finding->title, sizeof finding->title, format, args);
	va_end(args);
}

void finding_observation(struct finding *finding, const char *format, ...)
{
	size_t used = strlen(finding->observation);
	if (used && used + 1 < sizeof finding->observation) {
		finding->observation[used++] = ' ';
		finding->observation[used] = '\0';
	}
	va_list args;
	va_start(args, format);
	(void)vsnprintf(finding->observation + used, sizeof finding->observation - used, format, args);
	va_end(args);
}

#define APPEND(list, count)                                                 \
	do {                                                                \
		va_list args;                                               \
		if (finding->count == FINDING_LIST_MAX)                     \
			return;                                             \
		va_start(args, format);                                     \
		char *at = finding->list[finding->count++];                 \
		(void)vsnprintf(at, sizeof finding->list[0], format, args); \
		va_end(args);                                               \
	} while (0)

void finding_cause(struct finding *finding, const char *format, ...)
{
	APPEND(competing_causes, n_causes);
}

void finding_validate(struct finding *finding, const char *format, ...)
{
	APPEND(validate, n_validate);
}

void finding_missing(struct finding *finding, const char *format, ...)
{
	APPEND(missing, n_missing);
}

void finding_missing_file(struct finding *finding, const struct snapshot *snapshot, const char *file,
			  const char *otherwise)
{
	char name[sizeof snapshot->gaps[0].what];
	(void)snprintf(name, sizeof name, "cgroup/%s", file);
	const struct gap *own = snapshot_gap(snapshot, name), *all = snapshot_gap(snapshot, "cgroup");
	const char *why = own                                  ? own->reason
			  : snapshot->cgroup.kind == CGROUP_V1 ? "the memory controller is on cgroup v1"
			  : snapshot->cgroup.is_root           ? "the machine's root cgroup has none"
			  : all                                ? all->reason
							       : otherwise;
	finding_missing(finding, "%s: %s", file, why);
}

void finding_change(struct finding *finding, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	(void)vsnprintf(finding->change, sizeof finding->change, format, args);
	va_end(args);
}

void finding_turn(struct finding *finding, enum knob knob, enum turn turn)
{
	if (finding->n_turns < FINDING_TURNS_MAX)
		finding->turns[finding->n_turns++] = (struct knob_turn){ knob, turn };
}

void finding_figure(struct finding *finding, const char *name, int64_t value)
{
	if (finding->n_evidence < FINDING_EVIDENCE_MAX)
		finding->evidence[finding->n_evidence++] = (struct evidence_figure){ name, value };
}

void finding_bytes(struct finding *finding, const char *name, uint64_t bytes)
{
	if (bytes <= INT64_MAX)
		finding_figure(finding, name, (int64_t)bytes);
}

void finding_setting(struct finding *finding, const struct snapshot *snapshot, const char *key)
{
	for (size_t i = 0; i < snapshot->n_settings && finding->n_settings < FINDING_SETTINGS_MAX; i++) {
		if (strcmp(snapshot->settings[i].key, key) != 0)
			continue;
		finding->effective_settings[finding->n_settings++] = snapshot->settings[i];
		return;
	}
}

void finding_setting_bytes(struct finding *finding, const char *key, uint64_t bytes, const char *where)
{
	if (finding->n_settings == FINDING_SETTINGS_MAX)
		return;
	struct setting *setting = &finding->effective_settings[finding->n_settings++];
	str_copy(setting->key, sizeof setting->key, str_of(key));
	(void)snprintf(setting->value, sizeof setting->value, "%llu", (unsigned long long)bytes);
	str_copy(setting->where, sizeof setting->where, str_of(where));
}

int largest_owner(const struct ledger *ledger)
{
	int best = -1;
	/* Without the composition what is known are trifles: the page tables of a heap that nobody saw are not to blame. */
	if (ledger_is_unread(ledger, OWNER_JAVA_HEAP) && ledger_is_unread(ledger, OWNER_NATIVE_OTHER))
		return -1;
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		if (!ledger->listed[owner] || !qty_known(ledger->lines[owner].bytes) || owner == OWNER_PAGE_CACHE ||
		    owner == OWNER_MAPPED_FILES)
			continue;
		if (best < 0 || ledger->lines[owner].bytes.bytes > ledger->lines[best].bytes.bytes)
			best = owner;
	}
	return best;
}

const char *owner_text(char dest[64], const struct ledger *ledger, int owner)
{
	char size[UNITS_TEXT_CAP];
	(void)snprintf(dest, 64, "%s %s", owner_table[owner].name,
		       units_format(size, ledger->lines[owner].bytes.bytes));
	return dest;
}
