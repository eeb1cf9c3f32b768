/* SPDX-License-Identifier: Apache-2.0 */
/* What our own cgroup says of our CPU: its quota, and how often we were throttled by it (cgroup-v2.rst, "CPU"). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/scan.h"
#include "base/limits.h"
#include "kernel/cgpath.h"
#include "sys/file.h"

static const char root[] = "/sys/fs/cgroup";

bool own_cpu_parse_max(struct str text, uint64_t *ret_quota_ns)
{
	struct str quota, period = str_trim(text);
	uint64_t us;
	if (!str_split(&period, ' ', &quota))
		return false;
	if (str_eq(quota, STR("max"))) {
		*ret_quota_ns = 0;
		return true;
	}
	return str_is_u64(quota, &us) && !__builtin_mul_overflow(us, UINT64_C(1000), ret_quota_ns);
}

struct count own_cpu_parse_throttled(struct str text)
{
	struct str line;
	uint64_t n;
	while (str_line(&text, &line))
		if (str_take(&line, STR("nr_throttled ")) && str_is_u64(line, &n))
			return count_of(n);
	return (struct count){ 0 };
}

/* In a pod our cgroup is the root of what we see; elsewhere /proc/self/cgroup names it. */
static int open_own(const char *path)
{
	char text[sizeof root + CGPATH_CAP];
	(void)snprintf(text, sizeof text, "%s%s", root, path);
	return open(text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int find_own(void)
{
	struct err ignored;
	struct cgpath path;
	auto_buf struct buf text = { .cap = LIMIT_PROC_FILE };
	if (file_read_at(AT_FDCWD, "/proc/self/cgroup", LIMIT_PROC_FILE, &text, &ignored) < 0 ||
	    cgpath_parse(buf_str(&text), &path, &ignored) < 0 || !path.has_v2)
		return -1;
	return open_own(path.v2);
}

void own_cpu_open(struct own_cpu *ret)
{
	struct err ignored;
	auto_close int dir = find_own();
	auto_buf struct buf text = { .cap = LIMIT_CGROUP_FILE };
	*ret = (struct own_cpu){ .stat_fd = -1 };
	if (dir < 0)
		return;
	if (file_read_at(dir, "cpu.max", LIMIT_CGROUP_FILE, &text, &ignored) == 0)
		(void)own_cpu_parse_max(buf_str(&text), &ret->quota_ns);
	ret->stat_fd = openat(dir, "cpu.stat", O_RDONLY | O_CLOEXEC);
}

void own_cpu_close(struct own_cpu *own)
{
	auto_closep(&own->stat_fd);
	own->stat_fd = -1;
}

struct count own_cpu_throttled(const struct own_cpu *own)
{
	char bytes[2048];
	ssize_t n = own->stat_fd < 0 ? -1 : pread(own->stat_fd, bytes, sizeof bytes, 0);
	return n < 0 ? (struct count){ 0 } : own_cpu_parse_throttled((struct str){ bytes, (size_t)n });
}
