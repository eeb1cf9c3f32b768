/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "kernel/pagemap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct err err = { 0 };
	struct resident_range ranges[64];
	size_t n;
	if (pagemap_parse(text, ranges, 64, &n, &err) < 0)
		return 0;
	/* What we print of it says the same again. */
	auto_buf struct buf again = { .cap = 64 * 64 };
	struct resident_range same[64];
	size_t n_same;
	if (!pagemap_format(ranges, n, &again) || pagemap_parse(buf_str(&again), same, 64, &n_same, &err) < 0 ||
	    n != n_same || (n && memcmp(ranges, same, n * sizeof ranges[0]) != 0))
		abort();
	return 0;
}
