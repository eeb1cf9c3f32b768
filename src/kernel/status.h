/* SPDX-License-Identifier: Apache-2.0 */
/*
 * /proc/<pid>/status (proc_pid_status(5)); world-readable. The Rss figures come from per-cpu counters and may
 * lag by MiB on large hosts: never reject a smaps scan by them. Kernel threads and zombies have no Vm lines: unread.
 *
 * Input need not end in NUL; unknown keys are ignored; a known key twice, a bad number, a NUL byte or a last line
 * without its newline is MALFORMED; `ret` is untouched then.
 */
#ifndef KERNEL_STATUS_H
#define KERNEL_STATUS_H

#include "bankfull/process.h"
#include "base/err.h"
#include "base/str.h"

int status_parse(struct str text, struct process_status *ret, struct err *err) __attribute__((warn_unused_result));

enum { SIGNAL_QUIT_BIT = 1 << 2 }; /* in sig_caught and sig_ignored */

#endif
