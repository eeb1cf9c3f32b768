/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "data/prom.h"
#include "engine/metricmap.h"
#include "support/tight.h"

#define GOOD "jvm_threads_current 5\n"

static void keeps_what_is_used(void **state)
{
	(void)state;
	auto_buf struct buf out = { .cap = 65536 };
	struct str page = tight_of(STR(
		"# HELP jvm_threads_current CANARY\n# TYPE jvm_threads_current gauge\n"
		"jvm_threads_current{application=\"CANARY\",password=\"CANARY\",} 5.0\n"
		"CANARY_metric 1\n"
		"flink_taskmanager_job_task_operator_CANARY_total 3\n"
		"flink_taskmanager_Status_JVM_Threads_Count{host=\"h\",tm_id=\"t\",CANARY=\"CANARY\"} 1.34217728E8 1700000000000\n"
		"kafka_streams_stream_state_metrics_block_cache_usage{rocksdb_state_id=\"s\",secret=\"CANARY\"} NaN # {t=\"CANARY\"} 1\n"
		"jvm_info{version=\"CANARY\"} 1\n"));
	assert_int_equal(metrics_reduce(page, &out, NULL), 0);
	tight_free(page);
	assert_string_equal(out.ptr,
			    "jvm_threads_current 5.0\n"
			    "flink_taskmanager_Status_JVM_Threads_Count{host=\"h\",tm_id=\"t\"} 1.34217728E8\n"
			    "kafka_streams_stream_state_metrics_block_cache_usage{rocksdb_state_id=\"s\"} NaN\n");
	auto_buf struct buf again = { .cap = 65536 };
	assert_int_equal(metrics_reduce(buf_str(&out), &again, NULL), 0);
	assert_string_equal(out.ptr, again.ptr);
}

static void cuts_long_values(void **state)
{
	(void)state;
	auto_buf struct buf page = { .cap = 65536 }, out = { .cap = 65536 };
	(void)buf_puts(&page, "jvm_threads_current{pool=\"");
	for (int i = 0; i < 199; i++)
		(void)buf_putc(&page, 'a');
	(void)buf_puts(&page, "\\\"\xc3\xa9 tail\"} 5\n");
	assert_int_equal(metrics_reduce(buf_str(&page), &out, NULL), 0);
	struct prom_sample sample;
	struct str value;
	assert_int_equal(prom_line(str_trim(buf_str(&out)), &sample, NULL), PROM_SAMPLE);
	assert_true(prom_label(&sample, STR("pool"), &value));
	assert_int_equal(value.len, 199);
}

/* Fed in pieces of every size, the result is the same. */
static void pieces(void **state)
{
	(void)state;
	struct str page = tight_read("tests/fixtures/engine/flink120-raw-head.prom");
	auto_buf struct buf whole = { .cap = 1 << 20 };
	assert_int_equal(metrics_reduce(page, &whole, NULL), 0);
	for (size_t size = 1; size < 4000; size += size < 20 ? 1 : 333) {
		auto_buf struct buf out = { .cap = 1 << 20 };
		auto_metrics_reducer struct metrics_reducer reducer;
		metrics_reducer_start(&reducer, &out);
		for (size_t at = 0; at < page.len; at += size) {
			struct str piece = { page.ptr + at, page.len - at < size ? page.len - at : size };
			assert_int_equal(metrics_reducer_feed(&reducer, piece, NULL), 0);
		}
		assert_int_equal(metrics_reducer_end(&reducer, NULL), 0);
		assert_string_equal(whole.ptr, out.ptr);
	}
	tight_free(page);
}

static void odd_pages(void **state)
{
	(void)state;
	static const struct {
		const char *page, *out;
		enum err_kind kind;
	} cases[] = {
		{ "", "", ERR_NONE },
		{ GOOD, GOOD, ERR_NONE },
		{ "\xef\xbb\xbf" GOOD, GOOD, ERR_NONE },
		{ "bad line\n" GOOD, GOOD, ERR_NONE },
		{ GOOD "jvm_threads_current 6", GOOD, ERR_NONE },
		{ GOOD "# EOF\njvm_threads_current 6\n", GOOD, ERR_NONE },
		{ "other 1\n", "", ERR_NONE },
		{ "\n <html>\n", "", ERR_MALFORMED },
		{ "{\"value\":1}\n", "", ERR_MALFORMED },
		{ "not metrics at all\n", "", ERR_MALFORMED },
		{ "\x1f\x8b\x08gzip", "", ERR_MALFORMED },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		auto_buf struct buf out = { .cap = 65536 };
		struct err err = { 0 };
		struct str page = tight_of(str_of(cases[i].page));
		int status = metrics_reduce(page, &out, &err);
		if ((status < 0) != (cases[i].kind != ERR_NONE) || err.kind != cases[i].kind ||
		    !str_eq(buf_str(&out), str_of(cases[i].out)))
			fail_msg("case %zu: %s", i, err.message);
		tight_free(page);
	}
}

static void limits(void **state)
{
	(void)state;
	auto_buf struct buf out = { .cap = 1 << 20 }, page = { .cap = 1 << 20 };
	struct err err = { 0 };
	/* A line without an end is skipped, not collected. */
	(void)buf_puts(&page, "jvm_threads_current{pool=\"");
	while (page.len < PROM_LINE_MAX + 4096)
		(void)buf_putc(&page, 'x');
	(void)buf_puts(&page, "\"} 1\n" GOOD);
	assert_int_equal(metrics_reduce(buf_str(&page), &out, &err), 0);
	assert_string_equal(out.ptr, GOOD);
	auto_metrics_reducer struct metrics_reducer reducer;
	buf_clear(&out);
	metrics_reducer_start(&reducer, &out);
	for (size_t at = 0; at < page.len; at += 1000) {
		struct str piece = { page.ptr + at, page.len - at < 1000 ? page.len - at : 1000 };
		assert_int_equal(metrics_reducer_feed(&reducer, piece, NULL), 0);
	}
	assert_true(reducer.line.room <= PROM_LINE_MAX * 2);
	assert_int_equal(metrics_reducer_end(&reducer, NULL), 0);
	assert_string_equal(out.ptr, GOOD);
	auto_buf struct buf small = { .cap = 10 };
	assert_true(metrics_reduce(STR(GOOD), &small, &err) < 0);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_int_equal(small.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keeps_what_is_used), cmocka_unit_test(cuts_long_values), cmocka_unit_test(pieces),
		cmocka_unit_test(odd_pages),          cmocka_unit_test(limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
