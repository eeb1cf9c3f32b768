/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/recorder.h"
#include "support/scratch.h"

enum { START_S = 100000, BYTES = 1 << 20 };

static struct mono at_s(unsigned s)
{
	return (struct mono){ (uint64_t)(START_S + s) * 1000000000 };
}

static void put(struct recorder *recorder, unsigned s, size_t len)
{
	auto_buf struct buf text = { .cap = SPOOL_TEXT_MAX };
	buf_printf(&text, "{%u", s);
	while (text.len < len)
		buf_putc(&text, ' ');
	recorder_put(recorder, at_s(s), (struct wall){ 1000 + (int64_t)s }, buf_str(&text));
}

struct seen {
	unsigned n, first, last, stop;
	bool in_order;
};

static bool look(void *context, struct mono taken, struct wall wall, struct str sample)
{
	struct seen *seen = context;
	uint64_t s = 0;
	struct str rest = str_skip(sample, 1);
	assert_true(str_u64(&rest, &s));
	assert_int_equal(taken.ns, at_s((unsigned)s).ns);
	assert_int_equal(wall.ms, 1000 + s);
	if (seen->n && s <= seen->last)
		seen->in_order = false;
	if (seen->n++ == 0)
		seen->first = (unsigned)s;
	seen->last = (unsigned)s;
	return seen->n != seen->stop;
}

static struct seen read_at(struct recorder *recorder, unsigned s, unsigned stop)
{
	struct seen seen = { .stop = stop, .in_order = true };
	recorder_read(recorder, at_s(s), look, &seen);
	assert_true(seen.in_order);
	return seen;
}

static bool count(void *context, struct mono taken, struct wall wall, struct str sample)
{
	(void)taken, (void)wall, (void)sample;
	return ++*(unsigned *)context;
}

static void last_fifteen_minutes(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	for (int memory = 0; memory < 2; memory++) {
		auto_(recorder_done) struct recorder recorder;
		recorder_init(&recorder, memory ? -1 : scratch.fd, BYTES, BYTES, at_s(0));
		assert_int_equal(recorder.on_disk, !memory);
		for (unsigned s = 0; s <= 4000; s += 5)
			put(&recorder, s, 300);
		struct seen seen = read_at(&recorder, 4000, 0);
		assert_int_equal(seen.first, 3100);
		assert_int_equal(seen.last, 4000);
		assert_int_equal(seen.n, 181);
		assert_int_equal(read_at(&recorder, 4000, 3).n, 3);
		assert_int_equal(read_at(&recorder, 4800, 0).n, 21);
		assert_int_equal(read_at(&recorder, 9000, 0).n, 0);
		assert_int_equal(recorder.failures_total, 0);
	}
}

static void bounded_in_bytes(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	for (int memory = 0; memory < 2; memory++) {
		auto_(recorder_done) struct recorder recorder;
		recorder_init(&recorder, memory ? -1 : scratch.fd, BYTES, BYTES, at_s(0));
		for (unsigned s = 0; s < 900; s++) {
			put(&recorder, s, 4000);
			assert_true(recorder.sides[0].log.end + recorder.sides[1].log.end <= BYTES);
		}
		struct seen seen = read_at(&recorder, 899, 0);
		assert_int_equal(seen.last, 899);
		assert_in_range(seen.n, 130, 260);
	}
}

