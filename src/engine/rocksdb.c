/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/rocksdb.h"

struct rocksdb_split rocksdb_split(uint64_t grant_bytes, uint32_t write_buffer_ratio_bp)
{
	/*
	 * (long) ((3 - writeBufferRatio) * totalMemorySize / 3) and (long) (2 * totalMemorySize * writeBufferRatio
	 * / 3), in double.
	 */
	double ratio = (double)(write_buffer_ratio_bp > 10000 ? 10000 : write_buffer_ratio_bp) / 10000.0;
	double grant = (double)(grant_bytes > INT64_MAX / 4 ? INT64_MAX / 4 : grant_bytes);
	return (struct rocksdb_split){
		.cache_bytes = (uint64_t)((3 - ratio) * grant / 3),
		.write_buffers_bytes = (uint64_t)(2 * grant * ratio / 3),
	};
}

static void set_sizes(const struct engine_state *state, struct rocksdb_budget *budget)
{
	if (!qty_known(budget->grant_bytes))
		return;
	uint32_t ratio = state->write_buffer_ratio_bp ? state->write_buffer_ratio_bp : ROCKSDB_RATIO_DEFAULT_BP;
	struct rocksdb_split split = rocksdb_split(budget->grant_bytes.bytes, ratio);
	budget->cache_bytes = qty_of(split.cache_bytes, QTY_DERIVED);
	budget->write_buffers_bytes = qty_of(split.write_buffers_bytes, QTY_DERIVED);
	uint64_t total;
	if (budget->n_caches.known && !__builtin_mul_overflow(budget->grant_bytes.bytes, budget->n_caches.n, &total))
		budget->total_grant_bytes = qty_of(total, QTY_DERIVED);
}

void rocksdb_budget(const struct engine_state *state, struct rocksdb_budget *ret_budget)
{
	struct rocksdb_budget budget = { .sharing = ROCKSDB_PER_SLOT, .n_caches = state->flink.n_slots };
	if (qty_known(state->rocksdb_fixed_per_slot_bytes)) {
		budget.grant_bytes = state->rocksdb_fixed_per_slot_bytes;
	} else if (state->rocksdb_managed != TRISTATE_FALSE) {
		budget.within_managed = true;
		uint64_t slots = state->flink.n_slots.n;
		if (qty_known(state->flink.managed_bytes) && state->flink.n_slots.known && slots)
			budget.grant_bytes = qty_of(state->flink.managed_bytes.bytes / slots, QTY_DERIVED);
	} else if (qty_known(state->rocksdb_fixed_per_tm_bytes)) {
		budget.sharing = ROCKSDB_PER_PROCESS;
		budget.n_caches = count_of(1);
		budget.grant_bytes = state->rocksdb_fixed_per_tm_bytes;
	} else {
		budget.sharing = ROCKSDB_PER_STORE;
		budget.n_caches = (struct count){ 0 };
	}
	set_sizes(state, &budget);
	*ret_budget = budget;
}
