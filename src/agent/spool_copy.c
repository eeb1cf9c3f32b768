/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file of the spool is written anew without what nobody needs, a piece at a time, so that no message waits for the
 * whole. Until the new file has all and takes the old one's name, everything is in the old one: killed at any moment,
 * the next start finds a whole file and removes the other.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/spool_parts.h"

static const char *new_name(const struct spool *spool, char dest[SPOOL_NAME_CAP])
{
	return spool_name(dest, spool->copy.epoch->epoch, ".new");
}

void spool_copy_drop(struct spool *spool)
{
	char name[SPOOL_NAME_CAP];
	if (!spool->copy.epoch)
		return;
	spool_log_done(&spool->copy.to);
	if (spool->dir_fd >= 0)
		(void)unlinkat(spool->dir_fd, new_name(spool, name), 0);
	spool_index_tidy(&spool->copy.epoch->index);
	spool->copy.epoch = NULL;
}

static int failed(struct spool *spool, int ret, struct err *err)
{
	char name[SPOOL_NAME_CAP];
	err_wrap(err, "%s/%s", spool->dir, new_name(spool, name));
	spool_copy_drop(spool);
	return ret;
}

int spool_copy_begin(struct spool *spool, struct spool_epoch *epoch, struct err *err)
{
	char name[SPOOL_NAME_CAP], head[SPOOL_HEAD_BYTES];
	spool_copy_drop(spool);
	(void)spool_name(name, epoch->epoch, ".new");
	(void)unlinkat(spool->dir_fd, name, 0);
	int fd = openat(spool->dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, errno, "%s/%s", spool->dir, name);
	spool->copy = (struct spool_copy){ .epoch = epoch,
					   .to = { .fd = fd, .end = sizeof head },
					   .done = epoch->index.acked,
					   .acked = epoch->index.acked };
	spool_head_write(head, epoch);
	ssize_t n = pwrite(fd, head, sizeof head, 0);
	if (n != sizeof head)
		return failed(spool, err_sys(err, n < 0 ? errno : ENOSPC, "cannot write"), err);
	return 0;
}

/* What cannot be read back is a gap from now on. */
static int copy_one(struct spool *spool, size_t at, struct err *err)
{
	struct spool_copy *copy = &spool->copy;
	struct spool_entry *entry = &copy->epoch->index.entries[at];
	struct err unread = { 0 };
	buf_clear(&spool->text);
	if (entry->kind != SPOOL_GAP && spool_log_read(spool_medium(spool, copy->epoch, entry), entry->offset,
						       entry->crc, entry->len, &spool->text, &unread) < 0) {
		if (unread.kind == ERR_NOMEM)
			return err_set(err, ERR_NOMEM, "%s", unread.message);
		buf_clear(&spool->text);
		spool_index_void(&copy->epoch->index, at, SPOOL_LOST);
	}
	/* A gap may have grown over what was copied as a message: of it only what follows is new. */
	struct spool_record record = { .kind = (enum spool_kind)entry->kind,
				       .edge = (enum wire_edge)entry->edge,
				       .reason = (enum spool_reason)entry->reason,
				       .seq = entry->seq > copy->done ? entry->seq : copy->done + 1,
				       .key = entry->key };
	entry->copied = (uint32_t)copy->to.end;
	copy->done = spool_entry_last(entry);
	return spool_log_append(&copy->to, &record, buf_str(&spool->text), err);
}

/* All is in the new file, and it has the name. */
static void settle(struct spool *spool)
{
	struct spool_epoch *epoch = spool->copy.epoch;
	struct spool_index *index = &epoch->index;
	spool_log_done(&epoch->file);
	epoch->file = spool->copy.to;
	spool->copy.to = (struct spool_log){ .fd = -1 };
	spool->copy.epoch = NULL;
	for (size_t i = 0; i < index->n; i++) {
		index->entries[i].offset = index->entries[i].copied;
		index->entries[i].in_memory = false;
	}
	index->bytes[0] += index->bytes[1];
	index->bytes[1] = 0;
	spool_index_tidy(index);
	if (epoch == spool_live(spool))
		spool_log_done(&spool->memory);
}

static int finish(struct spool *spool, struct err *err)
{
	char name[SPOOL_NAME_CAP], from[SPOOL_NAME_CAP];
	struct spool_copy *copy = &spool->copy;
	struct spool_record record = { .kind = SPOOL_ACK, .seq = copy->epoch->index.acked };
	/* What was acked meanwhile is missing behind what was copied before: this says why. */
	if (record.seq > copy->acked) {
		int ret = spool_log_append(&copy->to, &record, STR(""), err);
		if (ret < 0)
			return ret;
	}
	if (renameat(spool->dir_fd, new_name(spool, from), spool->dir_fd, spool_name(name, copy->epoch->epoch, "")) < 0)
		return err_sys(err, errno, "cannot rename");
	settle(spool);
	return 0;
}

int spool_copy_step(struct spool *spool, uint64_t bytes, struct err *err)
{
	struct spool_copy *copy = &spool->copy;
	if (!copy->epoch)
		return 0;
	const struct spool_index *index = &copy->epoch->index;
	uint64_t from = copy->to.end;
	int ret = 0;
	for (size_t i = spool_index_after(index, copy->done); ret == 0 && i < index->n; i++) {
		if (copy->to.end - from >= bytes)
			return 0;
		ret = copy_one(spool, i, err);
	}
	if (ret == 0)
		ret = finish(spool, err);
	return ret < 0 ? failed(spool, ret, err) : 0;
}

int spool_disk_rewrite(struct spool *spool, struct spool_epoch *epoch, struct err *err)
{
	int ret = spool_copy_begin(spool, epoch, err);
	return ret < 0 ? ret : spool_copy_step(spool, UINT64_MAX, err);
}
