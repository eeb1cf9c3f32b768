/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/resolve.h"

enum {
	/* Most files of /proc and cgroups fit the first; a larger file doubles from there up to the most. */
	CHUNK_FIRST = 4 * 1024,
	CHUNK_MOST = 256 * 1024,
	WAIT_MS = 30000, /* for the other end of a pipe that a person named */
};

/* Of a pipe: something came, or its end, within `wait_ms`. */
static bool may_read(int fd, int wait_ms)
{
	struct pollfd at = { .fd = fd, .events = POLLIN };
	int n;
	do
		n = poll(&at, 1, wait_ms);
	while (n < 0 && errno == EINTR);
	return n > 0;
}

static ssize_t read_some(int fd, char *dest, size_t len, int wait_ms)
{
	ssize_t n;
	do
		n = read(fd, dest, len);
	while (n < 0 && (errno == EINTR || (errno == EAGAIN && wait_ms && may_read(fd, wait_ms))));
	return n;
}

/* At the cap, one more byte tells a file that fits exactly from one that goes on. */
static int expect_end(int fd, const char *name, size_t cap, int wait_ms, struct err *err)
{
	char byte;
	ssize_t n = read_some(fd, &byte, 1, wait_ms);
	if (n < 0)
		return err_sys(err, errno, "%s", name);
	if (n > 0)
		return err_set(err, ERR_LIMIT, "%s: larger than %zu bytes", name, cap);
	return 0;
}

static int read_into(int fd, const char *name, size_t cap, int wait_ms, struct buf *buf, struct err *err)
{
	size_t chunk = CHUNK_FIRST;
	for (;;) {
		size_t left = cap - buf->len;
		if (left == 0)
			return expect_end(fd, name, cap, wait_ms, err);
		if (chunk > left)
			chunk = left;
		char *at = buf_grow(buf, chunk);
		if (!at)
			return err_set(err, ERR_NOMEM, "%s: no memory for %zu bytes", name, buf->len + chunk);
		ssize_t n = read_some(fd, at, chunk, wait_ms);
		if (n < 0 && errno == EAGAIN && wait_ms)
			return err_set(err, ERR_TIMEOUT, "%s: nothing came for %d s, and it has no end", name,
				       wait_ms / 1000);
		if (n < 0)
			return err_sys(err, errno, "%s", name);
		if (n == 0)
			return 0;
		buf_grown(buf, (size_t)n);
		/* Grow with what is there: doubling keeps the copies of a large smaps few. */
		chunk = buf->len < CHUNK_MOST ? buf->len : CHUNK_MOST;
		if (chunk < CHUNK_FIRST)
			chunk = CHUNK_FIRST;
	}
}

static int read_whole(int fd, const char *name, size_t cap, int wait_ms, struct buf *buf, struct err *err)
{
	buf_clear(buf);
	buf->cap = cap;
	int r = read_into(fd, name, cap, wait_ms, buf, err);
	if (r < 0)
		buf_clear(buf);
	return r;
}

int file_read_fd(int fd, const char *name, size_t cap, struct buf *buf, struct err *err)
{
	return read_whole(fd, name, cap, 0, buf, err);
}

int file_read_named(const char *path, size_t cap, struct buf *buf, struct err *err)
{
	buf_clear(buf);
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_sys(err, errno, "%s", *path ? path : "an empty file name");
	return read_whole(fd, path, cap, WAIT_MS, buf, err);
}

int file_read_at(int dirfd, const char *path, size_t cap, struct buf *buf, struct err *err)
{
	buf_clear(buf);
	auto_close int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return err_sys(err, errno, "%s", path);
	return file_read_fd(fd, path, cap, buf, err);
}

/*
 * A descriptor that only names the file (O_PATH) becomes one that reads it through /proc/self/fd: what was
 * checked is what is opened, and nothing but a regular file or directory is ever opened for real.
 */
