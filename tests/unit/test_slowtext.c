/* SPDX-License-Identifier: Apache-2.0 */
/* Evidence through a pipe: whole or not at all, and nothing that does not belong there. */
#include "agent/slowtext.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

static struct evidence *from, *into;

static int set_up(void **state)
{
	(void)state;
	from = malloc(sizeof *from);
	into = malloc(sizeof *into);
	evidence_init(from);
	evidence_init(into);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	evidence_done(from);
	evidence_done(into);
	free(from);
	free(into);
	return 0;
}

static void put(struct evidence *e, const char *name, const char *text)
{
	assert_true(buf_puts(evidence_new(e, name, 4096), text));
}

static void has(const char *name, const char *text)
{
	assert_true(evidence_has(into, name));
	assert_true(str_eq(evidence_text(into, name), str_of(text)));
}

static int merge(const char *text, unsigned what)
{
	struct err err = { 0 };
	return slowtext_merge(str_of(text), what, into, &err);
}

static void what_was_read_comes_through(void **state)
{
	(void)state;
	auto_buf struct buf text = { .cap = 65536 };
	put(from, "http/metrics.0", "a 1\nend\nitem x 3\n");
	put(from, "http/flink_config", "");
	put(from, "jvm/nmt", "not asked for");
	put(from, "proc/cmdline", "the parent has its own");
	evidence_fail_set(from, "http/metrics.1", ERR_TIMEOUT, "no answer in 2000 ms");
	assert_true(evidence_fact(from, "metrics_url.0", "http://127.0.0.1:9249/"));
	assert_true(evidence_fact(from, "pid", "77"));
	put(into, "http/metrics.2", "of yesterday");
	put(into, "jvm/nmt", "stays");
	put(into, "proc/cmdline", "java");
	assert_true(evidence_fact(into, "metrics_url.1", "http://127.0.0.1:1/"));
	assert_true(evidence_fact(into, "pid", "42"));
	assert_true(slowtext_encode(from, SLOW_ENGINE, &text));
	struct err err = { 0 };
	assert_int_equal(slowtext_merge(buf_str(&text), SLOW_ENGINE, into, &err), 0);
	has("http/metrics.0", "a 1\nend\nitem x 3\n");
	has("http/flink_config", "");
	has("jvm/nmt", "stays");
	has("proc/cmdline", "java");
	assert_null(evidence_find(into, "http/metrics.2"));
	const struct evidence_item *gap = evidence_find(into, "http/metrics.1");
	assert_non_null(gap);
	assert_int_equal(gap->err.kind, ERR_TIMEOUT);
	assert_string_equal(gap->err.message, "no answer in 2000 ms");
	struct str value;
	assert_true(evidence_fact_find(into, "metrics_url.0", &value));
	assert_false(evidence_fact_find(into, "metrics_url.1", &value));
	assert_int_equal(evidence_fact_u64(into, "pid", 0), 42);
}

static void a_cut_or_wrong_text_changes_nothing(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"",
		"end\nmore\n",
		"item http/metrics.0 3\nabc\n",      /* no end */
		"item http/metrics.0 4\nabc\nend\n", /* longer than said */
		"item http/metrics.0 2\nabc\nend\n", /* shorter */
		"item http/metrics.0 99999999999\nabc\nend\n",
		"item http/metrics.0 -1\nabc\nend\n",
		"item http/metrics.0\nabc\nend\n",
		"item jvm/nmt 3\nabc\nend\n", /* of another source */
		"item proc/smaps 3\nabc\nend\n",
		"item jvm/hsperf 3\nabc\nend\n",
		"item http/0123456789012345678901234567890123456789012345 1\na\nend\n",
		"gap http/metrics.0 none fine\nend\n",
		"gap http/metrics.0 nonsense fine\nend\n",
		"gap http/metrics.0\nend\n",
		"fact pid 1\nend\n",
		"fact told_limit 1\nend\n",
		"nonsense\nend\n",
	};
	put(into, "http/metrics.0", "kept");
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		if (merge(bad[i], SLOW_ENGINE) == 0)
			fail_msg("taken: %s", bad[i]);
		has("http/metrics.0", "kept");
		assert_int_equal(into->n, 1);
		assert_int_equal(into->facts.len, 0);
	}
}

static void every_prefix_changes_nothing(void **state)
{
	(void)state;
	static const char whole[] = "item jvm/nmt 5\na\nend\ngap jvm/attach denied no\nend\n";
	put(into, "jvm/nmt", "kept");
	for (size_t n = 0; n + 1 < sizeof whole - 1; n++) {
		struct err err = { 0 };
		assert_true(slowtext_merge((struct str){ whole, n }, SLOW_JVM, into, &err) < 0);
		has("jvm/nmt", "kept");
	}
	assert_int_equal(merge(whole, SLOW_JVM), 0);
	has("jvm/nmt", "a\nend");
}

static void more_than_there_is_room_for_is_refused(void **state)
{
	(void)state;
	auto_buf struct buf text = { .cap = 65536 };
	put(into, "proc/cmdline", "java");
	for (int i = 0; i < EVIDENCE_MAX; i++)
		assert_true(buf_printf(&text, "item http/p%d 1\nx\n", i));
	assert_true(buf_puts(&text, "end\n"));
	struct err err = { 0 };
	assert_true(slowtext_merge(buf_str(&text), SLOW_ENGINE, into, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_int_equal(into->n, 1);
}

static void nothing_at_all_is_one_gap_a_source(void **state)
{
	(void)state;
	struct err err = { 0 };
	put(into, "jvm/nmt", "old");
	put(into, "jvm/hsperf", "the parent's");
	put(into, "http/metrics.0", "other source");
	(void)err_set(&err, ERR_TIMEOUT, "no answer in time");
	slowtext_failed(SLOW_JVM, &err, into);
	assert_null(evidence_find(into, "jvm/nmt"));
	has("jvm/hsperf", "the parent's");
	has("http/metrics.0", "other source");
	assert_int_equal(evidence_find(into, "jvm/attach")->err.kind, ERR_TIMEOUT);
	slowtext_failed(SLOW_ENGINE, &err, into);
	assert_null(evidence_find(into, "http/metrics.0"));
	assert_int_equal(evidence_find(into, "http/metrics")->err.kind, ERR_TIMEOUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_read_comes_through, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_cut_or_wrong_text_changes_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(every_prefix_changes_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(more_than_there_is_room_for_is_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_at_all_is_one_gap_a_source, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
