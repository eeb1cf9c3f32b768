/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners, and the one callback through which lws speaks to the server. */
#include "net/lws_server.h"

#include "base/auto.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 4096, RELOAD_MS = 5000, RX_BYTES = 2048, SWEEP_MIN_MS = 20, SWEEP_MAX_MS = 1000 };

/* --- what lws tells -------------------------------------------------------------------------- */

/* Not of a connection of ours. */
static int on_other(struct lws *wsi, enum lws_callback_reasons reason, void *user)
{
	struct listener *listener = NULL;
	if (reason != LWS_CALLBACK_WSI_CREATE && reason != LWS_CALLBACK_OPENSSL_LOAD_EXTRA_SERVER_VERIFY_CERTS)
		return 0;
	struct lws_vhost *vhost = lws_get_vhost(wsi);
	if (vhost)
		listener = lws_vhost_user(vhost);
	if (!listener)
		return 0;
	if (reason == LWS_CALLBACK_WSI_CREATE) {
		listener->server->created = true;
		return 0;
	}
	listener->ctx = user;
	return tls_server_load(listener->ctx, &listener->tls, listener->load_err) < 0 ? -1 : 0;
}

static int on_http(struct server_ws *conn, struct lws *wsi, enum lws_callback_reasons reason, void *in, size_t len)
{
	/* NOLINTNEXTLINE(clang-diagnostic-switch-enum): lws has a hundred reasons, and we want these. */
	switch ((int)reason) {
	case LWS_CALLBACK_SERVER_NEW_CLIENT_INSTANTIATED:
		/* A second time: CONNECT, which lws would turn into a raw connection. */
		if (conn->wsi)
			return -1;
		conn->wsi = wsi;
		return 0;
	case LWS_CALLBACK_RAW_RX:
	case LWS_CALLBACK_RAW_WRITEABLE:
		return -1;
	case LWS_CALLBACK_HTTP_CONFIRM_UPGRADE:
		return upgrade_begin(conn, wsi, in);
	case LWS_CALLBACK_HTTP:
		return request_begin(conn, wsi);
	case LWS_CALLBACK_HTTP_BODY:
		return request_body(conn, (struct str){ in, len });
	case LWS_CALLBACK_HTTP_BODY_COMPLETION:
		return request_whole(conn, wsi);
	case LWS_CALLBACK_HTTP_WRITEABLE:
		return request_writeable(conn, wsi);
	default:
		return 0;
	}
}

static int server_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len)
{
	struct server_ws *conn = wsi ? lws_get_opaque_user_data(wsi) : NULL;
	if (!conn)
		return on_other(wsi, reason, user);
	loop_touch(conn->server->loop);
	/* NOLINTNEXTLINE(clang-diagnostic-switch-enum): lws has a hundred reasons, and we want these. */
	switch ((int)reason) {
	case LWS_CALLBACK_ESTABLISHED:
		return upgrade_open(conn, wsi);
	case LWS_CALLBACK_RECEIVE:
		return ws_piece(conn, wsi, (struct str){ in, len });
	case LWS_CALLBACK_RECEIVE_PONG:
		conn->heard = loop_now(conn->server->loop);
		return 0;
	case LWS_CALLBACK_SERVER_WRITEABLE:
		return ws_writeable(conn, wsi);
	case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
		return ws_peer_close(conn, in, len);
	case LWS_CALLBACK_CLOSED:
		ws_ended(conn);
		return 0;
	case LWS_CALLBACK_WSI_DESTROY:
		lws_set_opaque_user_data(wsi, NULL);
		conn_free(conn);
		return 0;
	default:
		return on_http(conn, wsi, reason, in, len);
	}
}

/* --- sockets --------------------------------------------------------------------------------- */

