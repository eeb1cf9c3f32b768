/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/scratch.h"
#include "sys/file.h"

/* Each case runs twice: with openat2 where this kernel has it, and without. */
static int with_openat2(void **state)
{
	(void)state;
	file_without_openat2 = false;
	return 0;
}

static int without_openat2(void **state)
{
	(void)state;
	file_without_openat2 = true;
	return 0;
}

static void reads_whole_files(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	auto_buf struct buf buf = { 0 };
	struct err err = { 0 };
	scratch_file(&scratch, "a", "hello");
	scratch_file(&scratch, "empty", "");
	assert_int_equal(file_read_at(scratch.fd, "a", 5, &buf, &err), 0);
	assert_true(str_eq(buf_str(&buf), STR("hello")));
	assert_int_equal(file_read_at(scratch.fd, "empty", 5, &buf, &err), 0);
	assert_int_equal(buf.len, 0);
	assert_int_equal(file_read_at(scratch.fd, "empty", 0, &buf, &err), 0);
	assert_int_equal(err.kind, ERR_NONE);
	assert_int_equal(file_read_at(scratch.fd, "a", 4, &buf, &err), -EFBIG);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_int_equal(buf.len, 0);
	assert_int_equal(file_read_at(scratch.fd, "b", 4, &buf, &err), -ENOENT);
	assert_int_equal(err.kind, ERR_GONE);
	assert_int_equal(file_read_at(scratch.fd, ".", 4, &buf, &err), -EISDIR);
	assert_int_equal(file_read_under(scratch.fd, "a", 4, NULL, &buf, &err), -EFBIG);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_int_equal(file_read_under(scratch.fd, "/a", 5, NULL, &buf, &err), 0);
	assert_true(str_eq(buf_str(&buf), STR("hello")));
}

static void reads_files_larger_than_a_chunk(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	enum { LEN = 3 * 1024 * 1024 + 7 };
	auto_free char *text = malloc(LEN + 1);
	assert_non_null(text);
	for (size_t i = 0; i < LEN; i++)
		text[i] = (char)('a' + i % 23);
	text[LEN] = '\0';
	scratch_file(&scratch, "big", text);
	auto_buf struct buf buf = { 0 };
	struct err err = { 0 };
	assert_int_equal(file_read_at(scratch.fd, "big", LEN, &buf, &err), 0);
	assert_true(str_eq(buf_str(&buf), (struct str){ text, LEN }));
	assert_int_equal(file_read_at(scratch.fd, "big", LEN - 1, &buf, &err), -EFBIG);
	/* A file of /proc has no size, comes in parts and ends only when it ends. */
	assert_int_equal(file_read_at(AT_FDCWD, "/proc/self/smaps", LEN, &buf, &err), 0);
	assert_true(buf.len > 4096 && buf.ptr[buf.len - 1] == '\n');
}

