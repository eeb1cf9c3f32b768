/* SPDX-License-Identifier: Apache-2.0 */
/* A configuration of anybody in both formats, and what it derives: parts that sum up to the process, or a reason. And topologies. */
#include "fuzz/fuzz.h"

#include <stdlib.h>

#include "plan/derive.h"
#include "plan/flinkkeys.h"
#include "plan/topology.h"

static void check(const struct derived *derived)
{
	const struct flink_budget *b = &derived->budget;
	uint64_t flink = derived->role == DERIVE_JOBMANAGER
				 ? b->heap_bytes.bytes + b->direct_bytes.bytes
				 : b->framework_heap_bytes.bytes + b->task_heap_bytes.bytes +
					   b->framework_off_heap_bytes.bytes + b->task_off_heap_bytes.bytes +
					   b->network_bytes.bytes + b->managed_bytes.bytes;
	if (b->flink_bytes.bytes != flink ||
	    b->process_bytes.bytes != flink + b->metaspace_bytes.bytes + b->overhead_bytes.bytes ||
	    b->process_bytes.bytes > INT64_MAX)
		abort();
}

static void one(struct str text, enum flinkconf_format format, unsigned version)
{
	auto_flinkconf struct flinkconf file = { 0 };
	struct declared declared = { .file = &file, .version = version };
	if (flinkconf_parse(text, format, "f", &file, NULL) < 0)
		return;
	for (int role = DERIVE_TASKMANAGER; role <= DERIVE_JOBMANAGER; role++) {
		struct derived derived;
		struct err err = { 0 };
		if (derive(&declared, (enum derive_role)role, &derived, &err) == 0)
			check(&derived);
		else if (err.message[0] == '\0')
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct topology topology;
	struct str text = { (const char *)data, size };
	one(text, FLINKCONF_YAML, flinkkeys_n_versions() - 1);
	one(text, FLINKCONF_LEGACY, 0);
	if (topology_parse(text, "t", &topology, NULL) == 0 && topology.n == 0)
		abort();
	return 0;
}
