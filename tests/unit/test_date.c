/* SPDX-License-Identifier: Apache-2.0 */
#include "base/date.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <time.h>

static const struct {
	const char *text;
	int64_t ms;
} taken[] = {
	{ "1970-01-01", 0 },
	{ "1970-01-02", 86400000 },
	{ "2000-02-29", INT64_C(951782400000) }, /* a leap year by the rule of 400 */
	{ "2024-02-29", INT64_C(1709164800000) },
	{ "2026-12-31", INT64_C(1798675200000) },
	{ "9999-12-31", INT64_C(253402214400000) },
	{ "2026-12-31T08:00:00Z", INT64_C(1798704000000) },
	{ "2026-12-31t08:00:00z", INT64_C(1798704000000) },
	{ "2026-12-31T10:00:00+02:00", INT64_C(1798704000000) },
	{ "2026-12-31T02:30:00-05:30", INT64_C(1798704000000) },
	{ "2026-12-31T08:00:00.5Z", INT64_C(1798704000500) },
	{ "2026-12-31T08:00:00.1239Z", INT64_C(1798704000123) },
	{ "2026-12-31T23:59:59-00:00", INT64_C(1798761599000) },
	{ "1970-01-01T00:00:00+00:01", -60000 },
};

static const char *const refused[] = {
	"",
	"2026",
	"2026-12",
	"2026-12-31 ",
	" 2026-12-31",
	"26-12-31",
	"2026-1-01",
	"2026-02-29",
	"2026-02-31",
	"2100-02-29",
	"2026-04-31",
	"2026-00-10",
	"2026-13-01",
	"2026-01-00",
	"2026-01-32",
	"1969-12-31",
	"0000-01-01",
	"-026-01-01",
	"2026/12/31",
	"31.12.2026",
	"2026-12-31T",
	"2026-12-31T08:00",
	"2026-12-31T08:00:00",
	"2026-12-31 08:00:00Z",
	"2026-12-31T24:00:00Z",
	"2026-12-31T08:60:00Z",
	"2026-12-31T08:00:60Z",
	"2026-12-31T08:00:00.Z",
	"2026-12-31T08:00:00+02",
	"2026-12-31T08:00:00+24:00",
	"2026-12-31T08:00:00+01:60",
	"2026-12-31T08:00:00Zz",
	"tomorrow",
};

static void dates(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++) {
		int64_t ms = 1;
		assert_true(date_parse(str_of(taken[i].text), &ms));
		assert_int_equal(ms, taken[i].ms);
	}
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
		int64_t ms = 1;
		if (date_parse(str_of(refused[i]), &ms))
			fail_msg("'%s' was taken", refused[i]);
		assert_int_equal(ms, 1);
	}
}

/* The C library's calendar is the other opinion; steps of 17 hours meet every hour of a day. */
static void agrees_with_the_calendar_and_reads_back(void **state)
{
	(void)state;
	for (int64_t second = 0; second < INT64_C(253402300800);
	     second += second < INT64_C(4102444800) ? 61200 : 864061) {
		time_t at = (time_t)second;
		struct tm utc;
		char want[64], got[DATE_TEXT_CAP];
		int64_t back;
		assert_non_null(gmtime_r(&at, &utc));
		(void)strftime(want, sizeof want, second % 86400 ? "%Y-%m-%dT%H:%M:%SZ" : "%Y-%m-%d", &utc);
		assert_string_equal(date_format(got, second * 1000), want);
		assert_true(date_parse(str_of(got), &back));
		assert_int_equal(back, second * 1000);
	}
}

static void what_cannot_be_written(void **state)
{
	(void)state;
	char text[DATE_TEXT_CAP];
	assert_string_equal(date_format(text, -1), "?");
	assert_string_equal(date_format(text, INT64_MIN), "?");
	assert_string_equal(date_format(text, INT64_MAX), "?");
	assert_string_equal(date_format(text, INT64_C(253402300800000)), "?");
	assert_string_equal(date_format(text, INT64_C(253402300799999)), "9999-12-31T23:59:59Z");
	assert_string_equal(date_format(text, 1), "1970-01-01T00:00:00Z");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(dates),
		cmocka_unit_test(agrees_with_the_calendar_and_reads_back),
		cmocka_unit_test(what_cannot_be_written),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
