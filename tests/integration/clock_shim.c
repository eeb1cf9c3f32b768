/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Preloaded: moves the wall clock of one process by the seconds that stand, as an int64, in the file BANKFULL_CLOCK names.
 * The monotonic clocks stay as they are, like when somebody sets the date.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset;

__attribute__((constructor)) static void map_offset(void)
{
	const char *path = getenv("BANKFULL_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *at = fd >= 0 ? mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
	if (at != MAP_FAILED)
		offset = at;
	if (fd >= 0)
		close(fd);
}

int clock_gettime(clockid_t id, struct timespec *now)
{
	int rc = (int)syscall(SYS_clock_gettime, id, now);
	if (rc == 0 && offset && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		now->tv_sec += *offset;
	return rc;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec at;
	(void)zone;
	int rc = clock_gettime(CLOCK_REALTIME, &at);
	if (rc == 0)
		*now = (struct timeval){ at.tv_sec, at.tv_nsec / 1000 };
	return rc;
}

time_t time(time_t *ret)
{
	struct timespec at = { 0 };
	(void)clock_gettime(CLOCK_REALTIME, &at);
	if (ret)
		*ret = at.tv_sec;
	return at.tv_sec;
}
