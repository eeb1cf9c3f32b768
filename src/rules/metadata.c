/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocksdb-metadata-thrash: index and filter blocks do not fit the block cache.
 *
 * With cache_index_and_filter_blocks, as Flink sets it for managed memory (RocksDBResourceContainer), they compete with
 * data for the cache. Each read needs one of each, so where they are evicted every read costs two reads of files more,
 * and index blocks of 64 MiB files are megabytes each.
 */
#include <stdio.h>

#include "rules/all.h"
#include "rules/growing.h"
#include "rules/text.h"

static bool cache_is_full(const struct rule_input *input)
{
	const struct rocksdb_claim *claim = &input->snapshot->engine.rocksdb;
	return qty_known(claim->cache_usage_bytes) && qty_known(claim->cache_capacity_bytes) &&
	       claim->cache_usage_bytes.bytes >
		       judged_share(input, T_ROCKSDB_METADATA_THRASH_FULL, claim->cache_capacity_bytes.bytes);
}

/* Kafka Streams says how often index and filter are found. Of Flink's look-ups only the sum is known. */
static bool is_missing_metadata(const struct rule_input *input, uint64_t data)
{
	const struct rocksdb_claim *claim = &input->snapshot->engine.rocksdb;
	const struct count *misses = &input->history->cache_miss_bp;
	if (claim->metadata_hit_bp.known)
		return claim->metadata_hit_bp.n < judged_level(input, T_ROCKSDB_METADATA_THRASH_HITS);
	return misses->known && misses->n > judged_level(input, T_ROCKSDB_METADATA_THRASH_MISSES) &&
	       data > sat_mul(claim->cache_capacity_bytes.bytes, judged_level(input, T_ROCKSDB_METADATA_THRASH_DATA));
}

static bool missing_inputs(const struct rule_input *input, const struct qty *data, struct finding *finding)
{
	const struct rocksdb_claim *claim = &input->snapshot->engine.rocksdb;
	if (claim->metadata_hit_bp.known)
		return false;
	if (input->snapshot->engine.kind == ENGINE_KAFKA_STREAMS)
		finding_missing(
			finding,
			"block-cache-index-hit-ratio and block-cache-filter-hit-ratio (metrics.recording.level: DEBUG)");
	else if (!claim->cache_hits.known || !claim->cache_misses.known)
		finding_missing(
			finding,
			"the tickers block-cache-hit and block-cache-miss; up to Flink 2.3 each restart leaks with any ticker on (FLINK-39923)");
	else if (!input->history->cache_miss_bp.known)
		finding_missing(finding, "look-ups over a minute: none yet, or too few to be a ratio");
	if (!qty_known(*data))
		finding_missing(finding, "the size of the files: total-sst-files-size, or estimate-live-data-size");
	return finding->n_missing > 0;
}

static void tell(const struct rule_input *input, const struct qty *data, struct finding *finding)
{
	const struct rocksdb_claim *claim = &input->snapshot->engine.rocksdb;
	char a[UNITS_TEXT_CAP], b[UNITS_TEXT_CAP], share[THRESHOLD_TEXT_CAP];
	(void)units_format(a, claim->cache_capacity_bytes.bytes);
	finding_title(finding, "RocksDB's block cache of %s is too small for index and filter blocks", a);
	finding_observation(finding, "The cache is full: %s of %s.", units_format(b, claim->cache_usage_bytes.bytes),
			    a);
	if (claim->metadata_hit_bp.known) {
		finding_observation(finding, "Of the look-ups of index or filter, %s find it there.",
				    thresholds_format(share, THRESHOLD_SHARE, claim->metadata_hit_bp.n));
		finding_bytes(finding, "metadata_hit_bp", claim->metadata_hit_bp.n);
	} else {
		finding_observation(finding, "In the last minute %s of all look-ups missed it.",
				    thresholds_format(share, THRESHOLD_SHARE, input->history->cache_miss_bp.n));
		finding_bytes(finding, "cache_miss_bp", input->history->cache_miss_bp.n);
	}
	if (qty_known(*data)) {
		finding_observation(finding, "The files take %s, and 1 to 2 %% of that is index and filter.",
				    units_format(b, data->bytes));
		finding_bytes(finding, "files_bytes", data->bytes);
	}
	finding_bytes(finding, "cache_usage_bytes", claim->cache_usage_bytes.bytes);
	finding_bytes(finding, "cache_capacity_bytes", claim->cache_capacity_bytes.bytes);
	if (input->history->context.busy_bp.known)
		finding_bytes(finding, "busiest_task_bp", input->history->context.busy_bp.n);
}

enum rule_answer rule_rocksdb_metadata_thrash(const struct rule_input *input, struct finding *finding)
{
	const struct engine_state *engine = &input->snapshot->engine;
	const struct rocksdb_claim *claim = &engine->rocksdb;
	struct qty data = qty_known(claim->sst_bytes) ? claim->sst_bytes : claim->live_data_bytes;
	if (!input->history || !cache_is_full(input))
		return RULE_SILENT;
	if (missing_inputs(input, &data, finding))
		return RULE_INCONCLUSIVE;
	if (!is_missing_metadata(input, qty_or(data, 0)))
		return RULE_SILENT;
	/* A cache that fills after a start or restore misses all the time. */
	if (growing_waits(input, THRESHOLD_COUNT, -1, finding))
		return RULE_INCONCLUSIVE;
	finding->severity = SEVERITY_WARNING;
	finding->owner = OWNER_ROCKSDB_BLOCK_CACHE;
	tell(input, &data, finding);
	finding_cause(
		finding,
		"index and filter of many large files: they are evicted by data and read again with each look-up");
	finding_cause(
		finding,
		"reads spread over far more data than fits any cache: then index and filter hit, and only data misses");
	finding_cause(finding, "memtables take the cache: then size-all-mem-tables is about half of its capacity");
	finding_turn(finding, KNOB_ROCKSDB_CACHE, TURN_SET);
	if (engine->kind == ENGINE_KAFKA_STREAMS)
		finding_change(
			finding,
			"in the RocksDBConfigSetter partition them: setIndexType(kTwoLevelIndexSearch), setPartitionFilters(true) and setPinTopLevelIndexAndFilter(true), so that only the parts in use are cached");
	else
		finding_change(
			finding,
			"set state.backend.%s.memory.partitioned-index-filters: true and restart: only the parts in use are then cached, and the top level stays",
			engine->backend == BACKEND_FORST ? "forst" : "rocksdb");
	finding_validate(finding, "steady: under the same load fewer look-ups miss, and the busiest task is less busy");
	finding_validate(finding, "restore: after a restore from a savepoint the ratio comes back within some minutes");
	return RULE_FIRED;
}
