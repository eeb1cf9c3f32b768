/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "kernel/cgpath.h"
#include "support/tight.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void paths(void **state)
{
	(void)state;
	static const struct {
		struct str text;
		const char *v2, *v1;
	} cases[] = {
		{ STR("0::/\n"), "/", NULL },
		{ STR("0::/../crio-x.scope\n"), "/../crio-x.scope", NULL },
		{ STR("0::/a:b/c d\n"), "/a:b/c d", NULL },
		{ STR("12:cpu,memory,cpuacct:/docker/x\n0::/y\n"), "/y", "/docker/x" },
		{ STR("4:memory:/\n1:name=systemd:/init.scope\n"), NULL, "/" },
		{ STR("4:memory_x:/\n1:name=memory:/z\n"), NULL, NULL },
		{ STR(""), NULL, NULL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct cgpath paths;
		struct str text = tight_of(cases[i].text);
		assert_int_equal(cgpath_parse(text, &paths, NULL), 0);
		assert_int_equal(paths.has_v2, cases[i].v2 != NULL);
		assert_int_equal(paths.has_v1_memory, cases[i].v1 != NULL);
		assert_string_equal(paths.v2, cases[i].v2 ? cases[i].v2 : "");
		assert_string_equal(paths.v1_memory, cases[i].v1 ? cases[i].v1 : "");
		tight_free(text);
	}
	static const struct str bad[] = {
		STR("0::/x"),        STR("0::\n"),    STR("0::x\n"),
		STR("0:\n"),         STR("\n"),       STR("x::/\n"),
		STR("0::/\n0::/\n"), STR("0::/\0\n"), STR("1:memory:/a\n2:memory:/b\n"),
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct cgpath paths = { .has_v2 = true, .v2 = "untouched" };
		if (cgpath_parse(bad[i], &paths, NULL) != -EBADMSG)
			fail_msg("case %zu: not refused", i);
		assert_string_equal(paths.v2, "untouched");
	}
	char text[2 * CGPATH_CAP + 8] = "0::/";
	memset(text + 4, 'x', sizeof text - 5);
	text[sizeof text - 1] = '\n';
	struct cgpath paths;
	assert_int_equal(cgpath_parse((struct str){ text, sizeof text }, &paths, NULL), -EFBIG);
}

static void container_ids(void **state)
{
	(void)state;
	static const struct {
		const char *path, *id;
	} cases[] = {
		{ "/kubepods.slice/kubepods-burstable.slice/cri-containerd-" ID ".scope", ID },
		{ "/../cri-containerd-" ID ".scope", ID },
		{ "/../crio-" ID ".scope", ID },
		{ "/kubepods.slice/crio-" ID ".scope/container", ID },
		{ "/system.slice/docker-" ID ".scope", ID },
		{ "/machine.slice/libpod-" ID ".scope", ID },
		{ "/docker/" ID, ID },
		{ "/kubepods/besteffort/pod1234abcd-12ab-34cd-56ef-0123456789ab/" ID, ID },
		{ "/kubepods-besteffort-pod12ab.slice:cri-containerd:" ID, ID },
		{ "/../x-0123456789ab.scope", "0123456789ab" },
		/* no containers */
		{ "/", NULL },
		{ "", NULL },
		{ "/../crio-conmon-" ID ".scope", NULL },
		{ "/kubepods/besteffort/pod1234abcd-12ab-34cd-56ef-0123456789ab", NULL },
		{ "/kubepods.slice/kubepods-burstable-pod1234abcd_12ab_34cd_56ef_0123456789ab.slice", NULL },
		{ "/user.slice/user-1000.slice/session-42.scope", NULL },
		{ "/system.slice/cafe-deadbeef.scope", NULL },
		{ "/feedfacecafe", NULL },
		{ "/x" ID, NULL },
		{ "/docker/" ID "0", NULL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		char id[CGPATH_ID_CAP] = "";
		if (cgpath_container_id(cases[i].path, id) != (cases[i].id != NULL))
			fail_msg("%s: found '%s'", cases[i].path, id);
		assert_string_equal(id, cases[i].id ? cases[i].id : "");
	}
}

static void mounts(void **state)
{
	(void)state;
	struct str text = tight_read("tests/fuzz/corpus/mountinfo/hybrid");
	struct cgpath_mounts m;
	assert_int_equal(cgpath_mounts_parse(text, &m, NULL), 0);
	assert_int_equal(m.n_v2, 1);
	assert_int_equal(m.n_v1_memory, 1);
	assert_string_equal(m.v2[0].point, "/sys/fs/cgroup/unified");
	assert_string_equal(m.v1_memory[0].point, "/sys/fs/cgroup/memory");
	tight_free(text);
	text = tight_read("tests/fuzz/corpus/mountinfo/escaped");
	assert_int_equal(cgpath_mounts_parse(text, &m, NULL), 0);
	assert_string_equal(m.v2[0].root, "/../leaf x");
	assert_string_equal(m.v2[0].point, "/mnt/with blank\\");
	tight_free(text);
	assert_int_equal(cgpath_mounts_parse(STR(""), &m, NULL), 0);
	assert_int_equal(m.n_v2, 0);
	static const struct str bad[] = {
		STR("\n"),
		STR("1 2 0:3 / /x rw\n"),
		STR("1 2 0:3 / /x rw - cgroup2\n"),
		STR("1 2 0:3 / /x\\9 rw - cgroup2 c rw\n"),
		STR("1 2 0:3 / /x\\04 rw - cgroup2 c rw\n"),
		STR("1 2 0:3 / /x\\000 rw - cgroup2 c rw\n"),
		STR("1 2 0:3 / /x\\777 rw - cgroup2 c rw\n"),
		STR("1 2 0:3 / x rw - cgroup2 c rw\n"),
		STR("1 2 0:3 / /x rw - cgroup2 c rw"),
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
		if (cgpath_mounts_parse(bad[i], &m, NULL) != -EBADMSG)
			fail_msg("case %zu: not refused", i);
}

static void joins(void **state)
{
	(void)state;
	static const struct {
		const char *why, *root, *point, *path, *directory;
	} cases[] = {
		{ "from the node", "/k/x.scope", "/sys/fs/cgroup", "/k/x.scope", "/sys/fs/cgroup" },
		{ "from a sidecar", "/../x.scope", "/sys/fs/cgroup", "/../x.scope", "/sys/fs/cgroup" },
		{ "our own container", "/", "/sys/fs/cgroup", "/", "/sys/fs/cgroup" },
		{ "no container", "/", "/sys/fs/cgroup", "/user.slice/a", "/sys/fs/cgroup/user.slice/a" },
		{ "a child of the container", "/../x.scope", "/sys/fs/cgroup", "/../x.scope/container",
		  "/sys/fs/cgroup/container" },
		{ "mounted at the root", "/", "/", "/a", "/a" },
		{ "mounted at the root, itself", "/", "/", "/", "/" },
		{ "another container's mount", "/k/x.scope", "/sys/fs/cgroup", "/k/y.scope", NULL },
		{ "a name that only begins alike", "/k/x", "/sys/fs/cgroup", "/k/xy", NULL },
		{ "beside our own root", "/", "/sys/fs/cgroup", "/../y.scope", NULL },
		{ "the host's tree seen from inside", "/../..", "/sys/fs/cgroup", "/../y.scope", NULL },
		{ "the host's tree, and ourselves", "/../..", "/sys/fs/cgroup", "/", NULL },
		{ "a step up further down", "/k", "/sys/fs/cgroup", "/k/../../x", NULL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct cgpath_mount mount;
		char directory[2 * CGPATH_CAP] = "";
		strcpy(mount.root, cases[i].root);
		strcpy(mount.point, cases[i].point);
		if (cgpath_join(&mount, cases[i].path, directory) != (cases[i].directory != NULL))
			fail_msg("%s: '%s'", cases[i].why, directory);
		assert_string_equal(directory, cases[i].directory ? cases[i].directory : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),
		cmocka_unit_test(container_ids),
		cmocka_unit_test(mounts),
		cmocka_unit_test(joins),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
