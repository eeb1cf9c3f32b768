/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "kernel/tmpfs.h"
#include "support/scratch.h"
#include "support/tight.h"
#include "sys/file.h"

static const char pod[] = "1 2 0:1 / / rw - overlay overlay rw,lowerdir=/CANARY\n"
			  "2 1 0:22 / /dev rw,nosuid - tmpfs tmpfs rw,size=65536k,mode=755\n"
			  "3 2 0:23 / /dev/shm rw,relatime shared:3 - tmpfs shm rw,size=65536k,inode64\n"
			  "4 1 0:24 / /mnt/a\\040b\\134c rw shared:1 master:2 - tmpfs tmpfs rw,inode64,uid=7\n"
			  "5 1 0:25 / /run/secrets/x rw - tmpfs tmpfs rw,size=1g\n"
			  "6 1 0:26 / /mnt/cifs rw - cifs //host/x rw,password=CANARY\n"
			  "7 1 0:27 / /size rw - tmpfs tmpfs rw,size=50%\n"
			  "8 1 0:28 / /devtmpfs rw - devtmpfs tmpfs rw\n"
			  "9 1 x / /bad-device rw - tmpfs tmpfs rw\n"
			  "10 1 0:29 / /bad\\09x rw - tmpfs tmpfs rw\n"
			  "11 1 0:30 / relative rw - tmpfs tmpfs rw\n";

static void mounts(void **state)
{
	(void)state;
	static struct tmpfs_list list;
	struct err err = { 0 };
	struct str text = tight_of(str_of(pod));
	assert_int_equal(tmpfs_mounts_parse(text, &list, &err), 0);
	tight_free(text);
	static const struct {
		const char *point;
		uint64_t minor;
		enum limit_kind kind;
		uint64_t bytes;
	} wanted[] = {
		{ "/dev", 22, LIMIT_SET, 64 << 20 },  { "/dev/shm", 23, LIMIT_SET, 64 << 20 },
		{ "/mnt/a b\\c", 24, LIMIT_NONE, 0 }, { "/run/secrets/x", 25, LIMIT_SET, 1 << 30 },
		{ "/size", 27, LIMIT_UNREAD, 0 },
	};
	assert_int_equal(list.n, sizeof wanted / sizeof wanted[0]);
	for (size_t i = 0; i < list.n; i++) {
		assert_string_equal(list.items[i].point, wanted[i].point);
		assert_int_equal(list.items[i].major, 0);
		assert_int_equal(list.items[i].minor, wanted[i].minor);
		assert_int_equal(list.items[i].size.kind, wanted[i].kind);
		assert_int_equal(list.items[i].size.bytes, wanted[i].bytes);
	}
}

static void bad_mounts(void **state)
{
	(void)state;
	static struct tmpfs_list list;
	static const char *const bad[] = { "x\n", "\n", "1 2 0:1 / / rw tmpfs tmpfs rw\n",
					   "1 2 0:1 / /a rw - tmpfs x rw", "1 2 0:1 / /a rw - tmpfs\n" };
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct err err = { 0 };
		assert_true(tmpfs_mounts_parse(str_of(bad[i]), &list, &err) < 0);
		assert_int_equal(err.kind, ERR_MALFORMED);
	}
	/* More than are looked at, and one that is too long. */
	auto_buf struct buf many = { .cap = 1 << 20 };
	(void)buf_puts(&many, "1 1 0:1 / /");
	for (int i = 0; i < TMPFS_POINT_CAP; i++)
		(void)buf_putc(&many, 'x');
	(void)buf_puts(&many, " rw - tmpfs tmpfs rw\n");
	for (int i = 0; i < TMPFS_SEEN_MAX + 5; i++)
		(void)buf_printf(&many, "1 1 0:%d / /m%d rw - tmpfs tmpfs rw\n", i, i);
	assert_int_equal(tmpfs_mounts_parse(buf_str(&many), &list, NULL), 0);
	assert_int_equal(list.n, TMPFS_SEEN_MAX);
	assert_string_equal(list.items[0].point, "/m0");
}

static void round_trip(void **state)
{
	(void)state;
	auto_buf struct buf text = { .cap = 4096 };
	static const struct tmpfs_seen seen[] = {
		{ .point = "/dev/shm", .size = { 64 << 20, LIMIT_SET } },
		{ .point = "/a b\\c\n\x1b[2Jused=1 size=2 /x\x7f\xc3\xa4\xff", .size = { 0, LIMIT_NONE } },
		{ .point = "/" },
	};
	struct tmpfs_mount mounts[TMPFS_MOUNTS_MAX];
	size_t n = 77;
	for (size_t i = 0; i < 3; i++)
		assert_true(tmpfs_format(&seen[i], (i + 1) * 1000, &text));
	for (size_t i = 0; i < text.len; i++)
		assert_true(text.ptr[i] == '\n' || (unsigned char)text.ptr[i] >= ' ');
	assert_int_equal(tmpfs_parse(buf_str(&text), mounts, &n, NULL), 0);
	assert_int_equal(n, 3);
	assert_string_equal(mounts[0].path, "/");
	assert_int_equal(mounts[0].size.kind, LIMIT_UNREAD);
	assert_int_equal(mounts[0].used_bytes.bytes, 3000);
	assert_string_equal(mounts[1].path, "/a b\\c\\x0a\\x1b[2Jused=1 size=2 /x\\x7f\xc3\xa4\\xff");
	assert_int_equal(mounts[1].size.kind, LIMIT_NONE);
	assert_string_equal(mounts[2].path, "/dev/shm");
	assert_int_equal(mounts[2].size.bytes, 64 << 20);
}

