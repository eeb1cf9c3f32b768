/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "kernel/memfd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct err err = { 0 };
	struct memfd_heap heap;
	if (memfd_parse(text, &heap, &err) < 0)
		return 0;
	auto_buf struct buf again = { .cap = 256 };
	struct memfd_heap same;
	if (!memfd_format(&heap, &again) || memfd_parse(buf_str(&again), &same, &err) < 0 || same.bytes != heap.bytes ||
	    same.inode != heap.inode || same.hugetlb != heap.hugetlb)
		abort();
	return 0;
}
