/* SPDX-License-Identifier: Apache-2.0 */
/* What earlier starts of the agent left below the state directory. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/spool_parts.h"
#include "base/crc32.h"
#include "sys/file.h"
#include "wire/wire.h"

static const char magic[8] = "BKSPOOL1";

enum {
	AT_EPOCH = 8,
	AT_GENERATION = 24,
	AT_ACKED = 32,
	AT_CRC = 40,
	NAMES_MAX = 4096, /* of a state directory: ours are some hundred at most */
};

void spool_head_write(char head[SPOOL_HEAD_BYTES], const struct spool_epoch *epoch)
{
	memset(head, 0, SPOOL_HEAD_BYTES);
	memcpy(head, magic, sizeof magic);
	memcpy(head + AT_EPOCH, epoch->epoch.bytes, sizeof epoch->epoch.bytes);
	memcpy(head + AT_GENERATION, &epoch->generation, 8);
	memcpy(head + AT_ACKED, &epoch->index.acked, 8);
	uint32_t crc = crc32_add(0, head, AT_CRC);
	memcpy(head + AT_CRC, &crc, sizeof crc);
}

static int head_parse(struct str bytes, struct wire_epoch epoch, uint64_t *ret_generation, uint64_t *ret_acked,
		      struct err *err)
{
	if (bytes.len < SPOOL_HEAD_BYTES || memcmp(bytes.ptr, magic, sizeof magic) != 0)
		return err_set(err, ERR_MALFORMED, "no spool");
	uint32_t crc;
	memcpy(&crc, bytes.ptr + AT_CRC, sizeof crc);
	if (crc32_add(0, bytes.ptr, AT_CRC) != crc)
		return err_set(err, ERR_MALFORMED, "a damaged head");
	if (memcmp(bytes.ptr + AT_EPOCH, epoch.bytes, sizeof epoch.bytes) != 0)
		return err_set(err, ERR_MALFORMED, "the spool of another epoch");
	memcpy(ret_generation, bytes.ptr + AT_GENERATION, 8);
	uint64_t acked;
	memcpy(&acked, bytes.ptr + AT_ACKED, 8);
	if (acked > SPOOL_SEQ_MAX)
		return err_set(err, ERR_MALFORMED, "a number past all that are given");
	*ret_acked = acked;
	return 0;
}

/* One record as spool_put() and spool_ack() wrote it: the same rules apply again. */
static void replay(struct spool_index *index, const struct spool_record *record, struct str text, size_t offset)
{
	struct spool_entry entry = {
		.seq = record->seq,
		.key = record->key,
		.offset = (uint32_t)offset,
		.len = (uint32_t)text.len,
		.crc = record->crc,
		.kind = (uint8_t)record->kind,
		.edge = (uint8_t)record->edge,
		.reason = (uint8_t)record->reason,
	};
	if (record->seq > SPOOL_SEQ_MAX || (record->kind == SPOOL_GAP && record->key > SPOOL_SEQ_MAX))
		return; /* no agent lives so long, and JSON's numbers end */
	if (record->kind == SPOOL_ACK) {
		spool_index_ack(index, record->seq);
		if (record->seq > index->last) /* the file was cut when all in it was acked */
			index->acked = index->last = record->seq;
		return;
	}
	if (record->kind == SPOOL_GAP)
		entry.len = 0;
	else if (text.len == 0 || record->seq <= index->last)
		return; /* nobody wrote that */
	if (record->kind == SPOOL_FINDING)
		spool_index_supersede(index, record->key, record->edge);
	struct err err = { 0 };
	if (spool_index_push(index, &entry, &err) == 0 || err.kind != ERR_LIMIT)
		return;
	(void)spool_index_drop(index, false, false, 0, SPOOL_ENTRIES_MAX / 4);
	if (spool_index_push(index, &entry, &err) < 0)
		return; /* the number after it will say that this one is missing */
}

int spool_parse(struct str bytes, struct wire_epoch epoch, uint64_t *ret_generation, struct spool_index *index,
		uint64_t *ret_end, struct err *err)
{
	uint64_t generation = 0, acked = 0;
	int ret = head_parse(bytes, epoch, &generation, &acked, err);
	if (ret < 0)
		return ret;
	*index = (struct spool_index){ .acked = acked, .last = acked };
	struct spool_scan scan = { .bytes = bytes, .at = SPOOL_HEAD_BYTES, .end = SPOOL_HEAD_BYTES };
	struct spool_record record;
	struct str text;
	while (spool_scan_next(&scan, &record, &text))
		replay(index, &record, text, scan.offset);
	*ret_generation = generation;
	*ret_end = scan.end;
	return 0;
}

struct listing {
	struct spool *spool;
	struct wire_epoch found[SPOOL_EPOCHS_MAX * 2];
	size_t n;
};

