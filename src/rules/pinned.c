/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block cache past its capacity because what it holds is pinned: Flink's and Kafka Streams' caches are not strict,
 * for a strict one fails reads (RocksDB's LRUCache; FLINK-15532).
 */
#include <string.h>

#include "rules/all.h"
#include "rules/room.h"
#include "rules/store.h"
#include "rules/text.h"

/* What the cache may be past its capacity without harm: a share of it, or one arena block a state charged to it. */
static uint64_t allowed(const struct rule_input *input)
{
	const struct engine_state *engine = &input->snapshot->engine;
	const struct rocksdb_claim *claim = &engine->rocksdb;
	uint64_t share = judged_share(input, T_ROCKSDB_PINNED_OVER, claim->cache_capacity_bytes.bytes), arenas = 0;
	if (claim->memtables_in_cache && claim->n_stores.known)
		arenas = store_ratio(claim->n_stores.n, store_arena_real(engine, store_write_buffer(engine)), 1);
	return share > arenas ? share : arenas;
}

static void name_missing(const struct rocksdb_claim *claim, struct finding *finding)
{
	if (!qty_known(claim->cache_usage_bytes))
		finding_missing(finding, "the metric block-cache-usage");
	if (!qty_known(claim->cache_capacity_bytes))
		finding_missing(finding, "the metric block-cache-capacity");
	if (!qty_known(claim->cache_pinned_bytes))
		finding_missing(finding, "the metric block-cache-pinned-usage");
}

/* Memtables charged to the cache are pinned entries too. */
static uint64_t by_memtables(const struct rocksdb_claim *claim)
{
	uint64_t memtables = claim->memtables_in_cache ? qty_or(claim->memtables_bytes, 0) : 0;
	return memtables < claim->cache_pinned_bytes.bytes ? memtables : claim->cache_pinned_bytes.bytes;
}

/*
 * The cache's lines, and what native-other can hold of it: where memtables are charged to the cache, the books take all
 * that is pinned for their reservation, and pinned blocks then have no line.
 */
static uint64_t resident_of(const struct rule_input *input)
{
	const struct rocksdb_claim *claim = &input->snapshot->engine.rocksdb;
	const struct ledger_line *lines = input->ledger->lines;
	uint64_t resident = qty_or(lines[OWNER_ROCKSDB_BLOCK_CACHE].bytes, 0);
	uint64_t other = qty_or(lines[OWNER_NATIVE_OTHER].bytes, 0);
	if (claim->memtables_in_cache)
		resident = sat_add(resident, qty_or(lines[OWNER_ROCKSDB_MEMTABLES].bytes, 0));
	uint64_t left = claim->cache_usage_bytes.bytes > resident ? claim->cache_usage_bytes.bytes - resident : 0;
	uint64_t blocks = claim->memtables_in_cache ? claim->cache_pinned_bytes.bytes - by_memtables(claim) : 0;
	left = left < blocks ? left : blocks;
	return sat_add(resident, left < other ? left : other);
}

static void change_flink(const struct snapshot *snapshot, uint64_t over, struct finding *finding)
{
	const char *partitioned = store_setting(snapshot, "memory.partitioned-index-filters");
	bool is_on = partitioned ? strcmp(partitioned, "true") == 0 : snapshot->engine.backend == BACKEND_FORST;
	if (!is_on) {
		finding_turn(finding, KNOB_ROCKSDB_CACHE, TURN_SET);
		finding_change(
			finding,
			"set %s.memory.partitioned-index-filters: true, so that only the top of index and filters is pinned and the rest can be evicted",
			store_options(&snapshot->engine));
		return;
	}
	const struct qty *managed = &snapshot->engine.flink.managed_bytes;
	uint64_t more = room_round_up(over);
	finding_turn(finding, KNOB_MANAGED, TURN_UP);
	finding_turn(finding, KNOB_PROCESS_SIZE, TURN_UP);
	finding_turn(finding, KNOB_LIMIT, TURN_UP);
	if (qty_known(*managed))
		finding_change(
			finding,
			"set taskmanager.memory.managed.size: %llum, and raise taskmanager.memory.process.size and the container's limit by the same %llum",
			store_mib_up(sat_add(managed->bytes, more)), store_mib_up(more));
	else
		finding_change(
			finding,
			"raise taskmanager.memory.managed.size by %llum, and taskmanager.memory.process.size and the container's limit with it",
			store_mib_up(more));
}

static void change_for(const struct snapshot *snapshot, uint64_t over, struct finding *finding)
{
	const struct count *iterators = &snapshot->engine.rocksdb.n_open_iterators;
	if (snapshot->engine.kind == ENGINE_FLINK_TASKMANAGER) {
		change_flink(snapshot, over, finding);
	} else if (iterators->known && iterators->n == 0) {
		finding_turn(finding, KNOB_ROCKSDB_CACHE, TURN_SET);
		finding_change(
			finding,
			"in the RocksDBConfigSetter call setPinL0FilterAndIndexBlocksInCache(false): no iterator is open, so index and filters are what is pinned");
	} else {
		finding_turn(finding, KNOB_APPLICATION, TURN_SET);
		finding_change(
			finding,
			"close every KeyValueIterator and WindowStoreIterator that the application opens (try-with-resources), in processors and in interactive queries");
	}
}

static void observe(const struct rule_input *input, uint64_t resident, struct finding *finding)
{
	const struct rocksdb_claim *claim = &input->snapshot->engine.rocksdb;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	uint64_t memtables = by_memtables(claim);
	finding_observation(finding, "Of %s in the block cache %s is pinned and cannot be evicted; its capacity is %s.",
			    units_format(a, claim->cache_usage_bytes.bytes),
			    units_format(b, claim->cache_pinned_bytes.bytes),
			    units_format(c, claim->cache_capacity_bytes.bytes));
	if (memtables)
		finding_observation(
			finding,
			"%s of it are memtables charged to the cache; iterators or index and filters of level 0 pin the other %s.",
			units_format(a, memtables), units_format(b, claim->cache_pinned_bytes.bytes - memtables));
	else
		finding_observation(finding, "Iterators, or index and filters of level 0, pin it: this is no leak.");
	finding_observation(finding, "Of cache and memtables up to %s is resident.", units_format(a, resident));
	if (claim->n_open_iterators.known)
		finding_observation(finding, "Open iterators: %llu.", (unsigned long long)claim->n_open_iterators.n);
	if (claim->largest_store[0])
		finding_observation(finding, "Largest store: %s.", claim->largest_store);
	finding_bytes(finding, "block_cache_usage_bytes", claim->cache_usage_bytes.bytes);
	finding_bytes(finding, "block_cache_pinned_bytes", claim->cache_pinned_bytes.bytes);
	finding_bytes(finding, "block_cache_capacity_bytes", claim->cache_capacity_bytes.bytes);
	finding_bytes(finding, "pinned_by_memtables_bytes", memtables);
	finding_bytes(finding, "resident_bytes", resident);
	if (claim->n_open_iterators.known)
		finding_figure(finding, "open_iterators",
			       claim->n_open_iterators.n > INT64_MAX ? INT64_MAX : (int64_t)claim->n_open_iterators.n);
}

static void explain(const struct rule_input *input, struct finding *finding)
{
	const struct rocksdb_claim *claim = &input->snapshot->engine.rocksdb;
	finding_cause(
		finding,
		"iterators that stay open, over map state, ranges or interactive queries: usage then falls when they close, and size-all-mem-tables stands above cur-size-all-mem-tables");
	finding_cause(
		finding,
		"index and filters of level 0, pinned by setting: they grow with the data and fall after a compaction");
	if (claim->memtables_in_cache)
		finding_cause(
			finding,
			"memtables charged to the cache while flushes cannot keep up: mem-table-flush-pending is then 1 for long");
	store_show(finding, input->snapshot, "memory.partitioned-index-filters");
	store_show(finding, input->snapshot, "memory.high-prio-pool-ratio");
	finding_setting(finding, input->snapshot, "taskmanager.memory.managed.size");
	if (!claim->n_caches_certain)
		finding_missing(finding,
				"the exact number of block caches: no label names the slot, so usage is an estimate");
	if (claim->memtables_in_cache && !qty_known(claim->memtables_bytes))
		finding_missing(finding, "the metric size-all-mem-tables: how much of what is pinned are memtables");
	if (input->snapshot->engine.kind == ENGINE_KAFKA_STREAMS && !claim->n_open_iterators.known)
		finding_missing(finding, "the metric num-open-iterators");
	finding_validate(
		finding,
		"steady: block-cache-usage comes back to block-cache-capacity between two peaks, and pinned usage falls with it");
	finding_validate(
		finding,
		"restore: the same after a savepoint, a restore or a rescale, which open the largest iterators");
}

enum rule_answer rule_rocksdb_pinned(const struct rule_input *input, struct finding *finding)
{
	const struct rocksdb_claim *claim = &input->snapshot->engine.rocksdb;
	if (!store_in_use(input->ledger))
		return RULE_SILENT;
	if (claim->ambiguous) {
		finding_missing(finding, "RocksDB metrics that tell the stores apart: their labels collide");
		return RULE_INCONCLUSIVE;
	}
	uint64_t usage = claim->cache_usage_bytes.bytes, capacity = claim->cache_capacity_bytes.bytes;
	if (qty_known(claim->cache_usage_bytes) && qty_known(claim->cache_capacity_bytes) &&
	    (usage <= capacity || usage - capacity <= allowed(input)))
		return RULE_SILENT;
	/* Little that is pinned of a usage that is known is an answer whatever the capacity is. */
	uint64_t pinned = judged_share(input, T_ROCKSDB_PINNED_PINNED, usage);
	if (qty_known(claim->cache_usage_bytes) && qty_known(claim->cache_pinned_bytes) &&
	    claim->cache_pinned_bytes.bytes <= pinned)
		return RULE_SILENT;
	name_missing(claim, finding);
	if (finding->n_missing)
		return RULE_INCONCLUSIVE;
	uint64_t over = usage - capacity, resident = resident_of(input);
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP];
	/* Usage counts reservations: only what is resident past the capacity takes memory from others. */
	bool real = resident > capacity && resident - capacity > allowed(input);
	finding->severity = real ? SEVERITY_WARNING : SEVERITY_NOTICE;
	finding->owner = OWNER_ROCKSDB_BLOCK_CACHE;
	finding->excess_bytes = resident > capacity ? resident - capacity : 0;
	finding_title(finding, "RocksDB's block cache is pinned %s past its capacity of %s", units_format(a, over),
		      units_format(b, capacity));
	observe(input, resident, finding);
	explain(input, finding);
	change_for(input->snapshot, over, finding);
	return RULE_FIRED;
}
