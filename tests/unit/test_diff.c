/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kube/diff.h"
#include "support/prng.h"

static void is_unified(void **state)
{
	(void)state;
	static const struct {
		const char *before, *after, *want;
	} cases[] = {
		{ "a\nb\n", "a\nb\n", "" },
		{ "", "a\n", "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n" },
		{ "a\n", "", "--- f\n+++ f\n@@ -1,1 +0,0 @@\n-a\n" },
		{ "1\n2\n3\n4\n5\n6\n", "1\n2\n3\n4\nx\n5\n6\n",
		  "--- f\n+++ f\n@@ -2,5 +2,6 @@\n 2\n 3\n 4\n+x\n 5\n 6\n" },
		{ "a\nb", "a\nc\n", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n" },
		/* Two places with seven lines between them are two hunks, with six one. */
		{ "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "1\n2\n3\n4\n5\n6\n7\n",
		  "--- f\n+++ f\n@@ -1,4 +1,3 @@\n-a\n 1\n 2\n 3\n@@ -6,4 +5,3 @@\n 5\n 6\n 7\n-b\n" },
		{ "a\n1\n2\n3\n4\n5\n6\nb\n", "1\n2\n3\n4\n5\n6\n",
		  "--- f\n+++ f\n@@ -1,8 +1,6 @@\n-a\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		auto_buf struct buf out = { .cap = 4096 };
		assert_int_equal(diff_unified(str_of(cases[i].before), str_of(cases[i].after), "f", &out, NULL), 0);
		if (!str_eq(buf_str(&out), str_of(cases[i].want)))
			fail_msg("case %zu: %s", i, out.ptr);
	}
}

/* What the difference says, done to the one text, gives the other. */
static void apply(struct str before, struct str patch, struct buf *out)
{
	struct str line, old;
	size_t at = 0;
	(void)str_line(&patch, &line);
	(void)str_line(&patch, &line);
	while (str_line(&patch, &line)) {
		if (line.ptr[0] == '@') {
			uint64_t from = 0, n = 0;
			struct str rest = str_skip(line, 4);
			assert_true(str_u64(&rest, &from) && str_take(&rest, STR(",")) && str_u64(&rest, &n));
			for (; at + 1 < from + (n == 0) && str_line(&before, &old); at++)
				(void)buf_printf(out, "%.*s\n", (int)old.len, old.ptr);
			continue;
		}
		if (line.ptr[0] != '+') {
			assert_true(str_line(&before, &old));
			assert_true(str_eq(old, str_skip(line, 1)));
			at++;
		}
		if (line.ptr[0] != '-')
			(void)buf_printf(out, "%.*s\n", (int)line.len - 1, line.ptr + 1);
	}
	while (str_line(&before, &old))
		(void)buf_printf(out, "%.*s\n", (int)old.len, old.ptr);
}

static void applies(void **state)
{
	(void)state;
	struct prng prng = prng_start("diff");
	for (int round = 0; round < 2000; round++) {
		auto_buf struct buf before = { .cap = 65536 }, after = { .cap = 65536 }, patch = { .cap = 65536 },
				    again = { .cap = 65536 };
		unsigned n = (unsigned)prng_below(&prng, 40);
		for (unsigned i = 0; i < n; i++) {
			char line = (char)('a' + prng_below(&prng, 4));
			unsigned what = (unsigned)prng_below(&prng, 10);
			if (what != 0)
				(void)buf_printf(&before, "%c\n", line);
			if (what != 1)
				(void)buf_printf(&after, "%c\n", line);
			if (what == 2)
				(void)buf_puts(&after, "new\n");
		}
		assert_int_equal(diff_unified(buf_str(&before), buf_str(&after), "f", &patch, NULL), 0);
		apply(buf_str(&before), buf_str(&patch), &again);
		if (!str_eq(buf_str(&again), buf_str(&after)))
			fail_msg("round %d:\n%s\nand\n%s\nby\n%s", round, buf_str(&before).ptr, buf_str(&after).ptr,
				 buf_str(&patch).ptr);
	}
}

/* Past the cap it is one change, and still right. */
static void gives_up(void **state)
{
	(void)state;
	auto_buf struct buf before = { .cap = 1 << 20 }, after = { .cap = 1 << 20 }, patch = { .cap = 4 << 20 },
			    again = { .cap = 1 << 20 };
	for (int i = 0; i < DIFF_CHANGES_MAX; i++) {
		(void)buf_printf(&before, "a%d\n", i);
		(void)buf_printf(&after, "b%d\n", i);
	}
	assert_int_equal(diff_unified(buf_str(&before), buf_str(&after), "f", &patch, NULL), 0);
	apply(buf_str(&before), buf_str(&patch), &again);
	assert_true(str_eq(buf_str(&again), buf_str(&after)));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_unified),
		cmocka_unit_test(applies),
		cmocka_unit_test(gives_up),
	};
	return cmocka_run_group_tests_name("diff", tests, NULL, NULL);
}
