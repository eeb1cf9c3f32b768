/* SPDX-License-Identifier: Apache-2.0 */
/* What the derivation of both processes shares. Internal to src/plan. */
#ifndef PLAN_DERIVE_PARTS_H
#define PLAN_DERIVE_PARTS_H

#include "plan/derive.h"

/* 0.1f, as Flink widens it. */
#define DERIVE_TENTH ((double)0.1f)

struct derive_keys;

struct deriving {
	const struct declared *declared;
	const struct derive_keys *keys;
	const char *mapped; /* an option that an older one stands in for; NULL: none */
	uint64_t mapped_bytes;
};

struct process_split {
	uint64_t flink, metaspace, overhead;
};

/* The options of one process, and its own half of the derivation. */
struct derive_keys {
	const char *process, *flink, *metaspace;
	const char *overhead_min, *overhead_max, *overhead_fraction;
	const char *part, *other_part; /* set, both: they decide; NULL: the one alone */
	const char *parts_text;
	const char *legacy_heap, *legacy_heap_mb; /* 1.20: they stand in for `mapped` */
	const char *mapped;
	int (*from_parts)(const struct deriving *d, struct flink_budget *budget, uint64_t *ret_flink, struct err *err);
	int (*from_flink)(const struct deriving *d, uint64_t flink, struct flink_budget *budget, struct err *err);
	int (*finish)(const struct deriving *d, struct derived *derived, struct err *err);
};

extern const struct derive_keys derive_taskmanager_keys, derive_jobmanager_keys;

struct range {
	uint64_t min, max;
	double fraction;
};

struct range_keys {
	const char *min, *max, *fraction;
	uint64_t min_default, max_default;
	double fraction_default;
};

/* "taskmanager.memory.flink.size (config.yaml:4)". Returns dest. */
enum { DERIVE_KEY_CAP = 144 };
const char *derive_key_text(const struct deriving *d, const char *key, char dest[DERIVE_KEY_CAP]);

bool derive_has(const struct deriving *d, const char *key);
int derive_get(const struct deriving *d, const char *key, uint64_t otherwise, uint64_t *ret_bytes, struct err *err);
int derive_add(uint64_t *sum, uint64_t more, struct err *err);
int derive_range(const struct deriving *d, const struct range_keys *keys, struct range *ret_range, struct err *err);

/* The fraction of `of`, capped; inverse: of what `of` is the rest of. */
int derive_share(const struct range *range, uint64_t of, bool inverse, uint64_t *ret_bytes, struct err *err);

/* Metaspace and overhead outside of what Flink shares out. */
int derive_outside(const struct deriving *d, struct process_split *split, struct err *err);

#endif
