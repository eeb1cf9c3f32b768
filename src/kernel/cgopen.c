/* SPDX-License-Identifier: Apache-2.0 */
/* The way to a cgroup's directory: the half of cgpath.h that touches the system. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "kernel/cgpath.h"
#include "sys/file.h"

/* Is this directory of a cgroup2 file system, and does it have the memory controller? */
static int check_directory(int dirfd, const char *directory, bool any_fs, bool *ret_is_root, enum cgroup_kind *ret_kind,
			   struct err *err)
{
	struct statfs fs;
	if (!any_fs && fstatfs(dirfd, &fs) < 0)
		return err_sys(err, errno, "%s", directory);
	if (!any_fs && fs.f_type != CGROUP2_SUPER_MAGIC) {
		bool v1 = fs.f_type == CGROUP_SUPER_MAGIC;
		*ret_kind = v1 ? CGROUP_V1 : CGROUP_NONE;
		return err_set(err, ERR_UNSUPPORTED, "%s is %s: cgroup v2 is needed", directory,
			       v1 ? "a cgroup v1" : "no cgroup");
	}
	if (faccessat(dirfd, "memory.stat", F_OK, 0) < 0) {
		if (errno != ENOENT)
			return err_sys(err, errno, "%s/memory.stat", directory);
		*ret_kind = CGROUP_V2_NO_MEMORY;
		return err_set(err, ERR_UNSUPPORTED, "%s has no memory.stat: cgroup v2 without its memory controller",
			       directory);
	}
	/* Every cgroup but the root of the hierarchy has it, limited or not. */
	*ret_is_root = faccessat(dirfd, "memory.current", F_OK, 0) < 0 && errno == ENOENT;
	*ret_kind = CGROUP_V2;
	return 0;
}

static int read_text(int pid_dirfd, const char *name, struct buf *buf, struct err *err)
{
	/* A machine with thousands of mounts has a mountinfo of some hundred KiB. */
	return file_read_at(pid_dirfd, name, LIMIT_PROC_FILE * 16UL, buf, err);
}

static int read_where(int pid_dirfd, struct cgpath *ret_paths, struct cgpath_mounts *ret_mounts, struct err *err)
{
	auto_buf struct buf text = { 0 };
	int r = read_text(pid_dirfd, "cgroup", &text, err);
	if (r < 0)
		return r;
	r = cgpath_parse(buf_str(&text), ret_paths, err);
	if (r < 0) {
		err_wrap(err, "cgroup");
		return r;
	}
	r = read_text(pid_dirfd, "mountinfo", &text, err);
	if (r < 0)
		return r;
	r = cgpath_mounts_parse(buf_str(&text), ret_mounts, err);
	if (r < 0)
		err_wrap(err, "mountinfo");
	return r;
}

/* Nothing on v2: what is there instead, and what helps. */
static int explain(const struct cgpath *paths, const struct cgpath_mounts *mounts, enum cgroup_kind *ret_kind,
		   struct err *err)
{
	if (paths->has_v1_memory) {
		*ret_kind = CGROUP_V1;
		return err_set(err, ERR_UNSUPPORTED,
			       "the memory controller is on cgroup v1; tell the limit with --limit");
	}
	if (!paths->has_v2) {
		*ret_kind = CGROUP_NONE;
		return err_set(err, ERR_UNSUPPORTED, "the process is in no cgroup; tell the limit with --limit");
	}
	*ret_kind = CGROUP_UNREAD;
	if (mounts->n_v2 == 0)
		return err_set(
			err, ERR_UNSUPPORTED,
			"no cgroup file system is mounted where the process runs; name its directory with --cgroup");
	return err_set(err, ERR_UNSUPPORTED,
		       "its cgroup %s is not below %s of the process; name its directory with --cgroup", paths->v2,
		       mounts->v2[0].point);
}

/* An opened directory, which is ours from here on, into what was found. */
static int take_directory(int opened, const char *directory, bool any_fs, struct cgpath_found *ret,
			  enum cgroup_kind *ret_kind, struct err *err)
{
	struct cgpath_found found = { 0 };
	auto_close int dirfd = opened;
	int r = check_directory(dirfd, directory, any_fs, &found.is_root, ret_kind, err);
	if (r < 0)
		return r;
	str_copy(found.directory, sizeof found.directory, str_of(directory));
	found.dirfd = TAKE_FD(dirfd);
	*ret = found;
	return 0;
}

static int open_joined(int root_fd, const char *directory, bool any_fs, struct cgpath_found *ret,
		       enum cgroup_kind *ret_kind, struct err *err)
{
	int dirfd;
	int r = dir_open_under(root_fd, directory, &dirfd, err);
	return r < 0 ? r : take_directory(dirfd, directory, any_fs, ret, ret_kind, err);
}

int cgpath_open(int pid_dirfd, bool any_fs, struct cgpath_found *ret, enum cgroup_kind *ret_kind, struct err *err)
{
	struct cgpath paths;
	struct cgpath_mounts mounts;
	*ret_kind = CGROUP_UNREAD;
	int r = read_where(pid_dirfd, &paths, &mounts, err);
	if (r < 0)
		return r;
	bool tried = false;
	auto_close int root_fd = -1;
	for (size_t i = 0; paths.has_v2 && i < mounts.n_v2; i++) {
		char directory[2 * CGPATH_CAP];
		if (!cgpath_join(&mounts.v2[i], paths.v2, directory))
			continue;
		if (root_fd < 0) {
			root_fd = openat(pid_dirfd, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
			if (root_fd < 0)
				return err_sys(err, errno, "root of the process");
		}
		tried = true;
		r = open_joined(root_fd, directory, any_fs, ret, ret_kind, err);
		if (r == 0)
			return 0;
	}
	/* On a hybrid machine v2 is there without memory, and v1 is what to name. */
	if (!tried || paths.has_v1_memory)
		return explain(&paths, &mounts, ret_kind, err);
	return r;
}

int cgpath_open_explicit(const char *directory, bool any_fs, struct cgpath_found *ret, enum cgroup_kind *ret_kind,
			 struct err *err)
{
	*ret_kind = CGROUP_UNREAD;
	if (strlen(directory) >= sizeof ret->directory)
		return err_set(err, ERR_USAGE, "path of the cgroup is too long");
	int dirfd;
	int r = dir_open_at(AT_FDCWD, directory, &dirfd, err);
	return r < 0 ? r : take_directory(dirfd, directory, any_fs, ret, ret_kind, err);
}
