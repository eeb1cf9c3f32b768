/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/keys.h"

int keys_check_text(struct str text, struct err *err)
{
	if (text.len && text.ptr[text.len - 1] != '\n')
		return err_set(err, ERR_MALFORMED, "the last line is cut");
	if (str_index(text, '\0') < text.len)
		return err_set(err, ERR_MALFORMED, "holds a NUL byte");
	return 0;
}

bool keys_kb(struct str text, uint64_t *ret_bytes)
{
	uint64_t value;
	str_blanks(&text);
	if (!str_u64(&text, &value))
		return false;
	str_blanks(&text);
	if (!str_eq(text, STR("kB")) || __builtin_mul_overflow(value, UINT64_C(1024), &value))
		return false;
	*ret_bytes = value;
	return true;
}

static bool put(const struct key *key, struct str value, void *dest)
{
	void *field = (char *)dest + key->offset;
	uint64_t number;
	str_blanks(&value);
	switch (key->unit) {
	case KEY_BYTES:
		if (!str_is_u64(value, &number))
			return false;
		*(struct qty *)field = qty_measured(number);
		return true;
	case KEY_KB:
		if (!keys_kb(value, &number))
			return false;
		*(struct qty *)field = qty_measured(number);
		return true;
	case KEY_COUNT:
		if (!str_is_u64(value, &number))
			return false;
		*(struct count *)field = count_of(number);
		return true;
	}
	return false;
}

static size_t find(const struct key *keys, size_t n_keys, size_t expected, struct str name)
{
	/* Tables are in the kernel's order, so the next known key mostly is the next of the table. */
	for (size_t i = expected; i < n_keys; i++)
		if (str_eq(keys[i].name, name))
			return i;
	for (size_t i = 0; i < expected && i < n_keys; i++)
		if (str_eq(keys[i].name, name))
			return i;
	return n_keys;
}

int keys_parse(struct str text, const struct key *keys, size_t n_keys, char separator, void *dest, struct err *err)
{
	int r = keys_check_text(text, err);
	if (r < 0)
		return r;
	uint64_t seen = 0;
	size_t expected = 0;
	struct str line;
	for (unsigned number = 1; str_line(&text, &line); number++) {
		struct str name;
		if (!str_split(&line, separator, &name))
			continue;
		size_t at = find(keys, n_keys, expected, name);
		if (at == n_keys)
			continue;
		if (seen & (UINT64_C(1) << at))
			return err_set(err, ERR_MALFORMED, "line %u: '%s' twice", number, keys[at].name.ptr);
		if (!put(&keys[at], line, dest))
			return err_set(err, ERR_MALFORMED, "line %u: no number after '%s'", number, keys[at].name.ptr);
		seen |= UINT64_C(1) << at;
		expected = at + 1;
	}
	return 0;
}
