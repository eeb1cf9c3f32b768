/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/pagemap.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

enum { ENTRIES_A_READ = 4096 }; /* 32 KiB: 16 MiB of address space, eight of the kernel's own steps */

enum { BIT_EXCLUSIVE = 56, BIT_FILE_OR_SHARED = 61, BIT_SWAPPED = 62, BIT_PRESENT = 63 };

int pagemap_open(int pid_dirfd, int *ret_fd, struct err *err)
{
	int fd = openat(pid_dirfd, "pagemap", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, errno, "pagemap");
	*ret_fd = fd;
	return 0;
}

static uint64_t bit(uint64_t entry, int number)
{
	return entry >> number & 1;
}

/* Without branches: this is the hot loop. */
static void count_entries(const uint64_t *entries, size_t n, uint64_t page_bytes, struct pagemap_count *sum)
{
	uint64_t resident = 0, unsure = 0, file = 0, swapped = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t present = bit(entries[i], BIT_PRESENT), shared = bit(entries[i], BIT_FILE_OR_SHARED);
		uint64_t anon = present & ~shared, exclusive = bit(entries[i], BIT_EXCLUSIVE);
		resident += anon & exclusive;
		unsure += anon & ~exclusive;
		file += present & shared;
		swapped += bit(entries[i], BIT_SWAPPED);
	}
	sum->resident_bytes += resident * page_bytes;
	sum->unsure_bytes += unsure * page_bytes;
	sum->file_bytes += file * page_bytes;
	sum->swapped_bytes += swapped * page_bytes;
}

static ssize_t read_entries(int fd, uint64_t *entries, size_t n, uint64_t first_page)
{
	ssize_t got;
	do
		got = pread(fd, entries, n * sizeof *entries, (off_t)(first_page * sizeof *entries));
	while (got < 0 && errno == EINTR);
	return got;
}

int pagemap_count(int fd, struct addr_range range, uint32_t page_bytes, struct pagemap_count *ret, struct err *err)
{
	if (page_bytes == 0 || range.end < range.start)
		return err_set(err, ERR_USAGE, "pagemap: not a range");
	if (range.end - range.start > PAGEMAP_RANGE_MAX)
		return err_set(err, ERR_LIMIT, "pagemap: range larger than 64 GiB");
	uint64_t page = range.start / page_bytes;
	uint64_t last = range.end / page_bytes + (range.end % page_bytes != 0);
	struct pagemap_count sum = { 0 };
	uint64_t entries[ENTRIES_A_READ];
	bool any = false;
	while (page < last) {
		size_t n = last - page < ENTRIES_A_READ ? (size_t)(last - page) : ENTRIES_A_READ;
		ssize_t got = read_entries(fd, entries, n, page);
		if (got < 0)
			return err_sys(err, errno, "pagemap");
		if (got < (ssize_t)sizeof entries[0])
			break; /* past user space, or no memory any more */
		any = true;
		n = (size_t)got / sizeof entries[0];
		count_entries(entries, n, page_bytes, &sum);
		page += n;
	}
	/* A process that ended has no address space: its pagemap is empty, also where it was not. */
	if (!any && range.end > range.start)
		return err_set(err, ERR_GONE, "pagemap: nothing there");
	*ret = sum;
	return 0;
}

bool pagemap_format(const struct resident_range *ranges, size_t n, struct buf *out)
{
	for (size_t i = 0; i < n; i++)
		if (!buf_printf(out, "%" PRIx64 "-%" PRIx64 " %" PRIu64 "\n", ranges[i].range.start,
				ranges[i].range.end, ranges[i].resident_bytes))
			return false;
	return true;
}

static bool parse_range(struct str line, struct resident_range *ret)
{
	struct resident_range item;
	if (!str_hex(&line, &item.range.start) || !str_take(&line, STR("-")) || !str_hex(&line, &item.range.end) ||
	    !str_take(&line, STR(" ")) || !str_is_u64(line, &item.resident_bytes))
		return false;
	if (item.range.start >= item.range.end || item.resident_bytes > item.range.end - item.range.start)
		return false;
	*ret = item;
	return true;
}

/* Twice over the text: first to look, then to fill, so that a failure leaves the caller's array as it was. */
static int walk(struct str text, struct resident_range *ranges, size_t cap, size_t *ret_n, struct err *err)
{
	struct str line;
	uint64_t end = 0;
	size_t n = 0;
	while (str_line(&text, &line)) {
		struct resident_range item;
		if (n == cap)
			return err_set(err, ERR_LIMIT, "more than %zu ranges", cap);
		if (!parse_range(line, &item) || item.range.start < end)
			return err_set(err, ERR_MALFORMED, "line %zu: not a range after the one before", n + 1);
		end = item.range.end;
		if (ranges)
			ranges[n] = item;
		n++;
	}
	*ret_n = n;
	return 0;
}

int pagemap_parse(struct str text, struct resident_range *ret_ranges, size_t cap, size_t *ret_n, struct err *err)
{
	if (text.len && text.ptr[text.len - 1] != '\n')
		return err_set(err, ERR_MALFORMED, "the last line is cut");
	size_t n;
	int r = walk(text, NULL, cap, &n, err);
	return r < 0 ? r : walk(text, ret_ranges, cap, ret_n, err);
}