static void survives_the_agents_own_restart(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	struct recorder recorder;
	for (unsigned start = 0; start < 5; start++) {
		recorder_init(&recorder, scratch.fd, BYTES, 0, at_s(start * 300));
		for (unsigned s = 0; s < 300; s += 5)
			put(&recorder, start * 300 + s, 300);
		recorder_done(&recorder);
	}
	/* Killed in the middle of a write. */
	int fd = openat(scratch.fd, "recorder-0", O_WRONLY | O_APPEND);
	assert_int_equal(write(fd, "BKR1\xff\0\0\0 half", 13), 13);
	(void)close(fd);
	recorder_init(&recorder, scratch.fd, BYTES, 0, at_s(1500));
	put(&recorder, 1500, 300);
	struct seen seen = read_at(&recorder, 1500, 0);
	assert_int_equal(seen.first, 600);
	assert_int_equal(seen.n, 181);
	recorder_done(&recorder);
	/* After a boot the clock begins anew: what is of a later time is of another boot. */
	recorder_init(&recorder, scratch.fd, BYTES, 0, (struct mono){ 5000 });
	recorder_put(&recorder, (struct mono){ 6000 }, (struct wall){ 0 }, STR("{9"));
	unsigned n = 0;
	recorder_read(&recorder, (struct mono){ 7000 }, count, &n);
	assert_int_equal(n, 1);
	recorder_done(&recorder);
}

static void goes_on_in_memory(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	auto_(recorder_done) struct recorder recorder;
	(void)signal(SIGXFSZ, SIG_IGN);
	recorder_init(&recorder, scratch.fd, BYTES, 0, at_s(0));
	for (unsigned s = 0; s < 10; s++)
		put(&recorder, s, 300);
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	const struct rlimit full = { 3500, limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &full), 0);
	for (unsigned s = 10; s < 20; s++)
		put(&recorder, s, 300);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_false(recorder.on_disk);
	assert_int_equal(read_at(&recorder, 20, 0).n, 20);
	/* The disk is well again. */
	recorder_move(&recorder, scratch.fd, at_s(20));
	assert_true(recorder.on_disk);
	put(&recorder, 20, 300);
	assert_int_equal(read_at(&recorder, 20, 0).n, 21);
	/* Its directory is deleted, and made again. */
	assert_int_equal(unlinkat(scratch.fd, "recorder-0", 0), 0);
	assert_int_equal(unlinkat(scratch.fd, "recorder-1", 0), 0);
	put(&recorder, 21, 300);
	assert_false(recorder.on_disk);
	recorder_move(&recorder, scratch.fd, at_s(22));
	assert_true(recorder.on_disk);
	put(&recorder, 22, 300);
	assert_int_equal(read_at(&recorder, 22, 0).n, 23);
	assert_int_equal(faccessat(scratch.fd, "recorder-0", F_OK, 0), 0);
}

static void without_a_directory_nothing_moves(void **state)
{
	(void)state;
	auto_(recorder_done) struct recorder recorder;
	recorder_init(&recorder, -1, BYTES, 0, at_s(0));
	put(&recorder, 0, 300);
	recorder_move(&recorder, -1, at_s(1));
	put(&recorder, 1, 300);
	assert_false(recorder.on_disk);
	assert_int_equal(read_at(&recorder, 1, 0).n, 2);
}

static void a_link_is_not_followed(void **state)
{
	(void)state;
	auto_(scratch_done) struct scratch scratch = scratch_new();
	scratch_file(&scratch, "precious", "do not touch");
	scratch_link(&scratch, "recorder-0", "precious");
	assert_int_equal(linkat(scratch.fd, "precious", scratch.fd, "recorder-1", 0), 0);
	auto_(recorder_done) struct recorder recorder;
	recorder_init(&recorder, scratch.fd, BYTES, 0, at_s(0));
	for (unsigned s = 0; s < 2000; s += 5)
		put(&recorder, s, 300);
	assert_int_equal(read_at(&recorder, 1995, 0).n, 181);
	char bytes[32] = "";
	int fd = openat(scratch.fd, "precious", O_RDONLY);
	assert_int_equal(read(fd, bytes, sizeof bytes), 12);
	assert_string_equal(bytes, "do not touch");
	(void)close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(last_fifteen_minutes),
		cmocka_unit_test(bounded_in_bytes),
		cmocka_unit_test(survives_the_agents_own_restart),
		cmocka_unit_test(goes_on_in_memory),
		cmocka_unit_test(without_a_directory_nothing_moves),
		cmocka_unit_test(a_link_is_not_followed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
