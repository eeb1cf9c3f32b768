/* SPDX-License-Identifier: Apache-2.0 */
#include "config/alertvalue.h"

#include "base/typo.h"
#include "base/units.h"
#include "rules/rules.h"

int value_unknown(struct str key, const char *what, const char *const names[], struct err *err)
{
	char shown[TYPO_NAME_CAP], hint[TYPO_HINT_CAP];
	struct typo typo = { .said = key };
	for (size_t i = 0; names[i]; i++) {
		if (str_eq(key, str_of(names[i])))
			return err_set(err, ERR_USAGE, "%s: a list or an object of its own, not a text", names[i]);
		typo_offer(&typo, names[i]);
	}
	str_copy(shown, sizeof shown, key);
	return err_set(err, ERR_USAGE, "%s has no '%s'%s", what, shown, typo_hint(&typo, hint));
}

int value_text(const char *key, struct str value, char *dest, size_t cap, struct err *err)
{
	if (value.len == 0 || value.len >= cap)
		return err_set(err, ERR_USAGE, "%s: 1 to %zu bytes", key, cap - 1);
	str_copy(dest, cap, value);
	return 0;
}

int value_bool(const char *key, struct str value, bool *dest, struct err *err)
{
	if (!str_eq(value, STR("true")) && !str_eq(value, STR("false")))
		return err_set(err, ERR_USAGE, "%s: true or false", key);
	*dest = str_eq(value, STR("true"));
	return 0;
}

int value_ms(const char *key, struct str value, uint64_t least, uint64_t most, uint64_t *dest, struct err *err)
{
	uint64_t ms;
	int rc = units_parse_ms(value, &ms, err);
	if (rc == 0 && (ms < least || ms > most))
		rc = err_set(err, ERR_USAGE, "%llu%s to %llu s",
			     (unsigned long long)(least % 1000 ? least : least / 1000), least % 1000 ? " ms" : "",
			     (unsigned long long)most / 1000);
	if (rc < 0)
		err_wrap(err, "%s", key);
	else
		*dest = ms;
	return rc;
}

int value_severity(struct str value, enum severity *dest, struct err *err)
{
	if (severity_find(value, dest))
		return 0;
	return err_set(err, ERR_USAGE, "severity: info, notice, warning or critical, and all above it");
}
