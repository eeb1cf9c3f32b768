/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/clock.h"

#include <time.h>

#define NS_PER_MS UINT64_C(1000000)

struct mono clock_mono(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail for this clock and address */
	return (struct mono){ (uint64_t)now.tv_sec * 1000 * NS_PER_MS + (uint64_t)now.tv_nsec };
}

struct wall clock_wall(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_REALTIME, &now); /* nor for this one */
	return (struct wall){ (int64_t)now.tv_sec * 1000 + now.tv_nsec / (int64_t)NS_PER_MS };
}

struct mono mono_add_ms(struct mono from, uint64_t ms)
{
	uint64_t ns;
	if (__builtin_mul_overflow(ms, NS_PER_MS, &ns) || __builtin_add_overflow(from.ns, ns, &ns))
		ns = UINT64_MAX;
	return (struct mono){ ns };
}

uint64_t mono_ms_until(struct mono from, struct mono to)
{
	if (to.ns <= from.ns)
		return 0;
	uint64_t ns = to.ns - from.ns;
	return ns / NS_PER_MS + (ns % NS_PER_MS != 0);
}
