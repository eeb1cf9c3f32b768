/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a snapshot to the books: PURE, depends on base and the nouns only.
 *
 * The order in which bytes are given away is the order of trust: what the kernel counts (mappings by address,
 * memory.stat), then what the JVM counts (NMT), then what the engine claims. Every later source only divides
 * what earlier ones left, so nothing is ever counted twice:
 *
 *   smaps anonymous = heap + code + stacks + cds + library data + [labelled JVM mappings] + pool
 *   pool            = metaspace, gc, jvm-other (by NMT where not labelled) + direct + managed-unsafe + native pool
 *   native pool     = rocksdb lines (claims, cut to what is there) + allocator-retained + native-other
 *
 * Each group closes against its own counter of memory.stat within ledger_tolerance(); what does not close
 * stays in the signed residual. Unread inputs leave lines unread: no line takes a default.
 */
#ifndef LEDGER_RECONCILE_H
#define LEDGER_RECONCILE_H

#include "bankfull/ledger.h"
#include "bankfull/snapshot.h"

void recon_run(const struct snapshot *snapshot, struct ledger *ret_ledger);

/* Anon within max(2 MiB, 0.5 %) of its counter; the kernel's flush of per-cpu counts and the time between two reads. */
uint64_t recon_group_tolerance(uint64_t counter_bytes);

/* max(1 MiB, online host CPUs x 2 x 64 pages): two per-cpu stocks of 64 pages may be in flight (mm/memcontrol.c MEMCG_CHARGE_BATCH). */
uint64_t recon_stat_tolerance(const struct snapshot *snapshot);

/* A line of RocksDB's is unread, so native-other holds its bytes; memtables that the cache is charged for have none. */
bool recon_rocksdb_is_unread(const struct snapshot *snapshot, const struct ledger *ledger);

#endif
