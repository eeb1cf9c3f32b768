/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escaping of what a watched process may have named: whatever leaves for a terminal, a log or an
 * alert goes through here. Control bytes (C0, DEL, C1 in UTF-8) become \xNN, bytes that are no
 * valid UTF-8 become \xNN, so a process name cannot move a cursor or split a line.
 */
#ifndef BASE_ESC_H
#define BASE_ESC_H

#include "base/buf.h"

bool esc_add(struct buf *buf, struct str text);

/* The same into dest[cap], cut to fit; never cuts inside an escape. Returns dest. */
const char *esc_copy(char *dest, size_t cap, struct str text);

/* Nothing in it would be escaped. */
bool esc_is_plain(struct str text);

/* Length of the UTF-8 sequence at the start of `text`, 0 if it is none (overlong and surrogates refused). */
size_t esc_utf8_len(struct str text);
/* As much of the start of `text` as is UTF-8 and stands in `cap` bytes with a NUL behind it, cut between two characters. */
struct str esc_utf8_cut(struct str text, size_t cap);

#endif
