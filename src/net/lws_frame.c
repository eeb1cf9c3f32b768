/* SPDX-License-Identifier: Apache-2.0 */
#include "net/lws_frame.h"

#include "base/esc.h"

enum {
	FRAME_KEEP_BYTES = 16 * 1024,
	WRITE_CLOSE = 4, /* LWS_WRITE_CLOSE of lws's private headers; 4.1.6 to 4.5 agree on it */
};

bool utf8_is_valid(struct str text)
{
	while (text.len) {
		uint64_t eight;
		if (text.len >= sizeof(eight)) {
			memcpy(&eight, text.ptr, sizeof(eight));
			if ((eight & 0x8080808080808080u) == 0) {
				text = str_skip(text, sizeof(eight));
				continue;
			}
		}
		size_t len = esc_utf8_len(text);
		if (len == 0)
			return false;
		text = str_skip(text, len);
	}
	return true;
}

void inbox_done(struct inbox *inbox)
{
	buf_done(&inbox->buf);
	inbox->started = false;
}

int inbox_take(struct inbox *inbox, struct lws *wsi, size_t cap, struct str piece, struct str *ret_message)
{
	if (lws_frame_is_binary(wsi))
		return -CLOSE_NOT_TEXT;
	size_t have = inbox->started ? inbox->buf.len : 0, to_come = lws_remaining_packet_payload(wsi);
	if (piece.len > cap || have > cap - piece.len || to_come > cap - piece.len - have)
		return -CLOSE_TOO_BIG;
	bool last = lws_is_final_fragment(wsi);
	struct str message = piece;
	if (!last || inbox->started) {
		inbox->buf.cap = cap;
		inbox->started = true;
		if (!buf_add(&inbox->buf, piece))
			return -CLOSE_TROUBLE;
		message = buf_str(&inbox->buf);
	}
	if (!last)
		return 0;
	if (!utf8_is_valid(message))
		return -CLOSE_NOT_UTF8;
	*ret_message = message;
	return 1;
}

int frame_write_ping(struct lws *wsi)
{
	unsigned char ping[LWS_PRE + 1] = { 0 };
	return lws_write(wsi, ping + LWS_PRE, 1, LWS_WRITE_PING) < 0 ? -1 : 0;
}

int frame_write_close(struct lws *wsi, unsigned code, const char *reason)
{
	unsigned char frame[LWS_PRE + 125]; /* the most a control frame holds: RFC 6455 section 5.5 */
	size_t len = strnlen(reason, 123);
	frame[LWS_PRE] = (unsigned char)(code >> 8);
	frame[LWS_PRE + 1] = (unsigned char)code;
	memcpy(frame + LWS_PRE + 2, reason, len);
	return lws_write(wsi, frame + LWS_PRE, len + 2, (enum lws_write_protocol)WRITE_CLOSE) < 0 ? -1 : 0;
}

int frame_write(struct lws *wsi, struct buf *scratch, struct str frame)
{
	buf_clear(scratch);
	scratch->cap = LWS_PRE + frame.len;
	char *at = buf_grow(scratch, LWS_PRE + frame.len);
	if (!at)
		return -1;
	if (frame.len)
		memcpy(at + LWS_PRE, frame.ptr, frame.len);
	/* What the socket does not take now, lws keeps; it asks us for no more before that is gone. */
	int n = lws_write(wsi, (unsigned char *)at + LWS_PRE, frame.len, LWS_WRITE_TEXT);
	frame_trim(scratch);
	return n < 0 ? -1 : 0;
}

void frame_trim(struct buf *buf)
{
	if (buf->room > FRAME_KEEP_BYTES)
		buf_done(buf);
	else
		buf_clear(buf);
}
