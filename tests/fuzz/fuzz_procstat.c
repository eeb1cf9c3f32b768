/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "kernel/stat.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct err err = { 0 };
	struct proc_stat stat;
	if (stat_parse(text, &stat, &err) == 0 && stat.pid < 0)
		abort();
	return 0;
}
