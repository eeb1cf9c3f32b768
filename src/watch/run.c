/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sys/clock.h"
#include "watch/layout.h"
#include "watch/reader.h"
#include "watch/term.h"

enum {
	LOOK_MS = 1000,       /* ages on the screen are shown anew so often */
	FIRST_MS = 3000,      /* so long the first reading is waited for before the terminal is taken */
	HANGS_MS = 10000,     /* a reader that says nothing for so long beyond its interval is told of */
	AGAIN_MS = 5000,      /* one that fell is started again after so long */
	RESCUE_S = 2,         /* to leave in good order, when told to by a signal */
	PLAIN_COLUMNS = 100,  /* of a terminal that does not say */
	PLAIN_EVERY_MS = 5000 /* whole pictures on a terminal that can only be written on */
};

struct run {
	const struct run_options *options;
	struct reader *reader; /* NULL: it fell, and is started again at again_at */
	struct mono again_at;
	struct reading *reading, *shown; /* shown: what a pause holds still */
	struct story *story;
	struct screen *screen;
	struct view view;
	bool any, plain, utf8, changed;
	unsigned columns, rows;
	unsigned page; /* lines of the pane that are shown */
	char trouble[READING_TEXT_CAP];
	struct mono heard, printed;
};

/* --- signals ------------------------------------------------------------------------------------------------------ */

static int wake_pipe[2] = { -1, -1 };
static volatile sig_atomic_t ends_by;

/* A terminal that takes no bytes (Ctrl-S, a dead line) would hold us in write(2): then the alarm ends it. */
static void on_end(int number)
{
	int errnum = errno;
	ends_by = number;
	(void)!write(wake_pipe[1], "e", 1);
	(void)alarm(RESCUE_S);
	errno = errnum;
}

static void on_wake(int number)
{
	int errnum = errno;
	(void)!write(wake_pipe[1], number == SIGTSTP ? "z" : "w", 1);
	errno = errnum;
}

