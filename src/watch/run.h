/* SPDX-License-Identifier: Apache-2.0 */
/* `bankfull watch`: a terminal, a reader, and the keys. docs/watch.md is its manual. */
#ifndef WATCH_RUN_H
#define WATCH_RUN_H

#include "base/err.h"
#include "config/agentconf.h"

struct run_options {
	const struct agentconf *conf; /* as the reader's agent takes it */
	const char *version;
	bool color;
};

/*
 * On the terminal that standard input and output are, until `q`, or a signal: `*ret_signal` is the one to end by, 0 for
 * none. GONE: conf names a process that is not there. What may hang is not in here: keys are answered all the while.
 */
int run_watch(const struct run_options *options, int *ret_signal, struct err *err) __attribute__((warn_unused_result));

#endif
