/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole lines to standard output, which somebody else reads as slowly as he likes: what is not taken at once waits in a
 * bounded queue and is offered again from the loop. No call blocks but printer_done(), and that for PRINT_LAST_MS at most.
 */
#ifndef AGENT_PRINT_H
#define AGENT_PRINT_H

#include "base/buf.h"
#include "base/err.h"
#include "net/loop.h"

enum {
	PRINT_MAX = 64 * 1024, /* that waits: four post-mortems */
	PRINT_RETRY_MS = 100,
	PRINT_LAST_MS = 100,
};

struct printer {
	int fd;
	struct buf waiting; /* from the first byte that was not taken */
	struct loop_timer *retry;
	uint64_t dropped_total; /* lines that found no room */
};

int printer_init(struct printer *printer, struct loop *loop, int fd, struct err *err)
	__attribute__((warn_unused_result));
/* The program ends: what waits is offered once more. {0} is fine. */
void printer_done(struct printer *printer);

/* `line` ends with its newline. False: there is no room, and nothing of it is printed. */
bool printer_put(struct printer *printer, struct str line);

#endif
