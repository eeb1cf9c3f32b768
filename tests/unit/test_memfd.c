/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernel/memfd.h"
#include "kernel/smaps.h"
#include "support/scratch.h"
#include "sys/file.h"

static void our_own_heap(void **state)
{
	(void)state;
	auto_close int self = -1;
	struct err err = { 0 };
	struct memfd_heap heap;
	assert_int_equal(dir_open_at(AT_FDCWD, "/proc/self", &self, &err), 0);
	assert_int_equal(memfd_find(self, &heap, &err), -EOPNOTSUPP);
	auto_close int near = memfd_create("java_heap_not", MFD_CLOEXEC);
	assert_int_equal(memfd_find(self, &heap, &err), -EOPNOTSUPP);
	auto_close int fd = memfd_create("java_heap", MFD_CLOEXEC);
	assert_true(near >= 0 && fd >= 0);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	assert_int_equal(memfd_find(self, &heap, &err), 0);
	assert_int_equal(heap.bytes, 0); /* size is not charge */
	assert_int_equal(posix_fallocate(fd, 0, 256 * 1024), 0);
	assert_int_equal(memfd_find(self, &heap, &err), 0);
	assert_int_equal(heap.bytes, 256 * 1024); /* charged though never mapped */
	assert_false(heap.hugetlb);
}

static void a_fixture_without_descriptors(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	struct memfd_heap heap;
	struct err err = { 0 };
	assert_int_equal(memfd_find(scratch.fd, &heap, &err), -ENOENT);
	/* A link that only looks like one leads nowhere: said, not taken for zero. */
	scratch_link(&scratch, "fd/3", "/memfd:java_heap (deleted)");
	assert_int_equal(memfd_find(scratch.fd, &heap, &err), -ENOENT);
	assert_int_equal(err.kind, ERR_GONE);
}

static void mapped_or_not(void **state)
{
	(void)state;
	static const struct {
		const char *name;
		bool mapped;
	} cases[] = {
		{ "/memfd:java_heap (deleted)", true },
		{ "/memfd:java_heap.hugetlb (deleted)", true },
		{ "/memfd:java_heap_2 (deleted)", false },
		{ "/memfd:other (deleted)", false },
		{ "", false },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		auto_buf struct buf text = { .cap = 1000 };
		auto_(vma_set_done) struct vma_set set = { 0 };
		assert_true(buf_printf(&text, "00400000-00401000 rw-s 00000000 00:01 27 %s\n", cases[i].name));
		assert_int_equal(maps_parse(buf_str(&text), &set, NULL), 0);
		assert_int_equal(memfd_is_mapped(&set), cases[i].mapped);
	}
}

static void text_form(void **state)
{
	(void)state;
	struct memfd_heap heap = { 27, UINT64_MAX, true }, got = { 0 };
	auto_buf struct buf text = { .cap = 1000 };
	assert_true(memfd_format(&heap, &text));
	assert_true(str_eq(buf_str(&text), STR("java_heap inode=27 bytes=18446744073709551615 hugetlb=1\n")));
	assert_int_equal(memfd_parse(buf_str(&text), &got, NULL), 0);
	assert_true(got.inode == 27 && got.bytes == UINT64_MAX && got.hugetlb);
	for (size_t len = 0; len < text.len; len++)
		assert_int_equal(memfd_parse((struct str){ text.ptr, len }, &got, NULL), -EBADMSG);
	assert_int_equal(memfd_parse(STR("java_heap inode=27 bytes=1 hugetlb=2\n"), &got, NULL), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(our_own_heap),
		cmocka_unit_test(a_fixture_without_descriptors),
		cmocka_unit_test(mapped_or_not),
		cmocka_unit_test(text_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
