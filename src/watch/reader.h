/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's own machinery (agent/agent.h) in a child of ours: what reads may hang (mmap_lock of the target is held, a
 * disk, an endpoint) or fall, and the terminal lives on. Readings come through memory that both share, one at a time: the
 * child writes the next one only after the last one was taken.
 */
#ifndef WATCH_READER_H
#define WATCH_READER_H

#include "watch/reading.h"

struct reader;

int reader_start(const struct agentconf *conf, const char *version, struct reader **ret_reader, struct err *err)
	__attribute__((warn_unused_result));
/* Ends the child, at once; NULL is fine. */
void reader_free(struct reader *reader);

/* Readable when there is a reading, or when the child has ended. */
int reader_fd(const struct reader *reader);

enum reader_news { READER_NOTHING = 0, READER_READING, READER_ENDED };
/* Never blocks. `ret_reading` is filled with READER_READING; ENDED: `why` says how. */
enum reader_news reader_look(struct reader *reader, struct reading *ret_reading, char why[READING_TEXT_CAP]);

/* AGENT_LOOK, AGENT_REST. */
void reader_wish(struct reader *reader, enum agent_wish wish);

#endif
