/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "kernel/status.h"
#include "support/tight.h"

static void linux_6_1(void **state)
{
	(void)state;
	struct str text = tight_read("tests/fuzz/corpus/status/linux-6.1");
	struct process_status s;
	struct err err = { 0 };
	assert_int_equal(status_parse(text, &s, &err), 0);
	assert_string_equal(s.name, "java");
	assert_int_equal(s.state, 'S');
	assert_int_equal(s.uid_fs.n, 0);
	assert_true(s.uid_real.known && s.uid_effective.known && s.uid_saved.known && s.gid_fs.known);
	assert_int_equal(s.ns_pid.n, 122);
	assert_true(s.thread_group.known);
	assert_int_equal(s.n_threads.n, 22);
	assert_int_equal(s.vm_size_bytes.bytes, UINT64_C(2152420) * 1024);
	assert_true(qty_known(s.rss_anon_bytes) && qty_known(s.rss_file_bytes) && qty_known(s.rss_shmem_bytes));
	assert_int_equal(s.sig_caught.n & SIGNAL_QUIT_BIT, SIGNAL_QUIT_BIT);
	assert_int_equal(s.sig_ignored.n & SIGNAL_QUIT_BIT, 0);
	tight_free(text);
}

#define IDS "Uid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\n"

static void details(void **state)
{
	(void)state;
	struct process_status s;
	assert_int_equal(status_parse(STR("Name:\tfoo\\nbar: x\n" IDS
					  "NSpid:\t4711\t17\t1\nSigCgt:\tfFffffffffffffff\n"),
				      &s, NULL),
			 0);
	assert_string_equal(s.name, "foo\\nbar: x");
	assert_int_equal(s.uid_real.n, 1);
	assert_int_equal(s.uid_saved.n, 3);
	assert_int_equal(s.gid_fs.n, 8);
	assert_int_equal(s.ns_pid.n, 1);
	assert_int_equal(s.sig_caught.n, UINT64_MAX);
	assert_int_equal(s.vm_rss_bytes.state, QTY_UNREAD); /* a kernel thread, or a zombie */
	assert_false(s.n_threads.known);
}

static void refuses(void **state)
{
	(void)state;
	static const struct str bad[] = {
		STR(""),
		STR("Name:\tx\n"),
		STR(IDS "VmRSS:\t4 kB"),
		STR(IDS IDS),
		STR("Uid:\t1\t2\t3\n"),
		STR("Uid:\t1\t2\t3\t4\t5\n"),
		STR("Uid:\t1\t2\t3\tx\n"),
		STR(IDS "VmRSS:\t4\n"),
		STR(IDS "VmRSS:\t18014398509481984 kB\n"),
		STR(IDS "Threads:\t\n"),
		STR(IDS "SigCgt:\t10000000000000000\n"),
		STR(IDS "NSpid:\t\n"),
		STR(IDS "State:\n"),
		STR(IDS "Foo:\t\0\n"),
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct process_status s = { .state = '!' };
		struct err err = { 0 };
		struct str text = tight_of(bad[i]);
		if (status_parse(text, &s, &err) != -EBADMSG)
			fail_msg("case %zu: not refused", i);
		assert_int_equal(s.state, '!');
		tight_free(text);
	}
}

static void prefix(struct str text)
{
	struct process_status s = { .state = '!' };
	if (status_parse(text, &s, NULL) == 0)
		assert_true(text.ptr[text.len - 1] == '\n' && s.uid_real.known);
	else
		assert_int_equal(s.state, '!');
}

static void every_prefix(void **state)
{
	(void)state;
	struct str text = tight_read("tests/fuzz/corpus/status/linux-6.1");
	tight_prefixes(text, text.len, prefix);
	tight_free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linux_6_1),
		cmocka_unit_test(details),
		cmocka_unit_test(refuses),
		cmocka_unit_test(every_prefix),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
