/* SPDX-License-Identifier: Apache-2.0 */
#include "base/glob.h"

enum part_kind { PART_TEXT = 0, PART_ANY, PART_SET, PART_STAR };

bool glob_is(struct str pattern)
{
	return str_index(pattern, '*') < pattern.len || str_index(pattern, '?') < pattern.len ||
	       str_index(pattern, '[') < pattern.len || str_index(pattern, '\\') < pattern.len;
}

/* --- taken apart ------------------------------------------------------------------------------------------------- */

/* `len` bytes more of this kind, which is the part before where they go on there. */
static int add(struct glob *glob, enum part_kind kind, size_t at, size_t len, struct err *err)
{
	struct glob_part *last = glob->n_parts ? &glob->parts[glob->n_parts - 1] : NULL;
	if (last && last->kind == kind) {
		if (kind == PART_STAR)
			return 0;
		if (kind == PART_ANY || (kind == PART_TEXT && (size_t)last->at + last->len == at)) {
			last->len = (uint8_t)(last->len + len);
			return 0;
		}
	}
	if (glob->n_parts == GLOB_PARTS_MAX)
		return err_set(err, ERR_USAGE, "a pattern of more than %d parts", GLOB_PARTS_MAX);
	glob->parts[glob->n_parts++] = (struct glob_part){ (uint8_t)kind, (uint8_t)at, (uint8_t)len };
	return 0;
}

static void set_range(uint8_t *set, unsigned char first, unsigned char last)
{
	for (unsigned c = first; c <= last; c++)
		set[c / 8] |= (uint8_t)(1U << c % 8);
}

/* "[:digit:]"; `rest` stands behind "[:". */
static int take_class(struct str *rest, uint8_t *set, struct err *err)
{
	static const struct {
		const char *name, *ranges;
	} classes[] = {
		{ "alnum:]", "09AZaz" }, { "alpha:]", "AZaz" }, { "digit:]", "09" },
		{ "lower:]", "az" },     { "upper:]", "AZ" },   { "xdigit:]", "09AFaf" },
	};
	for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
		if (!str_take(rest, str_of(classes[i].name)))
			continue;
		for (const char *r = classes[i].ranges; *r; r += 2)
			set_range(set, (unsigned char)r[0], (unsigned char)r[1]);
		return 0;
	}
	return err_set(err, ERR_USAGE,
		       "behind '[:' one of alnum, alpha, digit, lower, upper, xdigit and ':]' is wanted");
}

/* One byte of a set, which a backslash may stand before. False: there is none. */
static bool take_byte(struct str *rest, unsigned char *ret)
{
	(void)str_take(rest, STR("\\"));
	if (rest->len == 0)
		return false;
	*ret = (unsigned char)rest->ptr[0];
	*rest = str_skip(*rest, 1);
	return true;
}

/* A byte, or a range of them. A '-' at the end is itself. */
static bool take_range(struct str *rest, uint8_t *set)
{
	unsigned char first, last;
	if (!take_byte(rest, &first))
		return false;
	last = first;
	if (rest->len >= 2 && rest->ptr[0] == '-' && rest->ptr[1] != ']') {
		*rest = str_skip(*rest, 1);
		if (!take_byte(rest, &last))
			return false;
	}
	set_range(set, first, last);
	return true;
}

/* `rest` stands behind the '['. */
static int take_set(struct str *rest, uint8_t *set, struct err *err)
{
	bool negated = str_take(rest, STR("!")) || str_take(rest, STR("^"));
	bool first = true; /* a ']' there is itself */
	while (first || !str_take(rest, STR("]"))) {
		first = false;
		if (str_take(rest, STR("[:"))) {
			int rc = take_class(rest, set, err);
			if (rc < 0)
				return rc;
		} else if (str_starts(*rest, STR("[=")) || str_starts(*rest, STR("[."))) {
			return err_set(err, ERR_USAGE, "neither '[=' nor '[.' in a set");
		} else if (!take_range(rest, set)) {
			return err_set(err, ERR_USAGE, "a '[' that is not closed: as itself it is '\\['");
		}
	}
	for (unsigned i = 0; negated && i < 32; i++)
		set[i] = (uint8_t)~set[i];
	return 0;
}

static int add_set(struct glob *glob, struct str *rest, struct err *err)
{
	if (glob->n_sets == GLOB_SETS_MAX)
		return err_set(err, ERR_USAGE, "a pattern of more than %d sets", GLOB_SETS_MAX);
	int rc = take_set(rest, glob->sets[glob->n_sets], err);
	return rc < 0 ? rc : add(glob, PART_SET, glob->n_sets++, 1, err);
}

int glob_parse(struct str pattern, struct glob *ret_glob, struct err *err)
{
	struct glob glob = { 0 };
	struct str rest = pattern;
	int rc = 0;
	if (pattern.len > GLOB_LEN_MAX)
		return err_set(err, ERR_USAGE, "a pattern of more than %d bytes", GLOB_LEN_MAX);
	while (rc == 0 && rest.len) {
		size_t at = pattern.len - rest.len;
		char c = rest.ptr[0];
		rest = str_skip(rest, 1);
		if (c == '*') {
			rc = add(&glob, PART_STAR, at, 0, err);
		} else if (c == '?') {
			rc = add(&glob, PART_ANY, at, 1, err);
		} else if (c == '[') {
			rc = add_set(&glob, &rest, err);
		} else if (c == '\\' && rest.len == 0) {
			rc = err_set(err, ERR_USAGE, "nothing behind a backslash");
		} else {
			bool quoted = c == '\\';
			rest = str_skip(rest, quoted);
			rc = add(&glob, PART_TEXT, at + quoted, 1, err);
		}
	}
	if (rc == 0)
		*ret_glob = glob;
	return rc;
}

/* --- compared ---------------------------------------------------------------------------------------------------- */

/* Parts from `first` up to `last`, none a star, at this place; there is room for them. */
static bool stands(const struct glob *glob, const char *pattern, size_t first, size_t last, const char *at)
{
	for (size_t i = first; i < last; i++) {
		const struct glob_part *part = &glob->parts[i];
		unsigned char byte = (unsigned char)*at;
		if (part->kind == PART_TEXT && memcmp(pattern + part->at, at, part->len) != 0)
			return false;
		if (part->kind == PART_SET && !(glob->sets[part->at][byte / 8] & 1U << byte % 8))
			return false;
		at += part->len;
	}
	return true;
}

/* A star takes as little as it can: what stands between two stars may stand at the first place where it fits. */
bool glob_match(const struct glob *glob, const char *pattern, struct str text)
{
	bool starred = false;
	size_t at = 0;
	for (size_t first = 0, last; first < glob->n_parts; first = last) {
		size_t width = 0;
		if (glob->parts[first].kind == PART_STAR) {
			starred = true;
			last = first + 1;
			continue;
		}
		for (last = first; last < glob->n_parts && glob->parts[last].kind != PART_STAR; last++)
			width += glob->parts[last].len;
		if (text.len - at < width)
			return false;
		size_t most = text.len - width; /* the last place where it could stand */
		if (last == glob->n_parts)
			return (starred || at == most) && stands(glob, pattern, first, last, text.ptr + most);
		size_t end = starred ? most : at;
		while (!stands(glob, pattern, first, last, text.ptr + at))
			if (++at > end)
				return false;
		at += width;
	}
	return starred || text.len == 0;
}
