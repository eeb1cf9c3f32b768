/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU of what a report reads of one process (files, redaction, the split's pagemap; no attach, no metrics) against `cat` of the
 * same files to /dev/null, alternating in one run, and prints:
 *
 *     ours_ms cat_ms ratio files
 *
 * cat gets the list of files many times over in one process, so that its start does not count.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/collect.h"

enum { ROUNDS = 7, PER_ROUND = 10, FILES_MAX = 64, PATH_CAP = 128 };

static double cpu_of(int who)
{
	struct rusage usage;
	(void)getrusage(who, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e3 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e3;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double ours(struct evidence *evidence, int pid)
{
	double start = cpu_of(RUSAGE_SELF);
	for (int i = 0; i < PER_ROUND; i++) {
		struct collect_options options = { .pid = pid, .no_attach = true, .no_metrics = true };
		struct err err = { 0 };
		evidence_init(evidence);
		if (collect_run(&options, evidence, &err) < 0) {
			(void)fprintf(stderr, "bench_reads: %s\n", err.message);
			exit(1);
		}
		evidence_done(evidence);
	}
	return (cpu_of(RUSAGE_SELF) - start) / PER_ROUND;
}

static double cat(char paths[FILES_MAX][PATH_CAP], int n)
{
	char **argv = calloc((size_t)(n * PER_ROUND) + 2, sizeof *argv);
	if (!argv)
		exit(1);
	argv[0] = (char[]){ "cat" };
	for (int i = 0; i < n * PER_ROUND; i++)
		argv[i + 1] = paths[i % n];
	double start = cpu_of(RUSAGE_CHILDREN);
	pid_t pid = fork();
	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		(void)dup2(null, STDOUT_FILENO);
		(void)execvp("cat", argv);
		_exit(127);
	}
	int status;
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) {
		(void)fprintf(stderr, "bench_reads: cat failed\n");
		exit(1);
	}
	free(argv);
	return (cpu_of(RUSAGE_CHILDREN) - start) / PER_ROUND;
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "stat", "status", "cgroup", "cmdline", "environ", "maps", "smaps" };
	static char paths[FILES_MAX][PATH_CAP];
	int n = 0, pid = argc > 1 ? atoi(argv[1]) : 0;
	if (pid <= 0) {
		(void)fprintf(stderr, "usage: bench_reads PID [FILE]...\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		(void)snprintf(paths[n++], PATH_CAP, "/proc/%d/%s", pid, names[i]);
	for (int i = 2; i < argc && n < FILES_MAX; i++)
		(void)snprintf(paths[n++], PATH_CAP, "%s", argv[i]);
	struct evidence *evidence = malloc(sizeof *evidence);
	if (!evidence)
		return 1;
	double a[ROUNDS], b[ROUNDS], ratio[ROUNDS];
	(void)ours(evidence, pid);
	for (int i = 0; i < ROUNDS; i++) {
		a[i] = ours(evidence, pid);
		b[i] = cat(paths, n);
		ratio[i] = b[i] > 0 ? a[i] / b[i] : 0;
	}
	free(evidence);
	qsort(a, ROUNDS, sizeof a[0], by_value);
	qsort(b, ROUNDS, sizeof b[0], by_value);
	qsort(ratio, ROUNDS, sizeof ratio[0], by_value);
	(void)printf("%.2f %.2f %.2f %d\n", a[ROUNDS / 2], b[ROUNDS / 2], ratio[ROUNDS / 2], n);
	return 0;
}
