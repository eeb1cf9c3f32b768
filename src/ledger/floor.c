/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernel cannot reclaim, and the room above it.
 *
 *   D                = file - shmem - active_file - inactive_file
 *   unevictable_file = max(0, D)
 *   lazyfree         = min(LazyFree of a scan at most 60 s old, max(0, -D)): MADV_FREE moves anon pages to the
 *                      file LRU, where they can be dropped
 *   floor            = anon - lazyfree + shmem + kernel - slab_reclaimable + sock + unevictable_file (+ hugetlb, where charged)
 *
 * mlocked anon is in `unevictable` too: adding that would count it twice. thp-unmapped is reclaimed before any
 * OOM. Swap is never subtracted. Page cache is not in it: memory.current at the limit with a low floor is healthy.
 */
#include "ledger/floor.h"

#include "ledger/parts.h"

enum { LAZYFREE_MAX_AGE_MS = 60 * 1000 };

struct qty floor_of_stat(const struct cgroup_stat *stat, uint64_t lazyfree)
{
	struct qty listed = qty_add(stat->shmem_bytes, qty_add(stat->active_file_bytes, stat->inactive_file_bytes));
	struct signed_qty difference = signed_difference(stat->file_bytes, listed);
	if (!difference.known)
		return (struct qty){ 0 };
	int64_t d = difference.bytes;
	uint64_t unevictable_file = d > 0 ? (uint64_t)d : 0;
	uint64_t lazy_on_lru = d < 0 ? (uint64_t)0 - (uint64_t)d : 0;
	if (lazyfree > lazy_on_lru)
		lazyfree = lazy_on_lru;
	struct qty floor = qty_sub(stat->anon_bytes, qty_of(lazyfree, QTY_MEASURED));
	floor = qty_add(floor, stat->shmem_bytes);
	/* Not told apart, all of the kernel's memory counts as held: the floor is then too high rather than too low. */
	struct qty reclaimable =
		qty_known(stat->slab_reclaimable_bytes) ? stat->slab_reclaimable_bytes : qty_of(0, QTY_INFERRED);
	floor = qty_add(floor, qty_sub(kernel_charged(stat), reclaimable));
	floor = qty_add(floor, stat->sock_bytes);
	if (qty_known(stat->hugetlb_bytes)) /* charged where memory.stat has it, and never reclaimed */
		floor = qty_add(floor, stat->hugetlb_bytes);
	return qty_add(floor, qty_of(unevictable_file, QTY_MEASURED));
}

static struct qty floor_of_cgroup(const struct snapshot *snapshot, const struct vma_split *split)
{
	bool recent = snapshot->vmas_read && snapshot->age_ms <= LAZYFREE_MAX_AGE_MS;
	return floor_of_stat(&snapshot->cgroup.stat, recent ? split->lazyfree_bytes : 0);
}

/* Without a cgroup: this process alone, so a lower bound of the container's floor. */
static struct qty floor_of_process(const struct snapshot *snapshot, const struct vma_split *split)
{
	const struct process_status *status = &snapshot->status;
	struct qty sum = snapshot->vmas_read
				 ? qty_sub(qty_measured(split->total_anon_bytes), qty_measured(split->lazyfree_bytes))
			 : qty_known(snapshot->rollup_anon_bytes) ? snapshot->rollup_anon_bytes
								  : status->rss_anon_bytes;
	uint64_t stacks = 0;
	if (!qty_known(sum))
		return sum;
	const struct qty shmem = qty_known(snapshot->memfd_heap_bytes)
					 ? qty_add(snapshot->memfd_heap_bytes, qty_measured(split->shmem_pss_bytes))
					 : qty_of(qty_or(status->rss_shmem_bytes, 0), QTY_INFERRED);
	sum = qty_add(sum, shmem);
	sum = qty_add(sum, qty_of(qty_or(status->vm_pte_bytes, 0), QTY_INFERRED));
	if (status->n_threads.known &&
	    __builtin_mul_overflow(status->n_threads.n, (uint64_t)KERNEL_STACK_BYTES, &stacks))
		return (struct qty){ 0 };
	sum = qty_add(sum, qty_of(stacks, QTY_INFERRED));
	return sum;
}

static struct qty limit_qty(struct limit limit)
{
	return limit.kind == LIMIT_SET ? qty_measured(limit.bytes) : (struct qty){ 0 };
}

/*
 * min(swap.max - swap.current, SwapFree of the host). Where SwapFree was not read, swap.max alone is an upper bound,
 * and without a swap.max nothing is known.
 */
static struct qty swap_room(const struct cgroup_memory *cg, struct qty host_free)
{
	struct qty room = { 0 };
	if (cg->swap_max.kind == LIMIT_NONE)
		return host_free;
	if (cg->swap_max.kind == LIMIT_SET)
		room = qty_sub(qty_measured(cg->swap_max.bytes), cg->swap_current_bytes);
	return qty_known(host_free) ? qty_min(room, host_free) : room;
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
	ledger->freeboard_bytes = signed_difference(limit_qty(ledger->limit), ledger->floor_bytes);
	if (ledger->freeboard_bytes.known)
		ledger->freeboard_level = level;
	/* The pod's limit leaves an upper bound only: of its other containers not all need be in sight. */
	struct qty pod_floor =
		qty_add(ledger->floor_bytes, qty_of(qty_or(snapshot->pod_others_bytes, 0), QTY_INFERRED));
	struct signed_qty room = signed_difference(limit_qty(snapshot->pod_limit), pod_floor);
	if (room.known && (!ledger->freeboard_bytes.known || room.bytes < ledger->freeboard_bytes.bytes)) {
		ledger->freeboard_bytes = room;
		ledger->freeboard_level = FREEBOARD_POD;
	}
	ledger->throttle_room_bytes = signed_difference(limit_qty(cg->high), cg->current_bytes);
	ledger->swap_room_bytes = swap_room(cg, snapshot->host_swap_free_bytes);
}
