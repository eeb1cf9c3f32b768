/* SPDX-License-Identifier: Apache-2.0 */
/* One HTTP request at a time: what lws parsed of it, its body, and the reply in pieces. */
#include "net/lws_server.h"

#include <arpa/inet.h>
#include <stdio.h>

enum { PIECE_BYTES = 16 * 1024, LINGER_MS = 1000, BODY_PER_TIMEOUT = 1024 * 1024, HEAD_CAP = 8192 };

static const struct {
	enum lws_token_indexes token;
	const char *name;
} methods[] = {
	{ WSI_TOKEN_GET_URI, "GET" },         { WSI_TOKEN_HEAD_URI, "HEAD" },   { WSI_TOKEN_POST_URI, "POST" },
	{ WSI_TOKEN_PUT_URI, "PUT" },         { WSI_TOKEN_PATCH_URI, "PATCH" }, { WSI_TOKEN_DELETE_URI, "DELETE" },
	{ WSI_TOKEN_OPTIONS_URI, "OPTIONS" },
};

static const char *status_text(unsigned status)
{
	static const struct {
		unsigned status;
		const char *text;
	} texts[] = {
		{ 200, "OK" },
		{ 201, "Created" },
		{ 204, "No Content" },
		{ 301, "Moved Permanently" },
		{ 302, "Found" },
		{ 303, "See Other" },
		{ 304, "Not Modified" },
		{ 400, "Bad Request" },
		{ 401, "Unauthorized" },
		{ 403, "Forbidden" },
		{ 404, "Not Found" },
		{ 405, "Method Not Allowed" },
		{ 409, "Conflict" },
		{ 411, "Length Required" },
		{ 413, "Content Too Large" },
		{ 415, "Unsupported Media Type" },
		{ 422, "Unprocessable Content" },
		{ 429, "Too Many Requests" },
		{ 500, "Internal Server Error" },
		{ 501, "Not Implemented" },
		{ 503, "Service Unavailable" },
		{ 507, "Insufficient Storage" },
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].status == status)
			return texts[i].text;
	return "Status";
}

void exchange_free(struct exchange *exchange)
{
	if (!exchange)
		return;
	buf_done(&exchange->body);
	buf_done(&exchange->reply.body);
	buf_done(&exchange->head);
	free(exchange);
}

/* --- what the handler sees ------------------------------------------------------------------ */

static bool find_method(struct lws *wsi, struct str *ret_method, enum lws_token_indexes *ret_token)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (lws_hdr_total_length(wsi, methods[i].token) > 0) {
			*ret_method = str_of(methods[i].name);
			*ret_token = methods[i].token;
			return true;
		}
	return false;
}

/* lws decoded the path once, and resolved "//", "/./" and "/../" in it. Trust nobody: look again. */
static bool fill_path(struct request_store *store, enum lws_token_indexes token, struct server_request *request)
{
	int len = lws_hdr_copy_fragment(store->wsi, store->path, sizeof(store->path), token, 0);
	if (len <= 0 || store->path[0] != '/' || strlen(store->path) != (size_t)len)
		return false;
	struct str rest = str_of(store->path), part;
	while (str_split(&rest, '/', &part))
		if (str_eq(part, STR("..")))
			return false;
	request->path = str_of(store->path);
	return true;
}

/* lws decoded each parameter; encode it again, so that a '&' that was escaped stays one value. */
static bool fill_query(struct request_store *store, struct server_request *request)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~";
	static const char hex[] = "0123456789ABCDEF";
	char part[2048];
	size_t len = 0;
	for (int i = 0;; i++) {
		if (lws_hdr_fragment_length(store->wsi, WSI_TOKEN_HTTP_URI_ARGS, i) >= (int)sizeof(part))
			return false;
		int n = lws_hdr_copy_fragment(store->wsi, part, sizeof(part), WSI_TOKEN_HTTP_URI_ARGS, i);
		if (n < 0)
			break;
		if (len + 3 * (size_t)n + 2 > sizeof(store->query))
			return false;
		if (i > 0)
			store->query[len++] = '&';
		bool in_value = false;
		for (int j = 0; j < n; j++) {
			unsigned char c = (unsigned char)part[j];
			if (memchr(plain, c, sizeof(plain) - 1) || (c == '=' && !in_value)) {
				in_value = in_value || c == '=';
				store->query[len++] = (char)c;
				continue;
			}
			store->query[len++] = '%';
			store->query[len++] = hex[c >> 4];
			store->query[len++] = hex[c & 15];
		}
	}
	request->query = (struct str){ store->query, len };
	return true;
}

