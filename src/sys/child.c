/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/proc.h"

enum {
	READ_CHUNK = 16 * 1024,
	REAP_GRACE_MS = 200, /* a killed child ends at once unless it is stuck in the kernel */
	POLL_WITHOUT_PIDFD_MS = 5,
};

bool child_write(int fd, struct str bytes)
{
	while (bytes.len) {
		ssize_t n = write(fd, bytes.ptr, bytes.len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return false;
		bytes = str_skip(bytes, (size_t)n);
	}
	return true;
}

/* Handlers of the parent must not run here, and its ignored signals must not make a write hang or loop. */
static void reset_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	for (int number = 1; number < NSIG; number++)
		(void)sigaction(number, &action, NULL); /* KILL, STOP and libc's own refuse */
	sigset_t none;
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

static _Noreturn void be_child(child_work *work, void *context, int out_fd, pid_t parent)
{
	reset_signals();
	/* The parent may have died before this took effect. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(127);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null >= 0)
		(void)dup2(null, STDIN_FILENO);
	_exit(work(context, out_fd) & 0xff);
}

/* True once reaped. ECHILD (somebody ignores SIGCHLD) counts as ended with an unknown status. */
static bool reap(pid_t pid, struct child_result *result)
{
	int status;
	pid_t r;
	do
		r = waitpid(pid, &status, WNOHANG);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		return false;
	result->exit_status = r == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	result->signal = r == pid && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return true;
}

enum drained { DRAINED_OPEN, DRAINED_END, DRAINED_FULL, DRAINED_NOMEM };

/* Take what is in the pipe. */
static enum drained drain(int fd, size_t cap, struct buf *out)
{
	for (;;) {
		char chunk[READ_CHUNK];
		ssize_t n = read(fd, chunk, sizeof chunk);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return DRAINED_OPEN; /* EAGAIN: no more for now */
		if (n == 0)
			return DRAINED_END;
		if ((size_t)n > cap - out->len)
			return DRAINED_FULL;
		if (!buf_add(out, (struct str){ chunk, (size_t)n }))
			return DRAINED_NOMEM;
	}
}

static int timeout_ms(struct mono deadline, bool has_pidfd)
{
	uint64_t ms = mono_ms_until(clock_mono(), deadline);
	if (!has_pidfd && ms > POLL_WITHOUT_PIDFD_MS)
		return POLL_WITHOUT_PIDFD_MS;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

/* The child has ended (0), or why it must be ended. */
static enum err_kind collect(pid_t pid, int fd, struct mono deadline, size_t cap, struct buf *out,
			     struct child_result *result)
{
	auto_close int pidfd = proc_pidfd(pid); /* without one the wait looks every few milliseconds */
	bool open = true;
	for (;;) {
		bool ended = reap(pid, result);
		/* Drained after the look at the child: an ended child's last bytes are in the pipe by now. */
		enum drained drained = open ? drain(fd, cap, out) : DRAINED_END;
		open = drained == DRAINED_OPEN;
		if (drained == DRAINED_NOMEM || drained == DRAINED_FULL) {
			/* Nothing left to kill; the caller's verdict is the same. */
			result->unreaped = ended ? -1 : 0;
			return drained == DRAINED_FULL ? ERR_LIMIT : ERR_NOMEM;
		}
		if (ended)
			return ERR_NONE;
		int ms = timeout_ms(deadline, pidfd >= 0);
		if (ms == 0)
			return ERR_TIMEOUT;
		struct pollfd waits[2] = { { .fd = pidfd, .events = POLLIN },
					   { .fd = open ? fd : -1, .events = POLLIN } };
		(void)poll(waits, 2, ms); /* whatever it says, the loop looks itself */
	}
}

static void end_child(pid_t pid, struct child_result *result)
{
	(void)kill(pid, SIGKILL); /* ours and not reaped, so the number cannot be another's */
	struct mono give_up = mono_add_ms(clock_mono(), REAP_GRACE_MS);
	while (!reap(pid, result)) {
		if (mono_ms_until(clock_mono(), give_up) == 0) {
			*result = (struct child_result){ .exit_status = -1, .unreaped = pid };
			return;
		}
		(void)poll(NULL, 0, 1);
	}
}

static int verdict(enum err_kind kind, size_t cap, struct err *err)
{
	if (kind == ERR_NONE)
		return 0;
	if (kind == ERR_TIMEOUT)
		return err_set(err, kind, "no answer in time");
	if (kind == ERR_LIMIT)
		return err_set(err, kind, "the answer is larger than %zu bytes", cap);
	return err_set(err, kind, "no memory for the answer");
}

/* A child whose pipe is `ret_fd`; our end does not block. */
static int spawn(child_work *work, void *context, bool close_ours, pid_t *ret_pid, int *ret_fd, struct err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(err, errno, "pipe");
	auto_close int read_end = ends[0];
	pid_t parent = getpid();
	pid_t pid = fork();
	if (pid == 0) {
		if (close_ours && ends[1] > STDERR_FILENO) {
			if (ends[1] > STDERR_FILENO + 1)
				(void)close_range(STDERR_FILENO + 1, (unsigned)ends[1] - 1, 0);
			(void)close_range((unsigned)ends[1] + 1, UINT_MAX,
					  0); /* Linux 5.9+; before it they stay open */
		} else {
			(void)close(ends[0]);
		}
		be_child(work, context, ends[1], parent);
	}
	int errnum = errno;
	(void)close(ends[1]);
	if (pid < 0)
		return err_sys(err, errnum, "fork");
	/* Only our end: the child writes to a pipe that blocks. */
	(void)fcntl(read_end, F_SETFL, O_NONBLOCK);
	*ret_pid = pid;
	*ret_fd = TAKE_FD(read_end);
	return 0;
}

int child_start(child_work *work, void *context, struct child_job *ret_job, struct err *err)
{
	pid_t pid;
	int fd;
	int rc = spawn(work, context, true, &pid, &fd, err);
	if (rc == 0)
		*ret_job = (struct child_job){ pid, fd };
	return rc;
}

enum child_state child_look(struct child_job *job, struct buf *out, struct child_result *ret)
{
	*ret = (struct child_result){ .exit_status = -1 };
	bool ended = reap(job->pid, ret);
	enum drained drained = drain(job->fd, out->cap, out);
	if (ended)
		job->pid = 0;
	if (drained == DRAINED_FULL)
		return CHILD_TOO_MUCH;
	if (drained == DRAINED_NOMEM)
		return CHILD_NOMEM;
	return ended ? CHILD_DONE : CHILD_RUNS;
}

void child_end(struct child_job *job, struct child_result *ret)
{
	if (job->pid)
		end_child(job->pid, ret);
	if (job->fd > 0)
		(void)close(job->fd);
	*job = (struct child_job){ 0, -1 };
}

int child_run(child_work *work, void *context, struct mono deadline, size_t cap, struct buf *out,
	      struct child_result *ret, struct err *err)
{
	buf_clear(out);
	out->cap = cap;
	auto_close int read_end = -1;
	pid_t pid;
	int rc = spawn(work, context, false, &pid, &read_end, err);
	if (rc < 0)
		return rc;
	struct child_result result = { .exit_status = -1 };
	enum err_kind kind = collect(pid, read_end, deadline, cap, out, &result);
	if (kind != ERR_NONE && result.unreaped == 0)
		end_child(pid, &result);
	else
		result.unreaped = 0;
	if (kind != ERR_NOMEM)
		*ret = result;
	return verdict(kind, cap, err);
}
