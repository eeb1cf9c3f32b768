/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/wire.h"

const char *wire_epoch_format(char dest[WIRE_EPOCH_TEXT_CAP], struct wire_epoch epoch)
{
	static const char digits[] = "0123456789abcdef";
	for (size_t i = 0; i < sizeof epoch.bytes; i++) {
		dest[2 * i] = digits[epoch.bytes[i] >> 4];
		dest[2 * i + 1] = digits[epoch.bytes[i] & 0xf];
	}
	dest[2 * sizeof epoch.bytes] = '\0';
	return dest;
}

/* -1: none. Upper case is refused: an epoch has one spelling, so that texts may be compared. */
static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool wire_epoch_parse(struct str text, struct wire_epoch *ret_epoch)
{
	struct wire_epoch epoch;
	if (text.len != 2 * sizeof epoch.bytes)
		return false;
	for (size_t i = 0; i < sizeof epoch.bytes; i++) {
		int high = nibble(text.ptr[2 * i]), low = nibble(text.ptr[2 * i + 1]);
		if (high < 0 || low < 0)
			return false;
		epoch.bytes[i] = (uint8_t)(high << 4 | low);
	}
	*ret_epoch = epoch;
	return true;
}

bool wire_epoch_same(struct wire_epoch a, struct wire_epoch b)
{
	return memcmp(a.bytes, b.bytes, sizeof a.bytes) == 0;
}
