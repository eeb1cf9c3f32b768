/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "kernel/smaps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct err err = { 0 };
	struct smaps_rollup sums;
	if (smaps_rollup_parse(text, &sums, &err) == 0 && !qty_known(sums.rss_bytes))
		abort();
	return 0;
}
