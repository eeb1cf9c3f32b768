/* SPDX-License-Identifier: Apache-2.0 */
/* What malloc keeps of what the program freed: allocator-retention's figures, for the rule that explains the rest. Internal to src/rules. */
#ifndef RULES_RETAINED_H
#define RULES_RETAINED_H

#include "rules/rules.h"

struct retained {
	uint64_t bytes;        /* kept and used by nobody */
	uint64_t in_use_bytes; /* what the program holds beside it, as far as somebody says so */
	uint64_t arenas_bytes; /* resident in malloc's arenas */
	bool is_exact;         /* malloc_info told; else it is a conclusion from the three figures */
};

/* True where malloc keeps more than the thresholds of allocator-retention allow. */
bool retained_find(const struct rule_input *input, struct retained *ret_retained);

/*
 * The three rocksdb lines as RocksDB says them, and no less than they are resident: what its caches report whole, where the
 * books take pinned bytes for reservations of the write buffer manager. They may be blocks that iterators pin.
 */
uint64_t retained_rocksdb_said(const struct rule_input *input);

#endif
