/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/<pid>/pagemap (Documentation/admin-guide/mm/pagemap.rst): which pages of a range are resident. For
 * mappings that hold several owners (heap and metaspace merged into one VMA) it splits what smaps sums up. Needs
 * what smaps needs (same uid and gid); page frame numbers are hidden from us and not used.
 * Cost: 8 bytes a page through the kernel's walk, about 2 ms a GiB of 4 KiB pages.
 */
#ifndef KERNEL_PAGEMAP_H
#define KERNEL_PAGEMAP_H

#include "bankfull/process.h"
#include "base/buf.h"
#include "base/err.h"

/*
 * By the bits of an entry: 63 present, 62 swapped, 61 page of a file or shared memory, 56 mapped by this process alone
 * (Linux 4.2+). Resident is what smaps calls Anonymous, as long as nothing is shared with a forked child. Unsure is the
 * rest of what is present and no file's: the zero page, which no Rss counts and nobody is charged for, or such shared
 * pages.
 */
struct pagemap_count {
	uint64_t resident_bytes;
	uint64_t unsure_bytes;
	uint64_t file_bytes;
	uint64_t swapped_bytes;
};

/* Not more than this many bytes of address space in one call (ERR_LIMIT): 16 Mi pages of 4 KiB, 128 MiB of entries. */
#define PAGEMAP_RANGE_MAX (UINT64_C(64) << 30)

/* The pagemap of a process. DENIED without ptrace-read access, GONE, UNSUPPORTED without CONFIG_PROC_PAGE_MONITOR. */
int pagemap_open(int pid_dirfd, int *ret_fd, struct err *err) __attribute__((warn_unused_result));

/*
 * Count [start, end), widened to whole pages. Addresses past the end of user space or in no mapping count
 * nothing. Reads in chunks of 32 KiB. ERR_GONE when the process ended (its pagemap reads as empty then).
 */
int pagemap_count(int fd, struct addr_range range, uint32_t page_bytes, struct pagemap_count *ret, struct err *err)
	__attribute__((warn_unused_result));

/* Text for captures, a line each: "7f0000000000-7f0000200000 65536\n" (hex addresses, decimal resident bytes). */
bool pagemap_format(const struct resident_range *ranges, size_t n, struct buf *out);

/* At most `cap` ranges (ERR_LIMIT), ascending, not overlapping, resident <= size (MALFORMED). `ret` untouched then. */
int pagemap_parse(struct str text, struct resident_range *ret_ranges, size_t cap, size_t *ret_n, struct err *err)
	__attribute__((warn_unused_result));

#endif
