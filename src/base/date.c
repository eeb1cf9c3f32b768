/* SPDX-License-Identifier: Apache-2.0 */
#include "base/date.h"

#include <stdio.h>

enum { YEAR_FIRST = 1970, YEAR_LAST = 9999, MONTHS = 12 };

static bool is_leap(unsigned year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static unsigned days_of_month(unsigned year, unsigned month)
{
	static const unsigned char days[MONTHS] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	return days[month - 1] + (month == 2 && is_leap(year) ? 1u : 0u);
}

/* From 1970 to the start of `year`. */
static int64_t days_before(unsigned year)
{
	unsigned last = year - 1, first = YEAR_FIRST - 1;
	return (int64_t)(year - YEAR_FIRST) * 365 + (last / 4 - first / 4) - (last / 100 - first / 100) +
	       (last / 400 - first / 400);
}

/* Exactly `n` digits. */
static bool take_digits(struct str *rest, unsigned n, unsigned *ret_value)
{
	unsigned value = 0;
	if (rest->len < n)
		return false;
	for (unsigned i = 0; i < n; i++) {
		if (rest->ptr[i] < '0' || rest->ptr[i] > '9')
			return false;
		value = value * 10 + (unsigned)(rest->ptr[i] - '0');
	}
	*rest = str_skip(*rest, n);
	*ret_value = value;
	return true;
}

static bool take_day(struct str *rest, int64_t *ret_days)
{
	unsigned year, month, day;
	if (!take_digits(rest, 4, &year) || !str_take(rest, STR("-")) || !take_digits(rest, 2, &month) ||
	    !str_take(rest, STR("-")) || !take_digits(rest, 2, &day))
		return false;
	if (year < YEAR_FIRST || month < 1 || month > MONTHS || day < 1 || day > days_of_month(year, month))
		return false;
	int64_t days = days_before(year) + day - 1;
	for (unsigned m = 1; m < month; m++)
		days += days_of_month(year, m);
	*ret_days = days;
	return true;
}

static bool take_fraction(struct str *rest, unsigned *ret_ms)
{
	unsigned ms = 0, n = 0, digit;
	if (str_take(rest, STR(".")))
		for (; take_digits(rest, 1, &digit); n++)
			ms += n == 0 ? digit * 100 : n == 1 ? digit * 10 : n == 2 ? digit : 0;
	else
		n = 1;
	*ret_ms = ms;
	return n > 0;
}

/* How far the clock is ahead of UTC. */
static bool take_offset(struct str *rest, int *ret_minutes)
{
	unsigned hours, minutes;
	*ret_minutes = 0;
	if (str_take(rest, STR("Z")) || str_take(rest, STR("z")))
		return true;
	bool behind = str_take(rest, STR("-"));
	if ((!behind && !str_take(rest, STR("+"))) || !take_digits(rest, 2, &hours) || !str_take(rest, STR(":")) ||
	    !take_digits(rest, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	*ret_minutes = (int)(hours * 60 + minutes) * (behind ? -1 : 1);
	return true;
}

bool date_parse(struct str text, int64_t *ret_ms)
{
	int64_t days;
	unsigned hours, minutes, seconds, ms;
	int ahead;
	if (!take_day(&text, &days))
		return false;
	if (text.len == 0) {
		*ret_ms = days * DATE_DAY_MS;
		return true;
	}
	if ((!str_take(&text, STR("T")) && !str_take(&text, STR("t"))) || !take_digits(&text, 2, &hours) ||
	    !str_take(&text, STR(":")) || !take_digits(&text, 2, &minutes) || !str_take(&text, STR(":")) ||
	    !take_digits(&text, 2, &seconds) || !take_fraction(&text, &ms) || !take_offset(&text, &ahead))
		return false;
	if (text.len || hours > 23 || minutes > 59 || seconds > 59)
		return false;
	int64_t second = ((int64_t)hours * 60 + minutes - ahead) * 60 + seconds;
	*ret_ms = days * DATE_DAY_MS + second * 1000 + ms;
	return true;
}

/* The day of `days` since 1970-01-01: "2026-12-31". Returns its length. */
static int put_day(char dest[DATE_TEXT_CAP], int64_t days)
{
	unsigned year = YEAR_FIRST + (unsigned)(days / 366), month = 1; /* never too late, and seldom early */
	while (days_before(year + 1) <= days)
		year++;
	unsigned day = (unsigned)(days - days_before(year));
	while (day >= days_of_month(year, month))
		day -= days_of_month(year, month++);
	return snprintf(dest, DATE_TEXT_CAP, "%04u-%02u-%02u", year, month, day + 1);
}

static bool in_calendar(int64_t ms)
{
	return ms >= 0 && ms < days_before(YEAR_LAST + 1) * DATE_DAY_MS;
}

const char *date_format(char dest[DATE_TEXT_CAP], int64_t ms)
{
	if (!in_calendar(ms)) {
		(void)snprintf(dest, DATE_TEXT_CAP, "?");
		return dest;
	}
	unsigned second = (unsigned)(ms % DATE_DAY_MS / 1000);
	int used = put_day(dest, ms / DATE_DAY_MS);
	if (ms % DATE_DAY_MS && used > 0)
		(void)snprintf(dest + used, DATE_TEXT_CAP - (size_t)used, "T%02u:%02u:%02uZ", second / 3600,
			       second / 60 % 60, second % 60);
	return dest;
}

const char *date_format_instant(char dest[DATE_TEXT_CAP], int64_t ms)
{
	if (!in_calendar(ms)) {
		(void)snprintf(dest, DATE_TEXT_CAP, "?");
		return dest;
	}
	unsigned of_day = (unsigned)(ms % DATE_DAY_MS), second = of_day / 1000;
	int used = put_day(dest, ms / DATE_DAY_MS);
	if (used > 0)
		(void)snprintf(dest + used, DATE_TEXT_CAP - (size_t)used, "T%02u:%02u:%02u.%03uZ", second / 3600,
			       second / 60 % 60, second % 60, of_day % 1000);
	return dest;
}
