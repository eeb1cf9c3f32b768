/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/tmpfs.h"

#include <inttypes.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "base/esc.h"
#include "base/limits.h"
#include "base/units.h"
#include "kernel/keys.h"
#include "kernel/mountline.h"
#include "sys/file.h"

/* mm/shmem.c, shmem_show_options(): ",size=%luk", and nothing where it is the default. */
static struct limit size_of(struct str options)
{
	struct str option;
	while (str_split(&options, ',', &option)) {
		uint64_t bytes;
		if (str_take(&option, STR("size=")))
			return units_parse_jvm(option, &bytes) ? limit_set(bytes) : (struct limit){ 0 };
	}
	return (struct limit){ .kind = LIMIT_NONE };
}

static bool is_device(struct str text, uint64_t *ret_major, uint64_t *ret_minor)
{
	return str_u64(&text, ret_major) && str_take(&text, STR(":")) && str_is_u64(text, ret_minor);
}

int tmpfs_mounts_parse(struct str mountinfo, struct tmpfs_list *ret, struct err *err)
{
	struct str rest;
	ret->n = 0;
	int r = keys_check_text(mountinfo, err);
	if (r < 0)
		return r;
	for (unsigned number = 1; str_line(&mountinfo, &rest); number++) {
		struct mount_line line;
		struct tmpfs_seen *seen = &ret->items[ret->n];
		if (!mountline_split(rest, &line)) {
			ret->n = 0;
			return err_set(err, ERR_MALFORMED, "line %u: not a mount", number);
		}
		if (!str_eq(line.type, STR("tmpfs")) || ret->n == TMPFS_SEEN_MAX ||
		    !mountline_unescape(seen->point, sizeof seen->point, line.point) || seen->point[0] != '/' ||
		    !is_device(line.device, &seen->major, &seen->minor))
			continue;
		seen->size = size_of(line.super_options);
		ret->n++;
	}
	return 0;
}

bool tmpfs_format(const struct tmpfs_seen *seen, uint64_t used_bytes, struct buf *out)
{
	(void)buf_printf(out, "used=%" PRIu64 " size=", used_bytes);
	if (seen->size.kind == LIMIT_SET)
		(void)buf_printf(out, "%" PRIu64 " ", seen->size.bytes);
	else
		(void)buf_puts(out, seen->size.kind == LIMIT_NONE ? "none " : "unread ");
	for (const char *p = seen->point; *p; p++) {
		unsigned char c = (unsigned char)*p;
		if (c <= ' ' || c == '\\' || c == 0x7f)
			(void)buf_printf(out, "\\%03o", c);
		else
			(void)buf_putc(out, *p);
	}
	return buf_putc(out, '\n');
}

static bool parse_line(struct str line, struct tmpfs_mount *ret)
{
	char point[TMPFS_POINT_CAP];
	uint64_t used, size;
	if (!str_take(&line, STR("used=")) || !str_u64(&line, &used) || !str_take(&line, STR(" size=")))
		return false;
	ret->used_bytes = qty_measured(used);
	if (str_take(&line, STR("none")))
		ret->size = (struct limit){ .kind = LIMIT_NONE };
	else if (str_take(&line, STR("unread")))
		ret->size = (struct limit){ 0 };
	else if (str_u64(&line, &size))
		ret->size = limit_set(size);
	else
		return false;
	if (!str_take(&line, STR(" /")) || !mountline_unescape(point + 1, sizeof point - 1, line))
		return false;
	point[0] = '/';
	(void)esc_copy(ret->path, sizeof ret->path, str_of(point));
	return true;
}

int tmpfs_parse(struct str text, struct tmpfs_mount ret[TMPFS_MOUNTS_MAX], size_t *ret_n, struct err *err)
{
	struct tmpfs_mount mounts[TMPFS_MOUNTS_MAX] = { 0 }, mount;
	size_t n = 0;
	struct str line;
	int r = keys_check_text(text, err);
	if (r < 0)
		return r;
	for (unsigned number = 1; str_line(&text, &line); number++) {
		if (!parse_line(line, &mount))
			return err_set(err, ERR_MALFORMED, "line %u: not a tmpfs", number);
		if (mount.used_bytes.bytes == 0)
			continue;
		size_t at = n;
		while (at && mounts[at - 1].used_bytes.bytes < mount.used_bytes.bytes)
			at--;
		if (at == TMPFS_MOUNTS_MAX)
			continue;
		n += n < TMPFS_MOUNTS_MAX;
		for (size_t i = n - 1; i > at; i--)
			mounts[i] = mounts[i - 1];
		mounts[at] = mount;
	}
	memcpy(ret, mounts, sizeof mounts);
	*ret_n = n;
	return 0;
}

/* What is in the file system that stands there now; false if it is not this mount's, or cannot be told. */
static bool used_of(int root_fd, const struct tmpfs_seen *seen, uint64_t *ret_bytes)
{
	struct err ignored;
	struct statfs fs;
	struct stat st;
	auto_close int fd = -1;
	if (path_open_under(root_fd, seen->point, &fd, &ignored) < 0 || fstat(fd, &st) < 0 || fstatfs(fd, &fs) < 0)
		return false;
	/* Mounted over, its point shows another device. A file bound from somebody's tmpfs is no place to write to. */
	if (fs.f_type != TMPFS_MAGIC || !S_ISDIR(st.st_mode) || major(st.st_dev) != seen->major ||
	    minor(st.st_dev) != seen->minor)
		return false;
	return fs.f_bsize > 0 && fs.f_blocks >= fs.f_bfree &&
	       !__builtin_mul_overflow((uint64_t)(fs.f_blocks - fs.f_bfree), (uint64_t)fs.f_bsize, ret_bytes);
}

static bool is_told(const struct tmpfs_list *list, const bool told[], size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (told[i] && list->items[i].major == list->items[at].major &&
		    list->items[i].minor == list->items[at].minor)
			return true;
	return false;
}

int tmpfs_read(int pid_dirfd, int root_fd, struct buf *out, struct err *err)
{
	auto_buf struct buf mountinfo = { 0 };
	bool told[TMPFS_SEEN_MAX] = { false };
	int r = file_read_at(pid_dirfd, "mountinfo", LIMIT_PROC_FILE * 16UL, &mountinfo, err);
	if (r < 0)
		return r;
	struct tmpfs_list *list = malloc(sizeof *list);
	if (!list)
		return err_set(err, ERR_NOMEM, "no memory for a list of mounts");
	r = tmpfs_mounts_parse(buf_str(&mountinfo), list, err);
	if (r < 0)
		err_wrap(err, "mountinfo");
	for (size_t i = 0; r == 0 && i < list->n; i++) {
		uint64_t bytes;
		if (is_told(list, told, i) || !used_of(root_fd, &list->items[i], &bytes))
			continue;
		told[i] = true;
		if (bytes)
			(void)tmpfs_format(&list->items[i], bytes, out);
	}
	free(list);
	if (r == 0 && buf_failed(out))
		r = err_set(err, out->state == BUF_NOMEM ? ERR_NOMEM : ERR_LIMIT, "too many mounts");
	return r;
}
