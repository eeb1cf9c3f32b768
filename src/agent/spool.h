/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits for its ack, of this start of the agent and of those before it. Each start is an epoch and has a file
 * "spool-<epoch>" below the state directory, a log of records (spool_log.h) behind a head; the order of starts is the
 * generation in the head. Its index (spool_index.h) is in memory, texts are read back when they are sent.
 *
 * Bounds. All files together stay under half of `bytes`, for the one that is rewritten to shed what was acked may need
 * as much again; so not even for a moment are there more than `bytes` on the disk. Where room is short the oldest samples
 * become a gap. It is rewritten in pieces (spool_copy.c), some 64 KiB with each message and each spool_tend(). A rewrite frees
 * an eighth of `bytes`, so each byte is written four times at most, and only when nearly full.
 *
 * When the disk fails (full, read-only, gone, EIO) messages stay in memory, up to `memory_bytes`, and the disk is tried
 * again every SPOOL_RETRY_MS, and at once by spool_hurry(); a directory that was deleted is made again. What is in memory
 * alone dies with the process, and the number after it tells that it is missing. Nothing is synced to the medium: kill -9 loses nothing, a node that
 * loses its power may lose the last seconds.
 */
#ifndef AGENT_SPOOL_H
#define AGENT_SPOOL_H

#include "agent/spool_index.h"

enum {
	SPOOL_EPOCHS_MAX = 256, /* starts with something left; beyond it the oldest is removed and counted */
	SPOOL_RETRY_MS = 30000,
	SPOOL_MEMORY_BYTES = 1 << 20,
};

struct spool;

struct spool_options {
	const char *dir;     /* NULL: memory only */
	uint64_t bytes;      /* most on the disk */
	size_t memory_bytes; /* most in memory; 0: SPOOL_MEMORY_BYTES */
	struct wire_epoch epoch;
};

/* One start of the agent. The live one is the last. */
struct spool_epoch {
	struct wire_epoch epoch;
	uint64_t generation;
	struct spool_log file; /* fd -1: it has none (yet) */
	struct spool_index index;
	/* Of the session, by uplink.c: */
	uint64_t ever_sent; /* the highest number that was ever on the wire, of this process */
	uint64_t sent;      /* the highest number on the wire */
	bool offered;       /* hello named it */
};

/* Only memory can make this fail: where the disk does, spool_trouble() says why. */
int spool_new(const struct spool_options *options, struct mono now, struct spool **ret_spool, struct err *err)
	__attribute__((warn_unused_result));
void spool_free(struct spool *spool);

size_t spool_n(const struct spool *spool);
struct spool_epoch *spool_at(struct spool *spool, size_t i); /* oldest first; valid until the next ack or tend */
struct spool_epoch *spool_find(struct spool *spool, struct wire_epoch epoch); /* NULL: not here */
static inline uint64_t spool_next(const struct spool_epoch *live)
{
	return live->index.last + 1;
}

/* The message with number spool_next() of the live epoch. Whatever happens the number is given: at worst it is a gap. */
void spool_put(struct spool *spool, struct mono now, struct spool_record *record, struct str text);

/* The number spool_next() becomes a gap "unwritable": its message could not be encoded. */
void spool_put_gap(struct spool *spool);

struct spool_item {
	uint64_t seq, to; /* of a gap: its range; else the same */
	enum spool_kind kind;
	enum spool_reason reason;
};

/*
 * The first message or gap after number `after`, its text in `text`. What cannot be read back as it was written becomes
 * a gap "spool-lost" here, and so does what is not there though the collector lacks it. False: there is none.
 */
bool spool_get(struct spool *spool, struct spool_epoch *epoch, uint64_t after, struct spool_item *ret_item,
	       struct buf *text);

/* Number `seq` cannot be sent: a gap from now on. */
void spool_refuse(struct spool *spool, struct spool_epoch *epoch, uint64_t seq, enum spool_reason reason);

/* The collector has all up to `seq`. An old epoch without anything left ends here, and its file. */
void spool_ack(struct spool *spool, struct spool_epoch *epoch, uint64_t seq);

/* Call now and then: tries a failed disk again when it is time, and goes on with what is being rewritten. */
void spool_tend(struct spool *spool, struct mono now);

/* Tries a failed disk now: something was put, or will be, that must outlive the process. */
void spool_hurry(struct spool *spool, struct mono now);

/* The state directory, locked; -1: there is none. Borrowed until the next tend. */
int spool_dir(const struct spool *spool);

struct spool_counts {
	bool on_disk;
	uint64_t messages, bytes, gaps, postmortems;
	uint64_t dropped_total[SPOOL_REASON_COUNT];
	uint64_t lost_epochs_total; /* of whole starts, removed because there were too many or their file was none */
	uint64_t disk_bytes, memory_bytes;
	uint64_t failures_total;
	char trouble[160]; /* why it is not on disk; "" */
};
void spool_count(const struct spool *spool, struct spool_counts *ret_counts);

#endif
