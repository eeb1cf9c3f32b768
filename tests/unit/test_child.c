/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/child.h"
#include "sys/clock.h"

static int says_hello(void *context, int fd)
{
	return child_write(fd, str_of(context)) ? 7 : 1;
}

static int says_much(void *context, int fd)
{
	char block[1000];
	memset(block, 'x', sizeof block);
	for (int i = 0; i < *(int *)context; i++)
		if (!child_write(fd, (struct str){ block, sizeof block }))
			return 1;
	return 0;
}

static int hangs(void *context, int fd)
{
	(void)child_write(fd, STR("before"));
	(void)context;
	while (pause() < 0) /* always */
		;
	return 0;
}

static int closes_and_hangs(void *context, int fd)
{
	(void)close(fd);
	return hangs(context, fd);
}

static int is_killed(void *context, int fd)
{
	(void)context;
	(void)fd;
	(void)raise(SIGTERM);
	return 0;
}

static int leaves_a_grandchild(void *context, int fd)
{
	(void)context;
	if (fork() == 0) {
		(void)usleep(1500 * 1000);
		_exit(0);
	}
	return child_write(fd, STR("done")) ? 0 : 1;
}

/* Reports its stdin and whether SIGTERM is at its default although the parent ignores it. */
static int looks_around(void *context, int fd)
{
	struct sigaction action;
	char byte;
	(void)context;
	bool ok = sigaction(SIGTERM, NULL, &action) == 0 && action.sa_handler == SIG_DFL && read(0, &byte, 1) == 0;
	return child_write(fd, ok ? STR("ok") : STR("no")) ? 0 : 1;
}

static struct mono in_ms(uint64_t ms)
{
	return mono_add_ms(clock_mono(), ms);
}

