/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "kernel/cgpath.h"
#include "support/scratch.h"

#define MOUNT(root, point) \
	"36 25 0:30 / / rw - overlay o rw\n38 31 0:33 " root " " point " ro,nosuid - cgroup2 cgroup rw\n"

struct fixture {
	struct scratch scratch;
	struct cgpath_found found;
	enum cgroup_kind kind;
	struct err err;
};

static int start(struct fixture *f, const char *cgroup, const char *mountinfo)
{
	*f = (struct fixture){ .scratch = scratch_new(), .found.dirfd = -1 };
	scratch_file(&f->scratch, "cgroup", cgroup);
	scratch_file(&f->scratch, "mountinfo", mountinfo);
	scratch_dir(&f->scratch, "root");
	return 0;
}

static int find(struct fixture *f)
{
	return cgpath_open(f->scratch.fd, true, &f->found, &f->kind, &f->err);
}

static void fixture_done(struct fixture *f)
{
	if (f->found.dirfd >= 0)
		(void)close(f->found.dirfd);
	scratch_done(&f->scratch);
}

static void a_container(void **state)
{
	(void)state;
	auto_(fixture_done) struct fixture f;
	start(&f, "0::/../x.scope\n", MOUNT("/../x.scope", "/sys/fs/cgroup"));
	scratch_file(&f.scratch, "root/sys/fs/cgroup/memory.stat", "anon 1\n");
	scratch_file(&f.scratch, "root/sys/fs/cgroup/memory.current", "1\n");
	assert_int_equal(find(&f), 0);
	assert_int_equal(f.kind, CGROUP_V2);
	assert_false(f.found.is_root);
	assert_string_equal(f.found.directory, "/sys/fs/cgroup");
	assert_int_equal(faccessat(f.found.dirfd, "memory.stat", R_OK, 0), 0);
}

static void below_the_mount(void **state)
{
	(void)state;
	auto_(fixture_done) struct fixture f;
	start(&f, "0::/a/b\n", MOUNT("/", "/sys/fs/cgroup"));
	scratch_file(&f.scratch, "root/sys/fs/cgroup/memory.stat", "anon 1\n");
	scratch_file(&f.scratch, "root/sys/fs/cgroup/a/b/memory.stat", "anon 1\n");
	scratch_file(&f.scratch, "root/sys/fs/cgroup/a/b/memory.current", "1\n");
	assert_int_equal(find(&f), 0);
	assert_string_equal(f.found.directory, "/sys/fs/cgroup/a/b");
}

static void the_root_is_no_container(void **state)
{
	(void)state;
	auto_(fixture_done) struct fixture f;
	start(&f, "0::/\n", MOUNT("/", "/sys/fs/cgroup"));
	scratch_file(&f.scratch, "root/sys/fs/cgroup/memory.stat", "anon 1\n");
	assert_int_equal(find(&f), 0);
	assert_true(f.found.is_root);
}

static void no_memory_controller(void **state)
{
	(void)state;
	auto_(fixture_done) struct fixture f;
	start(&f, "0::/\n", MOUNT("/", "/sys/fs/cgroup"));
	scratch_dir(&f.scratch, "root/sys/fs/cgroup");
	assert_int_equal(find(&f), -EOPNOTSUPP);
	assert_int_equal(f.kind, CGROUP_V2_NO_MEMORY);
}

static void hybrid_names_v1(void **state)
{
	(void)state;
	auto_(fixture_done) struct fixture f;
	start(&f, "4:memory:/docker/x\n0::/\n", MOUNT("/", "/sys/fs/cgroup/unified"));
	scratch_dir(&f.scratch, "root/sys/fs/cgroup/unified");
	assert_int_equal(find(&f), -EOPNOTSUPP);
	assert_int_equal(f.kind, CGROUP_V1);
	assert_non_null(strstr(f.err.message, "--limit"));
}

static void not_shown_by_its_mounts(void **state)
{
	(void)state;
	static const char *const mounts[] = { MOUNT("/y.scope", "/sys/fs/cgroup"),
					      "36 25 0:30 / / rw - overlay o rw\n" };
	for (size_t i = 0; i < 2; i++) {
		auto_(fixture_done) struct fixture f;
		start(&f, "0::/x.scope\n", mounts[i]);
		assert_int_equal(find(&f), -EOPNOTSUPP);
		assert_int_equal(f.kind, CGROUP_UNREAD);
		assert_non_null(strstr(f.err.message, "--cgroup"));
	}
}

static void the_next_mount_may_show_it(void **state)
{
	(void)state;
	auto_(fixture_done) struct fixture f;
	start(&f, "0::/\n", MOUNT("/../..", "/sys/fs/cgroup") MOUNT("/", "/mnt"));
	scratch_file(&f.scratch, "root/mnt/memory.stat", "anon 1\n");
	scratch_file(&f.scratch, "root/mnt/memory.current", "1\n");
	assert_int_equal(find(&f), 0);
	assert_string_equal(f.found.directory, "/mnt");
}

static void a_link_cannot_lead_out(void **state)
{
	(void)state;
	auto_(fixture_done) struct fixture f;
	start(&f, "0::/x\n", MOUNT("/x", "/sys/fs/cgroup"));
	scratch_file(&f.scratch, "outside/memory.stat", "anon 1\n");
	scratch_link(&f.scratch, "root/sys/fs/cgroup", "../../../outside");
	assert_int_equal(find(&f), -ENOENT);
	assert_int_equal(f.found.dirfd, -1);
}

static void gone_and_garbage(void **state)
{
	(void)state;
	auto_(fixture_done) struct fixture f;
	start(&f, "garbage\n", MOUNT("/x", "/sys/fs/cgroup"));
	assert_int_equal(find(&f), -EBADMSG);
	assert_string_equal(f.err.message, "cgroup: line 1: not 'number:controllers:path'");
	assert_int_equal(unlinkat(f.scratch.fd, "cgroup", 0), 0);
	assert_int_equal(find(&f), -ENOENT);
	assert_int_equal(f.err.kind, ERR_GONE);
}

static void by_an_explicit_path(void **state)
{
	(void)state;
	auto_(fixture_done) struct fixture f;
	start(&f, "0::/x\n", "");
	scratch_file(&f.scratch, "cg/memory.stat", "anon 1\n");
	scratch_file(&f.scratch, "cg/memory.current", "1\n");
	char path[300];
	(void)snprintf(path, sizeof path, "%s/cg", f.scratch.path);
	assert_int_equal(cgpath_open_explicit(path, true, &f.found, &f.kind, &f.err), 0);
	assert_string_equal(f.found.directory, path);
	struct cgpath_found found = { .dirfd = -1 };
	assert_int_equal(cgpath_open_explicit(path, false, &found, &f.kind, &f.err), -EOPNOTSUPP);
	assert_int_equal(f.kind, CGROUP_NONE);
	assert_int_equal(found.dirfd, -1);
	(void)snprintf(path, sizeof path, "%s/nowhere", f.scratch.path);
	assert_int_equal(cgpath_open_explicit(path, true, &found, &f.kind, &f.err), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_container),
		cmocka_unit_test(below_the_mount),
		cmocka_unit_test(the_root_is_no_container),
		cmocka_unit_test(no_memory_controller),
		cmocka_unit_test(hybrid_names_v1),
		cmocka_unit_test(not_shown_by_its_mounts),
		cmocka_unit_test(the_next_mount_may_show_it),
		cmocka_unit_test(a_link_cannot_lead_out),
		cmocka_unit_test(gone_and_garbage),
		cmocka_unit_test(by_an_explicit_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
