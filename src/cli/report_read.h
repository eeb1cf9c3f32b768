/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the JSON report that say what was read beside the cgroup: the host, tmpfs mounts, the engine. Internal. */
#ifndef CLI_REPORT_READ_H
#define CLI_REPORT_READ_H

#include "bankfull/snapshot.h"
#include "data/js.h"

void report_read_host(struct js_out *out, const struct snapshot *snapshot);   /* "host" */
void report_read_tmpfs(struct js_out *out, const struct snapshot *snapshot);  /* "tmpfs" */
void report_read_engine(struct js_out *out, const struct snapshot *snapshot); /* "engine" */

#endif
