/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A process that looks like a JVM (it maps a file called libjvm.so) and misbehaves:
 *
 *     hostile_fake LIBJVM idle          catches SIGQUIT, sleeps
 *     hostile_fake LIBJVM exec          executes itself anew every 2 ms, now with 8 MiB and now with 200 MiB of heap
 *     hostile_fake LIBJVM bare          does not catch SIGQUIT
 *     hostile_fake LIBJVM quit          ends when SIGQUIT comes
 *     hostile_fake LIBJVM drip DIR      listens on DIR/.java_pid<pid> and answers a byte every 100 ms, for ever
 *     hostile_fake LIBJVM flood DIR     answers bytes without end
 *     hostile_fake LIBJVM junk DIR      answers an error full of escape sequences
 *     hostile_fake LIBJVM deaf DIR      listens, and never accepts
 *     hostile_fake LIBJVM name          names itself with escape sequences
 *     hostile_fake LIBJVM secret        is not dumpable
 *
 * The arguments may stand in the environment variable HOSTILE_FAKE instead.
 * Says READY once it is set up; ends after 100 seconds.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { SECONDS = 100, SMALL = 8 << 20, LARGE = 200 << 20 };

static void caught(int number)
{
	(void)number;
}

static void ends(int number)
{
	(void)number;
	_exit(0);
}

static void nap(long ms)
{
	struct timespec time = { ms / 1000, ms % 1000 * 1000000 };
	(void)nanosleep(&time, NULL);
}

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

static void map_libjvm(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		die(path);
	(void)close(fd);
}

/* Executed again and again: argv[3] is how often, argv[4] when it began. */
static void again(char **argv)
{
	long count = argv[3] ? strtol(argv[3], NULL, 10) : 0;
	long began = argv[3] ? strtol(argv[4], NULL, 10) : (long)time(NULL);
	size_t size = count % 2 ? LARGE : SMALL;
	char next[24], when[24];
	char *args[] = { argv[0], argv[1], argv[2], next, when, NULL };
	char *bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		die("mmap");
	for (size_t at = 0; at < size; at += 4096)
		bytes[at] = 1;
	if (count == 0)
		printf("READY\n");
	(void)fflush(stdout);
	nap(2);
	if (time(NULL) - began > SECONDS)
		exit(0);
	(void)snprintf(next, sizeof next, "%ld", count + 1);
	(void)snprintf(when, sizeof when, "%ld", began);
	(void)execv("/proc/self/exe", args);
	die("exec");
}

static int listening(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof address.sun_path)
		die("socket path");
	memcpy(address.sun_path, path, strlen(path) + 1);
	(void)unlink(path); /* of a JVM with this pid that was killed */
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, sizeof address) < 0 || listen(fd, 1) < 0)
		die(path);
	return fd;
}

/* One connection after the other. */
static void answer(int listener, const char *how)
{
	static const char junk[] = "100\n\033[2J\033]0;owned\007 \302\233 \377\376\nmore\n";
	static char zeros[65536];
	for (;;) {
		int fd = accept(listener, NULL, NULL);
		if (fd < 0)
			continue;
		if (strcmp(how, "junk") == 0) {
			char request[4096];
			(void)!read(fd, request, sizeof request); /* a reset would take the answer away */
			(void)!write(fd, junk, sizeof junk - 1);
		}
		memset(zeros, '0', sizeof zeros);
		while (strcmp(how, "flood") == 0 && write(fd, zeros, sizeof zeros) > 0)
			;
		while (strcmp(how, "drip") == 0 && write(fd, "0\n", 1) > 0)
			nap(100);
		(void)close(fd);
	}
}

/* Where the command line is to look like a JVM's, HOSTILE_FAKE has the arguments, parted by one blank. */
static int from_environment(char *args[5])
{
	char *text = getenv("HOSTILE_FAKE");
	int n = 1;
	for (char *word = text ? strtok(text, " ") : NULL; word && n < 4; word = strtok(NULL, " "))
		args[n++] = word;
	return n;
}

int main(int argc, char **argv)
{
	char *args[5] = { argv[0] };
	if (getenv("HOSTILE_FAKE")) {
		argc = from_environment(args);
		argv = args;
	}
	if (argc < 3)
		return 2;
	const char *how = argv[2];
	(void)alarm(SECONDS);
	(void)signal(SIGPIPE, SIG_IGN);
	if (strcmp(how, "bare") != 0)
		(void)signal(SIGQUIT, strcmp(how, "quit") == 0 ? ends : caught);
	map_libjvm(argv[1]);
	if (strcmp(how, "exec") == 0)
		again(argv);
	if (strcmp(how, "name") == 0)
		(void)prctl(PR_SET_NAME, "\033[2J\n\302\233)\377");
	if (strcmp(how, "secret") == 0)
		(void)prctl(PR_SET_DUMPABLE, 0);
	int listener = -1;
	if (argc > 3) {
		char path[512];
		(void)snprintf(path, sizeof path, "%s/.java_pid%d", argv[3], (int)getpid());
		listener = listening(path);
	}
	/* Native memory that an engine's claims may be cut to. */
	char *bytes = mmap(NULL, SMALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (bytes == MAP_FAILED)
		die("mmap");
	memset(bytes, 1, SMALL);
	printf("READY\n");
	(void)fflush(stdout);
	if (listener >= 0 && strcmp(how, "deaf") != 0)
		answer(listener, how);
	for (;;)
		(void)pause();
}
