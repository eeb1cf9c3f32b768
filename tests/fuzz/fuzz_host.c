/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "kernel/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct host_memory memory;
	enum thp_mode mode;
	if (host_meminfo_parse(text, &memory, NULL) == 0 && !qty_known(memory.total_bytes))
		abort();
	if (host_thp_parse(text, &mode, NULL) == 0 && (mode <= THP_UNREAD || mode >= THP_MODE_COUNT))
		abort();
	return 0;
}