static int n_descriptors(void)
{
	int n = 0;
	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void no_child_is_left(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void collects_bytes_and_status(void **state)
{
	(void)state;
	auto_buf struct buf out = { 0 };
	struct child_result result = { 0 };
	struct err err = { 0 };
	char text[] = "hello";
	assert_int_equal(child_run(says_hello, text, in_ms(10000), 100, &out, &result, &err), 0);
	assert_true(str_eq(buf_str(&out), STR("hello")));
	assert_int_equal(result.exit_status, 7);
	assert_int_equal(result.signal, 0);
	assert_int_equal(child_run(says_hello, text, in_ms(10000), 5, &out, &result, &err), 0);
	assert_int_equal(out.len, 5);
	int blocks = 3000; /* more than a pipe holds */
	assert_int_equal(child_run(says_much, &blocks, in_ms(10000), 3000000, &out, &result, &err), 0);
	assert_int_equal(out.len, 3000000);
	assert_int_equal(result.exit_status, 0);
	no_child_is_left();
}

static void ends_what_hangs(void **state)
{
	(void)state;
	child_work *const works[] = { hangs, closes_and_hangs };
	for (size_t i = 0; i < 2; i++) {
		auto_buf struct buf out = { 0 };
		struct child_result result = { 0 };
		struct err err = { 0 };
		struct mono from = clock_mono();
		assert_int_equal(child_run(works[i], NULL, in_ms(60), 100, &out, &result, &err), -ETIMEDOUT);
		assert_int_equal(err.kind, ERR_TIMEOUT);
		assert_int_equal(result.signal, SIGKILL);
		assert_int_equal(result.unreaped, 0);
		assert_int_equal(out.len, i == 0 ? 6 : 0);
		assert_true(mono_ms_until(from, clock_mono()) >= 60);
		assert_int_equal(child_run(works[i], NULL, (struct mono){ 0 }, 100, &out, &result, &err), -ETIMEDOUT);
	}
	no_child_is_left();
}

static void a_flood_is_a_limit(void **state)
{
	(void)state;
	auto_buf struct buf out = { 0 };
	struct child_result result = { 0 };
	struct err err = { 0 };
	int blocks = 1000000;
	assert_int_equal(child_run(says_much, &blocks, in_ms(10000), 100000, &out, &result, &err), -EFBIG);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_true(out.len <= 100000);
	/* A short answer that is too long, from a child that may have ended already. */
	char text[] = "hello";
	assert_int_equal(child_run(says_hello, text, in_ms(10000), 4, &out, &result, &err), -EFBIG);
	no_child_is_left();
}

static void tells_signals(void **state)
{
	(void)state;
	auto_buf struct buf out = { 0 };
	struct child_result result = { 0 };
	struct err err = { 0 };
	assert_int_equal(child_run(is_killed, NULL, in_ms(10000), 10, &out, &result, &err), 0);
	assert_int_equal(result.exit_status, -1);
	assert_int_equal(result.signal, SIGTERM);
}

static void a_grandchild_prolongs_nothing(void **state)
{
	(void)state;
	auto_buf struct buf out = { 0 };
	struct child_result result = { 0 };
	struct err err = { 0 };
	struct mono from = clock_mono();
	assert_int_equal(child_run(leaves_a_grandchild, NULL, in_ms(10000), 10, &out, &result, &err), 0);
	assert_true(str_eq(buf_str(&out), STR("done")));
	assert_true(mono_ms_until(from, clock_mono()) < 1200);
}

static void the_child_starts_clean(void **state)
{
	(void)state;
	auto_buf struct buf out = { 0 };
	struct child_result result = { 0 };
	struct err err = { 0 };
	(void)signal(SIGTERM, SIG_IGN);
	assert_int_equal(child_run(looks_around, NULL, in_ms(10000), 10, &out, &result, &err), 0);
	(void)signal(SIGTERM, SIG_DFL);
	assert_true(str_eq(buf_str(&out), STR("ok")));
}

static void nothing_leaks(void **state)
{
	(void)state;
	int before = n_descriptors();
	char text[] = "x";
	for (int i = 0; i < 20; i++) {
		auto_buf struct buf out = { 0 };
		struct child_result result;
		struct err err;
		assert_int_equal(child_run(says_hello, text, in_ms(10000), 10, &out, &result, &err), 0);
		assert_int_equal(child_run(hangs, NULL, in_ms(1), 10, &out, &result, &err), -ETIMEDOUT);
	}
	assert_int_equal(n_descriptors(), before);
	no_child_is_left();
}

static void clocks(void **state)
{
	(void)state;
	struct mono zero = { 0 }, one = { 1 };
	assert_int_equal(mono_ms_until(zero, one), 1); /* rounded up: never early */
	assert_int_equal(mono_ms_until(one, zero), 0);
	assert_int_equal(mono_ms_until(zero, (struct mono){ 1000000 }), 1);
	assert_int_equal(mono_add_ms(one, 2).ns, 2000001);
	assert_int_equal(mono_add_ms(one, UINT64_MAX).ns, UINT64_MAX);
	assert_int_equal(mono_add_ms((struct mono){ UINT64_MAX - 1 }, 1).ns, UINT64_MAX);
	assert_true(clock_wall().ms > INT64_C(1700000000000));
	struct mono first = clock_mono();
	assert_true(clock_mono().ns >= first.ns);
}

/* As an event loop does it: look whenever the pipe says something. */
static enum child_state look_until(struct child_job *job, struct buf *out, struct child_result *result, unsigned ms)
{
	struct mono deadline = mono_add_ms(clock_mono(), ms);
	for (;;) {
		enum child_state state = child_look(job, out, result);
		uint64_t left = mono_ms_until(clock_mono(), deadline);
		if (state != CHILD_RUNS || left == 0)
			return state;
		struct pollfd wait = { .fd = job->fd, .events = POLLIN };
		(void)poll(&wait, 1, (int)left);
	}
}

enum { OURS = 50 };

static int says_what_is_open(void *context, int fd)
{
	(void)context;
	return fcntl(OURS, F_GETFD) < 0 && child_write(fd, STR("not")) ? 0 : 1;
}

static void a_job_is_looked_at_and_ends(void **state)
{
	(void)state;
	struct err err = { 0 };
	struct child_job job;
	struct child_result result;
	auto_buf struct buf out = { .cap = 4096 };
	assert_int_equal(dup2(STDERR_FILENO, OURS), OURS);
	assert_int_equal(child_start(says_what_is_open, NULL, &job, &err), 0);
	assert_int_equal(look_until(&job, &out, &result, 10000), CHILD_DONE);
	assert_int_equal(result.exit_status, 0);
	assert_string_equal(out.ptr, "not");
	assert_int_equal(job.pid, 0);
	child_end(&job, &result);
	assert_int_equal(job.fd, -1);
	close(OURS);
}

static void a_job_that_hangs_is_ended(void **state)
{
	(void)state;
	struct err err = { 0 };
	struct child_job job;
	struct child_result result;
	auto_buf struct buf out = { .cap = 4096 };
	assert_int_equal(child_start(hangs, NULL, &job, &err), 0);
	assert_int_equal(look_until(&job, &out, &result, 50), CHILD_RUNS);
	pid_t pid = job.pid;
	child_end(&job, &result);
	assert_int_equal(result.signal, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void a_job_that_floods_is_told(void **state)
{
	(void)state;
	struct err err = { 0 };
	struct child_job job;
	struct child_result result;
	int blocks = 100;
	auto_buf struct buf out = { .cap = 5000 };
	assert_int_equal(child_start(says_much, &blocks, &job, &err), 0);
	assert_int_equal(look_until(&job, &out, &result, 10000), CHILD_TOO_MUCH);
	child_end(&job, &result);
	assert_true(out.len <= 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(collects_bytes_and_status),
		cmocka_unit_test(ends_what_hangs),
		cmocka_unit_test(a_flood_is_a_limit),
		cmocka_unit_test(tells_signals),
		cmocka_unit_test(the_child_starts_clean),
		cmocka_unit_test(nothing_leaks),
		cmocka_unit_test(a_grandchild_prolongs_nothing),
		cmocka_unit_test(clocks),
		cmocka_unit_test(a_job_is_looked_at_and_ends),
		cmocka_unit_test(a_job_that_hangs_is_ended),
		cmocka_unit_test(a_job_that_floods_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
