/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/limits.h"
#include "kernel/cgpath.h"
#include "kernel/cgread.h"
#include "kernel/stat.h"
#include "sys/file.h"
#include "sys/proc.h"

enum { FILE_FIRST = 4096 };

void watch_init(struct watch *watch)
{
	memset(watch, 0, sizeof *watch);
	evidence_init(&watch->evidence);
	watch->exit_fd = watch->cgroup_fd = watch->perf_fd = watch->events_fd = watch->stat.fd = -1;
	watch->target.pid_fd = watch->target.root_fd = -1;
}

static void close_file(struct watch_file *file)
{
	auto_closep(&file->fd);
	file->fd = -1;
	buf_done(&file->bytes);
}

static void close_files(struct watch *watch)
{
	for (size_t i = 0; i < watch->n_files; i++)
		close_file(&watch->files[i]);
	watch->n_files = 0;
}

static void close_cgroup(struct watch *watch)
{
	auto_closep(&watch->events_fd);
	auto_closep(&watch->cgroup_fd);
	watch->events_fd = watch->cgroup_fd = -1;
}

void watch_close(struct watch *watch)
{
	auto_closep(&watch->perf_fd);
	close_files(watch);
	close_file(&watch->stat);
	close_cgroup(watch);
	auto_closep(&watch->exit_fd);
	collect_end(&watch->target);
	evidence_done(&watch->evidence);
	uint64_t reopened = watch->reopened_total;
	bool any_fs = watch->any_fs;
	watch_init(watch);
	watch->any_fs = any_fs;
	watch->reopened_total = reopened;
}

/* False: it is not there, and need not be. */
static bool open_file(struct watch_file *file, int dirfd, const char *path, const char *name, bool optional)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int errnum = errno;
	if (fd < 0 && optional && errnum == ENOENT)
		return false;
	*file = (struct watch_file){ .fd = fd, .optional = optional, .bytes.cap = LIMIT_PROC_FILE };
	str_copy(file->name, sizeof file->name, str_of(name));
	if (fd < 0)
		(void)err_sys(&file->err, errnum, "%s", path);
	return true;
}

static void add_file(struct watch *watch, int dirfd, const char *path, const char *name, bool optional)
{
	if (watch->n_files < WATCH_FILES_MAX)
		watch->n_files += open_file(&watch->files[watch->n_files], dirfd, path, name, optional);
}

