/* SPDX-License-Identifier: Apache-2.0 */
/* The server's side of WebSockets. */
#include "net/lws_server.h"

#include <stdio.h>
#include <strings.h>

enum { CLOSE_WAIT_MS = 2000, BAD_WAIT_MS = 1000 };

static const struct server_events *events_of(const struct server_ws *conn)
{
	const struct server_protocol *protocol = &conn->server->options.protocols[conn->protocol];
	return protocol->sessions ? protocol->sessions : &conn->server->events;
}

/* Why this is no upgrade that we make; NULL: it is one. */
static const char *not_an_upgrade(const struct server_ws *conn, struct lws *wsi, const char *kind)
{
	char version[8];
	if (conn->server->options.n_protocols == 0 || strcasecmp(kind, "websocket") != 0)
		return "no upgrade to this is made here";
	if (conn->server->draining)
		return "the server is going away";
	if (lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI) <= 0 ||
	    !header_lists(wsi, WSI_TOKEN_CONNECTION, STR("upgrade")) || lws_hdr_total_length(wsi, WSI_TOKEN_KEY) <= 0 ||
	    lws_hdr_total_length(wsi, WSI_TOKEN_HOST) <= 0)
		return "no whole WebSocket handshake";
	if (lws_hdr_copy(wsi, version, sizeof(version), WSI_TOKEN_VERSION) <= 0 || strcmp(version, "13") != 0)
		return "Sec-WebSocket-Version is not 13";
	return NULL;
}

/* As lws will choose: by the client's order. */
static bool choose_protocol(struct server_ws *conn, struct lws *wsi)
{
	struct server *server = conn->server;
	size_t n = server->options.n_protocols;
	size_t chosen = header_first_of(wsi, WSI_TOKEN_PROTOCOL, server->protocols, n);
	conn->protocol = (unsigned)chosen;
	return chosen < n;
}

int upgrade_begin(struct server_ws *conn, struct lws *wsi, const char *kind)
{
	struct server *server = conn->server;
	struct request_store store;
	struct server_request request;
	const char *why = conn->state == CONN_HEADERS ? not_an_upgrade(conn, wsi, kind) : "not now";
	if (why)
		return refuse_now(conn, wsi, 400, why);
	if (!choose_protocol(conn, wsi))
		return refuse_now(conn, wsi, 400, "Sec-WebSocket-Protocol has none that is spoken here");
	if (!request_fill(conn, wsi, &store, &request))
		return refuse_now(conn, wsi, 400, "path, query or Host is malformed, too long or there twice");
	request.protocol = conn->protocol;
	struct server_reply reply = { .status = 403, .content_type = "application/json", .body.cap = SERVER_REPLY_CAP };
	void *session = NULL;
	server->counts.requests_total++;
	if (!server->events.on_upgrade(server->context, &request, &reply, &session))
		return reply_now(conn, wsi, &reply);
	buf_done(&reply.body);
	conn->session = session;
	conn->has_session = true;
	return 0;
}

int upgrade_open(struct server_ws *conn, struct lws *wsi)
{
	const struct lws_protocols *spoken = lws_get_protocol(wsi);
	/*
	 * What was let in as one subprotocol must not be answered as another one. Their texts are compared: on the port of a
	 * server that was just freed lws may still name that one's.
	 */
	if (!conn->has_session || !spoken || strcmp(spoken->name, conn->server->protocols[conn->protocol]) != 0)
		return -1;
	conn->wsi = wsi;
	conn->state = CONN_WS;
	conn->heard = loop_now(conn->server->loop);
	conn_deadline(conn, 0);
	events_of(conn)->on_open(conn->session, conn);
	return 0;
}

void ws_ended(struct server_ws *conn)
{
	if (!conn->has_session)
		return;
	conn->has_session = false;
	events_of(conn)->on_closed(conn->session, conn->close_code);
}

/* lws answers it, unless it is the answer to ours. */
int ws_peer_close(struct server_ws *conn, const unsigned char *bytes, size_t len)
{
	if (!conn->close_code && len >= 2)
		conn->close_code = (uint16_t)(bytes[0] << 8 | bytes[1]);
	if (conn->close_sent)
		return -1;
	conn->close_sent = true;
	conn->state = CONN_CLOSING;
	conn_deadline(conn, CLOSE_WAIT_MS);
	return 0;
}

