/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/pagemap.h"
#include "support/scratch.h"
#include "support/tight.h"
#include "sys/file.h"

static const uint64_t PRESENT = UINT64_C(1) << 63, SWAPPED = UINT64_C(1) << 62, FILED = UINT64_C(1) << 61,
		      EXCLUSIVE = UINT64_C(1) << 56;

static void entries_of_a_fixture(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	const uint64_t entries[] = { 0,       PRESENT | EXCLUSIVE,         PRESENT, PRESENT | FILED | EXCLUSIVE,
				     SWAPPED, PRESENT | EXCLUSIVE | 0xfff, FILED };
	struct err err = { 0 };
	assert_int_equal(file_write_at(scratch.fd, "pagemap", (struct str){ (const char *)entries, sizeof entries },
				       0600, &err),
			 0);
	int opened = -1;
	assert_int_equal(pagemap_open(scratch.fd, &opened, &err), 0);
	auto_close int fd = opened;
	struct pagemap_count n;
	assert_int_equal(pagemap_count(fd, (struct addr_range){ 0, 7 * 4096 }, 4096, &n, &err), 0);
	assert_int_equal(n.resident_bytes, 2 * 4096);
	assert_int_equal(n.unsure_bytes, 4096);
	assert_int_equal(n.file_bytes, 4096);
	assert_int_equal(n.swapped_bytes, 4096);
	/* Widened to whole pages; the end of the file ends the count. */
	assert_int_equal(pagemap_count(fd, (struct addr_range){ 4096 + 1, 4096 + 2 }, 4096, &n, &err), 0);
	assert_int_equal(n.resident_bytes, 4096);
	assert_int_equal(pagemap_count(fd, (struct addr_range){ 5 * 4096, 500 * 4096 }, 4096, &n, &err), 0);
	assert_int_equal(n.resident_bytes, 4096);
	assert_int_equal(pagemap_count(fd, (struct addr_range){ 4096, 4096 }, 4096, &n, &err), 0);
	assert_int_equal(n.resident_bytes, 0);
	n.resident_bytes = 77;
	assert_int_equal(pagemap_count(fd, (struct addr_range){ 700 * 4096, 701 * 4096 }, 4096, &n, &err), -ESRCH);
	assert_int_equal(pagemap_count(fd, (struct addr_range){ 4096, 0 }, 4096, &n, &err), -EINVAL);
	assert_int_equal(pagemap_count(fd, (struct addr_range){ 0, PAGEMAP_RANGE_MAX + 1 }, 4096, &n, &err), -EFBIG);
	assert_int_equal(n.resident_bytes, 77);
}

static void our_own_pages(void **state)
{
	(void)state;
	auto_close int self = -1, fd = -1;
	struct err err = { 0 };
	assert_int_equal(dir_open_at(-100, "/proc/self", &self, &err), 0);
	if (pagemap_open(self, &fd, &err) < 0) {
		print_message("no pagemap here: %s\n", err.message);
		skip();
	}
	size_t page = (size_t)sysconf(_SC_PAGESIZE), len = 5000 * page; /* more than one chunk */
	char *memory = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(memory != MAP_FAILED);
	assert_int_equal(madvise(memory, len, MADV_NOHUGEPAGE), 0);
	struct addr_range range = { (uint64_t)(uintptr_t)memory, (uint64_t)(uintptr_t)memory + len };
	struct pagemap_count n;
	assert_int_equal(pagemap_count(fd, range, (uint32_t)page, &n, &err), 0);
	assert_int_equal(n.resident_bytes + n.unsure_bytes, 0);
	for (size_t i = 0; i < 5000; i += 5)
		memory[i * page] = 1;
	char read_only = memory[page]; /* the zero page: present, and nobody's memory */
	assert_int_equal(read_only, 0);
	assert_int_equal(pagemap_count(fd, range, (uint32_t)page, &n, &err), 0);
	assert_int_equal(n.resident_bytes, 1000 * page);
	assert_int_equal(n.unsure_bytes, page);
	assert_int_equal(munmap(memory, len), 0);
}

static void text_form(void **state)
{
	(void)state;
	const struct resident_range ranges[] = { { { 0x1000, 0x3000 }, 4096 },
						 { { 0x3000, UINT64_MAX }, UINT64_MAX - 0x3000 } };
	struct resident_range got[2] = { 0 };
	size_t n = 0;
	auto_buf struct buf text = { .cap = 1000 };
	assert_true(pagemap_format(ranges, 2, &text));
	assert_true(str_starts(buf_str(&text), STR("1000-3000 4096\n")));
	assert_int_equal(pagemap_parse(buf_str(&text), got, 2, &n, NULL), 0);
	assert_int_equal(n, 2);
	assert_memory_equal(got, ranges, sizeof ranges);
	assert_int_equal(pagemap_parse(buf_str(&text), got, 1, &n, NULL), -EFBIG);
	static const struct str bad[] = {
		STR("1000-3000 4096"),
		STR("3000-1000 0\n"),
		STR("1000-1000 0\n"),
		STR("1000-3000 8193\n"),
		STR("1000-3000 \n"),
		STR("1000-3000 -1\n"),
		STR("\n"),
		STR("x\n"),
		STR("1000-3000 0\n2000-4000 0\n"),
		STR("1000-3000 18446744073709551616\n"),
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		got[0].resident_bytes = 77;
		if (pagemap_parse(bad[i], got, 2, &n, NULL) != -EBADMSG)
			fail_msg("case %zu: not refused", i);
		assert_int_equal(got[0].resident_bytes, 77);
		assert_int_equal(n, 2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_of_a_fixture),
		cmocka_unit_test(our_own_pages),
		cmocka_unit_test(text_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
