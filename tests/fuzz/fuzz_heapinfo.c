/* SPDX-License-Identifier: Apache-2.0 */
/* Property: no range is empty, and their number fits. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "jvm/heapinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jvm_heap heap;
	struct err err = { 0 };

	if (heapinfo_parse((struct str){ (const char *)data, size }, &heap, &err) < 0)
		return 0;
	if (heap.gc == GC_UNKNOWN || !qty_known(heap.committed_bytes) || heap.n_ranges > JVM_HEAP_RANGES_MAX)
		abort();
	for (size_t i = 0; i < heap.n_ranges; i++)
		if (heap.ranges[i].start >= heap.ranges[i].end)
			abort();
	return 0;
}
