/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/cgpath.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct err err = { 0 };
	struct cgpath paths;
	char id[CGPATH_ID_CAP], directory[2 * CGPATH_CAP];
	struct cgpath_mount mount = { .point = "/sys/fs/cgroup", .root = "/../x" };
	if (cgpath_parse(text, &paths, &err) < 0)
		return 0;
	if (cgpath_container_id(paths.v2, id) && (strlen(id) < 12 || !strstr(paths.v2, id)))
		abort();
	(void)cgpath_container_id(paths.v1_memory, id);
	if (cgpath_join(&mount, paths.v2, directory) && (strstr(directory, "/../") || directory[0] != '/'))
		abort();
	return 0;
}
