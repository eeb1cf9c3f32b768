/* SPDX-License-Identifier: Apache-2.0 */
#include "support/prng.h"

#include <stdio.h>
#include <stdlib.h>

struct prng prng_start(const char *test)
{
	const char *seed = getenv("SEED");
	struct prng prng = { seed ? strtoull(seed, NULL, 0) : 20240229 };
	(void)printf("# %s: SEED=%llu\n", test, (unsigned long long)prng.state);
	(void)fflush(stdout);
	return prng;
}

uint64_t prng_u64(struct prng *prng)
{
	uint64_t z = prng->state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

uint64_t prng_below(struct prng *prng, uint64_t n)
{
	return prng_u64(prng) % n;
}

bool prng_one_in(struct prng *prng, unsigned n)
{
	return prng_below(prng, n) == 0;
}

uint64_t prng_size(struct prng *prng, bool wild)
{
	static const uint64_t ends[] = { UINT64_MAX, UINT64_MAX - 1, (uint64_t)1 << 63,
					 INT64_MAX,  INT64_MAX - 1,  UINT64_MAX / 2 + 2 };
	if (wild && prng_one_in(prng, 6))
		return ends[prng_below(prng, sizeof ends / sizeof ends[0])];
	if (wild && prng_one_in(prng, 12))
		return prng_u64(prng);
	if (prng_one_in(prng, 8))
		return 0;
	return prng_below(prng, (uint64_t)1 << (1 + prng_below(prng, 41)));
}
