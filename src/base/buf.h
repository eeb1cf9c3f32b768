/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `struct buf`: a growing byte buffer with a cap. It owns its memory; `{ .cap = N }` is an empty
 * one and buf_done() may be called on it. Growth past the cap or a failed allocation is sticky:
 * every later append fails too, so a chain of appends needs one check at its end (buf_failed).
 * The bytes are always followed by a NUL that is not counted.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include "base/auto.h"
#include "base/str.h"

struct buf {
	char *ptr;
	size_t len;
	size_t room; /* bytes allocated */
	size_t cap;  /* most bytes it may hold */
	enum { BUF_OK, BUF_FULL, BUF_NOMEM } state;
};

void buf_done(struct buf *buf);
#define auto_buf auto_(buf_done)

void buf_clear(struct buf *buf);
bool buf_add(struct buf *buf, struct str text);
bool buf_puts(struct buf *buf, const char *text);
bool buf_putc(struct buf *buf, char byte);
bool buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Room for `more` bytes at ptr + len; NULL if that passes the cap. Fill it, then add to len with buf_grown(). */
char *buf_grow(struct buf *buf, size_t more);
void buf_grown(struct buf *buf, size_t len);

static inline bool buf_failed(const struct buf *buf)
{
	return buf->state != BUF_OK;
}

static inline struct str buf_str(const struct buf *buf)
{
	return (struct str){ buf->ptr ? buf->ptr : "", buf->len };
}

#endif
