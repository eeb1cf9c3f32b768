/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections from accept(2) to the last look at their deadlines. We accept ourselves: lws would allot before it asks,
 * and knows no limit by address in this build (LWS_WITH_PEER_LIMITS is off in Debian's). Deadlines are looked at in a
 * sweep over all connections, for lws keeps its timers in one sorted list: with 10,000 of them each insertion is a walk.
 */
#include "net/lws_server.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ACCEPT_BATCH = 64, REPLY_SWEEP_MS = 100 };

/* --- addresses ------------------------------------------------------------------------------ */

static struct peer **peer_slot(struct server *server, const struct in6_addr *address)
{
	/* FNV-1a over the address; who can choose addresses at will can also open connections at will. */
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < sizeof(address->s6_addr); i++)
		hash = (hash ^ address->s6_addr[i]) * 16777619u;
	struct peer **slot = &server->peers[hash % SERVER_PEER_BUCKETS];
	while (*slot && memcmp(&(*slot)->address, address, sizeof(*address)) != 0)
		slot = &(*slot)->next;
	return slot;
}

static struct peer *peer_take(struct server *server, const struct in6_addr *address)
{
	struct peer **slot = peer_slot(server, address);
	if (!*slot) {
		struct peer *peer = calloc(1, sizeof(*peer));
		if (!peer)
			return NULL;
		peer->address = *address;
		*slot = peer;
	}
	if ((*slot)->n_connections >= server->options.max_per_address)
		return NULL;
	(*slot)->n_connections++;
	return *slot;
}

static void peer_give(struct server *server, struct peer *peer)
{
	if (--peer->n_connections > 0)
		return;
	struct peer **slot = peer_slot(server, &peer->address);
	*slot = peer->next;
	free(peer);
}

static struct in6_addr mapped(const struct sockaddr_storage *from)
{
	struct in6_addr address = IN6ADDR_ANY_INIT;
	if (from->ss_family == AF_INET6)
		return ((const struct sockaddr_in6 *)(const void *)from)->sin6_addr;
	address.s6_addr[10] = address.s6_addr[11] = 0xff;
	memcpy(&address.s6_addr[12], &((const struct sockaddr_in *)(const void *)from)->sin_addr, 4);
	return address;
}

/* --- one connection ------------------------------------------------------------------------- */

void conn_deadline(struct server_ws *conn, uint64_t ms)
{
	conn->deadline = ms ? mono_add_ms(loop_now(conn->server->loop), ms) : (struct mono){ 0 };
}

void conn_expects_write(struct server_ws *conn)
{
	if (!conn->write_since.ns)
		conn->write_since = loop_now(conn->server->loop);
}

static struct server_ws *conn_new(struct listener *listener, const struct in6_addr *address)
{
	struct server *server = listener->server;
	struct server_ws *conn = calloc(1, sizeof(*conn));
	if (!conn)
		return NULL;
	*conn = (struct server_ws){ .server = server, .listener = listener, .state = CONN_HEADERS };
	conn->peer = peer_take(server, address);
	if (!conn->peer) {
		free(conn);
		return NULL;
	}
	conn->next = server->connections;
	if (conn->next)
		conn->next->prev = conn;
	server->connections = conn;
	server->counts.connections++;
	conn->heard = loop_now(server->loop);
	conn_deadline(conn, server->options.header_timeout_ms);
	return conn;
}

void conn_free(struct server_ws *conn)
{
	struct server *server = conn->server;
	ws_ended(conn);
	if (conn->prev)
		conn->prev->next = conn->next;
	else
		server->connections = conn->next;
	if (conn->next)
		conn->next->prev = conn->prev;
	server->counts.connections--;
	peer_give(server, conn->peer);
	exchange_free(conn->exchange);
	inbox_done(&conn->inbox);
	free(conn);
}

void conn_kill(struct server_ws *conn)
{
	if (conn->killed || !conn->wsi)
		return;
	conn->killed = true;
	/* The asynchronous way marks the socket unusable, so that nothing more is written or waited for. */
	lws_set_timeout(conn->wsi, PENDING_TIMEOUT_USER_REASON_BASE, LWS_TO_KILL_ASYNC);
	loop_poke(conn->server->loop);
}

/* --- accepting ------------------------------------------------------------------------------ */

