/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole WebSocket messages out of what lws delivers (pieces of fragments), and into it. Client and server share them.
 * A message that comes in one piece is handed on where it lies; only another one is copied, and its buffer is freed
 * when it is done, so that an idle connection has none.
 */
#ifndef NET_LWS_FRAME_H
#define NET_LWS_FRAME_H

#include <libwebsockets.h>

#include "base/buf.h"

/* Close codes, RFC 6455 section 7.4.1. */
enum {
	CLOSE_NORMAL = 1000,
	CLOSE_AWAY = 1001,
	CLOSE_NOT_TEXT = 1003,
	CLOSE_NOT_UTF8 = 1007,
	CLOSE_TOO_BIG = 1009,
	CLOSE_TROUBLE = 1011,
};

struct inbox {
	struct buf buf;
	bool started; /* a message is incomplete */
};

/*
 * The next piece. 1: the message is whole, in `*ret_message` until inbox_done(). 0: more is to come. Negative: the
 * close code that this message deserves, negated; `cap` is over all fragments, and a fragment that announces more is
 * refused at its first byte.
 */
int inbox_take(struct inbox *inbox, struct lws *wsi, size_t cap, struct str piece, struct str *ret_message);
void inbox_done(struct inbox *inbox);

bool utf8_is_valid(struct str text);

/* A ping with a payload: lws tells of no pong that is empty (lib/roles/ws/ops-ws.c). Negative: the connection is gone. */
int frame_write_ping(struct lws *wsi);

/*
 * Our close frame; the connection stays until the peer answers or a deadline passes. lws would send one for a callback
 * that returns -1, but not under libuv as Debian builds it (_DEBUG: service.c closes twice, to test itself).
 */
int frame_write_close(struct lws *wsi, unsigned code, const char *reason);

/* `frame` as one text message; `scratch` holds it with the room lws wants before it. Negative: the connection is gone. */
int frame_write(struct lws *wsi, struct buf *scratch, struct str frame);

/* Give back a buffer that grew for one large frame. */
void frame_trim(struct buf *buf);

#endif
