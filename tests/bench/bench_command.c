/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command N times and prints the median of what it cost as a whole process:
 *
 *     wall_ms cpu_ms peak_rss_kib peak_private_kib
 *
 * Peak RSS is the kernel's own high-water mark (wait4). Private bytes have none, so smaps_rollup is polled while the
 * command runs; the largest of all runs is printed. 0 means that it could not be read (not root: the program under test
 * closes itself to others of its uid). Output of the command goes to /dev/null.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RUNS_MAX = 100 };

static double now_ms(void)
{
	struct timespec t;
	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double cpu_ms(const struct rusage *usage)
{
	return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) * 1e3 +
	       (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e3;
}

/*
 * Anonymous of a smaps_rollup, in KiB; 0 if it cannot be read. Private_* would count file pages that nobody else happens
 * to map, and those of a program just built as dirty.
 */
static unsigned long private_kib(int pid)
{
	char path[64], line[160];
	unsigned long total = 0, kib;
	(void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return 0;
	while (fgets(line, sizeof line, file))
		if (sscanf(line, "Anonymous: %lu", &kib) == 1)
			total += kib;
	(void)fclose(file);
	return total;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static int run_once(char **argv, int poll, double *wall, double *cpu, long *rss, unsigned long *private)
{
	double start = now_ms();
	pid_t pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		(void)dup2(null, STDOUT_FILENO);
		(void)dup2(null, STDERR_FILENO);
		(void)execvp(argv[0], argv);
		_exit(127);
	}
	if (pid < 0)
		return -1;
	int status;
	struct rusage usage;
	if (!poll) {
		if (wait4(pid, &status, 0, &usage) != pid)
			return -1;
	} else {
		while (wait4(pid, &status, WNOHANG, &usage) == 0) {
			unsigned long now = private_kib(pid);
			if (now > *private)
				*private = now;
			(void)usleep(200);
		}
	}
	*wall = now_ms() - start;
	*cpu = cpu_ms(&usage);
	*rss = usage.ru_maxrss;
	return WIFEXITED(status) && WEXITSTATUS(status) != 127 ? 0 : -1;
}

int main(int argc, char **argv)
{
	if (argc < 3 || atoi(argv[1]) < 1 || atoi(argv[1]) > RUNS_MAX) {
		(void)fprintf(stderr, "usage: bench_command RUNS COMMAND [ARG]...\n");
		return 2;
	}
	int runs = atoi(argv[1]);
	double wall[RUNS_MAX], cpu[RUNS_MAX], ignored_wall, ignored_cpu;
	long rss = 0, most_rss = 0;
	unsigned long private = 0;
	for (int i = 0; i < runs; i++) {
		if (run_once(argv + 2, 0, &wall[i], &cpu[i], &rss, &private) < 0) {
			(void)fprintf(stderr, "bench_command: %s failed\n", argv[2]);
			return 1;
		}
		if (rss > most_rss)
			most_rss = rss;
	}
	/* Polling takes the target's locks: runs that are polled are not timed. */
	for (int i = 0; i < 5; i++)
		(void)run_once(argv + 2, 1, &ignored_wall, &ignored_cpu, &rss, &private);
	qsort(wall, (size_t)runs, sizeof wall[0], by_value);
	qsort(cpu, (size_t)runs, sizeof cpu[0], by_value);
	(void)printf("%.1f %.1f %ld %lu\n", wall[runs / 2], cpu[runs / 2], most_rss, private);
	return 0;
}
