/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tmpfs mounts that a process sees, and how much is in each. Whoever wrote a file there is charged for it, whoever
 * sees it: what is in a mount may stand in another container's account, or in none's that is left.
 *
 * Three steps: /proc/<pid>/mountinfo to mounts (pure), statfs of each below /proc/<pid>/root into a text (the reader),
 * that text to figures (pure, the same in a replay). Of mountinfo only mount point and size= go into the text: other
 * file systems' options hold secrets.
 */
#ifndef KERNEL_TMPFS_H
#define KERNEL_TMPFS_H

#include "bankfull/snapshot.h"
#include "base/buf.h"
#include "base/err.h"

/* A pod has a tmpfs for each Secret and token beside /dev, /dev/shm and emptyDirs. */
enum { TMPFS_POINT_CAP = 512, TMPFS_SEEN_MAX = 128 };

struct tmpfs_seen {
	char point[TMPFS_POINT_CAP]; /* as the process sees it, unescaped */
	uint64_t major, minor;       /* of st_dev */
	struct limit size;           /* the option; LIMIT_NONE without one: half of the host's memory */
};

struct tmpfs_list {
	struct tmpfs_seen items[TMPFS_SEEN_MAX];
	size_t n;
};

/*
 * In the order of mountinfo. A path that is longer than TMPFS_POINT_CAP, and what comes after TMPFS_SEEN_MAX, is left
 * out. MALFORMED, and an empty list: a line that is no mount, a cut last line.
 */
int tmpfs_mounts_parse(struct str mountinfo, struct tmpfs_list *ret, struct err *err)
	__attribute__((warn_unused_result));

/* "used=4096 size=67108864 /dev/shm\n", size "none" or "unread"; bytes of the path that are not plain stand as \ooo. */
bool tmpfs_format(const struct tmpfs_seen *seen, uint64_t used_bytes, struct buf *out);

/*
 * Lines as above into the largest TMPFS_MOUNTS_MAX with something in them, largest first; paths are escaped (esc.h) and
 * cut. MALFORMED: another line.
 */
int tmpfs_parse(struct str text, struct tmpfs_mount ret[TMPFS_MOUNTS_MAX], size_t *ret_n, struct err *err)
	__attribute__((warn_unused_result));

/*
 * Appends a line for each mounted tmpfs that holds anything; one that is mounted twice once, one that another mount
 * hides not at all. `root_fd` is /proc/<pid>/root. GONE, DENIED, MALFORMED, LIMIT, NOMEM of mountinfo; a mount point that cannot
 * be looked at is left out.
 */
int tmpfs_read(int pid_dirfd, int root_fd, struct buf *out, struct err *err) __attribute__((warn_unused_result));

#endif
