/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "data/yml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct err err = { 0 };
	struct yml yml;
	if (yml_parse(text, "f", &yml, &err) < 0) {
		if (!err.message[0])
			abort();
		return 0;
	}
	for (size_t i = 0; i < yml.n; i++)
		if (yml.items[i].key.len == 0 || yml.items[i].line == 0 ||
		    (i && str_eq(yml.items[i].key, yml.items[i - 1].key)))
			abort();
	yml_done(&yml);
	return 0;
}
