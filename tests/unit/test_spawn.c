/* SPDX-License-Identifier: Apache-2.0 */
/* This program once more, as a process of its own: what it has of ours, as whom it runs, how it ends. */
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
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "sys/spawn.h"

#define DATA_BYTES (UINT64_C(1) << 46) /* of address space, which a sanitizer's shadow takes as well */

enum { NOBODY = 65534, WAIT_MS = 20000, OOM_MORE = 7 };

/* --- the program that is begun: its exit status says what is not as it should be --------------------- */

enum {
	WELL = 0,
	BAD_INPUT = 20,
	BAD_FILES,
	BAD_ENVIRONMENT,
	BAD_SIGNALS,
	BAD_PRIVILEGES,
	BAD_LIMIT,
	BAD_PARENT,
	BAD_OOM
};

static bool stdin_is_null(void)
{
	struct stat input, null;
	return fstat(STDIN_FILENO, &input) == 0 && stat("/dev/null", &null) == 0 && input.st_rdev == null.st_rdev;
}

/* The fourth is of the directory that is being read. */
static bool has_three_files(void)
{
	DIR *fds = opendir("/proc/self/fd");
	unsigned n = 0;
	const struct dirent *entry;
	while (fds && (entry = readdir(fds)))
		n += entry->d_name[0] != '.';
	if (fds)
		(void)closedir(fds);
	return n == 4;
}

static bool signals_are_as_at_first(void)
{
	sigset_t blocked;
	struct sigaction pipe_action;
	return sigprocmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGTERM) &&
	       sigaction(SIGPIPE, NULL, &pipe_action) == 0 && pipe_action.sa_handler == SIG_DFL;
}

static bool line_of_status(const char *key, char *dest, size_t cap)
{
	char line[256];
	bool found = false;
	FILE *f = fopen("/proc/self/status", "re");
	while (f && !found && fgets(line, sizeof line, f))
		if (strncmp(line, key, strlen(key)) == 0) {
			line[strcspn(line, "\n")] = '\0';
			str_copy(dest, cap, str_trim(str_of(line + strlen(key))));
			found = true;
		}
	if (f)
		(void)fclose(f);
	return found;
}

static long own_oom(void)
{
	char text[16] = "";
	int fd = open("/proc/self/oom_score_adj", O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof text - 1);
	(void)close(fd);
	return n > 0 ? strtol(text, NULL, 10) : -1;
}

static int check_all(char **argv, char **environment)
{
	struct rlimit data;
	int at_death = 0;
	char none[8];
	if (!stdin_is_null())
		return BAD_INPUT;
	if (!has_three_files())
		return BAD_FILES;
	if (!environment[0] || strcmp(environment[0], "ONLY=this") != 0 || environment[1])
		return BAD_ENVIRONMENT;
	if (!signals_are_as_at_first())
		return BAD_SIGNALS;
	if (!line_of_status("NoNewPrivs:", none, sizeof none) || strcmp(none, "1") != 0)
		return BAD_PRIVILEGES;
	if (getrlimit(RLIMIT_DATA, &data) != 0 || data.rlim_cur != DATA_BYTES || data.rlim_max != DATA_BYTES)
		return BAD_LIMIT;
	if (prctl(PR_GET_PDEATHSIG, &at_death) != 0 || at_death != SIGTERM)
		return BAD_PARENT;
	return own_oom() == strtol(argv[2], NULL, 10) ? WELL : BAD_OOM;
}

static int check_nobody(void)
{
	uid_t uid, effective, saved;
	gid_t gid, effective_gid, saved_gid;
	char caps[32];
	return getresuid(&uid, &effective, &saved) == 0 && getresgid(&gid, &effective_gid, &saved_gid) == 0 &&
			       uid == NOBODY && effective == NOBODY && saved == NOBODY && gid == NOBODY &&
			       effective_gid == NOBODY && saved_gid == NOBODY &&
			       line_of_status("CapPrm:", caps, sizeof caps) && strcmp(caps, "0000000000000000") == 0
		       ? WELL
		       : BAD_PRIVILEGES;
}

static int be_the_child(char **argv, char **environment)
{
	if (strcmp(argv[1], "--check") == 0)
		return check_all(argv, environment);
	if (strcmp(argv[1], "--nobody") == 0)
		return check_nobody();
	if (strcmp(argv[1], "--wait") == 0)
		for (;;)
			(void)pause();
	return atoi(argv[2]);
}

/* --- the tests ------------------------------------------------------------------------------------------ */

static char *const environment[] = { "ONLY=this", NULL };

static int start(struct spawn_options *options, const char *what, const char *more)
{
	char *const argv[] = { "spawned", (char *)what, (char *)more, NULL };
	struct err err = { 0 };
	int pid = -1;
	options->argv = argv;
	options->environment = environment;
	if (spawn_start(options, &pid, &err) < 0)
		fail_msg("%s", err.message);
	assert_true(pid > 0);
	return pid;
}

static void nap(void)
{
	const struct timespec ms = { .tv_nsec = 5000000 };
	(void)nanosleep(&ms, NULL);
}

static int wait_for(int pid, int *ret_signal)
{
	int status = -2;
	for (int i = 0; i < WAIT_MS / 5; i++, nap())
		if (spawn_ended(pid, &status, ret_signal))
			return status;
	fail_msg("it does not end");
	return -2;
}

