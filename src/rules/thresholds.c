/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/thresholds.h"

enum {
	FREEBOARD_WARNING_BP = 1000,
	FREEBOARD_CRITICAL_BP = 300,
	FREEBOARD_WARNING_MAX_BYTES = 1 << 30,
	DEMAND_OVER_BP = 0,
	PROCESS_SIZE_SLACK_BYTES = 1 << 20,
	ROCKSDB_OVER_BP = 1000,
	ROCKSDB_OVER_BYTES = 64 << 20,
};

const struct thresholds thresholds_default = {
	.freeboard_warning_bp = FREEBOARD_WARNING_BP,
	.freeboard_critical_bp = FREEBOARD_CRITICAL_BP,
	.freeboard_warning_max_bytes = FREEBOARD_WARNING_MAX_BYTES,
	.demand_over_bp = DEMAND_OVER_BP,
	.process_size_slack_bytes = PROCESS_SIZE_SLACK_BYTES,
	.rocksdb_over_bp = ROCKSDB_OVER_BP,
	.rocksdb_over_bytes = ROCKSDB_OVER_BYTES,
};

const struct threshold_info threshold_table[] = {
	{ "freeboard-low", "warning", "basis points of the limit", FREEBOARD_WARNING_BP,
	  "Flink sets 10 % of a process aside as overhead: with less room than that, the reserve for the unforeseen is being eaten" },
	{ "freeboard-low", "critical", "basis points of the limit", FREEBOARD_CRITICAL_BP,
	  "3 % of 2 GiB is 61 MiB, about one memtable of 64 MiB: the next flush cycle can end the pod" },
	{ "freeboard-low", "warning-max", "bytes", FREEBOARD_WARNING_MAX_BYTES,
	  "Flink caps its overhead at 1 GiB: a large pod with more room than that is not warned of its share" },
	{ "demand-over-limit", "over", "basis points of the limit", DEMAND_OVER_BP,
	  "the expectation has its own margin (1.1 x what is not bounded); any excess cannot fit" },
	{ "limit-below-process-size", "slack", "bytes", PROCESS_SIZE_SLACK_BYTES,
	  "rounding of Kubernetes quantities to pages; 4000m against 4G differs by 180 MiB and is far above it" },
	{ "rocksdb-over-budget", "over", "basis points of the budget", ROCKSDB_OVER_BP,
	  "usage above the cache's capacity is normal up to one arena a state; Flink's own end-to-end test allows 1.27 x its grant" },
	{ "rocksdb-over-budget", "over-bytes", "bytes", ROCKSDB_OVER_BYTES,
	  "one write buffer of 64 MiB may be in flight beside the budget without harm" },
};

const unsigned threshold_count = sizeof threshold_table / sizeof threshold_table[0];