union socket_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static bool parse_address(const char *text, uint16_t port, union socket_address *ret, socklen_t *ret_len)
{
	union socket_address address = { 0 };
	bool all = text[0] == '\0' || strcmp(text, "*") == 0;
	if (inet_pton(AF_INET, text, &address.v4.sin_addr) == 1) {
		address.v4.sin_family = AF_INET;
		address.v4.sin_port = htons(port);
		*ret_len = sizeof(address.v4);
	} else if (all || inet_pton(AF_INET6, text, &address.v6.sin6_addr) == 1) {
		address.v6.sin6_family = AF_INET6;
		address.v6.sin6_port = htons(port);
		*ret_len = sizeof(address.v6);
	} else {
		return false;
	}
	*ret = address;
	return true;
}

static int open_socket(const union socket_address *address, socklen_t len, bool all, int *ret_fd)
{
	auto_close int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1, v6_only = !all;
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0)
		return -errno;
	if (address->any.sa_family == AF_INET6 &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6_only, sizeof(v6_only)) != 0)
		return -errno;
	if (bind(fd, &address->any, len) != 0 || listen(fd, BACKLOG) != 0)
		return -errno;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

static int listen_on(struct listener *listener, const struct server_listener *wanted, struct err *err)
{
	const char *text = wanted->address ? wanted->address : "";
	bool all = text[0] == '\0' || strcmp(text, "*") == 0;
	union socket_address address;
	socklen_t len;
	if (!parse_address(text, wanted->port, &address, &len))
		return err_set(err, ERR_USAGE, "%s: %s is no numeric address to listen on", wanted->name, text);
	int r = open_socket(&address, len, all, &listener->fd);
	if (r == -EAFNOSUPPORT && all && parse_address("0.0.0.0", wanted->port, &address, &len))
		r = open_socket(&address, len, all, &listener->fd); /* a kernel without IPv6 */
	if (r == -EADDRINUSE)
		return err_set(err, ERR_IO, "%s: port %u of %s is in use by another program", wanted->name,
			       wanted->port, all ? "some address" : text);
	if (r < 0)
		return err_sys(err, -r, "%s: listen on %s port %u", wanted->name, all ? "all addresses" : text,
			       wanted->port);
	len = sizeof(address);
	if (getsockname(listener->fd, &address.any, &len) != 0)
		return err_sys(err, errno, "%s: listen", wanted->name);
	listener->port = ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
	return 0;
}

/* --- listeners ------------------------------------------------------------------------------- */

static int make_vhost(struct listener *listener, struct err *err)
{
	struct server *server = listener->server;
	for (size_t i = 0; i < server->options.n_protocols || i == 0; i++)
		listener->protocols[i] = (struct lws_protocols){
			.name = server->options.n_protocols ? server->protocols[i] : "http",
			.callback = server_callback,
			/* What a connection keeps for reading: control frames, and the most that is read at a time. */
			.rx_buffer_size = RX_BYTES,
		};
	struct lws_context_creation_info info = {
		/* No other vhost has this name, for lws looks for one by a request's Host among those of one port. */
		.vhost_name = listener->name,
		.port = CONTEXT_PORT_NO_LISTEN_SERVER,
		.protocols = listener->protocols,
		.user = listener,
		.alpn = "http/1.1",
		.retry_and_idle_policy = &loop_no_keepalive,
		.timeout_secs_ah_idle = LOOP_LWS_TIMEOUT_S,
		.keepalive_timeout = LOOP_LWS_TIMEOUT_S,
		.http_proxy_address = ":0",
		.gid = LOOP_KEEP_ID,
		.uid = LOOP_KEEP_ID,
	};
	if (listener->tls.cert_file)
		info.options = LWS_SERVER_OPTION_DO_SSL_GLOBAL_INIT | LWS_SERVER_OPTION_CREATE_VHOST_SSL_CTX;
	tls_stamp_read(&listener->tls, &listener->stamp);
	struct err why = { .kind = ERR_IO, .message = "libwebsockets: no vhost" };
	listener->load_err = &why;
	listener->vhost = lws_create_vhost(server->loop->context, &info);
	listener->load_err = NULL;
	if (listener->vhost)
		return 0;
	return err_set(err, why.kind, "%s: %s", listener->name, why.message);
}