static void how_it_ended(void **state)
{
	struct spawn_options options = { 0 };
	int signal = -1, status = -1;
	(void)state;
	assert_int_equal(wait_for(start(&options, "--exit", "0"), &signal), 0);
	assert_int_equal(signal, 0);
	assert_int_equal(wait_for(start(&options, "--exit", "42"), &signal), 42);
	int pid = start(&options, "--wait", NULL);
	assert_false(spawn_ended(pid, &status, &signal));
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(wait_for(pid, &signal), -1);
	assert_int_equal(signal, SIGKILL);
	/* It is reaped; of who is no child of ours nothing is known. */
	assert_true(spawn_ended(pid, &status, &signal));
	assert_int_equal(status, -1);
	assert_int_equal(signal, 0);
}

/* The agent's loop blocks SIGTERM and ignores SIGPIPE, and has files that a child must not hold open. */
static void what_it_has_of_ours(void **state)
{
	char oom[16];
	struct spawn_options options = { .data_bytes = DATA_BYTES, .oom_score_adj = OOM_MORE };
	sigset_t term, before;
	int signal, more[8];
	(void)state;
	(void)sigemptyset(&term);
	(void)sigaddset(&term, SIGTERM);
	assert_int_equal(sigprocmask(SIG_BLOCK, &term, &before), 0);
	const struct sigaction ignore = { .sa_handler = SIG_IGN };
	struct sigaction pipe_before;
	assert_int_equal(sigaction(SIGPIPE, &ignore, &pipe_before), 0);
	for (int i = 0; i < 8; i++)
		more[i] = open("/dev/null", O_RDONLY); /* NOLINT(android-cloexec-open): that is what is tested */
	long score = own_oom() + OOM_MORE;
	(void)snprintf(oom, sizeof oom, "%ld", score > 1000 ? 1000 : score);
	assert_int_equal(wait_for(start(&options, "--check", oom), &signal), WELL);
	for (int i = 0; i < 8; i++)
		(void)close(more[i]);
	assert_int_equal(sigaction(SIGPIPE, &pipe_before, NULL), 0);
	assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
}

static void as_another_user(void **state)
{
	struct spawn_options options = { .set_ids = true, .uid = NOBODY, .gid = NOBODY };
	int signal;
	(void)state;
	if (geteuid() != 0) {
		char *const argv[] = { "spawned", "--nobody", NULL };
		struct err err = { 0 };
		int pid = -7;
		options.argv = argv;
		options.environment = environment;
		assert_true(spawn_start(&options, &pid, &err) < 0);
		assert_int_equal(err.kind, ERR_DENIED); /* by which node mode knows that it may not */
		assert_int_equal(pid, -7);
		return;
	}
	assert_int_equal(wait_for(start(&options, "--nobody", NULL), &signal), WELL);
}

/* What cannot be begun leaves no process behind, and says why. */
static void one_that_cannot_be(void **state)
{
	struct spawn_options options = { .environment = environment };
	struct err err = { 0 };
	int pid = -7;
	(void)state;
	size_t len = (size_t)8 << 20; /* one argument has 128 KiB at most */
	char *long_one = malloc(len + 1);
	assert_non_null(long_one);
	memset(long_one, 'x', len);
	long_one[len] = '\0';
	char *const too_long[] = { "spawned", "--exit", long_one, NULL };
	options.argv = too_long;
	assert_true(spawn_start(&options, &pid, &err) < 0);
	assert_int_equal(pid, -7);
	assert_non_null(strstr(err.message, "/proc/self/exe"));
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
	free(long_one);
}

/* Ours is killed: what it began is asked to end, and is no orphan that goes on. */
static void it_ends_with_us(void **state)
{
	int ends[2], grandchild = 0, status = 0;
	(void)state;
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(pipe(ends), 0); /* NOLINT(android-cloexec-pipe): both are closed below */
	pid_t between = fork();
	assert_true(between >= 0);
	if (between == 0) {
		char *const argv[] = { "spawned", "--wait", NULL };
		const struct spawn_options options = { .argv = argv, .environment = environment };
		int pid = 0;
		if (spawn_start(&options, &pid, NULL) < 0)
			pid = 0;
		(void)!write(ends[1], &pid, sizeof pid);
		for (;;)
			(void)pause();
	}
	assert_int_equal(read(ends[0], &grandchild, sizeof grandchild), sizeof grandchild);
	assert_true(grandchild > 0);
	assert_int_equal(kill(grandchild, 0), 0);
	assert_int_equal(kill(between, SIGKILL), 0);
	assert_int_equal(waitpid(between, NULL, 0), between);
	for (int i = 0; i < WAIT_MS / 5 && waitpid(grandchild, &status, WNOHANG) == 0; i++)
		nap();
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	(void)close(ends[0]);
	(void)close(ends[1]);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

int main(int argc, char **argv, char **envp)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(how_it_ended),    cmocka_unit_test(what_it_has_of_ours),
		cmocka_unit_test(as_another_user), cmocka_unit_test(one_that_cannot_be),
		cmocka_unit_test(it_ends_with_us),
	};
	if (argc > 1 && strcmp(argv[0], "spawned") == 0)
		_exit(be_the_child(argv, envp));
	return cmocka_run_group_tests(tests, NULL, NULL);
}