static void links_stay_inside(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	scratch_file(&scratch, "root/etc/conf", "inside");
	scratch_file(&scratch, "secret", "outside");
	scratch_link(&scratch, "root/relative", "etc/conf");
	scratch_link(&scratch, "root/etc/absolute", "/etc/conf");
	scratch_link(&scratch, "root/etc/data", "..2026");
	scratch_link(&scratch, "root/etc/..2026", "../etc");
	scratch_link(&scratch, "root/etc/chain", "data/conf");
	scratch_link(&scratch, "root/climb", "../secret");
	scratch_link(&scratch, "root/etc/climb", "../../../../../../secret");
	scratch_link(&scratch, "root/loop", "loop");
	scratch_link(&scratch, "root/passwd", "/etc/passwd");
	scratch_link(&scratch, "root/magic", "/proc/self/fd/0");
	auto_close int root = openat(scratch.fd, "root", O_RDONLY | O_DIRECTORY);
	static const struct {
		const char *path;
		int under, beneath; /* 0: reads "inside" */
	} cases[] = {
		{ "etc/conf", 0, 0 },
		{ "etc/../etc/./conf", 0, 0 },
		{ "relative", 0, 0 },
		{ "etc/chain", 0, 0 },
		{ "/etc/conf", 0, -EOPNOTSUPP },
		{ "etc/absolute", 0, -EOPNOTSUPP },
		{ "../../../etc/conf", 0, -EOPNOTSUPP },
		{ "climb", -ENOENT, -EOPNOTSUPP },
		{ "etc/climb", -ENOENT, -EOPNOTSUPP },
		{ "../secret", -ENOENT, -EOPNOTSUPP },
		{ "passwd", -ENOENT, -EOPNOTSUPP },
		{ "loop", -EOPNOTSUPP, -EOPNOTSUPP },
		{ "magic", -ENOENT, -EOPNOTSUPP },
		{ "etc/conf/x", -ENOENT, -ENOENT },
		{ "missing/x", -ENOENT, -ENOENT },
		{ "etc", -EOPNOTSUPP, -EOPNOTSUPP },
		{ ".", -EOPNOTSUPP, -EOPNOTSUPP },
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		auto_buf struct buf buf = { 0 };
		struct err err = { 0 };
		if (file_read_under(root, cases[i].path, 100, NULL, &buf, &err) != cases[i].under)
			fail_msg("%s under: %s", cases[i].path, err.message);
		assert_int_equal(buf.len, cases[i].under ? 0 : 6);
		if (file_read_beneath(root, cases[i].path, 100, &buf, &err) != cases[i].beneath)
			fail_msg("%s beneath: %s", cases[i].path, err.message);
		assert_int_equal(buf.len, cases[i].beneath ? 0 : 6);
	}
}

static void magic_links_are_refused(void **state)
{
	(void)state;
	auto_close int slash = open("/", O_RDONLY | O_DIRECTORY);
	auto_buf struct buf buf = { 0 };
	struct err err = { 0 };
	char path[64];
	(void)snprintf(path, sizeof path, "/proc/%d/root/etc/passwd", getpid());
	assert_int_equal(file_read_under(slash, path, 100000, NULL, &buf, &err), -EOPNOTSUPP);
	(void)snprintf(path, sizeof path, "/proc/%d/exe", getpid());
	assert_int_equal(file_read_under(slash, path, 100000, NULL, &buf, &err), -EOPNOTSUPP);
	assert_int_equal(err.kind, ERR_UNSUPPORTED);
}

static void nothing_blocks(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	assert_int_equal(mkfifoat(scratch.fd, "fifo", 0600), 0);
	scratch_link(&scratch, "to-fifo", "fifo");
	auto_buf struct buf buf = { 0 };
	struct err err = { 0 };
	assert_int_equal(file_read_under(scratch.fd, "fifo", 100, NULL, &buf, &err), -EOPNOTSUPP);
	assert_int_equal(file_read_under(scratch.fd, "to-fifo", 100, NULL, &buf, &err), -EOPNOTSUPP);
	assert_int_equal(file_read_beneath(scratch.fd, "fifo", 100, &buf, &err), -EOPNOTSUPP);
	assert_string_equal(err.message, "fifo: not a regular file");
	auto_close int dev = open("/dev", O_RDONLY | O_DIRECTORY);
	assert_int_equal(file_read_under(dev, "zero", 100, NULL, &buf, &err), -EOPNOTSUPP);
	int fd = -1;
	assert_int_equal(dir_open_under(scratch.fd, "fifo", &fd, &err), -EOPNOTSUPP);
	assert_int_equal(fd, -1);
}

static void a_sparse_giant_is_refused_unread(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	scratch_file(&scratch, "giant", "");
	auto_close int fd = openat(scratch.fd, "giant", O_WRONLY);
	assert_int_equal(ftruncate(fd, (off_t)10 << 30), 0);
	auto_buf struct buf buf = { 0 };
	struct err err = { 0 };
	assert_int_equal(file_read_under(scratch.fd, "giant", 1 << 20, NULL, &buf, &err), -EFBIG);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_int_equal(buf.room, 0);
}

