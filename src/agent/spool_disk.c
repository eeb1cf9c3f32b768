/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the spool: directory, lock, room. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/spool_parts.h"
#include "sys/file.h"
#include "wire/wire.h"

const char *spool_name(char dest[SPOOL_NAME_CAP], struct wire_epoch epoch, const char *ending)
{
	char text[WIRE_EPOCH_TEXT_CAP];
	(void)snprintf(dest, SPOOL_NAME_CAP, "spool-%s%s", wire_epoch_format(text, epoch), ending);
	return dest;
}

void spool_disk_close(struct spool *spool)
{
	if (spool->dir_fd >= 0)
		(void)close(spool->dir_fd);
	if (spool->lock_fd >= 0)
		(void)close(spool->lock_fd);
	spool->dir_fd = spool->lock_fd = -1;
}

int spool_disk_open(struct spool *spool, struct err *err)
{
	auto_close int dir_fd = -1;
	/* Its parents are somebody else's: a mount that is missing is not to be made up on the root file system. */
	if (mkdir(spool->dir, 0700) < 0 && errno != EEXIST)
		return err_sys(err, errno, "%s", spool->dir);
	int ret = dir_open_at(AT_FDCWD, spool->dir, &dir_fd, err);
	if (ret < 0)
		return ret;
	auto_close int lock_fd = openat(dir_fd, "lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (lock_fd < 0)
		return err_sys(err, errno, "%s/lock", spool->dir);
	/* Of the open file, not of the process: held until the descriptor is closed. */
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	if (fcntl(lock_fd, F_OFD_SETLK, &lock) < 0) {
		if (errno != EAGAIN && errno != EACCES)
			return err_sys(err, errno, "%s/lock", spool->dir);
		return err_set(err, ERR_DENIED, "%s is in use by another agent: each needs its own", spool->dir);
	}
	spool_disk_close(spool);
	spool->dir_fd = TAKE_FD(dir_fd);
	spool->lock_fd = TAKE_FD(lock_fd);
	return 0;
}

uint64_t spool_disk_bytes(const struct spool *spool)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < spool->n; i++)
		sum += spool->epochs[i]->file.fd >= 0 ? spool->epochs[i]->file.end : 0;
	return sum;
}

/* What a rewrite of the epoch would leave. */
static uint64_t needed(const struct spool_epoch *epoch)
{
	return SPOOL_HEAD_BYTES + epoch->index.bytes[0] + epoch->index.n_kind[SPOOL_GAP] * (uint64_t)SPOOL_RECORD_BYTES;
}

static uint64_t needed_by_all(const struct spool *spool)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < spool->n; i++)
		sum += spool->epochs[i]->file.fd >= 0 ? needed(spool->epochs[i]) : 0;
	return sum;
}

/* The file that holds most that nobody needs. */
static struct spool_epoch *fattest(const struct spool *spool)
{
	struct spool_epoch *most = NULL;
	uint64_t waste = 0;
	for (size_t i = 0; i < spool->n; i++) {
		struct spool_epoch *epoch = spool->epochs[i];
		if (epoch->file.fd >= 0 && epoch->file.end > needed(epoch) + waste) {
			most = epoch;
			waste = epoch->file.end - needed(epoch);
		}
	}
	return most;
}

/* Drop until all files together need `target` at most. */
static void shed(struct spool *spool, uint64_t more, uint64_t target)
{
	/* The samples of all starts before the findings of the oldest. */
	for (size_t i = 0; i < spool->n * 2; i++) {
		uint64_t need = needed_by_all(spool) + more;
		if (need <= target)
			break;
		(void)spool_index_drop(&spool->epochs[i % spool->n]->index, false, i < spool->n, need - target, 0);
	}
}

/*
 * From seven eighths of what may be there, what is not needed is shed, to five eighths. Each message then moves eight
 * times its length: less than six eighths are to be moved before the last eighth is full. So the loop that moves all
 * that is left is for spools of a few messages, and for what comes back from memory.
 */
int spool_disk_room(struct spool *spool, uint64_t more, struct err *err)
{
	const uint64_t most = spool->bytes / 2, soft = most / 8 * 7, target = most / 8 * 5;
	uint64_t step = more * 8 > SPOOL_STEP_BYTES ? more * 8 : SPOOL_STEP_BYTES;
	while (spool->copy.epoch || spool_disk_bytes(spool) + more > soft) {
		bool full = spool_disk_bytes(spool) + more > most;
		if (!spool->copy.epoch) {
			shed(spool, more, target);
			struct spool_epoch *epoch = fattest(spool);
			if (!epoch && full)
				return err_set(err, ERR_LIMIT,
					       "a message of %llu bytes does not fit into a spool of %llu",
					       (unsigned long long)more, (unsigned long long)spool->bytes);
			int ret = epoch ? spool_copy_begin(spool, epoch, err) : 0;
			if (ret < 0)
				return ret;
		}
		int ret = spool_copy_step(spool, full ? UINT64_MAX : step, err);
		if (ret < 0 || !full)
			return ret;
	}
	return 0;
}

int spool_disk_check(struct spool *spool, struct err *err)
{
	struct stat st;
	struct spool_epoch *live = spool_live(spool);
	if (live->file.fd >= 0 && fstat(live->file.fd, &st) == 0 && st.st_nlink > 0)
		return 0;
	spool_copy_drop(spool);
	/* Where the directory went, the lock went with it; where only the file did, it is still held. */
	if (fstat(spool->dir_fd, &st) < 0 || st.st_nlink == 0) {
		int ret = spool_disk_open(spool, err);
		if (ret < 0)
			return ret;
	}
	for (size_t i = 0; i < spool->n; i++) {
		struct spool_epoch *epoch = spool->epochs[i];
		bool gone = epoch->file.fd < 0 ? epoch == live : fstat(epoch->file.fd, &st) < 0 || st.st_nlink == 0;
		int ret = gone ? spool_disk_rewrite(spool, epoch, err) : 0;
		if (ret < 0)
			return ret;
	}
	return 0;
}
