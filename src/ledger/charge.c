/* SPDX-License-Identifier: Apache-2.0 */
/* The sides of the books that memory.stat counts by itself: shmem, file, kernel, sock, hugetlb. */
#include <stdio.h>

#include "base/esc.h"
#include "base/str.h"
#include "base/units.h"
#include "ledger/parts.h"

static const char from_stat[] = "memory.stat";

/* Sum of those that are known; unread if none is, or past u64. */
static struct qty sum_known(const struct qty parts[], size_t n)
{
	struct qty sum = { 0 };
	for (size_t i = 0; i < n; i++) {
		if (!qty_known(parts[i]))
			continue;
		if (!qty_known(sum)) {
			sum = parts[i];
			continue;
		}
		sum = qty_add(sum, parts[i]);
		if (!qty_known(sum))
			return sum;
	}
	return sum;
}

struct qty kernel_charged(const struct cgroup_stat *stat)
{
	if (qty_known(stat->kernel_bytes))
		return stat->kernel_bytes;
	const struct qty parts[] = {
		stat->kernel_stack_bytes,     stat->pagetables_bytes,         stat->sec_pagetables_bytes,
		stat->slab_reclaimable_bytes, stat->slab_unreclaimable_bytes, stat->percpu_bytes,
		stat->vmalloc_bytes
	};
	struct qty sum = sum_known(parts, sizeof parts / sizeof parts[0]);
	return qty_known(sum) ? qty_of(sum.bytes, QTY_DERIVED) : sum;
}

enum { TOLD_MOUNTS = 2, TOLD_MOUNT_BYTES = 1 << 20, TOLD_MOUNT_CAP = 36 + 1 };

/* The largest mounts by name. What is in a mount need not be charged here: the line's bytes are not theirs. */
static void note_mounts(const struct snapshot *snapshot, struct ledger_line *line)
{
	char text[LEDGER_NOTE_CAP] = "", path[TOLD_MOUNT_CAP], size[UNITS_TEXT_CAP];
	size_t len = 0;
	for (size_t i = 0; i < snapshot->n_tmpfs && i < TOLD_MOUNTS; i++) {
		const struct tmpfs_mount *mount = &snapshot->tmpfs[i];
		if (!qty_known(mount->used_bytes) || mount->used_bytes.bytes < TOLD_MOUNT_BYTES)
			break;
		int n = snprintf(text + len, sizeof text - len, "%s%s %s", i ? ", " : "",
				 esc_copy(path, sizeof path, str_of(mount->path)),
				 units_format(size, mount->used_bytes.bytes));
		len += n > 0 ? (size_t)n : 0;
	}
	if (len)
		line_note(line, "in the mounts, whoever was charged: %s", text);
}

static void shmem_lines(const struct snapshot *snapshot, const struct vma_split *split, struct ledger *ledger)
{
	struct qty counter = snapshot->cgroup.stat.shmem_bytes;
	struct qty heap = snapshot->memfd_heap_bytes;
	uint64_t left = qty_or(counter, UINT64_MAX);
	if (qty_known(heap)) {
		struct ledger_line *line = line_put(ledger, OWNER_ZGC_HEAP, heap, "fstat of memfd:java_heap");
		if (heap.bytes > left) {
			/* A heap in hugetlb pages is not charged to shmem. */
			line->bytes = qty_of(left, QTY_DERIVED);
			line_note(line, "heap file larger than memory.stat shmem: the rest is not charged here");
		}
		if (split->heap_shmem_rss_bytes)
			line_note(line, "ZGC: this is the Java heap, charged at its committed size");
		left -= line->bytes.bytes;
	}
	if (snapshot->vmas_read && split->shmem_rss_bytes) {
		uint64_t maps = split->shmem_pss_bytes < left ? split->shmem_pss_bytes : left;
		(void)line_put(ledger, OWNER_SHARED_MAPS, qty_of(maps, QTY_DERIVED), "smaps Pss of shared mappings");
		left -= maps;
	}
	if (qty_known(counter)) {
		struct ledger_line *line =
			line_put(ledger, OWNER_TMPFS, qty_of(left, snapshot->vmas_read ? QTY_DERIVED : QTY_INFERRED),
				 "memory.stat shmem, less the above");
		if (!snapshot->vmas_read)
			line_note(line, "shared mappings are inside: smaps unread");
		note_mounts(snapshot, line);
	} else {
		struct ledger_line *line = line_put(ledger, OWNER_TMPFS, (struct qty){ 0 }, from_stat);
		line_note(line, "needs the container's cgroup");
	}
}

