/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/reconcile.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "ledger/parts.h"

enum { MIB = 1 << 20 };

uint64_t recon_group_tolerance(uint64_t counter_bytes)
{
	uint64_t share = counter_bytes / 200;
	return share > 2 * MIB ? share : 2 * MIB;
}

uint64_t recon_stat_tolerance(const struct snapshot *snapshot)
{
	/* No machine has more than these: a capture that says otherwise must not wrap the product. */
	enum { CPUS_MAX = 65536, PAGE_MAX = MIB };
	uint64_t page = snapshot->page_bytes == 0         ? 4096
			: snapshot->page_bytes > PAGE_MAX ? PAGE_MAX
							  : snapshot->page_bytes;
	uint64_t cpus = snapshot->host_cpus > CPUS_MAX ? CPUS_MAX : snapshot->host_cpus;
	uint64_t stocks = cpus * 2 * 64 * page;
	return stocks > MIB ? stocks : MIB;
}

struct ledger_line *line_put(struct ledger *ledger, enum owner owner, struct qty bytes, const char *source)
{
	struct ledger_line *line = &ledger->lines[owner];
	*line = (struct ledger_line){ .owner = owner, .bytes = bytes };
	str_copy(line->source, sizeof line->source, str_of(source));
	ledger->listed[owner] = true;
	return line;
}

void line_note(struct ledger_line *line, const char *format, ...)
{
	size_t used = strlen(line->note);
	if (used && used + 2 < sizeof line->note) {
		memcpy(line->note + used, "; ", 3);
		used += 2;
	}
	va_list args;
	va_start(args, format);
	(void)vsnprintf(line->note + used, sizeof line->note - used, format, args);
	va_end(args);
}

struct qty lines_sum(const struct ledger *ledger, uint64_t set)
{
	struct qty sum = { 0 };
	for (int owner = 0; owner < OWNER_COUNT; owner++) {
		if (!(set >> owner & 1) || !ledger->listed[owner] || !qty_known(ledger->lines[owner].bytes))
			continue;
		if (!qty_known(sum)) {
			sum = ledger->lines[owner].bytes;
			continue;
		}
		sum = qty_add(sum, ledger->lines[owner].bytes);
		if (!qty_known(sum)) /* past u64: going on would begin a new sum with the next line */
			return sum;
	}
	return sum;
}

struct signed_qty signed_difference(struct qty a, struct qty b)
{
	int64_t bytes;
	if (!qty_known(a) || !qty_known(b) || __builtin_sub_overflow(a.bytes, b.bytes, &bytes))
		return (struct signed_qty){ 0 };
	return (struct signed_qty){ bytes, true };
}

static uint64_t group_set(enum ledger_group group)
{
	uint64_t set = 0;
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		if (owner_table[owner].group == group)
			set |= (uint64_t)1 << owner;
	return set;
}

/* What memory.stat counts for a group. file holds shmem inside, so the file group is the rest. */
static struct qty group_counter(const struct snapshot *snapshot, const struct vma_split *split, enum ledger_group group)
{
	const struct cgroup_stat *stat = &snapshot->cgroup.stat;
	switch (group) {
	case GROUP_ANON:
		if (!qty_known(stat->anon_bytes)) /* no cgroup: the books close against the process alone */
			return snapshot->vmas_read ? qty_measured(split->total_anon_bytes) : (struct qty){ 0 };
		break;
	case GROUP_SHMEM:
		return stat->shmem_bytes;
	case GROUP_FILE:
		return qty_sub(stat->file_bytes, stat->shmem_bytes);
	case GROUP_KERNEL:
		return kernel_charged(stat);
	case GROUP_SOCK:
		return stat->sock_bytes;
	case GROUP_HUGETLB:
		return stat->hugetlb_bytes;
	case GROUP_COUNT:
		break;
	}
	/* thp-unmapped stands in the anon group: charged and on the LRU, in no type counter. */
	if (qty_known(snapshot->cgroup.stat.anon_bytes))
		return stat->anon_bytes;
	return (struct qty){ 0 };
}

/*
 * The line that takes what no other line of its group does. While it is unread the known lines are no sum of the
 * group: a part would pass for the whole. (Before Linux 5.18 kernel-other is unread, but the counter is then the sum of
 * the parts.)
 */
