/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

bool str_ends(struct str text, struct str suffix)
{
	return text.len >= suffix.len && memcmp(text.ptr + text.len - suffix.len, suffix.ptr, suffix.len) == 0;
}

size_t str_index(struct str text, char byte)
{
	const char *at = text.len ? memchr(text.ptr, byte, text.len) : NULL;
	return at ? (size_t)(at - text.ptr) : text.len;
}

size_t str_find(struct str text, struct str part)
{
	if (part.len == 0)
		return 0;
	for (size_t i = 0; i + part.len <= text.len; i++) {
		const char *at = memchr(text.ptr + i, part.ptr[0], text.len - i - part.len + 1);
		if (!at)
			break;
		i = (size_t)(at - text.ptr);
		if (memcmp(at, part.ptr, part.len) == 0)
			return i;
	}
	return text.len;
}

bool str_has(struct str text, struct str part)
{
	return part.len == 0 || str_find(text, part) < text.len;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str str_trim(struct str text)
{
	while (text.len && is_space(text.ptr[0]))
		text = str_skip(text, 1);
	while (text.len && is_space(text.ptr[text.len - 1]))
		text.len--;
	return text;
}

bool str_split(struct str *rest, char separator, struct str *ret_part)
{
	if (rest->len == 0)
		return false;
	size_t len = str_index(*rest, separator);
	*ret_part = (struct str){ rest->ptr, len };
	*rest = str_skip(*rest, len + 1);
	return true;
}

bool str_line(struct str *rest, struct str *ret_line)
{
	return str_split(rest, '\n', ret_line);
}

bool str_take(struct str *rest, struct str prefix)
{
	if (!str_starts(*rest, prefix))
		return false;
	*rest = str_skip(*rest, prefix.len);
	return true;
}

void str_blanks(struct str *rest)
{
	while (rest->len && (rest->ptr[0] == ' ' || rest->ptr[0] == '\t'))
		*rest = str_skip(*rest, 1);
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

static bool take_number(struct str *rest, unsigned base, uint64_t *ret_value)
{
	uint64_t value = 0;
	size_t i = 0;
	for (; i < rest->len; i++) {
		unsigned digit = (unsigned)digit_of(rest->ptr[i]);
		if (digit >= base)
			break;
		if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
		    __builtin_add_overflow(value, (uint64_t)digit, &value))
			return false;
	}
	if (i == 0)
		return false;
	*rest = str_skip(*rest, i);
	*ret_value = value;
	return true;
}

bool str_u64(struct str *rest, uint64_t *ret_value)
{
	return take_number(rest, 10, ret_value);
}

bool str_hex(struct str *rest, uint64_t *ret_value)
{
	return take_number(rest, 16, ret_value);
}

bool str_is_u64(struct str text, uint64_t *ret_value)
{
	uint64_t value;
	if (!str_u64(&text, &value) || text.len != 0)
		return false;
	*ret_value = value;
	return true;
}

void str_copy(char *dest, size_t cap, struct str text)
{
	if (cap == 0)
		return;
	size_t len = str_index(text, '\0');
	if (len > cap - 1)
		len = cap - 1;
	if (len)
		memcpy(dest, text.ptr, len);
	dest[len] = '\0';
}