static void file_lines(const struct snapshot *snapshot, const struct vma_split *split, struct ledger *ledger)
{
	const struct cgroup_stat *stat = &snapshot->cgroup.stat;
	struct qty file = qty_sub(stat->file_bytes, stat->shmem_bytes);
	if (!qty_known(file)) {
		struct qty mapped =
			snapshot->vmas_read ? qty_of(split->file_pss_bytes, QTY_DERIVED) : (struct qty){ 0 };
		struct ledger_line *line = line_put(ledger, OWNER_MAPPED_FILES, mapped, "smaps Pss of mapped files");
		line_note(line, "%s",
			  qty_known(mapped) ? "mapped by this process; who is charged for it only the cgroup knows"
					    : "smaps unread");
		line = line_put(ledger, OWNER_PAGE_CACHE, (struct qty){ 0 }, from_stat);
		line_note(line, "needs the container's cgroup");
		return;
	}
	/* file_mapped counts mapped shmem too. */
	uint64_t mapped_shmem = split->shmem_rss_bytes + split->heap_shmem_rss_bytes;
	uint64_t mapped = qty_or(stat->file_mapped_bytes, 0);
	mapped = mapped > mapped_shmem ? mapped - mapped_shmem : 0;
	struct ledger_line *line =
		line_put(ledger, OWNER_MAPPED_FILES, (struct qty){ 0 }, "memory.stat file_mapped less mapped shmem");
	uint64_t elsewhere = split->file_rss_bytes > mapped ? split->file_rss_bytes - mapped : 0;
	if (qty_known(stat->file_mapped_bytes)) {
		if (mapped > file.bytes)
			mapped = file.bytes;
		line->bytes = qty_of(mapped, QTY_DERIVED);
		if (elsewhere >= 1 << 20)
			line_note(line, "%llu MiB more mapped, charged elsewhere",
				  (unsigned long long)(elsewhere >> 20));
	} else {
		mapped = 0;
	}
	line = line_put(ledger, OWNER_PAGE_CACHE, qty_of(file.bytes - mapped, QTY_DERIVED),
			"memory.stat file less shmem and mapped");
	line_note(line, "reclaimable");
}

static void kernel_lines(const struct snapshot *snapshot, struct ledger *ledger)
{
	const struct cgroup_stat *stat = &snapshot->cgroup.stat;
	const struct qty tables[] = { stat->pagetables_bytes, stat->sec_pagetables_bytes };
	struct qty page_tables = sum_known(tables, 2);
	const struct {
		enum owner owner;
		struct qty bytes;
	} parts[] = {
		{ OWNER_KERNEL_STACKS, stat->kernel_stack_bytes },
		{ OWNER_PAGE_TABLES, page_tables },
		{ OWNER_SLAB_RECLAIMABLE, stat->slab_reclaimable_bytes },
		{ OWNER_SLAB_UNRECLAIMABLE, stat->slab_unreclaimable_bytes },
		{ OWNER_PERCPU, stat->percpu_bytes },
		{ OWNER_VMALLOC, stat->vmalloc_bytes },
	};
	enum { PARTS = sizeof parts / sizeof parts[0] };
	struct qty bytes[PARTS];
	bool any = false;
	for (size_t i = 0; i < PARTS; i++) {
		struct ledger_line *line = line_put(ledger, parts[i].owner, parts[i].bytes, from_stat);
		if (!qty_known(parts[i].bytes))
			line_note(line, qty_known(stat->anon_bytes) ? "not counted by this kernel"
								    : "needs the container's cgroup");
		bytes[i] = parts[i].bytes;
		any |= qty_known(bytes[i]);
	}
	/* Without a cgroup two of them can still be told for this process alone; the floor counts the same. */
	if (!qty_known(stat->anon_bytes) && snapshot->status.n_threads.known &&
	    snapshot->status.n_threads.n <= UINT64_MAX / KERNEL_STACK_BYTES) {
		struct ledger_line *line =
			line_put(ledger, OWNER_KERNEL_STACKS,
				 qty_of(snapshot->status.n_threads.n * KERNEL_STACK_BYTES, QTY_INFERRED),
				 "status Threads x 16 KiB");
		line_note(line, "of this process alone");
	}
	if (!qty_known(stat->anon_bytes) && qty_known(snapshot->status.vm_pte_bytes)) {
		struct ledger_line *line =
			line_put(ledger, OWNER_PAGE_TABLES, snapshot->status.vm_pte_bytes, "status VmPTE");
		line_note(line, "of this process alone");
	}
	struct ledger_line *line =
		line_put(ledger, OWNER_KERNEL_OTHER, (struct qty){ 0 }, "memory.stat kernel less its parts");
	if (qty_known(stat->kernel_bytes))
		line->bytes = any ? qty_sub(stat->kernel_bytes, sum_known(bytes, PARTS)) : stat->kernel_bytes;
	else
		line_note(line, qty_known(stat->anon_bytes) ? "no `kernel` key before Linux 5.18"
							    : "needs the container's cgroup");
}

void charge_lines(const struct snapshot *snapshot, const struct vma_split *split, struct ledger *ledger)
{
	const struct cgroup_stat *stat = &snapshot->cgroup.stat;
	shmem_lines(snapshot, split, ledger);
	file_lines(snapshot, split, ledger);
	kernel_lines(snapshot, ledger);
	struct ledger_line *line = line_put(ledger, OWNER_SOCKETS, stat->sock_bytes, from_stat);
	if (!qty_known(stat->sock_bytes))
		line_note(line, "needs the container's cgroup");
	if (qty_known(stat->hugetlb_bytes)) {
		(void)line_put(ledger, OWNER_HUGETLB, stat->hugetlb_bytes, from_stat);
	} else if (split->hugetlb_bytes) {
		line = line_put(ledger, OWNER_HUGETLB, (struct qty){ 0 }, from_stat);
		line_note(line, "%llu MiB of hugetlb pages mapped, not charged to this cgroup",
			  (unsigned long long)(split->hugetlb_bytes >> 20));
	}
}
