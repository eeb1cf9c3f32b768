/* SPDX-License-Identifier: Apache-2.0 */
/* kubectl, where there is one: it knows which cluster, and as whom. We hold no credentials of it. */
#ifndef CLI_KUBECTL_H
#define CLI_KUBECTL_H

#include "base/buf.h"
#include "base/err.h"

/* One stands on PATH. */
bool kubectl_is_there(void);

/*
 * Runs it and takes what it prints. UNSUPPORTED: it failed, with its last line; TIMEOUT. `args` begins with "kubectl" and
 * ends with NULL.
 */
int kubectl_ask(const char *const args[], unsigned timeout_ms, size_t cap, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));

/* Becomes it: returns only where it cannot be run. */
int kubectl_become(const char *const args[], struct err *err) __attribute__((warn_unused_result));

/* kubectl takes some things by file alone: a file that is in memory only, readable by it under this name. */
int kubectl_file(struct str text, char ret_path[32], struct err *err) __attribute__((warn_unused_result));

#endif
