/* SPDX-License-Identifier: Apache-2.0 */
#include "base/esc.h"

#include <stdio.h>

size_t esc_utf8_len(struct str text)
{
	if (text.len == 0)
		return 0;
	const unsigned char *p = (const unsigned char *)text.ptr;
	if (p[0] < 0x80)
		return 1;
	size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || len > text.len)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] >= 0x90))
		return 0;
	return len;
}

struct str esc_utf8_cut(struct str text, size_t cap)
{
	size_t len = 0;
	for (size_t unit; (unit = esc_utf8_len(str_skip(text, len))) > 0 && len + unit < cap;)
		len += unit;
	return (struct str){ text.ptr, len };
}

/* U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069: they break a line, or let it be read in another order. */
static bool turns_the_line(const unsigned char *p)
{
	if (p[0] != 0xe2)
		return false;
	return (p[1] == 0x80 && (p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xa8 && p[2] <= 0xae))) ||
	       (p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9);
}

/* One shown unit at the start of `text`: itself, or an escape of one byte. */
static struct str next_unit(struct str text, char escape[5], size_t *ret_taken)
{
	const unsigned char *p = (const unsigned char *)text.ptr;
	size_t len = esc_utf8_len(text);
	bool control = p[0] < 0x20 || p[0] == 0x7f || (len == 2 && p[0] == 0xc2 && p[1] < 0xa0) ||
		       (len == 3 && turns_the_line(p));
	if (len != 0 && !control) {
		*ret_taken = len;
		return (struct str){ text.ptr, len };
	}
	(void)snprintf(escape, 5, "\\x%02x", p[0]);
	*ret_taken = 1;
	return (struct str){ escape, 4 };
}

bool esc_add(struct buf *buf, struct str text)
{
	while (text.len) {
		char escape[5];
		size_t taken;
		if (!buf_add(buf, next_unit(text, escape, &taken)))
			return false;
		text = str_skip(text, taken);
	}
	return true;
}

bool esc_is_plain(struct str text)
{
	while (text.len) {
		char escape[5];
		size_t taken;
		if (next_unit(text, escape, &taken).ptr == escape)
			return false;
		text = str_skip(text, taken);
	}
	return true;
}

const char *esc_copy(char *dest, size_t cap, struct str text)
{
	size_t used = 0;
	while (text.len) {
		char escape[5];
		size_t taken;
		struct str unit = next_unit(text, escape, &taken);
		if (used + unit.len + 1 > cap)
			break;
		memcpy(dest + used, unit.ptr, unit.len);
		used += unit.len;
		text = str_skip(text, taken);
	}
	if (cap)
		dest[used] = '\0';
	return dest;
}