static void adopt(struct listener *listener, int fd, const struct sockaddr_storage *from)
{
	struct server *server = listener->server;
	struct in6_addr address = mapped(from);
	struct server_ws *conn = NULL;
	if (server->counts.connections < server->options.max_connections)
		conn = conn_new(listener, &address);
	if (!conn) {
		server->counts.refused_connections_total++;
		close(fd);
		return;
	}
	int on = 1;
	/* Small frames must not wait for an ack; a socket that refuses this is slower, no more. */
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	lws_adopt_desc_t info = {
		.vh = listener->vhost,
		.type = LWS_ADOPT_SOCKET | LWS_ADOPT_HTTP | LWS_ADOPT_ALLOW_SSL,
		.fd.sockfd = fd,
		.opaque = conn,
	};
	server->created = false;
	server->counts.accepted_total++;
	/* On failure lws closes the descriptor, and tells of the end (WSI_DESTROY) only of what it had created. */
	if (!lws_adopt_descriptor_vhost_via_info(&info) && !server->created)
		conn_free(conn);
	if (!server->sweeping) {
		server->sweeping = true;
		loop_timer_set(server->sweep, server->sweep_ms);
	}
}

/* Out of descriptors, accept(2) fails and leaves the connection where it is, for ever readable. */
static void refuse_one(struct listener *listener)
{
	struct server *server = listener->server;
	if (server->reserve_fd < 0)
		return;
	close(server->reserve_fd);
	int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC);
	if (fd >= 0) {
		server->counts.refused_connections_total++;
		close(fd);
	}
	server->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

void listener_ready(void *context)
{
	struct listener *listener = context;
	for (int i = 0; i < ACCEPT_BATCH; i++) {
		struct sockaddr_storage from = { 0 };
		socklen_t len = sizeof(from);
		int fd = accept4(listener->fd, (struct sockaddr *)&from, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd >= 0) {
			adopt(listener, fd, &from);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE)
			refuse_one(listener);
		else if (errno != ECONNABORTED && errno != EINTR)
			return;
	}
}

/* --- the sweep ------------------------------------------------------------------------------ */

static bool is_late(struct mono now, struct mono deadline)
{
	return deadline.ns && now.ns >= deadline.ns;
}

/*
 * lws leaves bytes behind a request unread while the reply goes out, and its poll wakes for them again and again: a
 * client that sends on (or shuts its side) while it does not read would cost a whole core. Such a one is cut.
 */
static bool makes_us_spin(struct server_ws *conn, struct mono now)
{
	if (conn->state != CONN_REPLY || now.ns < mono_add_ms(conn->message_since, REPLY_SWEEP_MS).ns)
		return false;
	struct pollfd readable = { .fd = lws_get_socket_fd(conn->wsi), .events = POLLIN | POLLRDHUP };
	return poll(&readable, 1, 0) > 0;
}

static void sweep_one(struct server_ws *conn, struct mono now)
{
	const struct server_options *options = &conn->server->options;
	bool late = is_late(now, conn->deadline) || makes_us_spin(conn, now);
	conn->server->replying = conn->server->replying || conn->state == CONN_REPLY;
	if (conn->state == CONN_WS) {
		late = late ||
		       (conn->write_since.ns &&
			is_late(now, mono_add_ms(conn->write_since, options->write_timeout_ms))) ||
		       (conn->message_since.ns &&
			is_late(now, mono_add_ms(conn->message_since, options->message_timeout_ms)));
		if (!late)
			ws_sweep(conn);
	}
	if (!late || conn->killed)
		return;
	if (conn->state != CONN_LINGER && conn->state != CONN_CLOSING)
		conn->server->counts.timeouts_total++;
	conn_kill(conn);
}

void sweep_connections(void *context)
{
	struct server *server = context;
	struct mono now = loop_now(server->loop);
	server->replying = false;
	for (struct server_ws *conn = server->connections; conn; conn = conn->next)
		sweep_one(conn, now);
	server->sweeping = server->connections != NULL;
	bool soon = server->replying && server->sweep_ms > REPLY_SWEEP_MS;
	if (server->sweeping)
		loop_timer_set(server->sweep, soon ? REPLY_SWEEP_MS : server->sweep_ms);
}
