/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct err err = { 0 };
	struct process_status status;
	if (status_parse(text, &status, &err) == 0 &&
	    (!status.uid_fs.known || strlen(status.name) >= sizeof status.name))
		abort();
	return 0;
}
