/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "agent/build.h"
#include "base/limits.h"
#include "jvm/hsperffile.h"
#include "sys/clock.h"

enum { CHUNK = 64 * 1024, TRIES = 2 };

static uint64_t cpu_ns(void)
{
	struct timespec now;
	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
		return 0;
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void at_least(uint64_t *most, uint64_t value)
{
	if (value > *most)
		*most = value;
}

/*
 * The kernel fills one page of text a read(2) and lets go of the lock in between (fs/seq_file.c, fs/proc/task_mmu.c), so one
 * read is one hold, and the longest is about that of the largest mapping.
 */
static int read_smaps(int pid_fd, struct buf *text, struct budget_walk *walk, struct err *err)
{
	auto_close int fd = openat(pid_fd, "smaps", O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return err_sys(err, errno, "smaps");
	for (;;) {
		char *at = buf_grow(text, CHUNK);
		if (!at)
			return err_set(err, buf_failed(text) && text->state == BUF_NOMEM ? ERR_NOMEM : ERR_LIMIT,
				       "smaps: no room for its text");
		struct mono began = clock_mono();
		uint64_t cpu = cpu_ns();
		ssize_t n = read(fd, at, CHUNK);
		int errnum = errno;
		at_least(&walk->hold_cpu_ns, cpu_ns() - cpu);
		uint64_t took = clock_mono().ns - began.ns;
		at_least(&walk->hold_ns, took);
		walk->inside_ns += took;
		if (n < 0 && errnum == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, errnum, "smaps");
		if (n == 0)
			return 0;
		buf_grown(text, (size_t)n);
	}
}

uint64_t scan_largest(const struct snapshot *snapshot)
{
	uint64_t most = 0;
	for (size_t i = 0; i < snapshot->vmas.n; i++)
		at_least(&most, snapshot->vmas.items[i].rss_bytes);
	return most;
}

/* hsperfdata counts only if its inode is mapped now: smaps says so as maps does. */
static void read_perf(struct watch *watch, const struct buf *smaps)
{
	struct collecting *target = &watch->target;
	buf_done(&target->maps);
	target->maps = *smaps;
	collect_perf(target);
	const struct evidence_item *perf = evidence_find(&watch->evidence, "jvm/hsperf");
	if (watch->perf_fd < 0 && perf && perf->err.kind == ERR_NONE)
		watch->perf_fd = hsperffile_keep(target->root_fd, &target->status, buf_str(smaps));
	target->maps = (struct buf){ .cap = LIMIT_SMAPS };
}

static int scan_once(struct watch *watch, struct snapshot **ret_snapshot, struct budget_walk *walk, struct err *err)
{
	struct buf *text = evidence_new(&watch->evidence, "proc/smaps", LIMIT_SMAPS);
	if (!text)
		return err_set(err, ERR_LIMIT, "no room for smaps");
	/* Growing towards some hundred KiB would ask for three times as much. No room: the reading itself says so. */
	if (watch->smaps_len && !buf_grow(text, watch->smaps_len + 2 * CHUNK))
		text->state = BUF_OK;
	int rc = read_smaps(watch->target.pid_fd, text, walk, err);
	if (rc == 0)
		watch->smaps_len = text->len;
	if (rc == 0 && text->len == 0)
		rc = err_set(err, ERR_GONE, "smaps is empty: the process has ended");
	if (rc < 0) {
		collect_say_denied(&watch->target, err);
		return rc;
	}
	read_perf(watch, text);
	struct snapshot *snapshot = NULL;
	rc = build_run(&watch->evidence, &snapshot, err);
	if (rc < 0)
		return rc;
	if (!snapshot->vmas_read) {
		const struct gap *gap = snapshot_gap(snapshot, "proc/smaps");
		rc = err_set(err, ERR_MALFORMED, "%s", gap ? gap->reason : "smaps does not fit together");
		build_free(snapshot);
		return rc;
	}
	*ret_snapshot = snapshot;
	return 0;
}

int scan_run(struct watch *watch, struct snapshot **ret_snapshot, struct budget_walk *ret_walk, struct err *err)
{
	int rc = 0;
	*ret_walk = (struct budget_walk){ .began = clock_mono() };
	evidence_drop(&watch->evidence, "proc/memfd");
	evidence_drop(&watch->evidence, "proc/pagemap");
	collect_tmpfs(&watch->target);
	for (int i = 0; i < TRIES; i++) {
		rc = scan_once(watch, ret_snapshot, ret_walk, err);
		if (rc == 0 || err->kind != ERR_MALFORMED)
			break;
	}
	if (rc < 0) {
		evidence_fail(&watch->evidence, "proc/smaps", err);
	} else {
		evidence_drop(&watch->evidence, "proc/smaps"); /* some hundred KiB that the snapshot holds already */
		struct mono before = clock_mono();
		collect_beside_smaps(&watch->target, *ret_snapshot);
		ret_walk->inside_ns += clock_mono().ns - before.ns;
		build_beside(&watch->evidence, *ret_snapshot);
		ret_walk->largest_bytes = scan_largest(*ret_snapshot);
	}
	ret_walk->ended = clock_mono();
	return rc;
}
