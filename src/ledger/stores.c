/* SPDX-License-Identifier: Apache-2.0 */
/* What RocksDB's own figures are worth: what of a cache's usage is only reserved, and whether a store is open at all. */
#include "base/sat.h"
#include "ledger/parts.h"
#include "ledger/reconcile.h"

/* write_buffer_size / 8, the largest arena block of an empty memtable that any of these engines has by default: RocksDB 6, 64 MiB. */
enum { ARENA_BYTES = 8 << 20, RATIO_DEFAULT_BP = 5000 };

/*
 * The most that memtables can reserve. A write buffer manager of capacity W flushes so that memtables stay within 3/2 W
 * (RocksDBMemoryControllerUtils: W = 2Sw/3, cache capacity C = (3 - w)S/3), so 3/2 W = wS = 3wC / (3 - w); but each
 * column family keeps one arena block, however many there are.
 */
static uint64_t most_reserved(const struct engine_state *engine)
{
	const struct rocksdb_claim *claim = &engine->rocksdb;
	if (!qty_known(claim->cache_capacity_bytes) || claim->sharing == ROCKSDB_PER_STORE ||
	    engine->kind != ENGINE_FLINK_TASKMANAGER)
		return UINT64_MAX;
	uint64_t ratio = engine->write_buffer_ratio_bp ? engine->write_buffer_ratio_bp : RATIO_DEFAULT_BP;
	if (ratio >= 30000)
		return UINT64_MAX;
	uint64_t buffers = sat_mul(claim->cache_capacity_bytes.bytes / (30000 - ratio), 3 * ratio);
	uint64_t arenas = claim->n_stores.known ? sat_mul(claim->n_stores.n, ARENA_BYTES) : UINT64_MAX;
	return buffers > arenas ? buffers : arenas;
}

/*
 * A write buffer manager reserves by pinned entries and is slow to give back: RocksDB 6 by 256 KiB a flush, so that its
 * reservation stays at the highest the memtables ever were. All that is pinned is reserved but for index and filters of
 * level 0, a per cent or two; what is pinned beyond what memtables can be are blocks that iterators hold.
 */
uint64_t store_reserved_bytes(const struct engine_state *engine, const char **ret_source)
{
	const struct rocksdb_claim *claim = &engine->rocksdb;
	uint64_t memtables = claim->memtables_in_cache ? qty_or(claim->memtables_bytes, 0) : 0;
	*ret_source = memtables ? "metrics: block-cache-usage less memtables" : "metrics: block-cache-usage";
	if (!memtables || qty_or(claim->cache_pinned_bytes, 0) <= memtables)
		return memtables;
	uint64_t pinned = claim->cache_pinned_bytes.bytes, most = most_reserved(engine);
	if (most < memtables)
		most = memtables;
	*ret_source = "metrics: block-cache-usage less what memtables reserve (pinned)";
	return pinned < most ? pinned : most;
}

bool store_managed_pays(const struct engine_state *engine)
{
	return !qty_known(engine->rocksdb_fixed_per_slot_bytes) && engine->rocksdb_managed != TRISTATE_FALSE;
}

/* RocksDB reserves its whole share of managed memory when the first keyed backend is built: none in use, none open. */
bool store_none_is_open(const struct engine_state *engine)
{
	return engine->kind == ENGINE_FLINK_TASKMANAGER && store_managed_pays(engine) &&
	       qty_known(engine->gauges.managed_used_bytes) && engine->gauges.managed_used_bytes.bytes == 0 &&
	       qty_or(engine->flink.managed_bytes, 0) > 0;
}

bool recon_rocksdb_is_unread(const struct snapshot *snapshot, const struct ledger *ledger)
{
	return ledger_is_unread(ledger, OWNER_ROCKSDB_BLOCK_CACHE) ||
	       ledger_is_unread(ledger, OWNER_ROCKSDB_TABLE_READERS) ||
	       (ledger_is_unread(ledger, OWNER_ROCKSDB_MEMTABLES) && !snapshot->engine.rocksdb.memtables_in_cache);
}
