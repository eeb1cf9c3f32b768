/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All files of one cgroup v2 as a table: which to read, in order, and where each goes. A live reading and the
 * replay of a capture walk the same table: raw bytes by name in between.
 */
#ifndef KERNEL_CGREAD_H
#define KERNEL_CGREAD_H

#include <stddef.h>

#include "bankfull/cgroup.h"
#include "base/err.h"
#include "base/str.h"

/* `name` is the evidence's name without "cgroup/"; `file` what to read below the cgroup's directory. */
struct cg_file {
	const char *name;
	const char *file;
	bool optional; /* absent on older kernels, without swap accounting or zswap: no gap worth a word */
};

/* memory.current comes first, memory.stat second and memory.current (named "memory.current.after") third. */
extern const struct cg_file cg_files[];
extern const size_t cg_n_files;

/*
 * Put the bytes of one file where it belongs in `cg`; `pid` is the target's, for cgroup.procs. MALFORMED as its parser
 * says, USAGE for a name not in the table; `cg` is untouched then.
 */
int cg_parse_file(const char *name, struct str bytes, int pid, struct cgroup_memory *cg, struct err *err)
	__attribute__((warn_unused_result));

/* After the last file: is_root, by what was there (memory.stat) and what was not (memory.current, memory.max). */
void cg_settle(struct cgroup_memory *cg);

/* Read one file of the table below the cgroup's dirfd. GONE (also ENODEV of a removed cgroup), DENIED, LIMIT. */
struct buf;
int cg_read_file(int cgroup_dirfd, const struct cg_file *file, struct buf *ret_bytes, struct err *err)
	__attribute__((warn_unused_result));

#endif
