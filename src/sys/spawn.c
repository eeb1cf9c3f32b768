/* SPDX-License-Identifier: Apache-2.0 */
#include "sys/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"

static const char own_program[] = "/proc/self/exe";

/* Blocked signals and ignored ones outlive execve(2), and the loop blocks SIGTERM. */
static void reset_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t none;
	for (int number = 1; number < NSIG; number++)
		(void)sigaction(number, &action, NULL); /* KILL, STOP and libc's own refuse */
	(void)sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Raising it needs no right (proc_pid_oom_score_adj(5)). What is not to be had is no reason to stay away. */
static void offer_to_oom(int more)
{
	char text[16] = "";
	auto_close int fd = open("/proc/self/oom_score_adj", O_RDWR | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (len <= 0)
		return;
	long score = strtol(text, NULL, 10) + more;
	len = snprintf(text, sizeof text, "%ld", score > 1000 ? 1000 : score);
	(void)!pwrite(fd, text, (size_t)len, 0);
}

/* In the child. Returns only with an errno. */
static int become(const struct spawn_options *options, int null, pid_t parent)
{
	reset_signals();
	(void)close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC);
	offer_to_oom(options->oom_score_adj);
	struct rlimit data = { options->data_bytes, options->data_bytes };
	if (options->data_bytes && setrlimit(RLIMIT_DATA, &data) < 0)
		return errno;
	if (options->set_ids && (setresgid(options->gid, options->gid, options->gid) < 0 ||
				 setresuid(options->uid, options->uid, options->uid) < 0))
		return errno;
	/* After the change of user, which forgets it; the parent may have died before it took effect. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) < 0)
		return errno;
	if (getppid() != parent)
		return ESRCH;
	(void)dup2(null, STDIN_FILENO);
	execve(own_program, options->argv, options->environment);
	return errno;
}

int spawn_start(const struct spawn_options *options, int *ret_pid, struct err *err)
{
	int ends[2], failure = 0;
	/* execve(2) closes it: what comes through is why there was none. */
	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_sys(err, errno, "pipe");
	auto_close int said = ends[0];
	auto_close int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	pid_t parent = getpid();
	pid_t pid = fork();
	if (pid == 0) {
		failure = become(options, null, parent);
		(void)!write(ends[1], &failure, sizeof failure);
		_exit(127);
	}
	int errnum = errno;
	(void)close(ends[1]);
	if (pid < 0)
		return err_sys(err, errnum, "fork");
	ssize_t n;
	do
		n = read(said, &failure, sizeof failure);
	while (n < 0 && errno == EINTR);
	if (n <= 0) {
		*ret_pid = pid;
		return 0;
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (options->set_ids)
		return err_sys(err, failure, "%s as user %u", own_program, options->uid);
	return err_sys(err, failure, "%s", own_program);
}

bool spawn_ended(int pid, int *ret_exit_status, int *ret_signal)
{
	int status;
	pid_t reaped;
	do
		reaped = waitpid(pid, &status, WNOHANG);
	while (reaped < 0 && errno == EINTR);
	if (reaped == 0)
		return false;
	bool known = reaped == pid;
	*ret_exit_status = known && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	*ret_signal = known && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	return true;
}
