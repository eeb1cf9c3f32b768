/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture keeps of the addresses it was given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "agent/collect_parts.h"

static void addresses_keep_no_secret(void **state)
{
	(void)state;
	static const struct {
		const char *url, *shown;
	} table[] = {
		{ "http://127.0.0.1:9249/metrics", "http://127.0.0.1:9249/metrics" },
		{ "http://host:9249", "http://host:9249" },
		{ "http://user:canary@host:9249/metrics", "http://host:9249/metrics" },
		{ "http://u@canary@host/m", "http://host/m" },
		{ "https://host/metrics?token=canary", "https://host/metrics" },
		{ "https://host?token=canary", "https://host" },
		{ "https://host/m#canary", "https://host/m" },
		{ "http://host/a@b/metrics", "http://host/a@b/metrics" }, /* no user: the path may have it */
		{ "user:canary@host/metrics", "host/metrics" },
		{ "http://user:canary@", "http://" },
		{ "", "" },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		auto_buf struct buf out = { .cap = 128 };
		assert_true(collect_url_shown(str_of(table[i].url), &out));
		assert_string_equal(buf_str(&out).ptr, table[i].shown);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(addresses_keep_no_secret) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
