/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel cannot reclaim, and the room above it.
 *
 *   D                = file - shmem - active_file - inactive_file
 *   unevictable_file = max(0, D)
 *   lazyfree         = min(LazyFree of a scan at most 60 s old, max(0, -D)): MADV_FREE moves anon pages to the
 *                      file LRU, where they can be dropped
 *   floor            = anon - lazyfree + shmem + kernel - slab_reclaimable + sock + unevictable_file
 *
 * mlocked anon is in `unevictable` too: adding that would count it twice. thp-unmapped is reclaimed before any
 * OOM. Swap is never subtracted. Page cache is not in it: memory.current at the limit with a low floor is healthy.
 */
#include "ledger/parts.h"

enum { LAZYFREE_MAX_AGE_MS = 60 * 1000, KERNEL_STACK_BYTES = 16 * 1024 };

static int64_t clamp_i64(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static struct qty floor_of_cgroup(const struct snapshot *snapshot, const struct vma_split *split)
{
	const struct cgroup_stat *stat = &snapshot->cgroup.stat;
	if (!qty_known(stat->anon_bytes) || !qty_known(stat->file_bytes) || !qty_known(stat->shmem_bytes) ||
	    !qty_known(stat->kernel_bytes) || !qty_known(stat->sock_bytes) || !qty_known(stat->active_file_bytes) ||
	    !qty_known(stat->inactive_file_bytes))
		return (struct qty){ 0 };
	int64_t d = clamp_i64(stat->file_bytes.bytes) - clamp_i64(stat->shmem_bytes.bytes) -
	            clamp_i64(stat->active_file_bytes.bytes) - clamp_i64(stat->inactive_file_bytes.bytes);
	uint64_t unevictable_file = d > 0 ? (uint64_t)d : 0;
	uint64_t lazyfree = snapshot->vmas_read && snapshot->age_ms <= LAZYFREE_MAX_AGE_MS ? split->lazyfree_bytes : 0;
	uint64_t lazy_on_lru = d < 0 ? (uint64_t)-d : 0;
	if (lazyfree > lazy_on_lru)
		lazyfree = lazy_on_lru;
	struct qty floor = qty_sub(stat->anon_bytes, qty_of(lazyfree, QTY_MEASURED));
	floor = qty_add(floor, stat->shmem_bytes);
	floor = qty_add(floor, qty_sub(stat->kernel_bytes, qty_of(qty_or(stat->slab_reclaimable_bytes, 0), QTY_MEASURED)));
	floor = qty_add(floor, stat->sock_bytes);
	return qty_add(floor, qty_of(unevictable_file, QTY_MEASURED));
}

/* Without a cgroup: this process alone, so a lower bound of the container's floor. */
static struct qty floor_of_process(const struct snapshot *snapshot, const struct vma_split *split)
{
	struct qty anon = snapshot->vmas_read ? qty_measured(split->total_anon_bytes - (split->lazyfree_bytes < split->total_anon_bytes ? split->lazyfree_bytes : 0))
	                                      : snapshot->status.rss_anon_bytes;
	if (!qty_known(anon))
		return (struct qty){ 0 };
	uint64_t bytes = anon.bytes;
	bytes += qty_known(snapshot->memfd_heap_bytes) ? snapshot->memfd_heap_bytes.bytes + split->shmem_pss_bytes
	                                               : qty_or(snapshot->status.rss_shmem_bytes, 0);
	bytes += qty_or(snapshot->status.vm_pte_bytes, 0);
	if (snapshot->status.n_threads.known)
		bytes += snapshot->status.n_threads.n * KERNEL_STACK_BYTES;
	return qty_of(bytes, QTY_INFERRED);
}

void floor_figures(const struct snapshot *snapshot, const struct vma_split *split, struct ledger *ledger)
{
	const struct cgroup_memory *cg = &snapshot->cgroup;
	ledger->limit = cg->max;
	if (ledger->limit.kind != LIMIT_SET && snapshot->told_limit.kind == LIMIT_SET) {
		ledger->limit = snapshot->told_limit;
		ledger->limit_told = true;
	}
	ledger->floor_bytes = floor_of_cgroup(snapshot, split);
	enum freeboard_level level = FREEBOARD_CONTAINER;
	if (!qty_known(ledger->floor_bytes)) {
		ledger->floor_bytes = floor_of_process(snapshot, split);
		level = FREEBOARD_PROCESSES;
	}
	if (ledger->limit.kind == LIMIT_SET && qty_known(ledger->floor_bytes)) {
		ledger->freeboard_bytes = (struct signed_qty){ clamp_i64(ledger->limit.bytes) - clamp_i64(ledger->floor_bytes.bytes), true };
		ledger->freeboard_level = level;
	}
	/* The pod's limit leaves an upper bound only: its other containers' floors are not in sight. */
	if (snapshot->pod_limit.kind == LIMIT_SET && qty_known(ledger->floor_bytes)) {
		int64_t room = clamp_i64(snapshot->pod_limit.bytes) - clamp_i64(ledger->floor_bytes.bytes);
		if (!ledger->freeboard_bytes.known || room < ledger->freeboard_bytes.bytes) {
			ledger->freeboard_bytes = (struct signed_qty){ room, true };
			ledger->freeboard_level = FREEBOARD_POD;
		}
	}
	if (cg->high.kind == LIMIT_SET && qty_known(cg->current_bytes))
		ledger->throttle_room_bytes = (struct signed_qty){ clamp_i64(cg->high.bytes) - clamp_i64(cg->current_bytes.bytes), true };
	/* swap.max alone is an upper bound: what the host has left is not known here. */
	if (cg->swap_max.kind == LIMIT_SET && qty_known(cg->swap_current_bytes))
		ledger->swap_room_bytes = qty_sub(qty_measured(cg->swap_max.bytes), cg->swap_current_bytes);
}
