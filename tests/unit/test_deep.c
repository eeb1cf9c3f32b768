/* SPDX-License-Identifier: Apache-2.0 */
/* What is looked at once, near the limit: names of threads, the largest mappings. */
#include "agent/deep.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "data/js.h"

static void threads_of_one_kind_are_one_name(void **state)
{
	(void)state;
	static const struct {
		const char *comm, *name;
	} rows[] = { { "flink-io-thread\n", "flink-io-thread" },
		     { "flink-io-17\n", "flink-io-#" },
		     { "flink-io-9", "flink-io-#" },
		     { "G1 Conc#0\n", "G# Conc##" },
		     { "12 34\n", "# #" },
		     { "\x1b[31mred\n", "\\x1b[#mred" },
		     { "Gr\xc3\xb6\xc3", "Gr\xc3\xb6\\xc3" },
		     { "", "" } };
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct deep_names *names = calloc(1, sizeof *names);
		deep_fold(names, str_of(rows[i].comm));
		assert_string_equal(names->names[0].name, rows[i].name);
		free(names);
	}
}

static void names_are_bounded(void **state)
{
	(void)state;
	struct deep_names *names = calloc(1, sizeof *names);
	for (unsigned i = 0; i < DEEP_NAMES_MAX + 44; i++) {
		char comm[16];
		(void)snprintf(comm, sizeof comm, "%c%c", 'a' + (int)(i % 26), 'A' + (int)(i / 26));
		deep_fold(names, str_of(comm));
		deep_fold(names, STR("worker-1"));
	}
	assert_int_equal(names->n, DEEP_NAMES_MAX);
	assert_int_equal(names->threads, 2 * (DEEP_NAMES_MAX + 44));
	uint32_t sum = names->others;
	for (size_t i = 0; i < names->n; i++)
		sum += names->names[i].n;
	assert_int_equal(sum, names->threads);
	free(names);
}

static const struct js *at(const struct js *root, const char *list, size_t i, const char *key)
{
	return js_get(js_at(js_get(root, list), i), key);
}

static void is_text(const struct js *value, const char *want)
{
	struct str text;
	if (!js_str(value, &text) || !str_eq(text, str_of(want)))
		fail_msg("not %s", want);
}

static void the_largest_mappings_are_told(void **state)
{
	(void)state;
	enum { N = 40 };
	static char names[] = "/secret/customer/libz\x1b.so[anon:x/y]";
	struct vma items[N];
	struct snapshot *s = calloc(1, sizeof *s);
	for (size_t i = 0; i < N; i++)
		items[i] = (struct vma){ .start = i << 30, .end = (i << 30) + 8192, .rss_bytes = (i * 7 % N) * 100 };
	items[17].rss_bytes = 1000000;
	items[17].kind = VMA_FILE;
	items[17].name_len = 25;
	items[3].rss_bytes = 900000;
	items[3].name_at = 25;
	items[3].name_len = 10;
	s->vmas = (struct vma_set){ .items = items, .n = N, .names = names, .names_len = sizeof names - 1 };
	s->vmas_read = true;
	s->age_ms = 4000;
	auto_buf struct buf text = { .cap = DEEP_TEXT_CAP };
	struct err err;
	struct js *root = NULL;
	uint64_t value, before = UINT64_MAX;
	assert_int_equal(deep_write(s, NULL, &text, &err), 0);
	assert_false(str_has(buf_str(&text), STR("secret")));
	assert_int_equal(js_parse(buf_str(&text), DEEP_TEXT_CAP, &root, &err), 0);
	assert_int_equal(js_len(js_get(root, "mappings")), DEEP_ROWS);
	for (size_t i = 0; i < DEEP_ROWS; i++) {
		assert_true(js_u64(at(root, "mappings", i, "resident_bytes"), &value));
		assert_true(value <= before);
		before = value;
	}
	assert_int_equal(before, 2900); /* 1000000, 900000, 3900 and so on down */
	is_text(at(root, "mappings", 0, "name"), "libz\\x1b.so");
	is_text(at(root, "mappings", 1, "name"), "[anon:x/y]");
	assert_int_equal(js_kind(js_get(root, "threads")), JS_NULL); /* unread, not none */
	js_free(root);
	free(s);
}

