/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "kernel/smaps.h"
#include "support/tight.h"

#define CORPUS "tests/fuzz/corpus/smaps/"

static struct vma_set parse_file(const char *path)
{
	struct str text = tight_read(path);
	struct vma_set set = { 0 };
	struct err err = { 0 };
	int r = smaps_parse(text, &set, &err);
	if (r < 0)
		print_error("%s: %s\n", path, err.message);
	assert_int_equal(r, 0);
	tight_free(text);
	return set;
}

static enum err_kind fails(struct str text)
{
	struct str tight = tight_of(text);
	struct vma_set set = { .n = 77 };
	struct err err = { 0 };
	int r = smaps_parse(tight, &set, &err);
	tight_free(tight);
	if (r == 0) {
		vma_set_done(&set);
		return ERR_NONE;
	}
	assert_int_equal(set.n, 77);
	assert_null(set.items);
	return err.kind;
}

static const struct vma *named(const struct vma_set *set, const char *name)
{
	for (size_t i = 0; i < set->n; i++)
		if (str_eq(vma_name(set, &set->items[i]), str_of(name)))
			return &set->items[i];
	fail_msg("no mapping %s", name);
	return NULL;
}

static void linux_6_1(void **state)
{
	(void)state;
	auto_(vma_set_done) struct vma_set set = parse_file(CORPUS "linux-6.1-serial");
	assert_int_equal(set.n, 43);
	assert_int_equal(set.have, VMA_HAVE_LAZYFREE | VMA_HAVE_VMFLAGS);
	const struct vma *heap = &set.items[0];
	assert_int_equal(heap->start, 0xfc000000);
	assert_int_equal(heap->end, 0xfc990000);
	assert_int_equal(heap->flags, VMA_READ | VMA_WRITE | VMA_ACCOUNT);
	assert_int_equal(heap->kind, VMA_ANON);
	assert_int_equal(heap->rss_bytes, 8192 * 1024);
	assert_int_equal(heap->anonymous_bytes, 8192 * 1024);
	assert_int_equal(heap->anon_huge_bytes, 8192 * 1024);
	assert_int_equal(heap->name_len, 0);
	assert_int_equal(named(&set, "[heap]")->kind, VMA_BRK);
	assert_int_equal(named(&set, "[stack]")->kind, VMA_STACK);
	assert_int_equal(named(&set, "[vdso]")->kind, VMA_SPECIAL);
	const struct vma *lib = named(&set, "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so");
	assert_int_equal(lib->kind, VMA_FILE);
	assert_int_equal(lib->inode, 630307);
	assert_int_equal((lib + 1)->offset, 0x251000);
	assert_int_equal((lib + 1)->name_at, lib->name_at); /* stored once */
}

static void linux_6_18_zgc(void **state)
{
	(void)state;
	auto_(vma_set_done) struct vma_set set = parse_file(CORPUS "linux-6.18-zgc");
	assert_int_equal(set.n, 48);
	const struct vma *view = &set.items[0];
	assert_int_equal(view->kind, VMA_SHMEM);
	assert_int_equal(view->flags, VMA_READ | VMA_WRITE | VMA_SHARED | VMA_DELETED);
	assert_true(str_eq(vma_name(&set, view), STR("/memfd:java_heap (deleted)")));
	assert_int_equal(set.items[2].kind, VMA_SHMEM);
	assert_int_equal(named(&set, "[vsyscall]")->end, UINT64_C(0xffffffffff601000));
}

/* The kernel's own sum over the same text, by another way: grep and add. */
static uint64_t sum_of(struct str text, const char *key)
{
	uint64_t sum = 0;
	struct str line;
	while (str_line(&text, &line)) {
		uint64_t kb;
		if (!str_take(&line, str_of(key)))
			continue;
		str_blanks(&line);
		assert_true(str_u64(&line, &kb));
		sum += kb * 1024;
	}
	return sum;
}

static void sums_equal_grep(void **state)
{
	(void)state;
	static const char *const files[] = { CORPUS "linux-6.1-serial", CORPUS "linux-6.18-zgc", CORPUS "wide-numbers",
					     CORPUS "odd-layout" };
	for (size_t f = 0; f < sizeof files / sizeof files[0]; f++) {
		struct str text = tight_read(files[f]);
		auto_(vma_set_done) struct vma_set set = parse_file(files[f]);
		uint64_t rss = 0, pss = 0, anonymous = 0, locked = 0;
		for (size_t i = 0; i < set.n; i++) {
			rss += set.items[i].rss_bytes;
			pss += set.items[i].pss_bytes;
			anonymous += set.items[i].anonymous_bytes;
			locked += set.items[i].locked_bytes;
		}
		assert_int_equal(rss, sum_of(text, "Rss:"));
		assert_int_equal(pss, sum_of(text, "Pss:"));
		assert_int_equal(anonymous, sum_of(text, "Anonymous:"));
		assert_int_equal(locked, sum_of(text, "Locked:"));
		tight_free(text);
	}
}

