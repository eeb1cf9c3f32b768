/* SPDX-License-Identifier: Apache-2.0 */
#include "net/lookup.h"

#include "base/auto.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct lookup {
	pid_t pid;
	int fd;
	struct loop_watch *watch;
	lookup_fn *fn;
	void *context;
	size_t len;
	char text[LOOKUP_MAX * (INET6_ADDRSTRLEN + 1) + 160]; /* what the child wrote: an address a line, or "!why" */
};

bool lookup_is_numeric(const char *host)
{
	unsigned char bytes[sizeof(struct in6_addr)];
	return inet_pton(AF_INET, host, bytes) == 1 || inet_pton(AF_INET6, host, bytes) == 1;
}

bool lookup_is_loopback(const char *address)
{
	struct in_addr v4;
	struct in6_addr v6;
	if (inet_pton(AF_INET, address, &v4) == 1)
		return ntohl(v4.s_addr) >> 24 == 127;
	if (inet_pton(AF_INET6, address, &v6) != 1)
		return false;
	return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

/* --- in the child ------------------------------------------------------------------------- */

static void put_line(FILE *out, const struct addrinfo *info)
{
	char text[INET6_ADDRSTRLEN];
	const void *bytes =
		info->ai_family == AF_INET6
			? (const void *)&((const struct sockaddr_in6 *)(const void *)info->ai_addr)->sin6_addr
			: (const void *)&((const struct sockaddr_in *)(const void *)info->ai_addr)->sin_addr;
	if ((info->ai_family == AF_INET || info->ai_family == AF_INET6) &&
	    inet_ntop(info->ai_family, bytes, text, sizeof(text)))
		fprintf(out, "%s\n", text);
}

static void resolve(const char *host, FILE *out)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG }, *list;
	int code = getaddrinfo(host, NULL, &hints, &list);
	if (code != 0) {
		fprintf(out, "!%s\n", code == EAI_SYSTEM ? strerror(errno) : gai_strerror(code));
		return;
	}
	size_t n = 0;
	for (const struct addrinfo *i = list; i && n < LOOKUP_MAX; i = i->ai_next, n++)
		put_line(out, i);
}

_Noreturn static void child(const char *host, int fd, pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* Connections that the parent closes while we wait for an answer must not stay open through our copies. */
	if (dup2(fd, 3) != 3 || close_range(4, ~0U, 0) != 0)
		_exit(1);
	FILE *out = fdopen(3, "w");
	if (!out)
		_exit(1);
	resolve(host, out);
	_exit(fflush(out) == 0 ? 0 : 1);
}

/* --- in the parent -------------------------------------------------------------------------- */

static void parse(const struct lookup *lookup, struct lookup_result *result)
{
	struct str rest = { lookup->text, lookup->len }, line;
	while (str_line(&rest, &line)) {
		if (line.len && line.ptr[0] == '!')
			str_copy(result->why, sizeof(result->why), str_skip(line, 1));
		else if (line.len && result->n < LOOKUP_MAX)
			str_copy(result->addresses[result->n++], INET6_ADDRSTRLEN, line);
	}
	if (result->n == 0 && !result->why[0])
		snprintf(result->why, sizeof(result->why), "the resolver gave no address");
}

static void on_readable(void *context)
{
	struct lookup *lookup = context;
	ssize_t n = read(lookup->fd, lookup->text + lookup->len, sizeof(lookup->text) - lookup->len);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0) {
		lookup->len += (size_t)n;
		if (lookup->len < sizeof(lookup->text))
			return;
	}
	struct lookup_result result = { 0 };
	parse(lookup, &result);
	loop_watch_free(lookup->watch);
	lookup->watch = NULL;
	lookup->fn(lookup->context, &result);
}

int lookup_new(struct loop *loop, const char *host, lookup_fn *fn, void *context, struct lookup **ret_lookup,
	       struct err *err)
{
	int ends[2];
	if (pipe2(ends, O_CLOEXEC) != 0)
		return err_sys(err, errno, "look up %s: pipe", host);
	auto_close int in = ends[0];
	auto_close int out = ends[1];
	if (fcntl(in, F_SETFL, O_NONBLOCK) != 0)
		return err_sys(err, errno, "look up %s: pipe", host);
	struct lookup *lookup = calloc(1, sizeof(*lookup));
	if (!lookup)
		return err_set(err, ERR_NOMEM, "look up %s", host);
	*lookup = (struct lookup){ .pid = -1, .fd = TAKE_FD(in), .fn = fn, .context = context };
	int r = loop_watch_new(loop, lookup->fd, on_readable, lookup, &lookup->watch, err);
	pid_t parent = getpid();
	if (r == 0) {
		lookup->pid = fork();
		if (lookup->pid == 0)
			child(host, out, parent);
		if (lookup->pid < 0)
			r = err_sys(err, errno, "look up %s: fork", host);
	}
	if (r < 0) {
		lookup_free(lookup);
		return r;
	}
	*ret_lookup = lookup;
	return 0;
}

void lookup_free(struct lookup *lookup)
{
	if (!lookup)
		return;
	loop_watch_free(lookup->watch);
	close(lookup->fd);
	if (lookup->pid > 0) {
		/* It has ended or waits for the network, where SIGKILL ends it at once. */
		kill(lookup->pid, SIGKILL);
		while (waitpid(lookup->pid, NULL, 0) < 0 && errno == EINTR) {
		}
	}
	free(lookup);
}
