/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/tmpfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tmpfs_list list;
	struct str text = { (const char *)data, size };
	struct tmpfs_mount mounts[TMPFS_MOUNTS_MAX];
	size_t n = 0;
	auto_buf struct buf lines = { .cap = 1 << 20 };
	if (tmpfs_parse(text, mounts, &n, NULL) == 0)
		for (size_t i = 0; i < n; i++)
			if (!mounts[i].used_bytes.bytes || mounts[i].path[0] != '/' || strchr(mounts[i].path, '\n'))
				abort();
	if (tmpfs_mounts_parse(text, &list, NULL) < 0)
		return 0;
	/* Whatever a mount point is called, its line says one mount. */
	for (size_t i = 0; i < list.n; i++)
		(void)tmpfs_format(&list.items[i], i + 1, &lines);
	if (buf_failed(&lines))
		return 0;
	if (tmpfs_parse(buf_str(&lines), mounts, &n, NULL) < 0 ||
	    n != (list.n < TMPFS_MOUNTS_MAX ? list.n : TMPFS_MOUNTS_MAX))
		abort();
	return 0;
}
