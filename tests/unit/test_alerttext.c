/* SPDX-License-Identifier: Apache-2.0 */
#include "config/alerttext.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void names_become_values(void **state)
{
	(void)state;
	static const struct {
		const char *text, *shown;
	} table[] = {
		{ "plain", "plain" },
		{ "{{rule}}", "freeboard-low" },
		{ "{{ rule }} at {{workload}}.", "freeboard-low at a{{b}}." },
		{ "{{rule}}{{rule}}", "freeboard-lowfreeboard-low" },
		{ "{{owner}}|", "|" },
		{ "{ {rule} }", "{ {rule} }" },
		{ "}} {{pods}} }}", "}} 3 }}" },
	};
	/* A value that looks like a name stays what it is. */
	const char *values[ALERT_FIELD_COUNT] = {
		[ALERT_FIELD_RULE] = "freeboard-low",
		[ALERT_FIELD_WORKLOAD] = "a{{b}}",
		[ALERT_FIELD_PODS] = "3",
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		auto_buf struct buf out = { .cap = 256 };
		struct err err = { 0 };
		if (alerttext_check(str_of(table[i].text), &err) < 0)
			fail_msg("%s: %s", table[i].text, err.message);
		alerttext_render(table[i].text, values, &out);
		assert_string_equal(out.ptr, table[i].shown);
	}
}

static void wrong_names_are_refused(void **state)
{
	(void)state;
	static const struct {
		const char *text, *says;
	} table[] = {
		{ "", "1 to 1023 bytes" },  { "{{rul}}", "did you mean 'rule'" }, { "{{}}", "there is no {{}}" },
		{ "{{rule", "not closed" }, { "ok {{rule}} {{x y}}", "{{x y}}" }, { "{{{{rule}}}}", "not closed" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct err err = { 0 };
		assert_true(alerttext_check(str_of(table[i].text), &err) < 0);
		assert_int_equal(err.kind, ERR_USAGE);
		if (!strstr(err.message, table[i].says))
			fail_msg("'%s' says: %s", table[i].text, err.message);
	}
	char longest[ALERTTEXT_CAP + 1];
	memset(longest, 'x', sizeof longest);
	assert_int_equal(alerttext_check((struct str){ longest, ALERTTEXT_CAP - 1 }, NULL), 0);
	assert_true(alerttext_check((struct str){ longest, ALERTTEXT_CAP }, NULL) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_become_values),
		cmocka_unit_test(wrong_names_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
