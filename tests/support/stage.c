/* SPDX-License-Identifier: Apache-2.0 */
#include "support/stage.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { DRIP_MS = 20 };

void stage_note(struct stage *stage, const char *format, ...)
{
	va_list args;
	size_t len = strlen(stage->log);
	va_start(args, format);
	vsnprintf(stage->log + len, sizeof(stage->log) - len, format, args);
	va_end(args);
}

void stage_has(const struct stage *stage, const char *part)
{
	if (!strstr(stage->log, part))
		fail_msg("no \"%s\" in: %s(end %d, status %u, code %u: %s)", part, stage->log, stage->ended.end,
			 stage->ended.http_status, stage->ended.close_code, stage->ended.why);
}

static void happened(struct stage *stage)
{
	if (++stage->n_happened == stage->stop_at)
		loop_stop(stage->loop);
}

static void too_late(void *context)
{
	struct stage *stage = context;
	stage_note(stage, "DEADLINE ");
	loop_stop(stage->loop);
}

/* --- the server ------------------------------------------------------------------------------ */

static void on_request(void *context, const struct server_request *request, struct server_reply *reply)
{
	struct stage *stage = context;
	stage_note(stage, "%.*s %.*s", (int)request->method.len, request->method.ptr, (int)request->path.len,
		   request->path.ptr);
	if (request->query.len)
		stage_note(stage, "?%.*s", (int)request->query.len, request->query.ptr);
	if (request->body.len)
		stage_note(stage, " %zu", request->body.len);
	stage_note(stage, "; ");
	if (str_eq(request->path, STR("/x-header"))) {
		struct str value = server_header(request, "x-custom");
		buf_add(&reply->body, value);
	}
	for (size_t i = 0; i < stage->reply_bytes; i++)
		buf_putc(&reply->body, 'r');
	if (reply->body.len == 0)
		buf_puts(&reply->body, "{}");
}

static bool on_upgrade(void *context, const struct server_request *request, struct server_reply *reply,
		       void **ret_session)
{
	struct stage *stage = context;
	struct str auth = server_header(request, "authorization");
	if (auth.len)
		stage_note(stage, "[%.*s] ", (int)auth.len, auth.ptr);
	if (request->protocol > 0)
		stage_note(stage, "small ");
	if (stage->refuse) {
		reply->status = stage->refuse;
		reply->retry_after_s = stage->retry_after_s;
		return false;
	}
	*ret_session = stage;
	return true;
}

static void on_server_open(void *session, struct server_ws *ws)
{
	struct stage *stage = session;
	stage->ws = ws;
	stage_note(stage, "s-open ");
	if (stage->flood_bytes)
		server_ws_want_write(ws);
}

static void on_server_frame(void *session, struct str frame)
{
	struct stage *stage = session;
	buf_clear(&stage->echo);
	buf_add(&stage->echo, frame);
	stage->echo_waits = true;
	server_ws_want_write(stage->ws);
}

static bool on_server_writable(void *session, struct buf *frame)
{
	struct stage *stage = session;
	if (stage->flood_bytes) {
		for (size_t i = 0; i < stage->flood_bytes; i++)
			buf_putc(frame, 'f');
		return true;
	}
	if (!stage->echo_waits)
		return false;
	stage->echo_waits = false;
	if (stage->close_after_echo)
		server_ws_close(stage->ws, stage->close_after_echo, "enough");
	return buf_add(frame, buf_str(&stage->echo));
}

static void on_server_closed(void *session, unsigned close_code)
{
	struct stage *stage = session;
	stage->ws = NULL;
	stage_note(stage, "s-closed:%u ", close_code);
	happened(stage);
}

static const struct server_events server_events = { on_request,      on_upgrade,         on_server_open,
						    on_server_frame, on_server_writable, on_server_closed };

/* --- the client ------------------------------------------------------------------------------ */

static void on_open(void *context)
{
	struct stage *stage = context;
	stage_note(stage, "c-open ");
	wsclient_want_write(stage->client);
}

static void on_frame(void *context, struct str frame)
{
	struct stage *stage = context;
	if (frame.len < 64)
		stage_note(stage, "<%.*s> ", (int)frame.len, frame.ptr);
	else
		stage_note(stage, "<%zu> ", frame.len);
	stage->n_frames++;
	if (stage->count_frames)
		happened(stage);
	if (stage->free_in_frame) {
		wsclient_free(stage->client);
		stage->client = NULL;
	} else if (stage->n_sent < stage->n_send) {
		wsclient_want_write(stage->client);
	} else if (!stage->keep_open) {
		wsclient_close(stage->client, 1000, "done");
	}
}

static bool on_writable(void *context, struct buf *frame)
{
	struct stage *stage = context;
	if (stage->n_sent == stage->n_send || stage->n_sent > stage->n_frames)
		return false;
	return buf_puts(frame, stage->send[stage->n_sent++]);
}

static void on_end(void *context, const struct wsclient_ended *ended)
{
	struct stage *stage = context;
	stage->ended = *ended;
	stage_note(stage, "c-end ");
	happened(stage);
}

static const struct wsclient_events client_events = { on_open, on_frame, on_writable, on_end };