static void fill_peer(const struct server_ws *conn, struct server_request *request)
{
	const struct in6_addr *address = &conn->peer->address;
	bool v4 = IN6_IS_ADDR_V4MAPPED(address);
	const void *bytes = v4 ? (const void *)&address->s6_addr[12] : (const void *)address;
	if (!inet_ntop(v4 ? AF_INET : AF_INET6, bytes, request->peer, sizeof(request->peer)))
		request->peer[0] = '\0';
	request->peer_is_loopback = v4 ? address->s6_addr[12] == 127 : IN6_IS_ADDR_LOOPBACK(address);
}

/*
 * With two of them, whoever stands in front may have looked at the other one: RFC 9112 section 3.2 demands a 400. lws keeps
 * each as a fragment of its own.
 */
static bool has_two_hosts(struct lws *wsi)
{
	return lws_hdr_fragment_length(wsi, WSI_TOKEN_HOST, 1) > 0;
}

bool request_fill(struct server_ws *conn, struct lws *wsi, struct request_store *store, struct server_request *ret)
{
	enum lws_token_indexes token;
	store->wsi = wsi;
	store->headers_len = store->n_given = 0;
	*ret = (struct server_request){ .listener = conn->listener->index, .body = STR(""), .handle = store };
	if (has_two_hosts(wsi) || !find_method(wsi, &ret->method, &token) || !fill_path(store, token, ret) ||
	    !fill_query(store, ret))
		return false;
	fill_peer(conn, ret);
	SSL *ssl = lws_get_ssl(wsi);
	ret->is_tls = ssl != NULL;
	if (ssl)
		ret->n_sans = tls_sans(ssl, store->sans, SERVER_SANS_MAX);
	for (size_t i = 0; i < ret->n_sans; i++)
		ret->sans[i] = store->sans[i];
	return true;
}

/* --- replies -------------------------------------------------------------------------------- */

static struct server_reply new_reply(void)
{
	return (struct server_reply){ .status = 200, .content_type = "application/json", .body.cap = SERVER_REPLY_CAP };
}

static bool write_head(struct buf *head, const struct server_reply *reply, bool close)
{
	bool empty = reply->status == 204 || reply->status == 304;
	head->cap = HEAD_CAP;
	buf_printf(head, "HTTP/1.1 %u %s\r\n", reply->status, status_text(reply->status));
	if (!empty)
		buf_printf(head, "Content-Type: %s\r\nContent-Length: %zu\r\n", reply->content_type, reply->body.len);
	if (reply->retry_after_s)
		buf_printf(head, "Retry-After: %u\r\n", reply->retry_after_s);
	if (reply->headers)
		buf_puts(head, reply->headers);
	buf_puts(head, reply->extra);
	buf_puts(head, close ? "Connection: close\r\n\r\n" : "\r\n");
	return !buf_failed(head);
}

int reply_now(struct server_ws *conn, struct lws *wsi, struct server_reply *reply)
{
	struct buf *out = &conn->server->scratch;
	auto_buf struct buf head = { 0 };
	if (buf_failed(&reply->body))
		(void)server_refuse(reply, 500, "the answer is too large");
	bool good = write_head(&head, reply, true);
	buf_clear(out);
	out->cap = LWS_PRE + head.len + reply->body.len;
	char *at = good ? buf_grow(out, out->cap) : NULL;
	if (at) {
		memcpy(at + LWS_PRE, head.ptr, head.len);
		if (reply->body.len)
			memcpy(at + LWS_PRE + head.len, reply->body.ptr, reply->body.len);
		conn->server->counts.sent_bytes_total += head.len + reply->body.len;
		/* What does not go out now is flushed by lws before it closes; after that, CLOSING ends it. */
		(void)lws_write(wsi, (unsigned char *)at + LWS_PRE, head.len + reply->body.len, LWS_WRITE_HTTP_HEADERS);
	}
	buf_done(&reply->body);
	frame_trim(out);
	conn->state = CONN_CLOSING;
	conn_deadline(conn, conn->server->options.write_timeout_ms);
	return -1;
}

int refuse_now(struct server_ws *conn, struct lws *wsi, unsigned status, const char *why)
{
	struct server_reply reply = new_reply();
	(void)server_refuse(&reply, status, why);
	return reply_now(conn, wsi, &reply);
}

