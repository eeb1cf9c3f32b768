/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/hsperffile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "jvm/hsperf.h"
#include "sys/file.h"

enum { NAMES_MAX = 65536 /* a crowded /tmp; more is refused */ };

/* The words of "start-end perms offset dev inode path", path last and with blanks inside. */
static bool parse_mapping(struct str line, struct str *ret_inode, struct str *ret_path)
{
	struct str word = { "", 0 };
	for (unsigned i = 0; i < 5; i++) {
		str_blanks(&line);
		if (!str_split(&line, ' ', &word))
			return false;
	}
	*ret_inode = word;
	*ret_path = str_trim(line);
	return true;
}

bool hsperffile_is_mapped(struct str maps, uint64_t pid, uint64_t inode)
{
	struct str line, number, path;
	char end[32];

	(void)snprintf(end, sizeof end, "/%" PRIu64, pid);
	while (str_line(&maps, &line)) {
		uint64_t mapped;
		if (!str_has(line, STR("/hsperfdata_")) || !parse_mapping(line, &number, &path))
			continue;
		if (str_is_u64(number, &mapped) && mapped == inode && str_ends(path, str_of(end)))
			return true;
	}
	return false;
}

struct search {
	int tmp_fd;
	const struct process_status *status;
	struct str maps;
	struct buf *bytes;
	int dir_fd; /* of the one that was found */
	bool found;
	bool failed;    /* `err` says why the file that is the target's cannot be read */
	struct err err; /* of the last file that was refused */
};

/* HotSpot's is_directory_secure: no link, the target's own, and nobody else may put files in. */
static int open_user_dir(const struct search *search, const char *name, struct err *err)
{
	struct stat st;
	auto_close int fd = openat(search->tmp_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, errno, "hsperfdata: its directory");
	if (st.st_uid != search->status->uid_effective.n)
		/* Another user's: the JVM puts nothing there, even if it is called by its user's name. */
		return err_set(err, ERR_GONE, "hsperfdata: its directory belongs to uid %u", (unsigned)st.st_uid);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return err_set(err, ERR_UNSUPPORTED, "hsperfdata: others may write to its directory");
	return TAKE_FD(fd);
}

/* The file named like the pid, opened as HotSpot's is_file_secure would have it. */
static int open_own_file(int dir_fd, const struct process_status *status, struct stat *ret_stat, struct err *err)
{
	char name[24];
	auto_close int fd = -1;
	struct file_expect expect = { .check_owner = true, .owner = (uid_t)status->uid_effective.n, .max_links = 1 };

	(void)snprintf(name, sizeof name, "%" PRIu64, status->ns_pid.n);
	int rc = file_open_under(dir_fd, name, &expect, &fd, err);
	if (rc < 0)
		return rc;
	if (fstat(fd, ret_stat) < 0)
		return err_sys(err, errno, "hsperfdata");
	if (ret_stat->st_mode & (S_IWGRP | S_IWOTH))
		return err_set(err, ERR_UNSUPPORTED, "hsperfdata: others may write to the file");
	return TAKE_FD(fd);
}

/* If it is the one the process maps. Returns 0 when read, else negative. */
static int read_file(struct search *search, int dir_fd, struct err *err)
{
	struct stat st;
	auto_close int fd = open_own_file(dir_fd, search->status, &st, err);
	if (fd < 0)
		return fd;
	if (!hsperffile_is_mapped(search->maps, search->status->ns_pid.n, st.st_ino))
		return err_set(err, ERR_UNSUPPORTED, "hsperfdata: the file is stale: the process does not map it");
	search->failed = true; /* this is it: whatever fails now is the answer */
	int rc = file_read_fd(fd, "hsperfdata", LIMIT_HSPERF, search->bytes, err);
	search->failed = rc < 0;
	return rc;
}

