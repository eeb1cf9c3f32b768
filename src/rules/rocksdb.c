/* SPDX-License-Identifier: Apache-2.0 */
/* Rules about RocksDB and ForSt. */
#include "rules/all.h"
#include "rules/store.h"
#include "rules/text.h"

static void change_for(const struct snapshot *snapshot, struct finding *finding, int owner, uint64_t over)
{
	const struct qty *overhead = &snapshot->engine.flink.overhead_bytes;
	const struct rocksdb_claim *claim = &snapshot->engine.rocksdb;
	/* In steps of one write buffer, rounded up. */
	unsigned long long mib = (store_mib_up(over) + 63) / 64 * 64;
	if (snapshot->engine.kind == ENGINE_KAFKA_STREAMS) {
		if (owner == OWNER_ROCKSDB_TABLE_READERS) {
			finding_turn(finding, KNOB_ROCKSDB_CACHE, TURN_SET);
			finding_change(
				finding,
				"in the RocksDBConfigSetter call setCacheIndexAndFilterBlocks(true), so that index and filters live inside the shared cache");
		} else if (claim->sharing == ROCKSDB_PER_STORE || !qty_known(claim->cache_capacity_bytes)) {
			finding_turn(finding, KNOB_ROCKSDB_CACHE, TURN_SET);
			finding_change(
				finding,
				"set a RocksDBConfigSetter that gives all stores one LRUCache and one WriteBufferManager charged to it: today each store has its own");
		} else if (claim->cache_capacity_bytes.bytes / 2 >= mib * ((uint64_t)1 << 20)) {
			finding_turn(finding, KNOB_ROCKSDB_CACHE, TURN_DOWN);
			finding_change(
				finding,
				"in the RocksDBConfigSetter lower the shared cache by %llu MiB, so that cache and what comes on top fit the budget",
				mib);
		} else { /* less than half a cache would thrash: the room must come from the limit */
			finding_turn(finding, KNOB_LIMIT, TURN_UP);
			finding_change(
				finding,
				"raise the container's memory limit by %llu MiB: the shared cache is too small to give that much",
				mib);
		}
		return;
	}
	finding_turn(finding, KNOB_OVERHEAD, TURN_UP);
	finding_turn(finding, KNOB_PROCESS_SIZE, TURN_UP);
	finding_turn(finding, KNOB_LIMIT, TURN_UP);
	/* Overhead is a share between min and max: only both set to one figure give it. Process size and limit pay, not the heap. */
	if (qty_known(*overhead))
		finding_change(
			finding,
			"give the excess a budget: set taskmanager.memory.jvm-overhead.min and .max both to %llum (%llum more than now), and raise taskmanager.memory.process.size and the container's limit by the same %llum",
			store_mib_up(overhead->bytes) + mib, mib, mib);
	else
		finding_change(
			finding,
			"give the excess a budget: set taskmanager.memory.jvm-overhead.min and .max both to what overhead is now and %llum more, and raise taskmanager.memory.process.size and the container's limit by the same %llum",
			mib, mib);
}

/* Lines that are unread could lift the sum past its budget: name their metrics. Memtables in the cache are in its line. */
static bool name_unread(const struct rule_input *input, struct finding *finding)
{
	static const char *const metrics[] = { "block-cache-usage", "size-all-mem-tables",
					       "estimate-table-readers-mem" };
	for (int owner = OWNER_ROCKSDB_BLOCK_CACHE; owner <= OWNER_ROCKSDB_TABLE_READERS; owner++)
		if (store_line_unread(input, (enum owner)owner))
			finding_missing(finding, "%s: the metric %s", owner_table[owner].name,
					metrics[owner - OWNER_ROCKSDB_BLOCK_CACHE]);
	return finding->n_missing > 0;
}

