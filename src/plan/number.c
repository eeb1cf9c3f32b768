/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/number.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/units.h"

enum { NUMBER_TEXT_CAP = 64 };

/* Java's String.trim(): everything up to a blank. */
static struct str trim(struct str text)
{
	while (text.len && (unsigned char)text.ptr[0] <= ' ')
		text = str_skip(text, 1);
	while (text.len && (unsigned char)text.ptr[text.len - 1] <= ' ')
		text.len--;
	return text;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t digits(struct str text)
{
	size_t n = 0;
	while (n < text.len && is_digit(text.ptr[n]))
		n++;
	return n;
}

static bool is_made_of(struct str text, const char *set)
{
	for (size_t i = 0; i < text.len; i++)
		if (!text.ptr[i] || !strchr(set, text.ptr[i]))
			return false;
	return text.len > 0;
}

static struct str unsigned_part(struct str text)
{
	return text.len && (text.ptr[0] == '+' || text.ptr[0] == '-') ? str_skip(text, 1) : text;
}

/* The core schema's whole numbers: decimal, 0o and 0x. */
static bool is_core_int(struct str text)
{
	struct str rest = text;
	if (str_take(&rest, STR("0x")))
		return is_made_of(rest, "0123456789abcdefABCDEF");
	if (str_take(&rest, STR("0o")))
		return is_made_of(rest, "01234567");
	rest = unsigned_part(text);
	return rest.len && digits(rest) == rest.len;
}

/* [-+]? ( \. [0-9]+ | [0-9]+ ( \. [0-9]* )? ) ( [eE] [-+]? [0-9]+ )? */
static bool is_core_float(struct str text)
{
	struct str rest = unsigned_part(text);
	size_t whole = digits(rest), part = 0;
	rest = str_skip(rest, whole);
	if (str_take(&rest, STR("."))) {
		part = digits(rest);
		rest = str_skip(rest, part);
	}
	if (whole == 0 && part == 0)
		return false;
	if (rest.len && (rest.ptr[0] == 'e' || rest.ptr[0] == 'E')) {
		rest = unsigned_part(str_skip(rest, 1));
		return rest.len && digits(rest) == rest.len;
	}
	return rest.len == 0;
}

bool number_is_null(struct number_text value)
{
	return value.plain && (value.text.len == 0 || str_eq(value.text, STR("~")) || str_eq(value.text, STR("null")) ||
			       str_eq(value.text, STR("Null")) || str_eq(value.text, STR("NULL")));
}

/* What Java's Integer, Long or BigInteger of this would print, into dest; other texts as they are. */
static struct str as_java(struct number_text value, char dest[NUMBER_TEXT_CAP])
{
	struct str text = value.text;
	if (!value.plain || !is_core_int(text) || text.len >= NUMBER_TEXT_CAP)
		return text;
	if (str_starts(text, STR("0x")) || str_starts(text, STR("0o"))) {
		unsigned shift = text.ptr[1] == 'x' ? 4 : 3;
		uint64_t number = 0;
		for (size_t i = 2; i < text.len; i++) {
			char c = text.ptr[i];
			unsigned digit = is_digit(c) ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
			if (number >> (64 - shift))
				return STR("99999999999999999999"); /* past 64 bits, however much */
			number = number << shift | digit;
		}
		(void)snprintf(dest, NUMBER_TEXT_CAP, "%llu", (unsigned long long)number);
		return str_of(dest);
	}
	bool negative = text.ptr[0] == '-';
	struct str rest = unsigned_part(text);
	while (rest.len > 1 && rest.ptr[0] == '0')
		rest = str_skip(rest, 1);
	negative = negative && !str_eq(rest, STR("0"));
	(void)snprintf(dest, NUMBER_TEXT_CAP, "%s%.*s", negative ? "-" : "", (int)rest.len, rest.ptr);
	return str_of(dest);
}

static bool equal_words(struct str a, const char *b)
{
	return a.len == strlen(b) && strncasecmp(a.ptr, b, a.len) == 0;
}

static const char *unit_reason(struct str unit)
{
	static const char *const kubernetes[] = { "ki", "mi", "gi", "ti", "kib", "mib", "gib", "tib" };
	for (size_t i = 0; i < sizeof kubernetes / sizeof kubernetes[0]; i++)
		if (equal_words(unit, kubernetes[i]))
			return "has a unit of Kubernetes: Flink's are b, k, kb, m, mb, g, gb, t, tb, and all of them binary";
	if (unit.len && (unit.ptr[0] == '.' || unit.ptr[0] == ','))
		return "has a fraction: sizes are whole numbers, so write 1536m for 1.5g";
	return "has no unit that Flink knows: they are b, k, kb, m, mb, g, gb, t, tb (all binary), none is bytes";
}

bool number_size(struct number_text value, uint64_t *ret_bytes, const char **ret_why)
{
	char room[NUMBER_TEXT_CAP];
	struct str text = trim(as_java(value, room));
	size_t n = digits(text);
	uint64_t bytes;
	if (text.len == 0) {
		*ret_why = "is empty: a size is a whole number and a unit, such as 1728m";
		return false;
	}
	if (n == 0) {
		*ret_why = text.ptr[0] == '-'
				   ? "is negative: a size is a whole number and a unit, such as 1728m"
				   : "does not begin with a digit: a size is a whole number and a unit, such as 1728m";
		return false;
	}
	if (units_parse_flink(text, &bytes) && bytes <= INT64_MAX) {
		*ret_bytes = bytes;
		return true;
	}
	/* Either the number or the unit: with another unit it would be a size. */
	struct str unit = trim(str_skip(text, n));
	static const char *const units[] = { "",  "b",  "bytes",     "k", "kb", "kibibytes", "m", "mb", "mebibytes",
					     "g", "gb", "gibibytes", "t", "tb", "tebibytes" };
	*ret_why = unit_reason(unit);
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (equal_words(unit, units[i]))
			*ret_why = "is more than 64 bits hold: the largest size is 9223372036854775807 bytes";
	return false;
}

bool number_int(struct number_text value, int32_t *ret_value, const char **ret_why)
{
	char room[NUMBER_TEXT_CAP];
	struct str text = as_java(value, room), rest = unsigned_part(text);
	uint64_t number;
	if (rest.len == 0 || !str_is_u64(rest, &number)) {
		*ret_why = rest.len && digits(rest) == rest.len ? "is past 2147483647" : "is no whole number";
		return false;
	}
	bool negative = text.ptr[0] == '-';
	if (number > (uint64_t)INT32_MAX + negative) {
		*ret_why = "is past 2147483647";
		return false;
	}
	*ret_value = negative ? (int32_t) - (int64_t)number : (int32_t)number;
	return true;
}

/*
 * What Float.parseFloat and Double.parseDouble take: blanks around it, a sign, decimal or 0x...p, a trailing f or d,
 * NaN and Infinity in these spellings alone.
 */
static bool java_float_text(struct str text, char dest[NUMBER_TEXT_CAP])
{
	text = trim(text);
	struct str bare = unsigned_part(text);
	if (text.len == 0 || text.len >= NUMBER_TEXT_CAP)
		return false;
	str_copy(dest, NUMBER_TEXT_CAP, text);
	if (str_eq(bare, STR("NaN")) || str_eq(bare, STR("Infinity")))
		return true;
	bool hex = bare.len > 2 && bare.ptr[0] == '0' && (bare.ptr[1] | 0x20) == 'x';
	if (strchr("fFdD", text.ptr[text.len - 1]) &&
	    (!hex || memchr(text.ptr, 'p', text.len) || memchr(text.ptr, 'P', text.len)))
		dest[--text.len] = '\0';
	if (!hex)
		return is_core_float(text);
	if (!memchr(dest, 'p', text.len) && !memchr(dest, 'P', text.len))
		return false;
	char *end;
	(void)strtod(dest, &end);
	return *end == '\0';
}

static bool fraction_text(struct number_text value, char dest[NUMBER_TEXT_CAP], const char **ret_why)
{
	char room[NUMBER_TEXT_CAP];
	struct str text = as_java(value, room);
	/* .nan and .inf are doubles of YAML; no option takes them, so they need not be told apart. */
	if (java_float_text(text, dest))
		return true;
	*ret_why = "is no number, such as 0.4";
	return false;
}

bool number_float(struct number_text value, double *ret_value, const char **ret_why)
{
	char text[NUMBER_TEXT_CAP];
	if (!fraction_text(value, text, ret_why))
		return false;
	/* A number of YAML is a double first: it is rounded twice. */
	bool is_double = value.plain && !is_core_int(value.text) && is_core_float(value.text);
	float narrow = is_double ? (float)strtod(text, NULL) : strtof(text, NULL);
	double wide = strtod(text, NULL);
	if (is_double && (fabs(wide) > (double)FLT_MAX || (wide != 0 && fabs(wide) < (double)FLT_TRUE_MIN))) {
		*ret_why = "is past what a float holds";
		return false;
	}
	*ret_value = (double)narrow;
	return true;
}

bool number_double(struct number_text value, double *ret_value, const char **ret_why)
{
	char text[NUMBER_TEXT_CAP];
	if (!fraction_text(value, text, ret_why))
		return false;
	*ret_value = strtod(text, NULL);
	return true;
}

/* The digits of Double.toString without their point, and where it stands: digits x 10^exponent. */
static void shortest(double factor, uint64_t *ret_digits, int *ret_exponent)
{
	char text[40];
	int precision = 0;
	do
		(void)snprintf(text, sizeof text, "%.*e", precision, factor);
	while (strtod(text, NULL) != factor && ++precision < 17);
	uint64_t number = 0;
	const char *at = text;
	for (; *at != 'e'; at++)
		if (is_digit(*at))
			number = number * 10 + (uint64_t)(*at - '0');
	*ret_digits = number;
	*ret_exponent = (int)strtol(at + 1, NULL, 10) - precision;
}

bool number_multiply(uint64_t bytes, double factor, uint64_t *ret_product)
{
	uint64_t number;
	int exponent;
	bool rest = false;
	if (factor == 0 || bytes == 0) {
		*ret_product = 0;
		return true;
	}
	shortest(factor, &number, &exponent);
	unsigned __int128 product = (unsigned __int128)bytes * number;
	for (; exponent < 0 && product; exponent++) {
		rest = rest || product % 10 != 0;
		product /= 10;
	}
	for (; exponent > 0 && product <= INT64_MAX; exponent--)
		product *= 10;
	if (product > INT64_MAX || (product == INT64_MAX && rest))
		return false;
	*ret_product = (uint64_t)product;
	return true;
}