static void numbers_wider_than_their_column(void **state)
{
	(void)state;
	auto_(vma_set_done) struct vma_set set = parse_file(CORPUS "wide-numbers");
	assert_int_equal(set.items[0].rss_bytes, UINT64_C(123456789) * 1024);
	assert_int_equal(set.items[1].rss_bytes, UINT64_C(23456789) * 1024);
	assert_int_equal(set.items[1].pss_bytes, UINT64_C(223456789) * 1024);
	/* Never learn a line whose number begins before its columns: it would lose its head. */
	auto_(vma_set_done) struct vma_set tight = { 0 };
	assert_int_equal(smaps_parse(STR("100000000000-180000000000 rw-p 00000000 00:00 0 \n"
					 "Pss:            12345678 kB\n"
					 "Rss:       1212345678901 kB\n" /* exactly 28 columns */
					 "180000000000-1c0000000000 rw-p 00000000 00:00 0 \n"
					 "Pss:            12345678 kB\n"
					 "Rss:       12      8901 kB\n"),
				     &tight, NULL),
			 -EBADMSG);
}

static void flags_of_mappings(void **state)
{
	(void)state;
	auto_(vma_set_done) struct vma_set set = { 0 };
	assert_int_equal(
		smaps_parse(STR("00400000-00600000 rw-p 00000000 00:00 0 \nRss: 0 kB\nVmFlags: rd nh lo sd \n"
				"00600000-00800000 ---s 00000000 00:00 0 \nRss: 0 kB\nVmFlags: hg ht\n"
				"00800000-00a00000 rw-p 00000000 00:00 0 \nRss: 0 kB\nVmFlags: nr ac\n"
				"00a00000-00c00000 rw-p 00000000 00:00 0 \nRss: 0 kB\nVmFlags: nhx xlo n h l o\n"),
			    &set, NULL),
		0);
	assert_int_equal(set.items[0].flags, VMA_READ | VMA_WRITE | VMA_NOHUGEPAGE | VMA_LOCKED);
	assert_int_equal(set.items[1].flags, VMA_SHARED | VMA_HUGEPAGE | VMA_HUGETLB);
	assert_int_equal(set.items[2].flags, VMA_READ | VMA_WRITE | VMA_NORESERVE | VMA_ACCOUNT);
	assert_int_equal(set.items[3].flags, VMA_READ | VMA_WRITE);
}

static void kinds_by_name(void **state)
{
	(void)state;
	static const struct {
		const char *perms, *name;
		enum vma_kind kind;
	} cases[] = {
		{ "rw-p", "", VMA_ANON },
		{ "rw-p", "[anon:glibc: malloc arena]", VMA_ANON },
		{ "rw-s", "[anon_shmem:x]", VMA_SHMEM },
		{ "rw-p", "[heap]", VMA_BRK },
		{ "rw-p", "[stack:17]", VMA_STACK },
		{ "r--p", "[vvar]", VMA_SPECIAL },
		{ "rw-s", "/dev/zero (deleted)", VMA_SHMEM },
		{ "rw-p", "/dev/zero", VMA_ANON },
		{ "rw-s", "/dev/shm/x", VMA_SHMEM },
		{ "rw-s", "/SYSV00000000 (deleted)", VMA_SHMEM },
		{ "rw-p", "/anon_hugepage (deleted)", VMA_ANON },
		{ "rw-s", "anon_inode:[perf_event]", VMA_SPECIAL },
		{ "r--p", "/tmp/[heap]", VMA_FILE },
		{ "r--p", "/tmp/ with blanks ", VMA_FILE },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		auto_buf struct buf text = { .cap = 1024 };
		auto_(vma_set_done) struct vma_set set = { 0 };
		assert_true(buf_printf(&text, "00400000-00401000 %s 00000000 00:00 0     %s\nRss: 0 kB\n",
				       cases[i].perms, cases[i].name));
		assert_int_equal(smaps_parse(buf_str(&text), &set, NULL), 0);
		assert_int_equal(set.items[0].kind, cases[i].kind);
		assert_true(str_eq(vma_name(&set, &set.items[0]), str_of(cases[i].name)));
	}
}

static void names_leave_escaped(void **state)
{
	(void)state;
	auto_(vma_set_done) struct vma_set set = parse_file(CORPUS "control-bytes");
	assert_true(str_eq(vma_name(&set, &set.items[0]), STR("/a\\x1b]0;x\\x07b (deleted)")));
	assert_true(set.items[0].flags & VMA_DELETED);
}