static bool group_is_whole(const struct ledger *ledger, enum ledger_group group, struct qty counter)
{
	static const enum owner rest[GROUP_COUNT] = {
		[GROUP_ANON] = OWNER_NATIVE_OTHER,   [GROUP_SHMEM] = OWNER_TMPFS,  [GROUP_FILE] = OWNER_PAGE_CACHE,
		[GROUP_KERNEL] = OWNER_KERNEL_OTHER, [GROUP_SOCK] = OWNER_SOCKETS, [GROUP_HUGETLB] = OWNER_HUGETLB,
	};
	if (group == GROUP_KERNEL && qty_known(counter))
		return true;
	return !ledger->listed[rest[group]] || qty_known(ledger->lines[rest[group]].bytes);
}

static void close_groups(const struct snapshot *snapshot, const struct vma_split *split, struct ledger *ledger)
{
	for (int group = 0; group < GROUP_COUNT; group++) {
		struct ledger_group_sum *sum = &ledger->groups[group];
		sum->counter_bytes = group_counter(snapshot, split, (enum ledger_group)group);
		if (group == GROUP_ANON && ledger->listed[OWNER_THP_UNMAPPED] &&
		    qty_known(ledger->lines[OWNER_THP_UNMAPPED].bytes))
			sum->counter_bytes = qty_add(sum->counter_bytes, ledger->lines[OWNER_THP_UNMAPPED].bytes);
		if (group_is_whole(ledger, (enum ledger_group)group, sum->counter_bytes))
			sum->owners_bytes = lines_sum(ledger, group_set((enum ledger_group)group));
		if (!qty_known(sum->counter_bytes) || !qty_known(sum->owners_bytes))
			continue;
		uint64_t a = sum->counter_bytes.bytes, b = sum->owners_bytes.bytes;
		sum->tolerance_bytes = recon_group_tolerance(a);
		sum->closed = (a > b ? a - b : b - a) <= sum->tolerance_bytes;
	}
}

/* current = the five LRU lists + kernel + sock (+ hugetlb) + stat-residual. anon + file + kernel + sock is not it. */
static struct qty charged_by_stat(const struct cgroup_stat *stat)
{
	struct qty sum = qty_add(stat->inactive_anon_bytes, stat->active_anon_bytes);
	sum = qty_add(sum, stat->inactive_file_bytes);
	sum = qty_add(sum, stat->active_file_bytes);
	sum = qty_add(sum, stat->unevictable_bytes);
	sum = qty_add(sum, kernel_charged(stat));
	sum = qty_add(sum, stat->sock_bytes);
	return qty_known(stat->hugetlb_bytes) ? qty_add(sum, stat->hugetlb_bytes) : sum;
}

static void residuals(const struct snapshot *snapshot, struct ledger *ledger)
{
	const struct cgroup_memory *cg = &snapshot->cgroup;
	ledger->charge_bytes = cg->current_bytes;
	ledger->stat_tolerance_bytes = recon_stat_tolerance(snapshot);
	if (qty_known(cg->stat.anon_bytes) && !qty_known(cg->stat.kernel_bytes))
		ledger->stat_tolerance_bytes *= 4; /* before Linux 5.18 some kernel memory is in no counter */
	ledger->stat_residual_bytes = signed_difference(cg->current_bytes, charged_by_stat(&cg->stat));
	struct signed_qty moved = signed_difference(cg->current_after_bytes, cg->current_bytes);
	ledger->torn = moved.known && (moved.bytes > (int64_t)ledger->stat_tolerance_bytes ||
				       moved.bytes < -(int64_t)ledger->stat_tolerance_bytes);
	for (int group = 0; group < GROUP_COUNT; group++)
		if (qty_known(ledger->groups[group].counter_bytes) && !qty_known(ledger->groups[group].owners_bytes))
			return; /* what is left would be the unread part, not a residual */
	ledger->residual_bytes = signed_difference(cg->current_bytes, lines_sum(ledger, ~(uint64_t)0));
}

void recon_run(const struct snapshot *snapshot, struct ledger *ret_ledger)
{
	struct vma_split split = { 0 };
	memset(ret_ledger, 0, sizeof *ret_ledger);
	if (snapshot->vmas_read)
		vmasplit_run(snapshot, &split);
	anon_lines(snapshot, &split, ret_ledger);
	charge_lines(snapshot, &split, ret_ledger);
	close_groups(snapshot, &split, ret_ledger);
	residuals(snapshot, ret_ledger);
	floor_figures(snapshot, &split, ret_ledger);
	budget_figures(snapshot, ret_ledger);
	demand_figures(snapshot, ret_ledger);
	for (int owner = 0; owner < OWNER_COUNT; owner++)
		ret_ledger->lines[owner].age_ms = snapshot->age_ms;
}
