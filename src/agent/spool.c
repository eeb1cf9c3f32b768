/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/spool_parts.h"

#include <stdio.h>
#include <unistd.h>

#include "sys/clock.h"
#include "wire/wire.h"

enum { LEAST_BYTES = 1 << 18, MOST_BYTES = 1 << 30 };

static void epoch_free(struct spool_epoch *epoch)
{
	spool_log_done(&epoch->file);
	spool_index_done(&epoch->index);
	free(epoch);
}

void spool_end_epoch(struct spool *spool, size_t i)
{
	char name[SPOOL_NAME_CAP];
	struct spool_epoch *epoch = spool->epochs[i];
	if (spool->copy.epoch == epoch)
		spool_copy_drop(spool);
	for (size_t reason = 0; reason < SPOOL_REASON_COUNT; reason++)
		spool->ended_dropped_total[reason] += epoch->index.dropped_total[reason];
	if (spool->dir_fd >= 0)
		(void)unlinkat(spool->dir_fd, spool_name(name, epoch->epoch, ""), 0);
	epoch_free(epoch);
	spool->n--;
	memmove(spool->epochs + i, spool->epochs + i + 1, (spool->n - i) * sizeof spool->epochs[0]);
}

static void disk_failed(struct spool *spool, struct mono now, const struct err *err)
{
	spool_copy_drop(spool);
	spool->on_disk = false;
	spool->failures_total++;
	spool->retry = mono_add_ms(now, SPOOL_RETRY_MS);
	(void)snprintf(spool->trouble, sizeof spool->trouble, "%s", err->message);
}

/* What stayed in memory goes behind what is in the file, so that the file is in order. */
static int flush(struct spool *spool, struct err *err)
{
	struct spool_epoch *live = spool_live(spool);
	for (size_t i = 0; i < live->index.n; i++) {
		struct spool_entry *entry = &live->index.entries[i];
		if (!entry->in_memory)
			continue;
		int ret = spool_log_read(&spool->memory, entry->offset, entry->crc, entry->len, &spool->text, err);
		if (ret < 0)
			return ret;
		struct spool_record record = { .kind = (enum spool_kind)entry->kind,
					       .edge = (enum wire_edge)entry->edge,
					       .seq = entry->seq,
					       .key = entry->key };
		uint64_t offset = live->file.end;
		ret = spool_log_append(&live->file, &record, buf_str(&spool->text), err);
		if (ret < 0)
			return ret;
		entry->offset = (uint32_t)offset;
		entry->in_memory = false;
		live->index.bytes[0] += SPOOL_RECORD_BYTES + (uint64_t)entry->len;
		live->index.bytes[1] -= SPOOL_RECORD_BYTES + (uint64_t)entry->len;
	}
	spool_log_done(&spool->memory);
	return 0;
}

static int recover(struct spool *spool, struct err *err)
{
	int ret = spool->dir_fd < 0 ? spool_disk_open(spool, err) : 0;
	if (ret < 0)
		return ret;
	if (!spool->loaded)
		spool_load(spool);
	ret = spool_disk_check(spool, err);
	if (ret == 0)
		ret = spool_disk_room(spool, spool_live(spool)->index.bytes[1], err);
	return ret < 0 ? ret : flush(spool, err);
}

static void try_disk(struct spool *spool, struct mono now)
{
	struct err err = { 0 };
	if (spool->on_disk || !spool->dir || now.ns < spool->retry.ns)
		return;
	if (recover(spool, &err) < 0) {
		disk_failed(spool, now, &err);
		return;
	}
	spool->on_disk = true;
	spool->trouble[0] = '\0';
}

void spool_hurry(struct spool *spool, struct mono now)
{
	spool->retry = now;
	try_disk(spool, now);
}

void spool_tend(struct spool *spool, struct mono now)
{
	struct err err = { 0 };
	try_disk(spool, now);
	if (spool_copy_step(spool, SPOOL_STEP_BYTES, &err) < 0)
		disk_failed(spool, now, &err);
}

int spool_new(const struct spool_options *options, struct mono now, struct spool **ret_spool, struct err *err)
{
	struct spool *spool = calloc(1, sizeof *spool);
	struct spool_epoch *live = calloc(1, sizeof *live);
	char *dir = options->dir ? strdup(options->dir) : NULL;
	if (!spool || !live || (options->dir && !dir)) {
		free(spool);
		free(live);
		free(dir);
		return err_set(err, ERR_NOMEM, "no memory for a spool");
	}
	live->epoch = options->epoch;
	live->generation = 1;
	live->file.fd = -1;
	spool->bytes = options->bytes < LEAST_BYTES  ? LEAST_BYTES
		       : options->bytes > MOST_BYTES ? MOST_BYTES
						     : options->bytes;
	spool->memory = (struct spool_log){ .fd = -1,
					    .cap = options->memory_bytes ? options->memory_bytes : SPOOL_MEMORY_BYTES };
	spool->text.cap = SPOOL_TEXT_MAX;
	spool->dir = dir;
	spool->dir_fd = spool->lock_fd = spool->copy.to.fd = -1;
	spool->epochs[spool->n++] = live;
	spool_tend(spool, now);
	*ret_spool = spool;
	return 0;
}