static bool each_name(void *context, const char *name)
{
	struct listing *list = context;
	struct str rest = str_of(name);
	struct wire_epoch epoch;
	if (!str_take(&rest, STR("spool-")))
		return true;
	/* What a rewrite was at when it was killed: the file it was to replace is whole. */
	if (str_ends(rest, STR(".new")))
		(void)unlinkat(list->spool->dir_fd, name, 0);
	else if (wire_epoch_parse(rest, &epoch) && list->n < sizeof list->found / sizeof list->found[0])
		list->found[list->n++] = epoch;
	return true;
}

/* Everybody with our uid may have made this name: a plain file of ours with one name, or nothing. */
static int open_own(int dir_fd, const char *name, int *ret_fd, struct err *err)
{
	auto_close int fd = openat(dir_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, errno, "%s", name);
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_uid != geteuid())
		return err_set(err, ERR_UNSUPPORTED, "%s: no plain file of this user", name);
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int load_one(struct spool *spool, struct wire_epoch epoch, struct spool_epoch *one, struct err *err)
{
	char name[SPOOL_NAME_CAP];
	auto_close int fd = -1;
	auto_buf struct buf bytes = { 0 };
	int ret = open_own(spool->dir_fd, spool_name(name, epoch, ""), &fd, err);
	if (ret == 0)
		ret = file_read_fd(fd, name, spool->bytes, &bytes, err);
	if (ret == 0)
		ret = spool_parse(buf_str(&bytes), epoch, &one->generation, &one->index, &one->file.end, err);
	if (ret < 0)
		return ret;
	/* A torn tail is cut, or a record as long as it would be taken for whole once the rest is written. */
	if (ftruncate(fd, (off_t)one->file.end) < 0)
		return err_sys(err, errno, "%s", name);
	one->epoch = epoch;
	one->file.fd = TAKE_FD(fd);
	return 0;
}

/* Oldest first, the live one last; of one generation (nobody but a stranger makes that) by epoch. */
static void insert(struct spool *spool, struct spool_epoch *one)
{
	size_t at = spool->n - 1;
	spool->epochs[spool->n] = spool->epochs[spool->n - 1];
	while (at > 0 && (spool->epochs[at - 1]->generation > one->generation ||
			  (spool->epochs[at - 1]->generation == one->generation &&
			   memcmp(&spool->epochs[at - 1]->epoch, &one->epoch, sizeof one->epoch) > 0))) {
		spool->epochs[at] = spool->epochs[at - 1];
		at--;
	}
	spool->epochs[at] = one;
	spool->n++;
	struct spool_epoch *live = spool_live(spool);
	if (live->generation <= one->generation && one->generation < UINT64_MAX)
		live->generation = one->generation + 1;
}

static void take_one(struct spool *spool, struct wire_epoch epoch)
{
	char name[SPOOL_NAME_CAP];
	struct err err = { 0 };
	struct spool_epoch *one = calloc(1, sizeof *one);
	if (!one)
		return; /* it waits for the next start */
	one->file.fd = -1;
	if (load_one(spool, epoch, one, &err) < 0) {
		if (err.kind == ERR_MALFORMED || err.kind == ERR_LIMIT || err.kind == ERR_UNSUPPORTED) {
			(void)unlinkat(spool->dir_fd, spool_name(name, epoch, ""), 0);
			spool->lost_epochs_total++;
		}
		spool_index_done(&one->index);
		free(one);
		return;
	}
	insert(spool, one);
	if (one->index.n == 0) {
		for (size_t i = 0; i < spool->n; i++)
			if (spool->epochs[i] == one) {
				spool_end_epoch(spool, i);
				break;
			}
	} else if (spool->n > SPOOL_EPOCHS_MAX) {
		spool->lost_epochs_total++;
		spool_end_epoch(spool, 0);
	}
}

void spool_load(struct spool *spool)
{
	auto_free struct listing *list = calloc(1, sizeof *list);
	struct err err = { 0 };
	if (!list)
		return;
	list->spool = spool;
	if (dir_list(spool->dir_fd, NAMES_MAX, each_name, list, &err) < 0)
		spool->failures_total++; /* what was seen is taken */
	for (size_t i = 0; i < list->n; i++)
		if (!wire_epoch_same(list->found[i], spool_live(spool)->epoch))
			take_one(spool, list->found[i]);
	/* A hello has room for so many; of those before them only the numbers are told. */
	for (size_t i = 0; i + WIRE_EPOCHS_MAX < spool->n; i++) {
		spool_index_fold(&spool->epochs[i]->index);
		if (spool_disk_rewrite(spool, spool->epochs[i], &err) == 0)
			spool_log_done(&spool->epochs[i]->file); /* a gap needs no descriptor */
	}
	spool->loaded = true;
}
