/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/auto.h"
#include "sys/file.h"

bool file_without_openat2;

enum {
	LINKS_MAX = 40, /* as the kernel */
	DEPTH_MAX = 64,
	PATH_ROOM = 4096, /* PATH_MAX */
};

/* The walk of kernels without openat2: the directories from the root to where it stands, and the rest of the path. */
struct walk {
	enum resolve_how how;
	int dirs[DEPTH_MAX]; /* owned; dirs[0] is a duplicate of the root */
	size_t depth;        /* of dirs */
	unsigned n_links;
	char rest[PATH_ROOM];
};

static void walk_done(struct walk *walk)
{
	while (walk->depth)
		(void)close(walk->dirs[--walk->depth]);
}

static int failed(struct err *err, int errnum, const char *path)
{
	/* What resolution refuses is a property of the tree, no accident of the system. */
	if (errnum == EXDEV)
		return err_set(err, ERR_UNSUPPORTED, "%s: leads out of its root", path);
	if (errnum == ELOOP)
		return err_set(err, ERR_UNSUPPORTED, "%s: too many links, or a link that may not be followed", path);
	if (errnum == ENAMETOOLONG)
		return err_set(err, ERR_UNSUPPORTED, "%s: path too long", path);
	/* "a/b" where a is a file: there is no such file. */
	return err_sys(err, errnum == ENOTDIR ? ENOENT : errnum, "%s", path);
}

static int back_to_root(struct walk *walk)
{
	if (walk->how == RESOLVE_BELOW)
		return -EXDEV;
	while (walk->depth > 1)
		(void)close(walk->dirs[--walk->depth]);
	return 0;
}

static int up(struct walk *walk)
{
	if (walk->depth > 1)
		(void)close(walk->dirs[--walk->depth]);
	else if (walk->how == RESOLVE_BELOW)
		return -EXDEV;
	return 0; /* "/.." is "/" */
}

/* Put what a link says before what is left: it is relative to the directory it stands in, where the walk is. */
static int follow(struct walk *walk, int link_fd)
{
	struct statfs fs;
	/* Links of /proc may lead anywhere without a path in between: none is followed. */
	if (fstatfs(link_fd, &fs) < 0)
		return -errno;
	if (fs.f_type == PROC_SUPER_MAGIC || ++walk->n_links > LINKS_MAX)
		return -ELOOP;
	char text[PATH_ROOM];
	ssize_t len = readlinkat(link_fd, "", text, sizeof text);
	if (len < 0)
		return -errno;
	if (len == 0)
		return -ENOENT;
	size_t rest_len = strlen(walk->rest);
	if ((size_t)len + 1 + rest_len + 1 > sizeof walk->rest)
		return -ENAMETOOLONG;
	memmove(walk->rest + len + 1, walk->rest, rest_len + 1);
	memcpy(walk->rest, text, (size_t)len);
	walk->rest[len] = '/';
	return text[0] == '/' ? back_to_root(walk) : 0;
}

/* Take the first component off `rest` into name: 0 at the end of the path. */
static size_t next_name(struct walk *walk, char name[256])
{
	size_t from = strspn(walk->rest, "/");
	size_t len = strcspn(walk->rest + from, "/");
	if (len < 256) {
		memcpy(name, walk->rest + from, len);
		name[len] = '\0';
	}
	size_t rest_len = strlen(walk->rest);
	memmove(walk->rest, walk->rest + from + len, rest_len - from - len + 1);
	return len;
}

static bool at_end(const struct walk *walk)
{
	return walk->rest[strspn(walk->rest, "/")] == '\0';
}

/* One component. 1 when *ret_fd is the file the path names; 0 to go on. */
static int step(struct walk *walk, int *ret_fd)
{
	char name[256];
	size_t len = next_name(walk, name);
	if (len >= sizeof name)
		return -ENAMETOOLONG;
	if (len == 0 || strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0)
		return up(walk);
	auto_close int fd = openat(walk->dirs[walk->depth - 1], name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	struct stat st;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISLNK(st.st_mode))
		return follow(walk, fd);
	if (at_end(walk)) {
		*ret_fd = TAKE_FD(fd);
		return 1;
	}
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (walk->depth == DEPTH_MAX)
		return -ENAMETOOLONG;
	walk->dirs[walk->depth++] = TAKE_FD(fd);
	return 0;
}

static int walk_open(int rootfd, const char *path, enum resolve_how how)
{
	auto_(walk_done) struct walk walk = { .how = how };
	size_t len = strlen(path);
	if (len >= sizeof walk.rest)
		return -ENAMETOOLONG;
	memcpy(walk.rest, path, len + 1);
	if (path[0] == '/' && how == RESOLVE_BELOW)
		return -EXDEV;
	int root = openat(rootfd, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	walk.dirs[walk.depth++] = root;
	while (!at_end(&walk)) {
		int fd = -1;
		int r = step(&walk, &fd);
		if (r != 0)
			return r < 0 ? r : fd;
	}
	/* The path ended in "." or "..", or was "/": the directory the walk stands in. */
	return walk.dirs[--walk.depth];
}

static int kernel_open(int rootfd, const char *path, enum resolve_how how)
{
	struct open_how open_how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_MAGICLINKS | (how == RESOLVE_UNDER ? RESOLVE_IN_ROOT : RESOLVE_BENEATH),
	};
	/* EAGAIN: a rename somewhere raced with a ".." of ours; the kernel asks to try again. */
	for (int tries = 0; tries < 8; tries++) {
		long fd = syscall(SYS_openat2, rootfd, path, &open_how, sizeof open_how);
		if (fd >= 0)
			return (int)fd;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return -EAGAIN;
}

int resolve_open(int rootfd, const char *path, enum resolve_how how, int *ret_path_fd, struct err *err)
{
	int fd = file_without_openat2 ? -ENOSYS : kernel_open(rootfd, path, how);
	/* EPERM is what a seccomp filter older than the call answers. */
	if (fd == -ENOSYS || fd == -EPERM)
		fd = walk_open(rootfd, path, how);
	if (fd < 0)
		return failed(err, -fd, path);
	*ret_path_fd = fd;
	return 0;
}