static void on_fall(int number)
{
	term_rescue();
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

static void on_alarm(int number)
{
	(void)number;
	term_rescue();
	_exit(128 + ends_by);
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	(void)sigemptyset(&action.sa_mask);
	(void)sigaction(number, &action, NULL);
}

static int take_signals(struct err *err)
{
	static const int falls[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };
	if (wake_pipe[0] < 0 && pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return err_sys(err, errno, "no pipe for signals");
	handle(SIGTERM, on_end, 0);
	handle(SIGINT, on_end, 0);
	handle(SIGHUP, on_end, 0);
	handle(SIGALRM, on_alarm, 0);
	handle(SIGWINCH, on_wake, SA_RESTART);
	handle(SIGTSTP, on_wake, SA_RESTART);
	handle(SIGPIPE, SIG_IGN, 0);
	for (size_t i = 0; i < sizeof falls / sizeof falls[0]; i++)
		handle(falls[i], on_fall, SA_NODEFER);
	return 0;
}

/* --- the reader --------------------------------------------------------------------------------------------------- */

static void take_reading(struct run *run)
{
	char why[READING_TEXT_CAP];
	switch (reader_look(run->reader, run->reading, why)) {
	case READER_NOTHING:
		return;
	case READER_READING:
		run->any = true;
		run->heard = clock_mono();
		run->trouble[0] = '\0';
		story_feed(run->story, run->reading);
		if (!run->view.paused)
			*run->shown = *run->reading;
		break;
	case READER_ENDED:
		(void)snprintf(run->trouble, sizeof run->trouble, "%.280s; it is started again", why);
		story_tell(run->story, clock_wall(), SEVERITY_WARNING, "%.200s", why);
		reader_free(run->reader);
		run->reader = NULL;
		run->again_at = mono_add_ms(clock_mono(), AGAIN_MS);
		break;
	}
	run->changed = true;
}

static void start_again(struct run *run)
{
	struct err err = { 0 };
	if (run->reader || mono_ms_until(clock_mono(), run->again_at) > 0)
		return;
	if (reader_start(run->options->conf, run->options->version, &run->reader, &err) == 0) {
		run->heard = clock_mono();
		return;
	}
	run->reader = NULL;
	run->again_at = mono_add_ms(clock_mono(), AGAIN_MS);
	str_copy(run->trouble, sizeof run->trouble, str_of(err.message));
}

static void notice_hang(struct run *run)
{
	uint64_t interval_ms = run->any ? run->reading->interval_ms : 0;
	uint64_t silent_ms = mono_ms_until(run->heard, clock_mono());
	if (!run->reader || silent_ms < interval_ms + HANGS_MS)
		return;
	(void)snprintf(run->trouble, sizeof run->trouble,
		       "no reading for %llu s: the reader waits for the kernel or for a file of the JVM",
		       (unsigned long long)(silent_ms / 1000));
}

/* --- what is shown ------------------------------------------------------------------------------------------------ */

static struct layout_input input_of(const struct run *run)
{
	const struct reading *reading = run->any ? run->shown : NULL;
	uint64_t age_ms = reading ? mono_ms_until(reading->read, clock_mono()) : 0;
	return (struct layout_input){ reading, run->story, &run->view, age_ms, run->trouble };
}

static void print_plain(struct run *run)
{
	auto_buf struct buf text = { .cap = sizeof run->screen->cells };
	struct layout_input input = input_of(run);
	unsigned rows = run->rows > 4 ? run->rows : 24;
	run->printed = clock_mono();
	(void)layout_draw(&input, run->columns, rows, run->utf8, run->screen);
	/* The line of keys is for who can press one. */
	run->screen->rows -= run->screen->rows > 1;
	if (!screen_text(run->screen, &text))
		return;
	while (text.len > 1 && text.ptr[text.len - 2] == '\n')
		text.len--;
	(void)fwrite(text.ptr, 1, text.len, stdout);
	(void)fputs("--\n", stdout);
	(void)fflush(stdout);
}

static void show(struct run *run)
{
	if (run->plain) {
		if (run->changed && mono_ms_until(run->printed, clock_mono()) >= PLAIN_EVERY_MS)
			print_plain(run);
	} else {
		struct layout_input input = input_of(run);
		struct layout_extent pane = layout_draw(&input, run->columns, run->rows, run->utf8, run->screen);
		/* Not further than to its last page. */
		unsigned most = pane.lines > pane.page ? pane.lines - pane.page : 0;
		run->page = pane.page;
		if (run->view.scroll > most) {
			run->view.scroll = most;
			(void)layout_draw(&input, run->columns, run->rows, run->utf8, run->screen);
		}
		term_paint(run->screen);
	}
	run->changed = false;
}

/* --- the loop ----------------------------------------------------------------------------------------------------- */

/* True: quit. */
static bool take_keys(struct run *run)
{
	if (run->plain) {
		char bytes[64];
		ssize_t n = read(STDIN_FILENO, bytes, sizeof bytes);
		return n == 0 || (n > 0 && memchr(bytes, 'q', (size_t)n));
	}
	for (int key; (key = term_key()) != PRESS_NOTHING;) {
		bool was_paused = run->view.paused;
		size_t n = run->any && run->shown->has_target ? run->shown->verdict.n_findings : 0;
		enum keys_wish wish = keys_press(&run->view, key, n, run->page);
		if (wish == KEYS_QUIT)
			return true;
		if (wish == KEYS_LOOK && run->reader)
			reader_wish(run->reader, AGENT_LOOK);
		if (was_paused && !run->view.paused)
			*run->shown = *run->reading;
		run->changed = true;
	}
	return false;
}

static void take_wakes(struct run *run)
{
	char byte;
	while (read(wake_pipe[0], &byte, 1) == 1) {
		if (byte == 'z') {
			if (run->reader)
				reader_wish(run->reader, AGENT_REST);
			if (run->plain)
				(void)raise(SIGSTOP);
			else
				term_stop();
			if (run->reader)
				reader_wish(run->reader, AGENT_LOOK);
			run->heard = clock_mono();
		} else if (byte == 'w' && !run->plain) {
			term_resized();
		}
		term_size(&run->columns, &run->rows);
		run->changed = true;
	}
}

static int loop(struct run *run)
{
	while (!ends_by) {
		struct pollfd fds[] = { { .fd = STDIN_FILENO, .events = POLLIN },
					{ .fd = wake_pipe[0], .events = POLLIN },
					{ .fd = run->reader ? reader_fd(run->reader) : -1, .events = POLLIN } };
		show(run);
		(void)poll(fds, 3, LOOK_MS);
		take_wakes(run);
		if (fds[2].revents && run->reader)
			take_reading(run);
		if (fds[0].revents & POLLIN) {
			if (take_keys(run))
				return 0;
		} else if (fds[0].revents) {
			return SIGHUP; /* the terminal is gone */
		}
		start_again(run);
		notice_hang(run);
	}
	return ends_by == SIGINT ? 0 : ends_by;
}

/* Before the terminal is taken: a process that is not there is told on an ordinary line. */
static int wait_first(struct run *run, struct err *err)
{
	struct mono deadline = mono_add_ms(clock_mono(), FIRST_MS);
	while (!run->any && run->reader && !ends_by) {
		struct pollfd fd = { .fd = reader_fd(run->reader), .events = POLLIN };
		uint64_t left_ms = mono_ms_until(clock_mono(), deadline);
		if (left_ms == 0)
			return 0;
		(void)poll(&fd, 1, (int)left_ms);
		take_reading(run);
	}
	if (!run->reader)
		return err_set(err, ERR_IO, "%s", run->trouble);
	if (run->any && !run->reading->has_target && run->options->conf->pid)
		return err_set(err, ERR_GONE, "%s", run->reading->waiting);
	return 0;
}

static int open_terminal(struct run *run)
{
	struct err why = { 0 };
	run->utf8 = term_utf8();
	run->plain = term_open(run->options->color, &why) < 0;
	if (run->plain)
		(void)printf("%s: a picture each %d s; q and Enter, or Ctrl-C, ends it\n", why.message,
			     PLAIN_EVERY_MS / 1000);
	/* ncurses has put handlers of its own in place of some. */
	int rc = take_signals(&why);
	term_size(&run->columns, &run->rows);
	if (run->plain)
		run->columns = run->columns < PLAIN_COLUMNS ? run->columns : PLAIN_COLUMNS;
	return rc;
}

static int run_all(struct run *run, int *ret_signal, struct err *err)
{
	int rc = reader_start(run->options->conf, run->options->version, &run->reader, err);
	if (rc < 0)
		return rc;
	run->heard = clock_mono();
	run->changed = true;
	rc = take_signals(err);
	if (rc == 0)
		rc = wait_first(run, err);
	if (rc == 0)
		rc = open_terminal(run);
	if (rc == 0)
		*ret_signal = loop(run);
	term_close();
	reader_free(run->reader);
	return rc;
}

int run_watch(const struct run_options *options, int *ret_signal, struct err *err)
{
	struct run run = { .options = options };
	auto_free struct reading *reading = calloc(1, sizeof *reading);
	auto_free struct reading *shown = calloc(1, sizeof *shown);
	auto_free struct story *story = calloc(1, sizeof *story);
	auto_free struct screen *screen = calloc(1, sizeof *screen);
	if (!reading || !shown || !story || !screen)
		return err_set(err, ERR_NOMEM, "no memory");
	run.reading = reading;
	run.shown = shown;
	run.story = story;
	run.screen = screen;
	return run_all(&run, ret_signal, err);
}
