/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/print.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

/* As much as is taken, waiting `wait_ms` for each piece. False: there is nobody to read it, now or ever. */
static bool offer(struct printer *printer, int wait_ms)
{
	struct str rest = buf_str(&printer->waiting);
	bool good = true;
	while (rest.len) {
		struct pollfd ready = { .fd = printer->fd, .events = POLLOUT };
		if (poll(&ready, 1, wait_ms) != 1)
			break;
		/* POLLOUT of a pipe promises room for PIPE_BUF bytes (pipe(7)): a longer write could block. */
		ssize_t n = ready.revents & POLLOUT
				    ? write(printer->fd, rest.ptr, rest.len < PIPE_BUF ? rest.len : PIPE_BUF)
				    : -1;
		if (n < 0 && errno == EINTR && ready.revents & POLLOUT)
			continue;
		good = n > 0;
		if (!good)
			break;
		rest = str_skip(rest, (size_t)n);
	}
	if (rest.len)
		memmove(printer->waiting.ptr, rest.ptr, rest.len);
	printer->waiting.len = rest.len;
	return good;
}

static void forget(struct printer *printer)
{
	buf_done(&printer->waiting);
	printer->waiting = (struct buf){ .cap = PRINT_MAX };
}

static void go_on(void *context)
{
	struct printer *printer = context;
	if (!offer(printer, 0) || !printer->waiting.len)
		forget(printer); /* also of its memory: deaths are rare */
	else
		loop_timer_set(printer->retry, PRINT_RETRY_MS);
}

int printer_init(struct printer *printer, struct loop *loop, int fd, struct err *err)
{
	*printer = (struct printer){ .fd = fd, .waiting.cap = PRINT_MAX };
	return loop_timer_new(loop, go_on, printer, &printer->retry, err);
}

void printer_done(struct printer *printer)
{
	if (printer->waiting.len)
		(void)offer(printer, PRINT_LAST_MS);
	loop_timer_free(printer->retry);
	buf_done(&printer->waiting);
	*printer = (struct printer){ .fd = -1 };
}

bool printer_put(struct printer *printer, struct str line)
{
	if (line.len > PRINT_MAX - printer->waiting.len || !buf_add(&printer->waiting, line)) {
		printer->dropped_total++;
		if (!printer->waiting.len)
			forget(printer); /* a failed allocation would stay with it */
		return false;
	}
	go_on(printer);
	return true;
}