/* kernfs tells inotify of what it counts (kernfs_notify()); the path is the descriptor itself, so it cannot lead elsewhere. */
static int watch_events(int cgroup_fd)
{
	auto_close int file = openat(cgroup_fd, "memory.events", O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return -1;
	auto_close int fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	char path[40];
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", file);
	if (fd < 0 || inotify_add_watch(fd, path, IN_MODIFY) < 0)
		return -1;
	return TAKE_FD(fd);
}

static void open_cgroup(struct watch *watch)
{
	struct err err = { 0 };
	struct cgpath_found found = { .dirfd = -1 };
	enum cgroup_kind kind = CGROUP_UNREAD;
	const char *given = watch->options.cgroup_directory;
	int rc = given ? cgpath_open_explicit(given, watch->any_fs, &found, &kind, &err)
		       : cgpath_open(watch->target.pid_fd, false, &found, &kind, &err);
	evidence_fact_drop(&watch->evidence, "cgroup_kind");
	(void)evidence_fact(&watch->evidence, "cgroup_kind", "%d", (int)kind);
	if (rc < 0) {
		collect_say_denied(&watch->target, &err);
		evidence_fail(&watch->evidence, "cgroup", &err);
		return;
	}
	evidence_drop(&watch->evidence, "cgroup");
	watch->cgroup_fd = found.dirfd;
	watch->events_fd = watch_events(found.dirfd);
}

/* In the order of cg_files: current, stat, current, next to each other. */
static void open_files(struct watch *watch)
{
	close_files(watch);
	for (size_t i = 0; watch->cgroup_fd >= 0 && i < cg_n_files; i++) {
		char name[EVIDENCE_NAME_CAP];
		(void)snprintf(name, sizeof name, "cgroup/%s", cg_files[i].name);
		add_file(watch, watch->cgroup_fd, cg_files[i].file, name, cg_files[i].optional);
	}
	add_file(watch, watch->target.pid_fd, "status", "proc/status", false);
	add_file(watch, AT_FDCWD, "/proc/meminfo", "host/meminfo", false);
}

int watch_open(struct watch *watch, const struct collect_options *options, int pid, struct err *err)
{
	watch_close(watch);
	watch->options = *options;
	watch->options.pid = pid;
	watch->target = (struct collecting){ .options = &watch->options,
					     .evidence = &watch->evidence,
					     .pid_fd = -1,
					     .root_fd = -1,
					     .maps.cap = LIMIT_SMAPS };
	watch->exit_fd = proc_pidfd(pid);
	int rc = collect_begin(&watch->target, err);
	/* Opened before it was looked at: the descriptor is of the process that was looked at if that one still lives. */
	if (rc == 0)
		rc = collect_same(&watch->target, err);
	if (rc < 0) {
		watch_close(watch);
		return rc;
	}
	/* These three are read at every tick, by descriptor. */
	evidence_drop(&watch->evidence, "proc/status");
	evidence_drop(&watch->evidence, "proc/stat");
	evidence_drop(&watch->evidence, "host/meminfo");
	(void)open_file(&watch->stat, watch->target.pid_fd, "stat", "proc/stat", false);
	open_cgroup(watch);
	open_files(watch);
	return 0;
}

/* pread(2) from the start: the kernel makes these files anew for each reading from offset 0. */
static int read_again(struct watch_file *file, struct err *err)
{
	struct buf *buf = &file->bytes;
	buf_clear(buf);
	for (;;) {
		char *at = buf_grow(buf, buf->len ? buf->len : FILE_FIRST);
		if (!at)
			return err_set(err, buf->state == BUF_NOMEM ? ERR_NOMEM : ERR_LIMIT, "%s: no room", file->name);
		size_t room = buf->room - buf->len - 1;
		if (room > buf->cap - buf->len)
			room = buf->cap - buf->len;
		ssize_t n = pread(file->fd, at, room, (off_t)buf->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, errno, "%s", file->name);
		if (n == 0)
			return 0;
		buf_grown(buf, (size_t)n);
	}
}

static bool read_files(struct watch *watch)
{
	bool cgroup_gone = false;
	for (size_t i = 0; i < watch->n_files; i++) {
		struct watch_file *file = &watch->files[i];
		if (file->fd < 0)
			continue;
		file->err = (struct err){ 0 };
		if (read_again(file, &file->err) == 0)
			continue;
		buf_clear(&file->bytes);
		cgroup_gone |= file->err.errnum == ENODEV && strncmp(file->name, "cgroup/", 7) == 0;
	}
	return cgroup_gone;
}

/* As collect_same(), by the kept descriptor: of a process that has ended it reads as ESRCH, a zombie says so. */
static int same(struct watch *watch, struct err *err)
{
	struct proc_stat stat;
	const struct collecting *c = &watch->target;
	int rc = watch->stat.fd < 0 ? collect_same(c, err) : read_again(&watch->stat, err);
	if (rc == 0 && watch->stat.fd >= 0)
		rc = stat_parse(buf_str(&watch->stat.bytes), &stat, err);
	if (rc < 0 || watch->stat.fd < 0)
		return rc;
	if (stat.start_ticks != c->id.start_ticks || stat.state == 'Z' || stat.state == 'X' ||
	    (c->start_stack && !stat.start_stack))
		return err_set(err, ERR_GONE, "process %d has ended", c->id.pid);
	if (stat.start_stack != c->start_stack)
		return err_set(err, ERR_GONE, "process %d has executed another program", c->id.pid);
	return 0;
}

int watch_read(struct watch *watch, struct err *err)
{
	bool cgroup_gone = read_files(watch);
	struct err why = { 0 };
	int rc = same(watch, &why);
	if (rc < 0 && why.kind == ERR_GONE) {
		*err = why;
		return rc;
	}
	/* The target lives, its cgroup does not: it was moved, or the cgroup made anew. */
	if (cgroup_gone) {
		watch->reopened_total++;
		close_cgroup(watch);
		open_cgroup(watch);
		open_files(watch);
		(void)read_files(watch); /* gone once more: the next tick looks again */
	}
	return 0;
}

size_t watch_texts(const struct watch *watch, struct refresh_text ret_texts[WATCH_FILES_MAX])
{
	size_t n = 0;
	for (size_t i = 0; i < watch->n_files; i++) {
		const struct watch_file *file = &watch->files[i];
		if (file->err.kind != ERR_NONE && file->optional)
			continue;
		ret_texts[n++] = (struct refresh_text){ file->name, buf_str(&file->bytes),
							file->err.kind == ERR_NONE ? NULL : &file->err };
	}
	return n;
}

void watch_events_taken(struct watch *watch)
{
	char bytes[4096];
	while (watch->events_fd >= 0 && read(watch->events_fd, bytes, sizeof bytes) > 0)
		;
}