static bool copy_text(const char *text, const char **ret_copy)
{
	*ret_copy = text ? strdup(text) : NULL;
	return !text || *ret_copy;
}

static int listener_init(struct server *server, const struct server_listener *wanted, struct err *err)
{
	struct listener *listener = &server->listeners[server->n_listeners];
	*listener = (struct listener){ .server = server, .index = (unsigned)server->n_listeners, .fd = -1 };
	server->n_listeners++;
	bool good = copy_text(wanted->name, &listener->name);
	good = copy_text(wanted->tls.cert_file, &listener->tls.cert_file) && good;
	good = copy_text(wanted->tls.key_file, &listener->tls.key_file) && good;
	good = copy_text(wanted->tls.client_ca_file, &listener->tls.client_ca_file) && good;
	if (!good)
		return err_set(err, ERR_NOMEM, "server");
	if (!wanted->tls.cert_file != !wanted->tls.key_file || (wanted->tls.client_ca_file && !wanted->tls.cert_file))
		return err_set(err, ERR_USAGE, "%s: TLS needs both a certificate and its key", wanted->name);
	int r = make_vhost(listener, err);
	if (r == 0)
		r = listen_on(listener, wanted, err);
	if (r == 0)
		r = loop_watch_new(server->loop, listener->fd, listener_ready, listener, &listener->watch, err);
	return r;
}

static void stop_listening(struct listener *listener)
{
	loop_watch_free(listener->watch);
	listener->watch = NULL;
	if (listener->fd >= 0)
		close(listener->fd);
	listener->fd = -1;
}

static void listener_done(struct listener *listener)
{
	stop_listening(listener);
	if (listener->vhost)
		lws_vhost_destroy(listener->vhost);
	free((char *)(uintptr_t)listener->tls.cert_file);
	free((char *)(uintptr_t)listener->tls.key_file);
	free((char *)(uintptr_t)listener->tls.client_ca_file);
}

/* Certificates are rotated: look for new ones; a bad one is told, and the old one stays. */
static void reload(void *context)
{
	struct server *server = context;
	for (size_t i = 0; i < server->n_listeners; i++) {
		struct listener *listener = &server->listeners[i];
		struct tls_stamp stamp;
		struct err err;
		if (!listener->ctx)
			continue;
		tls_stamp_read(&listener->tls, &stamp);
		if (tls_stamp_same(&stamp, &listener->stamp))
			continue;
		listener->stamp = stamp;
		if (tls_server_load(listener->ctx, &listener->tls, &err) < 0) {
			err_wrap(&err, "%s: the old certificate stays", listener->name);
			loop_log(err.message);
		}
	}
	loop_timer_set(server->reload, RELOAD_MS);
}

/* --- the server ------------------------------------------------------------------------------ */

static unsigned or_default(unsigned value, unsigned other)
{
	return value ? value : other;
}

static void fill_options(struct server *server, const struct server_options *options)
{
	struct server_options *own = &server->options;
	*own = *options;
	own->max_connections = or_default(own->max_connections, 20000);
	own->max_per_address = or_default(own->max_per_address, 20000);
	own->max_body = own->max_body ? own->max_body : 64 * 1024;
	own->max_frame = own->max_frame ? own->max_frame : 64 * 1024;
	for (size_t i = 0; i < SERVER_PROTOCOLS_MAX; i++)
		if (!own->protocols[i].max_frame)
			own->protocols[i].max_frame = own->max_frame;
	own->header_timeout_ms = or_default(own->header_timeout_ms, 10000);
	own->message_timeout_ms = or_default(own->message_timeout_ms, 30000);
	own->write_timeout_ms = or_default(own->write_timeout_ms, 30000);
	own->ping_s = or_default(own->ping_s, 30);
	own->dead_s = or_default(own->dead_s, 2 * own->ping_s);
	unsigned least = own->header_timeout_ms;
	least = own->message_timeout_ms < least ? own->message_timeout_ms : least;
	least = own->write_timeout_ms < least ? own->write_timeout_ms : least;
	server->sweep_ms = least / 4 < SWEEP_MIN_MS ? SWEEP_MIN_MS : least / 4;
	if (server->sweep_ms > SWEEP_MAX_MS)
		server->sweep_ms = SWEEP_MAX_MS;
}

