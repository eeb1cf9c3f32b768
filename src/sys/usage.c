/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/usage.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "sys/file.h"

enum { STATM_CAP = 256, FDS_MAX = 1 << 20 };

static struct qty resident(void)
{
	auto_buf struct buf text = { .cap = STATM_CAP };
	uint64_t pages, all;
	struct err err;
	if (file_read_at(AT_FDCWD, "/proc/self/statm", STATM_CAP, &text, &err) < 0)
		return (struct qty){ 0 };
	struct str rest = buf_str(&text);
	if (!str_u64(&rest, &all))
		return (struct qty){ 0 };
	str_blanks(&rest);
	return str_u64(&rest, &pages) ? qty_measured(pages * (uint64_t)sysconf(_SC_PAGESIZE)) : (struct qty){ 0 };
}

static bool count_name(void *context, const char *name)
{
	(void)name;
	++*(uint64_t *)context;
	return true;
}

static struct count open_fds(void)
{
	uint64_t n = 0;
	struct err err;
	auto_close int fd = -1;
	if (dir_open_at(AT_FDCWD, "/proc/self/fd", &fd, &err) < 0 || dir_list(fd, FDS_MAX, count_name, &n, &err) < 0)
		return (struct count){ 0 };
	return count_of(n);
}

void usage_read(struct usage *ret_usage)
{
	struct timespec cpu = { 0 };
	struct rlimit limit;
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu); /* cannot fail for this clock and address */
	*ret_usage = (struct usage){
		.resident_bytes = resident(),
		.cpu_ms = (uint64_t)cpu.tv_sec * 1000 + (uint64_t)cpu.tv_nsec / 1000000,
		.open_fds = open_fds(),
	};
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		ret_usage->max_fds = count_of(limit.rlim_cur);
}
