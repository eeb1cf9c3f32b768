/* SPDX-License-Identifier: Apache-2.0 */
/* Property: no range is empty, and their number fits. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "jvm/codecache.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jvm_code code;
	struct err err = { 0 };

	if (codecache_parse((struct str){ (const char *)data, size }, &code, &err) < 0)
		return 0;
	if (code.n_ranges == 0 || code.n_ranges > JVM_CODE_RANGES_MAX)
		abort();
	for (size_t i = 0; i < code.n_ranges; i++)
		if (code.ranges[i].start >= code.ranges[i].end)
			abort();
	return 0;
}
