/* SPDX-License-Identifier: Apache-2.0 */
/* The fleet for people: in every width, whatever its names are. */
#include "cli/fleet.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "watch/glyph.h"

enum { CAP = 1 << 20 };

#define SUMMARY                                                                                          \
	"\"summary\":{\"pods\":9,\"workloads\":3,\"connected\":7,\"stale\":1,\"gone\":1,\"critical\":1," \
	"\"warning\":2,\"notice\":0}"
#define ROW_GRAVE                                                                                            \
	"{\"id\":\"1\",\"namespace\":\"payments\",\"workload\":\"fraud\",\"pod\":\"fraud-taskmanager-1-1\"," \
	"\"state\":\"connected\",\"pods\":30,\"connected\":29,\"severity\":\"critical\",\"silenced\":false," \
	"\"finding\":{\"title\":\"the limit is reached in about 30 min\"},\"likely_s\":1800,"                \
	"\"freeboard\":-5242880,\"freeboard_bp\":-12,\"limit\":1073741824,\"owner\":\"native-other\","       \
	"\"owner_bytes\":734003200}"
#define ROW_UNREAD                                                                                          \
	"{\"id\":\"2\",\"namespace\":null,\"workload\":\"w\",\"pod\":\"p\",\"state\":\"stale\",\"pods\":1," \
	"\"connected\":0,\"severity\":null,\"silenced\":false,\"finding\":null,\"likely_s\":null,"          \
	"\"freeboard\":null,\"freeboard_bp\":null,\"limit\":null,\"owner\":null,\"owner_bytes\":null}"

static char *table(const char *rows, unsigned columns, bool pods, bool color, bool utf8, uint64_t matching)
{
	char text[8192];
	struct err err = { 0 };
	struct fleet_answer answer = { .n_pages = 1, .matching = matching };
	struct buf out = { .cap = CAP };
	(void)snprintf(text, sizeof text, "{\"total\":%d,%s,\"rows\":[%s]}", (int)matching, SUMMARY, rows);
	if (js_parse(str_of(text), CAP, &answer.pages[0], &err) < 0)
		fail_msg("%s", err.message);
	const struct fleet_face face = { .pods = pods, .color = color, .utf8 = utf8, .columns = columns };
	assert_int_equal(fleet_table(&answer, &face, &out, &err), 0);
	fleet_answer_done(&answer);
	return out.ptr;
}

static void has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("no '%s' in\n%s", part, text);
}

/* Below the summary, which is a sentence. */
static void fits(const char *text, unsigned columns, bool utf8)
{
	struct str rest = str_of(text), line;
	assert_true(str_line(&rest, &line));
	while (str_line(&rest, &line)) {
		if (glyph_columns(line, utf8) > columns)
			fail_msg("longer than %u: %.*s", columns, (int)line.len, line.ptr);
		assert_true(line.len == 0 || line.ptr[line.len - 1] != ' ');
	}
}

static void every_width(void **state)
{
	(void)state;
	for (unsigned columns = 40; columns <= 300; columns++)
		for (int pods = 0; pods < 2; pods++) {
			char *text = table(ROW_GRAVE "," ROW_UNREAD, columns, pods, false, true, 2);
			fits(text, columns, true);
			has(text, "critical");
			has(text, "30 min");
			free(text);
		}
	char *text = table(ROW_GRAVE "," ROW_UNREAD, 160, false, false, true, 2);
	has(text, "9 pods of 3 workloads: 7 connected, 1 stale, 1 gone; 1 critical, 2 warning");
	has(text, "payments/fraud");
	has(text, "29/30");
	has(text, "-5.0 MiB");
	has(text, "native-other 700.0 MiB");
	has(text, "the limit is reached in about 30 min");
	has(text, "unread");
	assert_null(strstr(text, "null"));
	assert_null(strstr(text, " 0 B"));
	free(text);
	text = table(ROW_GRAVE, 100, true, false, true, 2);
	has(text, "1 more match: --limit 2 shows them");
	free(text);
}

