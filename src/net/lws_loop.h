/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the lws_*.c files share of the loop. Only they may see a type of libwebsockets, libuv or OpenSSL.
 */
#ifndef NET_LWS_LOOP_H
#define NET_LWS_LOOP_H

#include <libwebsockets.h>
#include <uv.h>

#include "net/loop.h"

struct loop {
	enum loop_kind kind;
	struct lws_context *context;
	struct lws_vhost *base; /* of clients and watched files; it listens on nothing */
	uv_loop_t uv;
	struct mono now;
	bool stopping, uv_ready;
	int signal_fd;
	struct loop_watch *signal_watch;
	loop_signal_fn *signal_fn;
	void *signal_context;
	struct kept *kept;
};

/*
 * Free this with the loop. lws closes in its own time and looks at names and protocols of a vhost until then. On
 * failure it is never freed.
 */
void loop_keep(struct loop *loop, void *memory);

/* To the loop_log_fn of loop_new(). */
void loop_log(const char *text);

/* At the start of whatever calls out of the loop: the time that loop_now() gives from here on. */
void loop_touch(struct loop *loop);

/*
 * To be called after anything that arms a timer of lws from outside its own callbacks: under libuv lws looks at its
 * timers only after an event of its own (lib/event-libs/libuv/libuv.c, lws_uv_idle).
 */
void loop_poke(struct loop *loop);

/* Neither lws's pings nor its hangups: its timers stand in one sorted list, O(n) an insertion; we sweep instead. */
extern const lws_retry_bo_t loop_no_keepalive;

/* Seconds no timer of lws itself should reach: the deadlines are ours. */
enum { LOOP_LWS_TIMEOUT_S = 3600 };

/* User and group of a context that changes neither: int in lws 4.1, uid_t and gid_t in 4.3. */
#define LOOP_KEEP_ID ((__typeof__(((struct lws_context_creation_info){ 0 }).uid))-1)

/* A vhost that listens on nothing, for clients: with this TLS context, or none. NULL: no memory. */
struct lws_vhost *loop_client_vhost(struct loop *loop, SSL_CTX *tls);

#define LOOP_BASE_PROTOCOL   "base"
#define LOOP_CLIENT_PROTOCOL "client"

/* For protocols on the base vhost. */
int loop_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len);

/* The protocol of clients, in lws_client.c. */
int wsclient_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in, size_t len);

#endif
