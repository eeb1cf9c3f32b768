/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "kernel/cgpath.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct err err = { 0 };
	struct cgpath_mounts mounts;
	char directory[2 * CGPATH_CAP];
	if (cgpath_mounts_parse(text, &mounts, &err) < 0)
		return 0;
	for (size_t i = 0; i < mounts.n_v2; i++)
		if (cgpath_join(&mounts.v2[i], mounts.v2[i].root, directory) && directory[0] != '/')
			abort();
	return 0;
}