void spool_free(struct spool *spool)
{
	if (!spool)
		return;
	spool_copy_drop(spool);
	for (size_t i = 0; i < spool->n; i++)
		epoch_free(spool->epochs[i]);
	spool_log_done(&spool->memory);
	spool_disk_close(spool);
	buf_done(&spool->text);
	free(spool->dir);
	free(spool);
}

size_t spool_n(const struct spool *spool)
{
	return spool->n;
}

struct spool_epoch *spool_at(struct spool *spool, size_t i)
{
	return spool->epochs[i];
}

struct spool_epoch *spool_find(struct spool *spool, struct wire_epoch epoch)
{
	for (size_t i = 0; i < spool->n; i++)
		if (wire_epoch_same(spool->epochs[i]->epoch, epoch))
			return spool->epochs[i];
	return NULL;
}

/* Let the messages in memory stand close together again. They are in order, so each moves down or stays. */
static void memory_compact(struct spool *spool)
{
	struct spool_index *index = &spool_live(spool)->index;
	uint64_t end = 0;
	for (size_t i = 0; i < index->n; i++) {
		struct spool_entry *entry = &index->entries[i];
		if (!entry->in_memory)
			continue;
		memmove(spool->memory.bytes + end, spool->memory.bytes + entry->offset,
			SPOOL_RECORD_BYTES + (size_t)entry->len);
		entry->offset = (uint32_t)end;
		end += SPOOL_RECORD_BYTES + (uint64_t)entry->len;
	}
	spool->memory.end = end;
}

static void memory_room(struct spool *spool, uint64_t more)
{
	struct spool_index *index = &spool_live(spool)->index;
	const uint64_t cap = spool->memory.cap, target = cap / 4 * 3;
	if (spool->memory.end + more <= cap)
		return;
	if (index->bytes[1] + more > target)
		(void)spool_index_drop(index, true, false, index->bytes[1] + more - target, 0);
	memory_compact(spool);
}

/* Where the record went is left in `entry`. */
static int store(struct spool *spool, struct mono now, struct spool_record *record, struct str text,
		 struct spool_entry *entry)
{
	struct err err = { 0 };
	const uint64_t len = SPOOL_RECORD_BYTES + (uint64_t)text.len;
	if (spool->on_disk) {
		int ret = spool_disk_check(spool, &err);
		if (ret == 0)
			ret = spool_disk_room(spool, len, &err);
		entry->offset = (uint32_t)spool_live(spool)->file.end;
		if (ret == 0)
			ret = spool_log_append(&spool_live(spool)->file, record, text, &err);
		if (ret == 0)
			return 0;
		disk_failed(spool, now, &err);
	}
	memory_room(spool, len);
	entry->offset = (uint32_t)spool->memory.end;
	entry->in_memory = true;
	return spool_log_append(&spool->memory, record, text, &err);
}

/* Bounds by kind, before a record of it is added. */
static void bound(struct spool_index *index, const struct spool_record *record)
{
	if (record->kind == SPOOL_FINDING) {
		spool_index_supersede(index, record->key, record->edge);
		if (index->n_kind[SPOOL_FINDING] >= SPOOL_FINDINGS_MAX)
			spool_index_drop_finding(index);
	}
	if (record->kind == SPOOL_POSTMORTEM)
		(void)spool_index_trim_postmortems(index, record->key);
	if (index->n + 2 > SPOOL_ENTRIES_MAX)
		(void)spool_index_drop(index, false, false, 0, SPOOL_ENTRIES_MAX / 4);
}

static void put(struct spool *spool, const struct spool_entry *entry)
{
	struct spool_index *index = &spool_live(spool)->index;
	struct err err = { 0 };
	if (spool_index_push(index, entry, &err) == 0)
		return;
	/* No memory for an entry: the number is given, and the next entry says that it is missing. */
	index->dropped_total[SPOOL_LOST]++;
	index->last = entry->seq;
	if (index->n == 0)
		index->acked = entry->seq;
}

void spool_put(struct spool *spool, struct mono now, struct spool_record *record, struct str text)
{
	try_disk(spool, now);
	struct spool_index *index = &spool_live(spool)->index;
	record->seq = index->last + 1;
	bound(index, record);
	struct spool_entry entry = { .seq = record->seq,
				     .key = record->key,
				     .len = (uint32_t)text.len,
				     .kind = (uint8_t)record->kind,
				     .edge = (uint8_t)record->edge };
	if (store(spool, now, record, text, &entry) < 0) {
		spool_put_gap(spool);
		return;
	}
	entry.crc = record->crc;
	put(spool, &entry);
}

