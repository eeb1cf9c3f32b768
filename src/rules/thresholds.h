/* SPDX-License-Identifier: Apache-2.0 */
/* Every number a rule compares with, in one table, each with its reason. Basis points: 1/10,000. */
#ifndef RULES_THRESHOLDS_H
#define RULES_THRESHOLDS_H

#include <stdint.h>

struct thresholds {
	uint32_t freeboard_warning_bp;
	uint32_t freeboard_critical_bp;
	uint64_t freeboard_warning_max_bytes;
	uint32_t demand_over_bp;
	uint64_t process_size_slack_bytes;
	uint32_t rocksdb_over_bp;
	uint64_t rocksdb_over_bytes;
};

struct threshold_info {
	const char *rule, *name, *unit;
	uint64_t value;
	const char *reason;
};

extern const struct thresholds thresholds_default;
extern const struct threshold_info threshold_table[];
extern const unsigned threshold_count;

/* `bp` basis points of `bytes`. Divides first: bytes may be near u64's end. */
static inline uint64_t thresholds_share(uint64_t bytes, uint32_t bp)
{
	return bytes / 10000 * bp + bytes % 10000 * bp / 10000;
}

#endif