static void refuses(void **state)
{
	(void)state;
#define HEAD "00400000-00402000 rw-p 00000000 00:00 0 \n"
	static const struct {
		const char *why;
		struct str text;
	} cases[] = {
		{ "no newline at the end", STR(HEAD "Rss: 4 kB") },
		{ "a key before any mapping", STR("Rss: 4 kB\n") },
		{ "no Rss", STR(HEAD "Size: 8 kB\n") },
		{ "Rss twice", STR(HEAD "Rss: 4 kB\nRss: 4 kB\n") },
		{ "VmFlags twice", STR(HEAD "Rss: 4 kB\nVmFlags: rd\nVmFlags: rd\n") },
		{ "Rss above the size", STR(HEAD "Rss: 12 kB\n") },
		{ "Swap above the size", STR(HEAD "Rss: 4 kB\nSwap: 12 kB\n") },
		{ "past u64", STR(HEAD "Rss: 18446744073709551616 kB\n") },
		{ "past u64 in bytes", STR(HEAD "Rss: 18014398509481984 kB\n") },
		{ "negative", STR(HEAD "Rss: -4 kB\n") },
		{ "no unit", STR(HEAD "Rss: 4\n") },
		{ "another unit", STR(HEAD "Rss: 4 MB\n") },
		{ "trailing text", STR(HEAD "Rss: 4 kB 7\n") },
		{ "NUL in an unknown line", STR(HEAD "Rss: 4 kB\nFoo: \0\n") },
		{ "NUL in VmFlags", STR(HEAD "Rss: 4 kB\nVmFlags: r\0\n") },
		{ "NUL in a name", STR("00400000-00402000 rw-p 00000000 00:00 0 /a\0b\nRss: 4 kB\n") },
		{ "a line without a key", STR(HEAD "Rss: 4 kB\nGARBAGE\n") },
		{ "an empty line", STR(HEAD "Rss: 4 kB\n\n") },
		{ "overlap", STR(HEAD "Rss: 4 kB\n00401000-00403000 rw-p 00000000 00:00 0 \nRss: 0 kB\n") },
		{ "descending", STR(HEAD "Rss: 4 kB\n00300000-00301000 rw-p 00000000 00:00 0 \nRss: 0 kB\n") },
		{ "the same twice", STR(HEAD "Rss: 4 kB\n" HEAD "Rss: 4 kB\n") },
		{ "empty range", STR("00400000-00400000 rw-p 00000000 00:00 0 \nRss: 0 kB\n") },
		{ "reversed range", STR("00402000-00400000 rw-p 00000000 00:00 0 \nRss: 0 kB\n") },
		{ "no whole pages", STR("00400001-00402000 rw-p 00000000 00:00 0 \nRss: 0 kB\n") },
		{ "17 digits", STR("00000000000400000-00402000 rw-p 00000000 00:00 0 \nRss: 0 kB\n") },
		{ "bad permissions", STR("00400000-00402000 rwzp 00000000 00:00 0 \nRss: 0 kB\n") },
		{ "no inode", STR("00400000-00402000 rw-p 00000000 00:00 \nRss: 0 kB\n") },
		{ "inode past u64", STR("00400000-00402000 rw-p 00000000 00:00 18446744073709551616\nRss: 0 kB\n") },
		{ "cut last mapping",
		  STR(HEAD "Rss: 4 kB\nSwap: 0 kB\n00402000-00403000 rw-p 00000000 00:00 0 \nRss: 0 kB\n") },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (fails(cases[i].text) != ERR_MALFORMED)
			fail_msg("%s: not refused as malformed", cases[i].why);
	assert_int_equal(fails((struct str){ "", 0 }), ERR_NONE); /* a kernel thread has no mappings */
}

static void a_twin_line_does_not_hide_in_the_fast_way(void **state)
{
	(void)state;
	/* The second mapping has the Rss line where its slot is, and once more where the general way reads. */
	assert_int_equal(fails(STR(HEAD "Rss:                   4 kB\nPss:                   4 kB\n"
					"00402000-00403000 rw-p 00000000 00:00 0 \n"
					"Rss: 4 kB\nRss:                   4 kB\nPss:                   4 kB\n")),
			 ERR_MALFORMED);
	assert_int_equal(fails(STR(HEAD "Rss:                   4 kB\nPss:                   4 kB\n"
					"00402000-00403000 rw-p 00000000 00:00 0 \n"
					"Pss: 4 kB\nRss:                   4 kB\nPss:                   4 kB\n")),
			 ERR_MALFORMED);
	/* Columns that are no number, where the first mapping had one. */
	static const char *const bad[] = { "       ", "  4 4 ", "4      ", "   -4  ", "   )4  ", "    4:  " };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		auto_buf struct buf text = { .cap = 1024 };
		assert_true(buf_printf(&text,
				       HEAD "Rss:                   4 kB\n"
					    "00402000-00403000 rw-p 00000000 00:00 0 \nRss:            %8s kB\n",
				       bad[i]));
		assert_int_equal(fails(buf_str(&text)), i == 2 ? ERR_NONE : ERR_MALFORMED);
	}
}

