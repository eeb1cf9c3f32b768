/* SPDX-License-Identifier: Apache-2.0 */
/* The files of the spool: directory, lock, rewriting, room. */
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

/* One entry into the file that will replace the epoch's. What cannot be read back is a gap from now on. */
static int copy(struct spool *spool, struct spool_epoch *epoch, size_t at, struct spool_log *to, struct err *err)
{
	const struct spool_entry *entry = &epoch->index.entries[at];
	struct err unread = { 0 };
	buf_clear(&spool->text);
	if (entry->kind != SPOOL_GAP && spool_log_read(spool_medium(spool, epoch, entry), entry->offset, entry->crc,
						       entry->len, &spool->text, &unread) < 0) {
		if (unread.kind == ERR_NOMEM)
			return err_set(err, ERR_NOMEM, "%s", unread.message);
		buf_clear(&spool->text);
		spool_index_void(&epoch->index, at, SPOOL_LOST);
	}
	struct spool_record record = { .kind = (enum spool_kind)entry->kind,
				       .edge = (enum wire_edge)entry->edge,
				       .reason = (enum spool_reason)entry->reason,
				       .seq = entry->seq,
				       .key = entry->key };
	return spool_log_append(to, &record, buf_str(&spool->text), err);
}

static int write_new(struct spool *spool, struct spool_epoch *epoch, struct spool_log *to, struct err *err)
{
	char head[SPOOL_HEAD_BYTES];
	spool_head_write(head, epoch);
	ssize_t n = pwrite(to->fd, head, sizeof head, 0);
	if (n != sizeof head)
		return err_sys(err, n < 0 ? errno : ENOSPC, "cannot write");
	to->end = sizeof head;
	for (size_t i = 0; i < epoch->index.n; i++) {
		int ret = copy(spool, epoch, i, to, err);
		if (ret < 0)
			return ret;
	}
	return 0;
}

/* Everything is in the file now, one record behind the other. */
static void moved(struct spool *spool, struct spool_epoch *epoch)
{
	uint64_t at = SPOOL_HEAD_BYTES;
	struct spool_index *index = &epoch->index;
	for (size_t i = 0; i < index->n; i++) {
		struct spool_entry *entry = &index->entries[i];
		entry->offset = (uint32_t)at;
		at += SPOOL_RECORD_BYTES + entry->len;
		entry->in_memory = false;
	}
	index->bytes[0] += index->bytes[1];
	index->bytes[1] = 0;
	spool_index_tidy(index);
	if (epoch == spool_live(spool))
		spool_log_done(&spool->memory);
}

int spool_disk_rewrite(struct spool *spool, struct spool_epoch *epoch, struct err *err)
{
	char name[SPOOL_NAME_CAP], new_name[SPOOL_NAME_CAP];
	(void)spool_name(name, epoch->epoch, "");
	(void)spool_name(new_name, epoch->epoch, ".new");
	(void)unlinkat(spool->dir_fd, new_name, 0);
	auto_(spool_log_done) struct spool_log to = { .fd = -1 };
	to.fd = openat(spool->dir_fd, new_name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to.fd < 0)
		return err_sys(err, errno, "%s/%s", spool->dir, new_name);
	int ret = write_new(spool, epoch, &to, err);
	if (ret == 0 && renameat(spool->dir_fd, new_name, spool->dir_fd, name) < 0)
		ret = err_sys(err, errno, "cannot rename");
	if (ret < 0) {
		(void)unlinkat(spool->dir_fd, new_name, 0);
		err_wrap(err, "%s/%s", spool->dir, new_name);
		spool_index_tidy(&epoch->index);
		return ret;
	}
	spool_log_done(&epoch->file);
	epoch->file = to;
	to = (struct spool_log){ .fd = -1 };
	moved(spool, epoch);
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

int spool_disk_room(struct spool *spool, uint64_t more, struct err *err)
{
	const uint64_t most = spool->bytes / 2, target = most / 4 * 3;
	if (spool_disk_bytes(spool) + more <= most)
		return 0;
	/* The samples of all starts before the findings of the oldest. */
	for (size_t i = 0; i < spool->n * 2; i++) {
		uint64_t need = needed_by_all(spool) + more;
		if (need <= target)
			break;
		(void)spool_index_drop(&spool->epochs[i % spool->n]->index, false, i < spool->n, need - target, 0);
	}
	while (spool_disk_bytes(spool) + more > most) {
		struct spool_epoch *epoch = fattest(spool);
		if (!epoch)
			return err_set(err, ERR_LIMIT, "a message of %llu bytes does not fit into a spool of %llu",
				       (unsigned long long)more, (unsigned long long)spool->bytes);
		int ret = spool_disk_rewrite(spool, epoch, err);
		if (ret < 0)
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
