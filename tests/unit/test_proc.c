/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "support/scratch.h"
#include "sys/file.h"
#include "sys/proc.h"

static void a_fixture_tree(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	static const char *const dirs[] = { "42",   "7",  "1",
					    "self", "0",  "4294967296",
					    "12x",  "-3", "99999999999999999999999" };
	for (size_t i = 0; i < sizeof dirs / sizeof dirs[0]; i++)
		scratch_dir(&scratch, dirs[i]);
	scratch_file(&scratch, "uptime", "1 1\n");
	scratch_link(&scratch, "7/exe", "/usr/bin/java");
	auto_(pid_list_done) struct pid_list list = { 0 };
	struct err err = { 0 };
	int proc = -1;
	assert_int_equal(proc_root_open(scratch.path, &proc, &err), 0);
	auto_close int root = proc;
	assert_int_equal(proc_list(root, &list, &err), 0);
	assert_int_equal(list.n, 3);
	assert_int_equal(list.pids[0], 1);
	assert_int_equal(list.pids[1], 7);
	assert_int_equal(list.pids[2], 42);
	int dir = -1;
	assert_int_equal(proc_open(root, 7, &dir, &err), 0);
	auto_close int pid_dir = dir;
	char text[20], cut[5];
	assert_int_equal(proc_link(pid_dir, "exe", text, sizeof text, &err), 0);
	assert_string_equal(text, "/usr/bin/java");
	assert_int_equal(proc_link(pid_dir, "exe", cut, sizeof cut, &err), 0);
	assert_string_equal(cut, "/usr");
	assert_int_equal(proc_link(pid_dir, "cwd", cut, sizeof cut, &err), -ENOENT);
	assert_int_equal(proc_open(root, 8, &dir, &err), -ESRCH);
	assert_int_equal(err.kind, ERR_GONE);
	assert_string_equal(err.message, "no such process: 8");
	assert_int_equal(proc_root_open("/nowhere/proc", &dir, &err), -ENOENT);
}

static void nobody_is_there(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	struct pid_list list = { 0 };
	assert_int_equal(proc_list(scratch.fd, &list, NULL), 0);
	assert_int_equal(list.n, 0);
	pid_list_done(&list);
}

static void this_machine(void **state)
{
	(void)state;
	int fd = -1;
	assert_int_equal(proc_root_open("/proc", &fd, NULL), 0);
	auto_close int root = fd;
	auto_(pid_list_done) struct pid_list list = { 0 };
	assert_int_equal(proc_list(root, &list, NULL), 0);
	bool found = false;
	for (size_t i = 0; i < list.n; i++) {
		found = found || list.pids[i] == getpid();
		assert_true(i == 0 || list.pids[i - 1] < list.pids[i]);
	}
	assert_true(found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fixture_tree),
		cmocka_unit_test(nobody_is_there),
		cmocka_unit_test(this_machine),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
