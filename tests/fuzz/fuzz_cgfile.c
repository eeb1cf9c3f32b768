/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include "kernel/cgread.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct err err = { 0 };
	struct cgroup_memory cg = { 0 };
	for (size_t i = 0; i < cg_n_files; i++)
		(void)!cg_parse_file(cg_files[i].name, text, 42, &cg, &err);
	cg_settle(&cg);
	return 0;
}