void stage_client(struct stage *stage, const struct wsclient_options *options)
{
	struct err err = { 0 };
	char url[64];
	struct wsclient_options own = options ? *options : (struct wsclient_options){ 0 };
	snprintf(url, sizeof(url), "ws://127.0.0.1:%u/agent", server_port(stage->server, 0));
	if (!own.url)
		own.url = url;
	if (!own.protocol)
		own.protocol = "bankfull.v1";
	int r = wsclient_new(stage->loop, &own, &client_events, stage, &stage->client, &err);
	if (r == 0)
		r = wsclient_connect(stage->client, &err);
	if (r < 0)
		fail_msg("client: %s", err.message);
}

/* --- raw peers ------------------------------------------------------------------------------- */

/* Once the server has sent a close frame a peer has nothing to say any more: else lws waits a second for it. */
static void hear_close(struct raw *raw)
{
	const char *head = strstr(raw->text, "\r\n\r\n");
	if (raw->stays || !head || !strstr(raw->text, " 101 "))
		return;
	size_t at = (size_t)(head + 4 - raw->text);
	if (memchr(raw->text + at, 0x88, raw->len - at))
		shutdown(raw->fd, SHUT_WR);
}

static void on_raw(void *context)
{
	struct raw *raw = context;
	ssize_t n = recv(raw->fd, raw->text + raw->len, sizeof(raw->text) - 1 - raw->len, MSG_DONTWAIT);
	if (n < 0 && errno == EAGAIN)
		return;
	if (n > 0) {
		raw->len += (size_t)n;
		raw->text[raw->len] = '\0';
		hear_close(raw);
		if (raw->stage->count_replies)
			happened(raw->stage);
		return;
	}
	raw->ended = true;
	loop_watch_free(raw->watch);
	raw->watch = NULL;
	happened(raw->stage);
}

static void on_drip(void *context)
{
	struct raw *raw = context;
	if (raw->ended || !*raw->drip_bytes)
		return;
	raw_say(raw, raw->drip_bytes++, 1);
	loop_timer_set(raw->drip, DRIP_MS);
}

struct raw *raw_new(struct stage *stage, const char *bytes, size_t len)
{
	struct err err;
	struct raw *raw = &stage->raws[stage->n_raws++];
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(server_port(stage->server, 0)) };
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*raw = (struct raw){ .stage = stage, .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	assert_int_equal(connect(raw->fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(loop_watch_new(stage->loop, raw->fd, on_raw, raw, &raw->watch, &err), 0);
	raw_say(raw, bytes, len);
	return raw;
}

struct raw *raw_text(struct stage *stage, const char *text)
{
	return raw_new(stage, text, strlen(text));
}

struct raw *raw_drip(struct stage *stage, const char *text)
{
	struct err err;
	struct raw *raw = raw_new(stage, "", 0);
	raw->drip_bytes = text;
	assert_int_equal(loop_timer_new(stage->loop, on_drip, raw, &raw->drip, &err), 0);
	loop_timer_set(raw->drip, 1);
	return raw;
}

void raw_say(struct raw *raw, const void *bytes, size_t len)
{
	/* The peer may have closed already: that is for the test to see. */
	if (len)
		(void)!send(raw->fd, bytes, len, MSG_NOSIGNAL);
}

void raw_frame(struct raw *raw, unsigned char first, const void *bytes, size_t len)
{
	unsigned char head[14] = { first };
	size_t n = 2;
	if (len < 126) {
		head[1] = (unsigned char)(0x80 | len);
	} else {
		head[1] = 0x80 | 127;
		for (int i = 0; i < 8; i++)
			head[n++] = (unsigned char)((uint64_t)len >> (56 - 8 * i));
	}
	n += 4; /* a mask of zeros */
	raw_say(raw, head, n);
	raw_say(raw, bytes, len);
}

/* --- the stage ------------------------------------------------------------------------------- */

static void log_line(void *context, const char *text)
{
	(void)context;
	print_message("# lws: %s\n", text);
}

void stage_init(struct stage *stage, enum loop_kind kind, const struct server_options *options)
{
	struct err err = { 0 };
	memset(stage, 0, sizeof(*stage));
	stage->echo.cap = 1 << 20;
	struct server_options own = options ? *options : (struct server_options){ 0 };
	own.listeners[0].name = "test";
	own.listeners[0].address = "127.0.0.1";
	own.n_listeners = 1;
	own.protocols[0].name = "bankfull.v1";
	own.protocols[1] = (struct server_protocol){ .name = "bankfull.small", .max_frame = 10 };
	own.n_protocols = 2;
	assert_int_equal(loop_new(kind, log_line, NULL, &stage->loop, &err), 0);
	assert_int_equal(loop_timer_new(stage->loop, too_late, stage, &stage->deadline, &err), 0);
	loop_timer_set(stage->deadline, STAGE_DEADLINE_MS);
	if (server_new(stage->loop, &own, &server_events, stage, &stage->server, &err) < 0)
		fail_msg("server: %s", err.message);
}

void stage_run(struct stage *stage, size_t n)
{
	struct err err;
	stage->stop_at = n;
	stage->n_happened = 0;
	assert_int_equal(loop_run(stage->loop, &err), 0);
}

void stage_done(struct stage *stage)
{
	for (size_t i = 0; i < stage->n_raws; i++) {
		loop_watch_free(stage->raws[i].watch);
		loop_timer_free(stage->raws[i].drip);
		close(stage->raws[i].fd);
	}
	wsclient_free(stage->client);
	server_free(stage->server);
	loop_timer_free(stage->deadline);
	loop_free(stage->loop);
	buf_done(&stage->echo);
}
