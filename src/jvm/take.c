/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/take.h"

bool take_size(struct str *rest, uint64_t *ret_bytes)
{
	struct str at = *rest;
	uint64_t value;
	unsigned shift = 0;

	if (!str_u64(&at, &value))
		return false;
	struct str unit = at;
	if (str_take(&unit, STR("K")))
		shift = 10;
	else if (str_take(&unit, STR("M")))
		shift = 20;
	else if (str_take(&unit, STR("G")))
		shift = 30;
	if (!str_take(&unit, STR("B")) && shift)
		(void)str_take(&unit, STR("b"));
	if (__builtin_mul_overflow(value, (uint64_t)1 << shift, &value))
		return false;
	*rest = unit;
	*ret_bytes = value;
	return true;
}

bool take_address(struct str *rest, uint64_t *ret_address)
{
	struct str at = *rest;
	if (!str_take(&at, STR("0x")) || !str_hex(&at, ret_address))
		return false;
	*rest = at;
	return true;
}

unsigned take_addresses(struct str *rest, uint64_t ret_at[4])
{
	struct str at = *rest;
	unsigned n = 0;

	if (!str_take(&at, STR("[")))
		return 0;
	for (;;) {
		if (n == 4 || !take_address(&at, &ret_at[n]) || (n > 0 && ret_at[n] < ret_at[n - 1]))
			return 0;
		n++;
		if (str_take(&at, STR(")")) || str_take(&at, STR("]")))
			break;
		if (!str_take(&at, STR(" - ")) && !str_take(&at, STR(",")))
			return 0;
		str_blanks(&at);
	}
	if (n < 2)
		return 0;
	*rest = at;
	return n;
}
