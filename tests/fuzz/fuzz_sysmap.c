/* SPDX-License-Identifier: Apache-2.0 */
/* Properties: ranges ascend and do not overlap, and a map that parses can be reduced. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "jvm/answer.h"
#include "jvm/mallocinfo.h"
#include "jvm/sysmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	auto_(jvm_regions_done) struct jvm_regions regions = { 0 };
	auto_buf struct buf reduced = { .cap = 1 << 24 };
	struct jvm_malloc info;
	struct err err = { 0 };

	if (mallocinfo_parse(text, &info, &err) == 0 && !qty_known(info.in_use_bytes))
		abort();
	if (answer_reduce(ANSWER_SYSTEM_MAP, text, &reduced, &err) < 0)
		abort();
	if (sysmap_parse(text, &regions, &err) < 0)
		return 0;
	for (size_t i = 0; i < regions.n; i++)
		if (regions.items[i].range.start >= regions.items[i].range.end ||
		    (i > 0 && regions.items[i].range.start < regions.items[i - 1].range.end))
			abort();
	return 0;
}
