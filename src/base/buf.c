/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>

void buf_done(struct buf *buf)
{
	free(buf->ptr);
	*buf = (struct buf){ .cap = buf->cap };
}

void buf_clear(struct buf *buf)
{
	buf->len = 0;
	buf->state = BUF_OK;
	if (buf->ptr)
		buf->ptr[0] = '\0';
}

char *buf_grow(struct buf *buf, size_t more)
{
	if (buf->state != BUF_OK)
		return NULL;
	if (more > buf->cap || buf->len > buf->cap - more) {
		buf->state = BUF_FULL;
		return NULL;
	}
	size_t need = buf->len + more + 1;
	if (need > buf->room) {
		size_t room = buf->room + buf->room / 2;
		if (room < need)
			room = need < 256 ? 256 : need;
		char *ptr = realloc(buf->ptr, room);
		if (!ptr) {
			buf->state = BUF_NOMEM;
			return NULL;
		}
		buf->ptr = ptr;
		buf->room = room;
		buf->ptr[buf->len] = '\0';
	}
	return buf->ptr + buf->len;
}

void buf_grown(struct buf *buf, size_t len)
{
	buf->len += len;
	buf->ptr[buf->len] = '\0';
}

bool buf_add(struct buf *buf, struct str text)
{
	char *at = buf_grow(buf, text.len);
	if (!at)
		return false;
	if (text.len)
		memcpy(at, text.ptr, text.len);
	buf_grown(buf, text.len);
	return true;
}

bool buf_puts(struct buf *buf, const char *text)
{
	return buf_add(buf, str_of(text));
}

bool buf_putc(struct buf *buf, char byte)
{
	return buf_add(buf, (struct str){ &byte, 1 });
}

bool buf_printf(struct buf *buf, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	va_list again;
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, format, args);
	va_end(args);
	char *at = len >= 0 ? buf_grow(buf, (size_t)len) : NULL;
	if (at) {
		(void)vsnprintf(at, (size_t)len + 1, format, again);
		buf_grown(buf, (size_t)len);
	}
	va_end(again);
	return at != NULL;
}
