/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

static int sextet(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '-' || c == '+' ? 62 : c == '_' || c == '/' ? 63 : -1;
}

bool base64_decode(struct str text, struct buf *out)
{
	uint32_t bits = 0;
	unsigned n_bits = 0;
	for (int i = 0; i < 2 && text.len && text.ptr[text.len - 1] == '='; i++)
		text.len--;
	if (text.len % 4 == 1)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		int six = sextet(text.ptr[i]);
		if (six < 0)
			return false;
		bits = bits << 6 | (uint32_t)six;
		n_bits += 6;
		if (n_bits < 8)
			continue;
		n_bits -= 8;
		if (!buf_putc(out, (char)(unsigned char)(bits >> n_bits)))
			return false;
	}
	return true;
}
