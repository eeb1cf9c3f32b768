/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of recon_run(), one file a side of the books. Internal to src/ledger. */
#ifndef LEDGER_PARTS_H
#define LEDGER_PARTS_H

#include "bankfull/ledger.h"
#include "bankfull/snapshot.h"
#include "ledger/vmasplit.h"

/* THREAD_SIZE of x86-64 and arm64 with 4 KiB pages (arch/.../include/asm/page_64_types.h, memory.h). */
enum { KERNEL_STACK_BYTES = 16 * 1024 };

/* Enter one line. `source` and `note` are copied. Returns it, for budget, bound and claim. */
struct ledger_line *line_put(struct ledger *ledger, enum owner owner, struct qty bytes, const char *source);
void line_note(struct ledger_line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The anonymous side: the JVM's mappings, NMT, claims (anon.c). */
void anon_lines(const struct snapshot *snapshot, const struct vma_split *split, struct ledger *ledger);

/* What of the block caches' usage is reserved for memtables and holds nothing (stores.c). */
uint64_t store_reserved_bytes(const struct engine_state *engine, const char **ret_source);

/* RocksDB lives on managed memory unless a size was fixed for it or sharing was switched off: then nothing pays for it (stores.c). */
bool store_managed_pays(const struct engine_state *engine);

/* Flink says that no store is open: then unread lines of RocksDB are 0, and what is left over is not theirs (stores.c). */
bool store_none_is_open(const struct engine_state *engine);

/* shmem, file, kernel, sock, hugetlb (charge.c). */
void charge_lines(const struct snapshot *snapshot, const struct vma_split *split, struct ledger *ledger);

/* floor, freeboard, throttle and swap room (floor.c). */
void floor_figures(const struct snapshot *snapshot, const struct vma_split *split, struct ledger *ledger);

/* budgets and bounds of the lines, expected and legal demand (demand.c). */
void budget_figures(const struct snapshot *snapshot, struct ledger *ledger);
void demand_figures(const struct snapshot *snapshot, struct ledger *ledger);

/* Sum of the known lines of the owners in `set` (bits), as weak as the weakest; unread if none is known or the sum passes u64. */
struct qty lines_sum(const struct ledger *ledger, uint64_t set);

/* a - b with its sign; unknown if either is unread or i64 cannot hold it. */
struct signed_qty signed_difference(struct qty a, struct qty b);

/*
 * All kernel memory: the `kernel` key (measured), or before Linux 5.18 the sum of the parts that have keys of their own
 * (derived: a lower bound, since some kernel memory is in no counter there).
 */
struct qty kernel_charged(const struct cgroup_stat *stat);

#endif
