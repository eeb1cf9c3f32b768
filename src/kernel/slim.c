/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture keeps of smaps, and the kernel's own totals. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/limits.h"
#include "kernel/keys.h"
#include "kernel/smaps.h"

enum { NAME_COLUMN = 73, HEADER_ROOM = 128 };

static bool format_header(const struct vma_set *set, const struct vma *vma, struct buf *out)
{
	char line[HEADER_ROOM];
	/* The device is of no use to us. */
	int len = snprintf(line, sizeof line, "%08" PRIx64 "-%08" PRIx64 " %c%c%c%c %08" PRIx64 " 00:00 %" PRIu64 " ",
			   vma->start, vma->end, vma->flags & VMA_READ ? 'r' : '-', vma->flags & VMA_WRITE ? 'w' : '-',
			   vma->flags & VMA_EXEC ? 'x' : '-', vma->flags & VMA_SHARED ? 's' : 'p', vma->offset,
			   vma->inode);
	if (vma->name_len)
		while (len < NAME_COLUMN)
			line[len++] = ' ';
	return buf_add(out, (struct str){ line, (size_t)len }) && buf_add(out, vma_name(set, vma)) &&
	       buf_putc(out, '\n');
}

static bool format_kb(struct buf *out, const char *key, uint64_t bytes)
{
	return buf_printf(out, "%-16s%8" PRIu64 " kB\n", key, bytes / 1024);
}

static bool format_flags(const struct vma *vma, struct buf *out)
{
	return buf_puts(out, "VmFlags: ") && (!(vma->flags & VMA_NOHUGEPAGE) || buf_puts(out, "nh ")) &&
	       (!(vma->flags & VMA_HUGEPAGE) || buf_puts(out, "hg ")) &&
	       (!(vma->flags & VMA_HUGETLB) || buf_puts(out, "ht ")) &&
	       (!(vma->flags & VMA_LOCKED) || buf_puts(out, "lo ")) &&
	       (!(vma->flags & VMA_NORESERVE) || buf_puts(out, "nr ")) &&
	       (!(vma->flags & VMA_ACCOUNT) || buf_puts(out, "ac ")) && buf_putc(out, '\n');
}

/* Numbers that nearly always are 0 in every mapping, and whose absence means 0: half of the text. */
static const size_t rare[] = { offsetof(struct vma, anon_huge_bytes), offsetof(struct vma, shared_hugetlb_bytes),
			       offsetof(struct vma, private_hugetlb_bytes), offsetof(struct vma, swap_bytes),
			       offsetof(struct vma, locked_bytes) };
static const char *const rare_keys[] = { "AnonHugePages:", "Shared_Hugetlb:", "Private_Hugetlb:", "Swap:", "Locked:" };
enum { N_RARE = sizeof rare / sizeof rare[0] };

static uint64_t rare_bytes(const struct vma *vma, size_t i)
{
	return *(const uint64_t *)((const char *)vma + rare[i]);
}

static bool format_vma(const struct vma_set *set, const struct vma *vma, unsigned in_use, struct buf *out)
{
	bool ok = format_header(set, vma, out) && format_kb(out, "Rss:", vma->rss_bytes) &&
		  format_kb(out, "Pss:", vma->pss_bytes) &&
		  (!(set->have & VMA_HAVE_PSS_ANON) || format_kb(out, "Pss_Anon:", vma->pss_anon_bytes)) &&
		  format_kb(out, "Anonymous:", vma->anonymous_bytes) &&
		  (!(set->have & VMA_HAVE_LAZYFREE) || format_kb(out, "LazyFree:", vma->lazyfree_bytes));
	for (size_t i = 0; i < N_RARE && ok; i++)
		ok = !(in_use >> i & 1) || format_kb(out, rare_keys[i], rare_bytes(vma, i));
	return ok && (!(set->have & VMA_HAVE_VMFLAGS) || format_flags(vma, out));
}

bool smaps_format(const struct vma_set *set, struct buf *out)
{
	unsigned in_use = 0;
	for (size_t v = 0; v < set->n; v++)
		for (size_t i = 0; i < N_RARE; i++)
			in_use |= (unsigned)(rare_bytes(&set->items[v], i) != 0) << i;
	for (size_t v = 0; v < set->n; v++)
		if (!format_vma(set, &set->items[v], in_use, out))
			return false;
	return true;
}

int smaps_slim(struct str text, struct buf *out, struct err *err)
{
	auto_(vma_set_done) struct vma_set set = { 0 };
	int r = smaps_parse(text, &set, err);
	if (r < 0)
		return r;
	if (!smaps_format(&set, out))
		return err_set(err, out->state == BUF_FULL ? ERR_LIMIT : ERR_NOMEM, "no room for %zu mappings", set.n);
	return 0;
}

int smaps_rollup_parse(struct str text, struct smaps_rollup *ret, struct err *err)
{
	/* In the order of fs/proc/task_mmu.c: __show_smap(). */
	static const struct key keys[] = {
		KEY("Rss", smaps_rollup, rss_bytes, KEY_KB),
		KEY("Pss", smaps_rollup, pss_bytes, KEY_KB),
		KEY("Pss_Anon", smaps_rollup, pss_anon_bytes, KEY_KB), /* Linux 5.14+ */
		KEY("Pss_File", smaps_rollup, pss_file_bytes, KEY_KB),
		KEY("Pss_Shmem", smaps_rollup, pss_shmem_bytes, KEY_KB),
		KEY("Anonymous", smaps_rollup, anonymous_bytes, KEY_KB),
		KEY("LazyFree", smaps_rollup, lazyfree_bytes, KEY_KB),
		KEY("AnonHugePages", smaps_rollup, anon_huge_bytes, KEY_KB),
		KEY("Shared_Hugetlb", smaps_rollup, shared_hugetlb_bytes, KEY_KB),
		KEY("Private_Hugetlb", smaps_rollup, private_hugetlb_bytes, KEY_KB),
		KEY("Swap", smaps_rollup, swap_bytes, KEY_KB),
		KEY("SwapPss", smaps_rollup, swap_pss_bytes, KEY_KB),
		KEY("Locked", smaps_rollup, locked_bytes, KEY_KB),
	};
	struct smaps_rollup rollup = { 0 };
	if (text.len > LIMIT_PROC_FILE)
		return err_set(err, ERR_LIMIT, "larger than %d bytes", LIMIT_PROC_FILE);
	/* The header "start-end ---p ... [rollup]" has a colon too, but no key of ours before it. */
	int r = keys_parse(text, keys, sizeof keys / sizeof keys[0], ':', &rollup, err);
	if (r < 0)
		return r;
	if (!qty_known(rollup.rss_bytes))
		return err_set(err, ERR_MALFORMED, "no line 'Rss'");
	*ret = rollup;
	return 0;
}