static void every_column_number(void **state)
{
	(void)state;
	static const uint64_t numbers[] = { 0,       1,       9,        10,       99,       12345,   99999,
					    1234567, 9999999, 10000000, 12345678, 87654321, 99999999 };
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		auto_buf struct buf text = { .cap = 1024 };
		auto_(vma_set_done) struct vma_set set = { 0 };
		assert_true(buf_printf(&text,
				       "100000000000-180000000000 rw-p 00000000 00:00 0 \nRss:                   4 kB\n"
				       "180000000000-1c0000000000 rw-p 00000000 00:00 0 \nRss:            %8lu kB\n",
				       (unsigned long)numbers[i]));
		assert_int_equal(smaps_parse(buf_str(&text), &set, NULL), 0);
		assert_int_equal(set.items[1].rss_bytes, numbers[i] * 1024);
	}
}

static void a_ten_megabyte_line(void **state)
{
	(void)state;
	size_t len = 10 * 1024 * 1024;
	auto_free char *text = malloc(len);
	assert_non_null(text);
	memset(text, 'x', len);
	memcpy(text, HEAD, sizeof HEAD - 1);
	text[len - 1] = '\n';
	assert_int_equal(fails((struct str){ text, len }), ERR_MALFORMED);
	memcpy(text + sizeof HEAD - 1, "Rss: 4 kB\nUnknown:", 18);
	assert_int_equal(fails((struct str){ text, len }), ERR_NONE);
	text[sizeof HEAD - 2] = '/'; /* the name of the mapping goes on and on */
	text[sizeof HEAD - 1 + 9] = '/';
	assert_int_equal(fails((struct str){ text, len }), ERR_MALFORMED);
}

static void too_much_is_a_limit(void **state)
{
	(void)state;
	size_t len = (size_t)LIMIT_SMAPS + 1;
	auto_free char *text = malloc(len);
	assert_non_null(text);
	memset(text, '\n', len);
	assert_int_equal(fails((struct str){ text, len }), ERR_LIMIT);
}

static void prefix(struct str text)
{
	struct vma_set set = { .n = 77 };
	struct err err = { 0 };
	if (smaps_parse(text, &set, &err) == 0) {
		/* Cut between two mappings, or between lines that the first mapping lacks: still whole mappings. */
		for (size_t i = 0; i < set.n; i++)
			assert_true(set.items[i].rss_bytes <= set.items[i].end - set.items[i].start);
		vma_set_done(&set);
	} else {
		assert_int_equal(err.kind, ERR_MALFORMED);
		assert_int_equal(set.n, 77);
	}
}

static void every_prefix(void **state)
{
	(void)state;
	struct str text = tight_read(CORPUS "linux-6.1-serial");
	tight_prefixes(text, 4000, prefix);
	tight_free(text);
}

static void maps_is_the_headers(void **state)
{
	(void)state;
	struct str text = tight_read("tests/fuzz/corpus/maps/linux-6.1");
	auto_(vma_set_done) struct vma_set set = { 0 };
	struct err err = { 0 };
	assert_int_equal(maps_parse(text, &set, &err), 0);
	assert_int_equal(set.n, 40);
	assert_int_equal(set.have, 0);
	assert_int_equal(set.items[0].start, 0xfc000000);
	tight_free(text);
	struct vma_set untouched = { .n = 77 };
	assert_int_equal(maps_parse(STR(HEAD "Rss: 4 kB\n"), &untouched, &err), -EBADMSG);
	assert_int_equal(untouched.n, 77);
	assert_string_equal(err.message, "mapping 2: not the header of a mapping");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linux_6_1),
		cmocka_unit_test(linux_6_18_zgc),
		cmocka_unit_test(sums_equal_grep),
		cmocka_unit_test(numbers_wider_than_their_column),
		cmocka_unit_test(flags_of_mappings),
		cmocka_unit_test(kinds_by_name),
		cmocka_unit_test(names_leave_escaped),
		cmocka_unit_test(refuses),
		cmocka_unit_test(a_twin_line_does_not_hide_in_the_fast_way),
		cmocka_unit_test(every_column_number),
		cmocka_unit_test(a_ten_megabyte_line),
		cmocka_unit_test(too_much_is_a_limit),
		cmocka_unit_test(every_prefix),
		cmocka_unit_test(maps_is_the_headers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