static int start(struct server *server, const struct server_options *options, struct err *err)
{
	if (options->n_listeners > SERVER_LISTENERS_MAX)
		return err_set(err, ERR_USAGE, "at most %d listeners", SERVER_LISTENERS_MAX);
	if (options->n_protocols > SERVER_PROTOCOLS_MAX)
		return err_set(err, ERR_USAGE, "at most %d subprotocols", SERVER_PROTOCOLS_MAX);
	for (size_t i = 0; i < options->n_protocols; i++) {
		server->protocols[i] = strdup(options->protocols[i].name);
		if (!server->protocols[i])
			return err_set(err, ERR_NOMEM, "server");
	}
	bool tls = false;
	int r = loop_timer_new(server->loop, sweep_connections, server, &server->sweep, err);
	for (size_t i = 0; i < options->n_listeners && r == 0; i++) {
		r = listener_init(server, &options->listeners[i], err);
		tls = tls || options->listeners[i].tls.cert_file;
	}
	if (r == 0 && tls) {
		r = loop_timer_new(server->loop, reload, server, &server->reload, err);
		if (r == 0)
			loop_timer_set(server->reload, RELOAD_MS);
	}
	return r;
}

int server_new(struct loop *loop, const struct server_options *options, const struct server_events *events,
	       void *context, struct server **ret_server, struct err *err)
{
	struct server *server = calloc(1, sizeof(*server));
	if (!server)
		return err_set(err, ERR_NOMEM, "server");
	*server = (struct server){ .loop = loop, .events = *events, .context = context };
	server->out.cap = SERVER_FRAME_CAP;
	server->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	fill_options(server, options);
	int r = start(server, options, err);
	if (r < 0) {
		server_free(server);
		return r;
	}
	*ret_server = server;
	return 0;
}

void server_drain(struct server *server)
{
	server->draining = true;
	for (size_t i = 0; i < server->n_listeners; i++)
		stop_listening(&server->listeners[i]);
	for (struct server_ws *conn = server->connections; conn; conn = conn->next) {
		if (conn->state == CONN_WS)
			server_ws_close(conn, CLOSE_AWAY, "the server is going away");
		else if (conn->state == CONN_HEADERS)
			conn_kill(conn);
	}
}

void server_free(struct server *server)
{
	if (!server)
		return;
	while (server->connections) {
		struct server_ws *conn = server->connections;
		conn->close_code = CLOSE_AWAY;
		if (conn->wsi) {
			/* Cut: a peer that is not told would hold a dead session for open. */
			lws_set_opaque_user_data(conn->wsi, NULL);
			lws_set_timeout(conn->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
		}
		conn_free(conn);
	}
	for (size_t i = 0; i < server->n_listeners; i++) {
		listener_done(&server->listeners[i]);
		loop_keep(server->loop, (char *)(uintptr_t)server->listeners[i].name);
	}
	loop_timer_free(server->sweep);
	loop_timer_free(server->reload);
	if (server->reserve_fd >= 0)
		close(server->reserve_fd);
	buf_done(&server->out);
	buf_done(&server->scratch);
	/* lws may still name the protocols while it closes: see loop_keep(). */
	loop_poke(server->loop);
	for (size_t i = 0; i < SERVER_PROTOCOLS_MAX; i++)
		loop_keep(server->loop, server->protocols[i]);
	loop_keep(server->loop, server);
}

uint16_t server_port(const struct server *server, unsigned listener)
{
	return listener < server->n_listeners ? server->listeners[listener].port : 0;
}

void server_counts(const struct server *server, struct server_counts *ret_counts)
{
	*ret_counts = server->counts;
}
