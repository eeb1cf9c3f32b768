/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "kernel/memstat.h"
#include "support/tight.h"

static void linux_6_1(void **state)
{
	(void)state;
	struct str text = tight_read("tests/fuzz/corpus/memstat/linux-6.1");
	struct cgroup_stat stat;
	struct err err = { 0 };
	assert_int_equal(memstat_parse(text, &stat, &err), 0);
	assert_int_equal(stat.anon_bytes.bytes, 52801536);
	assert_int_equal(stat.anon_bytes.state, QTY_MEASURED);
	assert_int_equal(stat.kernel_bytes.bytes, 1085440);
	assert_int_equal(stat.slab_bytes.bytes, 408656);
	assert_int_equal(stat.pgfault.n, 7982);
	assert_true(stat.workingset_refault_file.known);
	/* Absent on 6.1 is unread, not zero. */
	assert_int_equal(stat.hugetlb_bytes.state, QTY_UNREAD);
	tight_free(text);
}

/* The identity of the design: the LRU lists and the kernel's part are the charge. */
static void lists_add_up(void **state)
{
	(void)state;
	struct str text = tight_read("tests/fuzz/corpus/memstat/linux-6.1");
	struct cgroup_stat s;
	assert_int_equal(memstat_parse(text, &s, NULL), 0);
	struct qty lists = qty_add(qty_add(qty_add(s.inactive_anon_bytes, s.active_anon_bytes),
					   qty_add(s.inactive_file_bytes, s.active_file_bytes)),
				   s.unevictable_bytes);
	struct qty types = qty_add(s.anon_bytes, s.file_bytes);
	assert_true(qty_known(lists) && qty_known(types));
	int64_t gap = (int64_t)(lists.bytes - types.bytes);
	assert_true(gap > -(1 << 20) && gap < 1 << 20);
	tight_free(text);
}

static void refuses(void **state)
{
	(void)state;
	static const struct {
		const char *why;
		struct str text;
	} cases[] = {
		{ "empty", STR("") },
		{ "no anon", STR("file 4096\n") },
		{ "cut", STR("anon 4096\nfile 40") },
		{ "twice", STR("anon 4096\nfile 0\nanon 4096\n") },
		{ "no number", STR("anon \n") },
		{ "negative", STR("anon -1\n") },
		{ "trailing", STR("anon 4096 kB\n") },
		{ "past u64", STR("anon 18446744073709551616\n") },
		{ "NUL", STR("anon 4096\nfoo \0\n") },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct cgroup_stat stat = { .anon_bytes = { 77, QTY_INFERRED } };
		struct err err = { 0 };
		struct str text = tight_of(cases[i].text);
		if (memstat_parse(text, &stat, &err) != -EBADMSG || err.kind != ERR_MALFORMED)
			fail_msg("%s: not refused", cases[i].why);
		assert_int_equal(stat.anon_bytes.bytes, 77);
		tight_free(text);
	}
}

static void accepts(void **state)
{
	(void)state;
	struct cgroup_stat stat;
	/* Unknown keys twice, blanks, whatever order, keys that begin like ours. */
	assert_int_equal(
		memstat_parse(STR("new x\nnew y\nanonymous 3\nhugetlb 18446744073709551615\nanon  7\n\nnospace\n"),
			      &stat, NULL),
		0);
	assert_int_equal(stat.anon_bytes.bytes, 7);
	assert_int_equal(stat.hugetlb_bytes.bytes, UINT64_MAX);
	assert_int_equal(stat.file_bytes.state, QTY_UNREAD);
}

static void prefix(struct str text)
{
	struct cgroup_stat stat = { .anon_bytes = { 77, QTY_INFERRED } };
	struct err err = { 0 };
	bool whole = text.len && text.ptr[text.len - 1] == '\n';
	assert_int_equal(memstat_parse(text, &stat, &err), whole ? 0 : -EBADMSG);
	assert_int_equal(stat.anon_bytes.bytes == 77, !whole);
}

static void every_prefix(void **state)
{
	(void)state;
	struct str text = tight_read("tests/fuzz/corpus/memstat/linux-6.1");
	tight_prefixes(text, text.len, prefix);
	tight_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linux_6_1), cmocka_unit_test(lists_add_up), cmocka_unit_test(refuses),
		cmocka_unit_test(accepts),   cmocka_unit_test(every_prefix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
