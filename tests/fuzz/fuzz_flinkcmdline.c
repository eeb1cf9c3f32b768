/* SPDX-License-Identifier: Apache-2.0 */
/* A command line, and the same bytes as names of mapped files and of RocksDB directories. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "engine/build.h"
#include "engine/flinkbudget.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size };
	struct engine_evidence evidence = { .cmdline = text, .mapped = text, .state_dirs = text };
	static struct engine_notes notes;
	struct engine_state state;
	struct detection detection;
	struct flink_budget budget;
	bool metrics;
	notes = (struct engine_notes){ .n = 0 };
	if (engine_build(&evidence, &state, &detection, &metrics, &notes, NULL) < 0 || metrics)
		abort();
	for (size_t i = 0; i < detection.n_endpoints; i++)
		if (!str_starts(str_of(detection.endpoints[i].url), STR("http://")))
			abort();
	flinkbudget_read(text, NULL, ENGINE_FLINK_JOBMANAGER, &budget, &notes);
	return 0;
}
