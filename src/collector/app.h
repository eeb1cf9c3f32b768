/* SPDX-License-Identifier: Apache-2.0 */
/* The collector as a program: what it is made of, its listeners, timers and signals. */
#ifndef COLLECTOR_APP_H
#define COLLECTOR_APP_H

#include "config/collectorconf.h"
#include "sys/logger.h"

/*
 * Serves until SIGTERM or SIGINT: then it stops listening, closes its sessions with 1001, commits, checkpoints and returns
 * 0. USAGE: the configuration cannot be served. Any other kind: the data directory or an address cannot be used.
 */
int app_run(const struct collectorconf *conf, const char *version, struct logger *log, struct err *err)
	__attribute__((warn_unused_result));

#endif