static void hostile_names(void **state)
{
	static const char row[] =
		"{\"id\":\"1\",\"namespace\":\"\\u001b[2J\",\"workload\":\"\\u202e\\u62a5\\u544a\\u0007\",\"pods\":1,"
		"\"connected\":1,\"severity\":\"critical\",\"finding\":{\"title\":\"a\\nb\\u009b31m \\ud83d\\ude00\"}}";
	(void)state;
	for (int utf8 = 0; utf8 < 2; utf8++)
		for (unsigned columns = 40; columns <= 200; columns += 7) {
			char *text = table(row, columns, false, false, utf8, 1);
			fits(text, columns, utf8);
			for (const char *p = text; *p; p++)
				if (((unsigned char)*p < 0x20 && *p != '\n') || (!utf8 && (unsigned char)*p >= 0x7f))
					fail_msg("byte %02x in\n%s", (unsigned char)*p, text);
			assert_null(strstr(text, "\xe2\x80\xae"));
			assert_null(strstr(text, "\xc2\x9b"));
			free(text);
		}
}

static void no_limit_is_not_an_unread_one(void **state)
{
	(void)state;
	char *text = table(ROW_UNREAD, 120, false, false, true, 1);
	has(text, "unread");
	assert_null(strstr(text, "none"));
	free(text);
	text = table("{\"id\":\"1\",\"workload\":\"w\",\"limit\":null,\"no_limit\":true}", 120, false, false, true, 1);
	has(text, " none");
	free(text);
}

static void colour_is_for_who_wants_it(void **state)
{
	(void)state;
	char *text = table(ROW_GRAVE, 100, false, true, true, 1);
	has(text, "\033[31mcritical\033[0m");
	free(text);
	text = table("{\"id\":\"1\",\"workload\":\"w\",\"severity\":\"critical\",\"silenced\":true}", 100, false, true,
		     true, 1);
	has(text, "\033[2msilenced\033[0m");
	assert_null(strstr(text, "\033[31msilenced"));
	free(text);
}

static void nothing_says_what_to_do(void **state)
{
	(void)state;
	char *text = table("", 100, false, false, true, 0);
	has(text, "no agent has been heard of yet");
	free(text);
}

static void json_is_one_object(void **state)
{
	(void)state;
	struct err err = { 0 };
	struct fleet_answer answer = { .n_pages = 1, .matching = 1, .alarming = true };
	auto_buf struct buf out = { .cap = CAP };
	struct js *root = NULL;
	assert_int_equal(js_parse(STR("{\"at_ms\":5,\"total\":3,\"matching\":1,\"facets\":{}," SUMMARY
				      ",\"rows\":[" ROW_GRAVE "]}"),
				  CAP, &answer.pages[0], &err),
			 0);
	assert_int_equal(fleet_json(&answer, "pods", &out, &err), 0);
	fleet_answer_done(&answer);
	assert_int_equal(js_parse(buf_str(&out), CAP, &root, &err), 0);
	uint64_t n;
	bool alarming;
	struct str view;
	assert_true(js_u64(js_get(root, "version"), &n) && n == 1);
	assert_true(js_u64(js_get(root, "total"), &n) && n == 3);
	assert_true(js_bool(js_get(root, "alarming"), &alarming) && alarming);
	assert_true(js_str(js_get(root, "view"), &view) && str_eq(view, STR("pods")));
	assert_true(js_u64(js_path(root, "summary.pods"), &n) && n == 9);
	assert_int_equal(js_len(js_get(root, "rows")), 1);
	assert_null(js_get(root, "facets"));
	js_free(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_width),
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(no_limit_is_not_an_unread_one),
		cmocka_unit_test(colour_is_for_who_wants_it),
		cmocka_unit_test(nothing_says_what_to_do),
		cmocka_unit_test(json_is_one_object),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
