/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on other people's numbers that stays at either end of u64 where it would pass it. */
#ifndef BASE_SAT_H
#define BASE_SAT_H

#include <stdint.h>

static inline uint64_t sat_add(uint64_t a, uint64_t b)
{
	uint64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t sat_mul(uint64_t a, uint64_t b)
{
	uint64_t product;
	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static inline uint64_t sat_sub(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

#endif
