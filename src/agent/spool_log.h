/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A log of records, in a file or in memory: what spool and flight recorder are made of. One record is
 *
 *   u32 magic, u32 length of the text, u32 CRC-32 of all that follows it, u8 kind, u8 edge, u8 reason, u8 0,
 *   u64 seq, u64 key, text
 *
 * in the order of bytes of this machine: a file never leaves its pod. Whoever runs with our uid may write such a file, so
 * the reader believes nothing: it finds the records whose length and CRC fit and steps over what is none. A record is
 * written by one pwritev(2): a writer that is killed leaves a whole record or a torn tail.
 */
#ifndef AGENT_SPOOL_LOG_H
#define AGENT_SPOOL_LOG_H

#include "bankfull/wire.h"
#include "base/buf.h"
#include "base/err.h"

enum {
	SPOOL_RECORD_BYTES = 32, /* of a record without its text */
	SPOOL_TEXT_MAX = WIRE_FRAME_MAX,
};

enum spool_kind { SPOOL_SAMPLE = 1, SPOOL_FINDING, SPOOL_POSTMORTEM, SPOOL_GAP, SPOOL_ACK, SPOOL_KIND_COUNT };

/* Why a number will never come; where two meet, the graver one stands for both. */
enum spool_reason { SPOOL_SUPERSEDED = 0, SPOOL_FULL, SPOOL_UNWRITABLE, SPOOL_LOST, SPOOL_REASON_COUNT };
extern const char *const spool_reason_names[SPOOL_REASON_COUNT];

struct spool_record {
	enum spool_kind kind;
	enum wire_edge edge;      /* of a finding */
	enum spool_reason reason; /* of a gap */
	uint64_t seq;             /* of a gap: the first; of an ack: the last acked */
	uint64_t key;             /* finding, post-mortem: hash of its id; gap: the last; recorder: wall clock */
	uint32_t crc;
};

struct spool_log {
	int fd;      /* -1: in memory */
	char *bytes; /* in memory: owned */
	size_t room, cap;
	uint64_t end; /* where the next record goes */
};

/* Nothing is open in `{ .fd = -1 }`. */
void spool_log_done(struct spool_log *log);

/* A record at the end. What a failed write leaves behind is overwritten by the next. LIMIT: past a memory log's cap. */
int spool_log_append(struct spool_log *log, struct spool_record *record, struct str text, struct err *err)
	__attribute__((warn_unused_result));

/* The record at `offset`, whose CRC must be `crc`. `text` is emptied first. MALFORMED: it is not what was written there. */
int spool_log_read(const struct spool_log *log, uint64_t offset, uint32_t crc, uint32_t len, struct buf *text,
		   struct err *err) __attribute__((warn_unused_result));

/* Walks over the records of `bytes`. `text` is borrowed from them. */
struct spool_scan {
	struct str bytes;
	size_t at;        /* the next record is looked for from here */
	size_t work;      /* bytes checked so far: bounded, or overlapping records could cost a square */
	size_t n_skipped; /* bytes that belong to no record */
	size_t offset;    /* of the record given last */
	size_t end;       /* behind the record given last */
};
bool spool_scan_next(struct spool_scan *scan, struct spool_record *ret_record, struct str *ret_text);

#endif