/*
 * Begin to send. Reading goes on meanwhile: lws 4.1.6 looks at no POLLOUT of a flow-controlled HTTP/1 connection
 * (lib/roles/h1/ops-h1.c). Where another request may follow, nothing goes out before the next POLLOUT, in which lws is told
 * that the reply is out as well: until it knows, 4.3.5 takes the next request for an error and closes the connection, and a
 * client that has the reply may be quicker than another turn of the loop.
 */
static int send_reply(struct server_ws *conn, struct lws *wsi)
{
	struct exchange *exchange = conn->exchange;
	struct server_reply *reply = &exchange->reply;
	if (buf_failed(&reply->body))
		(void)server_refuse(reply, 500, "the answer is too large");
	if (!write_head(&exchange->head, reply, exchange->close))
		return -1;
	bool no_body =
		lws_hdr_total_length(wsi, WSI_TOKEN_HEAD_URI) > 0 || reply->status == 204 || reply->status == 304;
	if (no_body)
		buf_done(&reply->body);
	conn->state = CONN_REPLY;
	conn->message_since = loop_now(conn->server->loop);
	uint64_t share = 1 + reply->body.len / BODY_PER_TIMEOUT;
	conn_deadline(conn, conn->server->options.write_timeout_ms * share);
	if (exchange->close)
		return request_writeable(conn, wsi);
	lws_callback_on_writable(wsi);
	return 0;
}

/* The request is bad: say so, and end the connection, since where the next request begins is not known. */
static int refuse(struct server_ws *conn, struct lws *wsi, unsigned status, const char *why)
{
	conn->exchange->close = true;
	(void)server_refuse(&conn->exchange->reply, status, why);
	return send_reply(conn, wsi);
}

static int dispatch(struct server_ws *conn, struct lws *wsi)
{
	struct server *server = conn->server;
	struct request_store store;
	struct server_request request;
	struct exchange *exchange = conn->exchange;
	if (!request_fill(conn, wsi, &store, &request))
		return refuse(conn, wsi, 400, "path, query or Host is malformed, too long or there twice");
	request.body = buf_str(&exchange->body);
	server->counts.requests_total++;
	server->events.on_request(server->context, &request, &exchange->reply);
	buf_done(&exchange->body);
	return send_reply(conn, wsi);
}

/* --- requests ------------------------------------------------------------------------------- */

static bool wants_body(struct lws *wsi)
{
	return lws_hdr_total_length(wsi, WSI_TOKEN_POST_URI) > 0 || lws_hdr_total_length(wsi, WSI_TOKEN_PUT_URI) > 0 ||
	       lws_hdr_total_length(wsi, WSI_TOKEN_PATCH_URI) > 0;
}

/* How long the body will be. Negative: 0, and why not. */
static bool body_length(struct lws *wsi, uint64_t *ret_len, const char **ret_why, unsigned *ret_status)
{
	bool wants = wants_body(wsi);
	char text[32];
	*ret_status = 400;
	*ret_why = "Content-Length is no number, or stands there twice";
	*ret_len = 0;
	if (lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_TRANSFER_ENCODING) > 0) {
		*ret_status = 411;
		*ret_why = "Transfer-Encoding is not taken: send Content-Length";
		return false;
	}
	if (lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH) <= 0) {
		*ret_status = 411;
		*ret_why = "a body needs Content-Length";
		return !wants;
	}
	return lws_hdr_fragment_length(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH, 1) <= 0 &&
	       lws_hdr_copy(wsi, text, sizeof(text), WSI_TOKEN_HTTP_CONTENT_LENGTH) > 0 &&
	       str_is_u64(str_trim(str_of(text)), ret_len);
}

