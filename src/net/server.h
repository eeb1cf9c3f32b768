/* SPDX-License-Identifier: Apache-2.0 */
/*
 * HTTP/1.1 and WebSocket server on several listeners. It knows sizes, deadlines and framing; what a path means is the
 * caller's. Everything a client sends is bounded before it is stored:
 *
 *   request line and headers  8 KiB, within header_timeout_ms of the connection (slowloris)
 *   body                      max_body, within the same time again
 *   connections               max_connections in all, max_per_address from one peer address: beyond it they are closed
 *   WebSocket message         max_frame of its subprotocol over all fragments, else 1009; fragments count against message_timeout_ms
 *   a client that does not read   its replies wait at most write_timeout_ms, then it is closed
 *
 * A connection may serve several requests; one with a body is its last. Nobody may pipeline: bytes that come before the
 * answer is out end the connection after it. No Transfer-Encoding in requests, no HTTP/2. Servers of one loop share
 * lws's lookup of a subprotocol, so at most one of them may have any.
 *
 * No permessage-deflate. A frame that is no text or no UTF-8 ends its connection (1003, 1007).
 */
#ifndef NET_SERVER_H
#define NET_SERVER_H

#include "base/buf.h"
#include "base/err.h"
#include "net/loop.h"

struct server;
struct server_ws; /* one upgraded connection */

struct server_tls {
	const char *cert_file, *key_file; /* NULL: no TLS. Read again when the files change */
	const char *client_ca_file;       /* certificates that clients may present; NULL: none is asked for */
};

enum { SERVER_LISTENERS_MAX = 4, SERVER_PROTOCOLS_MAX = 4, SERVER_SANS_MAX = 4, SERVER_SAN_CAP = 256 };

struct server_listener {
	const char *name;    /* for messages and metrics: "agents", "api" */
	const char *address; /* numeric, v4 or v6; "" or "*": all */
	uint16_t port;       /* 0: one that is free, see server_port() */
	struct server_tls tls;
};

/* A WebSocket subprotocol that is spoken. */
struct server_protocol {
	const char *name;
	size_t max_frame;                     /* of what its clients may send; 0: max_frame of the options */
	const struct server_events *sessions; /* on_open to on_closed of its sessions; NULL: those of the server */
};

struct server_options {
	struct server_listener listeners[SERVER_LISTENERS_MAX];
	size_t n_listeners;
	/* Of those that a client asks for, its first that stands here is spoken; with none of them it is refused with 400. */
	struct server_protocol protocols[SERVER_PROTOCOLS_MAX];
	size_t n_protocols;                                               /* 0: no WebSocket */
	unsigned max_connections, max_per_address;                        /* 0: 20000, 20000 */
	size_t max_body, max_frame;                                       /* 0: 64 KiB, 64 KiB */
	unsigned header_timeout_ms, message_timeout_ms, write_timeout_ms; /* 0: 10000, 30000, 30000 */
	unsigned ping_s, dead_s;                                          /* of an idle WebSocket; 0: 30, 60 */
};

struct server_request {
	unsigned listener; /* index into options */
	unsigned protocol; /* of an upgrade: index into options */
	struct str method; /* "GET" */
	struct str path;   /* decoded once, begins with '/', no NUL, no ".." component */
	struct str query;  /* without '?'; escapes may be others than were sent, with the same meaning */
	struct str body;
	char peer[64]; /* numeric address without port */
	bool peer_is_loopback, is_tls;
	const char *sans[SERVER_SANS_MAX]; /* DNS and URI names of a verified client certificate */
	size_t n_sans;
	const void *handle;         /* for server_header() */
	const char *const *headers; /* of a request that came by no wire: name, value, name, value, NULL */
};

/*
 * The header of this name in lower case ("authorization", "origin", "host", "cookie", "if-none-match"), "" if absent. The
 * name lives as long as the request.
 */
struct str server_header(const struct server_request *request, const char *name);
/* Content-Type is this, whatever its parameters say. `media` in lower case. */
bool server_body_is(const struct server_request *request, const char *media);

struct server_reply {
	unsigned status;          /* 200 at first */
	const char *content_type; /* "application/json" at first */
	struct buf body;          /* cap 16 MiB; the server frees it */
	unsigned retry_after_s;   /* 0: none */
	char extra[2048];         /* further header lines, each "Name: value\r\n" */
	const char *headers;      /* more of them, of static storage; NULL: none */
};

/* {"error":{"status","code","message"}}, as every refusal of ours. `why` is a text of our own: no quotes. False: no memory. */
bool server_refuse(struct server_reply *reply, unsigned status, const char *why);

struct server_events {
	/* A whole request that asks for no upgrade: fill `reply`. */
	void (*on_request)(void *context, const struct server_request *request, struct server_reply *reply);
	/*
	 * A WebSocket upgrade with the right subprotocol: before anything is allocated for it. Return true and set
	 * `*ret_session`, or false and fill `reply` (401, 403, 429, 503 with retry_after_s).
	 */
	bool (*on_upgrade)(void *context, const struct server_request *request, struct server_reply *reply,
			   void **ret_session);
	void (*on_open)(void *session, struct server_ws *ws);
	void (*on_frame)(void *session,
			 struct str frame); /* a whole text message of valid UTF-8, gone after the call */
	/* Put the next frame into `frame` and return true; false: nothing until server_ws_want_write(). */
	bool (*on_writable)(void *session, struct buf *frame);
	/* Once for every session that on_upgrade made, also when it never opened. */
	void (*on_closed)(void *session, unsigned close_code);
};

struct server_counts {
	uint64_t connections, accepted_total, refused_connections_total, timeouts_total, too_big_total,
		bad_frames_total;
	uint64_t received_bytes_total, sent_bytes_total, requests_total, frames_total;
};

/* ERR_USAGE: a certificate that cannot be read, an address that is none. ERR_IO: the port is in use; it says which. */
int server_new(struct loop *loop, const struct server_options *options, const struct server_events *events,
	       void *context, struct server **ret_server, struct err *err) __attribute__((warn_unused_result));
/* Cuts what is open (server_drain() first, to say goodbye), calls on_closed for each. Not from within its events. */
void server_free(struct server *server);
/* Stop listening and ask every WebSocket to close with 1001; those still there after server_free() are cut. */
void server_drain(struct server *server);
uint16_t server_port(const struct server *server, unsigned listener);
void server_counts(const struct server *server, struct server_counts *ret_counts);

void server_ws_want_write(struct server_ws *ws);
void server_ws_close(struct server_ws *ws, unsigned code, const char *reason); /* after what on_writable has to send */
void server_ws_pause(struct server_ws *ws, bool paused);                       /* stop reading: back-pressure by TCP */

#endif
