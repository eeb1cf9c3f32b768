/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "kernel/smaps.h"
#include "support/tight.h"

#define CORPUS "tests/fuzz/corpus/smaps/"

static void same(const struct vma_set *a, const struct vma_set *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->have, b->have);
	for (size_t i = 0; i < a->n; i++) {
		struct vma x = a->items[i], y = b->items[i];
		assert_true(str_eq(vma_name(a, &x), vma_name(b, &y)));
		x.name_at = y.name_at = 0;
		assert_memory_equal(&x, &y, sizeof x);
	}
}

static void slim_parses_to_the_same(void **state)
{
	(void)state;
	static const char *const files[] = {
		CORPUS "linux-6.1-serial", CORPUS "linux-6.18-zgc", CORPUS "slim",
		CORPUS "odd-layout",       CORPUS "wide-numbers",   CORPUS "control-bytes"
	};
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct str text = tight_read(files[i]);
		auto_buf struct buf slim = { .cap = 1 << 20 }, again = { .cap = 1 << 20 };
		auto_(vma_set_done) struct vma_set a = { 0 };
		auto_(vma_set_done) struct vma_set b = { 0 };
		struct err err = { 0 };
		assert_int_equal(smaps_parse(text, &a, &err), 0);
		assert_int_equal(smaps_slim(text, &slim, &err), 0);
		assert_int_equal(smaps_parse(buf_str(&slim), &b, &err), 0);
		same(&a, &b);
		assert_int_equal(smaps_slim(buf_str(&slim), &again, &err), 0);
		assert_true(str_eq(buf_str(&slim), buf_str(&again)));
		tight_free(text);
	}
}

static void slim_says_why_not(void **state)
{
	(void)state;
	auto_buf struct buf out = { .cap = 40 };
	struct err err = { 0 };
	assert_int_equal(smaps_slim(STR("garbage\n"), &out, &err), -EBADMSG);
	assert_int_equal(out.len, 0);
	struct str text = tight_read(CORPUS "slim");
	assert_int_equal(smaps_slim(text, &out, &err), -EFBIG);
	assert_int_equal(err.kind, ERR_LIMIT);
	tight_free(text);
}

static void rollup(void **state)
{
	(void)state;
	struct str text = tight_read("tests/fuzz/corpus/rollup/linux-6.1");
	struct smaps_rollup sums;
	struct err err = { 0 };
	assert_int_equal(smaps_rollup_parse(text, &sums, &err), 0);
	assert_int_equal(sums.rss_bytes.bytes, 71460 * 1024);
	assert_int_equal(sums.pss_anon_bytes.bytes, 51564 * 1024);
	assert_int_equal(sums.pss_shmem_bytes.bytes, 32 * 1024);
	assert_int_equal(sums.locked_bytes.state, QTY_MEASURED);
	tight_free(text);
	static const struct str bad[] = {
		STR(""),
		STR("00400000-00402000 ---p 00000000 00:00 0 [rollup]\n"),
		STR("00400000-00402000 ---p 00000000 00:00 0 [rollup]\nRss: 4 kB"),
		STR("00400000-00402000 ---p 00000000 00:00 0 [rollup]\nRss: 4 kB\nRss: 4 kB\n"),
		STR("00400000-00402000 ---p 00000000 00:00 0 [rollup]\nRss: x kB\n"),
		STR("00400000-00402000 ---p 00000000 00:00 0 [rollup]\nRss: 4 kB\n\0\n"),
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		assert_int_equal(smaps_rollup_parse(bad[i], &sums, &err), -EBADMSG);
	assert_int_equal(smaps_rollup_parse(STR("Rss: 4 kB\n"), &sums, &err), 0);
	assert_int_equal(sums.pss_anon_bytes.state, QTY_UNREAD); /* before 5.14 */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slim_parses_to_the_same),
		cmocka_unit_test(slim_says_why_not),
		cmocka_unit_test(rollup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
