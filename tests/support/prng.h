/* SPDX-License-Identifier: Apache-2.0 */
/* A seeded generator for property tests: SplitMix64. SEED=N in the environment repeats a run. */
#ifndef BANKFULL_TESTS_PRNG_H
#define BANKFULL_TESTS_PRNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prng {
	uint64_t state;
};

/* From SEED, else the same each time; prints it, so that a failure can be repeated. */
struct prng prng_start(const char *test);

uint64_t prng_u64(struct prng *prng);
uint64_t prng_below(struct prng *prng, uint64_t n); /* [0, n), n > 0 */
bool prng_one_in(struct prng *prng, unsigned n);

/* A size as they come: 0, bytes, KiB to TiB; with `wild` the ends of u64 as well. */
uint64_t prng_size(struct prng *prng, bool wild);

#endif
