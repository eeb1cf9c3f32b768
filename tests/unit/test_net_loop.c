/* SPDX-License-Identifier: Apache-2.0 */
/* Timers, descriptors, signals and work, on both kinds of loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "net/loop.h"

static struct loop *loop;
static struct loop_timer *timers[4];
static struct loop_watch *watch;
static char log_text[256];
static int ends[2];

static void note(const char *text)
{
	strcat(log_text, text);
}

static void start(enum loop_kind kind)
{
	struct err err;
	log_text[0] = '\0';
	assert_int_equal(loop_new(kind, NULL, NULL, &loop, &err), 0);
}

static void run(void)
{
	struct err err;
	assert_int_equal(loop_run(loop, &err), 0);
}

static void on_timer(void *context)
{
	note(context);
	if (*(const char *)context == 'z')
		loop_stop(loop);
}

static void on_free_self(void *context)
{
	note(context);
	loop_timer_free(timers[0]);
	timers[0] = NULL;
}

static void timers_fire_in_their_order(enum loop_kind kind)
{
	struct err err;
	start(kind);
	static const char *const names[] = { "a", "b", "c", "z" };
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(loop_timer_new(loop, i == 0 ? on_free_self : on_timer, (void *)(uintptr_t)names[i],
						&timers[i], &err),
				 0);
	loop_timer_set(timers[0], 30);
	loop_timer_set(timers[1], 10);
	loop_timer_set(timers[2], 1);
	loop_timer_set(timers[3], 60);
	loop_timer_set(timers[2], 45); /* moved */
	struct mono before = loop_now(loop);
	run();
	assert_string_equal(log_text, "bacz");
	assert_true(loop_now(loop).ns >= mono_add_ms(before, 55).ns);
	/* Again, and a cancelled one. */
	loop_timer_set(timers[1], 5);
	loop_timer_set(timers[2], 1);
	loop_timer_cancel(timers[2]);
	loop_timer_set(timers[3], 20);
	run();
	assert_string_equal(log_text, "baczbz");
	for (size_t i = 0; i < 4; i++)
		loop_timer_free(timers[i]);
	loop_free(loop);
}

static void on_pipe(void *context)
{
	char byte;
	(void)context;
	ssize_t n = read(ends[0], &byte, 1);
	note(n == 1 ? "r" : "e");
	if (n == 0) {
		loop_watch_free(watch);
		loop_stop(loop);
	}
}

static void a_pipe_is_read_to_its_end(enum loop_kind kind)
{
	struct err err;
	start(kind);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(loop_watch_new(loop, ends[0], on_pipe, NULL, &watch, &err), 0);
	assert_int_equal(write(ends[1], "abc", 3), 3);
	close(ends[1]); /* POLLHUP together with the bytes */
	run();
	assert_string_equal(log_text, "rrre");
	assert_int_equal(close(ends[0]), 0); /* it is still ours */
	loop_free(loop);
}

static void on_signal(void *context, int number)
{
	(void)context;
	note(number == SIGTERM ? "T" : "H");
	if (number == SIGTERM)
		loop_stop(loop);
}

static void signals_are_calls(enum loop_kind kind)
{
	static const int signals[] = { SIGTERM, SIGHUP };
	struct err err;
	start(kind);
	assert_int_equal(loop_signals(loop, signals, 2, on_signal, NULL, &err), 0);
	assert_true(loop_signals(loop, signals, 2, on_signal, NULL, &err) < 0);
	/* To the process: whatever thread does not block them would take them, and end it. */
	assert_int_equal(kill(getpid(), SIGHUP), 0);
	assert_int_equal(kill(getpid(), SIGTERM), 0);
	run();
	assert_non_null(strchr(log_text, 'T'));
	assert_non_null(strchr(log_text, 'H'));
	loop_free(loop);
}

static void on_work(void *context)
{
	*(int *)context += 1;
}

static void on_done(void *context)
{
	*(int *)context *= 10;
	loop_stop(loop);
}

static void work_is_done_on_a_thread(void **state)
{
	(void)state;
	struct err err;
	int value = 1;
	start(LOOP_UV);
	assert_int_equal(loop_work(loop, on_work, on_done, &value, &err), 0);
	run();
	assert_int_equal(value, 20);
	loop_free(loop);
	start(LOOP_POLL);
	assert_true(loop_work(loop, on_work, on_done, &value, &err) < 0);
	assert_int_equal(err.kind, ERR_UNSUPPORTED);
	loop_free(loop);
}

static unsigned n_threads(void)
{
	unsigned n = 0;
	DIR *dir = opendir("/proc/self/task");
	assert_non_null(dir);
	while (readdir(dir))
		n++;
	(void)closedir(dir);
	return n - 2; /* "." and ".." */
}

/* In a process that has no work yet: libuv aborts where it may make no threads, which may be only at the start. */
static void threads_are_there_from_the_start(void **state)
{
	(void)state;
	assert_int_equal(n_threads(), 1);
	start(LOOP_UV);
	assert_true(n_threads() > 1);
	loop_free(loop);
}

#define BOTH(test)                               \
	static void test##_on_poll(void **state) \
	{                                        \
		(void)state;                     \
		test(LOOP_POLL);                 \
	}                                        \
	static void test##_on_uv(void **state)   \
	{                                        \
		(void)state;                     \
		test(LOOP_UV);                   \
	}
#define TESTS(test) cmocka_unit_test(test##_on_poll), cmocka_unit_test(test##_on_uv)

BOTH(timers_fire_in_their_order)
BOTH(a_pipe_is_read_to_its_end)
BOTH(signals_are_calls)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_are_there_from_the_start), /* the first */
		TESTS(timers_fire_in_their_order),
		TESTS(a_pipe_is_read_to_its_end),
		TESTS(signals_are_calls),
		cmocka_unit_test(work_is_done_on_a_thread),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
