/* SPDX-License-Identifier: Apache-2.0 */
#include "net/wsurl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void what_is_taken(void **state)
{
	(void)state;
	static const struct {
		const char *url;
		struct wsurl parts;
	} table[] = {
		{ "ws://h", { false, "h", 80, "/", false } },
		{ "wss://h", { true, "h", 443, "/", false } },
		{ "ws://127.0.0.1:8480/agent", { false, "127.0.0.1", 8480, "/agent", false } },
		{ "wss://[fd00::1]:8480/a/b", { true, "fd00::1", 8480, "/a/b", true } },
		{ "wss://[fd00::1]/", { true, "fd00::1", 443, "/", true } },
		{ "ws://bankfull-collector.monitoring.svc:65535/agent",
		  { false, "bankfull-collector.monitoring.svc", 65535, "/agent", false } },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct wsurl url;
		struct err err = { 0 };
		if (wsurl_parse(table[i].url, &url, &err) < 0)
			fail_msg("%s: %s", table[i].url, err.message);
		assert_int_equal(url.tls, table[i].parts.tls);
		assert_string_equal(url.host, table[i].parts.host);
		assert_int_equal(url.port, table[i].parts.port);
		assert_string_equal(url.path, table[i].parts.path);
		assert_int_equal(url.is_v6, table[i].parts.is_v6);
	}
}

static void what_is_refused(void **state)
{
	(void)state;
	static const char *const table[] = {
		"",
		"ws://",
		"ws:///agent",
		"http://h/",
		"h:8480",
		"WS//h",
		"ws://h:0/",
		"ws://h:65536/",
		"ws://h:/",
		"ws://h:80x/",
		"ws://user@h/",
		"ws://u:p@h/",
		"ws://h/?a=b",
		"ws://h/#f",
		"ws://h /",
		"ws://h\r\nX: y/",
		"ws://[::1/agent",
		"ws://[]/",
		"ws://[h]/",
		"ws://[::1]x/",
		"ws://h/\x80",
		"ws://h\\x/",
		"wss://h:99999999999999999999/",
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		struct wsurl url = { .port = 7 };
		struct err err = { 0 };
		if (wsurl_parse(table[i], &url, &err) == 0)
			fail_msg("'%s' was taken", table[i]);
		assert_int_equal(err.kind, ERR_USAGE);
		assert_non_null(strstr(err.message, "write ws://HOST:PORT/agent"));
		assert_int_equal(url.port, 7);
	}
}

static void what_is_too_long_is_refused(void **state)
{
	(void)state;
	char url[1024] = "ws://";
	struct wsurl parsed;
	struct err err = { 0 };
	memset(url + 5, 'a', sizeof parsed.host);
	assert_true(wsurl_parse(url, &parsed, &err) < 0);
	url[5 + sizeof parsed.host - 1] = '\0';
	assert_int_equal(wsurl_parse(url, &parsed, &err), 0);
	strcpy(url, "ws://h/");
	memset(url + 7, 'a', sizeof parsed.path - 1);
	assert_true(wsurl_parse(url, &parsed, &err) < 0);
	url[6 + sizeof parsed.path - 1] = '\0';
	assert_int_equal(wsurl_parse(url, &parsed, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_taken),
		cmocka_unit_test(what_is_refused),
		cmocka_unit_test(what_is_too_long_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
