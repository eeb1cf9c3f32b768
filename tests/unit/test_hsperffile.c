/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jvm/hsperffile.h"
#include "support/tight.h"

enum { PID = 42 };

/* A root with tmp/hsperfdata_app/42 in it, and the maps line of a process that has it. */
struct tree {
	char path[64];
	int root_fd;
	struct process_status status;
	char maps[256];
};

static void run(const struct tree *tree, const char *format)
{
	char path[160], command[400];
	(void)snprintf(path, sizeof path, "%s/tmp", tree->path);
	(void)snprintf(command, sizeof command, "cd %s && %s", path, format);
	assert_int_equal(system(command), 0);
}

static void set_maps(struct tree *tree, unsigned long long inode, const char *end)
{
	(void)snprintf(
		tree->maps, sizeof tree->maps,
		"7f00-7f08 rw-p 00000000 00:00 0 \n7f10-7f18 rw-s 00000000 08:01 %llu                    /tmp/hsperfdata_app/42%s\n",
		inode, end);
}

static int set_up(void **state)
{
	static struct tree tree;
	char file[160];
	struct stat st;
	const char *tmp = getenv("TMPDIR");
	(void)snprintf(tree.path, sizeof tree.path, "%.40s/hsperf.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(tree.path))
		return -1;
	tree.root_fd = open(tree.path, O_PATH | O_DIRECTORY);
	tree.status = (struct process_status){ .ns_pid = count_of(PID), .uid_effective = count_of(geteuid()) };
	char repo[200], command[600];
	if (!getcwd(repo, sizeof repo))
		return -1;
	(void)snprintf(
		command, sizeof command,
		"umask 022; mkdir -p %s/tmp/hsperfdata_app && cd %s/tmp && cp %s/tests/fixtures/jvm/jdk17-g1/hsperf.bin hsperfdata_app/42 && chmod 600 hsperfdata_app/42",
		tree.path, tree.path, repo);
	if (system(command) != 0)
		return -1;
	(void)snprintf(file, sizeof file, "%s/tmp/hsperfdata_app/42", tree.path);
	if (stat(file, &st) < 0)
		return -1;
	set_maps(&tree, st.st_ino, "");
	*state = &tree;
	return 0;
}

static int tear_down(void **state)
{
	struct tree *tree = *state;
	char command[100];
	(void)snprintf(command, sizeof command, "rm -rf %s", tree->path);
	(void)close(tree->root_fd);
	return system(command);
}

static void refused(struct tree *tree, enum err_kind kind)
{
	auto_buf struct buf out = { .cap = 1 << 20 };
	struct err err = { 0 };
	assert_true(hsperffile_read(tree->root_fd, &tree->status, str_of(tree->maps), &out, &err) < 0);
	if (err.kind != kind)
		fail_msg("%s: %s", err_kind_names[err.kind], err.message);
	assert_int_equal(out.len, 0);
}

static void found(void **state)
{
	struct tree *tree = *state;
	auto_buf struct buf out = { .cap = 1 << 20 };
	struct err err = { 0 };
	run(tree, "mkdir hsperfdata_other hsperfdata_zz && cp hsperfdata_app/42 hsperfdata_zz/42");
	if (hsperffile_read(tree->root_fd, &tree->status, str_of(tree->maps), &out, &err) < 0)
		fail_msg("%s", err.message);
	assert_true(str_has(buf_str(&out), STR("sun.gc.policy.name=\"GarbageFirst\"")));
}

static void not_the_process_s(void **state)
{
	struct tree *tree = *state;
	char kept[sizeof tree->maps];
	memcpy(kept, tree->maps, sizeof kept);
	set_maps(tree, 1, "");
	refused(tree, ERR_UNSUPPORTED);
	memcpy(tree->maps, kept, sizeof kept);
	tree->status.ns_pid = count_of(43);
	refused(tree, ERR_UNSUPPORTED);
	tree->status.ns_pid = (struct count){ 0 };
	refused(tree, ERR_UNSUPPORTED);
}

static void other_owner(void **state)
{
	struct tree *tree = *state;
	tree->status.uid_effective = count_of(geteuid() + 1);
	refused(tree, ERR_UNSUPPORTED);
}

static void open_to_others(void **state)
{
	struct tree *tree = *state;
	run(tree, "chmod g+w hsperfdata_app");
	refused(tree, ERR_UNSUPPORTED);
	run(tree, "chmod g-w hsperfdata_app && chmod o+w hsperfdata_app/42");
	refused(tree, ERR_UNSUPPORTED);
}

static void links(void **state)
{
	struct tree *tree = *state;
	run(tree, "ln hsperfdata_app/42 second");
	refused(tree, ERR_UNSUPPORTED);
	run(tree, "rm second && mv hsperfdata_app kept && ln -s kept hsperfdata_app");
	refused(tree, ERR_UNSUPPORTED);
	run(tree,
	    "rm hsperfdata_app && mv kept hsperfdata_app && mv hsperfdata_app/42 kept && ln -s ../kept hsperfdata_app/42");
	refused(tree, ERR_UNSUPPORTED);
}

static void no_regular_file(void **state)
{
	struct tree *tree = *state;
	run(tree, "rm hsperfdata_app/42 && mkfifo hsperfdata_app/42");
	refused(tree, ERR_UNSUPPORTED);
	run(tree, "rm hsperfdata_app/42 && mkdir hsperfdata_app/42");
	refused(tree, ERR_UNSUPPORTED);
}

/* The inode stays, so the file is the process's own and the size is the reason. */
static void too_large(void **state)
{
	struct tree *tree = *state;
	run(tree, "truncate -s 10G hsperfdata_app/42");
	refused(tree, ERR_LIMIT);
	run(tree, "truncate -s 0 hsperfdata_app/42");
	refused(tree, ERR_MALFORMED);
}

static void no_tmp(void **state)
{
	struct tree *tree = *state;
	run(tree, "rm -r ../tmp");
	refused(tree, ERR_GONE);
}

static void what_a_jvm_leaves(void **state)
{
	struct tree *tree = *state;
	assert_int_equal(hsperffile_left(-1, &tree->status), TRISTATE_UNREAD);
	int fd = hsperffile_keep(tree->root_fd, &tree->status, str_of(tree->maps));
	assert_true(fd >= 0);
	assert_int_equal(hsperffile_left(fd, &tree->status), TRISTATE_TRUE);
	/* Where /tmp went somewhere else meanwhile, the directory is what it was. */
	run(tree, "mv hsperfdata_app elsewhere");
	assert_int_equal(hsperffile_left(fd, &tree->status), TRISTATE_TRUE);
	struct jvm_perf perf = { 0 };
	struct err err = { 0 };
	assert_int_equal(hsperffile_last(fd, &tree->status, &perf, &err), 0);
	assert_int_equal(perf.gc, GC_G1);
	assert_true(qty_known(perf.heap_kept_bytes) && qty_known(perf.heap_max_bytes));
	/* Nobody else may have put it there. */
	run(tree, "chmod 666 elsewhere/42");
	assert_true(hsperffile_last(fd, &tree->status, &perf, &err) < 0 && err.kind == ERR_UNSUPPORTED);
	run(tree, "rm elsewhere/42 && ln -s ../../../etc/passwd elsewhere/42");
	assert_true(hsperffile_last(fd, &tree->status, &perf, &err) < 0);
	run(tree, "rm elsewhere/42");
	assert_int_equal(hsperffile_left(fd, &tree->status), TRISTATE_FALSE);
	assert_true(hsperffile_last(fd, &tree->status, &perf, &err) < 0 && err.kind == ERR_GONE);
	assert_true(hsperffile_last(-1, &tree->status, &perf, &err) < 0 && err.kind == ERR_UNSUPPORTED);
	close(fd);
	assert_int_equal(hsperffile_keep(tree->root_fd, &tree->status, str_of(tree->maps)), -1);
}

static void mapped_lines(void **state)
{
	(void)state;
	struct tree tree;
	set_maps(&tree, 7, "");
	assert_true(hsperffile_is_mapped(str_of(tree.maps), 42, 7));
	assert_false(hsperffile_is_mapped(str_of(tree.maps), 42, 8));
	assert_false(hsperffile_is_mapped(str_of(tree.maps), 2, 7));
	set_maps(&tree, 7, " (deleted)");
	assert_false(hsperffile_is_mapped(str_of(tree.maps), 42, 7));
	assert_false(hsperffile_is_mapped(STR("/hsperfdata_ 7 7 7 7"), 42, 7));
}

#define TREE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE(found),
		TREE(not_the_process_s),
		TREE(other_owner),
		TREE(open_to_others),
		TREE(links),
		TREE(no_regular_file),
		TREE(too_large),
		TREE(no_tmp),
		TREE(what_a_jvm_leaves),
		cmocka_unit_test(mapped_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
