/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/cgread.h"

#include "base/buf.h"
#include "base/limits.h"
#include "kernel/cgfile.h"
#include "kernel/memstat.h"
#include "sys/file.h"

/* Current, stat, current: in that order and next to each other, so that a torn reading shows. */
const struct cg_file cg_files[] = {
	{ "memory.current", "memory.current", false },
	{ "memory.stat", "memory.stat", false },
	{ "memory.current.after", "memory.current", false },
	{ "memory.max", "memory.max", false },
	{ "memory.high", "memory.high", false },
	{ "memory.low", "memory.low", false },
	{ "memory.min", "memory.min", false },
	{ "memory.peak", "memory.peak", true }, /* Linux 5.19+ */
	{ "memory.events", "memory.events", false },
	{ "memory.events.local", "memory.events.local", true }, /* 5.2+ */
	{ "memory.pressure", "memory.pressure", true },         /* with PSI */
	{ "memory.swap.current", "memory.swap.current", true }, /* with swap accounting, this and what follows */
	{ "memory.swap.max", "memory.swap.max", true },
	{ "memory.swap.peak", "memory.swap.peak", true }, /* 6.5+ */
	{ "memory.zswap.current", "memory.zswap.current", true },
	{ "memory.zswap.max", "memory.zswap.max", true },
	{ "cgroup.procs", "cgroup.procs", false },
};
const size_t cg_n_files = sizeof cg_files / sizeof cg_files[0];

static int parse_by_kind(struct str name, struct str bytes, struct cgroup_memory *cg, struct err *err)
{
	const struct {
		struct str name;
		struct qty *into;
	} amounts[] = {
		{ STR("memory.current"), &cg->current_bytes },
		{ STR("memory.current.after"), &cg->current_after_bytes },
		{ STR("memory.peak"), &cg->peak_bytes },
		{ STR("memory.swap.current"), &cg->swap_current_bytes },
		{ STR("memory.swap.peak"), &cg->swap_peak_bytes },
		{ STR("memory.zswap.current"), &cg->zswap_current_bytes },
	};
	const struct {
		struct str name;
		struct limit *into;
	} limits[] = {
		{ STR("memory.max"), &cg->max },           { STR("memory.high"), &cg->high },
		{ STR("memory.low"), &cg->low },           { STR("memory.min"), &cg->min },
		{ STR("memory.swap.max"), &cg->swap_max }, { STR("memory.zswap.max"), &cg->zswap_max },
	};
	for (size_t i = 0; i < sizeof amounts / sizeof amounts[0]; i++)
		if (str_eq(name, amounts[i].name))
			return cgfile_parse_bytes(bytes, amounts[i].into, err);
	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
		if (str_eq(name, limits[i].name))
			return cgfile_parse_limit(bytes, limits[i].into, err);
	return err_set(err, ERR_USAGE, "no file of a cgroup that is known here");
}

int cg_parse_file(const char *name, struct str bytes, int pid, struct cgroup_memory *cg, struct err *err)
{
	struct str key = str_of(name);
	int r;
	if (str_eq(key, STR("memory.stat")))
		r = memstat_parse(bytes, &cg->stat, err);
	else if (str_eq(key, STR("memory.events")))
		r = cgfile_parse_events(bytes, &cg->events, err);
	else if (str_eq(key, STR("memory.events.local")))
		r = cgfile_parse_events(bytes, &cg->events_local, err);
	else if (str_eq(key, STR("memory.pressure")))
		r = cgfile_parse_pressure(bytes, &cg->pressure, err);
	else if (str_eq(key, STR("cgroup.procs")))
		r = cgfile_parse_procs(bytes, pid, &cg->n_procs, &cg->target_is_member, err);
	else
		r = parse_by_kind(key, bytes, cg, err);
	if (r < 0)
		err_wrap(err, "%s", name);
	return r;
}

void cg_settle(struct cgroup_memory *cg)
{
	cg->is_root = qty_known(cg->stat.anon_bytes) && !qty_known(cg->current_bytes) && cg->max.kind == LIMIT_UNREAD;
}

int cg_read_file(int cgroup_dirfd, const struct cg_file *file, struct buf *ret_bytes, struct err *err)
{
	return file_read_at(cgroup_dirfd, file->file, LIMIT_CGROUP_FILE, ret_bytes, err);
}
