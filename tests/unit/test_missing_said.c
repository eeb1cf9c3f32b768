/* SPDX-License-Identifier: Apache-2.0 */
/* The log's word on inputs that are missing: again when it is another one, and not for ever. */
#include "agent/missing_said.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static struct finding *told(const char *observation)
{
	static struct finding finding;
	snprintf(finding.observation, sizeof(finding.observation), "%s", observation);
	return &finding;
}

static void what_changed_is_said_again(void **state)
{
	(void)state;
	static const struct {
		const char *observation; /* NULL: nothing is missing */
		bool news;
	} steps[] = {
		{ "http/metrics.0: nobody listens there. It costs: rocksdb lines.", true },
		{ "http/metrics.0: nobody listens there. It costs: rocksdb lines.", false },
		{ "http/metrics.0: no answer in 5 s. It costs: rocksdb lines.", false },
		{ "jvm/nmt: native memory tracking is off. It costs: gc.", true },
		{ NULL, true },
		{ NULL, false },
	};
	struct missing_said said = { 0 };
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		assert_int_equal(missing_said_step(&said, steps[i].observation ? told(steps[i].observation) : NULL),
				 steps[i].news);
}

static void nothing_missing_is_said_once(void **state)
{
	(void)state;
	struct missing_said said = { 0 };
	assert_true(missing_said_step(&said, NULL));
	assert_false(missing_said_step(&said, NULL));
}

static void an_endpoint_that_comes_and_goes_does_not_fill_the_log(void **state)
{
	(void)state;
	struct missing_said said = { 0 };
	int news = 0;
	for (int i = 0; i < 100; i++)
		news += missing_said_step(&said, i % 2 ? NULL : told("http/metrics.0: nobody listens there"));
	assert_int_equal(news, MISSING_SAID_MAX);
}

static void a_name_that_is_too_long_is_cut(void **state)
{
	(void)state;
	struct missing_said said = { 0 };
	char text[200];
	snprintf(text, sizeof(text), "conf/%0*d: no", 120, 7);
	assert_true(missing_said_step(&said, told(text)));
	assert_false(missing_said_step(&said, told(text)));
	assert_int_equal(said.what[sizeof(said.what) - 1], '\0');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_changed_is_said_again),
		cmocka_unit_test(nothing_missing_is_said_once),
		cmocka_unit_test(an_endpoint_that_comes_and_goes_does_not_fill_the_log),
		cmocka_unit_test(a_name_that_is_too_long_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
