/* SPDX-License-Identifier: Apache-2.0 */
#include "support/fakejvm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static void pretend(const char *path, int ready_fd)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	int fd = open(path, O_RDONLY);
	if (fd < 0 || mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		_exit(1);
	(void)!write(ready_fd, "r", 1);
	for (;;)
		(void)pause();
}

pid_t fakejvm_start(const struct scratch *scratch)
{
	char path[300], byte;
	int ready[2];
	scratch_file(scratch, "libjvm.so", "not really");
	(void)snprintf(path, sizeof path, "%s/libjvm.so", scratch->path);
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		pretend(path, ready[1]);
	(void)close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	(void)close(ready[0]);
	return pid;
}

void fakejvm_end(pid_t *pid)
{
	if (*pid <= 0)
		return;
	(void)kill(*pid, SIGKILL);
	(void)waitpid(*pid, NULL, 0);
	*pid = 0;
}