/* --- receiving ------------------------------------------------------------------------------ */

/* What is bad ends its connection: what still comes is thrown away until the peer closes, and not for long. */
static int close_for(struct server_ws *conn, unsigned code)
{
	if (code == CLOSE_TOO_BIG)
		conn->server->counts.too_big_total++;
	else
		conn->server->counts.bad_frames_total++;
	inbox_done(&conn->inbox);
	conn->want_close = conn->close_code = (uint16_t)code;
	conn->close_reason[0] = '\0';
	conn->state = CONN_CLOSING;
	conn_deadline(conn, BAD_WAIT_MS);
	lws_callback_on_writable(conn->wsi);
	return 0;
}

int ws_piece(struct server_ws *conn, struct lws *wsi, struct str piece)
{
	struct server *server = conn->server;
	struct str message;
	conn->heard = loop_now(server->loop);
	server->counts.received_bytes_total += piece.len;
	if (conn->state != CONN_WS)
		return 0;
	int r = inbox_take(&conn->inbox, wsi, server->options.protocols[conn->protocol].max_frame, piece, &message);
	if (r < 0)
		return close_for(conn, (unsigned)-r);
	if (r == 0) {
		if (!conn->message_since.ns)
			conn->message_since = conn->heard;
		return 0;
	}
	conn->message_since = (struct mono){ 0 };
	server->counts.frames_total++;
	events_of(conn)->on_frame(conn->session, message);
	inbox_done(&conn->inbox);
	return 0;
}

/* --- sending -------------------------------------------------------------------------------- */

void server_ws_want_write(struct server_ws *ws)
{
	if (ws->state != CONN_WS)
		return;
	conn_expects_write(ws);
	lws_callback_on_writable(ws->wsi);
}

void server_ws_close(struct server_ws *ws, unsigned code, const char *reason)
{
	if (ws->want_close || ws->state != CONN_WS)
		return;
	ws->want_close = (uint16_t)code;
	snprintf(ws->close_reason, sizeof(ws->close_reason), "%s", reason ? reason : "");
	server_ws_want_write(ws);
}

void server_ws_pause(struct server_ws *ws, bool paused)
{
	if (ws->state == CONN_WS)
		(void)lws_rx_flow_control(ws->wsi, paused ? 0 : 1);
}

static int say_close(struct server_ws *conn, struct lws *wsi)
{
	conn->close_sent = true;
	conn->close_code = conn->want_close;
	if (conn->state != CONN_CLOSING)
		conn_deadline(conn, CLOSE_WAIT_MS);
	conn->state = CONN_CLOSING;
	return frame_write_close(wsi, conn->want_close, conn->close_reason);
}

/* All that was written before is out when lws calls this. */
int ws_writeable(struct server_ws *conn, struct lws *wsi)
{
	struct server *server = conn->server;
	conn->write_since = (struct mono){ 0 };
	if (conn->close_sent)
		return 0;
	if (conn->state != CONN_WS)
		return conn->want_close ? say_close(conn, wsi) : 0;
	if (conn->want_ping) {
		conn->want_ping = false;
		server_ws_want_write(conn);
		return frame_write_ping(wsi);
	}
	buf_clear(&server->out);
	if (!events_of(conn)->on_writable(conn->session, &server->out))
		return conn->want_close ? say_close(conn, wsi) : 0;
	if (buf_failed(&server->out))
		return close_for(conn, CLOSE_TROUBLE);
	server->counts.sent_bytes_total += server->out.len;
	int r = frame_write(wsi, &server->scratch, buf_str(&server->out));
	frame_trim(&server->out);
	server_ws_want_write(conn);
	return r;
}

/* Idle: ping it, then give it up. */
void ws_sweep(struct server_ws *conn)
{
	const struct server_options *options = &conn->server->options;
	uint64_t silent_ms = mono_ms_until(conn->heard, loop_now(conn->server->loop));
	if (silent_ms >= options->dead_s * 1000ull) {
		conn->server->counts.timeouts_total++;
		conn_kill(conn);
	} else if (silent_ms < options->ping_s * 1000ull) {
		conn->pinged = false;
	} else if (!conn->pinged) {
		conn->pinged = conn->want_ping = true;
		server_ws_want_write(conn);
	}
}