/* Names as long as they get, of what grows most when it is escaped: each fits its cap, and all of them theirs. */
static void the_worst_names_fit(void **state)
{
	(void)state;
	enum { N = 20, LONG = 400 };
	static const struct {
		const char *label, *bytes, *expected; /* as the name begins */
	} rows[] = {
		{ "control bytes", "\x1b", "\\x1b\\x1b\\x1b" },
		{ "a NUL's neighbour", "\x01", "\\x01\\x01" },
		{ "DEL", "\x7f", "\\x7f" },
		{ "no UTF-8", "\xff", "\\xff" },
		{ "quotes", "\"", "\"\"\"" },
		{ "backslashes", "\\", "\\" },
		{ "three bytes each", "\xe2\x82\xac", "\xe2\x82\xac" },
		{ "four", "\xf0\x9f\x90\x98", "\xf0\x9f\x90\x98" },
	};
	struct snapshot *s = calloc(1, sizeof *s);
	struct deep_names *names = malloc(sizeof *names);
	for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
		struct vma items[N];
		char longest[LONG];
		size_t len = strlen(rows[row].bytes);
		for (size_t i = 0; i < LONG; i++)
			longest[i] = rows[row].bytes[i % len];
		for (size_t i = 0; i < N; i++)
			items[i] = (struct vma){ .end = UINT64_C(1) << 53,
						 .rss_bytes = UINT64_C(1) << 52,
						 .kind = VMA_BRK,
						 .name_len = LONG / 12 * 12 };
		memset(names, 0, sizeof *names);
		for (unsigned i = 0; i < N; i++) {
			char comm[LONG];
			memcpy(comm, longest, sizeof comm);
			comm[0] = (char)('A' + i);
			deep_fold(names, (struct str){ comm, sizeof comm });
			names->names[i].n = UINT32_MAX / N;
		}
		names->threads = UINT32_MAX;
		s->vmas = (struct vma_set){ .items = items, .n = N, .names = longest, .names_len = LONG };
		s->vmas_read = true;
		s->age_ms = UINT32_MAX;
		auto_buf struct buf text = { .cap = DEEP_TEXT_CAP };
		struct err err;
		struct js *root = NULL;
		if (deep_write(s, names, &text, &err) < 0)
			fail_msg("%s: %s", rows[row].label, err.message);
		assert_true(text.len < DEEP_TEXT_CAP / 2);
		for (size_t i = 0; i < text.len; i++)
			assert_in_range((uint8_t)text.ptr[i], ' ', 0xf4);
		if (js_parse(buf_str(&text), DEEP_TEXT_CAP, &root, &err) < 0)
			fail_msg("%s: %s", rows[row].label, err.message);
		assert_int_equal(js_len(js_get(root, "mappings")), DEEP_ROWS);
		assert_int_equal(js_len(js_get(root, "threads")), DEEP_ROWS);
		for (size_t i = 0; i < DEEP_ROWS; i++) {
			struct str name;
			assert_true(js_str(at(root, "mappings", i, "name"), &name));
			assert_true(str_starts(name, str_of(rows[row].expected)));
			assert_in_range(name.len, DEEP_NAME_CAP - 4, DEEP_NAME_CAP - 1);
			assert_true(js_str(at(root, "threads", i, "name"), &name));
			assert_in_range(name.len, DEEP_NAME_CAP - 5, DEEP_NAME_CAP - 1);
		}
		js_free(root);
	}
	free(names);
	free(s);
}

static void our_own_threads(void **state)
{
	(void)state;
	struct deep_names *names = malloc(sizeof *names);
	struct snapshot *s = calloc(1, sizeof *s);
	struct err err;
	auto_buf struct buf text = { .cap = DEEP_TEXT_CAP };
	assert_int_equal(prctl(PR_SET_NAME, "deep-7"), 0);
	int fd = open("/proc/self", O_PATH | O_DIRECTORY);
	assert_int_equal(deep_threads(fd, names, &err), 0);
	assert_true(names->whole);
	assert_int_equal(names->threads, 1);
	assert_string_equal(names->names[0].name, "deep-#");
	close(fd);
	assert_int_equal(deep_write(s, names, &text, &err), 0);
	assert_true(str_has(buf_str(&text), STR("{\"name\":\"deep-#\",\"count\":1}")));
	fd = open("/", O_PATH | O_DIRECTORY);
	assert_true(deep_threads(fd, names, &err) < 0);
	close(fd);
	free(s);
	free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_of_one_kind_are_one_name),
		cmocka_unit_test(names_are_bounded),
		cmocka_unit_test(the_largest_mappings_are_told),
		cmocka_unit_test(the_worst_names_fit),
		cmocka_unit_test(our_own_threads),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
