/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which cgroup a process is in, and the way to its files.
 *
 * /proc/<pid>/cgroup and /proc/<pid>/mountinfo are shown relative to the READER's cgroup namespace: from a sidecar
 * "0::/../cri-containerd-<id>.scope" and a mount root of the same text; from the node
 * "0::/kubepods.slice/.../cri-containerd-<id>.scope". The directory is that path below that root, in the target's
 * own view of the file system, /proc/<pid>/root.
 */
#ifndef KERNEL_CGPATH_H
#define KERNEL_CGPATH_H

#include "bankfull/cgroup.h"
#include "base/err.h"
#include "base/str.h"

enum { CGPATH_CAP = 1024, CGPATH_ID_CAP = 80 };

/* /proc/<pid>/cgroup. Paths longer than CGPATH_CAP are ERR_LIMIT. */
struct cgpath {
	bool has_v2, has_v1_memory;
	char v2[CGPATH_CAP];        /* of the line "0::" */
	char v1_memory[CGPATH_CAP]; /* of the line whose controllers have "memory" */
};
int cgpath_parse(struct str text, struct cgpath *ret, struct err *err) __attribute__((warn_unused_result));

/* The container's id (12 to 64 hex digits) in a cgroup path, from the leaf upwards; false if there is none. */
bool cgpath_container_id(const char *path, char ret_id[CGPATH_ID_CAP]);

/* A file system in a process's mount namespace: where it is mounted and which part of the hierarchy stands there. */
struct cgpath_mount {
	char point[CGPATH_CAP]; /* as the process sees it, unescaped */
	char root[CGPATH_CAP];
};
enum { CGPATH_MOUNTS_MAX = 8 };

/* /proc/<pid>/mountinfo (proc_pid_mountinfo(5)): cgroup2 mounts, and v1 mounts of the memory controller. */
struct cgpath_mounts {
	struct cgpath_mount v2[CGPATH_MOUNTS_MAX], v1_memory[CGPATH_MOUNTS_MAX];
	size_t n_v2, n_v1_memory;
};
int cgpath_mounts_parse(struct str text, struct cgpath_mounts *ret, struct err *err)
	__attribute__((warn_unused_result));

/* Pure: the directory of `path` through `mount`, absolute in the target's view; false if the mount does not show it. */
bool cgpath_join(const struct cgpath_mount *mount, const char *path, char ret_dir[2 * CGPATH_CAP]);

/* A found cgroup. `dirfd` is the caller's to close; it outlives the process and dies with the cgroup (ENODEV). */
struct cgpath_found {
	int dirfd;
	bool is_root;                   /* of the whole hierarchy: a machine, not a container; no memory.max there */
	char directory[2 * CGPATH_CAP]; /* for messages */
};

/*
 * The target's cgroup v2 directory below /proc/<pid>/root. `ret_kind` is always filled with what was found out. Errors:
 * UNSUPPORTED (v1, no memory controller, the mount does not show this cgroup: the message says which and what helps),
 * DENIED (root of the process not readable: same uid and gid needed), GONE. `any_fs` skips the check for
 * cgroup2's magic number: for fixture trees.
 */
int cgpath_open(int pid_dirfd, bool any_fs, struct cgpath_found *ret, enum cgroup_kind *ret_kind, struct err *err)
	__attribute__((warn_unused_result));

/* A directory that the user named (--cgroup). Checked likewise. */
int cgpath_open_explicit(const char *directory, bool any_fs, struct cgpath_found *ret, enum cgroup_kind *ret_kind,
			 struct err *err) __attribute__((warn_unused_result));

#endif
