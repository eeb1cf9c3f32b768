/* SPDX-License-Identifier: Apache-2.0 */
/* The first process of a pod: it holds the pod's namespaces, and reaps what its containers leave behind. */
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

int main(void)
{
	sigset_t wanted;
	int got = 0;
	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	sigaddset(&wanted, SIGTERM);
	sigaddset(&wanted, SIGINT);
	/* Its number is 1: the kernel would drop a signal that it neither handles nor waits for. */
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	while (!sigwait(&wanted, &got) && got == SIGCHLD)
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	return 0;
}
