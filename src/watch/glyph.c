/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/glyph.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/esc.h"

/*
 * Ranges of one width and one direction in all of Unicode 15.0's EastAsianWidth.txt (F, W: two; N, Na, A: one),
 * DerivedBidiClass.txt (L, EN, ON and such; never R or AL) and without general category M or C. Not all such: the
 * scripts of names that are met.
 */
static const struct {
	uint32_t first, last;
	unsigned columns;
} ranges[] = {
	{ 0x20, 0x7e, 1 },     { 0xa0, 0xac, 1 },     { 0xae, 0x2ff, 1 },    { 0x370, 0x377, 1 },
	{ 0x37a, 0x37f, 1 },   { 0x384, 0x38a, 1 },   { 0x38e, 0x3a1, 1 },   { 0x3a3, 0x482, 1 },
	{ 0x48a, 0x52f, 1 },   { 0x531, 0x556, 1 },   { 0x561, 0x587, 1 },   { 0x1e00, 0x1f15, 1 },
	{ 0x2010, 0x2027, 1 }, { 0x2030, 0x205e, 1 }, { 0x20a0, 0x20bf, 1 }, { 0x2190, 0x2199, 1 },
	{ 0x2500, 0x259f, 1 }, { 0x3001, 0x3029, 2 }, { 0x3041, 0x3096, 2 }, { 0x309b, 0x30ff, 2 },
	{ 0x3105, 0x312f, 2 }, { 0x3131, 0x318e, 2 }, { 0x4e00, 0x9fff, 2 }, { 0x3400, 0x4dbf, 2 },
	{ 0xac00, 0xd7a3, 2 }, { 0xf900, 0xfa6d, 2 }, { 0xff01, 0xff60, 2 }, { 0xffe0, 0xffe6, 2 },
	{ 0xfffd, 0xfffd, 1 },
};

static uint32_t code_of(const unsigned char *p, size_t len)
{
	if (len == 1)
		return p[0];
	uint32_t code = p[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++)
		code = code << 6 | (p[i] & 0x3f);
	return code;
}

static unsigned columns_of(uint32_t code)
{
	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return ranges[i].columns;
	return 0;
}

struct glyph glyph_take(struct str *rest, bool utf8)
{
	struct glyph glyph = { 0 };
	const unsigned char *p = (const unsigned char *)rest->ptr;
	size_t len = esc_utf8_len(*rest);
	uint32_t code = len ? code_of(p, len) : 0;
	unsigned columns = len && (utf8 || len == 1) ? columns_of(code) : 0;
	if (columns) {
		memcpy(glyph.text, p, len);
		glyph.len = (unsigned)len;
		glyph.columns = columns;
	} else {
		int n = len > 1 ? snprintf(glyph.text, sizeof glyph.text, code > 0xffff ? "\\U%06x" : "\\u%04x",
					   (unsigned)code)
				: snprintf(glyph.text, sizeof glyph.text, "\\x%02x", p[0]);
		glyph.len = glyph.columns = (unsigned)n;
	}
	*rest = str_skip(*rest, len ? len : 1);
	return glyph;
}

size_t glyph_columns(struct str text, bool utf8)
{
	size_t n = 0;
	while (text.len)
		n += glyph_take(&text, utf8).columns;
	return n;
}
