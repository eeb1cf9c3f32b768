/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole files and directories by dirfd, with caps. Four degrees of trust:
 *
 *   file_read_at       /proc, cgroup and our own files: the kernel or we wrote them
 *   file_read_named    what a person named on a command line: a pipe (`<(command)`) is waited for, 30 s of silence at most
 *   file_read_under    below a watched process's root: whoever wrote the tree may be hostile
 *   file_read_beneath  below a capture: like `under`, and a path that leads out is an error
 *
 * The hostile-safe ones never leave the root they are given (openat2(2), Linux 5.6+; where that is
 * missing or filtered, a walk that opens each component with O_NOFOLLOW and resolves links itself),
 * never follow a magic link of /proc, and open nothing but a regular file or directory: a FIFO, a
 * socket or a device in its place is refused before it is opened, so nothing blocks.
 *
 * In all of them: reads restart after EINTR and go on after a short read. `buf` is emptied first and its cap
 * becomes `cap`; on success it holds exactly the file, on failure nothing. An unopened or vanished
 * file is ERR_GONE (ENOENT, ESRCH; ENODEV of a removed cgroup), a refused one ERR_DENIED, one of more than
 * `cap` bytes ERR_LIMIT, the wrong type, owner or link count ERR_UNSUPPORTED.
 */
#ifndef SYS_FILE_H
#define SYS_FILE_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* What must hold for a file of a watched process before a byte of it is read. NULL: nothing but regular. */
struct file_expect {
	bool check_owner;
	uid_t owner;        /* with check_owner */
	unsigned max_links; /* 0: any. 1 refuses a hard link to somebody else's file */
};

int file_read_named(const char *path, size_t cap, struct buf *buf, struct err *err) __attribute__((warn_unused_result));
int file_read_at(int dirfd, const char *path, size_t cap, struct buf *buf, struct err *err)
	__attribute__((warn_unused_result));

/* The same from the current offset of an open descriptor. `name` stands in messages. */
int file_read_fd(int fd, const char *name, size_t cap, struct buf *buf, struct err *err)
	__attribute__((warn_unused_result));

/* A link that is absolute or climbs is resolved as if rootfd were "/". A leading '/' of `path` is that root. */
int file_read_under(int rootfd, const char *path, size_t cap, const struct file_expect *expect, struct buf *buf,
		    struct err *err) __attribute__((warn_unused_result));

/* Opened as above but left to the caller to read (pread, fstat, mmap of a prefix): O_RDONLY, close-on-exec. */
int file_open_under(int rootfd, const char *path, const struct file_expect *expect, int *ret_fd, struct err *err)
	__attribute__((warn_unused_result));

/* Any type of file, resolved as above and not opened (O_PATH): for fstat(2) and fstatfs(2) alone. */
int path_open_under(int rootfd, const char *path, int *ret_path_fd, struct err *err)
	__attribute__((warn_unused_result));

/* An absolute path, an absolute link and any step above rootfd are errors. */
int file_read_beneath(int rootfd, const char *path, size_t cap, struct buf *buf, struct err *err)
	__attribute__((warn_unused_result));

/* A directory, for reading names and as a dirfd. `at` follows links as open(2) does. */
int dir_open_at(int dirfd, const char *path, int *ret_fd, struct err *err) __attribute__((warn_unused_result));
int dir_open_under(int rootfd, const char *path, int *ret_fd, struct err *err) __attribute__((warn_unused_result));
int dir_open_beneath(int rootfd, const char *path, int *ret_fd, struct err *err) __attribute__((warn_unused_result));

/*
 * Call `each` for every name but "." and "..", in the directory's order, until it returns false or
 * `max` names were seen (ERR_LIMIT: what was seen has been reported). `dirfd` stays the caller's and its offset
 * is not touched. Names come from the file system: escape before showing.
 */
typedef bool dir_each(void *context, const char *name);
int dir_list(int dirfd, size_t max, dir_each *each, void *context, struct err *err) __attribute__((warn_unused_result));

/*
 * Create `name` (it must not exist, nor be a link) and write all of it. Complete or an error, in which
 * case the partial file is removed again.
 */
int file_write_at(int dirfd, const char *name, struct str bytes, mode_t mode, struct err *err)
	__attribute__((warn_unused_result));

/*
 * The same, but the name appears only when all of it is there: it is written beside it as `path`.PID.part first. Never
 * replaces anything (ERR_USAGE when `path` is there).
 */
int file_create_at(int dirfd, const char *path, struct str bytes, mode_t mode, struct err *err)
	__attribute__((warn_unused_result));

/* Set by tests: behave as on a kernel without openat2. */
extern bool file_without_openat2;

#endif
