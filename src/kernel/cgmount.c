/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/cgmount.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "kernel/cgpath.h"
#include "sys/file.h"

/*
 * The library has a struct of this name, for lines of memory.stat, and from 3.0 (Debian 13) on enumerators of these; ours are
 * the nouns of bankfull/cgroup.h.
 */
#define cgroup_stat libcgroup_stat
#define CGROUP_V1   LIBCGROUP_V1
#define CGROUP_V2   LIBCGROUP_V2
#include <libcgroup.h>
#undef cgroup_stat
#undef CGROUP_V1
#undef CGROUP_V2

/* By default the library prints its errors to stdout, which is our report. */
static void be_silent(void *userdata, int level, const char *format, va_list args)
{
	(void)userdata;
	(void)level;
	(void)format;
	(void)args;
}

/* Version by what is mounted there: libcgroup 2.0 tells it for its own tables only. */
static enum cgroup_kind kind_at(const char *point)
{
	struct statfs fs;
	if (statfs(point, &fs) < 0)
		return CGROUP_UNREAD;
	if (fs.f_type == CGROUP2_SUPER_MAGIC)
		return CGROUP_V2;
	return fs.f_type == CGROUP_SUPER_MAGIC ? CGROUP_V1 : CGROUP_UNREAD;
}

/*
 * What the library answers where there is nothing to find: no hierarchy at all, or no memory controller among those
 * there are. It says so in several ways, by version and by what else is mounted.
 */
static bool means_absent(int code)
{
	return code == ECGROUPNOTMOUNTED || code == ECGROUPNOTEXIST || code == ECGROUPSUBSYSNOTMOUNTED ||
	       code == ECGROUPNOTINITIALIZED || code == ECGEOF;
}

static int ask_mount(struct cgmount *mount, struct err *err)
{
	auto_free char *point = NULL;
	int code = cgroup_get_subsys_mount_point("memory", &point);
	if (code == 0 && point) {
		mount->kind = kind_at(point);
		str_copy(mount->point, sizeof mount->point, str_of(point));
		return 0;
	}
	if (code == 0 || means_absent(code))
		return 0;
	return err_set(err, ERR_IO, "libcgroup: mount of the memory controller: %s", cgroup_strerror(code));
}

static void ask_own_path(struct cgmount *mount)
{
	auto_free char *path = NULL;
	if (cgroup_get_current_controller_path(getpid(), "memory", &path) == 0 && path)
		str_copy(mount->own_path, sizeof mount->own_path, str_of(path));
}

/* What the library does not say: cgroup2 without controllers, both at once, and our path where it found none. */
static void read_rest(struct cgmount *mount)
{
	auto_buf struct buf text = { 0 };
	struct cgpath_mounts mounts = { 0 };
	struct cgpath paths = { 0 };
	if (file_read_at(AT_FDCWD, "/proc/self/mountinfo", LIMIT_PROC_FILE * 16UL, &text, NULL) == 0)
		(void)!cgpath_mounts_parse(buf_str(&text), &mounts, NULL); /* nothing known then */
	if (file_read_at(AT_FDCWD, "/proc/self/cgroup", LIMIT_PROC_FILE, &text, NULL) == 0)
		(void)!cgpath_parse(buf_str(&text), &paths, NULL);
	mount->hybrid = mounts.n_v2 != 0 && (mounts.n_v1_memory != 0 || mount->kind == CGROUP_V1);
	if (mount->kind == CGROUP_UNREAD && mounts.n_v1_memory) {
		mount->kind = CGROUP_V1;
		str_copy(mount->point, sizeof mount->point, str_of(mounts.v1_memory[0].point));
	} else if (mount->kind == CGROUP_UNREAD && mounts.n_v2) {
		mount->kind = CGROUP_V2_NO_MEMORY;
		str_copy(mount->point, sizeof mount->point, str_of(mounts.v2[0].point));
	} else if (mount->kind == CGROUP_UNREAD) {
		mount->kind = CGROUP_NONE;
		mount->point[0] = '\0';
	}
	const char *path = mount->kind == CGROUP_V1 ? paths.v1_memory : paths.v2;
	if (path[0] && (mount->own_path[0] == '\0' || mount->kind != CGROUP_V1))
		str_copy(mount->own_path, sizeof mount->own_path, str_of(path));
}

int cgmount_read(struct cgmount *ret, struct err *err)
{
	struct cgmount mount = { .kind = CGROUP_UNREAD };
	cgroup_set_logger(be_silent, CGROUP_LOG_ERROR, NULL);
	int code = cgroup_init();
	if (code != 0 && !means_absent(code) && code != ECGOTHER)
		return err_set(err, ERR_IO, "libcgroup: %s", cgroup_strerror(code));
	if (code == 0) {
		int r = ask_mount(&mount, err);
		if (r < 0)
			return r;
		ask_own_path(&mount);
	}
	read_rest(&mount);
	*ret = mount;
	return 0;
}
