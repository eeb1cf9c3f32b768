/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages to frames and back: PURE. include/bankfull/wire.h has the messages, docs/wire.md their manual.
 *
 * Encoding appends one JSON object without line breaks to `frame` and is deterministic. What is unread is left out, so
 * a missing key and an unread quantity are one thing. LIMIT: past WIRE_FRAME_MAX.
 *
 * Decoding is strict about what it knows and ignores what it does not: a field of the wrong kind, a name that is none
 * of ours where it decides something (type, severity, edge), a number out of range or a string past its cap is
 * MALFORMED with "type: field: what"; an owner or group of a later version is skipped. Bytes, depth and number of
 * values are checked before the parser allocates. Whole or nothing: on failure the message is untouched.
 */
#ifndef WIRE_WIRE_H
#define WIRE_WIRE_H

#include "bankfull/wire.h"
#include "base/buf.h"
#include "base/err.h"

int wire_encode(const struct wire_message *message, struct buf *frame, struct err *err)
	__attribute__((warn_unused_result));

/* `*ret_code` says what to answer. */
int wire_decode(struct str frame, struct wire_message *ret_message, enum wire_error_code *ret_code, struct err *err)
	__attribute__((warn_unused_result));

/* The JSON of one sample alone, for the timeline of a post-mortem and the flight recorder: the same object as its frame. */
int wire_encode_sample(const struct wire_sample *sample, struct buf *out, struct err *err)
	__attribute__((warn_unused_result));

enum { WIRE_EPOCH_TEXT_CAP = 33 };
const char *wire_epoch_format(char dest[WIRE_EPOCH_TEXT_CAP], struct wire_epoch epoch);
bool wire_epoch_parse(struct str text, struct wire_epoch *ret_epoch);
bool wire_epoch_same(struct wire_epoch a, struct wire_epoch b);

#endif
