/* SPDX-License-Identifier: Apache-2.0 */
/* What several rules ask of RocksDB and ForSt. Internal to src/rules. */
#ifndef RULES_STORE_H
#define RULES_STORE_H

#include "rules/judged.h"

enum { STORE_MIB = 1 << 20 };

/* Something here is RocksDB or ForSt: the ledger has their lines, read or not. */
bool store_in_use(const struct ledger *ledger);

/* One of the three lines is known to lie elsewhere than where it is looked for: memtables charged to the cache. */
bool store_line_unread(const struct rule_input *input, enum owner owner);

/* The one of the three lines that holds most; the block cache where none is read. */
int store_largest_line(const struct ledger *ledger);

/* Sum of the lines that were read, unread without any; `ret_all` tells whether none is missing. */
struct qty store_resident(const struct rule_input *input, bool *ret_all);

/* "state.backend.rocksdb" or "state.backend.forst": how the options of this backend begin. */
const char *store_options(const struct engine_state *engine);

/* The setting of the backend's option as text, or NULL where it was not read. */
const char *store_setting(const struct snapshot *snapshot, const char *option);

/* Adds to the finding the backend's option, if it was read. */
void store_show(struct finding *finding, const struct snapshot *snapshot, const char *option);

/*
 * The block that a column family's first write allocates: an eighth of the write buffer, in pages of 4 KiB. RocksDB
 * took at most 1 MiB from version 8 on (column_family.cc), which Flink 2's frocksdb and ForSt have.
 */
uint64_t store_arena_declared(uint64_t write_buffer_bytes);
uint64_t store_arena_real(const struct engine_state *engine, uint64_t write_buffer_bytes);

/* The write buffer of a column family as it was read, else Flink's default of 64 MiB. */
uint64_t store_write_buffer(const struct engine_state *engine);

/* a * b / c without overflow, or the end of u64. */
uint64_t store_ratio(uint64_t a, uint64_t b, uint64_t c);

/* MiB, rounded up. */
unsigned long long store_mib_up(uint64_t bytes);

#endif