static void the_largest_are_kept(void **state)
{
	(void)state;
	auto_buf struct buf text = { .cap = 65536 };
	struct tmpfs_mount mounts[TMPFS_MOUNTS_MAX];
	size_t n = 0;
	(void)buf_puts(&text, "used=0 size=none /empty\n");
	for (unsigned i = 1; i <= 40; i++)
		(void)buf_printf(&text, "used=%u size=none /m%u\n", i * 7 % 41, i);
	(void)buf_puts(&text, "used=18446744073709551615 size=18446744073709551615 /huge\n");
	assert_int_equal(tmpfs_parse(buf_str(&text), mounts, &n, NULL), 0);
	assert_int_equal(n, TMPFS_MOUNTS_MAX);
	assert_string_equal(mounts[0].path, "/huge");
	for (size_t i = 1; i < n; i++)
		assert_int_equal(mounts[i].used_bytes.bytes, 41 - i);
	assert_int_equal(tmpfs_parse(STR(""), mounts, &n, NULL), 0);
	assert_int_equal(n, 0);
}

static void bad_lines(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"\n",
		"used=1 size=2 /x",
		"used= size=2 /x\n",
		"used=1 size= /x\n",
		"used=-1 size=2 /x\n",
		"used=18446744073709551616 size=2 /x\n",
		"used=1 size=2\n",
		"used=1 size=2 x\n",
		"used=1 size=2 /\\9\n",
		"used=1 size=2 /\\000\n",
		"used=1 size=nothing /x\n",
	};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		struct tmpfs_mount mounts[TMPFS_MOUNTS_MAX] = { { .path = "before" } };
		size_t n = 77;
		struct err err = { 0 };
		if (tmpfs_parse(str_of(bad[i]), mounts, &n, &err) == 0 || err.kind != ERR_MALFORMED || n != 77 ||
		    mounts[0].path[0] != 'b')
			fail_msg("case %zu", i);
	}
}

static void prefix(struct str text)
{
	static struct tmpfs_list list;
	struct tmpfs_mount mounts[TMPFS_MOUNTS_MAX];
	size_t n;
	(void)!tmpfs_mounts_parse(text, &list, NULL);
	(void)!tmpfs_parse(text, mounts, &n, NULL);
}

static void prefixes(void **state)
{
	(void)state;
	tight_prefixes(str_of(pod), 2000, prefix);
	tight_prefixes(STR("used=1 size=none /\\040\nused=2 size=3 /y\n"), 100, prefix);
}

/* A mountinfo of our own, whose device is that of a real tmpfs below "/". */
static void reading(void **state)
{
	(void)state;
	struct scratch scratch = scratch_new();
	struct err err = { 0 };
	auto_buf struct buf out = { .cap = 65536 };
	auto_close int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(tmpfs_read(scratch.fd, root, &out, &err), -ENOENT);
	/* Nothing of what stands there is a tmpfs: neither links, nor files, nor other devices are told. */
	scratch_file(&scratch, "mountinfo",
		     "1 1 0:1 / /proc/self/exe rw - tmpfs tmpfs rw\n1 1 0:1 / /etc/passwd rw - tmpfs tmpfs rw\n"
		     "1 1 0:1 / /proc rw - tmpfs tmpfs rw\n1 1 0:1 / /not/there rw - tmpfs tmpfs rw\n"
		     "1 1 0:1 / /proc/self/root/dev/shm rw - tmpfs tmpfs rw\n");
	assert_int_equal(tmpfs_read(scratch.fd, root, &out, &err), 0);
	assert_int_equal(out.len, 0);
	struct statfs fs;
	auto_close int self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char name[] = "/dev/shm/bankfull-test-XXXXXX";
	int fd = statfs("/dev/shm", &fs) == 0 && fs.f_type == 0x01021994 ? mkstemp(name) : -1;
	if (fd >= 0) {
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(write(fd, "x", 1), 1);
		assert_int_equal(tmpfs_read(self, root, &out, &err), 0);
		assert_true(str_has(buf_str(&out), STR(" /dev/shm\n")));
		struct tmpfs_mount mounts[TMPFS_MOUNTS_MAX];
		size_t n;
		assert_int_equal(tmpfs_parse(buf_str(&out), mounts, &n, &err), 0);
		assert_true(n >= 1);
		(void)close(fd);
		(void)unlink(name);
	}
	scratch_done(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mounts),     cmocka_unit_test(bad_mounts),
		cmocka_unit_test(round_trip), cmocka_unit_test(the_largest_are_kept),
		cmocka_unit_test(bad_lines),  cmocka_unit_test(prefixes),
		cmocka_unit_test(reading),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
