/* SPDX-License-Identifier: Apache-2.0 */
#include "bankfull/books.h"

struct engine_facts engine_facts(const struct engine_state *engine)
{
	return (struct engine_facts){
		.backend = engine->backend,
		.batch = engine->batch,
		.python = engine->python,
		.managed_reserved_bytes = engine->gauges.managed_used_bytes,
		.network_bytes = engine->flink.network_bytes,
		.framework_off_heap_bytes = engine->flink.framework_off_heap_bytes,
		.task_off_heap_bytes = engine->flink.task_off_heap_bytes,
		.network_pool_bytes = engine->gauges.network_total_bytes,
		.streams_instances = engine->streams.n_instances,
	};
}
