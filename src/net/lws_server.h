/* SPDX-License-Identifier: Apache-2.0 */
/* The insides of the server, shared by lws_server.c, lws_accept.c, lws_request.c and lws_upgrade.c. */
#ifndef NET_LWS_SERVER_H
#define NET_LWS_SERVER_H

#include <netinet/in.h>

#include "net/lws_frame.h"
#include "net/lws_loop.h"
#include "net/lws_tls.h"
#include "net/server.h"

enum {
	SERVER_REPLY_CAP = 16 * 1024 * 1024,
	SERVER_FRAME_CAP = 16 * 1024 * 1024,
	SERVER_PEER_BUCKETS = 1024,
	REQUEST_HEADERS_MAX = 16
};

/* One address that has connections. */
struct peer {
	struct in6_addr address; /* v4 mapped */
	unsigned n_connections;
	struct peer *next;
};

struct listener {
	struct server *server;
	unsigned index;
	const char *name;
	struct server_tls tls;
	int fd;
	uint16_t port;
	struct loop_watch *watch;
	struct lws_vhost *vhost;
	struct lws_protocols protocols[SERVER_PROTOCOLS_MAX + 1];
	SSL_CTX *ctx; /* lws's */
	struct tls_stamp stamp;
	struct err *load_err; /* while the vhost is made */
};

enum conn_state {
	CONN_HEADERS, /* also of the next request of a kept connection */
	CONN_BODY,
	CONN_REPLY,
	CONN_LINGER, /* answered early: what still comes is thrown away for a moment, so that the answer arrives */
	CONN_WS,
	CONN_CLOSING,
};

/* A request from its headers to the last byte of its reply. */
struct exchange {
	struct buf body;
	struct server_reply reply;
	struct buf head;
	size_t sent; /* of head and body together */
	bool close;  /* the connection cannot take another request */
	bool linger; /* its body is on the way still */
};

/* One connection; upgraded, it is what the caller knows as server_ws. */
struct server_ws {
	struct server *server;
	struct listener *listener;
	struct lws *wsi;
	struct server_ws *next, *prev;
	struct peer *peer;
	enum conn_state state;
	bool killed, pinged, want_ping, has_session, close_sent;
	uint16_t want_close, close_code;  /* close_code: what on_closed is told */
	struct mono deadline;             /* of what `state` waits for; 0: none */
	struct mono write_since;          /* something waits to be written since; 0: nothing does */
	struct mono heard, message_since; /* message_since: also when a reply began */
	struct exchange *exchange;
	void *session;
	unsigned protocol; /* index into the server's options */
	struct inbox inbox;
	char close_reason[64];
};

struct server {
	struct loop *loop;
	struct server_options options;
	struct server_events events;
	void *context;
	char *protocols[SERVER_PROTOCOLS_MAX];
	struct listener listeners[SERVER_LISTENERS_MAX];
	size_t n_listeners;
	struct server_ws *connections;
	struct peer *peers[SERVER_PEER_BUCKETS];
	struct server_counts counts;
	struct loop_timer *sweep, *reload;
	uint64_t sweep_ms;
	bool draining, sweeping, replying; /* replying: some reply waits for its reader */
	bool created;                      /* lws took the descriptor that is being adopted */
	int reserve_fd;                    /* given up to refuse a connection when descriptors run out */
	struct buf out, scratch;
};

/* lws_accept.c */
void listener_ready(void *context);
void conn_free(struct server_ws *conn);
/* Cut it, without a word. */
void conn_kill(struct server_ws *conn);
void conn_deadline(struct server_ws *conn, uint64_t ms); /* 0: none */
void conn_expects_write(struct server_ws *conn);
void sweep_connections(void *context);

/* lws_request.c: what lws's callbacks return; negative ends the connection. */
int request_begin(struct server_ws *conn, struct lws *wsi);
int request_body(struct server_ws *conn, struct str piece);
int request_whole(struct server_ws *conn, struct lws *wsi);
int request_writeable(struct server_ws *conn, struct lws *wsi);
void exchange_free(struct exchange *exchange); /* NULL is fine */
/* What a handler needs to know of a request; `store` holds it. */
struct request_store {
	struct lws *wsi;
	char path[2048], query[4096];
	char sans[SERVER_SANS_MAX][SERVER_SAN_CAP];
	char headers[8192]; /* what server_header() gave so far, each once: all headers together are no longer */
	size_t headers_len;
	struct {
		const char *name;
		struct str value;
	} given[REQUEST_HEADERS_MAX];
	size_t n_given;
};
bool request_fill(struct server_ws *conn, struct lws *wsi, struct request_store *store, struct server_request *ret);
/* The whole reply at once, where lws allows no other way. Negative. */
int reply_now(struct server_ws *conn, struct lws *wsi, struct server_reply *reply);
int refuse_now(struct server_ws *conn, struct lws *wsi, unsigned status, const char *why);

/* lws_header.c */
bool header_lists(struct lws *wsi, enum lws_token_indexes token, struct str value); /* one of a comma list */
/* Index of the first value of a comma list that is one of `names`, letter for letter; n: none is. */
size_t header_first_of(struct lws *wsi, enum lws_token_indexes token, char *const *names, size_t n);

/* lws_upgrade.c */
int upgrade_begin(struct server_ws *conn, struct lws *wsi, const char *kind);
int upgrade_open(struct server_ws *conn, struct lws *wsi);
int ws_piece(struct server_ws *conn, struct lws *wsi, struct str piece);
int ws_writeable(struct server_ws *conn, struct lws *wsi);
int ws_peer_close(struct server_ws *conn, const unsigned char *bytes, size_t len);
void ws_ended(struct server_ws *conn);
void ws_sweep(struct server_ws *conn);

#endif
