/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include "kernel/smaps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct err err = { 0 };
	struct vma_set set = { 0 };
	if (maps_parse(text, &set, &err) == 0)
		vma_set_done(&set);
	return 0;
}
