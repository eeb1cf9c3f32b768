/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "kernel/memstat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct err err = { 0 };
	struct cgroup_stat stat;
	if (memstat_parse(text, &stat, &err) == 0 && !qty_known(stat.anon_bytes))
		abort();
	return 0;
}
