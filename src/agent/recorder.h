/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flight recorder: the samples of the last RECORDER_SPAN_MS, for the post-mortem. Two logs (spool_log.h), written in
 * turn: when one is full or its first sample older than the span, the other is emptied and written. So at least
 * one whole span, or half of `bytes`, is there at any time. The files "recorder-0" and "recorder-1" survive a restart
 * of the agent, which then tells of the time before it; where the disk fails, memory takes over.
 *
 * The caller holds the lock of the state directory (spool.h), which this shares.
 */
#ifndef AGENT_RECORDER_H
#define AGENT_RECORDER_H

#include "agent/spool_log.h"

enum { RECORDER_SPAN_MS = 15 * 60 * 1000, RECORDER_MEMORY_BYTES = 512 << 10 };

struct recorder_side {
	struct spool_log log;
	struct mono first; /* of its oldest sample */
	bool used;
};

struct recorder {
	struct recorder_side sides[2]; /* in files, or in memory */
	unsigned active;
	uint64_t bytes; /* of both */
	size_t memory_bytes;
	bool on_disk;
	uint64_t failures_total;
};

/* `dir_fd` is borrowed for this call; -1: memory only. `memory_bytes` 0: RECORDER_MEMORY_BYTES. */
void recorder_init(struct recorder *recorder, int dir_fd, uint64_t bytes, size_t memory_bytes, struct mono now);
void recorder_done(struct recorder *recorder);

/* The JSON of a sample. Never fails: what cannot be kept is counted. */
void recorder_put(struct recorder *recorder, struct mono now, struct wall wall, struct str sample);

/* `on_disk` is false and the spool is on its disk again: from now on the recorder is too, with what it holds. */
void recorder_move(struct recorder *recorder, int dir_fd, struct mono now);

/*
 * Every sample of the last span, oldest first, until `each` returns false. Who else runs with our uid may have written
 * to the files: `sample` is what somebody wrote, to be decoded with care.
 */
typedef bool recorder_each(void *context, struct mono taken, struct wall wall, struct str sample);
void recorder_read(struct recorder *recorder, struct mono now, recorder_each *each, void *context);

#endif
