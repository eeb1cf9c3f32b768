/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/quantity.h"

#include "base/units.h"

/* What a decimal letter stands for; 0: none. */
static uint64_t decimal(char letter)
{
	switch (letter) {
	case 'M':
		return 1000000;
	case 'G':
		return 1000000000;
	case 'T':
		return 1000000000000;
	default:
		return 0;
	}
}

bool quantity_is_decimal(struct str text)
{
	return text.len > 1 && decimal(text.ptr[text.len - 1]) != 0;
}

int quantity_parse(struct str text, uint64_t *ret_bytes, struct err *err)
{
	struct str digits = { text.ptr, text.len ? text.len - 1 : 0 };
	uint64_t bytes;
	int rc = 0;
	if (!quantity_is_decimal(text))
		rc = units_parse(text, &bytes, err);
	else if (!str_is_u64(digits, &bytes) || __builtin_mul_overflow(bytes, decimal(text.ptr[text.len - 1]), &bytes))
		rc = err_set(err, ERR_USAGE, "'%.*s' is no size: write digits and a unit, such as 4Gi, 4G or 1728m",
			     (int)(text.len < 40 ? text.len : 40), text.ptr);
	if (rc == 0 && bytes == 0)
		rc = err_set(err, ERR_USAGE, "0 is no limit");
	if (rc == 0)
		*ret_bytes = bytes;
	return rc;
}
