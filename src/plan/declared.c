/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/declared.h"

#include <stdio.h>
#include <strings.h>

#include "plan/flinkkeys.h"

enum { VALUE_SHOWN = 48 };

int declared_set(struct declared *declared, const char *pair, struct err *err)
{
	struct str text = str_of(pair);
	size_t at = str_index(text, '=');
	struct str key = str_trim((struct str){ text.ptr, at });
	if (at == text.len || key.len == 0)
		return err_set(err, ERR_USAGE, "--set: '%.60s' is not KEY=VALUE", pair);
	if (declared->n_sets == DECLARED_SETS_MAX)
		return err_set(err, ERR_USAGE, "--set: more than %d", DECLARED_SETS_MAX);
	struct str value = str_skip(text, at + 1);
	declared->sets[declared->n_sets++] = (struct flinkconf_entry){
		.key = flinkconf_current_key(key), .said = key, .raw = value, .value = str_trim(value)
	};
	return 0;
}

static void say(const struct flinkconf_entry *entry, const char *file, struct declared_value *ret_value)
{
	*ret_value = (struct declared_value){ .value = { entry->raw, entry->plain }, .said = entry->said };
	if (file && entry->line)
		(void)snprintf(ret_value->where, DECLARED_WHERE_CAP, "%.60s:%u", file, entry->line);
	else
		str_copy(ret_value->where, DECLARED_WHERE_CAP, str_of(file ? file : "--set"));
}

/* Under this very name. */
static bool find_exact(const struct declared *declared, struct str key, struct declared_value *ret_value)
{
	for (size_t i = declared->n_sets; i-- > 0;)
		if (str_eq(declared->sets[i].said, key)) {
			say(&declared->sets[i], NULL, ret_value);
			return true;
		}
	const struct flinkconf *file = declared->file;
	for (size_t i = file ? file->n : 0; i-- > 0;)
		if (!file->items[i].empty && str_eq(file->items[i].said, key)) {
			say(&file->items[i], file->name, ret_value);
			return true;
		}
	return false;
}

bool declared_find(const struct declared *declared, const char *key, struct declared_value *ret_value)
{
	const char *older;
	if (find_exact(declared, str_of(key), ret_value))
		return true;
	for (unsigned n = 0; (older = flinkkeys_older(key, declared->version, n)); n++)
		if (find_exact(declared, str_of(older), ret_value))
			return true;
	return false;
}

bool declared_has(const struct declared *declared, const char *key)
{
	struct declared_value value;
	return declared_find(declared, key, &value);
}

const char *declared_where(const struct declared *declared, const char *key, char dest[DECLARED_WHERE_CAP])
{
	struct declared_value value;
	bool found = declared_find(declared, key, &value);
	str_copy(dest, DECLARED_WHERE_CAP, str_of(found ? value.where : "Flink's default"));
	return dest;
}

static int bad_value(const struct declared_value *value, const char *why, struct err *err)
{
	char key[80], shown[VALUE_SHOWN];
	str_copy(key, sizeof key, value->said);
	str_copy(shown, sizeof shown, value->value.text);
	return err_set(err, ERR_USAGE, "%s: %s: '%s' %s", value->where, key, shown, why);
}

int declared_size(const struct declared *declared, const char *key, uint64_t otherwise, uint64_t *ret_bytes,
		  struct err *err)
{
	struct declared_value value;
	const char *why = NULL;
	uint64_t bytes = otherwise;
	if (declared_find(declared, key, &value) && !number_size(value.value, &bytes, &why))
		return bad_value(&value, why, err);
	*ret_bytes = bytes;
	return 0;
}

int declared_int(const struct declared *declared, const char *key, int32_t otherwise, int32_t *ret_value,
		 struct err *err)
{
	struct declared_value value;
	const char *why = NULL;
	int32_t number = otherwise;
	if (declared_find(declared, key, &value) && !number_int(value.value, &number, &why))
		return bad_value(&value, why, err);
	*ret_value = number;
	return 0;
}

int declared_float(const struct declared *declared, const char *key, double otherwise, double *ret_value,
		   struct err *err)
{
	struct declared_value value;
	const char *why = NULL;
	double number = otherwise;
	if (declared_find(declared, key, &value) && !number_float(value.value, &number, &why))
		return bad_value(&value, why, err);
	*ret_value = number;
	return 0;
}

int declared_double(const struct declared *declared, const char *key, double otherwise, double *ret_value,
		    struct err *err)
{
	struct declared_value value;
	const char *why = NULL;
	double number = otherwise;
	if (declared_find(declared, key, &value) && !number_double(value.value, &number, &why))
		return bad_value(&value, why, err);
	*ret_value = number;
	return 0;
}

int declared_bool(const struct declared *declared, const char *key, bool otherwise, bool *ret_value, struct err *err)
{
	struct declared_value value;
	bool answer = otherwise;
	if (declared_find(declared, key, &value)) {
		struct str text = value.value.text;
		answer = text.len == 4 && strncasecmp(text.ptr, "true", 4) == 0;
		if (!answer && !(text.len == 5 && strncasecmp(text.ptr, "false", 5) == 0))
			return bad_value(&value, "is neither true nor false", err);
	}
	*ret_value = answer;
	return 0;
}

int declared_check_file(const struct declared *declared, struct err *err)
{
	const struct flinkconf *file = declared->file;
	for (size_t i = 0; file && i < file->n; i++) {
		char key[80];
		if (!file->items[i].plain ||
		    !(file->items[i].empty || number_is_null((struct number_text){ file->items[i].raw, true })))
			continue;
		str_copy(key, sizeof key, file->items[i].said);
		return err_set(
			err, ERR_USAGE,
			"%.60s:%u: %s has no value: Flink does not start with such a file, so give it one or take the line out",
			file->name, file->items[i].line, key);
	}
	return 0;
}
