/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/print.h"

enum { LINE = 20000 };

/* A reader that takes what is there each time the loop lets it. */
struct rig {
	struct loop *loop;
	struct loop_timer *timer;
	struct printer printer;
	int fd[2];
	char got[1 << 19];
	size_t len, until;
};

static void read_some(void *context)
{
	struct rig *rig = context;
	ssize_t n = read(rig->fd[0], rig->got + rig->len, sizeof rig->got - rig->len);
	rig->len += n > 0 ? (size_t)n : 0;
	if (rig->len >= rig->until)
		loop_stop(rig->loop);
	else
		loop_timer_set(rig->timer, 1);
}

/* With a full pipe whose writer blocks. Returns the bytes that are in it. */
static size_t start(struct rig *rig)
{
	struct err err = { 0 };
	size_t filled = 0;
	static char junk[4096];
	*rig = (struct rig){ .len = 0 };
	memset(junk, '.', sizeof junk);
	assert_int_equal(pipe2(rig->fd, O_NONBLOCK), 0);
	for (ssize_t n; (n = write(rig->fd[1], junk, sizeof junk)) > 0;)
		filled += (size_t)n;
	assert_int_equal(fcntl(rig->fd[1], F_SETFL, 0), 0);
	assert_int_equal(loop_new(LOOP_POLL, NULL, NULL, &rig->loop, &err), 0);
	assert_int_equal(loop_timer_new(rig->loop, read_some, rig, &rig->timer, &err), 0);
	assert_int_equal(printer_init(&rig->printer, rig->loop, rig->fd[1], &err), 0);
	return filled;
}

static void stop(struct rig *rig)
{
	printer_done(&rig->printer);
	loop_timer_free(rig->timer);
	loop_free(rig->loop);
	(void)close(rig->fd[0]), (void)close(rig->fd[1]);
}

static struct str line_of(char letter)
{
	static char line[LINE];
	memset(line, letter, sizeof line - 1);
	line[sizeof line - 1] = '\n';
	return (struct str){ line, sizeof line };
}

/* Lines wait for their reader, whole and in order; what has no room is left out whole. */
static void a_slow_reader_gets_whole_lines(void **state)
{
	static struct rig rig;
	struct err err = { 0 };
	(void)state;
	size_t filled = start(&rig);
	for (char letter = 'a'; letter <= 'c'; letter++)
		assert_true(printer_put(&rig.printer, line_of(letter)));
	assert_false(printer_put(&rig.printer, line_of('d')));
	assert_int_equal(rig.printer.dropped_total, 1);
	rig.until = filled + 3 * (size_t)LINE;
	loop_timer_set(rig.timer, 0);
	assert_int_equal(loop_run(rig.loop, &err), 0);
	assert_int_equal(rig.len, rig.until);
	for (int i = 0; i < 3; i++) {
		struct str want = line_of((char)('a' + i));
		assert_memory_equal(rig.got + filled + i * LINE, want.ptr, want.len);
	}
	assert_true(printer_put(&rig.printer, line_of('e'))); /* and there is room again */
	rig.until += LINE;
	loop_timer_set(rig.timer, 0);
	assert_int_equal(loop_run(rig.loop, &err), 0);
	assert_int_equal(rig.got[rig.len - 2], 'e');
	stop(&rig);
}

static void nobody_reads(void **state)
{
	static struct rig rig;
	(void)state;
	(void)start(&rig);
	(void)close(rig.fd[0]);
	assert_true(printer_put(&rig.printer, line_of('a')));
	assert_int_equal(rig.printer.waiting.len, 0); /* EPIPE: nobody ever will */
	stop(&rig);
	(void)start(&rig);
	assert_true(printer_put(&rig.printer, line_of('a')));
	stop(&rig); /* the end is not held up */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slow_reader_gets_whole_lines),
		cmocka_unit_test(nobody_reads),
	};
	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
