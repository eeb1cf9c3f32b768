/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server and its peers on one loop, over loopback, with a log of what happened in one line. The server echoes every
 * frame; the peers are our own client and raw sockets that say what a test wants, down to the byte.
 */
#ifndef BANKFULL_TESTS_STAGE_H
#define BANKFULL_TESTS_STAGE_H

#include "net/server.h"
#include "net/wsclient.h"

enum { STAGE_LOG_CAP = 4096, STAGE_SEND_MAX = 8, STAGE_RAW_MAX = 8, STAGE_RAW_CAP = 65536, STAGE_DEADLINE_MS = 30000 };

struct stage;

/* A plain TCP connection to the server: what came is in `text`; `ended` once the server closed it. */
struct raw {
	struct stage *stage;
	int fd;
	struct loop_watch *watch;
	struct loop_timer *drip;
	const char *drip_bytes; /* said one byte at a time */
	char text[STAGE_RAW_CAP];
	size_t len;
	bool ended;
	bool stays; /* does not go when the server closes */
};

struct stage {
	struct loop *loop;
	struct loop_timer *deadline;
	struct server *server;
	struct server_ws *ws; /* the one that was opened last */
	struct wsclient *client;
	struct raw raws[STAGE_RAW_MAX];
	size_t n_raws;
	char log[STAGE_LOG_CAP];

	/* what the server does */
	unsigned refuse, retry_after_s; /* upgrades are refused with this status */
	size_t reply_bytes;             /* of a reply; 0: "{}" */
	size_t flood_bytes;             /* of each frame of an endless stream to whoever connects */
	bool echo_waits;
	struct buf echo;
	unsigned close_after_echo;

	/* what the client does */
	const char *send[STAGE_SEND_MAX]; /* each when the echo of the one before came; then it closes with 1000 */
	size_t n_send, n_sent, n_frames;
	/* count_frames, count_replies: each that it, or a raw connection, hears is one that stage_run() waits for */
	bool free_in_frame, keep_open, count_frames, count_replies;
	struct wsclient_ended ended;

	/* the loop stops when as many of these have happened; 0: never by that */
	size_t stop_at, n_happened;
};

/* kind, and the server's options but its listener and protocols: "bankfull.v1", "bankfull.small" of at most 10 bytes a frame. */
void stage_init(struct stage *stage, enum loop_kind kind, const struct server_options *options);
/* url NULL: the server's. Connects. */
void stage_client(struct stage *stage, const struct wsclient_options *options);
/* Until `n` ends were seen: on_end, on_closed, a raw connection's end. The deadline adds DEADLINE to the log. */
void stage_run(struct stage *stage, size_t n);
void stage_done(struct stage *stage);
/* Fails, and shows the log, unless `part` stands in it. */
void stage_has(const struct stage *stage, const char *part);
void stage_note(struct stage *stage, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Connects and says these bytes. */
struct raw *raw_new(struct stage *stage, const char *bytes, size_t len);
struct raw *raw_text(struct stage *stage, const char *text);
/* Says the bytes one by one, 20 ms apart. */
struct raw *raw_drip(struct stage *stage, const char *text);
void raw_say(struct raw *raw, const void *bytes, size_t len);
/* A masked frame: opcode and FIN in `first`. */
void raw_frame(struct raw *raw, unsigned char first, const void *bytes, size_t len);
#define RAW_UPGRADE                                                                       \
	"GET /agent HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" \
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"    \
	"Sec-WebSocket-Protocol: bankfull.v1\r\n\r\n"

#endif
