/* SPDX-License-Identifier: Apache-2.0 */
/* What bankfull fleet asks for, and what it takes for an answer. */
#include "cli/fleet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

enum { CAP = 2048 };

static struct js *json(const char *text)
{
	struct js *root = NULL;
	struct err err = { 0 };
	if (js_parse(str_of(text), 1 << 20, &root, &err) < 0)
		fail_msg("%s: %s", text, err.message);
	return root;
}

static void addresses(void **state)
{
	static const struct {
		struct fleet_query query;
		const char *severity, *url; /* NULL: refused */
	} rows[] = {
		{ { .collector = "http://h:8481" }, NULL, "http://h:8481/api/v1/fleet?from=0&count=5" },
		{ { .collector = "https://h/bank//" }, NULL, "https://h/bank/api/v1/fleet?from=0&count=5" },
		{ { .collector = "http://[::1]:1", .view = "pods", .sort = "name", .descending = true },
		  NULL,
		  "http://[::1]:1/api/v1/fleet?from=0&count=5&view=pods&sort=name&descending=true" },
		{ { .collector = "http://h", .namespace_ = "a&b=c d", .q = "100%/\xc3\xa4+~" },
		  "warning",
		  "http://h/api/v1/fleet?from=0&count=5&namespace=a%26b%3Dc%20d&severity=warning&q=100%25%2F%C3%A4%2B~" },
		{ { .collector = "ws://h:8480/agent" }, NULL, NULL },
		{ { .collector = "wss://h" }, NULL, NULL },
		{ { .collector = "http://h?x" }, NULL, NULL },
		{ { .collector = "http://h#x" }, NULL, NULL },
		{ { .collector = "http://me:pass@h" }, NULL, NULL },
		{ { .collector = "h:8481" }, NULL, NULL },
		{ { .collector = "" }, NULL, NULL },
		{ { .collector = "file:///etc/passwd" }, NULL, NULL },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		auto_buf struct buf url = { .cap = CAP };
		struct err err = { 0 };
		int rc = fleet_url(&rows[i].query, rows[i].severity, 0, 5, &url, &err);
		if (!rows[i].url) {
			assert_true(rc < 0);
			assert_int_equal(err.kind, ERR_USAGE);
			assert_null(strstr(err.message, "pass@"));
		} else {
			assert_int_equal(rc, 0);
			assert_string_equal(url.ptr, rows[i].url);
		}
	}
	auto_buf struct buf url = { .cap = 100 };
	char name[200];
	memset(name, '/', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	struct err err = { 0 };
	const struct fleet_query query = { .collector = "http://h", .job = name };
	assert_true(fleet_url(&query, NULL, 0, 5, &url, &err) < 0);
}

static void answers(void **state)
{
	static const struct {
		const char *text;
		bool good;
	} rows[] = {
		{ "{\"type\":\"fleet\",\"rows\":[],\"matching\":7}", true },
		{ "{\"type\":\"fleet\",\"rows\":[{}],\"matching\":7,\"more\":null}", true },
		{ "{\"type\":\"rows\",\"rows\":[],\"matching\":7}", false },
		{ "{\"type\":\"fleet\",\"rows\":{},\"matching\":7}", false },
		{ "{\"type\":\"fleet\",\"rows\":[]}", false },
		{ "{\"type\":\"fleet\",\"rows\":[],\"matching\":-1}", false },
		{ "{\"type\":\"fleet\",\"rows\":[{},1],\"matching\":2}", false },
		{ "[]", false },
		{ "{}", false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct err err = { 0 };
		uint64_t matching = 99;
		struct js *page = json(rows[i].text);
		int rc = fleet_check(page, &matching, &err);
		assert_int_equal(rc == 0, rows[i].good);
		assert_int_equal(matching, rows[i].good ? 7 : 99);
		js_free(page);
	}
}

static void what_is_alarming(void **state)
{
	static const struct {
		const char *text;
		bool yes;
	} rows[] = {
		{ "{\"severity\":\"warning\",\"silenced\":false}", true },
		{ "{\"severity\":\"critical\"}", true },
		{ "{\"severity\":\"critical\",\"silenced\":true}", false },
		{ "{\"severity\":\"notice\"}", false },
		{ "{\"severity\":null}", false },
		{ "{}", false },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct js *row = json(rows[i].text);
		assert_int_equal(fleet_is_alarming(row), rows[i].yes);
		js_free(row);
	}
}

/* Between two pages b has moved down, from the first to the second. */
static void a_row_of_two_pages_is_one(void **state)
{
	(void)state;
	struct fleet_answer answer = { .pages = { json("{\"rows\":[{\"id\":\"a\"},{\"id\":\"b\"}]}"),
						  json("{\"rows\":[{\"id\":\"b\"},{\"id\":\"c\"}]}") },
				       .n_pages = 2 };
	size_t page = 0, at = 0, n = 0;
	char seen[8] = "";
	for (const struct js *row; n < 7 && (row = fleet_row_at(&answer, &page, &at)); n++) {
		struct str id;
		assert_true(js_str(js_get(row, "id"), &id));
		seen[n] = id.ptr[0];
	}
	assert_string_equal(seen, "abc");
	fleet_answer_done(&answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses),
		cmocka_unit_test(answers),
		cmocka_unit_test(what_is_alarming),
		cmocka_unit_test(a_row_of_two_pages_is_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