static bool try_name(void *context, const char *name)
{
	struct search *search = context;
	struct err err = { 0 };

	if (!str_starts(str_of(name), STR("hsperfdata_")))
		return true;
	auto_close int dir_fd = open_user_dir(search, name, &err);
	if (dir_fd >= 0 && read_file(search, dir_fd, &err) == 0) {
		search->found = true;
		search->dir_fd = TAKE_FD(dir_fd);
		return false;
	}
	/* Of other users' directories nobody wants to hear once a better reason is known. */
	if (search->failed || (err.kind != ERR_GONE && dir_fd >= 0) || search->err.kind == ERR_NONE)
		search->err = err;
	return !search->failed;
}

/* Closed by the caller: tmp_fd, and dir_fd where one was found. */
static int look(int root_fd, struct search *search, struct err *err)
{
	if (!search->status->ns_pid.known || !search->status->uid_effective.known)
		return err_set(err, ERR_UNSUPPORTED, "status tells neither NSpid nor Uid");
	int rc = dir_open_under(root_fd, "tmp", &search->tmp_fd, err);
	return rc < 0 ? rc : dir_list(search->tmp_fd, NAMES_MAX, try_name, search, err);
}

int hsperffile_keep(int root_fd, const struct process_status *status, struct str maps)
{
	struct err ignored = { 0 };
	auto_buf struct buf bytes = { .cap = LIMIT_HSPERF };
	struct search search = { .tmp_fd = -1, .dir_fd = -1, .status = status, .maps = maps, .bytes = &bytes };
	(void)look(root_fd, &search, &ignored);
	if (search.tmp_fd >= 0)
		(void)close(search.tmp_fd);
	return search.dir_fd;
}

enum tristate hsperffile_left(int dir_fd, const struct process_status *status)
{
	char name[24];
	struct stat st;
	if (dir_fd < 0)
		return TRISTATE_UNREAD;
	(void)snprintf(name, sizeof name, "%" PRIu64, status->ns_pid.n);
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return TRISTATE_TRUE;
	return errno == ENOENT ? TRISTATE_FALSE : TRISTATE_UNREAD;
}

int hsperffile_last(int dir_fd, const struct process_status *status, struct jvm_perf *ret_perf, struct err *err)
{
	struct stat st;
	auto_buf struct buf bytes = { .cap = LIMIT_HSPERF }, listing = { .cap = LIMIT_PROC_FILE };
	if (dir_fd < 0)
		return err_set(err, ERR_UNSUPPORTED, "hsperfdata: no file of this JVM was known");
	auto_close int fd = open_own_file(dir_fd, status, &st, err);
	if (fd < 0)
		return fd;
	int rc = file_read_fd(fd, "hsperfdata", LIMIT_HSPERF, &bytes, err);
	if (rc == 0)
		rc = hsperf_decode(buf_str(&bytes), &listing, err);
	return rc < 0 ? rc : hsperf_parse(buf_str(&listing), ret_perf, err);
}

int hsperffile_read(int root_fd, const struct process_status *status, struct str maps, struct buf *out, struct err *err)
{
	auto_buf struct buf bytes = { .cap = LIMIT_HSPERF };
	struct search search = { .tmp_fd = -1, .dir_fd = -1, .status = status, .maps = maps, .bytes = &bytes };
	int rc = look(root_fd, &search, err);
	if (search.tmp_fd >= 0)
		(void)close(search.tmp_fd);
	if (search.dir_fd >= 0)
		(void)close(search.dir_fd);
	if (search.found)
		return hsperf_decode(buf_str(&bytes), out, err);
	if (rc < 0) {
		err_wrap(err, "hsperfdata");
		return rc;
	}
	if (search.err.kind != ERR_NONE && search.err.kind != ERR_GONE) {
		enum err_kind kind = search.failed || search.err.kind == ERR_DENIED ? search.err.kind : ERR_UNSUPPORTED;
		return err_set(err, kind, "%s", search.err.message);
	}
	return err_set(
		err, ERR_UNSUPPORTED,
		"hsperfdata: no file of this JVM (-XX:-UsePerfData, -XX:+PerfDisableSharedMem, or another /tmp)");
}
