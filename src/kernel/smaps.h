/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/<pid>/smaps, maps and smaps_rollup (proc_pid_smaps(5)). Parsing only: reading smaps walks page
 * tables under the target's mmap_lock (6 ms a GiB of 4 KiB pages), so who reads it paces it.
 *
 * Contract of all parsers here: input need not end in NUL and is never read past `len`; unknown keys are ignored,
 * in any order of lines; MALFORMED for a known key twice in one mapping, a number that is none or passes u64 as
 * bytes, a NUL byte, a last line without its newline, a last mapping that lacks keys the first one has (cut text),
 * a part above the mapping's size (so no sum over mappings can wrap), mappings not ascending or overlapping (the
 * kernel may print a mapping twice when it grew between two reads: reading again is the cure). More than LIMIT_VMAS
 * mappings or LIMIT_SMAPS bytes is ERR_LIMIT. `ret` is untouched on failure.
 *
 * Names leave escaped (base/esc.h): they are what the process chose. A name is stored once for consecutive mappings.
 * Pss_Anon is printed by smaps_rollup only (Linux 5.14+): no kernel prints it per mapping, so a vma_set rarely has it.
 */
#ifndef KERNEL_SMAPS_H
#define KERNEL_SMAPS_H

#include "bankfull/process.h"
#include "base/buf.h"
#include "base/err.h"

/* `ret` is overwritten: an old set in it would leak. Over 1.5 GB/s (tests/bench/bench_smaps.c). */
int smaps_parse(struct str text, struct vma_set *ret, struct err *err) __attribute__((warn_unused_result));

/* maps: the headers alone, sizes and VmFlags unread. */
int maps_parse(struct str text, struct vma_set *ret, struct err *err) __attribute__((warn_unused_result));

/* The mapping's name: a view into `set`, empty for plain anonymous memory. */
struct str vma_name(const struct vma_set *set, const struct vma *vma);

/* Totals of one process: what the kernel summed. Unread where the kernel prints no such line. */
struct smaps_rollup {
	struct qty rss_bytes, pss_bytes, pss_anon_bytes, pss_file_bytes, pss_shmem_bytes;
	struct qty anonymous_bytes, lazyfree_bytes, swap_bytes, swap_pss_bytes, locked_bytes;
	struct qty anon_huge_bytes, private_hugetlb_bytes, shared_hugetlb_bytes;
};
int smaps_rollup_parse(struct str text, struct smaps_rollup *ret, struct err *err) __attribute__((warn_unused_result));

/*
 * What a capture keeps of a smaps: headers and the lines that smaps_parse() reads, but for those that are 0 in every
 * mapping and mean 0 when absent; VmFlags reduced to the flags it knows, names escaped. smaps_parse() of the result
 * gives an equal vma_set. Fails as smaps_parse() does, and with NOMEM or LIMIT of `out`, to which the text is appended.
 */
int smaps_slim(struct str text, struct buf *out, struct err *err) __attribute__((warn_unused_result));
bool smaps_format(const struct vma_set *set, struct buf *out);

#endif
