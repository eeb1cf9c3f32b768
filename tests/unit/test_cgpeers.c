/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "base/auto.h"
#include "kernel/cgpeers.h"
#include "support/scratch.h"
#include "sys/file.h"

static void who_lies_beside(void **state)
{
	(void)state;
	static const struct {
		const char *target, *other;
		bool beside;
	} table[] = {
		/* From a sidecar, in a cgroup namespace of its own. */
		{ "/../cri-a.scope", "/../cri-b.scope", true },
		{ "/../cri-a.scope", "/", true },
		{ "/../cri-a.scope", "/../cri-a.scope", false },
		{ "/../cri-a.scope", "/../../podx.slice/cri-b.scope", false },
		{ "/../cri-a.scope", "/../", false },
		{ "/../cri-a.scope", "/inner", false },
		{ "/../cri-a.scope", "/../cri-b.scope/init", false },
		/* From the node, or a container without that namespace. */
		{ "/kubepods/podx/a", "/kubepods/podx/b", true },
		{ "/kubepods/podx/a", "/kubepods/pody/b", false },
		{ "/kubepods/podx/a", "/kubepods/podx", false },
		{ "/kubepods/podx/a", "/", false },
		/* Not in a container at all. */
		{ "/", "/a", false },
		{ "/a", "/b", true },
		{ "/a", "", false },
	};
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		if (cgpeers_beside(table[i].target, table[i].other) != table[i].beside)
			print_error("%s, %s\n", table[i].target, table[i].other);
		assert_int_equal(cgpeers_beside(table[i].target, table[i].other), table[i].beside);
	}
}

/* A process of the container `name`, as a private cgroup namespace shows it; without `stat` its root is not to be looked into. */
static void process(const struct scratch *proc, int pid, const char *name, const char *stat)
{
	char path[64], text[160];
	(void)snprintf(path, sizeof path, "%d/cgroup", pid);
	(void)snprintf(text, sizeof text, "0::/../%s\n", name);
	scratch_file(proc, path, text);
	(void)snprintf(path, sizeof path, "%d/mountinfo", pid);
	(void)snprintf(text, sizeof text, "38 31 0:33 /../%s /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n", name);
	scratch_file(proc, path, text);
	(void)snprintf(path, sizeof path, "%d/root/sys/fs/cgroup/memory.stat", pid);
	if (stat)
		scratch_file(proc, path, stat);
}

static void containers_in_sight(void **state)
{
	(void)state;
	struct err err = { 0 };
	auto_(scratch_done) struct scratch proc = scratch_new();
	auto_(cgpeers_done) struct cgpeers peers = { 0 };
	auto_buf struct buf text = { 0 };
	process(&proc, 1, "pause.scope", NULL);
	process(&proc, 7, "main.scope", "anon 1\n");
	process(&proc, 8, "main.scope", "anon 1\n");
	process(&proc, 9, "log.scope", NULL); /* may not be looked into, and its neighbour may */
	process(&proc, 10, "log.scope", "anon 2\n");
	process(&proc, 11, "log.scope", "anon 2\n");
	process(&proc, 12, "agent.scope", "anon 3\n");
	scratch_file(&proc, "13/cgroup", "nothing");
	assert_int_equal(cgpeers_open(proc.fd, 7, true, &peers, &err), 0);
	assert_int_equal(peers.n, 2);
	static const char *const stats[] = { "anon 2\n", "anon 3\n" };
	for (size_t i = 0; i < peers.n; i++) {
		assert_int_equal(file_read_at(peers.dirfds[i], "memory.stat", 4096, &text, &err), 0);
		assert_true(str_eq(buf_str(&text), str_of(stats[i])));
	}
	cgpeers_done(&peers);
	assert_int_equal(peers.n, 0);
	assert_true(cgpeers_open(proc.fd, 99, true, &peers, &err) < 0);
	assert_int_equal(err.kind, ERR_GONE);
}

static void no_more_than_are_kept(void **state)
{
	(void)state;
	struct err err = { 0 };
	auto_(scratch_done) struct scratch proc = scratch_new();
	auto_(cgpeers_done) struct cgpeers peers = { 0 };
	process(&proc, 1, "main.scope", "anon 1\n");
	for (int i = 0; i < CGPEERS_MAX + 3; i++) {
		char name[32];
		(void)snprintf(name, sizeof name, "c%d.scope", i);
		process(&proc, 100 + i, name, "anon 1\n");
	}
	assert_int_equal(cgpeers_open(proc.fd, 1, true, &peers, &err), 0);
	assert_int_equal(peers.n, CGPEERS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_lies_beside),
		cmocka_unit_test(containers_in_sight),
		cmocka_unit_test(no_more_than_are_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