static int reopen(int path_fd, int flags)
{
	char link[40];
	(void)snprintf(link, sizeof link, "/proc/self/fd/%d", path_fd);
	int fd;
	do
		fd = open(link, flags | O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	while (fd < 0 && errno == EINTR);
	return fd;
}

static int check_expected(const struct stat *st, const char *path, const struct file_expect *expect, struct err *err)
{
	if (!S_ISREG(st->st_mode))
		return err_set(err, ERR_UNSUPPORTED, "%s: not a regular file", path);
	if (!expect)
		return 0;
	if (expect->check_owner && st->st_uid != expect->owner)
		return err_set(err, ERR_UNSUPPORTED, "%s: owned by uid %u, not %u", path, (unsigned)st->st_uid,
			       (unsigned)expect->owner);
	if (expect->max_links && st->st_nlink > expect->max_links)
		return err_set(err, ERR_UNSUPPORTED, "%s: has %lu links, %u allowed", path, (unsigned long)st->st_nlink,
			       expect->max_links);
	return 0;
}

static int open_regular(int rootfd, const char *path, enum resolve_how how, const struct file_expect *expect,
			int *ret_fd, struct err *err)
{
	auto_close int path_fd = -1;
	int r = resolve_open(rootfd, path, how, &path_fd, err);
	if (r < 0)
		return r;
	struct stat st;
	if (fstat(path_fd, &st) < 0)
		return err_sys(err, errno, "%s", path);
	r = check_expected(&st, path, expect, err);
	if (r < 0)
		return r;
	int fd = reopen(path_fd, 0);
	if (fd < 0)
		return err_sys(err, errno, "%s", path);
	*ret_fd = fd;
	return 0;
}

static int read_regular(int rootfd, const char *path, enum resolve_how how, size_t cap,
			const struct file_expect *expect, struct buf *buf, struct err *err)
{
	buf_clear(buf);
	auto_close int fd = -1;
	int r = open_regular(rootfd, path, how, expect, &fd, err);
	if (r < 0)
		return r;
	struct stat st;
	if (fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", path);
	/* A 10 GB file is refused unread. A size that grows meanwhile meets the cap of the read. */
	if (st.st_size > 0 && (uint64_t)st.st_size > cap)
		return err_set(err, ERR_LIMIT, "%s: larger than %zu bytes", path, cap);
	return file_read_fd(fd, path, cap, buf, err);
}

int file_open_under(int rootfd, const char *path, const struct file_expect *expect, int *ret_fd, struct err *err)
{
	return open_regular(rootfd, path, RESOLVE_UNDER, expect, ret_fd, err);
}

int path_open_under(int rootfd, const char *path, int *ret_path_fd, struct err *err)
{
	return resolve_open(rootfd, path, RESOLVE_UNDER, ret_path_fd, err);
}

int file_read_under(int rootfd, const char *path, size_t cap, const struct file_expect *expect, struct buf *buf,
		    struct err *err)
{
	return read_regular(rootfd, path, RESOLVE_UNDER, cap, expect, buf, err);
}

int file_read_beneath(int rootfd, const char *path, size_t cap, struct buf *buf, struct err *err)
{
	return read_regular(rootfd, path, RESOLVE_BELOW, cap, NULL, buf, err);
}

int dir_open_at(int dirfd, const char *path, int *ret_fd, struct err *err)
{
	int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_sys(err, errno, "%s", path);
	*ret_fd = fd;
	return 0;
}

static int open_directory(int rootfd, const char *path, enum resolve_how how, int *ret_fd, struct err *err)
{
	auto_close int path_fd = -1;
	int r = resolve_open(rootfd, path, how, &path_fd, err);
	if (r < 0)
		return r;
	struct stat st;
	if (fstat(path_fd, &st) < 0)
		return err_sys(err, errno, "%s", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, ERR_UNSUPPORTED, "%s: not a directory", path);
	int fd = reopen(path_fd, O_DIRECTORY);
	if (fd < 0)
		return err_sys(err, errno, "%s", path);
	*ret_fd = fd;
	return 0;
}

int dir_open_under(int rootfd, const char *path, int *ret_fd, struct err *err)
{
	return open_directory(rootfd, path, RESOLVE_UNDER, ret_fd, err);
}

int dir_open_beneath(int rootfd, const char *path, int *ret_fd, struct err *err)
{
	return open_directory(rootfd, path, RESOLVE_BELOW, ret_fd, err);
}

static void close_directory(DIR **dir)
{
	if (*dir)
		(void)closedir(*dir); /* read only: nothing to lose */
}

int dir_list(int dirfd, size_t max, dir_each *each, void *context, struct err *err)
{
	/* A descriptor of its own: fdopendir() takes it over, and its offset is not the caller's. */
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return err_sys(err, errno, "directory");
	auto_(close_directory) DIR *dir = fdopendir(fd);
	if (!dir) {
		int errnum = errno;
		(void)close(fd);
		return err_sys(err, errnum, "directory");
	}
	for (size_t n = 0;;) {
		errno = 0;
		const struct dirent *entry = readdir(dir);
		if (!entry)
			return errno ? err_sys(err, errno, "directory") : 0;
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (n++ == max)
			return err_set(err, ERR_LIMIT, "directory: more than %zu entries", max);
		if (!each(context, entry->d_name))
			return 0;
	}
}

static int write_all(int fd, struct str bytes)
{
	while (bytes.len) {
		ssize_t n = write(fd, bytes.ptr, bytes.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		bytes = str_skip(bytes, (size_t)n);
	}
	return 0;
}

/* `shown`: the name that the caller knows. */
static int write_new(int dirfd, const char *name, const char *shown, struct str bytes, mode_t mode, struct err *err)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return err_sys(err, errno, "%s", shown);
	int r = write_all(fd, bytes);
	/* A full disk may show itself only here. */
	if (close(fd) < 0 && r == 0 && errno != EINTR)
		r = -errno;
	if (r < 0) {
		(void)unlinkat(dirfd, name, 0); /* the first error is the one to tell */
		return err_sys(err, -r, "%s", shown);
	}
	return 0;
}

int file_write_at(int dirfd, const char *name, struct str bytes, mode_t mode, struct err *err)
{
	return write_new(dirfd, name, name, bytes, mode, err);
}

/* rename(2) would replace. File systems without RENAME_NOREPLACE mostly have hard links, which do not replace either. */
static int give_name(int dirfd, const char *part, const char *path)
{
	if (renameat2(dirfd, part, dirfd, path, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	if (linkat(dirfd, part, dirfd, path, 0) < 0)
		return -errno;
	(void)unlinkat(dirfd, part, 0); /* it is there under its own name */
	return 0;
}

int file_create_at(int dirfd, const char *path, struct str bytes, mode_t mode, struct err *err)
{
	char part[PATH_MAX];
	int len = snprintf(part, sizeof part, "%s.%ld.part", path, (long)getpid());
	if (len < 0 || (size_t)len >= sizeof part)
		return err_set(err, ERR_USAGE, "%.60s...: the name is too long", path);
	int rc = write_new(dirfd, part, path, bytes, mode, err);
	if (rc < 0)
		return rc;
	int r = give_name(dirfd, part, path);
	if (r == 0)
		return 0;
	(void)unlinkat(dirfd, part, 0);
	return r == -EEXIST ? err_set(err, ERR_USAGE, "%s: is there already", path) : err_sys(err, -r, "%s", path);
}
