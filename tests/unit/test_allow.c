/* SPDX-License-Identifier: Apache-2.0 */
/* Which service accounts may be agents. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/auto.h"
#include "collector/allow.h"

static void who(void **state)
{
	static const struct {
		const char *rules, *namespace_, *account;
		bool allowed;
	} cases[] = {
		{ NULL, "any", "body", true },
		{ "", "any", "body", true },
		{ "streaming", "streaming", "flink", true },
		{ "streaming", "streaming", "", true },
		{ "streaming", "streaming-2", "flink", false },
		{ "streaming", "streamin", "flink", false },
		{ "streaming/flink", "streaming", "flink", true },
		{ "streaming/flink", "streaming", "default", false },
		{ "streaming/flink", "other", "flink", false },
		{ "streaming/flink*", "streaming", "flink-2", true },
		{ "team-*", "team-a", "x", true },
		{ "team-*", "steam-a", "x", false },
		{ "*/flink", "any", "flink", true },
		{ "*/flink", "any", "flinks", false },
		{ "team-[ab]", "team-c", "x", false },
		{ "a, b/c ,d", "d", "x", true },
		{ "a, b/c ,d", "b", "c", true },
		{ "a, b/c ,d", "b", "d", false },
		{ "a", "", "", false },
		{ "*", "", "", true },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		auto_(allow_done) struct allow allow = { 0 };
		struct err err = { 0 };
		assert_int_equal(allow_parse(cases[i].rules, &allow, &err), 0);
		if (allow_has(&allow, cases[i].namespace_, cases[i].account) != cases[i].allowed)
			fail_msg("'%s': %s/%s", cases[i].rules ? cases[i].rules : "(none)", cases[i].namespace_,
				 cases[i].account);
	}
}

static void what_is_no_rule(void **state)
{
	static const struct {
		const char *rules, *says;
	} cases[] = {
		{ ",", "'': no name: write NAMESPACE or NAMESPACE/SERVICEACCOUNT" },
		{ "a,,b", "'': no name" },
		{ "a/", "'a/': no name" },
		{ "/b", "'/b': no name" },
		{ "a/b/c", "'a/b/c': no name" },
		{ "Streaming", "'Streaming': no name" },
		{ "system:serviceaccount:a:b", "'system:serviceaccount:a:b': no name" },
		{ "a b", "'a b': no name" },
		{ "a\x1b[31m", "'a\\x1b[31m': no name" },
		{ "a-[b", "'a-[b': " },
		{ "a123456789012345678901234567890123456789012345678901234567890123", "'a1234567" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct allow allow = { .n = 42 };
		struct err err = { 0 };
		if (allow_parse(cases[i].rules, &allow, &err) == 0 || err.kind != ERR_USAGE ||
		    strncmp(err.message, cases[i].says, strlen(cases[i].says)) != 0)
			fail_msg("'%s': %s", cases[i].rules, err.message);
		assert_int_equal(allow.n, 42);
	}
}

static void how_many(void **state)
{
	char rules[2 * ALLOW_RULES_MAX + 2] = "";
	(void)state;
	for (int i = 0; i < ALLOW_RULES_MAX; i++)
		(void)snprintf(rules + (i ? 2 * i - 1 : 0), 3, "%sa", i ? "," : "");
	auto_(allow_done) struct allow allow = { 0 };
	struct err err = { 0 };
	assert_int_equal(allow_parse(rules, &allow, &err), 0);
	assert_int_equal(allow.n, ALLOW_RULES_MAX);
	memcpy(rules + strlen(rules), ",a", 3);
	assert_int_not_equal(allow_parse(rules, &allow, &err), 0);
	assert_int_equal(allow.n, ALLOW_RULES_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who),
		cmocka_unit_test(what_is_no_rule),
		cmocka_unit_test(how_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
