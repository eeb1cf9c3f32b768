/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/mountline.h"

bool mountline_split(struct str line, struct mount_line *ret)
{
	struct str word;
	for (unsigned number = 1; number <= 6; number++) {
		if (!str_split(&line, ' ', &word))
			return false;
		if (number == 3)
			ret->device = word;
		if (number == 4)
			ret->root = word;
		if (number == 5)
			ret->point = word;
	}
	do
		if (!str_split(&line, ' ', &word))
			return false;
	while (!str_eq(word, STR("-")));
	if (!str_split(&line, ' ', &ret->type) || !str_split(&line, ' ', &word))
		return false;
	ret->super_options = line;
	return true;
}

bool mountline_unescape(char *dest, size_t cap, struct str text)
{
	size_t n = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (n + 1 >= cap)
			return false;
		unsigned value = (unsigned char)text.ptr[i];
		if (value == '\\') {
			if (text.len - i < 4)
				return false;
			value = 0;
			for (size_t k = 1; k <= 3; k++) {
				char c = text.ptr[i + k];
				if (c < '0' || c > '7')
					return false;
				value = value * 8 + (unsigned)(c - '0');
			}
			if (value == 0 || value > 0xff)
				return false;
			i += 3;
		}
		dest[n++] = (char)(unsigned char)value;
	}
	dest[n] = '\0';
	return true;
}
