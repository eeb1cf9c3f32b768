/* SPDX-License-Identifier: Apache-2.0 */
#include "watch/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "sys/clock.h"
#include "sys/logger.h"

/* What both see. The child owns it from when a reading was taken until it has said that there is a new one. */
struct shared {
	struct reading reading;
	char failed[READING_TEXT_CAP]; /* why the agent could not start */
};

struct reader {
	struct shared *shared;
	pid_t pid;
	int from, to; /* pipes: a byte for each reading; a byte for each thing that is wished */
};

enum { SAID_READING = '.', SAID_TAKEN = 't', SAID_LOOK = 'l', SAID_REST = 'z' };

/* --- the child ---------------------------------------------------------------------------------------------------- */

struct child {
	struct shared *shared;
	int to, from;
	bool ours; /* the shared reading may be written */
};

static void saw(void *context, const struct agent_sight *sight)
{
	struct child *child = context;
	const char byte = SAID_READING;
	if (!child->ours)
		return;
	reading_take(&child->shared->reading, sight, clock_mono());
	child->ours = false;
	(void)!write(child->to, &byte, 1);
}

static enum agent_wish told(void *context)
{
	struct child *child = context;
	char bytes[64];
	enum agent_wish wish = AGENT_GO_ON;
	ssize_t n = read(child->from, bytes, sizeof bytes);
	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
		return AGENT_END; /* whoever looked on is gone */
	for (ssize_t i = 0; i < n; i++) {
		child->ours |= bytes[i] == SAID_TAKEN;
		if (bytes[i] == SAID_LOOK)
			wish = AGENT_LOOK;
		else if (bytes[i] == SAID_REST)
			wish = AGENT_REST;
	}
	return wish;
}

/* The terminal is not ours: its signals go to its own process group, and nothing of the agent is printed on it. */
static void leave_terminal(void)
{
	sigset_t none;
	(void)sigemptyset(&none);
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int number = 1; number < NSIG; number++)
		(void)signal(number, SIG_DFL);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; fd++)
		(void)dup2(null, fd);
	if (null > STDERR_FILENO)
		(void)close(null);
}

__attribute__((noreturn)) static void be_child(struct shared *shared, const struct agentconf *conf, const char *version,
					       int to, int from)
{
	struct child child = { shared, to, from, true };
	const struct agent_onlooker onlooker = { saw, from, told, &child };
	struct err err = { 0 };
	struct logger log;
	leave_terminal();
	logger_init(&log, STDERR_FILENO, SAY_ERROR);
	int rc = agent_run_seen(conf, &onlooker, &log, version, &err);
	str_copy(shared->failed, sizeof shared->failed, str_of(rc < 0 ? err.message : ""));
	_exit(rc < 0);
}

/* --- whoever looks on --------------------------------------------------------------------------------------------- */

static int make(struct reader *reader, int pipes[2][2], struct err *err)
{
	for (int i = 0; i < 2; i++)
		if (pipe2(pipes[i], O_CLOEXEC | O_NONBLOCK) < 0)
			return err_sys(err, errno, "no pipe to the reader");
	void *memory = mmap(NULL, sizeof *reader->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return err_set(err, ERR_NOMEM, "no memory to share with the reader");
	reader->shared = memory;
	return 0;
}

int reader_start(const struct agentconf *conf, const char *version, struct reader **ret_reader, struct err *err)
{
	int pipes[2][2] = { { -1, -1 }, { -1, -1 } };
	struct reader *reader = calloc(1, sizeof *reader);
	if (!reader)
		return err_set(err, ERR_NOMEM, "no memory for the reader");
	reader->from = reader->to = -1;
	int rc = make(reader, pipes, err);
	if (rc == 0)
		reader->pid = fork();
	if (rc == 0 && reader->pid < 0)
		rc = err_sys(err, errno, "the reader could not be started");
	if (rc == 0 && reader->pid == 0) {
		(void)close(pipes[0][0]);
		(void)close(pipes[1][1]);
		/* A parent that went before PR_SET_PDEATHSIG: its pipe ends, and told() sees it. */
		be_child(reader->shared, conf, version, pipes[0][1], pipes[1][0]);
	}
	auto_close int child_writes = pipes[0][1], child_reads = pipes[1][0];
	(void)child_writes;
	(void)child_reads;
	reader->from = pipes[0][0];
	reader->to = pipes[1][1];
	if (rc < 0)
		reader_free(reader);
	else
		*ret_reader = reader;
	return rc;
}

void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	if (reader->from >= 0)
		(void)close(reader->from);
	if (reader->to >= 0)
		(void)close(reader->to);
	if (reader->pid > 0) {
		/* One that is stuck in the kernel dies when it comes out: nobody waits for it. */
		(void)kill(reader->pid, SIGKILL);
		(void)waitpid(reader->pid, NULL, WNOHANG);
	}
	if (reader->shared)
		(void)munmap(reader->shared, sizeof *reader->shared);
	free(reader);
}

int reader_fd(const struct reader *reader)
{
	return reader->from;
}

static void say(struct reader *reader, char byte)
{
	(void)!write(reader->to, &byte, 1);
}

/* `reader` is reaped here, or later by init. */
static void say_end(struct reader *reader, char why[READING_TEXT_CAP])
{
	int status = 0;
	bool reaped = reader->pid > 0 && waitpid(reader->pid, &status, 0) == reader->pid;
	reader->pid = 0;
	if (reader->shared->failed[0])
		str_copy(why, READING_TEXT_CAP, str_of(reader->shared->failed));
	else if (reaped && WIFSIGNALED(status))
		(void)snprintf(why, READING_TEXT_CAP, "the reader was ended by signal %d", WTERMSIG(status));
	else
		(void)snprintf(why, READING_TEXT_CAP, "the reader has ended");
}

enum reader_news reader_look(struct reader *reader, struct reading *ret_reading, char why[READING_TEXT_CAP])
{
	char byte;
	ssize_t n = read(reader->from, &byte, 1);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return READER_NOTHING;
	if (n <= 0) {
		say_end(reader, why);
		return READER_ENDED;
	}
	memcpy(ret_reading, &reader->shared->reading, sizeof *ret_reading);
	say(reader, SAID_TAKEN);
	return READER_READING;
}

void reader_wish(struct reader *reader, enum agent_wish wish)
{
	if (wish == AGENT_LOOK)
		say(reader, SAID_LOOK);
	else if (wish == AGENT_REST)
		say(reader, SAID_REST);
}
