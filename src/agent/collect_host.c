/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine has: memory, free swap, the mode of huge pages. */
#include "agent/collect_parts.h"
#include "base/limits.h"
#include "kernel/host.h"

void collect_host(struct collecting *c)
{
	static const char meminfo[] = "host/meminfo", thp[] = "host/thp";
	struct err err = { 0 };
	struct buf *bytes = evidence_new(c->evidence, meminfo, LIMIT_PROC_FILE);
	if (bytes && host_meminfo_read(bytes, &err) < 0)
		evidence_fail(c->evidence, meminfo, &err);
	bytes = evidence_new(c->evidence, thp, LIMIT_PROC_FILE);
	if (!bytes || host_thp_read(bytes, &err) == 0)
		return;
	/* A kernel without them has no such file. */
	if (err.kind == ERR_GONE)
		evidence_drop(c->evidence, thp);
	else
		evidence_fail(c->evidence, thp, &err);
}