void spool_put_gap(struct spool *spool)
{
	struct spool_index *index = &spool_live(spool)->index;
	struct spool_entry entry = {
		.seq = index->last + 1, .key = index->last + 1, .kind = SPOOL_GAP, .reason = SPOOL_UNWRITABLE
	};
	index->dropped_total[SPOOL_UNWRITABLE]++;
	put(spool, &entry);
}

bool spool_get(struct spool *spool, struct spool_epoch *epoch, uint64_t after, struct spool_item *ret_item,
	       struct buf *text)
{
	struct err err = { 0 };
	buf_clear(text);
	size_t at = spool_index_after(&epoch->index, after);
	if (at >= epoch->index.n)
		return false;
	const struct spool_entry *entry = &epoch->index.entries[at];
	/* A number without an entry: there was no memory for one, or it was acked once and the collector has lost it. */
	if (entry->seq > after + 1) {
		*ret_item = (struct spool_item){ after + 1, entry->seq - 1, SPOOL_GAP, SPOOL_LOST };
		return true;
	}
	if (entry->kind != SPOOL_GAP &&
	    spool_log_read(spool_medium(spool, epoch, entry), entry->offset, entry->crc, entry->len, text, &err) < 0) {
		buf_clear(text);
		if (err.kind == ERR_NOMEM)
			return false; /* it is there: later */
		spool_index_gap(&epoch->index, at, SPOOL_LOST);
		entry = &epoch->index.entries[spool_index_after(&epoch->index, after)];
	}
	*ret_item = (struct spool_item){ .seq = entry->seq > after ? entry->seq : after + 1,
					 .to = spool_entry_last(entry),
					 .kind = (enum spool_kind)entry->kind,
					 .reason = (enum spool_reason)entry->reason };
	return true;
}

void spool_refuse(struct spool *spool, struct spool_epoch *epoch, uint64_t seq, enum spool_reason reason)
{
	(void)spool;
	size_t at = spool_index_after(&epoch->index, seq - 1);
	if (at < epoch->index.n)
		spool_index_gap(&epoch->index, at, reason);
}

/* So that a start after this one does not send again what is acked. Nothing depends on it: a failure is none. */
static void note_ack(struct spool *spool, struct spool_epoch *epoch)
{
	struct err err = { 0 };
	struct spool_record record = { .kind = SPOOL_ACK, .seq = epoch->index.acked };
	if (epoch->file.fd < 0)
		return;
	if (epoch->index.bytes[0] == 0 && epoch->index.n == 0) {
		if (spool->copy.epoch == epoch)
			spool_copy_drop(spool);
		if (ftruncate(epoch->file.fd, SPOOL_HEAD_BYTES) == 0)
			epoch->file.end = SPOOL_HEAD_BYTES;
	}
	if (spool_disk_bytes(spool) + SPOOL_RECORD_BYTES <= spool->bytes / 2)
		(void)!spool_log_append(&epoch->file, &record, STR(""), &err);
}

void spool_ack(struct spool *spool, struct spool_epoch *epoch, uint64_t seq)
{
	uint64_t before = epoch->index.acked;
	spool_index_ack(&epoch->index, seq);
	if (epoch->index.acked == before)
		return;
	if (epoch != spool_live(spool) && epoch->index.n == 0) {
		for (size_t i = 0; i < spool->n; i++)
			if (spool->epochs[i] == epoch) {
				spool_end_epoch(spool, i);
				return;
			}
	}
	note_ack(spool, epoch);
	if (epoch->index.bytes[1] == 0)
		spool->memory.end = epoch == spool_live(spool) ? 0 : spool->memory.end;
}

int spool_dir(const struct spool *spool)
{
	return spool->dir_fd;
}

void spool_count(const struct spool *spool, struct spool_counts *ret_counts)
{
	struct spool_counts c = { .on_disk = spool->on_disk,
				  .lost_epochs_total = spool->lost_epochs_total,
				  .failures_total = spool->failures_total,
				  .disk_bytes = spool_disk_bytes(spool) + (spool->copy.epoch ? spool->copy.to.end : 0),
				  .memory_bytes = spool->memory.end };
	for (size_t reason = 0; reason < SPOOL_REASON_COUNT; reason++)
		c.dropped_total[reason] = spool->ended_dropped_total[reason];
	for (size_t i = 0; i < spool->n; i++) {
		const struct spool_index *index = &spool->epochs[i]->index;
		c.messages += index->n - index->n_kind[SPOOL_GAP];
		c.gaps += index->n_kind[SPOOL_GAP];
		c.postmortems += spool_index_postmortems(index);
		c.bytes += index->bytes[0] + index->bytes[1];
		for (size_t reason = 0; reason < SPOOL_REASON_COUNT; reason++)
			c.dropped_total[reason] += index->dropped_total[reason];
	}
	memcpy(c.trouble, spool->trouble, sizeof c.trouble);
	*ret_counts = c;
}
