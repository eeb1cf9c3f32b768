/* SPDX-License-Identifier: Apache-2.0 */
/* What the machine has: memory, free swap, the mode of huge pages; and the tmpfs mounts that the target sees. */
#include "agent/collect_parts.h"
#include "base/limits.h"
#include "kernel/host.h"
#include "kernel/tmpfs.h"

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

void collect_tmpfs(struct collecting *c)
{
	static const char name[] = "proc/tmpfs";
	struct err err = { 0 };
	/* Why the root may not be looked into, hsperfdata's gap says. */
	struct buf *out = c->root_fd < 0 ? NULL : evidence_new(c->evidence, name, LIMIT_PROC_FILE);
	if (!out || tmpfs_read(c->pid_fd, c->root_fd, out, &err) == 0)
		return;
	if (err.kind == ERR_DENIED)
		evidence_drop(c->evidence, name);
	else
		evidence_fail(c->evidence, name, &err);
}
