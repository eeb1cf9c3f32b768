/* SPDX-License-Identifier: Apache-2.0 */
#include "base/kubeqty.h"

static const struct unit {
	const char *suffix;
	uint64_t milli; /* of one */
	bool mistaken;  /* decimal, and taken for binary by people */
} units[] = {
	{ "", 1000, false },
	{ "m", 1, false },
	{ "k", 1000000ULL, false },
	{ "M", 1000000000ULL, true },
	{ "G", 1000000000000ULL, true },
	{ "T", 1000000000000000ULL, true },
	{ "Ki", 1000ULL << 10, false },
	{ "Mi", 1000ULL << 20, false },
	{ "Gi", 1000ULL << 30, false },
	{ "Ti", 1000ULL << 40, false },
};

enum { FRACTION_DIGITS_MAX = 6 };

struct parts {
	uint64_t whole, fraction, scale;
	const struct unit *unit;
};

static bool split(struct str text, struct parts *ret_parts)
{
	struct parts parts = { .scale = 1 };
	if (!str_u64(&text, &parts.whole))
		return false;
	if (str_take(&text, STR("."))) {
		struct str digits = text;
		if (!str_u64(&text, &parts.fraction) || digits.len - text.len > FRACTION_DIGITS_MAX)
			return false;
		for (size_t i = 0; i < digits.len - text.len; i++)
			parts.scale *= 10;
	}
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (str_eq(text, str_of(units[i].suffix)))
			parts.unit = &units[i];
	*ret_parts = parts;
	return parts.unit != NULL;
}

bool kubeqty_milli(struct str text, uint64_t *ret_milli)
{
	struct parts parts;
	uint64_t value, part;
	if (!split(text, &parts) || __builtin_mul_overflow(parts.whole, parts.unit->milli, &value) ||
	    __builtin_mul_overflow(parts.fraction, parts.unit->milli, &part) ||
	    __builtin_add_overflow(value, part / parts.scale, &value))
		return false;
	*ret_milli = value;
	return true;
}

bool kubeqty_is_decimal(struct str text)
{
	struct parts parts;
	return split(text, &parts) && parts.unit->mistaken;
}