enum rule_answer rule_rocksdb_over_budget(const struct rule_input *input, struct finding *finding)
{
	const struct snapshot *snapshot = input->snapshot;
	const struct ledger *ledger = input->ledger;
	const struct rocksdb_claim *claim = &snapshot->engine.rocksdb;
	if (!store_in_use(ledger))
		return RULE_SILENT;
	bool all;
	struct qty resident = store_resident(input, &all);
	const struct limit *bound = &ledger->lines[OWNER_ROCKSDB_BLOCK_CACHE].bound;
	if (!qty_known(resident)) {
		const struct gap *gap = snapshot_gap(snapshot, "http/metrics.0");
		if (!gap)
			gap = snapshot_gap(snapshot, "http/metrics");
		finding_missing(
			finding,
			"RocksDB metrics (block-cache-usage, size-all-mem-tables, estimate-table-readers-mem)%s%s",
			gap ? ": " : "", gap ? gap->reason : "");
	}
	if (bound->kind != LIMIT_SET)
		finding_missing(finding, "RocksDB's budget: %s",
				snapshot->engine.kind == ENGINE_KAFKA_STREAMS ? "number of stores"
				: snapshot->engine.kind == ENGINE_FLINK_TASKMANAGER &&
						snapshot->engine.backend == BACKEND_UNKNOWN
					? "the state backend (state.backend.type, before 1.20 state.backend)"
					: "managed memory, or a fixed size");
	if (finding->n_missing)
		return RULE_INCONCLUSIVE;
	uint64_t over_by =
		judged_both(input, T_ROCKSDB_OVER_BUDGET_OVER, T_ROCKSDB_OVER_BUDGET_OVER_BYTES, bound->bytes);
	if (resident.bytes <= bound->bytes || resident.bytes - bound->bytes <= over_by)
		return !all && name_unread(input, finding) ? RULE_INCONCLUSIVE : RULE_SILENT;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], c[UNITS_TEXT_CAP];
	finding->owner = store_largest_line(ledger);
	finding->severity = SEVERITY_WARNING;
	finding->excess_bytes = resident.bytes - bound->bytes;
	finding_title(finding, "RocksDB holds %s against a budget of %s", units_format(a, resident.bytes),
		      units_format(b, bound->bytes));
	finding_observation(finding, "RocksDB holds %s, %s more than its budget.", units_format(a, resident.bytes),
			    units_format(c, resident.bytes - bound->bytes));
	for (int owner = OWNER_ROCKSDB_BLOCK_CACHE; owner <= OWNER_ROCKSDB_TABLE_READERS; owner++)
		if (ledger->listed[owner] && qty_known(ledger->lines[owner].bytes))
			finding_observation(finding, "%s %s.", owner_table[owner].name,
					    units_format(a, ledger->lines[owner].bytes.bytes));
	if (claim->largest_store[0])
		finding_observation(finding, "Largest store: %s.", claim->largest_store);
	finding_cause(
		finding,
		"blocks pinned by iterators or by L0 index and filters: block-cache-pinned-usage is then close to usage");
	finding_cause(
		finding,
		"memtables past their share because flushes cannot keep up: size-all-mem-tables is then above cur-size-all-mem-tables, or mem-table-flush-pending is 1");
	finding_cause(
		finding,
		"many states, each with its own arena: the excess is then about the number of states times the arena block");
	finding_cause(finding, "index and filters outside the cache: estimate-table-readers-mem is then large");
	finding_setting(finding, snapshot, "taskmanager.memory.managed.size");
	finding_setting(finding, snapshot, "state.backend.rocksdb.memory.managed");
	finding_setting(finding, snapshot, "state.backend.rocksdb.memory.fixed-per-slot");
	finding_setting(finding, snapshot, "state.backend.rocksdb.memory.write-buffer-ratio");
	finding_bytes(finding, "rocksdb_resident_bytes", resident.bytes);
	finding_bytes(finding, "budget_bytes", bound->bytes);
	if (qty_known(claim->cache_usage_bytes))
		finding_bytes(finding, "block_cache_usage_bytes", claim->cache_usage_bytes.bytes);
	if (qty_known(claim->cache_pinned_bytes))
		finding_bytes(finding, "block_cache_pinned_bytes", claim->cache_pinned_bytes.bytes);
	if (!claim->n_caches_certain)
		finding_missing(finding,
				"the exact number of block caches: no label names the slot, so usage is an estimate");
	change_for(snapshot, finding, finding->owner, resident.bytes - bound->bytes);
	if (snapshot->engine.kind == ENGINE_KAFKA_STREAMS)
		finding_validate(
			finding,
			"steady: the three rocksdb lines together stay below their budget through a full day's peak");
	else
		finding_validate(
			finding,
			"steady: the three rocksdb lines together stay below their budget and what was added to overhead, through a full day's peak");
	finding_validate(
		finding,
		"restore: the same while a restore or rescale runs, when iterators and write batches are largest");
	return RULE_FIRED;
}
