/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which numbers of one epoch still wait for their ack, and where each stands: PURE but for the memory of its array.
 *
 * From acked + 1 to last every number stands in exactly one entry, in order: a message, or a gap of numbers that will
 * never be sent. Neighbouring gaps are one. That is what "nothing is lost" rests on, and what prop_spool.c checks.
 */
#ifndef AGENT_SPOOL_INDEX_H
#define AGENT_SPOOL_INDEX_H

#include "agent/spool_log.h"

enum {
	SPOOL_ENTRIES_MAX = 16384, /* 640 KiB of index: at 5 s a day of samples */
	SPOOL_FINDINGS_MAX = 512,  /* entries: 170 findings with open edge, latest state and clear */
	SPOOL_POSTMORTEMS_MAX = 8,
};

#define SPOOL_SEQ_MAX (UINT64_C(1) << 53) /* what every JSON reader can hold */

struct spool_entry {
	uint64_t seq;
	uint64_t key; /* of a gap: its last number */
	uint32_t offset, len, crc;
	uint32_t copied; /* its offset in the file that will replace the epoch's (spool_copy.c) */
	uint8_t kind, edge, reason;
	bool in_memory; /* not in the epoch's file */
};

struct spool_index {
	struct spool_entry *entries;
	size_t n, room;
	uint64_t acked, last; /* last: the highest number given */
	uint64_t bytes[2];    /* of the records of messages, in the file and in memory */
	size_t n_kind[SPOOL_KIND_COUNT];
	uint64_t dropped_total[SPOOL_REASON_COUNT]; /* messages that became a gap here */
};

void spool_index_done(struct spool_index *index);

static inline uint64_t spool_entry_last(const struct spool_entry *entry)
{
	return entry->kind == SPOOL_GAP ? entry->key : entry->seq;
}

/*
 * One entry behind the others. Numbers between the last one and this are a gap "spool-lost". MALFORMED, and nothing
 * changed: a number that was there before, or a gap that ends before it begins. LIMIT: full, make room first.
 */
int spool_index_push(struct spool_index *index, const struct spool_entry *entry, struct err *err)
	__attribute__((warn_unused_result));

/* All up to `seq` is the collector's now. Past the last number: as if it were that. */
void spool_index_ack(struct spool_index *index, uint64_t seq);

/* The first entry that has a number past `seq`; n if there is none. */
size_t spool_index_after(const struct spool_index *index, uint64_t seq);

/* Entry `at` becomes a gap, merged with its neighbours. */
void spool_index_gap(struct spool_index *index, size_t at, enum spool_reason reason);

/* A state of finding `key` is about to be pushed: an earlier update that it makes void becomes a gap. */
void spool_index_supersede(struct spool_index *index, uint64_t key, enum wire_edge edge);

/* How many post-mortems have a part that waits: SPOOL_POSTMORTEMS_MAX at most. */
size_t spool_index_postmortems(const struct spool_index *index);

/* Post-mortem `key` is about to be pushed: with MAX others here, the oldest becomes a gap. True: one did. */
bool spool_index_trim_postmortems(struct spool_index *index, uint64_t key);

/*
 * Drop what may go first until `bytes` of records in the file (or in memory) or `entries` entries are free: the oldest
 * samples, and only when none is left, and not with `samples_only`, the oldest of what is cleared, of findings, of
 * post-mortems. Returns bytes freed.
 */
uint64_t spool_index_drop(struct spool_index *index, bool in_memory, bool samples_only, uint64_t bytes, size_t entries);

/* Room for one more entry of a finding: the oldest of one that is cleared becomes a gap, else the oldest of any. */
void spool_index_drop_finding(struct spool_index *index);

/* All that waits becomes one gap. */
void spool_index_fold(struct spool_index *index);

/* Merge gaps that were made in place by setting kind, key and reason. */
void spool_index_tidy(struct spool_index *index);

/* Entry `at` becomes a gap in place, not yet merged: for a walk over all entries, which spool_index_tidy() ends. */
void spool_index_void(struct spool_index *index, size_t at, enum spool_reason reason);

#endif
