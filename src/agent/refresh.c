/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/refresh.h"

#include <string.h>

#include "kernel/cgread.h"
#include "kernel/host.h"
#include "kernel/status.h"

static bool is_refreshed(const char *what)
{
	return strncmp(what, "cgroup/", 7) == 0 || strcmp(what, "proc/status") == 0 ||
	       strcmp(what, "host/meminfo") == 0 || strcmp(what, "limit") == 0;
}

static void drop_gaps(struct snapshot *s)
{
	size_t kept = 0;
	for (size_t i = 0; i < s->n_gaps; i++) {
		if (is_refreshed(s->gaps[i].what))
			continue;
		if (kept != i)
			s->gaps[kept] = s->gaps[i];
		kept++;
	}
	s->n_gaps = kept;
}

static int take_meminfo(struct snapshot *s, struct str bytes, struct err *err)
{
	struct host_memory memory;
	int rc = host_meminfo_parse(bytes, &memory, err);
	if (rc == 0) {
		s->host_memory_bytes = memory.total_bytes;
		s->host_available_bytes = memory.available_bytes;
		s->host_swap_free_bytes = memory.swap_free_bytes;
	}
	return rc;
}

static int take(struct snapshot *s, const struct refresh_text *text, struct err *err)
{
	struct str name = str_of(text->name);
	if (str_take(&name, STR("cgroup/")))
		return cg_parse_file(name.ptr, text->bytes, s->process.pid, &s->cgroup, err);
	if (str_eq(name, STR("host/meminfo")))
		return take_meminfo(s, text->bytes, err);
	int rc = status_parse(text->bytes, &s->status, err);
	s->process_read = rc == 0;
	return rc;
}

void refresh_run(struct snapshot *snapshot, struct wall taken, const struct refresh_text *texts, size_t n)
{
	drop_gaps(snapshot);
	snapshot->cgroup = (struct cgroup_memory){ .kind = snapshot->cgroup.kind };
	snapshot->status = (struct process_status){ 0 };
	snapshot->process_read = false;
	snapshot->host_memory_bytes = snapshot->host_available_bytes = snapshot->host_swap_free_bytes =
		(struct qty){ 0 };
	for (size_t i = 0; i < n; i++) {
		struct err err = { 0 };
		if (texts[i].err)
			build_gap(snapshot, texts[i].name, texts[i].err);
		else if (take(snapshot, &texts[i], &err) < 0)
			build_gap(snapshot, texts[i].name, &err);
	}
	cg_settle(&snapshot->cgroup);
	build_limit_gap(snapshot);
	snapshot->taken = taken;
	snapshot->access = build_access(snapshot);
}