int request_begin(struct server_ws *conn, struct lws *wsi)
{
	struct server *server = conn->server;
	if (conn->exchange || conn->state != CONN_HEADERS)
		return -1;
	conn->exchange = calloc(1, sizeof(*conn->exchange));
	if (!conn->exchange)
		return -1;
	conn->exchange->reply = new_reply();
	conn->exchange->body.cap = server->options.max_body;
	/*
	 * With a body it is the connection's last. Until lws 4.1.6 is told that the reply is out, at the next POLLOUT, it
	 * takes whatever comes for more of that body (lib/roles/h1/ops-h1.c); a client that has the reply sends its next
	 * request before that, one in ten here, and would find the connection closed.
	 */
	conn->exchange->close = wants_body(wsi) || lws_hdr_total_length(wsi, WSI_TOKEN_HTTP_CONTENT_LENGTH) > 0;
	uint64_t len;
	unsigned status;
	const char *why;
	if (!body_length(wsi, &len, &why, &status))
		return refuse(conn, wsi, status, why);
	if (len > server->options.max_body) {
		server->counts.too_big_total++;
		conn->exchange->linger = true;
		return refuse(conn, wsi, 413, "the body is too large");
	}
	if (len == 0)
		return dispatch(conn, wsi);
	conn->state = CONN_BODY;
	conn_deadline(conn, server->options.header_timeout_ms);
	return 0;
}

int request_body(struct server_ws *conn, struct str piece)
{
	conn->server->counts.received_bytes_total += piece.len;
	if (conn->state != CONN_BODY)
		return 0; /* refused already: thrown away */
	return buf_add(&conn->exchange->body, piece) ? 0 : -1;
}

static bool is_sent(const struct exchange *exchange)
{
	return exchange->sent == exchange->head.len + exchange->reply.body.len;
}

int request_whole(struct server_ws *conn, struct lws *wsi)
{
	/* Again, while a long reply goes out: bytes behind the body, which lws would pile up without end. */
	if (conn->state == CONN_LINGER)
		return -1; /* what was to be thrown away is */
	if (conn->state == CONN_REPLY)
		return is_sent(conn->exchange) && !lws_partial_buffered(wsi) ? 0 : -1;
	return conn->state == CONN_BODY ? dispatch(conn, wsi) : 0;
}

/*
 * Bytes of a next request that lws has read already (of any connection: it does not say of which). With such bytes
 * lws 4.1.6 parses headers where they lie, takes the same bytes for the body again and then loops for ever
 * (lws_http_action() in lib/roles/http/server/server.c): a GET and a POST in one packet would stop the program. So
 * nobody may pipeline: the connection ends after the first answer, as HTTP allows.
 */
static bool is_pipelined(struct server_ws *conn)
{
	return lws_service_adjust_timeout(conn->server->loop->context, 1000, 0) == 0;
}

/*
 * All is out: the connection waits for its next request, or ends. Never before a POLLOUT: only then is seen what came
 * behind the request.
 */
static int finish(struct server_ws *conn, struct lws *wsi)
{
	bool close = conn->exchange->close, linger = conn->exchange->linger;
	exchange_free(conn->exchange);
	conn->exchange = NULL;
	conn->message_since = (struct mono){ 0 };
	if (linger) {
		conn->state = CONN_LINGER;
		conn_deadline(conn, LINGER_MS);
		return 0;
	}
	conn->state = CONN_HEADERS;
	conn_deadline(conn, conn->server->options.header_timeout_ms);
	if (close || conn->server->draining || is_pipelined(conn))
		return -1;
	return lws_http_transaction_completed(wsi) ? -1 : 0;
}

int request_writeable(struct server_ws *conn, struct lws *wsi)
{
	struct exchange *exchange = conn->exchange;
	if (conn->state != CONN_REPLY)
		return 0;
	struct str head = str_skip(buf_str(&exchange->head), exchange->sent);
	size_t of_body = exchange->sent > exchange->head.len ? exchange->sent - exchange->head.len : 0;
	struct str body = str_skip(buf_str(&exchange->reply.body), of_body);
	if (head.len + body.len == 0)
		return finish(conn, wsi);
	unsigned char piece[LWS_PRE + PIECE_BYTES];
	size_t take = head.len < PIECE_BYTES ? head.len : PIECE_BYTES;
	memcpy(piece + LWS_PRE, head.ptr, take);
	size_t more = body.len < PIECE_BYTES - take ? body.len : PIECE_BYTES - take;
	memcpy(piece + LWS_PRE + take, body.ptr, more);
	take += more;
	if (lws_write(wsi, piece + LWS_PRE, take, LWS_WRITE_HTTP) < 0)
		return -1;
	exchange->sent += take;
	conn->server->counts.sent_bytes_total += take;
	if (is_sent(exchange) && !exchange->close && !lws_partial_buffered(wsi))
		return finish(conn, wsi);
	/* Called when the piece is out. */
	lws_callback_on_writable(wsi);
	return 0;
}