static void expectations(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	auto_buf struct buf buf = { 0 };
	struct err err = { 0 };
	scratch_file(&scratch, "a", "x");
	struct file_expect mine = { .check_owner = true, .owner = geteuid(), .max_links = 1 };
	struct file_expect other = { .check_owner = true, .owner = geteuid() + 1 };
	assert_int_equal(file_read_under(scratch.fd, "a", 100, &mine, &buf, &err), 0);
	assert_int_equal(file_read_under(scratch.fd, "a", 100, &other, &buf, &err), -EOPNOTSUPP);
	assert_int_equal(linkat(scratch.fd, "a", scratch.fd, "b", 0), 0);
	assert_int_equal(file_read_under(scratch.fd, "b", 100, &mine, &buf, &err), -EOPNOTSUPP);
	assert_string_equal(err.message, "b: has 2 links, 1 allowed");
	int fd = -1;
	assert_int_equal(file_open_under(scratch.fd, "b", NULL, &fd, &err), 0);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	assert_int_equal(close(fd), 0);
}

static int n_descriptors(void)
{
	int n = 0;
	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void deep_paths_end_and_leak_nothing(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	char path[512] = "d";
	for (int i = 0; i < 60; i++)
		memcpy(path + strlen(path), "/d", 3);
	scratch_dir(&scratch, path);
	int before = n_descriptors();
	int fd = -1;
	struct err err = { 0 };
	assert_int_equal(dir_open_under(scratch.fd, path, &fd, &err), 0);
	assert_int_equal(close(fd), 0);
	memcpy(path + strlen(path), "/x", 3);
	assert_int_equal(dir_open_under(scratch.fd, path, &fd, &err), -ENOENT);
	auto_free char *longest = malloc(5000);
	assert_non_null(longest);
	memset(longest, 'x', 4999);
	longest[4999] = '\0';
	assert_int_equal(dir_open_under(scratch.fd, longest, &fd, &err), -EOPNOTSUPP);
	longest[300] = '\0';
	assert_int_equal(dir_open_under(scratch.fd, longest, &fd, &err), -EOPNOTSUPP);
	assert_int_equal(n_descriptors(), before);
}

struct names {
	size_t n;
	char last[32];
	size_t stop_at;
};

static bool each(void *context, const char *name)
{
	struct names *names = context;
	(void)snprintf(names->last, sizeof names->last, "%s", name);
	return ++names->n != names->stop_at;
}

static void lists_directories(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	scratch_file(&scratch, "sub/a", "");
	scratch_file(&scratch, "sub/b", "");
	scratch_file(&scratch, "sub/.c", "");
	int fd = -1;
	struct err err = { 0 };
	assert_int_equal(dir_open_beneath(scratch.fd, "sub", &fd, &err), 0);
	auto_close int sub = fd;
	struct names names = { 0 };
	for (int again = 0; again < 2; again++) { /* the offset is not the caller's */
		names = (struct names){ 0 };
		assert_int_equal(dir_list(sub, 3, each, &names, &err), 0);
		assert_int_equal(names.n, 3);
	}
	names = (struct names){ 0 };
	assert_int_equal(dir_list(sub, 2, each, &names, &err), -EFBIG);
	assert_int_equal(names.n, 2);
	names = (struct names){ .stop_at = 1 };
	assert_int_equal(dir_list(sub, 100, each, &names, &err), 0);
	assert_int_equal(names.n, 1);
	assert_int_equal(dir_open_beneath(scratch.fd, "sub/a", &fd, &err), -EOPNOTSUPP);
	assert_int_equal(dir_open_beneath(scratch.fd, "..", &fd, &err), -EOPNOTSUPP);
	assert_int_equal(dir_open_under(scratch.fd, "..", &fd, &err), 0); /* "/.." is "/" */
	auto_close int again = fd;
	struct stat a, b;
	assert_int_equal(fstat(again, &a), 0);
	assert_int_equal(fstat(scratch.fd, &b), 0);
	assert_int_equal(a.st_ino, b.st_ino);
}

static void writes_new_files_only(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	auto_buf struct buf buf = { 0 };
	struct err err = { 0 };
	assert_int_equal(file_write_at(scratch.fd, "a", STR("text"), 0600, &err), 0);
	struct stat st;
	assert_int_equal(fstatat(scratch.fd, "a", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(file_write_at(scratch.fd, "a", STR("other"), 0600, &err), -EEXIST);
	scratch_link(&scratch, "link", "b");
	assert_int_equal(file_write_at(scratch.fd, "link", STR("other"), 0600, &err), -EEXIST);
	assert_int_equal(file_read_at(scratch.fd, "a", 10, &buf, &err), 0);
	assert_true(str_eq(buf_str(&buf), STR("text")));
	assert_int_equal(file_write_at(scratch.fd, "none/a", STR("x"), 0600, &err), -ENOENT);
}

static int names(int dirfd)
{
	int n = 0;
	DIR *dir = fdopendir(openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	assert_non_null(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n - 2;
}

/* Under its own name only when all of it is there, and never in the place of anything. */
static void a_file_appears_whole(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	auto_buf struct buf buf = { 0 };
	struct err err = { 0 };
	assert_int_equal(file_create_at(scratch.fd, "a", STR("text"), 0600, &err), 0);
	assert_int_equal(names(scratch.fd), 1);
	assert_int_equal(file_create_at(scratch.fd, "a", STR("other"), 0600, &err), -EINVAL);
	assert_int_equal(err.kind, ERR_USAGE);
	assert_non_null(strstr(err.message, "a: is there already"));
	scratch_link(&scratch, "link", "b");
	assert_int_equal(file_create_at(scratch.fd, "link", STR("other"), 0600, &err), -EINVAL);
	assert_int_equal(names(scratch.fd), 2);
	assert_int_equal(file_read_at(scratch.fd, "a", 10, &buf, &err), 0);
	assert_true(str_eq(buf_str(&buf), STR("text")));
	assert_int_equal(file_create_at(scratch.fd, "none/a", STR("x"), 0600, &err), -ENOENT);
	assert_string_equal(err.message, "none/a: No such file or directory");
}

/* A limit on the size of files does what a full disk does. */
static void a_full_disk_leaves_no_half_file(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	pid_t pid = fork();
	if (pid == 0) {
		struct err err = { 0 };
		(void)signal(SIGXFSZ, SIG_IGN);
		struct rlimit most = { 5, 5 };
		(void)setrlimit(RLIMIT_FSIZE, &most);
		bool none = file_write_at(scratch.fd, "half", STR("0123456789"), 0600, &err) == -EFBIG &&
			    file_create_at(scratch.fd, "half", STR("0123456789"), 0600, &err) == -EFBIG;
		_exit(none && names(scratch.fd) == 0 ? 0 : 1);
	}
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void interrupt(int number)
{
	(void)number;
}

/* A signal between every few bytes neither ends nor shortens a read. */
static void signals_do_not_matter(void **state)
{
	(void)state;
	struct sigaction action = { .sa_handler = interrupt }, old;
	assert_int_equal(sigaction(SIGALRM, &action, &old), 0);
	int ends[2];
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		for (int i = 0; i < 20; i++) {
			(void)!write(ends[1], "0123456789", 10);
			(void)usleep(1000);
		}
		_exit(0);
	}
	(void)close(ends[1]);
	struct itimerval often = { { 0, 300 }, { 0, 300 } }, never = { { 0, 0 }, { 0, 0 } };
	assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
	auto_buf struct buf buf = { 0 };
	struct err err = { 0 };
	int r = file_read_fd(ends[0], "pipe", 1000, &buf, &err);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(sigaction(SIGALRM, &old, NULL), 0);
	assert_int_equal(r, 0);
	assert_int_equal(buf.len, 200);
	(void)close(ends[0]);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

#define TWICE(test)                                                         \
	cmocka_unit_test_setup(test, with_openat2),                         \
	{                                                                   \
#test "_without_openat2", test, without_openat2, NULL, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TWICE(reads_whole_files),
		TWICE(reads_files_larger_than_a_chunk),
		TWICE(links_stay_inside),
		TWICE(magic_links_are_refused),
		TWICE(nothing_blocks),
		TWICE(a_sparse_giant_is_refused_unread),
		TWICE(expectations),
		TWICE(deep_paths_end_and_leak_nothing),
		TWICE(lists_directories),
		cmocka_unit_test(writes_new_files_only),
		cmocka_unit_test(a_file_appears_whole),
		cmocka_unit_test(a_full_disk_leaves_no_half_file),
		cmocka_unit_test(signals_do_not_matter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
