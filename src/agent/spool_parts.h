/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the spool: spool.c decides, spool_disk.c, spool_copy.c and spool_load.c are its files. */
#ifndef AGENT_SPOOL_PARTS_H
#define AGENT_SPOOL_PARTS_H

#include "agent/spool.h"

enum {
	SPOOL_HEAD_BYTES = 48,
	SPOOL_NAME_CAP = 48,
	SPOOL_STEP_BYTES = 1 << 16, /* copied at once: some tenths of a millisecond */
};

/* A file that is being written anew, to be without what nobody needs. */
struct spool_copy {
	struct spool_epoch *epoch; /* NULL: none */
	struct spool_log to;
	uint64_t done;  /* all numbers up to it are there, or acked */
	uint64_t acked; /* by its head */
};

struct spool {
	char *dir;
	uint64_t bytes;
	int dir_fd, lock_fd;
	bool on_disk; /* the live epoch goes to its file */
	bool loaded;  /* older epochs were looked for */
	struct mono retry;
	struct spool_log memory; /* of the live epoch, while not on disk */
	struct spool_epoch *epochs[SPOOL_EPOCHS_MAX + 1];
	size_t n;
	struct spool_copy copy;
	struct buf text; /* work space of one record */
	uint64_t lost_epochs_total, failures_total;
	uint64_t ended_dropped_total[SPOOL_REASON_COUNT]; /* of epochs that ended */
	char trouble[160];
};

static inline struct spool_epoch *spool_live(const struct spool *spool)
{
	return spool->epochs[spool->n - 1];
}

static inline struct spool_log *spool_medium(struct spool *spool, struct spool_epoch *epoch,
					     const struct spool_entry *entry)
{
	return entry->in_memory ? &spool->memory : &epoch->file;
}

const char *spool_name(char dest[SPOOL_NAME_CAP], struct wire_epoch epoch, const char *ending);

/* Remove epoch `i` and its file. */
void spool_end_epoch(struct spool *spool, size_t i);

/* The directory (made where it is missing) and its lock. Fails when another agent holds it. */
int spool_disk_open(struct spool *spool, struct err *err) __attribute__((warn_unused_result));
void spool_disk_close(struct spool *spool);

/* Begin to write all that waits in `epoch` to a new file. Another one that was begun is dropped. */
int spool_copy_begin(struct spool *spool, struct spool_epoch *epoch, struct err *err)
	__attribute__((warn_unused_result));
/* Some `bytes` more; with the last of them it takes the old one's place. On failure it is dropped and all is as it was. */
int spool_copy_step(struct spool *spool, uint64_t bytes, struct err *err) __attribute__((warn_unused_result));
void spool_copy_drop(struct spool *spool);
/* All of it now. What was in memory alone is in the file then. */
int spool_disk_rewrite(struct spool *spool, struct spool_epoch *epoch, struct err *err)
	__attribute__((warn_unused_result));

/* See that `more` bytes may be appended to a file: shed acked records and, where that is not enough, oldest samples. */
int spool_disk_room(struct spool *spool, uint64_t more, struct err *err) __attribute__((warn_unused_result));

/* Open again, if its name is gone: all files are written anew. */
int spool_disk_check(struct spool *spool, struct err *err) __attribute__((warn_unused_result));

uint64_t spool_disk_bytes(const struct spool *spool);

/* Older epochs of the directory, put before the live one. */
void spool_load(struct spool *spool);

/* Build the index of one epoch from the bytes of its file: PURE. MALFORMED: no head, or another epoch's. */
int spool_parse(struct str bytes, struct wire_epoch epoch, uint64_t *ret_generation, struct spool_index *index,
		uint64_t *ret_end, struct err *err) __attribute__((warn_unused_result));
void spool_head_write(char head[SPOOL_HEAD_BYTES], const struct spool_epoch *epoch);

#endif
