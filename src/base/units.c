/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"

#include <stdio.h>
#include <strings.h>

struct unit {
	const char *name;
	unsigned shift;
};

static const struct unit own_units[] = {
	{ "", 0 },    { "b", 0 },   { "k", 10 },   { "kb", 10 },  { "ki", 10 }, { "kib", 10 }, { "m", 20 },
	{ "mb", 20 }, { "mi", 20 }, { "mib", 20 }, { "g", 30 },   { "gb", 30 }, { "gi", 30 },  { "gib", 30 },
	{ "t", 40 },  { "tb", 40 }, { "ti", 40 },  { "tib", 40 }, { NULL, 0 },
};

static const struct unit jvm_units[] = {
	{ "", 0 }, { "k", 10 }, { "m", 20 }, { "g", 30 }, { "t", 40 }, { NULL, 0 },
};

static const struct unit flink_units[] = {
	{ "", 0 },   { "b", 0 },   { "bytes", 0 },      { "k", 10 }, { "kb", 10 }, { "kibibytes", 10 },
	{ "m", 20 }, { "mb", 20 }, { "mebibytes", 20 }, { "g", 30 }, { "gb", 30 }, { "gibibytes", 30 },
	{ "t", 40 }, { "tb", 40 }, { "tebibytes", 40 }, { NULL, 0 },
};

static bool parse_with(const struct unit *units, bool blanks, struct str text, uint64_t *ret_bytes)
{
	uint64_t value;
	if (!str_u64(&text, &value))
		return false;
	if (blanks)
		str_blanks(&text);
	for (const struct unit *unit = units; unit->name; unit++) {
		if (strlen(unit->name) != text.len || strncasecmp(unit->name, text.ptr, text.len) != 0)
			continue;
		if (__builtin_mul_overflow(value, (uint64_t)1 << unit->shift, &value))
			return false;
		*ret_bytes = value;
		return true;
	}
	return false;
}

int units_parse(struct str text, uint64_t *ret_bytes, struct err *err)
{
	if (parse_with(own_units, false, text, ret_bytes))
		return 0;
	char shown[40];
	str_copy(shown, sizeof shown, text);
	return err_set(err, ERR_USAGE, "'%s' is no size: write digits and a unit, such as 1728m, 4Gi or 1073741824",
		       shown);
}

int units_parse_ms(struct str text, uint64_t *ret_ms, struct err *err)
{
	static const struct {
		struct str name;
		uint64_t ms;
	} units[] = { { { "ms", 2 }, 1 },
		      { { "s", 1 }, 1000 },
		      { { "m", 1 }, 60000 },
		      { { "h", 1 }, 3600000 },
		      { { "d", 1 }, 86400000 } };
	struct str rest = text;
	uint64_t value;
	if (str_u64(&rest, &value))
		for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
			if (str_eq(rest, units[i].name) && !__builtin_mul_overflow(value, units[i].ms, &value)) {
				*ret_ms = value;
				return 0;
			}
	char shown[40];
	str_copy(shown, sizeof shown, text);
	return err_set(err, ERR_USAGE, "'%s' is no time: write digits and a unit, such as 250ms, 5s, 2m, 48h or 30d",
		       shown);
}

bool units_parse_jvm(struct str text, uint64_t *ret_bytes)
{
	return parse_with(jvm_units, false, text, ret_bytes);
}

bool units_parse_flink(struct str text, uint64_t *ret_bytes)
{
	return parse_with(flink_units, true, str_trim(text), ret_bytes);
}

const char *units_format(char dest[UNITS_TEXT_CAP], uint64_t bytes)
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	unsigned step = 0;
	while (step < 6 && (bytes >> (10 * (step + 1))) != 0)
		step++;
	if (step == 0) {
		(void)snprintf(dest, UNITS_TEXT_CAP, "%llu B", (unsigned long long)bytes);
		return dest;
	}
	double value = (double)bytes / (double)((uint64_t)1 << (10 * step));
	if (value >= 1023.5 && step < 6) {
		value /= 1024;
		step++;
	}
	/* MiB with one decimal keeps columns of a pod comparable; GiB needs two to show a change. Four digits are the most. */
	int decimals = value >= 999.95 ? 0 : step < 3 || value >= 99.995 ? 1 : 2;
	(void)snprintf(dest, UNITS_TEXT_CAP, "%.*f %s", decimals, value, names[step]);
	return dest;
}

const char *units_format_signed(char dest[UNITS_TEXT_CAP], int64_t bytes)
{
	if (bytes >= 0)
		return units_format(dest, (uint64_t)bytes);
	char text[UNITS_TEXT_CAP];
	(void)units_format(text, (uint64_t)0 - (uint64_t)bytes);
	(void)snprintf(dest, UNITS_TEXT_CAP, "-%.*s", UNITS_TEXT_CAP - 2, text);
	return dest;
}
